"""`np.r_`, `np.c_`, `np.mgrid`, `np.ogrid` and `np.s_`: arrays that are made by indexing."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fleet.frontend.arrays.arguments import to_array
from fleet.frontend.arrays.complexes import beside
from fleet.frontend.arrays.making import check_size
from fleet.frontend.reading.errors import as_call
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Complex, List, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words

MAKERS = frozenset({"numpy.r_", "numpy.c_", "numpy.mgrid", "numpy.ogrid", "numpy.s_", "numpy.index_exp"})


def load(ev: Evaluator, node: ast.Subscript, path: str, index_items: Callable[[Evaluator, ast.expr], list[Value]]) -> Value:
    """`np.r_[items]` and its like. index_items: what reads an index."""
    name = path.removeprefix("numpy.")
    if name in ("s_", "index_exp"):
        items = index_items(ev, node.slice)
        return tuple(items) if len(items) > 1 or name == "index_exp" else items[0]
    own = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name in ("mgrid", "ogrid"):
        return _grid(ev, node, name, own)
    parts = [_part(ev, node, item) for item in own]
    dtypes = [p.dtype for p in parts if isinstance(p, TracedArray)]
    numbers = [p.value for p in parts if isinstance(p, NumberValue)]
    common = np.result_type(*dtypes, *numbers)
    rows: list[Value] = []
    for p in parts:
        if isinstance(p, NumberValue):
            rows.append(_call(ev, node, "numpy.array", [List([p])], {"dtype": common}))
        else:
            rows.append(_call(ev, node, "numpy.atleast_1d", [p]))
    return _call(ev, node, "numpy.concatenate" if name == "r_" else "numpy.column_stack", [List(rows)])


def _call(ev: Evaluator, node: ast.expr, path: str, args: list[Value], keywords: dict[str, Value] | None = None) -> Value:
    return ev.domain.call(ev, as_call(node), path, args, keywords or {})


def _part(ev: Evaluator, node: ast.Subscript, item: ast.expr) -> TracedArray | NumberValue:
    if isinstance(item, ast.Slice):
        return _made(ev, node, np.r_[_line(ev, node, item)])
    value = ev.expression(item)
    found = beside(ev, node, to_array(ev, node, value))
    if not isinstance(found, TracedArray | NumberValue) or (isinstance(found, NumberValue) and found.symbolic):
        ev.fail("F408", node.slice, f"{words(value)} in np.r_ or np.c_", "give slices, numbers and arrays")
    return found


def _made(ev: Evaluator, node: ast.expr, values: np.ndarray) -> TracedArray:
    found = _call(ev, node, "numpy.array", [_nested(values.tolist())], {"dtype": values.dtype})
    assert isinstance(found, TracedArray)
    return found


def _nested(plain: Any) -> Value:
    return List([_nested(p) for p in plain]) if isinstance(plain, list) else NumberValue(plain)  # pyright: ignore[reportUnknownVariableType]


def _line(ev: Evaluator, node: ast.Subscript, item: ast.expr) -> slice:
    """A line of a grid: start and step of numbers, or as many points up to the end as the step's imaginary part says."""
    if not isinstance(item, ast.Slice):
        ev.fail("F405", item, "a grid has slices alone", "give slices with known bounds")
    start, stop, step = (None if e is None else _number(ev, e) for e in (item.lower, item.upper, item.step))
    if stop is None:
        ev.fail("F405", node.slice, "a slice without an end in a grid", "write start:stop")
    start, step = 0 if start is None else start, 1 if step is None else step
    if isinstance(start, complex) or isinstance(stop, complex) or step == 0:
        ev.fail("F405", node.slice, f"the slice {start}:{stop}:{step} in a grid", "its bounds are real, its step is not zero")
    count = int(abs(step)) if isinstance(step, complex) else max(0, math.ceil((stop - start) / step))
    check_size(ev, node, (count,), np.dtype(float))
    return slice(start, stop, step)


def _number(ev: Evaluator, node: ast.expr) -> int | float | complex:
    value = ev.expression(node)
    found = value.value if isinstance(value, Complex) else ev.static(value)
    if found is None:
        ev.fail("F404", node, f"a bound of a grid must be known from the source, found {words(value)}")
    return found


def _grid(ev: Evaluator, node: ast.Subscript, name: str, items: Sequence[ast.expr]) -> Value:
    lines = [_line(ev, node, item) for item in items]
    index = tuple(lines) if isinstance(node.slice, ast.Tuple) else lines[0]
    sizes = [len(np.r_[line]) for line in lines]
    check_size(ev, node, (len(lines), *sizes) if name == "mgrid" else (sum(sizes),), np.dtype(float))
    if name == "mgrid":
        return _made(ev, node, np.mgrid[index])
    if isinstance(index, slice):
        return _made(ev, node, np.mgrid[index])
    return tuple(_made(ev, node, v) for v in np.ogrid[index])
