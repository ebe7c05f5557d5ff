"""Custom instructions of Nios. The core is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "nios_custom", "Nios custom instruction", 17,
    (
        Signal("clk_en", widths=(1,)),
        Signal("start", widths=(1,)),
        Signal("dataa", widths=(32,)),
        Signal("datab", widths=(32,)),
        Signal("n"),
        *(Signal(n, widths=(5,)) for n in ("a", "b", "c")),
        *(Signal(n, widths=(1,)) for n in ("readra", "readrb", "writerc")),
        Signal("done", driver="subordinate", widths=(1,)),
        Signal("result", driver="subordinate", widths=(32,)),
    ),
    (frozenset({"dataa", "datab", "result"}),),
)  # fmt: skip
