"""What a program's `print`s show, made of values after a run: for targets whose code does not print itself."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.dialect import PrintOp
from fleet.ir.program import Program
from fleet.ir.types import is_tensor
from fleet.targets.bytecode.hints import info_of
from fleet.targets.bytecode.printing import printer

__all__ = ["printed"]


def printed(program: Program, value: Callable[[SSAValue], np.ndarray]) -> str:
    """The text, in program order, as the VM prints it. `value` gives what a value of the IR was in the run."""
    text = io.StringIO()

    def echo(*values: object, end: str = "\n") -> None:
        print(*values, end=end, file=text)

    for op in program.operations():
        if isinstance(op, PrintOp):
            printer(info_of(op), echo)(*(value(v)[()] if is_tensor(v.type) else value(v).item() for v in op.operands))
    return text.getvalue()
