"""Shifts of integer arrays as products with and floored quotients by powers of two: the same bits."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, TracedArray, Value


def shift(ev: Evaluator, node: ast.Call | ast.expr, name: str, value: Value, by: Value) -> Value:
    """`value << by` or `value >> by` (name: "shift_left", "shift_right"), the bits beyond the dtype's width gone as in NumPy."""
    if isinstance(by, TracedArray):
        known = None if by.shape else ev.static(by)
        whole = isinstance(value, TracedArray) and value.dtype.kind in "iu" and by.dtype.kind in "iu"
        if not whole or not isinstance(known, int) or known < 0:
            call = node if isinstance(node, ast.Call) else ast.copy_location(ast.Call(node, [], []), node)
            return ev.domain.call(ev, call, f"numpy.{name.removeprefix('shift_')}_shift", [value, by], {})
        assert isinstance(value, TracedArray)
        value, by = ev.domain.convert(ev, node, value, np.result_type(value.dtype, by.dtype)), NumberValue(known)
    if isinstance(value, TracedArray) and value.dtype.kind == "b" and isinstance(by, NumberValue) and by.truth:
        converted = ev.domain.convert(ev, node, value, np.dtype(np.int8))
        assert isinstance(converted, TracedArray)
        value = converted
    for op, number in steps(ev, node, name, value, by):
        assert isinstance(value, TracedArray)
        value = ev.domain.binary(ev, node, op, value, number)
    return value


def powers(dtype: np.dtype, name: str) -> tuple[np.ndarray, ...]:
    """By how much a shift by 0, 1, ... bits multiplies, or divides in two steps; the last entry stands for all larger numbers."""
    bits = 8 * dtype.itemsize
    if name == "shift_left":
        return (np.array([*(1 << n for n in range(bits)), 0], np.uint64).astype(dtype),)
    most, last = (bits - 1, bits) if dtype.kind == "u" else (bits - 2, bits - 1)
    whole = [min(n, last) for n in range(bits + 1)]
    return tuple(np.array([1 << n for n in part], np.uint64).astype(dtype) for part in (
        [min(n, most) for n in whole], [n - min(n, most) for n in whole],
    ))  # fmt: skip


def must_fit(ev: Evaluator, node: ast.AST, number: NumberValue, dtype: np.dtype) -> None:
    """SourceError F402 if an integer dtype cannot hold a Python integer; NumPy looks at this before shapes."""
    value = number.value
    if number.symbolic or not isinstance(value, int) or dtype.kind not in "iu":
        return
    if not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        ev.fail("F402", node, f"Python integer {value} out of bounds for {dtype}")


def steps(ev: Evaluator, node: ast.AST, name: str, value: Value, by: Value) -> Sequence[tuple[str, NumberValue]]:
    """The operations, one after the other, that make a shift; one at least, so that its result is an array of its own."""
    if not isinstance(value, TracedArray) or not isinstance(by, NumberValue) or by.symbolic or not isinstance(by.value, int):
        ev.fail("F503", node, "a shift by an array is not supported", "shift by a number: x >> 3")
    if value.dtype.kind not in "iub":
        ev.fail("F401", node, f"a shift of an array of {value.dtype}", "multiply or divide by powers of two")
    if by.value < 0:
        ev.fail("F402", node, f"a shift by {by.value} bits", "shift by 0 and more")
    must_fit(ev, node, by, value.dtype)
    dtype = np.dtype(np.int64) if value.dtype.kind == "b" else value.dtype
    bits = 8 * dtype.itemsize
    # The largest power of two that the dtype holds; a longer shift is several. From the width on nothing is left, or the sign.
    most = bits - (1 if dtype.kind == "u" else 2)
    op = "mul" if name == "shift_left" else "floor_div"
    whole, rest = divmod(min(by.value, bits), most)
    return [(op, NumberValue(1 << n)) for n in (*[most] * whole, rest) if n or not whole]
