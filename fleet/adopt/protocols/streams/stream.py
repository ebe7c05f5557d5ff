"""Valid and ready with fields of the design's own names; where there is no ready, the receiver always takes. The manager sends.

Some makers say when the receiver does not take (`in_stall`): that is a ready which is active low.
"""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_READIES = ("rdy", "prdy", "apack", "readyand", "accept", "allow", "allowin", "ack")
_HOLDS = ("stall", "busy", "wait", "waiting", "hold", "full", "notready", "nready", "nrdy")

PROTOCOL = Protocol(
    "stream", "valid/ready stream", 60,
    (
        Signal("valid", ("vld", "val", "pvalid", "pvld", "apvld", "v"), widths=(1,)),
        Signal("ready", (*_READIES, *_HOLDS), driver="subordinate", widths=(1,), low="|".join(_HOLDS)),
        Signal("payload"),
    ),
    (frozenset({"valid", "ready"}), frozenset({"valid", "payload"})),
    payload=True,
)  # fmt: skip
