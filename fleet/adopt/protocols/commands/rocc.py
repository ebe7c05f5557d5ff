"""Custom-instruction ports like RoCC: a function and two operands go in, a result comes back. The core is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "rocc", "RoCC command/response", 13,
    (
        Signal("cmd_valid", widths=(1,)),
        Signal("cmd_ready", driver="subordinate", widths=(1,)),
        Signal("cmd_funct", ("cmdinstfunct", "cmdfunct7", "cmdfunc")),
        *(Signal(f"cmd_inst_{f}") for f in ("rs1", "rs2", "xd", "xs1", "xs2", "opcode")),
        Signal("cmd_inst_rd", same_as="cmd_rd"),
        Signal("cmd_rs1", ("cmdrs1data",)),
        Signal("cmd_rs2", ("cmdrs2data",), same_as="cmd_rs1"),
        Signal("cmd_rd"),
        Signal("cmd_status", open=True),
        Signal("resp_valid", ("rspvalid",), driver="subordinate", widths=(1,)),
        Signal("resp_ready", ("rspready",), widths=(1,)),
        Signal("resp_rd", ("rsprd",), driver="subordinate"),
        Signal("resp_data", ("rspdata",), driver="subordinate"),
        Signal("busy", driver="subordinate", widths=(1,)),
        Signal("interrupt", driver="subordinate", widths=(1,)),
        Signal("exception", widths=(1,)),
    ),
    (frozenset({"cmd_valid", "cmd_ready", "cmd_funct", "cmd_rs1", "cmd_rs2"}),),
)  # fmt: skip
