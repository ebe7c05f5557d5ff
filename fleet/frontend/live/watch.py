"""Python objects as they were when a function was compiled, and whether they still are so."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from fleet.frontend.live.records import GENERATED, described, fields_kind, is_of_others, own_names

MAX_DEPTH = 32
_BLOCK = 1 << 16


class TooDeep(Exception):
    """A container that holds itself, or nests deeper than anything sensible."""


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING: Any = _Missing()


class ObjectSnapshot(ABC):
    """The contents of an object at one moment."""

    @abstractmethod
    def holds(self, now: Any) -> bool:
        """True if `now` would be compiled to the same."""


@dataclass(eq=False)
class WatchedAtom(ObjectSnapshot):
    """A number, text, module, dtype, type: what cannot be changed in place."""

    value: Any

    def holds(self, now: Any) -> bool:
        """The same object, or an equal one of the same type, bit for bit."""
        if now is self.value:
            return True
        if type(now) is not type(self.value):
            return False
        if isinstance(now, np.generic):
            return now.dtype == self.value.dtype and now.tobytes() == self.value.tobytes()
        return isinstance(now, bool | int | float | str | range) and repr(now) == repr(self.value)  # 0.0 is not -0.0


@dataclass(eq=False)
class WatchedArray(ObjectSnapshot):
    """An array's contents. A read-only array is not copied, and compared by identity."""

    array: np.ndarray
    frozen: np.ndarray | None

    def holds(self, now: Any) -> bool:
        """An array of equal shape, dtype and bytes."""
        if now is self.frozen:
            return True
        if type(now) is not np.ndarray or now.shape != self.array.shape or now.dtype != self.array.dtype:
            return False
        return _equal(now, self.array)


@dataclass(eq=False)
class Items(ObjectSnapshot):
    """A list, tuple or dict: its type, a dict's keys, and what it holds."""

    kind: type
    keys: tuple[Any, ...]
    parts: tuple[ObjectSnapshot, ...]

    def holds(self, now: Any) -> bool:
        """A container of the same type and keys whose parts all hold."""
        if type(now) is not self.kind or len(now) != len(self.parts):
            return False
        if self.kind is dict:
            if list(map(repr, now)) != list(map(repr, self.keys)):
                return False
            now = now.values()
        return all(part.holds(value) for part, value in zip(self.parts, now, strict=True))


@dataclass(eq=False)
class NamedItems(Items):
    """A named tuple: its class, and what it holds; `keys` are the names of its fields."""

    of: LiveClass

    def holds(self, now: Any) -> bool:
        """A named tuple of the same class whose parts all hold."""
        return super().holds(now) and self.of.holds(type(now))


@dataclass(eq=False)
class Record(ObjectSnapshot):
    """An object of a dataclass among the arguments: its class, and its attributes by name. Arrays among them are inputs."""

    of: LiveClass
    attributes: dict[str, ObjectSnapshot]

    def holds(self, now: Any) -> bool:
        """True: an argument is given anew, and its class is watched by itself."""
        return True


@dataclass(eq=False)
class LivePartial(ObjectSnapshot):
    """A `functools.partial`: its function, then its arguments; `names` are those of the last ones."""

    names: tuple[str, ...]
    parts: tuple[ObjectSnapshot, ...]

    def holds(self, now: Any) -> bool:
        """One of the same names whose parts all hold."""
        if type(now) is not partial or tuple(now.keywords) != self.names or len(_parts(now)) != len(self.parts):
            return False
        return all(kept.holds(value) for kept, value in zip(self.parts, _parts(now), strict=True))


def _parts(value: partial[Any]) -> tuple[Any, ...]:
    return (value.func, *value.args, *value.keywords.values())


@dataclass(eq=False)
class Live(ObjectSnapshot):
    """A function of Python (of type `FunctionType`). `defaults`: parameter -> its default."""

    function: Any
    code: CodeType
    defaults: dict[str, ObjectSnapshot]

    def holds(self, now: Any) -> bool:
        """The same function with the same code, whose defaults all hold."""
        now = unwrapped(now)
        if now is not self.function or now.__code__ is not self.code:
            return False
        given = default_values(now)
        return given.keys() == self.defaults.keys() and all(s.holds(given[n]) for n, s in self.defaults.items())


@dataclass(eq=False)
class LiveDescriptor(ObjectSnapshot):
    """A `staticmethod`, `classmethod` or `property` of a class, around a function; `setter` is a property's."""

    kind: str
    function: ObjectSnapshot
    setter: ObjectSnapshot | None

    def holds(self, now: Any) -> bool:
        """A descriptor of the same kind around the same functions."""
        function, setter = described(now)
        if type(now).__name__ != self.kind or (setter is None) != (self.setter is None):
            return False
        return self.function.holds(function) and (self.setter is None or self.setter.holds(setter))


@dataclass(eq=False)
class LiveClass(ObjectSnapshot):
    """A class of Python source (`is_plain_class`): what its body and the classes behind it bind."""

    kind: type
    names: dict[str, ObjectSnapshot]
    bases: tuple[LiveClass, ...]

    def holds(self, now: Any) -> bool:
        """The same class whose attributes all hold."""
        if now is not self.kind:
            return False
        own = own_names(self.kind)
        same = own.keys() == self.names.keys() and all(kept.holds(own[n]) for n, kept in self.names.items())
        return same and all(base.holds(base.kind) for base in self.bases)


@dataclass(eq=False)
class LiveObject(ObjectSnapshot):
    """An object of such a class, and its own attributes."""

    value: object
    of: LiveClass
    attributes: dict[str, ObjectSnapshot]

    def holds(self, now: Any) -> bool:
        """The same object, whose class and attributes hold."""
        if now is not self.value or not self.of.holds(type(now)):
            return False
        own = vars(now)
        return list(own) == list(self.attributes) and all(kept.holds(own[n]) for n, kept in self.attributes.items())


def is_plain_class(kind: Any, asked: frozenset[Any] = frozenset()) -> bool:
    """Return whether a class is followed: in Python, of methods and values, without metaclass and slots; generated methods are
    those of dataclasses and named tuples alone. asked: classes of which it is being found out."""
    if kind is object or kind in asked:
        return True
    asked |= {kind}
    if type(kind) is not type or is_of_others(kind):
        return False
    if fields_kind(kind) != "namedtuple" and not all(is_plain_class(base, asked) for base in kind.__bases__):
        return False
    if fields_kind(kind) == "dataclass" and len(fields(kind)) < len(kind.__dataclass_fields__):
        return False  # fields of the class, or of its __init__ alone
    return all(_is_followed(value, asked) for value in own_names(kind).values())


def _is_followed(value: object, asked: frozenset[Any]) -> bool:
    if isinstance(value, staticmethod | classmethod | property):
        function, setter = described(value)
        return type(function) is FunctionType and (setter is None or type(setter) is FunctionType)
    value = unwrapped(value)
    if type(value) is FunctionType:
        return value.__code__.co_filename != GENERATED
    if isinstance(value, bool | int | float | str | tuple | list | dict | np.ndarray | np.generic | type | type(None)):
        return True
    return hasattr(value, "__dict__") and is_plain_class(type(value), asked)


def is_plain_object(value: object) -> bool:
    """Return whether an object is followed: one of a class that is, and no tuple."""
    if isinstance(value, type | tuple) or type(value) is object:
        return False
    return hasattr(value, "__dict__") and is_plain_class(type(value))


def is_named_tuple(value: object) -> bool:
    """Return whether a value is a named tuple whose class is followed, and has nothing beside its fields."""
    if not isinstance(value, tuple) or type(value) is tuple or getattr(value, "__dict__", None):
        return False
    return is_plain_class(type(value)) and any(fields_kind(k) == "namedtuple" for k in type(value).__mro__)


def unwrapped(value: object) -> Any:
    """The Python function behind one that is to be compiled."""
    return value.python if isinstance(value, Traceable) else value


class Traceable:
    """A wrapper object around a Python function; a call of it is followed as a call of the function."""

    def __init__(self, python: FunctionType) -> None:
        self._python = (python,)  # in a tuple: a function as an attribute looks like a method

    @property
    def python(self) -> FunctionType:
        """The wrapped Python function."""
        return self._python[0]


def default_values(function: FunctionType) -> dict[str, Any]:
    """Parameter name -> default, as the function has them now."""
    code, given = function.__code__, function.__defaults__ or ()
    positional = code.co_varnames[: code.co_argcount]
    return {**dict(zip(positional[len(positional) - len(given) :], given, strict=True)), **(function.__kwdefaults__ or {})}


def snapshot(value: Any, depth: int = 0) -> ObjectSnapshot:
    """Return the contents of an object. Raises TooDeep."""
    if depth > MAX_DEPTH:
        raise TooDeep
    value = unwrapped(value)
    if type(value) is np.ndarray:
        frozen = _frozen(value)
        copy = value if frozen else value.copy(order="C")
        if not frozen:
            copy.flags.writeable = False
        return WatchedArray(copy, value if frozen else None)
    if type(value) in (list, tuple):
        return Items(type(value), (), tuple(snapshot(v, depth + 1) for v in value))
    if type(value) is dict:
        return Items(dict, tuple(value), tuple(snapshot(v, depth + 1) for v in value.values()))
    if type(value) is FunctionType:
        return Live(value, value.__code__, {n: snapshot(v, depth + 1) for n, v in default_values(value).items()})
    if type(value) is partial:
        return LivePartial(tuple(value.keywords), tuple(snapshot(v, depth + 1) for v in _parts(value)))
    if is_named_tuple(value):
        return NamedItems(type(value), value._fields, tuple(snapshot(v, depth + 1) for v in value), of_class(type(value), depth))
    if isinstance(value, type) and value is not object and is_plain_class(value):
        return of_class(value, depth)
    if is_plain_object(value):
        return LiveObject(value, of_class(type(value), depth), {n: snapshot(v, depth + 1) for n, v in vars(value).items()})
    return WatchedAtom(value)


def of_class(kind: type, depth: int = 0) -> LiveClass:
    """Return the contents of a class that is followed. Raises TooDeep."""
    names: dict[str, ObjectSnapshot] = {}
    for name, value in own_names(kind).items():
        descriptor = isinstance(value, staticmethod | classmethod | property)
        names[name] = of_descriptor(value, depth) if descriptor else snapshot(value, depth + 1)
    return LiveClass(kind, names, tuple(of_class(base, depth + 1) for base in kind.__bases__ if base not in (object, tuple)))


def of_descriptor(value: Any, depth: int = 0) -> LiveDescriptor:
    """Return the contents of a `staticmethod`, `classmethod` or `property`. Raises TooDeep."""
    function, setter = described(value)
    after = None if setter is None else snapshot(setter, depth + 1)
    return LiveDescriptor(type(value).__name__, snapshot(function, depth + 1), after)


def _frozen(array: np.ndarray) -> bool:
    """True if the array and all its bases are read-only."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None and array.flags.c_contiguous


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in every bit; block by block, so that nothing large is made. `b` is C-contiguous."""
    if a.size == 0:
        return True
    if not a.flags.c_contiguous:
        a = np.ascontiguousarray(a)
    x, y = a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)
    if x.size % 8 == 0:
        x, y = x.view(np.uint64), y.view(np.uint64)
    return all(np.array_equal(x[i : i + _BLOCK], y[i : i + _BLOCK]) for i in range(0, x.size, _BLOCK))


@dataclass(eq=False)
class WatchedNames:
    """Names around a function, as they are now: its globals, or the cells of what encloses it."""

    names: Mapping[str, Any]

    def find(self, name: str) -> Any:
        """The object, or MISSING."""
        found = self.names.get(name, MISSING)
        if isinstance(found, CellType):
            try:
                return found.cell_contents
            except ValueError:  # not assigned yet
                return MISSING
        return found


@dataclass(eq=False)
class Watched:
    """Everything around a function that its compiled code depends on."""

    entries: list[tuple[Callable[[], Any], ObjectSnapshot]] = field(default_factory=list[tuple[Callable[[], Any], ObjectSnapshot]])

    def hold(self) -> bool:
        """True where all is as it was."""
        return all(kept.holds(find()) for find, kept in self.entries)
