"""Values of the source as arrays, in the dtypes in which NumPy computes, and elementwise operations on them."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from fleet.frontend.arrays.complexes import beside
from fleet.frontend.arrays.emitting import builder_of, cast, emit
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.sizes import dims_of, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import Complex, List, NumberValue, RangeValue, TracedArray, Value, ValueOperand
from fleet.frontend.reading.wording import words
from fleet.ir.dialect import ItemOp, ReshapeOp, SliceOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.operations.promotion import common_dtype, loop_types
from fleet.ir.shapes import InferenceError
from fleet.ir.types import numpy_dtype, shape_of

_BITS: Mapping[str, str] = {"bit_and": "logical_and", "bit_or": "logical_or", "bit_xor": "not_equal"}


def bitwise(ev: Evaluator, node: ast.AST, op: str, *operands: ValueOperand) -> str:
    """The operation that a bitwise operator is: on truth values a logical one, on integers the one of their bits."""
    if op not in _BITS:
        return op
    kinds = [v.dtype.kind if isinstance(v, TracedArray) else "b" if v.truth else "i" for v in operands]
    if set(kinds) == {"b"}:
        return _BITS[op]
    whole = [k in "iub" and (isinstance(v, TracedArray) or v.whole) for k, v in zip(kinds, operands, strict=True)]
    if all(whole):
        return op.replace("bit_", "bitwise_")
    at = next((v for v, k in zip(operands, kinds, strict=True) if k not in "iub"), operands[0])
    return ev.fail("F401", node, f"{op} of {words(at)}", "it is for truth values and integers")


def array(ev: Evaluator, node: ast.AST, value: Value) -> TracedArray:
    """`value` as an array; a number becomes a NumPy scalar of the dtype that numpy.asarray gives it."""
    if isinstance(value, tuple | List | RangeValue):
        return stacked(ev, node, value, None)
    number = ev.operand(node, value)
    if isinstance(number, TracedArray):
        return number
    if number.symbolic:
        return _array_of_size(ev, node, number)
    return builder_of(ev).filled(node, (), number.value, np.asarray(number.value).dtype)


def numeric(ev: Evaluator, node: ast.AST, value: Value) -> ValueOperand:
    """`value` as an operand: a Python number stays one."""
    return value if isinstance(value, NumberValue) else array(ev, node, value)


def _array_of_size(ev: Evaluator, node: ast.AST, number: NumberValue) -> TracedArray:
    """A number that only the run knows as a NumPy scalar: what it was taken from, or the constant 0 of its dtype with it added."""
    dtype = np.dtype(np.int64) if number.ssa is None else numpy_dtype(number.ssa.type)
    if number.ssa is not None and isinstance(number.ssa.owner, ItemOp):
        taken = number.ssa.owner.operand
        if isinstance(taken.type, TensorType) and numpy_dtype(taken.type) == dtype and not shape_of(taken.type):
            return TracedArray(taken, scalar=True)
    zero = builder_of(ev).filled(node, (), 0, dtype)
    return builder_of(ev).elementwise(node, "logical_or" if dtype.kind == "b" else "add", [zero, number])


def elementwise(ev: Evaluator, node: ast.AST, op: str, *operands: ValueOperand) -> TracedArray:
    """A ufunc called by its name: of numbers it gives a NumPy scalar, unlike Python's operators."""
    values = list(operands)
    if all(isinstance(v, NumberValue) for v in values):
        values[0] = array(ev, node, values[0])
    if op == "pow" and not any(isinstance(v, TracedArray) and v.shape for v in values):
        return _power(ev, node, values)
    return builder_of(ev).elementwise(node, op, values)


def _power(ev: Evaluator, node: ast.AST, values: Sequence[ValueOperand]) -> TracedArray:
    """Emit np.power of scalars with a base of one dimension: `pow` of rank 0 is Python's `**`, whose bits differ.

    The exponent stays a scalar, for which NumPy has its own ways (-1 is a division, 2 a product).
    """
    base, exponent = values
    if isinstance(base, NumberValue):
        base = loop(ev, node, np.power, *values)[0]
    raised = builder_of(ev).elementwise(node, "pow", [reshaped(ev, node, base, [1]), exponent])
    return TracedArray(reshaped(ev, node, raised, []).ssa)


def loop(ev: Evaluator, node: ast.AST, ufunc: np.ufunc, *values: Value) -> list[TracedArray]:
    """The operands of a ufunc in the dtypes in which NumPy computes it."""
    operands = [numeric(ev, node, v) for v in values]
    try:
        dtypes = loop_types(ufunc.__name__, ufunc, [builder_of(ev).type_of(node, v) for v in operands])
    except InferenceError as error:
        ev.fail("F401", node, str(error))
    return [_widened(ev, node, v, t) for v, t in zip(operands, dtypes, strict=False)]


def _widened(ev: Evaluator, node: ast.AST, value: ValueOperand, dtype: np.dtype) -> TracedArray:
    """An operand in the dtype of a ufunc's loop.

    Integers are multiplied by 1: a cast keeps the memory order of its operand, a ufunc of a broadcast operand gives C order, and
    a later sum adds in memory order.
    """
    if isinstance(value, TracedArray) and len(value.shape) > 1 and value.dtype.kind in "biu" and dtype.kind == "f":
        return elementwise(ev, node, "mul", value, builder_of(ev).filled(node, (), 1.0, dtype))
    return convert(ev, node, value, dtype)


def select(ev: Evaluator, node: ast.AST, condition: TracedArray, a: ValueOperand, b: ValueOperand) -> TracedArray:
    """`where(condition, a, b)`; numbers take the dtype of the other side, or their own if both are numbers."""
    if isinstance(a, NumberValue) and isinstance(b, NumberValue):
        a = array(ev, node, a)
    types = [builder_of(ev).type_of(node, v) for v in (a, b)]
    dtype = common_dtype(types)
    parts = [
        v
        if isinstance(v, TracedArray)
        else cast(ev, node, array(ev, node, v), dtype)
        if v.symbolic  # a size has no dtype of its own
        else builder_of(ev).filled(node, (), wrapped(v, dtype), dtype)
        for v in (a, b)
    ]
    return emit(ev, node, "where", [condition, *parts])


def wrapped(number: NumberValue, dtype: np.dtype) -> bool | int | float:
    """A number as NumPy casts it without a check: an integer loses the bits beyond the dtype's width."""
    with np.errstate(all="ignore"):
        return np.asarray(number.value).astype(dtype).item()


def convert(ev: Evaluator, node: ast.AST, value: Value, dtype: np.dtype) -> TracedArray:
    """A number, array, list or tuple as an array of `dtype`."""
    if isinstance(value, NumberValue):
        if value.symbolic:
            return cast(ev, node, array(ev, node, value), dtype)
        return builder_of(ev).filled(node, (), whole(ev, node, value.value, dtype), dtype)
    if isinstance(value, TracedArray):
        return TracedArray(cast(ev, node, value, dtype).ssa, scalar=value.scalar)
    if isinstance(value, tuple | List | RangeValue):
        return stacked(ev, node, value, dtype)
    return ev.fail("F408", node, f"expected an array or a number, found {words(value)}")


def whole(ev: Evaluator, node: ast.AST, number: bool | int | float, dtype: np.dtype) -> bool | int | float:
    """A number that `dtype` can be filled with."""
    if dtype.kind in "iu" and isinstance(number, float):
        if not math.isfinite(number):
            ev.fail("F402", node, f"cannot convert {number} to {dtype}")
        return math.trunc(number)
    return number


# ---- out of lists


_MAX_LITERAL = 1 << 20


def _plain(ev: Evaluator, value: Value, *, texts: bool) -> Any:
    """Nested lists of numbers known from the source, with `texts` also of what NumPy reads as such; LookupError for an array."""
    parts = ev.sequence(value)
    if parts is not None:
        return [_plain(ev, p, texts=texts) for p in parts]
    if texts and isinstance(value, str):
        return value
    if isinstance(value, Static) and (small := value.small()) is not None:
        return small
    if isinstance(value, Complex):
        return value.value
    if not isinstance(value, NumberValue) or value.symbolic:
        raise LookupError
    return value.value


def stacked(ev: Evaluator, node: ast.AST, value: Value, dtype: np.dtype | None) -> TracedArray:
    """np.array of a list or tuple: a literal if its numbers are known, else its parts stacked."""
    try:
        plain = _plain(ev, value, texts=dtype is not None)
    except LookupError:
        parts = ev.sequence(value) or ()
        if any(not isinstance(p, TracedArray | NumberValue | Complex | tuple | List) for p in parts):
            ev.fail("F408", node, f"an array made of {words(value)} is not supported", "its parts must be numbers or arrays")
        parts = [beside(ev, node, p) for p in parts]
        arrays = [array(ev, node, p) if dtype is None else convert(ev, node, p, dtype) for p in parts]
        joined = stack(ev, node, arrays, 0)
        return joined if dtype is None else cast(ev, node, joined, dtype)
    try:
        found = np.array(plain, dtype)
    except (ValueError, TypeError, OverflowError) as error:
        unread = any(said in str(error) for said in ("could not convert string", "invalid literal"))
        code = "F304" if "inhomogeneous" in str(error) else "F703" if unread else "F402"
        ev.fail(code, node, f"an array of this list: {error}")
    if found.size > _MAX_LITERAL:
        ev.fail("F603", node, f"an array literal of {found.size} numbers", f"at most {_MAX_LITERAL}; give it as a weight")
    return static(ev, node, np.array(found, order="C"), "array", scalar=False)


def joined(ev: Evaluator, node: ast.AST, parts: Sequence[TracedArray], axis: int) -> TracedArray:
    """`np.concatenate`. Consecutive rows of one array, such as the elements of a loop's list, become one slice of it."""
    if axis == 0 and len(parts) > 1:
        parts = [p for run in _runs(parts) for p in _as_one(ev, node, run)]
    return emit(ev, node, "concat", parts, axis=axis) if len(parts) > 1 else TracedArray(parts[0].ssa, scalar=False)


_Rows: TypeAlias = "tuple[SSAValue, int, int] | None"
"""(array, first, last): a value holds the rows [first, last) of the array, in order. None: it is no slice of rows."""


def _rows_of(part: TracedArray) -> _Rows:
    value = part.ssa
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.operand
    if not isinstance(value.owner, SliceOp) or 0 in part.shape:
        return None
    whole, given = value.owner.operand, attributes_of(value.owner)
    shape, start, size = shape_of(whole.type), given["start"], given["size"]
    if not shape or min(shape) < 0 or tuple(size[1:]) != shape[1:] or any(n != 1 for n in given.get("step") or ()):
        return None
    return whole, start[0], start[0] + size[0]


def _runs(parts: Sequence[TracedArray]) -> list[list[tuple[TracedArray, _Rows]]]:
    """Parts that are neighbouring rows of one array, together."""
    found: list[list[tuple[TracedArray, _Rows]]] = []
    for part in parts:
        rows = _rows_of(part)
        last = found[-1][-1][1] if found else None
        if rows is not None and last is not None and last[0] is rows[0] and last[2] == rows[1]:
            found[-1].append((part, rows))
        else:
            found.append([(part, rows)])
    return found


def _as_one(ev: Evaluator, node: ast.AST, run: Sequence[tuple[TracedArray, _Rows]]) -> list[TracedArray]:
    """Neighbouring rows of one array as one piece of it."""
    (part, first), (_, last) = run[0], run[-1]
    if len(run) == 1 or first is None or last is None or len({p.shape[1:] for p, _ in run}) > 1:
        return [p for p, _ in run]
    whole = TracedArray(first[0])
    start, size = first[1], last[2] - first[1]
    if size < whole.shape[0]:
        rest = len(whole.shape) - 1
        whole = emit(ev, node, "slice", [whole], start=[start] + [0] * rest, size=[size, *whole.shape[1:]])
    return [reshaped(ev, node, whole, [sum(p.shape[0] for p, _ in run), *part.shape[1:]])]


def stack(ev: Evaluator, node: ast.AST, parts: Sequence[TracedArray], axis: int) -> TracedArray:
    """`np.stack`: arrays of one shape along a new dimension."""
    for p in parts:
        if len(p.shape) != len(parts[0].shape) or any(
            a != b and min(a, b) >= 0 for a, b in zip(p.shape, parts[0].shape, strict=True)
        ):
            ev.fail("F304", node, f"stack of arrays of shapes {parts[0].shape} and {p.shape}")
    return joined(ev, node, [reshaped(ev, node, p, [*dims_of(p)[:axis], 1, *dims_of(p)[axis:]]) for p in parts], axis)
