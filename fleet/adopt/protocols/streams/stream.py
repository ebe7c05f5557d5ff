"""Valid and ready with fields of the design's own names; where there is no ready, the receiver always takes. The manager sends."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "stream", "valid/ready stream", 60,
    (
        Signal("valid", ("vld", "val", "pvalid", "pvld", "apvld", "v"), widths=(1,)),
        Signal("ready", ("rdy", "prdy", "apack", "readyand", "accept"), driver="subordinate", widths=(1,)),
        Signal("payload"),
    ),
    (frozenset({"valid", "ready"}), frozenset({"valid", "payload"})),
    payload=True,
)  # fmt: skip
