"""APB (AMBA IHI 0024), versions 2 to 5."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "apb", "APB", 30,
    (
        Signal("paddr"),
        Signal("psel", ("psel0", "pselx")),
        Signal("penable", ("pen",), widths=(1,)),
        Signal("pwrite", widths=(1,)),
        Signal("pwdata", widths=(8, 16, 32)),
        Signal("prdata", driver="subordinate", widths=(8, 16, 32), same_as="pwdata"),
        Signal("pready", driver="subordinate", widths=(1,)),
        Signal("pslverr", ("pslverror",), driver="subordinate", widths=(1,)),
        Signal("pprot", widths=(3,), aside=True),
        Signal("pstrb", bytes_of="pwdata"),
        Signal("pwakeup", widths=(1,)),
    ),
    (frozenset({"paddr", "psel", "penable", "pwrite", "pwdata", "prdata"}),),
)  # fmt: skip
