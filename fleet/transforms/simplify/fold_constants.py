"""Folds constants: computes operations on numbers at compile time, with the VM's own calls.

A tensor folds if every element of the result has the same bits; it becomes a filled constant. An operation bound to a variable and
shown by `print` stays, so that the program corresponds to the source (and the seeds' sample compiles to the seeds' code). An
operation that would fail at run time (a division by zero) stays too, and fails there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from fleet.ir.constants import constant
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
from fleet.ir.shapes import InferenceError
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.transforms.edit import Edit, identity, text_of
from fleet.transforms.passes import plain
from fleet.transforms.simplify.numbers import COMPUTED, MAX_FOLDED, compute, known_number


def _apply(edit: Edit) -> None:
    for op in edit.operations():
        fold(edit, op)


def fold(edit: Edit, op: FleetOp) -> bool:
    """Replace one operation by its constant; return whether it did."""
    if op.results and numpy_dtype(op.results[0].type).kind == "c":
        return False  # the IR has no such constant
    if isinstance(op, ConstantOp | PrintOp) or not op.operands or type(op) not in COMPUTED or _shown(op):
        return False
    numbers = [known_number(v) for v in op.operands]
    if any(n is None for n in numbers) or not _small(op):
        return False
    folded = _folded(op, [_filled(n, v.type) for n, v in zip(numbers, op.operands, strict=True)])
    if folded is None:
        return False
    folded.describe(**identity(op))
    edit.insert_before(op, folded)
    edit.replace(op, folded.results[0])
    edit.fates[op_id(folded)] = "folded into a number"  # same id, but engines keep no values of numbers
    return True


def _shown(op: FleetOp) -> bool:
    return text_of(op, "var") is not None and any(isinstance(use.operation, PrintOp) for use in op.results[0].uses)


def _small(op: FleetOp) -> bool:
    shapes = [shape_of(v.type) for v in (*op.operands, *op.results)]
    return all(-1 not in s and 0 < math.prod(s) <= MAX_FOLDED for s in shapes)


def _filled(number: Any, type_: Attribute) -> Any:
    return np.full(shape_of(type_), number, numpy_dtype(type_)) if is_tensor(type_) else number


def _folded(op: FleetOp, operands: list[Any]) -> ConstantOp | None:
    type_ = op.results[0].type
    try:
        value = np.asarray(compute(op, operands))
        if is_tensor(type_):
            value = np.asarray(value, numpy_dtype(type_))
            first = value.reshape(-1)[:1]
            if value.tobytes() != first.tobytes() * value.size:
                return None
            value = first[0]
        number = value.item()
        return None if isinstance(number, float) and math.isnan(number) else constant(number, type_)
    except (ArithmeticError, ValueError, TypeError, InferenceError):
        return None


PASS = plain("fold-constants", "compute operations on numbers alone", "bits", _apply, adds_weights=False)
