"""`collections`: deque, defaultdict and Counter."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import from_key, key
from fleet.frontend.reading.values import Dict, List, NumberValue, Value
from fleet.frontend.reading.wording import words

_Method: TypeAlias = "Callable[[Evaluator, ast.Call, Any, list[Value]], Value]"
COLLECTIONS = frozenset(f"collections.{n}" for n in ("deque", "defaultdict", "Counter", "OrderedDict"))
"""Classes of `collections` whose objects this module makes."""


def call(ev: Evaluator, node: ast.Call, path: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """Make the object of a class in `COLLECTIONS`."""
    match path:
        case "collections.deque" if len(args) <= 2 and set(keywords) <= {"maxlen"}:
            most = args[1] if len(args) > 1 else keywords.get("maxlen")
            made = List(
                ev.collect(node, args[0]) if args else [], "deque", None if most is None else ev.integer(node, most, "maxlen")
            )
            cut(made, from_front=True)
            return made
        case "collections.defaultdict" if len(args) <= 2:
            other = ev.call(node, _dict_of(ev, node), args[1:], keywords)
            assert isinstance(other, Dict)
            return Dict(other.items, "defaultdict", args[0] if args else None)
        case "collections.OrderedDict":
            other = ev.call(node, _dict_of(ev, node), args, keywords)
            assert isinstance(other, Dict)
            return Dict(other.items, "OrderedDict")
        case "collections.Counter" if len(args) <= 1:
            made = Dict({}, "Counter")
            for other in (*args, Dict(dict(keywords))):
                _count(ev, node, made, other, 1)
            return made
        case _:
            return ev.fail("F208", node, f"`{path}` with these arguments is not supported")


def _dict_of(ev: Evaluator, node: ast.Call) -> Value:
    return ev.lookup(ast.copy_location(ast.Name("dict", ast.Load()), node))


def refuse(ev: Evaluator, node: ast.AST, owner: Dict, plain: object) -> NoReturn:
    """Raise SourceError F704: the dict lacks the key."""
    names = ", ".join(repr(k) for k in list(owner.items)[:20]) or "none"
    exceptions.lacks(ev, node, f"the {owner.kind} has no key {plain!r}", plain, f"it has {names}")


def _empty(ev: Evaluator, node: ast.AST) -> NoReturn:
    what = "pop from an empty deque"
    exceptions.throw(ev, "F704", node, what, exceptions.made(ev, "IndexError", what))


def missing(ev: Evaluator, node: ast.Subscript, owner: Dict, plain: object) -> Value:
    """The value for a missing key: the default, or SourceError F704."""
    if owner.kind == "Counter":
        return NumberValue(0)
    if owner.default is None:
        refuse(ev, node.slice, owner, plain)
    made = ev.call(ast.copy_location(ast.Call(node.value, [], []), node), owner.default, [], {})
    owner.items[plain] = made
    ev.bounded(node, len(owner.items), "a dict")
    return made


def cut(owner: List, *, from_front: bool) -> None:
    """Drop elements beyond the deque's maxlen."""
    if owner.most is None:
        return
    over = len(owner.items) - owner.most
    if over > 0:
        del owner.items[slice(over) if from_front else slice(owner.most, None)]


# ---- deque


def _append_left(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    owner.items.insert(0, args[0])
    ev.bounded(node, len(owner.items), "a deque")
    cut(owner, from_front=False)
    return None


def _extend_left(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    for value in ev.collect(node, args[0]):
        _append_left(ev, node, owner, [value])
    return None


def _pop_left(ev: Evaluator, node: ast.Call, owner: List, _args: list[Value]) -> Value:
    return owner.items.pop(0) if owner.items else _empty(ev, node)


def _pop(ev: Evaluator, node: ast.Call, owner: List, _args: list[Value]) -> Value:
    return owner.items.pop() if owner.items else _empty(ev, node)


def _rotate(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    by = ev.integer(node, args[0], "the steps of rotate") if args else 1
    if owner.items:
        at = -by % len(owner.items)
        owner.items[:] = owner.items[at:] + owner.items[:at]
    return None


DEQUE: Mapping[str, tuple[_Method, int, int]] = {
    "appendleft": (_append_left, 1, 1), "extendleft": (_extend_left, 1, 1), "popleft": (_pop_left, 0, 0), "pop": (_pop, 0, 0),
    "rotate": (_rotate, 0, 1),
}  # fmt: skip
"""Methods of a deque in addition to a list's."""


# ---- OrderedDict


def _move_to_end(ev: Evaluator, node: ast.Call, owner: Dict, args: list[Value]) -> Value:
    plain = key(ev, node, args[0])
    if plain not in owner.items:
        refuse(ev, node, owner, plain)
    last = len(args) < 2 or ev.flag(node, args[1], "last")
    value = owner.items.pop(plain)
    rest = dict(owner.items)
    owner.items.clear()
    owner.items.update({**rest, plain: value} if last else {plain: value, **rest})
    return None


ORDERED: Mapping[str, tuple[_Method, int, int]] = {"move_to_end": (_move_to_end, 1, 2)}
"""Methods of an OrderedDict in addition to a dict's."""


# ---- Counter


def _count(ev: Evaluator, node: ast.Call, owner: Dict, value: Value, sign: int) -> None:
    counts = (
        value.items.items() if isinstance(value, Dict) else ((key(ev, node, v), NumberValue(1)) for v in ev.collect(node, value))
    )
    for plain, count in counts:
        owner.items[plain] = NumberValue(_known(ev, node, owner.items.get(plain, NumberValue(0))) + sign * _known(ev, node, count))


def _known(ev: Evaluator, node: ast.AST, value: Value) -> int:
    found = ev.static(value)
    return (
        found if isinstance(found, int) else ev.fail("F408", node, f"a count that is {words(value)}", "counts are known integers")
    )


def combined(ev: Evaluator, node: ast.AST, op: str, lhs: Dict, rhs: Dict) -> Value:
    """`lhs op rhs` of two Counters, with their counts above zero; None for operators that they lack."""
    if op not in _COMBINED:
        return None
    a, b = (Counter({k: _known(ev, node, v) for k, v in side.items.items()}) for side in (lhs, rhs))
    return Dict({k: NumberValue(v) for k, v in _COMBINED[op](a, b).items()}, "Counter")


_COMBINED: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "bit_and": operator.and_, "bit_or": operator.or_,
}  # fmt: skip


def _updated(sign: int) -> _Method:
    def method(ev: Evaluator, node: ast.Call, owner: Dict, args: list[Value]) -> Value:
        _count(ev, node, owner, args[0], sign)
        return None

    return method


def _most_common(ev: Evaluator, node: ast.Call, owner: Dict, args: list[Value]) -> Value:
    ordered = sorted(owner.items.items(), key=lambda item: -_known(ev, node, item[1]))
    most = None if not args or args[0] is None else max(ev.integer(node, args[0], "how many"), 0)
    return List([(from_key(ev, node, k), v) for k, v in ordered[:most]])


def _total(ev: Evaluator, node: ast.Call, owner: Dict, _args: list[Value]) -> Value:
    return NumberValue(sum(_known(ev, node, v) for v in owner.items.values()))


def _elements(ev: Evaluator, node: ast.Call, owner: Dict, _args: list[Value]) -> Value:
    return List([from_key(ev, node, k) for k, v in owner.items.items() for _ in range(_known(ev, node, v))])


COUNTER: Mapping[str, tuple[_Method, int, int]] = {
    "most_common": (_most_common, 0, 1), "total": (_total, 0, 0), "elements": (_elements, 0, 0),
    "update": (_updated(1), 1, 1), "subtract": (_updated(-1), 1, 1),
}  # fmt: skip
"""Methods of a Counter in addition to a dict's."""
