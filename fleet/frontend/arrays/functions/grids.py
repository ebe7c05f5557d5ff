"""`np.r_`, `np.c_`, `np.mgrid`, `np.ogrid` and `np.s_`: arrays that are made by indexing."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fleet.frontend.arrays.arguments import to_array
from fleet.frontend.arrays.making import check_size
from fleet.frontend.reading.errors import as_call
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import List, Number, Slice, Tensor, Value, words

__all__ = ["MAKERS", "load"]

MAKERS = frozenset({"numpy.r_", "numpy.c_", "numpy.mgrid", "numpy.ogrid", "numpy.s_", "numpy.index_exp"})


def load(ev: Evaluator, node: ast.Subscript, path: str, items: Sequence[Value]) -> Value:
    """`np.r_[items]` and its like."""
    name = path.removeprefix("numpy.")
    if name in ("s_", "index_exp"):
        return tuple(items) if len(items) > 1 or name == "index_exp" else items[0]
    if name in ("mgrid", "ogrid"):
        return _grid(ev, node, name, items)
    parts = [_part(ev, node, item) for item in items]
    dtypes = [p.dtype for p in parts if isinstance(p, Tensor)]
    numbers = [p.value for p in parts if isinstance(p, Number)]
    common = np.result_type(*dtypes, *numbers)
    rows: list[Value] = []
    for p in parts:
        if isinstance(p, Number):
            rows.append(_call(ev, node, "numpy.array", [List([p])], {"dtype": common}))
        else:
            rows.append(_call(ev, node, "numpy.atleast_1d", [p]))
    return _call(ev, node, "numpy.concatenate" if name == "r_" else "numpy.column_stack", [List(rows)])


def _call(ev: Evaluator, node: ast.expr, path: str, args: list[Value], keywords: dict[str, Value] | None = None) -> Value:
    return ev.domain.call(ev, as_call(node), path, args, keywords or {})


def _part(ev: Evaluator, node: ast.Subscript, item: Value) -> Tensor | Number:
    if isinstance(item, Slice):
        return _made(ev, node, _line(ev, node, item))
    found = to_array(ev, node, item)
    if not isinstance(found, Tensor | Number) or (isinstance(found, Number) and found.symbolic):
        ev.fail("F408", node.slice, f"{words(item)} in np.r_ or np.c_", "give slices, numbers and arrays")
    return found


def _made(ev: Evaluator, node: ast.expr, values: np.ndarray) -> Tensor:
    found = _call(ev, node, "numpy.array", [_nested(values.tolist())], {"dtype": values.dtype})
    assert isinstance(found, Tensor)
    return found


def _nested(plain: Any) -> Value:
    return List([_nested(p) for p in plain]) if isinstance(plain, list) else Number(plain)  # pyright: ignore[reportUnknownVariableType]


def _line(ev: Evaluator, node: ast.Subscript, item: Value) -> np.ndarray:
    if not isinstance(item, Slice):
        ev.fail("F405", node.slice, f"{words(item)} in a grid", "give slices with known bounds")
    plain = item.plain
    start, step = plain.start or 0, plain.step or 1
    if plain.stop is None:
        ev.fail("F405", node.slice, "a slice without an end in a grid", "write start:stop")
    check_size(ev, node, (max(0, math.ceil((plain.stop - start) / step)),), np.dtype(float))
    return np.arange(start, plain.stop, step)


def _grid(ev: Evaluator, node: ast.Subscript, name: str, items: Sequence[Value]) -> Value:
    lines = [_line(ev, node, item) for item in items]
    if len(lines) == 1:
        return _made(ev, node, lines[0])
    if name == "mgrid":
        check_size(ev, node, (len(lines), *(len(v) for v in lines)), np.dtype(np.int64))
        return _made(ev, node, np.stack(np.meshgrid(*lines, indexing="ij")))
    shapes = [[-1 if i == n else 1 for i in range(len(lines))] for n in range(len(lines))]
    return tuple(_made(ev, node, v.reshape(s)) for v, s in zip(lines, shapes, strict=True))
