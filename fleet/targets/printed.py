"""The text of a program's `print` operations, formatted from values: for engines whose code does not print."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.dialect import PrintOp
from fleet.ir.program import Program
from fleet.ir.types import is_tensor
from fleet.targets.bytecode.hints import info_of
from fleet.targets.bytecode.printing import printer


def show(op: PrintOp, operands: Sequence[Any], echo: Callable[..., Any]) -> None:
    """Prints once, as the VM does. operands: an array or number for each of the operation's. echo: takes what `print` takes."""
    values = (np.asarray(x)[()] if is_tensor(v.type) else np.asarray(x).item() for x, v in zip(operands, op.operands, strict=True))
    printer(info_of(op), echo)(*values)


def printed(program: Program, value: Callable[[SSAValue], np.ndarray]) -> str:
    """Return the text in program order, as the VM prints it. `value` maps an IR value to its value in the run."""
    text = io.StringIO()
    for op in program.operations():
        if isinstance(op, PrintOp):
            show(op, [value(v) for v in op.operands], partial(print, file=text))
    return text.getvalue()
