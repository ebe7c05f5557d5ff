"""`order=`: copies in the memory order that the source asks for."""

from __future__ import annotations

import ast

from fleet.frontend.arrays import called
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.tensor import joined_storage
from fleet.frontend.reading.values import TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.memory_order import in_c_order, repeats


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
