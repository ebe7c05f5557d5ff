"""Avalon streaming interfaces with packets. The source is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "avalon_st", "Avalon-ST", 21,
    (
        Signal("data"),
        Signal("valid", widths=(1,)),
        Signal("ready", driver="subordinate", widths=(1,)),
        Signal("startofpacket", ("sop",), widths=(1,)),
        Signal("endofpacket", ("eop",), widths=(1,)),
        Signal("empty"),
        Signal("channel"),
        Signal("error"),
    ),
    (frozenset({"data", "valid", "startofpacket", "endofpacket"}),),
)  # fmt: skip
