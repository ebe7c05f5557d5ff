"""Tuples, lists, dicts, ranges and strings: their operators, subscripts and methods."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn, TypeAlias

import numpy as np

from fleet.frontend.arrays import foreign
from fleet.frontend.python import generators
from fleet.frontend.python.classes import enums, objects, records
from fleet.frontend.python.containers import byte_arrays, collections, sets, texts, views
from fleet.frontend.python.flow import exceptions
from fleet.frontend.python.standard.aside import is_aside
from fleet.frontend.python.text import formats
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, from_key, key
from fleet.frontend.reading.rounds import GrowingItems, known_length
from fleet.frontend.reading.values import (
    ByteArray,
    Class,
    Dict,
    DictView,
    ForeignArray,
    Lazy,
    Library,
    List,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    RangeValue,
    Set,
    Slice,
    Text,
    TracedArray,
    Value,
    number_behind,
)
from fleet.frontend.reading.wording import words

_GENERIC = ("typing.", "collections.abc.", "builtins.list", "builtins.dict", "builtins.tuple", "builtins.set", "builtins.type",
            "builtins.frozenset", "collections.deque", "collections.defaultdict", "numpy.typing.", "numpy.ndarray")  # fmt: skip
_Method: TypeAlias = Callable[..., Value]
"""A method's implementation. Arguments: evaluator, call, owner, arguments; for `_WITH_KEYWORDS` keywords too."""


def binary(ev: Evaluator, node: ast.expr, op: str, lhs: Value, rhs: Value) -> Value:
    """An operator with a container or string; None if containers lack it and arrays may have it."""
    if op == "add" and (type(lhs) is type(rhs) or isinstance(lhs, NamedTupleValue) or isinstance(rhs, NamedTupleValue)):
        if isinstance(lhs, tuple) and isinstance(rhs, tuple):
            return _within(ev, node, (*lhs, *rhs))
        if isinstance(lhs, List) and isinstance(rhs, List):
            return List(list(_within(ev, node, (*lhs.items, *rhs.items))))
        if isinstance(lhs, str) and isinstance(rhs, str):
            return _within(ev, node, lhs + rhs)
        if isinstance(lhs, bytes) and isinstance(rhs, bytes):
            return _within(ev, node, lhs + rhs)
    if isinstance(lhs, ByteArray) or isinstance(rhs, ByteArray):
        numbers_or_bytes = all(isinstance(v, ByteArray | bytes | NumberValue) for v in (lhs, rhs))
        return byte_arrays.binary(ev, node, op, lhs, rhs) if numbers_or_bytes else None
    if op == "add" and isinstance(lhs, str | Text) and isinstance(rhs, str | Text):
        return Text([*(lhs.parts if isinstance(lhs, Text) else [lhs]), *(rhs.parts if isinstance(rhs, Text) else [rhs])])
    if op == "mod" and isinstance(lhs, str):
        return formats.percent(ev, node, lhs, rhs)
    if op == "mul":
        for value, times in ((lhs, rhs), (rhs, lhs)):
            if not isinstance(value, tuple | List | str | bytes) or not isinstance(times, NumberValue | TracedArray):
                continue
            of_text = isinstance(value, str | bytes)  # of a tuple or list NumPy makes an array
            if isinstance(times, TracedArray) and not (of_text and not times.shape and times.dtype.kind in "iu"):
                continue
            if isinstance(count := ev.static(times), int):
                return _repeated(ev, node, value, count)
            if isinstance(times, NumberValue) and times.symbolic:
                ev.unknown(node, f"{words(value)} repeated as often as only the run knows")
    if isinstance(lhs, Set) and isinstance(rhs, Set):
        return sets.binary(op, lhs, rhs)
    if isinstance(lhs, DictView) or (isinstance(rhs, DictView) and isinstance(lhs, Set)):
        return views.binary(ev, node, op, lhs, rhs)
    if isinstance(lhs, Dict) and isinstance(rhs, Dict) and lhs.kind == rhs.kind == "Counter":
        return collections.combined(ev, node, op, lhs, rhs)
    if op == "bit_or" and isinstance(lhs, Dict) and isinstance(rhs, Dict):
        return Dict(lhs.items | rhs.items)
    return None


def _within(ev: Evaluator, node: ast.expr, value: Any) -> Any:
    ev.bounded(node, len(value), "a sequence")
    return value


def _repeated(ev: Evaluator, node: ast.expr, value: tuple[Value, ...] | List | str | bytes, times: int) -> Value:
    content = value.items if isinstance(value, List) else value
    ev.bounded(node, len(content) * max(times, 0), "a sequence")
    return List(list(value.items) * times) if isinstance(value, List) else value * times


def compare(ev: Evaluator, node: ast.AST, op: str, lhs: Value, rhs: Value) -> bool:
    """Comparison of values other than two numbers and arrays."""
    lhs, rhs = ev.settled(lhs), ev.settled(rhs)
    if (found := byte_arrays.compared(ev, node, op, lhs, rhs)) is not None:
        return found
    if op in ("equal", "not_equal"):
        return _equal(ev, node, lhs, rhs) is (op == "equal")
    if isinstance(lhs, str) and isinstance(rhs, str):
        return {"less": lhs < rhs, "less_equal": lhs <= rhs, "greater": lhs > rhs, "greater_equal": lhs >= rhs}[op]
    if isinstance(lhs, Set) and isinstance(rhs, Set):
        return sets.compared(op, lhs, rhs)
    if views.is_set(lhs) and views.is_set(rhs):
        return views.compared(ev, expression_at(node), op, lhs, rhs)
    a, b = ev.sequence(lhs), ev.sequence(rhs)
    alike = type(lhs) is type(rhs) or (isinstance(lhs, tuple) and isinstance(rhs, tuple))
    if a is None or b is None or not alike or isinstance(lhs, RangeValue):
        stand_ins.refuse(ev, "F408", node, f"{words(lhs)} and {words(rhs)} have no order", stand_ins.OPERATORS[op], lhs, rhs)
    x, y = (tuple(_comparable(ev, node, v) for v in values) for values in (a, b))
    try:
        return stand_ins.OPERATORS[op](x, y)
    except TypeError as error:
        return ev.refuse("F408", node, str(error), error)


def _comparable(ev: Evaluator, node: ast.AST, value: Value) -> Any:
    """An element of a sequence as a plain value that Python orders in the same way."""
    parts = ev.sequence(value) if isinstance(value, tuple | List) else None
    if parts is None:
        return key(ev, node, value)
    plain = [_comparable(ev, node, p) for p in parts]
    return plain if isinstance(value, List) else tuple(plain)


def _equal(ev: Evaluator, node: ast.AST, lhs: Value, rhs: Value) -> bool:
    ev.step(node)
    lhs, rhs = number_behind(lhs), number_behind(rhs)
    if (found := byte_arrays.compared(ev, node, "equal", lhs, rhs)) is not None:
        return found
    if isinstance(lhs, RangeValue) and isinstance(rhs, RangeValue):
        return lhs.values == rhs.values
    if objects.overloads(lhs, "__eq__") or objects.overloads(rhs, "__eq__"):
        answer = objects.compared(ev, expression_at(node), "equal", lhs, rhs)
        if answer is not None:
            return ev.truth(node, answer[0])
    if isinstance(lhs, ObjectInstance) or isinstance(rhs, ObjectInstance):
        place = expression_at(node)
        answer = objects.compared(ev, place, "equal", lhs, rhs)
        if answer is not None:
            return ev.truth(node, answer[0])
        fields = records.compared(lhs, rhs)
        return lhs is rhs if fields is None else all(a is b or _equal(ev, node, a, b) for a, b in fields)
    if isinstance(lhs, List) and isinstance(rhs, List) and lhs.kind != rhs.kind:
        return False
    a, b = ev.sequence(lhs), ev.sequence(rhs)
    if a is not None and b is not None and (type(lhs) is type(rhs) or (isinstance(lhs, tuple) and isinstance(rhs, tuple))):
        return len(a) == len(b) and all(_equal(ev, node, x, y) for x, y in zip(a, b, strict=True))
    if isinstance(lhs, Set) and isinstance(rhs, Set):
        return lhs.items == rhs.items
    if views.is_set(lhs) and views.is_set(rhs):
        return views.compared(ev, expression_at(node), "equal", lhs, rhs)
    if isinstance(lhs, Dict) and isinstance(rhs, Dict):
        same = len(lhs.items) == len(rhs.items)
        return same and all(k in rhs.items and _equal(ev, node, v, rhs.items[k]) for k, v in dict.items(lhs.items))
    if isinstance(lhs, TracedArray) or isinstance(rhs, TracedArray):
        known = [ev.static(v) for v in (lhs, rhs)]
        if lhs is rhs:
            return True
        if None in known:
            ev.fail("F501", node, "arrays in containers are compared, whose values are known only when the model runs")
        return known[0] == known[1]
    if isinstance(lhs, NumberValue) and isinstance(rhs, NumberValue):
        return lhs.value == rhs.value
    if isinstance(lhs, NumberValue | List | Dict) or isinstance(rhs, NumberValue | List | Dict):
        return lhs is rhs
    return lhs == rhs


def contains(ev: Evaluator, node: ast.expr, owner: Value, value: Value) -> bool:
    """`value in owner`."""
    owner, value = ev.settled(owner), ev.settled(value)
    if isinstance(owner, ByteArray):
        owner = bytes(owner.data)
    if isinstance(owner, str):
        if not isinstance(value, str):
            stand_ins.refuse(ev, "F408", node, f"{words(value)} in a string", operator.contains, owner, value)
        return value in owner
    if isinstance(owner, ObjectInstance | NamedTupleValue):
        found = objects.special(ev, node, owner, "__contains__", value)
        if found is not None:
            return ev.truth(node, found[0])
    if isinstance(owner, bytes):
        return value in owner if isinstance(value, bytes) else ev.integer(node, value, "a byte") in owner
    if isinstance(owner, Dict | Set) or (isinstance(owner, DictView) and owner.kind == "keys"):
        return key(ev, node, value) in owner.items
    if isinstance(owner, ForeignArray):
        return foreign.contains(ev, node, owner, value)
    if isinstance(owner, TracedArray):
        ev.fail("F501", node, "`in` an array is not supported", "compare and use np.any where the model runs")
    elements = stand_ins.iterated(ev, node, any_order(ev, node, owner), operator.contains, value)
    return any(v is value or _equal(ev, node, v, value) for v in elements)


# ---- subscripts


def _present(ev: Evaluator, node: ast.Subscript, owner: Dict, index: Value) -> Any:
    """The key, which the dict has."""
    plain = key(ev, node.slice, index)
    if plain not in owner.items:
        collections.refuse(ev, node.slice, owner, plain)
    return plain


def load(ev: Evaluator, node: ast.Subscript, owner: Value, index: Value) -> Value:
    """`owner[index]` of a container."""
    owner = ev.settled(owner)
    match owner:
        case List() | Dict() if ev.tables is not None and (found := ev.tables.load(node, owner, index)) is not None:
            return found[0]
        case Dict():
            plain = key(ev, node.slice, index)
            return owner.items[plain] if plain in owner.items else collections.missing(ev, node, owner, plain)
        case NamedTupleValue() if (answer := objects.special(ev, node, owner, "__getitem__", index)) is not None:
            return answer[0]
        case tuple() | List() | str() | bytes() | RangeValue():
            content = owner.items if isinstance(owner, List) else owner.values if isinstance(owner, RangeValue) else owner
            if isinstance(index, Slice):
                if isinstance(owner, List) and owner.kind == "deque":
                    ev.fail("F408", node, "a slice of a deque", "make a list of it: list(d)[a:b]")
                return _cut(owner, index.plain)
            at = _place(ev, node, owner, index, "a sequence's index")
            if isinstance(content, GrowingItems):
                return content.at(at)
            if not -len(content) <= at < len(content):
                _out_of_range(ev, node.slice, at, owner)
            found = content[at]
            return NumberValue(found) if isinstance(found, int) else found
        case ByteArray():
            return byte_arrays.load(ev, node, owner, index)
        case Class() if owner.members:
            return enums.by_name(ev, node.slice, owner, index)
        case Class() if index is not None and owner.find("__class_getitem__") is None and not owner.members:
            return owner  # `Stack[int]`
        case Library() if owner.path.startswith(_GENERIC) or is_aside(owner.path):
            return owner  # `list[int]`, `float64[:]`, `axes[0]`: a type's parameters and parts of a drawing change nothing
        case np.dtype() if owner.names is not None and isinstance(index, str) and index in owner.names:
            return owner[index]
        case ObjectInstance() if (answer := objects.special(ev, node, owner, "__getitem__", index)) is not None:
            return answer[0]
        case _:
            what = f"{words(owner)} cannot be indexed"
            return stand_ins.refuse(ev, "F408", node.value, what, operator.getitem, owner, index)


def _place(ev: Evaluator, node: ast.Subscript, owner: Value, index: Value, what: str) -> int:
    """An index as a number. SourceError F404 for what is no index, F510 for one that only the run knows."""
    if isinstance(index, ObjectInstance) and (asked := objects.special(ev, node.slice, index, "__index__")) is not None:
        index = asked[0]
    if not isinstance(ev.static(index), int) and not (isinstance(index, NumberValue) and index.symbolic):
        said = f"{what} must be an integer that is known from the source, found {words(index)}"
        stand_ins.refuse(ev, "F404", node.slice, said, operator.getitem, owner, index)
    return ev.integer(node.slice, index, what)


def _cut(owner: tuple[Value, ...] | List | str | bytes | RangeValue, part: slice) -> Value:
    if isinstance(owner, List):
        return List(owner.items[part])
    return RangeValue(owner.values[part]) if isinstance(owner, RangeValue) else owner[part]


def _out_of_range(ev: Evaluator, node: ast.AST, at: int, owner: Value, said: str = "{} index out of range") -> NoReturn:
    kind = owner.kind if isinstance(owner, List) else "string" if isinstance(owner, str) else "tuple"
    kind = "range object" if isinstance(owner, RangeValue) else kind
    error = exceptions.made(ev, "IndexError", said.format(kind))
    exceptions.throw(ev, "F306", node, f"index {at} is out of range for {words(owner)}", error)


def store(ev: Evaluator, node: ast.Subscript, owner: Value, index: Value, value: Value) -> None:
    """`owner[index] = value` of a list or dict."""
    match owner:
        case List() | Dict() if ev.tables is not None and ev.tables.store(node, owner, index, value):
            pass
        case Dict():
            owner.items[key(ev, node.slice, index)] = value
            ev.bounded(node, len(owner.items), "a dict")
        case ByteArray():
            byte_arrays.store(ev, node, owner, index, value)
        case List() if isinstance(index, Slice):
            new = list(stand_ins.iterated(ev, node, value, lambda v: operator.setitem([], slice(0), v), sized=True))
            try:
                owner.items[index.plain] = new
            except ValueError as error:
                ev.fail("F704", node, str(error))
        case List():
            owner.items[_at(ev, node, owner, index)] = value
        case ObjectInstance() if objects.special(ev, node, owner, "__setitem__", index, value) is not None:
            pass
        case _:
            what = f"{words(owner)} has no parts that can be assigned"
            stand_ins.refuse(ev, "F408", node, what, operator.setitem, owner, index, value)


def remove(ev: Evaluator, node: ast.Subscript, owner: Value, index: Value) -> None:
    """`del owner[index]`."""
    match owner:
        case ByteArray():
            byte_arrays.remove(ev, node, owner, index)
        case Dict():
            del owner.items[_present(ev, node, owner, index)]
        case List() if isinstance(index, Slice):
            del owner.items[index.plain]
        case List():
            del owner.items[_at(ev, node, owner, index)]
        case ObjectInstance() if objects.special(ev, node, owner, "__delitem__", index) is not None:
            pass
        case _:
            what = f"{words(owner)} has no parts that can be deleted"
            stand_ins.refuse(ev, "F408", node, what, operator.delitem, owner, index)


def _at(ev: Evaluator, node: ast.Subscript, owner: List, index: Value) -> int:
    at = _place(ev, node, owner, index, "a list's index")
    if not -len(owner.items) <= at < len(owner.items):
        _out_of_range(ev, node.slice, at, owner, "{} assignment index out of range")
    return at


# ---- methods


def _index(ev: Evaluator, node: ast.Call, owner: Any, args: list[Value]) -> Value:
    for i, v in enumerate(owner.items if isinstance(owner, List) else owner):
        if v is args[0] or _equal(ev, node, v, args[0]):
            return NumberValue(i)
    what = f"{words(args[0])} is not in {words(owner)}"
    if isinstance(args[0], NumberValue) and isinstance(owner, List):
        said = f"{args[0].value!r} is not in list"
        exceptions.throw(ev, "F704", node, what, exceptions.made(ev, "ValueError", said))
    return ev.fail("F704", node, what)


def _remove(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    for i, v in enumerate(owner.items):
        if v is args[0] or _equal(ev, node, v, args[0]):
            del owner.items[i]
            return None
    what = f"{words(args[0])} is not in {words(owner)}"
    exceptions.throw(ev, "F704", node, what, exceptions.made(ev, "ValueError", f"{owner.kind}.remove(x): x not in {owner.kind}"))


def _count(ev: Evaluator, node: ast.Call, owner: Any, args: list[Value]) -> Value:
    return NumberValue(
        sum(v is args[0] or _equal(ev, node, v, args[0]) for v in (owner.items if isinstance(owner, List) else owner))
    )


def _append(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    owner.items.append(args[0])
    ev.bounded(node, known_length(owner.items), "a list")
    collections.cut(owner, from_front=True)
    return None


def _extend(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    added = ev.collect(node, args[0])
    ev.bounded(node, known_length(owner.items) + len(added), "a list")
    owner.items += added
    collections.cut(owner, from_front=True)
    return None


def _insert(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    owner.items.insert(ev.integer(node, args[0], "a list's index"), args[1])
    ev.bounded(node, len(owner.items), "a list")
    return None


def _pop(ev: Evaluator, node: ast.Call, owner: Any, args: list[Value]) -> Value:
    if isinstance(owner, Dict):
        plain = key(ev, node, args[0]) if args else ev.fail("F208", node, "pop needs a key")
        if plain not in owner.items and len(args) < 2:
            collections.refuse(ev, node, owner, plain)
        return owner.items.pop(plain, args[1] if len(args) > 1 else None)
    at = ev.integer(node, args[0], "a list's index") if args else -1
    if not -len(owner.items) <= at < len(owner.items):
        _out_of_range(ev, node, at, owner, "pop index out of range" if owner.items else "pop from empty list")
    return owner.items.pop(at)


def _sort(ev: Evaluator, node: ast.Call, owner: List, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    found = ev.call(node, Library("builtins.sorted"), [owner, *args], keywords)
    assert isinstance(found, List)
    owner.items = found.items
    return None


def _reverse(_ev: Evaluator, _node: ast.Call, owner: List, _args: list[Value]) -> Value:
    owner.items.reverse()
    return None


def _clear(_ev: Evaluator, _node: ast.Call, owner: Any, _args: list[Value]) -> Value:
    owner.items.clear()
    return None


def _copy(_ev: Evaluator, _node: ast.Call, owner: Any, _args: list[Value]) -> Value:
    return replace(owner, items=owner.items.copy())


def _get(ev: Evaluator, node: ast.Call, owner: Dict, args: list[Value]) -> Value:
    return owner.items.get(key(ev, node, args[0]), args[1] if len(args) > 1 else None)


def _setdefault(ev: Evaluator, node: ast.Call, owner: Dict, args: list[Value]) -> Value:
    return owner.items.setdefault(key(ev, node, args[0]), args[1] if len(args) > 1 else None)


def _update(ev: Evaluator, node: ast.Call, owner: Dict, args: list[Value]) -> Value:
    other = args[0] if isinstance(args[0], Dict) else ev.call(node, Library("builtins.dict"), args, {})
    assert isinstance(other, Dict)
    owner.items.update(other.items)
    return None


def _popitem(ev: Evaluator, node: ast.Call, owner: Dict, args: list[Value]) -> Value:
    if not owner.items:
        said = "popitem(): dictionary is empty"
        exceptions.throw(ev, "F704", node, said, exceptions.made(ev, "KeyError", said))
    first = bool(args) and not ev.flag(node, args[0], "last")
    plain = next(iter(owner.items)) if first else next(reversed(owner.items))
    value = owner.items.pop(plain)
    return from_key(ev, node, plain), value


def _view(kind: str) -> _Method:
    return lambda _ev, _node, owner, _args: DictView(owner, kind)


def _moved(_ev: Evaluator, _node: ast.Call, _owner: Lazy, _args: list[Value], _keywords: Mapping[str, Value]) -> Value:
    """Ignore what a progress bar is told: it changes no value."""
    return None


def _indices(ev: Evaluator, node: ast.Call, owner: Slice, args: list[Value]) -> Value:
    return tuple(map(NumberValue, owner.plain.indices(ev.integer(node, args[0], "a length"))))


def _item(ev: Evaluator, node: ast.Call, owner: Value, args: list[Value]) -> Value:
    return load(ev, ast.copy_location(ast.Subscript(node, node, ast.Load()), node), owner, args[0])


def _set_item(ev: Evaluator, node: ast.Call, owner: Value, args: list[Value]) -> Value:
    store(ev, ast.copy_location(ast.Subscript(node, node, ast.Store()), node), owner, args[0], args[1])
    return None


def _delete_item(ev: Evaluator, node: ast.Call, owner: Value, args: list[Value]) -> Value:
    remove(ev, ast.copy_location(ast.Subscript(node, node, ast.Del()), node), owner, args[0])
    return None


def _holds(ev: Evaluator, node: ast.Call, owner: Value, args: list[Value]) -> Value:
    return NumberValue(contains(ev, node, owner, args[0]))


def _size(ev: Evaluator, node: ast.Call, owner: Value, _args: list[Value]) -> Value:
    return ev.call(node, Library("builtins.len"), [owner], {})


_HELD: Mapping[str, tuple[_Method, int, int]] = {"__contains__": (_holds, 1, 1), "__len__": (_size, 0, 0)}
_INDEXED: Mapping[str, tuple[_Method, int, int]] = {**_HELD, "__getitem__": (_item, 1, 1)}
_CHANGED: Mapping[str, tuple[_Method, int, int]] = {
    **_INDEXED, "__setitem__": (_set_item, 2, 2), "__delitem__": (_delete_item, 1, 1),
}  # fmt: skip
_LIST: Mapping[str, tuple[_Method, int, int]] = {
    "append": (_append, 1, 1), "extend": (_extend, 1, 1), "insert": (_insert, 2, 2), "index": (_index, 1, 1),
    "remove": (_remove, 1, 1), "count": (_count, 1, 1), "pop": (_pop, 0, 1), "reverse": (_reverse, 0, 0),
    "copy": (_copy, 0, 0), "clear": (_clear, 0, 0),
    "sort": (_sort, 0, 0), **_CHANGED,
}  # fmt: skip
_DICT: Mapping[str, tuple[_Method, int, int]] = {
    "keys": (_view("keys"), 0, 0), "values": (_view("values"), 0, 0), "items": (_view("items"), 0, 0), "get": (_get, 1, 2),
    "pop": (_pop, 1, 2), "setdefault": (_setdefault, 1, 2), "update": (_update, 1, 1), "copy": (_copy, 0, 0),
    "clear": (_clear, 0, 0), "popitem": (_popitem, 0, 1), **_CHANGED,
}  # fmt: skip


_BAR = "update set_description set_description_str set_postfix set_postfix_str close refresh clear reset display unpause"
_WITH_KEYWORDS = (_sort, _moved, formats.braces)
METHODS: Mapping[str, Mapping[str, tuple[_Method, int, int]]] = {
    "list": _LIST,
    "tuple": {"index": (_index, 1, 1), "count": (_count, 1, 1), **_INDEXED},
    "dict": _DICT,
    "set": {**sets.METHODS, **_HELD},
    "slice": {"indices": (_indices, 1, 1)},
    "deque": {**{n: m for n, m in _LIST.items() if n != "sort"}, **collections.DEQUE},
    "defaultdict": _DICT,
    "OrderedDict": {**_DICT, **collections.ORDERED},
    "Counter": {**_DICT, **collections.COUNTER},
    "str": {**texts.STR, **_INDEXED},
    "bytes": {**texts.BYTES, **_INDEXED},
    "bytearray": {**byte_arrays.METHODS, **_CHANGED},
    "StringIO": texts.STRINGIO,
    "numbervalue": texts.NUMBER,
    "lazy": generators.METHODS,
    "tqdm": dict.fromkeys(_BAR.split(), (_moved, 0, 2)),
}
"""Type name -> method name -> (what it does, fewest arguments, most)."""


def _type(owner: Value) -> str:
    if isinstance(owner, NamedTupleValue):
        return "tuple"
    if isinstance(owner, Lazy) and owner.kind in METHODS:
        return owner.kind
    return owner.kind if isinstance(owner, List | Dict) else type(owner).__name__.lower()


def kind_of(owner: Value) -> str:
    """The name of a container's or text's type: "list"."""
    return _type(owner)


def has_unbound(path: str, name: str) -> bool:
    """Return whether a builtin type's method can be called with its object: `str.upper`."""
    room, _, kind = path.partition(".")
    if path == "collections.OrderedDict" and name == "fromkeys":
        return True
    return room == "builtins" and kind in _UNBOUND and (name in METHODS[kind] or (kind, name) in _OF_CLASSES)


_UNBOUND = frozenset({"str", "list", "dict", "set", "tuple", "bytes", "bytearray"})
_OF_CLASSES = frozenset({("dict", "fromkeys"), ("bytes", "fromhex"), ("bytearray", "fromhex")})


def methods(owner: Value) -> list[str]:
    """Names of the supported methods, those of Python's operators left out."""
    return sorted(n for n in METHODS.get(_type(owner), {}) if not n.startswith("__"))


def has_method(owner: Value, name: str) -> bool:
    """Return whether a method is supported."""
    return name in METHODS.get(_type(owner), {})


def call(ev: Evaluator, node: ast.Call, owner: Value, name: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """`owner.name(...)`."""
    method, fewest, most = METHODS[_type(owner)][name]
    if keywords and name in ("popitem", "move_to_end") and set(keywords) == {"last"}:
        args, keywords = [*args, keywords["last"]], {}
    if name in ("encode", "decode") and keywords and set(keywords) <= {"encoding", "errors"} and len(args) + len(keywords) <= 2:
        args = [args[0] if args else keywords.get("encoding", "utf-8"), keywords.get("errors", "strict")]
        keywords = {}
    if keywords and name == "update" and not args:
        args, keywords = [Dict(dict(keywords))], {}
    if method in _WITH_KEYWORDS:
        return method(ev, node, owner, args, keywords)
    if keywords or not fewest <= len(args) <= most:
        what = f"`.{name}` takes {fewest if fewest == most else f'{fewest} to {most}'} positional arguments"
        if keywords:
            ev.fail("F208", node, what)
        stand_ins.refuse(ev, "F208", node, what, lambda o, *given: getattr(o, name)(*given), owner, *args)
    return method(ev, node, owner, args)
