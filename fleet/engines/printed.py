"""What a program's `print`s show, made of values after a run: for engines whose code does not print itself."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.dialect import PrintOp
from fleet.ir.program import Program

__all__ = ["printed"]


def printed(program: Program, value: Callable[[SSAValue], np.ndarray]) -> str:
    """The text, in program order, as Python prints arrays and numbers. `value` gives what a value of the IR was in the run."""
    text = io.StringIO()
    for op in program.operations():
        if isinstance(op, PrintOp):
            print(*(value(v)[()] for v in op.operands), file=text)
    return text.getvalue()
