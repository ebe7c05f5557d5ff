"""max, min and sorted, of known and of run-time values."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from fleet.frontend.arrays.operands import array
from fleet.frontend.arrays.truths import check, condition, kind_of_number, negated, number_of
from fleet.frontend.python.builtins.ordering import ordered
from fleet.frontend.python.builtins.record import MANY, Builtin, RecordReader
from fleet.frontend.python.containers.iterables import collect
from fleet.frontend.python.flow.meeting import choose
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, shuffling
from fleet.frontend.reading.values import (
    List,
    NumberValue,
    TracedArray,
    Value,
)


def _extreme(op: str) -> RecordReader:
    better = operator.gt if op == "max" else operator.lt

    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
        values = collect(ev, node, any_order(ev, node, args[0])) if len(args) == 1 else args
        if not values:
            if "default" in keywords:
                return keywords["default"]
            said = f"{op}() iterable argument is empty"
            ev.refuse("F703", node, f"{op} of nothing", ValueError(said))
        keys = _keys(ev, node, values, keywords)
        if any(_of_the_run(ev, k) for k in keys):
            return late(ev, node, values, keys)
        best, best_key = values[0], ordered(ev, node, keys[0], op)
        refuse = shuffling(ev, node, args[0]) if "key" in keywords else None
        tied = False
        for value, key in zip(values[1:], keys[1:], strict=True):
            found = ordered(ev, node, key, op)
            tied = found == best_key or (tied and not _holds(ev, node, better, found, best_key))
            if _holds(ev, node, better, found, best_key):
                best, best_key = value, found
        if tied and refuse is not None:
            refuse()  # of equal keys the order decides
        return best

    def late(ev: Evaluator, node: ast.Call, values: Sequence[Value], keys: Sequence[Value]) -> Value:
        """Select at run time, as Python does: the first of equal extremes."""
        name = "greater" if op == "max" else "less"
        best, best_key = values[0], ev.operand(node, keys[0])
        for value, key in zip(values[1:], keys[1:], strict=True):
            found = ev.operand(node, key)
            if (known := ev.static(found)) is not None and (least := ev.static(best_key)) is not None:
                beyond: Value = NumberValue(bool(better(known, least)))
            elif isinstance(found, NumberValue) and isinstance(best_key, NumberValue):
                beyond = ev.domain.arithmetic(node, name, [found, best_key], None)
            else:
                beyond = ev.domain.binary(ev, node, name, found, best_key)
            held = condition(ev, node, beyond)
            ways = (value, found), (best, best_key)
            if isinstance(held, bool):
                best, best_key = ways[not held]
                continue
            met = choose(ev, node, held, [lambda w=ways[0]: w, lambda w=ways[1]: w])
            assert isinstance(met, tuple)
            best, best_key = met[0], ev.operand(node, met[1])
        return best

    return builtin


def _keys(ev: Evaluator, node: ast.Call, values: Sequence[Value], keywords: Mapping[str, Value]) -> Sequence[Value]:
    """The sort key of each value: the result of `key`, or the value."""
    measure = keywords.get("key")
    return values if measure is None else [ev.call(node, measure, [v], {}) for v in values]


def _of_the_run(ev: Evaluator, value: Value) -> bool:
    """True for a number, or an array of one element, that only the run knows."""
    if isinstance(value, TracedArray):
        return math.prod(value.shape) == 1 and ev.static(value) is None
    return isinstance(value, NumberValue) and value.symbolic and not value.sized and ev.static(value) is None


def _sorted(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    whole = args[0]
    refuse = shuffling(ev, node, whole)
    values = collect(ev, node, any_order(ev, node, whole))
    backwards = ev.flag(node, keywords["reverse"], "reverse") if "reverse" in keywords else False
    found = _keys(ev, node, values, keywords)
    if any(_of_the_run(ev, k) for k in found):
        return _sorted_in_the_run(ev, node, values, found, backwards=backwards)
    measured = [(ordered(ev, node, k, "sorted"), v) for k, v in zip(found, values, strict=True)]
    try:
        placed = sorted(measured, key=operator.itemgetter(0), reverse=backwards)
        if refuse is not None and "key" in keywords and any(a[0] == b[0] for a, b in pairwise(placed)):
            refuse()  # of equal keys the order decides
        return List([v for _, v in placed])
    except TypeError as error:
        return ev.refuse("F408", node, f"sorted: {error}", error)


def _holds(ev: Evaluator, node: ast.AST, comparison: Callable[[Any, Any], bool], lhs: object, rhs: object) -> bool:
    try:
        return bool(comparison(lhs, rhs))
    except TypeError as error:
        return ev.refuse("F408", node, str(error), error)


def _sorted_in_the_run(ev: Evaluator, node: ast.Call, values: Sequence[Value], keys: Sequence[Value], *, backwards: bool) -> Value:
    """Sort run-time numbers: stable, also in reverse; NaN is a run-time error."""
    kinds = {
        kind_of_number(v) if isinstance(v, NumberValue) else v.dtype if isinstance(v, TracedArray) and not v.shape else None
        for v in values
    }
    if None in kinds or len(kinds) > 1:
        ev.fail("F501", node, "sorted of values that are not numbers of one kind, in an order that only the run knows")
    numbers, measure = (array(ev, node, tuple(reversed(v) if backwards else v)) for v in (values, keys))
    if measure.dtype.kind == "f":
        nan = ev.domain.call(ev, node, "numpy.any", [ev.domain.call(ev, node, "numpy.isnan", [measure], {})], {})
        flag = condition(ev, node, nan)
        if not isinstance(flag, bool):
            check(ev, node, negated(ev, node, flag), "NaN is sorted, which has no order")
    order = ev.domain.call(ev, node, "numpy.argsort", [measure], {"kind": "stable"})
    placed = ev.domain.call(ev, node, "numpy.take", [numbers, order], {})
    assert isinstance(placed, TracedArray)
    found = list(ev.domain.elements(ev, node, placed))
    if all(isinstance(v, NumberValue) for v in values):
        found = [number_of(ev, node, v) for v in found]
    return List(found[::-1] if backwards else found)


ORDER: Mapping[str, Builtin] = {
    "max": Builtin(_extreme("max"), 1, MANY, ("key", "default")),
    "min": Builtin(_extreme("min"), 1, MANY, ("key", "default")),
    "sorted": Builtin(_sorted, 1, 1, ("key", "reverse")),
}
