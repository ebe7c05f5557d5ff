"""NumPy's iterators over indices and elements, in C order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from fleet.frontend.arrays.arguments import to_array
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import ELLIPSIS, Lazy, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.memory_order import in_c_order


def _ndindex(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    sizes = [n for a in args for n in ev.integers(node, a, "a size")]
    if keywords or any(n < 0 for n in sizes):
        ev.fail("F703", node, f"ndindex of {sizes}", "give sizes")
    return Lazy((tuple(NumberValue(i) for i in at) for at in np.ndindex(*sizes)), "generator")


def _array(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> TracedArray:
    found = to_array(ev, node, args[0]) if len(args) == 1 and not keywords else None
    if not isinstance(found, TracedArray) or any(n < 0 for n in found.shape):
        ev.fail("F506", node, f"an iterator over {words(args[0]) if args else 'nothing'} is not supported", "give one array")
    return found


def _elements(ev: Evaluator, node: ast.Call, x: TracedArray) -> Iterator[tuple[tuple[Value, ...], Value]]:
    place = ast.copy_location(ast.Subscript(node.func, ast.copy_location(ast.Constant(0), node), ast.Load()), node)
    for at in np.ndindex(*x.shape):
        index = tuple(NumberValue(i) for i in at)
        yield index, ev.domain.load(ev, place, x, list(index)) if index else x


def _ndenumerate(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    x = _array(ev, node, args, keywords)
    return Lazy((pair for pair in _elements(ev, node, x)), "generator")


def _nditer(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`np.nditer(x)`: the elements, as arrays without dimensions, in the order in which they lie in memory."""
    x = _array(ev, node, args, keywords)
    if len(x.shape) > 1 and not in_c_order(x.ssa):
        ev.fail("F506", node, "nditer of an array that may lie in another order than C's", "loop over x.ravel(), or a copy")
    place = ast.copy_location(ast.Subscript(node.func, ast.copy_location(ast.Constant(0), node), ast.Load()), node)
    found = (ev.domain.load(ev, place, x, [*(NumberValue(i) for i in at), ELLIPSIS]) for at in np.ndindex(*x.shape))
    return Lazy(found, "generator")


ITERATION: Mapping[str, Callable[..., Value]] = {
    "numpy.ndindex": _ndindex, "numpy.ndenumerate": _ndenumerate, "numpy.nditer": _nditer,
}  # fmt: skip
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
