"""Python's builtin functions that the front end knows."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fleet.frontend.arrays import facts, foreign
from fleet.frontend.arrays.emitting import computed
from fleet.frontend.python.builtins.iterators import ITERATORS
from fleet.frontend.python.builtins.numbers import NUMBERS
from fleet.frontend.python.builtins.opened import OPENED
from fleet.frontend.python.builtins.order import ORDER
from fleet.frontend.python.builtins.record import MANY, Builtin, RecordReader
from fleet.frontend.python.builtins.reflection import REFLECTION
from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers import builtin, sets, texts
from fleet.frontend.python.containers.iterables import collect, iterate
from fleet.frontend.python.operators import binary
from fleet.frontend.python.standard import inherited, plain_objects
from fleet.frontend.python.text import display
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, key, shuffled, shuffling
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.values import (
    BoundMethod,
    ByteArray,
    Class,
    Complex,
    Dict,
    DictView,
    ForeignArray,
    Initialiser,
    Library,
    List,
    Method,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    RangeValue,
    Set,
    Slice,
    SourceFunction,
    Text,
    TextPart,
    TracedArray,
    Value,
    dimension,
)
from fleet.frontend.reading.wording import words


def _print(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    options: dict[str, str] = {}
    for name, usual in (("sep", " "), ("end", "\n")):
        given = keywords.pop(name, None)
        if not isinstance(given, str | None):
            ev.fail("F408", node, f"print's {name} must be a string, found {words(given)}")
        options[name] = usual if given is None else given
    keywords.pop("flush", None)
    into = keywords.pop("file", None)
    if isinstance(into, List) and into.kind == "StringIO":
        parts: list[TextPart] = []
        for i, a in enumerate(args):
            parts += [options["sep"] if i else "", *display.parts(ev, a, node=node)]
        builtin.call(ev, node, into, "write", [Text([*parts, options["end"]])], {})
        return None
    if into == Library("sys.stderr"):
        return None
    if into is not None and into != Library("sys.stdout"):
        ev.fail("F506", node, f"print into {words(into)} is not supported", "print to sys.stdout, or into an io.StringIO")
    unprinted, worded, ev.unprinted = ev.unprinted, ev.worded, None  # what is printed at once is under the options of now
    try:
        ev.domain.print(ev, node, args, options["sep"], options["end"])
    finally:
        ev.unprinted, ev.worded = unprinted, worded
    return None


def _len(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    args = [ev.settled(args[0])]
    match args[0]:
        case NamedTupleValue() if (found := objects.special(ev, node, args[0], "__len__")) is not None:
            return found[0]
        case tuple() | str() | bytes():
            return NumberValue(len(args[0]))
        case List() | Dict() | DictView() | Set():
            return NumberValue(len(args[0].items))
        case ByteArray():
            return NumberValue(len(args[0].data))
        case RangeValue():
            return NumberValue(len(args[0].values))
        case Class() if args[0].members:
            return NumberValue(len(args[0].members))
        case ForeignArray() if args[0].array.shape or args[0].array.dtype.names:
            return NumberValue(foreign.length(args[0]))
        case TracedArray() if args[0].shape:
            return dimension(args[0], 0)
        case ObjectInstance() if (found := objects.special(ev, node, args[0], "__len__")) is not None:
            return found[0]
        case _:
            return stand_ins.refuse(ev, "F408", node, f"{words(args[0])} has no len()", len, args[0])


def _tuple(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    return tuple(collect(ev, node, args[0])) if args else ()


def _list(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if not args:
        return List([])
    return shuffled(List(collect(ev, node, any_order(ev, node, args[0]))), shuffling(ev, node, args[0]))


def _bytes(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if not args or isinstance(args[0], bytes | ByteArray):
        return b"" if not args else bytes(args[0].data) if isinstance(args[0], ByteArray) else args[0]
    if isinstance(args[0], str) and len(args) > 1 and isinstance(args[1], str):
        return texts.encoded(ev, node, args[0], args[1:])
    if isinstance(args[0], NumberValue):
        count = ev.integer(node, args[0], "the number of bytes")
        ev.bounded(node, count, "bytes")
        return bytes(max(count, 0))
    found = [ev.integer(node, v, "a byte") for v in collect(ev, node, args[0])]
    try:
        return bytes(found)
    except ValueError as error:
        return ev.refuse("F703", node, str(error), error)


def _bytearray(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    found = _bytes(ev, node, args, keywords)
    assert isinstance(found, bytes)
    return ByteArray(bytearray(found))


def _set(*, frozen: bool) -> RecordReader:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        if args and isinstance(args[0], Set):
            return Set(set(args[0].items), frozen)  # whatever its order is
        return sets.made(ev, node, collect(ev, node, any_order(ev, node, args[0])) if args else [], frozen=frozen)

    return builtin


def _dict(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    items: dict[Any, Value] = {}
    if args and isinstance(args[0], Dict):
        items.update(args[0].items)
    elif args and isinstance(args[0], ObjectInstance) and args[0].kind.find("keys") is not None:
        for k in collect(ev, node, ev.call(node, objects.load(ev, node, args[0], "keys"), [], {})):
            found = objects.special(ev, node, args[0], "__getitem__", k)
            items[key(ev, node, k)] = None if found is None else found[0]
    elif args:
        for pair in collect(ev, node, args[0]):
            parts = ev.sequence(pair)
            if parts is None or len(parts) != 2:
                what, hint = f"dict of {words(pair)}", "it takes pairs of key and value"
                stand_ins.refuse(ev, "F310", node, what, lambda p: dict([p]), pair, hint=hint)
            items[key(ev, node, parts[0])] = parts[1]
    return Dict(items | keywords)


def _sum(ev: Evaluator, node: ast.Call, args: list[Value], keywords: dict[str, Value]) -> Value:
    total: Value = keywords.get("start", args[1] if len(args) > 1 else NumberValue(0))
    refuse = shuffling(ev, node, args[0])
    for value in iterate(ev, node, any_order(ev, node, args[0])):
        if refuse is not None and not (isinstance(value, NumberValue) and value.whole):
            refuse()  # in another order floats have another sum
        total = binary(ev, node, ast.Add(), total, value)
    return total


def _str(quoted: bool) -> RecordReader:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        value = args[0] if args else None
        if isinstance(value, TracedArray) and value.scalar and not computed(ev, value):
            known = ev.domain.known(value)
            if known is not None:
                scalar = value.dtype.type(known)
                return repr(scalar) if quoted else str(scalar)
        if args and isinstance(args[0], Static) and (known := ev.domain.elements_of(args[0])) is not None:
            return foreign.shown(ev, node, ForeignArray(known), quoted=quoted)  # NumPy's text, by the present options
        pieces = display.parts(ev, args[0], quoted=quoted, node=node) if args else []
        if all(isinstance(p, str) for p in pieces):
            return "".join(p for p in pieces if isinstance(p, str))
        return Text(pieces)

    return builtin


def _format(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    spec = args[1] if len(args) > 1 else ""
    if not isinstance(spec, str):
        ev.fail("F408", node, f"format by {words(spec)}", "a format is a string known from the source")
    pieces = display.converted(ev, node, args[0], "", spec)
    return "".join(p for p in pieces if isinstance(p, str)) if all(isinstance(p, str) for p in pieces) else Text(pieces)


def _isinstance(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    kinds = args[1] if isinstance(args[1], tuple) else (args[1],)
    found = False
    for k in kinds:
        if isinstance(k, Class):
            found = found or objects.inherits(objects.kind_of(args[0]), k)
            continue
        name = k.path if isinstance(k, Library) else ""
        if isinstance(k, np.dtype):
            found = found or (isinstance(args[0], TracedArray) and args[0].scalar and args[0].dtype == k)
            continue
        if name in facts.ABSTRACT:
            found = found or (
                isinstance(args[0], TracedArray) and args[0].scalar and issubclass(args[0].dtype.type, facts.ABSTRACT[name])
            )
            continue
        if (kind := stand_ins.abstract(name)) is not None:
            found = found or _is_abstractly(ev, node, args[0], kind)
            continue
        if name in plain_objects.KINDS:
            found = found or isinstance(plain_objects.held(args[0]), plain_objects.KINDS[name])
            continue
        if name in inherited.BASES and objects.inherits(objects.kind_of(args[0]), inherited.BASES[name]):
            found = True
            continue
        if name not in _KINDS:
            ev.fail("F506", node, f"isinstance with {words(k)} is not supported", f"known are {', '.join(sorted(_KINDS))}")
        found = found or _KINDS[name](args[0])
    return NumberValue(found)


def _is_abstractly(ev: Evaluator, node: ast.AST, value: Value, kind: type) -> bool:
    """`isinstance` with a class of `collections.abc` or `numbers`."""
    try:
        return issubclass(stand_ins.python_type(value), kind)
    except stand_ins.NoStandIn:
        return ev.fail("F506", node, f"isinstance of {words(value)} with {kind.__name__} is not supported")


def _is_number(kind: type) -> Callable[[Value], bool]:
    return lambda v: (
        isinstance(v, NumberValue)
        and ((kind is int and v.whole) or (kind is float and not v.whole) if v.symbolic else isinstance(v.value, kind))
    )


_KINDS: Mapping[str, Callable[[Value], bool]] = {
    "builtins.int": _is_number(int), "builtins.bool": _is_number(bool),
    "builtins.float": lambda v: _is_number(float)(v) or (isinstance(v, TracedArray) and v.scalar and v.dtype == np.float64),
    "builtins.complex": lambda v: isinstance(v, Complex) or (isinstance(v, TracedArray) and v.scalar and v.dtype == np.complex128),
    "builtins.list": lambda v: isinstance(v, List) and v.kind == "list", "builtins.tuple": lambda v: isinstance(v, tuple),
    "builtins.dict": lambda v: isinstance(v, Dict), "builtins.bytes": lambda v: isinstance(v, bytes),
    "builtins.bytearray": lambda v: isinstance(v, ByteArray),
    "builtins.str": lambda v: isinstance(v, str | Text),
    "builtins.set": lambda v: isinstance(v, Set) and not v.frozen, "builtins.NoneType": lambda v: v is None,
    "builtins.frozenset": lambda v: isinstance(v, Set) and v.frozen, "builtins.object": lambda _: True,
    "builtins.slice": lambda v: isinstance(v, Slice),
    "numpy.ndarray": lambda v: isinstance(v, ForeignArray) or (isinstance(v, TracedArray) and not v.scalar),
}  # fmt: skip


def _callable(_ev: Evaluator, _node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    return NumberValue(
        isinstance(args[0], SourceFunction | Method | np.dtype | Library | Class | BoundMethod | Initialiser)
        or (isinstance(args[0], ObjectInstance) and args[0].kind.find("__call__") is not None)
    )


BUILTINS: Mapping[str, Builtin] = {
    "print": Builtin(_print, 0, MANY, ("sep", "end", "flush", "file")),
    "len": Builtin(_len, 1, 1),
    "list": Builtin(_list, 0, 1),
    "tuple": Builtin(_tuple, 0, 1),
    "bytes": Builtin(_bytes, 0, 2),
    "bytearray": Builtin(_bytearray, 0, 2),
    "set": Builtin(_set(frozen=False), 0, 1),
    "frozenset": Builtin(_set(frozen=True), 0, 1),
    "dict": Builtin(_dict, 0, 1, ("*",)),
    "sum": Builtin(_sum, 1, 2, ("start",)),
    "str": Builtin(_str(False), 0, 1),
    "repr": Builtin(_str(True), 1, 1),
    "format": Builtin(_format, 1, 2),
    "isinstance": Builtin(_isinstance, 2, 2),
    "callable": Builtin(_callable, 1, 1),
    **NUMBERS,
    **ORDER,
    **ITERATORS,
    **REFLECTION,
    **OPENED,
}

_ACT = frozenset({"print", "open", "setattr", "super", "vars"})
"""Builtins that do more than give a value: they are not asked what they raise."""


def call(ev: Evaluator, node: ast.Call, name: str, args: list[Value], keywords: Mapping[str, Value]) -> Value:
    """A builtin's call."""
    read, fewest, most, allowed = BUILTINS[name]
    if not fewest <= len(args) <= most:
        what = f"{name} takes {fewest if fewest == most else f'at least {fewest}'} arguments, {len(args)} are given"
        if name in _ACT:
            ev.fail("F208", node, what)
        stand_ins.refuse(ev, "F208", node, what, vars(builtins)[name], *args)
    for k in keywords:
        if k not in allowed and "*" not in allowed:
            ev.fail("F506", node, f"{name} with `{k}=` is not supported")
    return read(ev, node, args, dict(keywords))
