"""What an expression of the source can be while the source is read."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from fleet.errors import SourceError
from fleet.frontend.reading.number import NumberValue, SizeUsed
from fleet.frontend.reading.scopes import Scope
from fleet.frontend.reading.tensor import TracedArray
from fleet.ir.weights import RandomStream


@dataclass(frozen=True, eq=False)
class Complex:
    """A Python complex number."""

    value: complex


@dataclass(frozen=True)
class Library:
    """A name out of a library: "numpy", "numpy.maximum", "math.pi", "os.path", or a builtin "builtins.len"."""

    path: str


@dataclass(frozen=True, eq=False)
class Namespace:
    """A module that the source imports from beside its file. path: of its file. frame: its names."""

    name: str
    path: str
    frame: CallFrame


@dataclass(eq=False)
class CallFrame:
    """The variables of one call, comprehension or module.

    Attributes:
        function: name for identities and messages.
        depth: calls deep; 0 is the model itself.
        parent: the frame that encloses it in the text; None for the module's.
        body_of: the class whose body this is. method_of: the class of the method that this is a call of; `receiver` its first
            argument.
        within: what stands before `__qualname__` of what is defined here: "f.<locals>.".
    """

    function: str
    depth: int
    scope: Scope
    parent: CallFrame | None = None
    variables: dict[str, Value] = field(default_factory=dict)
    body_of: Class | None = None
    method_of: Class | None = None
    receiver: Value = None
    within: str = ""

    @property
    def around(self) -> CallFrame:
        """The frame that a function defined here sees: not a class's body, whose names only the body itself sees."""
        return self.parent if self.body_of is not None and self.parent is not None else self

    def within_class(self) -> Class | None:
        """The class in whose text this frame stands, nearest first."""
        frame: CallFrame | None = self
        while frame is not None:
            found = frame.body_of or frame.method_of
            if found is not None:
                return found
            frame = frame.parent
        return None

    def owner(self, name: str) -> CallFrame | None:
        """The frame of functions that `name` belongs to, by the text; None for names of the module and builtins."""
        if name in self.scope.of_module:
            return None
        frame: CallFrame = self
        while frame.parent is not None:
            if name in frame.scope.local and (frame.body_of is None or name in frame.variables):
                return frame
            if name in frame.scope.of_module:
                return None
            frame = frame.parent
        return None

    def module(self) -> CallFrame:
        """The module's frame."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame

    def target(self, name: str) -> CallFrame:
        """The frame in which assigning to `name` binds it."""
        if name in self.scope.of_module:
            return self.module()
        if name in self.scope.local or self.parent is None:
            return self
        return self.owner(name) or self


_SERIALS = itertools.count()


@dataclass(frozen=True, eq=False)
class SourceFunction:
    """A function or lambda of the file, with the frame that it was defined in. attributes: what the source sets on it."""

    node: ast.FunctionDef | ast.Lambda
    frame: CallFrame
    defaults: dict[str, Value] = field(default_factory=dict)
    owner: Class | None = None
    """The class in whose body it stands."""
    title: str = ""
    """`__name__` if it is not the function's own name."""
    path: str = ""
    """`__qualname__` if it is not the function's own."""
    attributes: dict[str, Value] = field(default_factory=dict[str, "Value"])
    serial: int = field(default_factory=_SERIALS.__next__)

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "lambda"

    @property
    def qualname(self) -> str:
        """`__qualname__`."""
        name = self.node.name if isinstance(self.node, ast.FunctionDef) else "<lambda>"
        return self.path or (f"{self.owner.qualname}.{name}" if self.owner is not None else f"{self.frame.within}{name}")

    @property
    def label(self) -> str:
        """The name in identities. A method has its class's name in front; `__call__` has that name alone."""
        if self.owner is None:
            return self.name
        return self.owner.name if self.name in ("__call__", "forward") else f"{self.owner.name}.{self.name}"


@dataclass(frozen=True, eq=False)
class Method:
    """A bound method: `x.sum`, `items.append`, `rng.normal`."""

    owner: Value
    name: str


@dataclass(frozen=True)
class Slice:
    """`start:stop:step`; bounds are known, or sizes of the run."""

    start: int | NumberValue | None
    stop: int | NumberValue | None
    step: int | None = None

    @property
    def parts(self) -> tuple[Value, Value, Value]:
        """Start, stop and step as values."""
        start, stop, step = (NumberValue(p) if isinstance(p, int) else p for p in (self.start, self.stop, self.step))
        return start, stop, step

    @property
    def plain(self) -> slice:
        """As Python's slice. Raises SizeUsed if only the run knows a bound."""
        if isinstance(self.start, NumberValue) or isinstance(self.stop, NumberValue):
            raise SizeUsed
        return slice(self.start, self.stop, self.step)


@dataclass(eq=False)
class List:
    """A Python list, a deque, or the lines of a StringIO (`kind`): one object, whoever names it.

    most: elements that a deque keeps. at: the line of a StringIO that is read next.
    """

    items: list[Value]
    kind: str = "list"
    most: int | None = None
    at: int = 0


@dataclass(eq=False)
class Dict:
    """A Python dict; keys are numbers, strings, None and tuples of them, as `plain` gives them.

    Attributes:
        kind: "dict", "defaultdict" or "Counter".
        default: what a defaultdict calls for a key that it lacks.
    """

    items: dict[Any, Value]
    kind: str = "dict"
    default: Value = None


@dataclass(eq=False)
class DictView:
    """What `keys`, `values` or `items` of a dict gives (`kind`): it shows the dict as it is when it is asked."""

    owner: Dict
    kind: str

    @property
    def items(self) -> Mapping[Any, Value]:
        """The dict's keys and values."""
        return self.owner.items


@dataclass(eq=False)
class Set:
    """A Python set of elements that are plain as a dict's keys; its order is that of Python's own set. frozen: a frozenset."""

    items: set[Any]
    frozen: bool = False


@dataclass(eq=False)
class ByteArray:
    """A Python bytearray: it is known."""

    data: bytearray


@dataclass(eq=False)
class RangeValue:
    """`range(...)` over known numbers."""

    values: range


@dataclass(eq=False)
class ForeignArray:
    """An array of NumPy, or one element, of a dtype that no target has: text, records, dates, Python's objects. It is known."""

    array: np.ndarray | np.void | np.datetime64 | np.timedelta64


@dataclass(eq=False)
class Lazy:
    """An iterator: zip, map, enumerate, reversed or a generator expression. Its elements are evaluated when they are asked for.

    series: gives an element by its number, or None (`fleet.frontend.python.flow.series.Series`).
    """

    values: Iterator[Value]
    kind: str
    series: object = None


@dataclass(eq=False)
class Generator:
    """A seeded random generator."""

    stream: RandomStream


@dataclass(eq=False)
class Text:
    """A string that holds values of the run; it can be printed. Parts are text or (array or number, conversion, format)."""

    parts: list[str | tuple[TracedArray | NumberValue, str, str]]


@dataclass(eq=False)
class Partial:
    """`functools.partial`: a function with some of its arguments; with `results`, `functools.lru_cache` around one.

    most: results that the cache keeps, None for no limit. hits, misses: of the cache, in `counts`. binds: as a class's attribute it
    gets the object, as functions do.
    """

    function: Value
    args: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict[str, "Value"])
    results: dict[Any, Value] | None = None
    most: int | None = None
    binds: bool = False
    counts: list[int] = field(default_factory=lambda: [0, 0])


@dataclass(eq=False)
class Class:
    """A class of the file.

    Attributes:
        base: the first class that it inherits from; None for `object`. others: those behind it.
        names: what its body bound: methods, descriptors, class attributes.
        kind: "" or "dataclass" or "namedtuple", of which `fields` are the fields in order, or "enum", of which `members` are the
            members in order, or "namespace", whose objects show all of their attributes.
        frozen: a dataclass whose fields cannot be assigned. compared: one whose objects are equal where their fields are.
        ordered: one whose objects have the order of their fields. totally: one comparison gives the others.
        numbers: an enumeration whose members are numbers or texts, too, and shown as such. texts: as `numbers`, but not shown so.
        abstract: names of its abstract methods. strict: no objects as long as one of them is not defined.
        slots: names of `__slots__`, or None.
        python: the class of a running program that this is, or None.
        path: `__qualname__` if it is not the name alone. module: `__module__`; "" if it is unknown.
    """

    name: str
    base: Class | None = None
    names: dict[str, Value] = field(default_factory=dict)
    kind: str = ""
    fields: dict[str, ClassField] = field(default_factory=dict)
    frozen: bool = False
    compared: bool = False
    ordered: bool = False
    totally: bool = False
    numbers: bool = False
    texts: bool = False
    abstract: frozenset[str] = frozenset()
    strict: bool = False
    members: dict[str, ObjectInstance] = field(default_factory=dict[str, "ObjectInstance"])
    slots: frozenset[str] | None = None
    serial: int = field(default_factory=_SERIALS.__next__)
    others: tuple[Class, ...] = ()
    python: type | None = None
    path: str = ""
    module: str = ""

    @property
    def qualname(self) -> str:
        """`__qualname__`."""
        return self.path or self.name

    @property
    def bases(self) -> tuple[Class, ...]:
        """The classes that its statement names."""
        return () if self.base is None else (self.base, *self.others)

    def chain(self) -> Sequence[Class]:
        """The class and those that it inherits from, in the order in which Python looks into them.

        Raises ValueError if there is no such order.
        """
        rows = [list(base.chain()) for base in self.bases]
        rows.append(list(self.bases))
        found: list[Class] = [self]
        while any(rows):
            heads = [row[0] for row in rows if row]
            first = next((h for h in heads if not any(h in row[1:] for row in rows)), None)
            if first is None:
                raise ValueError("no order of the classes that it inherits from")
            found.append(first)
            rows = [row[1:] if row and row[0] is first else row for row in rows]
        return found

    def find(self, name: str) -> tuple[Class, Value] | None:
        """The class of the chain that has an attribute, and the attribute; None if no class has it."""
        for one in self.chain():
            if name in one.names:
                return one, one.names[name]
        return None


@dataclass(eq=False)
class ObjectInstance:
    """An object of a class of the file; `attributes` are its own, not its class's.

    serial: objects as they were made. itself: it is a dict, and its own `__dict__`, so that its items are its attributes.
    """

    kind: Class
    attributes: dict[str, Value] = field(default_factory=dict)
    serial: int = field(default_factory=_SERIALS.__next__)
    itself: bool = False


class NamedTupleValue(tuple["Value", ...]):
    """A tuple of a class of its own: one of kind "namedtuple" names its elements."""

    kind: Class

    @property
    def fields(self) -> Sequence[str]:
        """Names of the elements; none of a class that merely inherits from `tuple`."""
        return next((tuple(k.fields) for k in self.kind.chain() if k.kind == "namedtuple"), ())

    @classmethod
    def of(cls, kind: Class, values: Iterable[Value]) -> NamedTupleValue:
        """The tuple of these values."""
        made = cls(values)
        made.kind = kind
        return made


@dataclass(frozen=True, eq=False)
class BoundMethod:
    """A method bound to an object or a class. `function`: None for a method of `object`, which does nothing."""

    function: SourceFunction | Initialiser | Partial | None
    owner: Value


@dataclass(frozen=True, eq=False)
class Initialiser:
    """The `__init__` that a dataclass gets."""

    kind: Class


@dataclass(frozen=True, eq=False)
class Super:
    """`super()`: the attributes of the classes behind one, for an object or class."""

    behind: Class
    owner: Value


@dataclass(frozen=True, eq=False)
class Descriptor:
    """`staticmethod`, `classmethod` or `property` around a function; `setter` is a property's."""

    kind: str
    function: SourceFunction | Library
    setter: SourceFunction | None = None


@dataclass(frozen=True, eq=False)
class ClassField:
    """A field of a dataclass or named tuple. `default` is valid if `given`; `factory` is called for each object."""

    given: bool = False
    default: Value = None
    factory: Value = None
    init: bool = True
    shown: bool = True
    compared: bool = True
    by_keyword: bool = False


@dataclass(frozen=True)
class Poison:
    """Stands for what could not be evaluated; its error has been recorded."""


@dataclass(frozen=True, eq=False)
class Broken:
    """A name of the module whose statement could not be evaluated; using it raises the error."""

    error: SourceError


@dataclass(frozen=True)
class Marker:
    """`...` and NotImplemented."""

    name: str


Value: TypeAlias = "TracedArray | NumberValue | Library | SourceFunction | Method | Slice | List | Dict | _Other"
_Object: TypeAlias = "Class | ObjectInstance | BoundMethod | Partial | Initialiser | Super | Descriptor | ClassField"
_Text: TypeAlias = "Text | str | bytes | ByteArray"
_Lazy: TypeAlias = "RangeValue | Lazy | Generator | DictView"
_Names: TypeAlias = "Namespace | Poison | Broken | Marker"
_Other: TypeAlias = "_Object | _Lazy | _Text | _Names | Complex | ForeignArray | Set | np.dtype | tuple[Value, ...] | None"
ValueOperand: TypeAlias = "TracedArray | NumberValue"
TextPart: TypeAlias = "str | tuple[TracedArray | NumberValue, str, str]"
"""Text, or a value that only the run knows with its conversion and format."""
ELLIPSIS = Marker("Ellipsis")
NOT_IMPLEMENTED = Marker("NotImplemented")


def number_behind(value: Value) -> Value:
    """The number or text that a member of an `IntEnum` or `StrEnum` is; any other value itself."""
    if isinstance(value, ObjectInstance) and any(k.numbers or k.texts for k in value.kind.chain()):
        return value.attributes["_value_"]
    return value


def scalar_type(dtype: np.dtype) -> np.dtype:
    """A dtype as the class of its scalars, `numpy.float64`: equal to the dtype, and shown as a class."""
    return np.dtype(dtype.type, metadata={"class": True})


def plain_dtype(dtype: np.dtype) -> np.dtype:
    """A dtype that is no class."""
    return np.dtype(dtype.str) if dtype.metadata and dtype.names is None else dtype


def is_scalar_type(value: Value) -> bool:
    """Whether it is a class of NumPy's scalars."""
    return isinstance(value, np.dtype) and bool(value.metadata)


def dimension(value: TracedArray, axis: int) -> NumberValue:
    """A dimension's size as a number; symbolic if only the run knows it."""
    size = value.shape[axis]
    return NumberValue(size) if size >= 0 else NumberValue(None, dim=(value.ssa, axis))
