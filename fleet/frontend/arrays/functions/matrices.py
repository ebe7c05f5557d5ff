"""NumPy's calls about diagonals, and products over several dimensions: kron, tensordot."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import numpy as np

from fleet.frontend.arrays.arguments import Arguments, Handler, axes_of
from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.arrays.functions.products import dot_product
from fleet.frontend.arrays.functions.shapes import diagonal
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.operands import array, elementwise, select
from fleet.frontend.arrays.parts import piece, transposed
from fleet.frontend.arrays.sizes import reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words


def _static(ev: Evaluator, node: ast.AST, x: TracedArray, what: str) -> None:
    if any(d < 0 for d in x.shape):
        ev.unknown(node, f"{what} of an array whose size only the run knows")


def _diag(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """A vector as the diagonal of a matrix of zeros, or the diagonal of a matrix; k: how far above the main one."""
    x, k = array(ev, node, args["v"]), ev.integer(node, args.get("k", NumberValue(0)), "k")
    _static(ev, node, x, "diag")
    if len(x.shape) == 2:
        rows, columns = x.shape
        down, right = min(max(-k, 0), rows), min(max(k, 0), columns)
        part = piece(ev, node, piece(ev, node, x, 0, down, rows), 1, right, columns)
        return diagonal(ev, node, part)
    if len(x.shape) != 1:
        ev.fail("F305", node, f"diag of {words(x)}", "it takes vectors and matrices")
    size = x.shape[0] + abs(k)
    zero = builder_of(ev).filled(node, (), 0, x.dtype)
    row = TracedArray(builder_of(ev).emit(node, "pad", [x.ssa, zero.ssa], low=[max(k, 0)], high=[max(-k, 0)]))
    mask = static(ev, node, np.eye(size, k=k, dtype=bool), "diagonal")
    return select(ev, node, mask, row, zero)


def _fill_diagonal(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    owner, value = args["a"], args["val"]
    if not isinstance(owner, TracedArray) or len(owner.shape) != 2 or (isinstance(value, TracedArray) and value.shape):
        ev.fail("F305", node, "fill_diagonal takes a matrix and a number", "write x[np.arange(n), np.arange(n)] = values")
    _static(ev, node, owner, "fill_diagonal")
    ev.domain.store(ev, node, owner, [static(ev, node, np.eye(*owner.shape, dtype=bool), "diagonal")], value)
    return None


def _kron(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    a, b = array(ev, node, args["a"]), array(ev, node, args["b"])
    rank = max(len(a.shape), len(b.shape))
    shapes = [(1,) * (rank - len(v.shape)) + v.shape for v in (a, b)]
    for v in (a, b):
        _static(ev, node, v, "kron")
    wide = reshaped(ev, node, a, [d for n in shapes[0] for d in (n, 1)])
    tall = reshaped(ev, node, b, [d for n in shapes[1] for d in (1, n)])
    product = elementwise(ev, node, "mul", wide, tall)
    return TracedArray(reshaped(ev, node, product, [m * n for m, n in zip(*shapes, strict=True)]).ssa, scalar=False)


def _tensordot(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """The steps that NumPy takes: both as matrices, one product."""
    a, b = array(ev, node, args["a"]), array(ev, node, args["b"])
    given = args.get("axes", NumberValue(2))
    pair = ev.sequence(given)
    if pair is None:
        count = ev.integer(node, given, "axes")
        if not 0 <= count <= min(len(a.shape), len(b.shape)):
            ev.fail("F305", node, f"tensordot over {count} dimensions of {words(a)} and {words(b)}")
        summed = [list(range(len(a.shape) - count, len(a.shape))), list(range(count))]
    elif len(pair) != 2:
        ev.fail("F305", node, f"tensordot takes two lists of axes, found {len(pair)}", "axes=([1], [0])")
    else:
        summed = []
        for v, axes in zip((a, b), pair, strict=True):
            numbers = ev.integers(node, axes, "axes")
            axes_of(ev, node, len(v.shape), tuple(NumberValue(n) for n in numbers))
            summed.append([n % len(v.shape) for n in numbers])
    for v in (a, b):
        _static(ev, node, v, "tensordot")
    lengths = [[v.shape[n] for n in axes] for v, axes in zip((a, b), summed, strict=True)]
    if lengths[0] != lengths[1]:
        ev.fail("F302", node, f"tensordot over dimensions of {lengths[0]} and of {lengths[1]}: they must be equal")
    kept = [[n for n in range(len(v.shape)) if n not in axes] for v, axes in zip((a, b), summed, strict=True)]
    depth = math.prod(lengths[0])
    rows, columns = ([v.shape[n] for n in axes] for v, axes in zip((a, b), kept, strict=True))
    left = reshaped(ev, node, transposed(ev, node, a, [*kept[0], *summed[0]]), [math.prod(rows), depth])
    right = reshaped(ev, node, transposed(ev, node, b, [*summed[1], *kept[1]]), [depth, math.prod(columns)])
    found = dot_product(ev, node, left, right)
    assert isinstance(found, TracedArray)
    return TracedArray(reshaped(ev, node, found, [*rows, *columns]).ssa, scalar=False)


HANDLERS: Mapping[str, Handler] = {"diag": _diag, "fill_diagonal": _fill_diagonal, "kron": _kron, "tensordot": _tensordot}
