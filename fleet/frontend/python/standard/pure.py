"""`bisect`, `json`, `statistics`, `textwrap`, `os.path`: Python's own functions of numbers and texts that are known."""

from __future__ import annotations

import ast
import bisect
import json
import posixpath
import statistics
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fleet.frontend.python.builtins.ordering import ordered
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import check_size, known, value_of
from fleet.frontend.reading.values import Dict, List, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words


def _found(name: str) -> Callable[..., Value]:
    """`bisect_left(a, x)` and its kin: a place in what is sorted, by Python's order."""

    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        given = dict(zip(("a", "x", "lo", "hi"), args, strict=False)) | dict(keywords)
        if given.keys() - {"a", "x", "lo", "hi", "key"} or not {"a", "x"} <= given.keys():
            ev.fail("F506", node, f"bisect.{name} with these arguments is not supported", "give a sequence and a value")
        items, by = ev.collect(node, given["a"]), given.get("key")
        keys = [ordered(ev, node, v if by is None else ev.call(node, by, [v], {}), f"bisect.{name}") for v in items]
        bounds = {k: ev.integer(node, given[k], k) for k in ("lo", "hi") if given.get(k) is not None}
        sought = given["x"] if by is None or not name.startswith("insort") else ev.call(node, by, [given["x"]], {})
        function = getattr(bisect, name.replace("insort", "bisect"))
        try:
            at = function(keys, ordered(ev, node, sought, f"bisect.{name}"), **bounds)
        except (TypeError, ValueError) as error:
            return ev.fail("F703", node, f"bisect.{name}: {error}")
        if not name.startswith("insort"):
            return NumberValue(at)
        if not isinstance(given["a"], List):
            return ev.fail("F408", node, f"bisect.{name} of {words(given['a'])}", "it changes a list")
        given["a"].items.insert(at, given["x"])
        return None

    return run


def _statistic(name: str) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        rows = [ev.collect(node, a) if ev.sequence(a) is not None else [] for a in args]
        if any(isinstance(v, TracedArray) for row in rows for v in row) or any(isinstance(a, TracedArray) for a in args):
            ev.fail("F506", node, f"statistics.{name} of NumPy's numbers is not supported", "use NumPy's function, or .tolist()")
        plain = [known(ev, node, a, f"an argument of statistics.{name}") for a in args]
        named = {k: known(ev, node, v, k) for k, v in keywords.items()}
        try:
            return value_of(getattr(statistics, name)(*plain, **named))
        except statistics.StatisticsError as error:
            exceptions.throw(ev, "F703", node, str(error), exceptions.made(ev, "ValueError", str(error)))
        except (TypeError, ValueError) as error:
            return ev.fail("F703", node, f"statistics.{name}: {error}")

    return run


def _json(ev: Evaluator, node: ast.Call, value: Value) -> Any:
    """A value as `json.dumps` takes it. SourceError F408 for one that it refuses."""
    match value:
        case List(kind="list") | tuple():
            return [_json(ev, node, v) for v in ev.sequence(value) or ()]
        case Dict():
            return {k: _json(ev, node, v) for k, v in value.items.items()}
        case TracedArray() if not value.scalar or value.dtype != np.dtype(float):
            return ev.fail("F408", node, f"{words(value)} is not JSON", "use .tolist(), or int(...)")
        case _:
            return known(ev, node, value, "what json.dumps writes")


def _dumps(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(args) != 1 or keywords.keys() - {"indent", "sort_keys", "separators", "ensure_ascii"}:
        ev.fail("F506", node, "json.dumps with these arguments is not supported", "give a value, indent, sort_keys")
    check_size(ev, node, args[0])
    try:
        return json.dumps(_json(ev, node, args[0]), **{k: known(ev, node, v, k) for k, v in keywords.items()})
    except (TypeError, ValueError) as error:
        return ev.fail("F703", node, f"json.dumps: {error}")


def _plain(function: Callable[..., object], path: str) -> Callable[..., Value]:
    """A function of texts and numbers that are known."""

    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        given = [known(ev, node, a, f"an argument of {path}") for a in args]
        if any(isinstance(g, int) and abs(g) > _MOST for g in given) or sum(len(g) for g in given if isinstance(g, str)) > _MOST:
            ev.fail("F607", node, f"{path} of more than {_MOST} characters")
        try:
            return value_of(function(*given, **{k: known(ev, node, v, k) for k, v in keywords.items()}))
        except (TypeError, ValueError) as error:
            return ev.refuse("F703", node, f"{path}: {error}", error)

    return run


_MOST = 1 << 16
_PLAIN: Mapping[str, Callable[..., Any]] = {
    "json.loads": json.loads,
    **{f"textwrap.{n}": getattr(textwrap, n) for n in ("dedent", "fill", "indent", "shorten", "wrap")},
    "os.path.splitext": posixpath.splitext,
}
_BISECT = "bisect bisect_left bisect_right insort insort_left insort_right"
_STATISTICS = """mean fmean median median_low median_high mode multimode stdev pstdev variance pvariance quantiles harmonic_mean
    geometric_mean correlation covariance"""
CALLS: Mapping[str, Callable[..., Value]] = {
    **{f"bisect.{n}": _found(n) for n in _BISECT.split()},
    "json.dumps": _dumps,
    **{path: _plain(function, path) for path, function in _PLAIN.items()},
    **{f"statistics.{n}": _statistic(n) for n in _STATISTICS.split()},
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
