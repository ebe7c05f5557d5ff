"""Faults that generated code raises itself, for invalid values that only a run can show.

The code stores (fault, value, bound) at the symbol `fleet_fault` and executes an illegal instruction; the caller reads the three
words and turns them into a message. All zeros mean that the program did not stop by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from hashlib import sha256
from typing import Any

from fleet.ir.dialect import CheckOp
from fleet.ir.operations.regions import all_operations
from fleet.ir.program import Program

FAULT_SYMBOL = "fleet_fault"


class RuntimeFault(IntEnum):
    """Faults that stop generated code; the messages follow NumPy's."""

    NONE = 0
    NEGATIVE_POWER = 1
    INDEX = 2
    ANGLE = 3
    ROUNDS = 4
    INTEGER = 5
    CHECK = 6

    def message(self, value: int, bound: int, checks: Mapping[int, str]) -> str:
        """Return one clause with the value that caused the fault. checks: those of the program, see `checks_of`."""
        if self is RuntimeFault.CHECK:
            return checks.get(value, "a check of the source fails")
        if self is RuntimeFault.INTEGER:
            return f"{value % (1 << 64)} is no number of the run: its integers have 64 bits with a sign"
        if self is RuntimeFault.NEGATIVE_POWER:
            return f"integers to negative integer powers are not allowed (exponent {value})"
        if self is RuntimeFault.ANGLE:
            return f"the argument of sin or cos is larger than {bound}, beyond which this target does not reduce it"
        if self is RuntimeFault.ROUNDS:
            return f"a loop has not ended after {bound:,} rounds"
        return f"index {value} is out of bounds for axis 0 with size {bound}"


def checks_of(program: Program) -> dict[int, str]:
    """Return number -> message of the program's checks."""
    return {check_number(op): op.message.data for op in all_operations(program.function.body.block) if isinstance(op, CheckOp)}


def check_number(op: CheckOp) -> int:
    """Return the number that represents a check's message in generated code."""
    return int.from_bytes(sha256(op.message.data.encode()).digest()[:7], "little")


def emit_fault(b: Any, condition: Any, fault: RuntimeFault, value: Any, bound: Any) -> None:
    """Stop with `fault` if `condition` (i1) holds; `value` and `bound` are i64. Otherwise the code continues."""
    b.fleet_flow.stop_if(condition, int(fault), value, bound)
