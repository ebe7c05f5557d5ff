"""What Python raises: an operation that Python refuses for its operands' types is done by Python itself, on stand-ins.

An object stands for all values of one type: a number is 1, a container is empty, an object of a class of the source is one of a
class of that name without methods. So only the types decide, and the message is Python's own.
"""

from __future__ import annotations

import ast
import collections
import collections.abc
import functools
import io
import numbers
import operator
import sys
import types
from abc import ABCMeta
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from fleet.errors import SourceError
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.findings import Findings
from fleet.frontend.reading.values import (
    BoundMethod,
    ByteArray,
    Class,
    Complex,
    Dict,
    DictView,
    ForeignArray,
    Initialiser,
    Lazy,
    Library,
    List,
    Marker,
    Method,
    NamedTupleValue,
    Namespace,
    NumberValue,
    ObjectInstance,
    Partial,
    RangeValue,
    Set,
    Slice,
    SourceFunction,
    Super,
    Text,
    TracedArray,
    Value,
    is_scalar_type,
)

OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "pow": operator.pow,
    "floor_div": operator.floordiv, "mod": operator.mod, "bit_and": operator.and_, "bit_or": operator.or_,
    "bit_xor": operator.xor, "shift_left": operator.lshift, "shift_right": operator.rshift, "matmul": operator.matmul,
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
"""Operation -> Python's operator."""
IN_PLACE: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv, "pow": operator.ipow,
    "floor_div": operator.ifloordiv, "mod": operator.imod, "bit_and": operator.iand, "bit_or": operator.ior,
    "bit_xor": operator.ixor, "shift_left": operator.ilshift, "shift_right": operator.irshift, "matmul": operator.imatmul,
}  # fmt: skip
"""Operation -> Python's operator in `x += y`."""
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.inv}
_LIBRARIES = frozenset({"builtins", "collections", "collections.abc", "dataclasses"})
"""Modules whose classes a class of the source may inherit from, and stands for itself."""


class NoStandIn(Exception):
    """Raised for values of whose type nothing is known here."""


def refuse(
    ev: Findings, code: str, node: ast.AST, what: str, operation: Callable[..., object], *values: Value, hint: str | None = None
) -> NoReturn:
    """Raises the SourceError for a node; a `try` of the source may catch it, as the exception that Python raises.

    Args:
        operation: what is refused, done on objects that stand for the values. If it raises neither TypeError nor AttributeError,
            the refusal is fleet's own, and no `try` catches it.
    """
    try:
        given = [stand_in(v) for v in values]
    except NoStandIn:
        given = None
    cause: Exception | None = None
    if given is not None:
        try:
            operation(*given)
        except (TypeError, AttributeError) as error:
            cause = error
        except Exception:
            cause = None  # of a stand-in's value, about which nothing is known
    if cause is None:
        ev.fail(code, node, what, hint)
    ev.refuse(code, node, what, cause, hint)


NOT_ITERABLE = "cannot be iterated over"
"""The end of the message for what is not iterable."""


def iterated(
    ev: Evaluator, node: ast.expr, value: Value, operation: Callable[..., object], *others: Value, sized: bool = False
) -> Iterator[Value]:
    """As `ev.iterate`, where Python has words of its own for what is not iterable.

    Args:
        operation: says them, of the value and the others.
        sized: Python asks for the length to make room.
    """
    try:
        found = ev.iterate(node, value)
        if sized and isinstance(value, ObjectInstance):
            ev.language.special(ev, node, value, "__len__")
        return found
    except SourceError as error:
        if isinstance(error.__cause__, TypeError) and error.what.endswith(NOT_ITERABLE):
            refuse(ev, "F408", node, error.what, operation, value, *others)
        raise


def type_of(value: ObjectInstance | NamedTupleValue | Class, names: Mapping[str, Any] | None = None) -> type:
    """A class of the name of a class of the source, that inherits from the same classes of Python. names: of its body.

    NoStandIn if Python refuses such a class.
    """
    kind = value if isinstance(value, Class) else value.kind
    bases = [found for k in kind.chain() if k.module in _LIBRARIES and (found := _real(k)) is not None]
    bases += [tuple] if isinstance(value, NamedTupleValue) and not bases else []
    if bases and kind.module in _LIBRARIES:
        return bases[0]
    given = {} if kind.slots is None else {"__slots__": tuple(kind.slots - {"__dict__"})}
    try:
        return types.new_class(kind.name, tuple(bases), exec_body=lambda body: body.update(given | dict(names or {})))
    except TypeError as error:
        raise NoStandIn from error


def python_type(value: Value) -> type:
    """The type of a value in Python, with the special methods that the class of an object has. NoStandIn if that is not known."""
    match value:
        case NumberValue():
            return (int if value.whole else float) if value.symbolic else type(value.value)
        case TracedArray():
            return value.dtype.type if value.scalar else np.ndarray
        case ForeignArray():
            return type(value.array)
        case ObjectInstance() | NamedTupleValue() if not (isinstance(value, ObjectInstance) and "<held>" in value.attributes):
            return class_type(value)
        case Lazy():
            return type(_lazy(value.kind)) if value.kind in _ITERATORS else type(iter([]))
        case _:
            return type(stand_in(value))


def class_type(value: ObjectInstance | NamedTupleValue | Class) -> type:
    """A class as `type_of` gives it, with its special methods."""
    kind = value if isinstance(value, Class) else value.kind
    own = [k for k in kind.chain() if k.module not in _LIBRARIES]
    names: dict[str, Any] = {n: _function for k in own for n in k.names if n.startswith("__") and n not in _NOT_ASKED}
    if any(k.compared and not k.frozen for k in own):
        names.setdefault("__hash__", None)
    return type_of(value, names)


_NOT_ASKED = frozenset({"__slots__", "__init_subclass__", "__qualname__", "__module__", "__doc__", "__annotations__", "__new__"})
_ABSTRACT = {"collections.abc": collections.abc, "typing": collections.abc, "numbers": numbers}


def abstract(path: str) -> type | None:
    """The abstract class of a path, `collections.abc.Sequence` or `numbers.Real`; None for any other path."""
    module, _, name = path.rpartition(".")
    found = getattr(_ABSTRACT.get(module), name, None)
    return found if isinstance(found, ABCMeta) else None


def _real(kind: Class) -> type | None:
    found = getattr(sys.modules.get(kind.module), kind.name, None)
    return found if isinstance(found, type) else None


def _function() -> None:
    """Stands for functions of the source."""


class _Object:
    def method(self) -> None:
        """Stands for methods of the source."""


def stand_in(value: Value) -> Any:
    """An object of the type that a value has in Python. NoStandIn if that is not known."""
    match value:
        case NumberValue() if not value.symbolic:
            return type(value.value)(1)
        case Complex():
            return 1j
        case ObjectInstance():
            return _object(value)
        case NamedTupleValue():
            return type_of(value)()
        case Class():
            return type_of(value)
        case str() | bytes():  # np.str_ too
            return type(value)()
        case np.dtype():
            return value.type if is_scalar_type(value) else value
        case Library():
            return _of_library(value)
        case Method():
            return getattr(stand_in(value.owner), value.name, [].append)
        case Lazy():
            return _lazy(value.kind)
        case DictView():
            return getattr({}, value.kind)()
        case None | tuple() | Text() | List() | Dict() | Set() | RangeValue() | Slice():
            return _EMPTY[value.kind if isinstance(value, List | Dict) else _name(value)]()
        case SourceFunction():
            return _function
        case BoundMethod() | Initialiser():
            return _Object().method
        case Marker():
            return ... if value.name == "Ellipsis" else NotImplemented
        case ByteArray():
            return bytearray()
        case Namespace():
            return types.ModuleType(value.name)
        case Partial() if value.results is None and not value.binds:
            return functools.partial(_function)
        case Super():
            return super(_Object, _Object())
        case _:
            raise NoStandIn


def _name(value: Value) -> str:
    return "frozenset" if isinstance(value, Set) and value.frozen else type(value).__name__


_EMPTY: Mapping[str, Callable[[], Any]] = {
    "NoneType": lambda: None, "tuple": tuple, "str": str, "Text": str, "bytes": bytes, "list": list, "dict": dict, "Set": set,
    "frozenset": frozenset, "RangeValue": lambda: range(0), "Slice": lambda: slice(None), "deque": collections.deque,
    "StringIO": io.StringIO, "defaultdict": collections.defaultdict, "OrderedDict": collections.OrderedDict,
    "Counter": collections.Counter,
}  # fmt: skip


def _object(value: ObjectInstance) -> Any:
    held = value.attributes.get("<held>")
    if held is not None:
        return getattr(held, "array", np.empty((), object)).item()
    try:
        return type_of(value)()
    except TypeError as error:
        raise NoStandIn from error


def _of_library(value: Library) -> Any:
    module, _, name = value.path.rpartition(".")
    if module != "builtins" or name not in vars(sys.modules["builtins"]):
        raise NoStandIn
    return vars(sys.modules["builtins"])[name]


def _lazy(kind: str) -> Any:
    if kind not in _ITERATORS:
        raise NoStandIn
    return _ITERATORS[kind]()


_ITERATORS: Mapping[str, Callable[[], Any]] = {
    "zip": zip, "map": lambda: map(str, ()), "filter": lambda: filter(None, ()), "enumerate": lambda: enumerate(()),
    "reversed": lambda: reversed([]), "generator": lambda: (i for i in ()),
}  # fmt: skip
