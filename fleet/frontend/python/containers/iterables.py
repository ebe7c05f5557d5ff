"""Iteration over values: the elements, lazily."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from fleet.errors import SourceError
from fleet.frontend.arrays import foreign
from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers import texts, views
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, check_order
from fleet.frontend.reading.values import (
    ByteArray,
    Class,
    Dict,
    DictView,
    ForeignArray,
    Lazy,
    List,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    RangeValue,
    Set,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words


def iterate(ev: Evaluator, node: ast.expr, value: Value) -> Iterator[Value]:
    """Iterate lazily over a value; every element counts as a step. SourceError F408 or F306 if it is not iterable."""
    elements = _elements(ev, node, value)

    def counted() -> Iterator[Value]:
        for element in elements:
            ev.step(node)
            yield element

    return counted()


def collect(ev: Evaluator, node: ast.expr, value: Value, what: str = "a sequence") -> list[Value]:
    """All elements of an iterable. SourceError F607 for too many."""
    found: list[Value] = []
    elements = iterate(ev, node, value)
    if isinstance(value, ObjectInstance):
        objects.special(ev, node, value, "__len__")  # Python asks for it to make room
    for v in elements:
        found.append(v)
        ev.bounded(node, len(found), what)
    return found


def _elements(ev: Evaluator, node: ast.expr, value: Value) -> Iterator[Value]:
    value = ev.settled(value)
    match value:
        case NamedTupleValue() if (found := objects.special(ev, node, value, "__iter__")) is not None:
            return ev.iterate(node, found[0])
        case tuple():
            return iter(value)
        case List(kind="StringIO"):
            return texts.rest(ev, node, value)
        case List():
            return _live(value)
        case Dict():
            return views.keys(ev, node, value)
        case DictView():
            return views.elements(ev, node, value)
        case Set():
            check_order(ev, node, value)
            return iterate(ev, node, any_order(ev, node, value))
        case RangeValue():
            return (NumberValue(i) for i in value.values)
        case Class() if value.members:
            return iter(value.members.values())
        case ForeignArray():
            return foreign.elements(ev, node, value)
        case Lazy():
            return value.values
        case str():
            return iter(value)
        case bytes():
            return (NumberValue(byte) for byte in value)
        case ByteArray():
            return (NumberValue(byte) for byte in value.data)
        case ObjectInstance() if (found := objects.special(ev, node, value, "__iter__")) is not None:
            if isinstance(found[0], ObjectInstance) and found[0].kind.find("__next__") is not None:
                return _asked(ev, node, found[0])
            if not isinstance(found[0], Lazy):
                ev.fail("F408", node, f"`__iter__` returns {words(found[0])}", "return iter(...) of a list")
            return found[0].values
        case ObjectInstance() if value.kind.find("__getitem__") is not None:
            return _by_place(ev, node, value)
        case TracedArray():
            if not value.shape:
                ev.fail("F306", node, f"{words(value)} has no dimension to iterate over")
            return ev.domain.elements(ev, node, value)
        case _:
            return stand_ins.refuse(ev, "F408", node, f"{words(value)} {stand_ins.NOT_ITERABLE}", iter, value)


def _by_place(ev: Evaluator, node: ast.expr, owner: ObjectInstance) -> Iterator[Value]:
    """Yield the results of `__getitem__` of 0, 1 and so on, until it raises IndexError."""
    for at in itertools.count():
        try:
            with ev.caught():
                found = objects.special(ev, node, owner, "__getitem__", NumberValue(at))
        except SourceError as error:
            if not exceptions.raises(ev, error, "IndexError"):
                raise
            return
        assert found is not None
        yield found[0]


def _asked(ev: Evaluator, node: ast.expr, owner: ObjectInstance) -> Iterator[Value]:
    """Yield the results of `__next__` until it raises StopIteration."""
    while True:
        try:
            with ev.caught():
                found = objects.special(ev, node, owner, "__next__")
        except SourceError as error:
            if not exceptions.raises(ev, error, "StopIteration"):
                raise
            return
        assert found is not None
        yield found[0]


def _live(value: List) -> Iterator[Value]:
    """The elements; the list may grow during the iteration, as in Python."""
    at = 0
    while at < len(value.items):
        yield value.items[at]
        at += 1
