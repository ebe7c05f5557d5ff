"""Shifts of integer arrays by a known number of bits, as products with and floored quotients by powers of two: the same bits."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fleet.frontend._values import Number, Tensor, Value

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator

__all__ = ["shift", "steps"]


def shift(ev: Evaluator, node: ast.expr, name: str, value: Value, by: Value) -> Value:
    """`value << by` or `value >> by` (name: "shift_left", "shift_right"), the bits beyond the dtype's width gone as in NumPy."""
    if isinstance(value, Tensor) and value.dtype.kind == "b" and isinstance(by, Number) and by.truth:
        converted = ev.domain.convert(node, value, np.dtype(np.int8))
        assert isinstance(converted, Tensor)
        value = converted
    for op, number in steps(ev, node, name, value, by):
        assert isinstance(value, Tensor)
        value = ev.domain.binary(node, op, value, number)
    return value


def steps(ev: Evaluator, node: ast.AST, name: str, value: Value, by: Value) -> Sequence[tuple[str, Number]]:
    """The operations, one after the other, that make a shift; one at least, so that its result is an array of its own."""
    if not isinstance(value, Tensor) or not isinstance(by, Number) or by.symbolic or not isinstance(by.value, int):
        ev.fail("F503", node, "a shift by an array is not supported", "shift by a number: x >> 3")
    if value.dtype.kind not in "iub":
        ev.fail("F401", node, f"a shift of an array of {value.dtype}", "multiply or divide by powers of two")
    if by.value < 0:
        ev.fail("F402", node, f"a shift by {by.value} bits", "shift by 0 and more")
    if value.dtype.kind != "b" and by.value > np.iinfo(value.dtype).max:
        ev.fail("F402", node, f"Python integer {by.value} out of bounds for {value.dtype}")
    dtype = np.dtype(np.int64) if value.dtype.kind == "b" else value.dtype
    bits = 8 * dtype.itemsize
    # The largest power of two that the dtype holds; a longer shift is several. From the width on nothing is left, or the sign.
    most = bits - (1 if dtype.kind == "u" else 2)
    op = "mul" if name == "shift_left" else "floor_div"
    whole, rest = divmod(min(by.value, bits), most)
    return [(op, Number(1 << n)) for n in (*[most] * whole, rest) if n or not whole]
