"""Context managers: objects with `__enter__` and `__exit__`, generators under `contextlib.contextmanager`, and contexts that
change nothing here."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from fleet.errors import SourceError
from fleet.frontend.python.assignment import assign
from fleet.frontend.python.classes import objects
from fleet.frontend.python.flow.exceptions import thrown_by
from fleet.frontend.python.generators import Yielding
from fleet.frontend.python.standard.aside import is_aside
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.ending import Flow
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Lazy, Library, List, ObjectInstance, Value
from fleet.frontend.reading.wording import words


def managed(ev: Evaluator, item: ast.withitem, manager: Value, body: Callable[[], Flow]) -> Flow:
    """The body within one context manager. SourceError F502 if the value is not a context manager."""
    match manager:
        case ObjectInstance() if manager.kind.find("__enter__") is not None and manager.kind.find("__exit__") is not None:
            return _object(ev, item, manager, body)
        case Lazy(kind="context"):
            return _generator(ev, item, manager, body)
        case Library() if is_aside(manager.path):
            _bound(ev, item, manager)
            return body()
        case Lazy(kind="tqdm") | List(kind="StringIO"):
            _bound(ev, item, manager)
            return body()
        case _:
            hint = "np.errstate, np.printoptions, contextlib's, and objects of the file's classes are read"
            what = f"`with` of {words(manager)} is not supported"
            return stand_ins.refuse(ev, "F502", item.context_expr, what, _entered, manager, hint=hint)


def _entered(value: Any) -> None:
    with value:
        pass


def _bound(ev: Evaluator, item: ast.withitem, value: Value) -> None:
    if item.optional_vars is not None:
        assign(ev, item.optional_vars, value)


def _behind(ev: Evaluator, item: ast.withitem, flow: Flow) -> Flow:
    if flow.flags:
        ev.fail("F511", item.context_expr, "a `with` that is left where the run decides", "leave behind it")
    return flow


def _object(ev: Evaluator, item: ast.withitem, manager: ObjectInstance, body: Callable[[], Flow]) -> Flow:
    place = item.context_expr
    entered = objects.special(ev, place, manager, "__enter__")
    _bound(ev, item, None if entered is None else entered[0])
    try:
        with ev.caught():
            flow = _behind(ev, item, body())
    except SourceError as error:
        value = thrown_by(ev, error)
        if value is None:
            raise
        answer = objects.special(ev, place, manager, "__exit__", value.kind, value, None)
        if answer is not None and ev.truth(place, answer[0]):
            return Flow()
        raise
    objects.special(ev, place, manager, "__exit__", None, None, None)
    return flow


def _generator(ev: Evaluator, item: ast.withitem, manager: Lazy, body: Callable[[], Flow]) -> Flow:
    values = manager.values
    try:
        value = next(values)
    except StopIteration:
        ev.fail("F703", item.context_expr, "the generator of this `with` gives nothing")
    _bound(ev, item, value)
    try:
        with ev.caught():
            flow = _behind(ev, item, body())
    except SourceError as error:
        if not isinstance(values, Yielding) or thrown_by(ev, error) is None:
            raise
        values.throw(error)
        if any(True for _ in values):
            ev.fail("F703", item.context_expr, "the generator of this `with` gives a second value")
        return Flow()  # it caught the exception, else it had left the loop
    if any(True for _ in values):
        ev.fail("F703", item.context_expr, "the generator of this `with` gives a second value")
    return flow
