"""A custom function unit: a function number and operands go in, results come back. The core is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_CMD, _RSP = ("cmd", "req"), ("rsp", "resp")


def _words(prefixes: tuple[str, ...], *names: str) -> tuple[str, ...]:
    return tuple(f"{p}{n}" for p in prefixes for n in names)


PROTOCOL = Protocol(
    "cfu", "custom function unit", 16,
    (
        Signal("cmd_valid", _words(_CMD, "valid"), widths=(1,)),
        Signal("cmd_ready", _words(_CMD, "ready"), driver="subordinate", widths=(1,)),
        Signal("cmd_function", _words(_CMD, "functionid", "function", "func", "cfu", "insn")),
        Signal("cmd_input0", _words(_CMD, "inputs0", "input0", "in0", "data0", "operand0")),
        Signal("cmd_input1", _words(_CMD, "inputs1", "input1", "in1", "data1", "operand1"), same_as="cmd_input0"),
        Signal("cmd_input2", _words(_CMD, "inputs2", "input2", "in2", "data2", "operand2"), same_as="cmd_input0"),
        Signal("cmd_id", _words(_CMD, "id", "tag", "reorderid")),
        Signal("cmd_state", _words(_CMD, "stateid", "state", "stateindex")),
        Signal("rsp_valid", _words(_RSP, "valid"), driver="subordinate", widths=(1,)),
        Signal("rsp_ready", _words(_RSP, "ready"), widths=(1,)),
        Signal(
            "rsp_output", _words(_RSP, "outputs0", "outputs", "output0", "output", "out", "data", "result"), driver="subordinate"
        ),
        Signal("rsp_ok", _words(_RSP, "ok", "responseok", "status"), driver="subordinate"),
        Signal("rsp_id", _words(_RSP, "id", "tag", "reorderid"), driver="subordinate"),
    ),
    (frozenset({"cmd_valid", "cmd_ready", "cmd_function", "cmd_input0", "cmd_input1", "rsp_valid", "rsp_output"}),),
)  # fmt: skip
