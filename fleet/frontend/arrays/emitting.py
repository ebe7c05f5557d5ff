"""The base of all functions of NumPy that become operations: the builder behind an evaluator."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from fleet.frontend.arrays.builder import Builder
from fleet.frontend.arrays.known_values import KnownValues
from fleet.frontend.reading.domain import Domain
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import Made, Static
from fleet.frontend.reading.values import NumberValue, TracedArray, Value


class Emitting(Domain[Evaluator]):
    """A domain that appends operations to a builder's block.

    Attributes:
        builder: appends the operations.
        values: the values that are known while the source is read.
        muted: prints are dropped (of the statements around the function that is the model).
    """

    def __init__(self, builder: Builder, made: Made) -> None:
        self.builder = builder
        self.made = made
        self.values = KnownValues(made)
        self.muted = False


def _of(ev: Evaluator) -> Emitting:
    assert isinstance(ev.domain, Emitting)
    return ev.domain


def builder_of(ev: Evaluator) -> Builder:
    """The builder of the evaluator's domain: only what becomes IR has values that the run decides."""
    return _of(ev).builder


def emit(ev: Evaluator, node: ast.AST, name: str, operands: Sequence[TracedArray], **attributes: object) -> TracedArray:
    """Emit one operation on arrays."""
    return builder_of(ev).tensor(node, name, [o.ssa for o in operands], **attributes)


def cast(ev: Evaluator, node: ast.AST, value: TracedArray, dtype: np.dtype) -> TracedArray:
    """The array in another dtype; itself if it has it."""
    return value if value.dtype == dtype else emit(ev, node, "cast", [value], dtype=dtype)


def read_off(ev: Evaluator, node: ast.AST, value: TracedArray, known: bool | int | float) -> NumberValue:
    """The number in a one-element array whose value is known; the run computes it, too, where the run computes the array."""
    if not computed(ev, value) or (isinstance(known, int) and known.bit_length() > 63):
        return NumberValue(known)
    return builder_of(ev).read_off(node, value.ssa, known)


def computed(ev: Evaluator, value: Value) -> bool:
    """True for an array or a number that the run computes, be it known or not."""
    if isinstance(value, NumberValue):
        return value.computed
    return isinstance(value, TracedArray) and ev.domain.deferred and not isinstance(value, Static)


def known_array(ev: Evaluator, value: TracedArray) -> np.ndarray | None:
    """The elements; None if they are run-time values or more than 2^16."""
    return _of(ev).values.array(value)
