"""Keys of dicts and elements of sets: plain Python values, and back."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import (
    Class,
    Complex,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    Set,
    SourceFunction,
    TracedArray,
    Value,
    number_behind,
)
from fleet.frontend.reading.wording import words


class RecordKey:
    """An object of a frozen dataclass as a key: equal to others of its class with equal fields, and hashed as Python hashes it."""

    def __init__(self, owner: ObjectInstance, fields: tuple[object, ...]) -> None:
        self.owner, self.fields = owner, fields

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordKey) and other.owner.kind is self.owner.kind and other.fields == self.fields

    def __hash__(self) -> int:
        return hash(self.fields)


class MemberKey(RecordKey):
    """A member of an enumeration that is a number or a text, too: equal to that, and hashed as that."""

    def __eq__(self, other: object) -> bool:
        return self.fields == other.fields if isinstance(other, MemberKey) else bool(self.fields[0] == other)

    def __hash__(self) -> int:
        return hash(self.fields[0])


class ObjectKey:
    """An object of a class with `__eq__` and `__hash__` of its own as a key. number: its hash."""

    def __init__(self, ev: Evaluator, node: ast.AST, owner: ObjectInstance, number: int) -> None:
        self.owner, self._ev, self._node, self._number = owner, ev, node, number

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectKey):
            return False
        answer = self._ev.language.special(self._ev, expression_at(self._node), self.owner, "__eq__", other.owner)
        return answer is not None and self._ev.truth(self._node, answer[0])

    def __hash__(self) -> int:
        return self._number


def _object_key(ev: Evaluator, node: ast.AST, value: ObjectInstance) -> ObjectKey:
    found = ev.language.special(ev, expression_at(node), value, "__hash__")
    if found is None:
        what = f"unhashable type: '{value.kind.name}'"
        ev.refuse("F703", node, what, TypeError(what), "define __hash__ beside __eq__")
    return ObjectKey(ev, node, value, ev.integer(node, found[0], "what __hash__ returns"))


def key(ev: Evaluator, node: ast.AST, value: Value) -> Any:
    """A dict's key as a plain Python value."""
    value = ev.settled(value)
    match value:
        case NumberValue():
            if (number := ev.static(value)) is not None:
                return number
        case Complex():
            return value.value
        case Set() if value.frozen:
            return frozenset(value.items)
        case str() | bytes() | None:
            return value
        case NamedTupleValue() if value.kind.find("__eq__") is not None or value.kind.find("__hash__") is not None:
            pass
        case tuple():
            return tuple(key(ev, node, v) for v in value)
        case TracedArray() if not value.shape and (known := ev.domain.known(value)) is not None:
            return value.dtype.type(known)  # NumPy's scalar, which Python prints as such
        case ObjectInstance() if (plain := number_behind(value)) is not value:
            return MemberKey(value, (key(ev, node, plain),))
        case ObjectInstance() if value.kind.kind == "dataclass" and value.kind.frozen and value.kind.compared:
            names = [n for n, f in value.kind.fields.items() if f.compared]
            return RecordKey(value, tuple(key(ev, node, value.attributes[n]) for n in names))
        case ObjectInstance() if value.kind.find("__eq__") is None and not any(k.compared for k in value.kind.chain()):
            return value  # equal to itself alone
        case ObjectInstance() if value.kind.find("__eq__") is not None:
            return _object_key(ev, node, value)
        case SourceFunction() | Class():
            return value
        case _:
            pass
    what, hint = f"{words(value)} cannot be a dict's key here", "keys are numbers, strings and tuples of them"
    return stand_ins.refuse(ev, "F408", node, what, hash, value, hint=hint)


def from_key(ev: Evaluator, node: ast.expr, plain: Any) -> Value:
    """A plain Python value as a value of the source."""
    if isinstance(plain, np.generic):
        return ev.domain.convert(ev, node, NumberValue(plain.item()), plain.dtype)
    if isinstance(plain, bool | int | float):
        return NumberValue(plain)
    if isinstance(plain, complex):
        return Complex(plain)
    if isinstance(plain, RecordKey | ObjectKey):
        return plain.owner
    if isinstance(plain, frozenset):
        return Set(set(plain), frozen=True)  # pyright: ignore[reportUnknownArgumentType]
    return tuple(from_key(ev, node, p) for p in plain) if isinstance(plain, tuple) else plain  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def in_order(items: set[Any]) -> list[Any]:
    """The elements of a set in an order that Python may give them.

    Objects, which Python places by their addresses, come behind the others, as they were made.
    """
    return sorted(items, key=lambda p: p.serial if isinstance(p, ObjectInstance | SourceFunction | Class) else -1)


def check_order(ev: Evaluator, node: ast.AST, value: Set) -> None:
    """SourceError F507 for a set with strings: its order differs between runs of Python."""
    work: list[Any] = list(value.items) if len(value.items) > 1 else []
    for plain in work:
        if isinstance(plain, ObjectKey):
            ev.fail("F507", node, "the order of objects in a set follows their hashes", "use sorted(...)")
        if isinstance(plain, str | bytes):
            ev.fail("F507", node, "the order of strings in a set is another one on every run", "use sorted(...)")
        if isinstance(plain, tuple | RecordKey):
            work += plain if isinstance(plain, tuple) else plain.fields
