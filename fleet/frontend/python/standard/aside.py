"""Libraries that draw, log or make a function faster: what they are told changes no value of the model.

What they make is `Library` values whose path is how they were made (`matplotlib.pyplot.figure().gca()`); any attribute, call and
subscript of one is another. `fleet.engines._cpython_child` has them for CPython, so that nothing is drawn and no file written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import ForeignArray, Library, List, NumberValue, Partial, SourceFunction, Value

ROOTS = frozenset({"matplotlib", "mpl_toolkits", "seaborn", "logging", "doctest"})
"""Packages of which everything is aside."""
_NUMBA_TYPES = re.compile(r"numba\.(types\.)?(u?int|float|complex|bool|void)\w*([.(\[].*)?")


def is_aside(path: str) -> bool:
    """Return True for a dotted path into a library that is left aside."""
    return path.split(".", maxsplit=1)[0] in ROOTS or path == "os.environ" or _NUMBA_TYPES.fullmatch(path) is not None


def call(ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`path(...)`: something of the library again, in the form that sources take apart."""
    made = Library(f"{path}()")
    match path.rpartition(".")[2]:
        case "plot" if path.startswith("matplotlib."):
            return List([made])
        case "hist" if path.startswith("matplotlib."):
            return tuple(Library(f"{path}().{n}") for n in range(3))
        case "subplots":
            return made, _axes(ev, node, made, args, keywords)
        case _:
            return made


def _axes(ev: Evaluator, node: ast.Call, made: Library, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """The second of what `subplots` gives: one, or an array of them."""
    given = {**dict(zip(("nrows", "ncols"), args, strict=False)), **keywords}
    rows, columns = (ev.integer(node, given.get(name, NumberValue(1)), name) for name in ("nrows", "ncols"))
    ev.bounded(node, max(rows, 1) * max(columns, 1), "a figure")
    axes = np.empty((max(rows, 1), max(columns, 1)), dtype=object)
    axes.fill(made)
    if not ev.flag(node, given.get("squeeze", NumberValue(True)), "squeeze"):
        return ForeignArray(axes)
    return made if axes.size == 1 else ForeignArray(axes.squeeze())


def _as_it_is(_ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """`@njit` and `@njit(...)`: the function itself."""
    del node
    return args[0] if args and isinstance(args[0], SourceFunction) else Partial(Library("numba.njit"))


def _default(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`os.environ.get(name, default)`: a model has no environment, and what it sets there for libraries it does not read."""
    del ev, node
    return args[1] if len(args) > 1 else keywords.get("default")


def _prange(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return ev.call(node, Library("builtins.range"), list(args), {})


CALLS: Mapping[str, Callable[..., Value]] = {
    **dict.fromkeys(("numba.njit", "numba.jit"), _as_it_is),
    "numba.prange": _prange,
    **dict.fromkeys(("os.environ.get", "os.getenv"), _default),
}
"""Functions that a source may call and that are not aside, and what they do."""
