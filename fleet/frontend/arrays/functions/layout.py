"""An array's layout in memory: `order=`, `x.strides`, and `np.lib.stride_tricks.as_strided`."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence

import numpy as np

from fleet.frontend.arrays import called
from fleet.frontend.arrays.arguments import Arguments, Handler
from fleet.frontend.arrays.emitting import emit
from fleet.frontend.arrays.making import check_size, static
from fleet.frontend.arrays.memory import places_of
from fleet.frontend.arrays.operands import array
from fleet.frontend.arrays.sizes import reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.tensor import joined_storage
from fleet.frontend.reading.values import TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.memory_order import in_c_order, repeats

_HINT = "use np.lib.stride_tricks.sliding_window_view, or np.ascontiguousarray(x) before"


def ordered(ev: Evaluator, node: ast.expr, x: TracedArray, order: Value) -> TracedArray:
    """A copy of the array whose elements lie in this order: "C", "F", "A" or "K" (None)."""
    if order not in (None, "C", "F", "A", "K"):
        ev.fail("F506", node, f"order={words(order)} is not supported", "'C', 'F', 'A' or 'K'")
    laid = order in (None, "K") or (order in ("C", "A") and in_c_order(x.ssa)) or len(x.shape) < 2
    if laid and not repeats(x.ssa):
        return TracedArray(x.ssa, scalar=x.scalar)
    return copied(ev, node, x, "K" if order is None else order)


def copied(ev: Evaluator, node: ast.expr, x: TracedArray, order: Value) -> TracedArray:
    """Copy, also if order and strides are believed to be those already."""
    found = called.call(ev, node, "numpy.copy", [x], {"order": order})
    assert isinstance(found, TracedArray)
    return TracedArray(found.ssa, scalar=False)


def fresh(ev: Evaluator, node: ast.expr, x: TracedArray) -> TracedArray:
    """The array, or a copy in C order if it repeats elements: NumPy makes a new array here, and later sums follow its memory."""
    return copied(ev, node, x, "C") if repeats(x.ssa) else x


def arranged(ev: Evaluator, node: ast.expr, x: TracedArray, order: Value) -> TracedArray:
    """The array itself if it is contiguous in this order, else a copy: "C", "F", "A" or "K" (None)."""
    if order in (None, "K"):
        return x
    laid = ordered(ev, node, x, order).ssa
    if laid is x.ssa and order == "C":
        return x.view(laid, scalar=False, where="contiguous")
    made = TracedArray(laid, scalar=False)
    joined_storage(made, x)
    return made


def _placed(ev: Evaluator, node: ast.AST, x: TracedArray) -> tuple[TracedArray, np.ndarray]:
    found = places_of(ev, node, x)
    if found is None:
        ev.fail("F206", node, "the strides of an array of which only the run knows how it lies in memory", _HINT)
    return found


def strides(ev: Evaluator, node: ast.AST, x: TracedArray) -> tuple[int, ...]:
    """Bytes from one element to the next, along each dimension, as NumPy has them."""
    places = _placed(ev, node, x)[1]
    return tuple(s // places.itemsize * x.dtype.itemsize for s in places.strides)


def elements(
    ev: Evaluator, node: ast.AST, first: int, size: int, shape: Sequence[int], steps: Sequence[int], itemsize: int
) -> np.ndarray:
    """Places in a memory of `size` elements that shape and strides (bytes) reach from `first` on.

    SourceError F301 if they do not fit together, F306 if they leave the memory, F506 if they point into an element.
    """
    if len(shape) != len(steps) or min(shape, default=0) < 0:
        ev.fail("F301", node, f"as_strided with shape {tuple(shape)} and strides {tuple(steps)}", "one stride for each dimension")
    if any(s % itemsize for s in steps):
        ev.fail("F506", node, f"strides of {tuple(steps)} bytes for elements of {itemsize}", "give multiples of x.itemsize")
    check_size(ev, node, tuple(shape), np.dtype(np.int64))
    found = np.full((), first)
    for n, s in zip(shape, steps, strict=True):
        found = found[..., None] + np.arange(n) * (s // itemsize)
    if found.size and not 0 <= found.min() <= found.max() < size:
        ev.fail("F306", node, "as_strided reaches outside of the array's memory", f"it has {size} elements")
    return found


def _as_strided(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    root, places = _placed(ev, node, x)
    shape = x.shape if args.get("shape") is None else ev.integers(node, args["shape"], "a shape")
    steps = strides(ev, node, x) if args.get("strides") is None else ev.integers(node, args["strides"], "strides")
    size = math.prod(root.shape)
    index = elements(ev, node, int(places.flat[0]) if places.size else 0, size, shape, steps, x.dtype.itemsize)
    row = reshaped(ev, node, root, [size])
    shown = emit(ev, node, "gather", [row, static(ev, node, index, "places", scalar=False)])
    return root.view(shown.ssa, scalar=False, writable=False)


HANDLERS: Mapping[str, Handler] = {"as_strided": _as_strided}
