"""Builtins about objects and classes: getattr, type, super and their like."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from fleet.errors import SourceError
from fleet.frontend.python.attributes import attribute
from fleet.frontend.python.builtins.identity import identity
from fleet.frontend.python.builtins.record import Builtin, RecordReader
from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers import builtin
from fleet.frontend.python.modules import INSTALLED, exists
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import RecordKey, key
from fleet.frontend.reading.values import (
    ByteArray,
    Class,
    Complex,
    Descriptor,
    Dict,
    ForeignArray,
    Library,
    List,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    RangeValue,
    Set,
    SourceFunction,
    Super,
    Text,
    TracedArray,
    Value,
    scalar_type,
)
from fleet.frontend.reading.wording import words

_ABSENT = frozenset({"F205", "F206"})


def _name(ev: Evaluator, node: ast.Call, value: Value) -> str:
    if not isinstance(value, str):
        ev.fail("F408", node, f"an attribute's name must be a string known from the source, found {words(value)}")
    return value


def _found(ev: Evaluator, node: ast.Call, owner: Value, name: str) -> tuple[Value] | None:
    """The attribute; None if Python has no such attribute. SourceError if Python has it and it is not supported."""
    if isinstance(owner, ObjectInstance | NamedTupleValue | Class | Super) and not (
        isinstance(owner, NamedTupleValue) and builtin.has_method(owner, name)
    ):
        return objects.find(ev, node, owner, name)
    place = ast.copy_location(ast.Attribute(node, name, ast.Load()), node)
    try:
        return (attribute(ev, place, owner),)
    except SourceError as error:
        if isinstance(owner, Library) and owner.path.split(".", maxsplit=1)[0] in INSTALLED:
            if not exists(f"{owner.path}.{name}"):
                return None
        elif error.code in _ABSENT and not isinstance(owner, Library) and not hasattr(_python_type(owner), name):
            return None
        raise


def _python_type(owner: Value) -> type:
    match owner:
        case TracedArray():
            return np.ndarray
        case List():
            return list
        case Dict():
            return dict
        case NumberValue():
            return float
        case _:
            return type(owner)


def _getattr(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    name = _name(ev, node, args[1])
    found = _found(ev, node, args[0], name)
    if found is not None:
        return found[0]
    if len(args) > 2:
        return args[2]
    if isinstance(args[0], ObjectInstance | NamedTupleValue | Class | Super):
        return objects.load(ev, node, args[0], name)
    what = f"{words(args[0])} has no attribute `{name}`"
    return stand_ins.refuse(ev, "F206", node, what, lambda v: getattr(v, name), args[0])


def _hasattr(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    return NumberValue(_found(ev, node, args[0], _name(ev, node, args[1])) is not None)


def _setattr(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    objects.store(ev, node, args[0], _name(ev, node, args[1]), args[2])
    return None


def _vars(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    if not isinstance(args[0], ObjectInstance):
        ev.fail("F408", node, f"vars of {words(args[0])} is not supported", "it takes an object of a class of the file")
    return objects.load(ev, node, args[0], "__dict__")


def _type(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    match args[0]:
        case ObjectInstance() | NamedTupleValue():
            return args[0].kind
        case NumberValue() as number:
            kind = int if number.symbolic and number.whole else float if number.symbolic else type(number.value)
            return Library(f"builtins.{kind.__name__}")
        case str() | Text():
            return Library("builtins.str")
        case List(kind="list") | Dict(kind="dict") | tuple():
            return Library(f"builtins.{_python_type(args[0]).__name__}")
        case List() | Dict():
            return Library(f"collections.{args[0].kind}")
        case TracedArray():
            return scalar_type(args[0].dtype) if args[0].scalar else Library("numpy.ndarray")
        case ForeignArray() if isinstance(args[0].array, np.ndarray) and not isinstance(args[0].array, np.ma.MaskedArray):
            return Library("numpy.ndarray")
        case None:
            return Library("builtins.NoneType")
        case bytes() | ByteArray():
            return Library(f"builtins.{'bytes' if isinstance(args[0], bytes) else 'bytearray'}")
        case Complex():
            return Library("builtins.complex")
        case SourceFunction():
            return Library("builtins.function")
        case RangeValue():
            return Library("builtins.range")
        case Set():
            return Library(f"builtins.{'frozenset' if args[0].frozen else 'set'}")
        case Class():
            return Library("builtins.type")
        case _:
            return ev.fail("F408", node, f"type of {words(args[0])} is not supported", "use isinstance")


def _super(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    return objects.super_of(ev, node, args)


def _issubclass(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    kinds = args[1] if isinstance(args[1], tuple) else (args[1],)
    kind = args[0]
    try:
        python = stand_ins.class_type(kind) if isinstance(kind, Class) else stand_ins.stand_in(kind)
    except stand_ins.NoStandIn:
        python = None
    if not isinstance(python, type):
        return ev.fail("F408", node, f"issubclass of {words(kind)} is not supported", "it takes classes")
    found = False
    for k in kinds:
        other = stand_ins.abstract(k.path) if isinstance(k, Library) else None
        if isinstance(k, Class):
            found = found or (isinstance(kind, Class) and objects.inherits(kind, k))
        elif other is None and isinstance(k, Library) and k.path.startswith("builtins."):
            found = found or issubclass(python, stand_ins.stand_in(k))
        elif other is None:
            ev.fail("F506", node, f"issubclass with {words(k)} is not supported", "it takes classes")
        else:
            found = found or issubclass(python, other)
    return NumberValue(found)


def _descriptor(kind: str) -> RecordReader:
    def builtin(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
        if isinstance(args[0], SourceFunction):
            return Descriptor(kind, args[0])
        if kind == "staticmethod" and isinstance(args[0], Library):
            return args[0]  # what a library's function is anyway, without the object before its arguments
        return ev.fail("F408", node, f"{kind} of {words(args[0])} is not supported", "it takes a function of the file")

    return builtin


def _object(_ev: Evaluator, _node: ast.Call, _args: list[Value], _keywords: dict[str, Value]) -> Value:
    return ObjectInstance(Class("object", slots=frozenset()))


def _hash(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    plain = key(ev, node, args[0])
    in_hash = bool(ev.calls) and getattr(ev.calls[-1][0].node, "name", "") == "__hash__"
    work = [] if in_hash else [plain]
    for part in work:
        if isinstance(part, str | bytes | ObjectInstance | SourceFunction | Class):
            ev.fail("F507", node, f"the hash of {words(args[0])} is another one on every run", "use it in __hash__ alone")
        work += part if isinstance(part, tuple | frozenset) else part.fields if isinstance(part, RecordKey) else ()
    return NumberValue(hash(plain))


REFLECTION: Mapping[str, Builtin] = {
    "hash": Builtin(_hash, 1, 1),
    "id": Builtin(identity, 1, 1),
    "getattr": Builtin(_getattr, 2, 3),
    "hasattr": Builtin(_hasattr, 2, 2),
    "setattr": Builtin(_setattr, 3, 3),
    "vars": Builtin(_vars, 1, 1),
    "type": Builtin(_type, 1, 1),
    "super": Builtin(_super, 0, 2),
    "issubclass": Builtin(_issubclass, 2, 2),
    "object": Builtin(_object, 0, 0),
    **{kind: Builtin(_descriptor(kind), 1, 1) for kind in ("property", "staticmethod", "classmethod")},
}
