"""Parts of arrays: a piece, an element, what an array of indices names; and the dimensions in another order."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fleet.frontend.arrays.emitting import builder_of, emit
from fleet.frontend.arrays.making import literal
from fleet.frontend.arrays.operands import array
from fleet.frontend.arrays.sizes import dims_of, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import NumberValue, TracedArray

SUPPORTED = "supported are start:stop:step with static bounds, integers, None, ... and one array of integers"


def piece(ev: Evaluator, node: ast.AST, x: TracedArray, axis: int, start: int, stop: int) -> TracedArray:
    """A view of `start:stop` of one dimension."""
    first = [start if i == axis else 0 for i in range(len(x.shape))]
    length = [stop - start if i == axis else d for i, d in enumerate(x.shape)]
    if tuple(length) == x.shape:
        return x.view(x.ssa)
    return x.view(builder_of(ev).emit(node, "slice", [x.ssa], start=first, size=length))


def transposed(ev: Evaluator, node: ast.AST, x: TracedArray, permutation: Sequence[int]) -> TracedArray:
    """A view with permuted dimensions."""
    return x.view(builder_of(ev).emit(node, "transpose", [x.ssa], permutation=list(permutation)))


def element(ev: Evaluator, node: ast.AST, value: TracedArray, at: int, axis: int = 0) -> TracedArray:
    """`value[at]` of one dimension, for iteration."""
    if isinstance(value, Static) and axis == 0 and len(value.shape) == 1 and (small := value.small()) is not None:
        return literal(ev, node, small[at])
    size = value.shape[axis]
    if size >= 0 and not -size <= at < size:
        ev.fail("F306", node, f"index {at} is out of bounds for dimension {axis} of size {size}")
    at = at % size if size >= 0 else at  # else it counts from the end in the run
    cut = piece(ev, node, value, axis, at, at + 1)
    found = reshaped(ev, node, cut, [d for i, d in enumerate(dims_of(cut)) if i != axis])
    return found if found.shape else TracedArray(found.ssa)


def late_element(ev: Evaluator, node: ast.AST, value: TracedArray, at: NumberValue) -> TracedArray:
    """`value[at]` at a place that only the run knows."""
    found = gather(ev, node, value, array(ev, node, at), 0)
    return value.view(found.ssa) if found.shape else TracedArray(found.ssa)


def gather(
    ev: Evaluator, node: ast.AST, value: TracedArray, indices: TracedArray, axis: int, *, dimension: int | None = None
) -> TracedArray:
    """Elements of one dimension by an array of integers. dimension: the source's number of it, where it is another."""
    place = node.slice if isinstance(node, ast.Subscript) else node
    if indices.dtype.kind == "b":
        hint = "its result's shape depends on values; use np.where(mask, x, 0)"
        ev.fail("F501", place, "an index of truth values is not supported", hint)
    if indices.dtype.kind != "i":
        ev.fail("F405", place, f"an index array of dtype {indices.dtype} is not supported", SUPPORTED)
    if isinstance(indices, Static) and (small := indices.small()) is not None and small.size and value.shape[axis] >= 0:
        worst = int(small.min()) if small.min() < -value.shape[axis] else int(small.max())
        if not -value.shape[axis] <= worst < value.shape[axis]:
            shown = axis if dimension is None else dimension
            ev.fail("F306", place, f"index {worst} is out of bounds for dimension {shown} of size {value.shape[axis]}")
    return emit(ev, node, "gather", [value, indices], axis=axis) if axis else emit(ev, node, "gather", [value, indices])
