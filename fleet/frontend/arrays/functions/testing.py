"""`np.testing`: assertions of arrays. What is known is checked at once, the rest is a check of the run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.frontend.arrays.arguments import to_array
from fleet.frontend.arrays.truths import check, condition
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words


def _held(ev: Evaluator, node: ast.Call, truth: Value, name: str) -> Value:
    """Nothing where it holds; else the error of an assertion."""
    flag = condition(ev, node, truth)
    if flag is False:
        ev.fail("F702", node, f"np.testing.{name} does not hold")
    if flag is not True:
        check(ev, node, flag, f"the source raises AssertionError: np.testing.{name}")
    return None


def _call(ev: Evaluator, node: ast.Call, function: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    return ev.domain.call(ev, node, f"numpy.{function}", list(args), keywords)


def _same_shape(ev: Evaluator, node: ast.Call, name: str, a: TracedArray, b: TracedArray) -> None:
    """An assertion broadcasts a number, and nothing else."""
    if a.shape and b.shape and a.shape != b.shape:
        ev.fail("F702", node, f"np.testing.{name} of {words(a)} and {words(b)}")


def _arrays(ev: Evaluator, node: ast.Call, name: str, args: Sequence[Value]) -> tuple[TracedArray, TracedArray]:
    if len(args) < 2:
        ev.fail("F208", node, f"np.testing.{name} takes two arrays")
    made = [_call(ev, node, "asarray", [to_array(ev, node, v)], {}) for v in args[:2]]
    a, b = (v for v in made if isinstance(v, TracedArray))
    _same_shape(ev, node, name, a, b)
    return a, b


def _allclose(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    name = "assert_allclose"
    given = {**dict(zip(("rtol", "atol"), args[2:], strict=False)), **keywords}
    if given.keys() - {"rtol", "atol", "equal_nan", "err_msg", "verbose"} or len(args) > 4:
        ev.fail("F506", node, f"np.testing.{name} with these arguments is not supported", "rtol, atol and equal_nan are")
    a, b = _arrays(ev, node, name, args)
    options = {
        "rtol": given.get("rtol", NumberValue(1e-7)), "atol": given.get("atol", NumberValue(0)),
        "equal_nan": given.get("equal_nan", NumberValue(True)),
    }  # fmt: skip
    return _held(ev, node, _call(ev, node, "allclose", [a, b], options), name)


def _equal(name: str) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if keywords.keys() - {"err_msg", "verbose"} or len(args) > 4:
            ev.fail("F506", node, f"np.testing.{name} with these arguments is not supported")
        a, b = _arrays(ev, node, name, args)
        same = ev.domain.binary(ev, node, "equal", a, b)
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            assert isinstance(same, TracedArray)
            nan = [_call(ev, node, "isnan", [v], {}) for v in (a, b)]
            same = _call(ev, node, "logical_or", [same, _call(ev, node, "logical_and", nan, {})], {})
        return _held(ev, node, _call(ev, node, "all", [same], {}), name)

    return run


def _almost(name: str, digits: int) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        given = {**dict(zip(("decimal",), args[2:], strict=False)), **keywords}
        if given.keys() - {"decimal", "err_msg", "verbose"} or len(args) > 4:
            ev.fail("F506", node, f"np.testing.{name} with these arguments is not supported")
        decimal = ev.integer(node, given.get("decimal", NumberValue(digits)), "decimal")
        a, b = _arrays(ev, node, name, args)
        away = ev.domain.binary(ev, node, "sub", b, a)
        assert isinstance(away, TracedArray)
        near = ev.domain.binary(
            ev, node, "less", _tensor(_call(ev, node, "abs", [away], {})), NumberValue(float(1.5 * np.float64(10.0) ** -decimal))
        )
        return _held(ev, node, _call(ev, node, "all", [near], {}), name)

    return run


def _tensor(value: Value) -> TracedArray:
    assert isinstance(value, TracedArray)
    return value


TESTING: Mapping[str, Callable[..., Value]] = {
    "numpy.testing.assert_allclose": _allclose,
    **{f"numpy.testing.{n}": _equal(n) for n in ("assert_array_equal", "assert_equal")},
    "numpy.testing.assert_array_almost_equal": _almost("assert_array_almost_equal", 6),
    "numpy.testing.assert_almost_equal": _almost("assert_almost_equal", 7),
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
