"""A method of a Bluespec module: RDY_ says that it may be called, EN_ calls it. The caller is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "bluespec_method", "Bluespec method", 46,
    (
        Signal("rdy", driver="subordinate", widths=(1,)),
        Signal("en", widths=(1,)),
        Signal("payload", driver="either"),
    ),
    (frozenset({"rdy", "en"}), frozenset({"rdy", "payload"})),
    payload=True,
    leads=("rdy", "en"),
    front=True,
)  # fmt: skip
