"""Debug of a core as wires."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "debug", "debug", 64,
    (
        Signal(
            "debug_line",
            (
                "debugreq", "dbgreq", "debugrequest", "debughavereset", "debugrunning", "debughalted", "debugmode", "dbgack",
                "dbghalted", "ndmreset", "ndmresetreq", "dmactive", "dmactiveack", "debugpcvalid",
            ),
            driver="either", widths=(1,),
        ),
    ),
    (frozenset({"debug_line"}),),
    single=True,
)  # fmt: skip
