"""A stream whose receiver says yumi (BaseJump): that it takes the word that it sees. It says so of a valid word alone."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "valid_yumi", "valid/yumi stream", 59,
    (
        Signal("valid", ("v",), widths=(1,)),
        Signal("yumi", driver="subordinate", widths=(1,)),
        Signal("payload"),
    ),
    (frozenset({"valid", "yumi"}),),
    payload=True,
)  # fmt: skip
