"""Keys of dicts and elements of sets: plain Python values, and back."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

import numpy as np

from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import (
    Class,
    Complex,
    Dict,
    DictView,
    Lazy,
    List,
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


def _unknown_order(items: Iterable[Any]) -> str | None:
    """Why the order of a set of these elements is another one on every run of Python; None if it is not."""
    work: list[Any] = list(items)
    for plain in work:
        if isinstance(plain, ObjectKey):
            return "the order of objects in a set follows their hashes"
        if isinstance(plain, str | bytes):
            return "the order of strings in a set is another one on every run"
        if isinstance(plain, tuple | RecordKey):
            work += plain if isinstance(plain, tuple) else plain.fields
    return None


def check_order(ev: Evaluator, node: ast.AST, value: Set) -> None:
    """SourceError F507 for a set with strings: its order differs between runs of Python."""
    if (refuse := shuffling(ev, node, value)) is not None:
        refuse()


class ShuffledItems(list[Value]):
    """The elements of a list that was made of a set, in no order: who asks for their order gets the error that `refuse` raises."""

    def __init__(self, values: Iterable[Value], refuse: Callable[[], NoReturn]) -> None:
        super().__init__(values)
        self.refuse = refuse


class ShuffledDict(dict[Any, Value]):
    """The items of a dict that was made of a set, as `ShuffledItems`."""

    def __init__(self, values: Iterable[tuple[Any, Value]], refuse: Callable[[], NoReturn]) -> None:
        super().__init__(values)
        self.refuse = refuse


class ShuffledIterator(Iterator[Value]):
    """What an expression makes of a set's elements, one by one, as `ShuffledItems`."""

    def __init__(self, values: Iterator[Value], refuse: Callable[[], NoReturn]) -> None:
        self.values, self.refuse = values, refuse

    def __next__(self) -> Value:
        self.refuse()


def _refused(self: ShuffledItems | ShuffledDict, *_: object, **__: object) -> NoReturn:
    self.refuse()


_IN_ORDER = "__add__ __copy__ __iter__ __mul__ __repr__ __reversed__ __rmul__ copy"
for _kind, _names in (
    (ShuffledItems, "__delitem__ __eq__ __ge__ __getitem__ __gt__ __le__ __lt__ __setitem__ index insert pop reverse"),
    (ShuffledDict, "__or__ __ror__ items keys popitem values"),
):
    for _name in f"{_IN_ORDER} {_names}".split():
        setattr(_kind, _name, _refused)


def shuffling(ev: Evaluator, node: ast.AST, value: Value) -> Callable[[], NoReturn] | None:
    """What raises SourceError F507 if the order of an iterable is another one on every run of Python, else None."""
    match value:
        case Set() if len(value.items) > 1 and (reason := _unknown_order(value.items)) is not None:
            return lambda: ev.fail("F507", node, reason, "use sorted(...)")
        case List(items=ShuffledItems() as items) | Dict(items=ShuffledDict() as items):
            return items.refuse
        case Lazy(values=ShuffledIterator() as values):
            return values.refuse
        case DictView():
            return shuffling(ev, node, value.owner)
        case _:
            return None


def any_order(ev: Evaluator, node: ast.expr, value: Value) -> Value:
    """An iterable, of whose elements the order does not matter: in one that Python may give them."""
    match value:
        case Set():
            return tuple(from_key(ev, node, p) for p in in_order(value.items))
        case List(items=ShuffledItems() as items):
            return tuple(list.__iter__(items))
        case Dict(items=ShuffledDict() as items):
            return tuple(from_key(ev, node, k) for k in dict.keys(items))
        case DictView(owner=Dict(items=ShuffledDict() as items)):
            pairs = [(from_key(ev, node, k), v) for k, v in dict.items(items)]
            return tuple(pairs) if value.kind == "items" else tuple(p[value.kind == "values"] for p in pairs)
        case Lazy(values=ShuffledIterator() as values):
            return Lazy(values.values, value.kind)
        case _:
            return value


def shuffled(made: List | Dict | Lazy, refuse: Callable[[], NoReturn] | None) -> List | Dict | Lazy:
    """What was made of elements in any order, so that nobody may ask for it; itself without `refuse`."""
    if refuse is None:
        return made
    match made:
        case List():
            made.items = ShuffledItems(made.items, refuse)
        case Dict():
            made.items = ShuffledDict(made.items.items(), refuse)
        case Lazy():
            made.values = ShuffledIterator(made.values, refuse)
    return made
