"""Truth values and numbers that only the run knows: what `if` asks for, checks, and Python's numbers out of arrays."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.types import numpy_dtype


def condition(ev: Evaluator, node: ast.AST, value: Value) -> bool | SSAValue:
    """The truth of a value: known, or a value of the run (i1). SourceError as `Evaluator.truth`."""
    if isinstance(value, NumberValue) and value.symbolic and not value.sized and ev.static(value) is None:
        number = value if value.ssa is not None and value.ssa.type == i1 else None
        if number is None:
            number = ev.domain.arithmetic(expression_at(node), "not_equal", [value, NumberValue(0)], None)
        assert number.ssa is not None
        return _in_rounds(ev, number.ssa)
    if isinstance(value, TracedArray) and ev.domain.known(value) is None:
        return _truth_of(ev, node, value)
    return ev.truth(node, value)


def _in_rounds(ev: Evaluator, flag: SSAValue) -> bool | SSAValue:
    """The truth in every round of a loop if it is the same; else the flag, and the rounds in which it turns are noted."""
    found = ev.domain.in_rounds(flag, ev.rounds) if ev.rounds else None
    if found is None:
        return flag
    number, truths = found
    turns = [k for k, (a, b) in enumerate(pairwise(truths), ev.rounds[number][0] + 1) if a != b]
    ev.turns[number].update(turns)
    return flag if turns else truths[0]


def _truth_of(ev: Evaluator, node: ast.AST, value: TracedArray) -> SSAValue:
    if any(d < 0 for d in value.shape):
        ev.unknown(node, f"{words(value)} decides what is computed, and only the run knows how many elements it has")
    if math.prod(value.shape) != 1:
        hint = "choose with np.where, or reduce with .any() or .all()"
        ev.fail("F703", node, f"the truth value of {words(value)} is ambiguous", hint)
    return builder_of(ev).emit(node, "item", [value.ssa], number="bool")


def check(ev: Evaluator, node: ast.AST, flag: SSAValue | bool, said: str) -> None:
    """Emit a check that ends the run, with the message `said`, if the flag does not hold."""
    ev.checks += 1
    builder = builder_of(ev)
    builder.emit(node, "check", [builder.constant(node, flag, i1) if isinstance(flag, bool) else flag], message=said)


def negated(ev: Evaluator, node: ast.AST, flag: SSAValue) -> SSAValue:
    """The negated truth value."""
    builder = builder_of(ev)
    return builder.emit(node, "item", [builder.emit(node, "logical_not", [flag])], number="bool")


def any_of(ev: Evaluator, node: ast.AST, flags: Iterable[SSAValue]) -> SSAValue:
    """The logical or of run-time truth values."""
    builder = builder_of(ev)

    def either(a: SSAValue, b: SSAValue) -> SSAValue:
        return builder.emit(node, "item", [builder.emit(node, "logical_or", [a, b])], number="bool")

    return reduce(either, flags)


SCALARS: Mapping[type, np.dtype] = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float64)}
"""Python's type of a number -> the dtype of an array of them."""


def number_of(ev: Evaluator, node: ast.AST, value: Value) -> Value:
    """A NumPy scalar of the run as the Python number that it is."""
    assert isinstance(value, TracedArray)
    kind = {"b": "bool", "f": "float"}.get(value.dtype.kind, "int")
    return NumberValue(ev.static(value), builder_of(ev).emit(node, "item", [value.ssa], number=kind))


def kind_of_number(value: NumberValue) -> type:
    """Python's type of a number."""
    if not value.symbolic:
        return type(value.value)
    if value.ssa is None:
        return int
    return {"b": bool, "f": float}.get(numpy_dtype(value.ssa.type).kind, int)
