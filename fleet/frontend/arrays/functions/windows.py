"""Slices of a known length at a place that only the run knows, `x[i : i + 3]` in a loop: their shape is known."""

from __future__ import annotations

import ast

import numpy as np
from xdsl.ir import SSAValue

from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, Slice, TracedArray
from fleet.ir.constants import constant_value
from fleet.ir.dialect import OPERATIONS, ConstantOp

_ADD, _SUB, _MUL = (OPERATIONS[n] for n in ("add", "sub", "mul"))


def places(ev: Evaluator, node: ast.expr, part: Slice, size: int) -> TracedArray | None:
    """The indices that a slice takes of `size` elements; None unless their number is known, and all are within the array."""
    if part.step not in (None, 1) or size < 0 or not isinstance(part.start, NumberValue) or not isinstance(part.stop, NumberValue):
        return None
    first, last = (_linear(builder_of(ev).number(node, n)) for n in (part.start, part.stop))
    if first is None or last is None or first[:2] != last[:2] or first[0] is None:
        return None
    root, factor, offset = first
    length = last[2] - offset
    known = None if root is None else ev.rounds.get(root)
    if known is None or length < 0:
        return None
    ends = [factor * k + offset for k in known]
    if min(ends) < 0 or max(ends) + length > size:
        return None
    steps = ev.domain.literal(ev, node, np.arange(length))
    found = ev.domain.binary(ev, node, "add", steps, part.start)
    assert isinstance(found, TracedArray)
    return found


def _linear(value: SSAValue) -> tuple[SSAValue | None, int, int] | None:
    """A number as factor * root + offset; root: None for a constant."""
    op = value.owner
    if isinstance(op, ConstantOp):
        number = constant_value(op)
        return (None, 0, number) if isinstance(number, int) else None
    if not isinstance(op, _ADD | _SUB | _MUL):
        return value, 1, 0
    a, b = (_linear(v) for v in op.operands)
    if a is None or b is None:
        return None
    if isinstance(op, _MUL):
        if a[0] is not None and b[0] is not None:
            return value, 1, 0
        by, of = (a, b) if a[0] is None else (b, a)
        return (of[0], of[1] * by[2], of[2] * by[2]) if of[0] is not None else (None, 0, of[2] * by[2])
    sign = -1 if isinstance(op, _SUB) else 1
    if a[0] is not None and b[0] is not None and a[0] is not b[0]:
        return value, 1, 0
    root = a[0] if a[0] is not None else b[0]
    return root, a[1] + sign * b[1], a[2] + sign * b[2]
