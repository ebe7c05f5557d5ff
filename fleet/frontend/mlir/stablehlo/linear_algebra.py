"""Linear algebra of JAX: calls of LAPACK by their names, in operations of NumPy and loops of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.stablehlo.regions import StableRegions
from fleet.frontend.mlir.stablehlo.text import StableOperation

_Call = Callable[[StableRegions, StableOperation, Sequence[MlirArray]], list[MlirArray]]


def _letter(op: StableOperation, name: str) -> str:
    """Return a setting of the call, LAPACK's letter."""
    config: Any = op.attributes["mhlo.backend_config"]
    return chr(config.data[name].value.data)


def _info(b: MlirBuild, x: MlirArray) -> MlirArray:
    """0 for each matrix: what LAPACK could not do ends the run, or gives what is not finite."""
    return b.known(np.zeros(x.shape[:-2], np.int32))


def _turned(b: MlirBuild, x: MlirArray) -> MlirArray:
    return b.transpose(x, [*range(x.rank - 2), x.rank - 1, x.rank - 2])


def _places(b: MlirBuild, x: MlirArray) -> tuple[MlirArray, MlirArray]:
    """Numbers of rows [n, 1] and of columns [1, m]."""
    rows, columns = x.shape[-2:]
    return b.known(np.arange(rows)[:, None]), b.known(np.arange(columns)[None])


def _cholesky(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    b, (x,) = r.b, operands
    upper = _letter(op, "uplo") == "U"
    found = b.emit("numpy", _turned(b, x) if upper else x, call="linalg.cholesky(x0)")
    return [_turned(b, found) if upper else found, _info(b, x)]


def _solve_triangular(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Solve A X = B, or X A = B, by one triangle of A, which may be transposed."""
    b, (a, x) = r.b, operands
    rows, columns = _places(b, a)
    inside = b.emit("greater_equal" if _letter(op, "uplo") == "L" else "less_equal", rows, columns)
    a = b.emit("where", b.broadcast(inside, a.shape), a, b.known(0, a.dtype))
    if _letter(op, "diag") == "U":
        a = b.emit("where", b.broadcast(b.emit("equal", rows, columns), a.shape), b.known(1, a.dtype), a)
    right = _letter(op, "side") == "R"
    if (_letter(op, "trans_x") != "N") != right:
        a = _turned(b, a)
    found = b.emit("numpy", a, _turned(b, x) if right else x, call="linalg.solve(x0, x1)")
    return [_turned(b, found) if right else found]


def _lu(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Eliminate column by column with the largest element as the pivot: both factors in one matrix, and the rows that were
    exchanged, counted from 1.
    """
    b, (x,) = r.b, operands
    rows, columns = _places(b, x)
    count = min(x.shape[-2:])
    lead = [1] * (x.rank - 2)
    steps = b.known(np.arange(count).reshape([*lead, count]))
    zero, one = (b.known(n, x.dtype) for n in (0, 1))

    def picked(array: MlirArray, here: MlirArray, axis: int) -> MlirArray:
        """The row or column for which `here` holds."""
        chosen = b.emit("where", b.broadcast(here, array.shape), array, zero)
        return b.cast(b.emit("reduce_sum", chosen, axes=(array.rank + axis,), keepdims=True), array.dtype)

    def body(state: Sequence[MlirArray]) -> list[MlirArray]:
        k, a, pivots = state
        own, column = b.emit("equal", rows, k), b.emit("equal", columns, k)
        below = b.emit("greater", rows, k)
        size = b.emit("abs", picked(a, column, -1))
        size = b.emit("where", b.broadcast(b.emit("less", rows, k), size.shape), b.known(-1, a.dtype), size)
        best = b.cast(b.emit("argmax", size, axis=a.rank - 2, keepdims=False), np.int64)
        best = b.reshape(best, (*a.shape[:-2], 1, 1))
        there = b.emit("equal", rows, best)
        pivot_row, moved = picked(a, there, -2), picked(a, own, -2)
        a = b.emit("where", b.broadcast(there, a.shape), b.broadcast(moved, a.shape), a)
        a = b.emit("where", b.broadcast(own, a.shape), b.broadcast(pivot_row, a.shape), a)
        pivot = picked(pivot_row, column, -1)
        pivot = b.emit("where", b.emit("equal", pivot, zero), one, pivot)
        factor = b.emit("div", picked(a, column, -1), pivot)
        rest = b.emit("sub", a, b.emit("mul", factor, pivot_row))
        behind = b.emit("logical_and", below, b.emit("greater", columns, k))
        a = b.emit("where", b.broadcast(behind, a.shape), rest, a)
        a = b.emit("where", b.broadcast(b.emit("logical_and", below, column), a.shape), b.broadcast(factor, a.shape), a)
        exchanged = b.cast(b.emit("add", b.reshape(best, best.shape[:-1]), b.known(1, np.int64)), np.int32)
        here = b.broadcast(b.emit("equal", steps, k), pivots.shape)
        return [
            b.emit("add", k, b.known(1, np.int64)), a, b.emit("where", here, b.broadcast(exchanged, pivots.shape), pivots),
        ]  # fmt: skip

    start = [b.known(0, np.int64), x, b.known(np.zeros((*x.shape[:-2], count), np.int32))]
    _, a, pivots = r.roll(op, start, lambda state: b.emit("less", state[0], b.known(count, np.int64)), body)
    return [a, pivots, _info(b, x)]


CALLS: Mapping[str, _Call] = {
    f"lapack_{kind}{name}_ffi": call
    for kind in "sd"
    for name, call in (("potrf", _cholesky), ("trsm", _solve_triangular), ("getrf", _lu))
}
"""Target of a `custom_call` -> what it gives."""
