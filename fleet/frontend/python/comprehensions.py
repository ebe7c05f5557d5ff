"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from fleet.frontend.python.assignment import assign
from fleet.frontend.python.containers import sets
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, key, shuffled, shuffling
from fleet.frontend.reading.scopes import Comprehension
from fleet.frontend.reading.values import (
    CallFrame,
    Dict,
    Lazy,
    List,
    Value,
)

_NAMES = {ast.GeneratorExp: "genexpr", ast.ListComp: "listcomp", ast.SetComp: "setcomp", ast.DictComp: "dictcomp"}


Refuse = Callable[[], NoReturn] | None


def _generated(ev: Evaluator, node: Comprehension) -> tuple[Iterator[Value], Refuse]:
    """The elements, one by one, and what refuses their order where that is a set's.

    The first iterable is evaluated at once, as Python does.
    """
    place = node.generators[0].iter
    whole = ev.settled(ev.expression(place))
    refuse = shuffling(ev, place, whole)
    first = ev.iterate(place, whole if refuse is None else any_order(ev, place, whole))
    outer = ev.frame
    name = outer.function if outer.parent is not None else "<module>"
    within = outer.within
    if isinstance(node, ast.GeneratorExp) or sys.version_info < (3, 12):  # others have no frame of their own since 3.12
        within += f"<{_NAMES[type(node)]}>."
    frame = CallFrame(f"{name}<comprehension>", outer.depth + 1, ev.scope(node), outer.around, within=within)
    return _elements(ev, node, frame, 0, first), refuse


def _elements(ev: Evaluator, node: Comprehension, frame: CallFrame, level: int, values: Iterator[Value]) -> Iterator[Value]:
    generator = node.generators[level]
    if generator.is_async:
        ev.fail("F503", node, "an asynchronous comprehension is not supported")
    for value in values:
        ev.step(node)
        with ev.within(frame):
            assign(ev, generator.target, value)
            if not all(ev.truth(test, ev.expression(test)) for test in generator.ifs):
                continue
            if level + 1 == len(node.generators):
                if isinstance(node, ast.DictComp):
                    key: Value = ev.expression(node.key)
                    element: Value = (key, ev.expression(node.value))
                else:
                    element = ev.expression(node.elt)
                inner = None
            else:
                following = node.generators[level + 1].iter
                whole = ev.expression(following)
                if isinstance(node, ast.SetComp):
                    whole = any_order(ev, following, ev.settled(whole))
                inner = ev.iterate(following, whole)
                element = None
        if inner is None:
            yield element
        else:
            yield from _elements(ev, node, frame, level + 1, inner)


def _collected(ev: Evaluator, node: ast.expr, values: Iterator[Value]) -> list[Value]:
    found: list[Value] = []
    for value in values:
        found.append(value)
        ev.bounded(node, len(found), "a sequence")
    return found


def list_(ev: Evaluator, node: ast.ListComp) -> Value:
    """`[... for ...]`."""
    values, refuse = _generated(ev, node)
    return shuffled(List(_collected(ev, node, values)), refuse)


def dict_(ev: Evaluator, node: ast.DictComp) -> Value:
    """`{...: ... for ...}`."""
    items: dict[Any, Value] = {}
    values, refuse = _generated(ev, node)
    for pair in _collected(ev, node, values):
        assert isinstance(pair, tuple)
        items[key(ev, node.key, pair[0])] = pair[1]
    return shuffled(Dict(items), refuse)


def generator(ev: Evaluator, node: ast.GeneratorExp) -> Value:
    """`(... for ...)`."""
    values, refuse = _generated(ev, node)
    return shuffled(Lazy(values, "generator"), refuse)


def set_(ev: Evaluator, node: ast.SetComp) -> Value:
    """`{... for ...}`."""
    return sets.made(ev, node, _collected(ev, node, _generated(ev, node)[0]))
