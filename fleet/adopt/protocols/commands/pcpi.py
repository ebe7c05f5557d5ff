"""PCPI: the co-processor port of PicoRV32. The core is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "pcpi", "PCPI", 14,
    (
        Signal("valid", widths=(1,)),
        Signal("insn", ("instr", "inst"), widths=(32,)),
        Signal("rs1", widths=(32,)),
        Signal("rs2", widths=(32,)),
        Signal("wr", driver="subordinate", widths=(1,)),
        Signal("rd", driver="subordinate", widths=(32,)),
        Signal("wait", driver="subordinate", widths=(1,)),
        Signal("ready", driver="subordinate", widths=(1,)),
    ),
    (frozenset({"valid", "insn", "rs1", "rs2", "wr", "rd", "ready"}),),
)  # fmt: skip
