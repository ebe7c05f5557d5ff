"""Start and completion as wires: a start, a done, whether it works. The one who starts is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "done", "start/done", 61,
    (
        Signal("start", ("go", "apstart"), widths=(1,)),
        Signal("continue", widths=(1,)),
        Signal("done", ("finish", "finished", "complete", "completed"), driver="subordinate", widths=(1,)),
        Signal("busy", ("bsy",), driver="subordinate", widths=(1,)),
        Signal("idle", driver="subordinate", widths=(1,)),
        Signal("ready", driver="subordinate", widths=(1,)),
        Signal("error", ("err",), driver="subordinate", widths=(1,)),
        Signal("trap", ("halted",), driver="subordinate", widths=(1,)),
        Signal("sleep", ("sleeping",), driver="subordinate", widths=(1,)),
    ),
    (
        frozenset({"done"}), frozenset({"start", "busy"}), frozenset({"start"}), frozenset({"busy"}), frozenset({"idle"}),
        frozenset({"error"}), frozenset({"trap"}), frozenset({"sleep"}),
    ),
    never=frozenset({"irq", "intr", "interrupt", "int", "debug", "dbg"}),
)  # fmt: skip
