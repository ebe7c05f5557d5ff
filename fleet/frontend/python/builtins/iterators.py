"""Builtins that take or make iterators: range, zip, enumerate, reversed, map, filter, next, any, all and iter."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from xdsl.ir import SSAValue

from fleet.errors import SourceError
from fleet.frontend.arrays.signatures import METHODS
from fleet.frontend.arrays.truths import any_of, condition, negated
from fleet.frontend.python.builtins.record import MANY, Builtin, RecordReader
from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers.iterables import iterate
from fleet.frontend.python.flow import exceptions
from fleet.frontend.python.flow.series import Series, along, series_of
from fleet.frontend.python.generators import Yielding
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, shuffled, shuffling
from fleet.frontend.reading.values import Lazy, Library, List, NumberValue, ObjectInstance, RangeValue, Slice, Value
from fleet.frontend.reading.wording import words


def _range(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if any(isinstance(a, NumberValue) and a.symbolic and a.whole and not a.sized for a in args):
        return _late_range(ev, node, args)
    numbers = [ev.integer(node, a, "an argument of range") for a in args]
    if len(numbers) == 3 and numbers[2] == 0:
        ev.fail("F703", node, "range with a step of zero")
    values = range(*numbers)
    if max((abs(n) for n in numbers), default=0) >> 62:
        ev.fail("F605", node, "a range beyond 64 bits")
    return RangeValue(values)


def _late_range(ev: Evaluator, node: ast.Call, args: list[Value]) -> Value:
    """A range with run-time ends and a known step."""
    numbers = [ev.operand(node, a) for a in args]
    given = [v for v in numbers if isinstance(v, NumberValue)]
    if len(given) != len(args) or not 1 <= len(args) <= 3:
        ev.fail("F404", node, f"range of {', '.join(words(a) for a in args)}", "give one to three integers")
    first, end = (NumberValue(0), given[0]) if len(given) == 1 else given[:2]
    by = ev.integer(node, given[2], "the step of range") if len(given) == 3 else 1
    if by == 0:
        ev.fail("F703", node, "range with a step of zero")
    distance = ev.domain.arithmetic(node, "sub", [end, first] if by > 0 else [first, end], None)
    # Rounds: the distance over the step, rounded up; a negative count means no round.
    if abs(by) > 1:
        distance = ev.domain.arithmetic(node, "add", [distance, NumberValue(abs(by) - 1)], None)
        distance = ev.domain.arithmetic(node, "floor_div", [distance, NumberValue(abs(by))], None)

    def refused() -> Iterator[Value]:
        ev.unknown(node, "how many elements this range has only the run knows")
        yield None

    return Lazy(refused(), "range", Series(distance, lambda k: along(ev, node, first, NumberValue(by), k)))


def _zip(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    strict = ev.flag(node, keywords["strict"], "strict") if "strict" in keywords else False
    iterators = [iterate(ev, node, a) for a in args]

    def pairs() -> Iterator[Value]:
        while iterators:
            found: list[Value] = []
            for i, iterator in enumerate(iterators):
                for value in iterator:
                    found.append(value)
                    break
                else:
                    if strict and (i > 0 or any(True for it in iterators[1:] for _ in it)):
                        ev.fail("F310", node, "zip of sequences of different lengths")
                    return
            yield tuple(found)

    rows = [series_of(ev, node, a) for a in args]
    known = [s for s in rows if s is not None and not s.count.symbolic]
    if not rows or len(known) < len(rows):
        return Lazy(pairs(), "zip")
    shortest = min((s.count for s in known), key=lambda n: n.value)
    return Lazy(pairs(), "zip", Series(shortest, lambda k: tuple(s.at(k) for s in known)))


def _enumerate(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    first = keywords.get("start", args[1] if len(args) > 1 else NumberValue(0))
    start = ev.integer(node, first, "the start of enumerate")
    inner = series_of(ev, node, args[0])
    series = (
        None
        if inner is None
        else Series(inner.count, lambda k: (along(ev, node, NumberValue(start), NumberValue(1), k), inner.at(k)))
    )
    return Lazy(((NumberValue(start + i), v) for i, v in enumerate(iterate(ev, node, args[0]))), "enumerate", series)


def _reversed(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if isinstance(args[0], Lazy):
        stand_ins.refuse(ev, "F408", node, f"{words(args[0])} cannot be reversed", reversed, args[0])
    if isinstance(args[0], ObjectInstance):
        return _reversed_object(ev, node, args[0])
    if isinstance(args[0], RangeValue):
        backwards = args[0].values[::-1]
        return Lazy((NumberValue(i) for i in backwards), "reversed", series_of(ev, node, RangeValue(backwards)))
    return Lazy(iter(list(stand_ins.iterated(ev, node, args[0], reversed))[::-1]), "reversed")


def _reversed_object(ev: Evaluator, node: ast.Call, owner: ObjectInstance) -> Value:
    """By `__reversed__`, or from the last place to the first."""
    found = objects.special(ev, node, owner, "__reversed__")
    if found is not None:
        return found[0]
    length = objects.special(ev, node, owner, "__len__") if owner.kind.find("__getitem__") is not None else None
    if length is None:
        return stand_ins.refuse(ev, "F408", node, f"{words(owner)} cannot be reversed", reversed, owner)
    places = reversed(range(ev.integer(node, length[0], "a length")))

    def elements() -> Iterator[Value]:
        for at in places:
            element = objects.special(ev, node, owner, "__getitem__", NumberValue(at))
            assert element is not None
            yield element[0]

    return Lazy(elements(), "reversed")


def _map(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    refuse = shuffling(ev, node, args[1]) if len(args) == 2 else None
    rows = _zip(ev, node, args[1:] if refuse is None else [any_order(ev, node, args[1])], {})
    assert isinstance(rows, Lazy)
    found = Lazy((ev.call(node, args[0], list(row), {}) for row in rows.values if isinstance(row, tuple)), "map")
    return shuffled(found, refuse)


def _filter(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    def kept(v: Value) -> bool:
        return ev.truth(node, v if args[0] is None else ev.call(node, args[0], [v], {}))

    refuse = shuffling(ev, node, args[1])
    return shuffled(Lazy((v for v in iterate(ev, node, any_order(ev, node, args[1])) if kept(v)), "filter"), refuse)


def _next(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if isinstance(args[0], ObjectInstance) and (answer := objects.special(ev, node, args[0], "__next__")) is not None:
        return answer[0]
    lines = isinstance(args[0], List) and args[0].kind == "StringIO"
    if not isinstance(args[0], Lazy) and not lines:
        what, hint = f"{words(args[0])} is not an iterator", "call iter(...) on it"
        stand_ins.refuse(ev, "F408", node, what, next, args[0], hint=hint)
    for value in args[0].values if isinstance(args[0], Lazy) else iterate(ev, node, args[0]):
        return value
    if len(args) > 1:
        return args[1]
    inner = args[0].values if isinstance(args[0], Lazy) else None
    end = inner.ended() if isinstance(inner, Yielding) else exceptions.made(ev, "StopIteration")
    return exceptions.throw(ev, "F704", node, "the iterator is at its end", end)


def _only_looks(ev: Evaluator, node: ast.AST) -> bool:
    """Return whether a generator expression changes nothing, so that nobody can tell how many of its elements were evaluated."""
    parts = list(ast.walk(node))
    if not isinstance(node, ast.GeneratorExp) or any(isinstance(p, ast.NamedExpr | ast.Yield | ast.YieldFrom) for p in parts):
        return False
    for call in parts:
        if isinstance(call, ast.Call):
            method = isinstance(call.func, ast.Attribute) and call.func.attr in METHODS
            if not method and not _of_library(ev, call.func):
                return False
    return True


def _of_library(ev: Evaluator, node: ast.expr) -> bool:
    """Return whether it is a library's function that draws nothing."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    try:
        found = ev.lookup(node)
    except SourceError:
        return False
    return isinstance(found, Library) and "random" not in (*found.path.split("."), *names)


def _any(stop_at: bool) -> RecordReader:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        flags: list[SSAValue] = []
        checks = ev.checks
        for v in iterate(ev, node, any_order(ev, node, args[0])):
            held = condition(ev, node, v)
            if held is stop_at:
                return NumberValue(stop_at)
            if not isinstance(held, bool):
                flags.append(held if stop_at else negated(ev, node, held))
        if not flags:
            return NumberValue(not stop_at)
        if ev.checks > checks or (isinstance(args[0], Lazy) and not _only_looks(ev, node.args[0])):
            hint = "make a list of the values first"
            ev.fail("F501", node, f"how many values `{'any' if stop_at else 'all'}` asks for, only the run knows", hint)
        found = any_of(ev, node, flags)
        return NumberValue(None, found if stop_at else negated(ev, node, found))

    return builtin


def _slice(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    known = [None if a is None else ev.integer(node, a, "an argument of slice") for a in args]
    if len(known) == 1:
        return Slice(None, known[0])
    if len(known) == 3 and known[2] == 0:
        ev.fail("F306", node, "a slice's step cannot be zero")
    return Slice(*known)


def _iter(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    return args[0] if isinstance(args[0], Lazy) else Lazy(iterate(ev, node, args[0]), "iterator")


ITERATORS: Mapping[str, Builtin] = {
    "range": Builtin(_range, 1, 3),
    "zip": Builtin(_zip, 0, MANY, ("strict",)),
    "enumerate": Builtin(_enumerate, 1, 2, ("start",)),
    "reversed": Builtin(_reversed, 1, 1),
    "map": Builtin(_map, 2, MANY),
    "filter": Builtin(_filter, 2, 2),
    "next": Builtin(_next, 1, 2),
    "slice": Builtin(_slice, 1, 3),
    "iter": Builtin(_iter, 1, 1),
    "any": Builtin(_any(True), 1, 1),
    "all": Builtin(_any(False), 1, 1),
}
