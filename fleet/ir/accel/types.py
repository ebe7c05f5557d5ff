"""Attributes of the dialect: sizes, which may depend on dynamic dimensions, tensor types, and the data of constants.

A size is printed with the bounds of its variables, can be parsed, and is compared by its normal form.

Example:
    >>> from fleet.symbols.expr import Var
    >>> token = Var("token", max_data=64)
    >>> str(Size((token + 1) * 2))
    '#accel.size<"token * 2 + 2", "token", 0, 64>'
    >>> Size((token + 1) * 2) == Size(token + token + 2)
    True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, SupportsFloat, SupportsIndex, cast, overload

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, FloatAttr, IntAttr, IntegerAttr, IntegerType, StringAttr, TupleType, f64, i64
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from fleet.ir.accel.errors import GraphError
from fleet.symbols.expr import Expr, Var, dim
from fleet.symbols.expr_parse import parse_python

Dim = int | Expr
"""A size: a number, or an expression of dynamic dimensions."""

Held = str | np.ndarray | Callable[[], np.ndarray] | None
"""Content of a constant: a file of packed bytes, an array, a function that returns it, or None (only the shape is known)."""


@dataclass(frozen=True)
class DataType:
    """dtype: "float16", "int4", "int8", "int32"; mapped: the memory that holds it, "ddr", "hbm" or "onchip"."""

    dtype: str
    mapped: str

    def __str__(self) -> str:
        return f"({self.dtype}, {self.mapped})"


@dataclass(frozen=True)
class Accelerator:
    """The accelerator of a graph. kind: memory of its weights ("hbm"); name: of the device, "" before `infer_type`."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return self.kind


HBM = Accelerator("hbm")
"""Any accelerator with HBM."""


def show_shape(shape: Sequence[Dim]) -> str:
    """Return a shape as text: "(1, token, 4096)"."""
    return f"({', '.join(map(str, shape))})"


def _normal(size: Dim) -> Dim:
    return size if type(size) is int or (isinstance(size, Expr) and size.known_simple is True) else dim(size)


@irdl_attr_definition
class Size(Data[Dim]):
    """A size: an integer, or an expression that each run binds. Raises ExprError for anything else."""

    name = "accel.size"

    def __init__(self, size: Dim) -> None:
        super().__init__(_normal(size))

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Dim:
        """A number, or a text and (name, least, most) of each of its variables; most is `?` without a bound."""
        with parser.in_angle_brackets():
            number = parser.parse_optional_integer()
            if number is not None:
                return number
            text, variables = parser.parse_str_literal(), dict[str, Var]()
            while parser.parse_optional_punctuation(",") is not None:
                name = parser.parse_str_literal()
                parser.parse_punctuation(",")
                least = parser.parse_integer()
                parser.parse_punctuation(",")
                most = None if parser.parse_optional_punctuation("?") is not None else parser.parse_integer()
                variables[name] = Var(name, most, least)
            return dim(parse_python(text, variables))

    def print_parameter(self, printer: Printer) -> None:
        """Print what `parse_parameter` reads."""
        with printer.in_angle_brackets():
            if not isinstance(self.data, Expr):
                printer.print_string(str(self.data))
                return
            printer.print_string_literal(self.data.to_python())
            for v in self.data.variables:
                printer.print_string(f', "{v.name}", {v.min_data}, {"?" if v.max_data is None else v.max_data}')


Parts = tuple[tuple[Dim, ...], DataType, Accelerator]


@irdl_attr_definition
class AccelTensor(Data[Parts], TypeAttribute):
    """The type of a node.

    Attributes:
        shape: (1, tokens, channels) or (heads, tokens, channels) of features, (CHin, CHout) of weights; in normal form.
        dtype, device: of its elements and its memory, and the target.
    """

    name = "accel.tensor"

    @overload
    def __init__(self, shape: Sequence[Dim], dtype: DataType, device: Accelerator) -> None: ...

    @overload
    def __init__(self, shape: Parts) -> None: ...

    def __init__(self, shape: Sequence[Dim] | Parts, dtype: DataType | None = None, device: Accelerator | None = None) -> None:
        """Takes the parts separately, or together as xDSL's parser passes them."""
        if dtype is None or device is None:
            shape, dtype, device = cast("Parts", shape)
        super().__init__((tuple(map(_normal, cast("Sequence[Dim]", shape))), dtype, device))

    @property
    def shape(self) -> tuple[Dim, ...]:
        """Sizes; dynamic ones are expressions."""
        return self.data[0]

    @property
    def dtype(self) -> DataType:
        """Dtype of the elements, and the memory that holds them."""
        return self.data[1]

    @property
    def device(self) -> Accelerator:
        """Accelerator whose memory holds the tensor."""
        return self.data[2]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Parts:
        """[sizes], dtype, memory, kind of accelerator, device."""
        with parser.in_angle_brackets():
            sizes = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_attribute)
            words: list[str] = []
            while parser.parse_optional_punctuation(",") is not None:
                words.append(parser.parse_str_literal())
            if len(words) != 4 or not all(isinstance(s, Size) for s in sizes):
                parser.raise_error("a tensor is [sizes], dtype, memory, accelerator, device")
            return tuple(s.data for s in sizes if isinstance(s, Size)), DataType(*words[:2]), Accelerator(*words[2:])

    def print_parameter(self, printer: Printer) -> None:
        """Print what `parse_parameter` reads."""
        with printer.in_angle_brackets():
            with printer.in_square_brackets():
                printer.print_list(list(map(Size, self.shape)), printer.print_attribute)
            for word in (self.dtype.dtype, self.dtype.mapped, self.device.kind, self.device.name):
                printer.print_string(", ")
                printer.print_string_literal(word)

    def __str__(self) -> str:
        return f"/* ret={show_shape(self.shape)}, dtype={self.dtype}, device={self.device} */"


Type = AccelTensor | tuple[AccelTensor, ...]
"""The type of a node: one tensor, or a tuple for several results."""


def show_type(checked: Type) -> str:
    """Return a type as text; types of several results are separated by a space."""
    return str(checked) if isinstance(checked, AccelTensor) else " ".join(map(str, checked))


@irdl_attr_definition
class Unknown(ParametrizedAttribute, TypeAttribute):
    """The type of a node before `infer_type`."""

    name = "accel.unknown"


UNKNOWN = Unknown()


def to_type(checked: Type | None) -> Attribute:
    """Return a node's type as the type of one value: several results become a tuple."""
    if checked is None:
        return UNKNOWN
    return checked if isinstance(checked, AccelTensor) else TupleType(checked)


def type_of(attribute: Attribute) -> Type | None:
    """Return the type behind an attribute: a tensor, or a tuple's tensors; None for another attribute."""
    if isinstance(attribute, AccelTensor):
        return attribute
    return tuple(t for t in attribute.types.data if isinstance(t, AccelTensor)) if isinstance(attribute, TupleType) else None


@irdl_attr_definition
class Content(Data[object]):
    """The content of a constant. Printed IR has only the name of its file."""

    name = "accel.content"

    def __init__(self, held: Held) -> None:
        super().__init__(held)

    @property
    def held(self) -> Held:
        """The array, or the name of its file."""
        return cast("Held", self.data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and (other.data is self.data or (isinstance(self.data, str) and other.data == self.data))

    def __hash__(self) -> int:
        return hash(self.data) if isinstance(self.data, str) else id(self.data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Held:
        """The name of a file; empty if the content was an array."""
        with parser.in_angle_brackets():
            return parser.parse_optional_str_literal()

    def print_parameter(self, printer: Printer) -> None:
        """Print what `parse_parameter` reads."""
        with printer.in_angle_brackets():
            if isinstance(self.data, str):
                printer.print_string_literal(self.data)


# Attributes of calls.


@lru_cache(maxsize=1024)
def _number(value: int) -> Attribute:
    return IntegerAttr(value, i64) if -1 << 63 <= value < 1 << 63 else IntAttr(value)


@lru_cache(maxsize=1024)
def _text(value: str) -> Attribute:
    return StringAttr(value)


def to_attribute(name: str, value: object) -> Attribute:
    """A number, an expression, a text or a sequence of them. Raises GraphError naming the attribute for anything else."""
    match value:
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return _number(value)
        case str():
            return _text(value)
        case Expr():
            return Size(value)
        case float():
            return FloatAttr(value, f64)
        case list() | tuple():
            parts: Sequence[object] = value
            return ArrayAttr([to_attribute(name, part) for part in parts])
        case SupportsIndex():
            return to_attribute(name, int(value))
        case SupportsFloat():
            return FloatAttr(float(value), f64)
        case _:
            raise GraphError(f"attribute {name} is {value!r}, expected a number, an expression, a text or a list of them")


def _integer(attribute: IntegerAttr) -> int:
    truth = isinstance(attribute.type, IntegerType) and attribute.type.width.data == 1
    return bool(attribute.value.data) if truth else attribute.value.data


_FROM: Mapping[type[Attribute], Callable[[Any], Any]] = {
    IntegerAttr: _integer,
    IntAttr: lambda a: a.data,
    Size: lambda a: a.data,
    StringAttr: lambda a: a.data,
    FloatAttr: lambda a: a.value.data,
    ArrayAttr: lambda a: tuple(map(from_attribute, a.data)),
}


def from_attribute(attribute: Attribute) -> Any:
    """Invert `to_attribute`; a sequence becomes a tuple. Raises KeyError for another attribute."""
    return _FROM[type(attribute)](attribute)
