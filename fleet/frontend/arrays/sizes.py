"""Shapes with sizes that only the run knows, and the operations that take sizes as operands."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, Slice, TracedArray, Value, dimension

ArraySizes: TypeAlias = "Sequence[int | NumberValue]"
"""Dimensions: integers, and numbers for those that only the run knows."""

_FAR = 1 << 62
"""A bound beyond every array, in place of a missing one."""


def known(sizes: ArraySizes) -> list[int]:
    """The shape of a type: -1 for what only the run knows."""
    return [-1 if isinstance(d, NumberValue) else d for d in sizes]


def dims_of(x: TracedArray) -> list[int | NumberValue]:
    """The dimensions of an array."""
    return [d if d >= 0 else dimension(x, i) for i, d in enumerate(x.shape)]


def given_sizes(ev: Evaluator, node: ast.AST, value: Value, what: str = "shape") -> list[int | NumberValue]:
    """A shape as the source gives it: an integer, or a sequence of them. SourceError for anything else."""
    parts = ev.sequence(value)
    found: list[int | NumberValue] = []
    for v in (value,) if parts is None else parts:
        own = isinstance(v, NumberValue) and v.symbolic and v.whole
        found.append(v if own and isinstance(v, NumberValue) else ev.integer(node, v, what))
    return found


def product(ev: Evaluator, node: ast.AST, a: NumberValue, b: NumberValue) -> NumberValue:
    """The product of two sizes, one of which only the run knows."""
    operands = _operands(ev, node, [a, b])
    found = NumberValue(None, builder_of(ev).emit(node, "mul", operands))
    found.sized = all(v.sized or not v.symbolic for v in (a, b))
    return found


def element_count(ev: Evaluator, node: ast.AST, x: TracedArray) -> NumberValue:
    """Number of elements."""
    total = NumberValue(math.prod(d for d in x.shape if d >= 0))
    for d in dims_of(x):
        if isinstance(d, NumberValue):
            one = not total.symbolic and total.value == 1
            total = d if one else product(ev, node, total, d)
    return total


def _operands(ev: Evaluator, node: ast.AST, sizes: ArraySizes) -> list[SSAValue]:
    return [builder_of(ev).number(node, d if isinstance(d, NumberValue) else NumberValue(d), i64) for d in sizes]


def reshaped(ev: Evaluator, node: ast.AST, x: TracedArray, shape: ArraySizes) -> TracedArray:
    """A view of another shape; one size may be -1.

    Where the sizes that only the run knows are the array's own, nothing has to be checked; all others the run checks.
    """
    own = {i: d for i, d in enumerate(x.shape) if d < 0}
    asked = [d for d in shape if isinstance(d, NumberValue)]
    if not asked:
        if tuple(shape) == x.shape and len(own) < 2:
            return x.view(x.ssa)
        return x.view(builder_of(ev).emit(node, "reshape", [x.ssa], shape=list(shape)))
    if _same(x, shape):
        return x.view(x.ssa)
    rest = [d for d in shape if not isinstance(d, NumberValue)]
    axes = [d.dim[1] if d.dim is not None and d.dim[0] is x.ssa else -1 for d in asked]
    if sorted(axes) == sorted(own) and len(axes) == 1 and rest.count(-1) <= 1:
        total = math.prod(d for d in x.shape if d >= 0)
        part = math.prod(d for d in rest if d >= 0)
        fits = part > 0 and total % part == 0
        if fits and (-1 in rest or part == total):
            target = [-1 if isinstance(d, NumberValue) else total // part if d == -1 else d for d in shape]
            return x.view(builder_of(ev).emit(node, "reshape", [x.ssa], shape=target))
    sizes = [NumberValue(-1) if d == -1 else d for d in shape]
    numbers = [d for d in sizes if isinstance(d, NumberValue)]
    operands = [x.ssa, *_operands(ev, node, numbers)]
    return x.view(builder_of(ev).emit(node, "dynamic_reshape", operands, shape=known(sizes)))


def _same(x: TracedArray, shape: ArraySizes) -> bool:
    """Return whether it is the array's own shape, dimension by dimension."""
    return len(shape) == len(x.shape) and all(
        d.dim is not None and d.dim[0] is x.ssa and d.dim[1] == i if isinstance(d, NumberValue) else d == x.shape[i]
        for i, d in enumerate(shape)
    )


def flat(ev: Evaluator, node: ast.AST, x: TracedArray) -> TracedArray:
    """All elements in a row: a view of a contiguous array, of others a copy."""
    row = x if len(x.shape) == 1 else reshaped(ev, node, x, [-1 if any(d < 0 for d in x.shape) else math.prod(x.shape)])
    return x.view(row.ssa, scalar=False, where="contiguous")


def broadcasted(ev: Evaluator, node: ast.AST, x: TracedArray, shape: ArraySizes) -> SSAValue:
    """`np.broadcast_to` with at least one size that only the run knows."""
    operands = [x.ssa, *_operands(ev, node, [d for d in shape if isinstance(d, NumberValue)])]
    return builder_of(ev).emit(node, "dynamic_broadcast", operands, shape=known(shape))


def filled(ev: Evaluator, node: ast.AST, shape: ArraySizes, value: bool | int | float, dtype: np.dtype) -> SSAValue:
    """`np.full` of a shape with at least one size that only the run knows."""
    return broadcasted(ev, node, builder_of(ev).filled(node, (), value, dtype), shape)


def arange(ev: Evaluator, node: ast.AST, bounds: ArraySizes) -> TracedArray:
    """`np.arange(start, stop, step)` of integers, int64."""
    return TracedArray(builder_of(ev).emit(node, "arange", _operands(ev, node, bounds)), scalar=False)


def triangle(
    ev: Evaluator, node: ast.AST, rows: int | NumberValue, columns: int | NumberValue, k: int, dtype: np.dtype
) -> TracedArray:
    """`np.tri`."""
    return TracedArray(builder_of(ev).emit(node, "tri", _operands(ev, node, [rows, columns, k]), dtype=dtype), scalar=False)


def bounded_slice(ev: Evaluator, node: ast.AST, x: TracedArray, parts: Sequence[tuple[int, Slice]]) -> SSAValue:
    """`x[start:stop:step]` of some axes, the sizes of the results being the run's."""
    bounds: list[int | NumberValue] = []
    for _, part in parts:
        forward = (part.step or 1) > 0
        bounds.append(part.start if part.start is not None else 0 if forward else _FAR)
        bounds.append(part.stop if part.stop is not None else _FAR if forward else -_FAR)
    operands = [x.ssa, *_operands(ev, node, bounds)]
    axes, steps = [a for a, _ in parts], [p.step or 1 for _, p in parts]
    return builder_of(ev).emit(node, "dynamic_slice", operands, axes=axes, step=steps)
