"""Base classes of the operations of the dialect `fleet`: identity, definition, and the usual shapes.

Every operation carries
  `id`   unique in the function, stable for the same source: the key by which traces are aligned ("h1", "mul.7");
  `var`  the Python variable that the result is bound to, if any (the `cpython` oracle aligns by it);
  `at`   "file.py:12:4", the place in the source.

The class of an operation defines it: operands and properties, NumPy's function, the type of the result, and a line on it for
docs/ir.md. Targets have their own tables, keyed by the class.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, StringAttr, f64, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import BaseAttr, IRDLOperation, OptPropertyDef, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from fleet.ir.operations.promotion import loop_types, python_number, reduced_dtype
from fleet.ir.shapes import InferenceError, broadcast, check_size, normal_axis, shape_words, tensor_of
from fleet.ir.types import Attributes, is_tensor, numpy_dtype, shape_of, spelling, tensor_type

__all__ = [
    "DEVICE",
    "AxisOp",
    "BinaryOp",
    "ElementwiseOp",
    "FleetOp",
    "ReduceOp",
    "ShapedOp",
    "TypedOp",
    "UnaryOp",
    "ValueOp",
    "attributes_of",
    "axes_attr",
    "integers",
    "kind_of",
    "op_id",
]

DEVICE = "device"
"""The attribute with the device that the source requests for an operation (`fleet.device`); most have none."""


def axes_attr(values: Sequence[int]) -> DenseArrayBase:
    """A list of dimensions as `array<i64: ...>`."""
    return DenseArrayBase.from_list(i64, list(values))


def integers(attr: Attribute) -> tuple[int, ...]:
    """The numbers of a dense array of integers (xDSL's own type of `get_values` depends on the element type)."""
    return tuple(int(v) for v in cast("Any", attr).get_values())


def _number(attr: IntegerAttr) -> int:
    truth = isinstance(attr.type, IntegerType) and attr.type.width.data == 1
    return bool(attr.value.data) if truth else attr.value.data


_TO_PYTHON: Mapping[type[Attribute], Callable[[Any], Any]] = {
    DenseArrayBase: lambda a: list(integers(a)),
    IntegerAttr: _number,
    FloatAttr: lambda a: a.value.data,
    StringAttr: lambda a: a.data,
}
_FROM_PYTHON: Mapping[object, Callable[[Any], Attribute]] = {
    BaseAttr(DenseArrayBase): axes_attr,
    BaseAttr(IntegerAttr): lambda v: IntegerAttr(v, i64),
    BaseAttr(FloatAttr): lambda v: FloatAttr(float(v), f64),
    BaseAttr(StringAttr): StringAttr,
}
"""Keyed by the constraint of a property; constraints not listed are booleans."""


class FleetOp(IRDLOperation, ABC):
    """Base of all operations of the dialect: the identity that traces and reports use, and the parts of a definition.

    A class may declare:
        NUMPY: NumPy's function of the operands.
        LIKE: if NumPy has no such function, one with the same promotion.
        PYTHON: Python's operator. Applied to Python numbers it gives a Python number, otherwise a NumPy scalar.
        RESULT: the result's type in words.
        DEFAULTS: attributes that may be omitted when the operation is created.
        UNWRITTEN: optional property -> the default value, for which the property is not stored.
    """

    id = opt_prop_def(StringAttr)
    var = opt_prop_def(StringAttr)
    at = opt_prop_def(StringAttr)

    NUMPY: ClassVar[Callable[..., Any] | None] = None
    LIKE: ClassVar[np.ufunc | None] = None
    PYTHON: ClassVar[Callable[..., Any] | None] = None
    RESULT: ClassVar[str] = ""
    DEFAULTS: ClassVar[Attributes] = {}
    UNWRITTEN: ClassVar[Mapping[str, int]] = {}

    def __init__(self, operands: Sequence[SSAValue | Operation], result: Attribute, **attributes: Any) -> None:
        """Create the operation outside any block. attributes: as in `infer`; those that are not properties are dropped."""
        Operation.__init__(
            self,
            operands=[v if isinstance(v, SSAValue) else v.results[0] for v in operands],
            result_types=[result],
            properties=dict(_written(type(self), attributes)),
        )

    @classmethod
    def completed(cls, attributes: Attributes, operands: int) -> Attributes:
        """Return the attributes with defaults filled in, for so many operands."""
        return {**cls.DEFAULTS, **attributes} if cls.DEFAULTS else attributes

    @classmethod
    def infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        """Return the type of the result for operands of these types.

        attributes: properties as plain Python values; shape (reshape, broadcast_to) and dtype (cast), which the dialect stores in
        the result's type; bias and residual (linear), which optional operands are present.
        Raises InferenceError if they do not fit, or for more than `MAX_ELEMENTS`.
        """
        result = cls._infer(operands, attributes)
        check_size(shape_of(result))
        return result

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        raise NotImplementedError(kind_of(cls))

    @classmethod
    def result_words(cls) -> str:
        """Return the type of the result in words, for docs/ir.md."""
        return cls.RESULT

    @classmethod
    def compute_types(cls, operands: Sequence[Attribute]) -> tuple[np.dtype, ...]:
        """Return the dtypes in which NumPy computes `NUMPY`: one per operand, then the result's.

        Raises InferenceError if NumPy has no such loop.
        """
        function = cls.NUMPY or cls.LIKE
        assert function is not None, f"{kind_of(cls)} has no dtypes to compute in"
        return loop_types(kind_of(cls), function, operands)

    @classmethod
    def compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        """Return NumPy's result for these arrays. Raises NotImplementedError if no single NumPy call computes the operation."""
        return cls._compute(operands, attributes)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return cls._numpy()(*operands)

    @classmethod
    def _numpy(cls) -> Callable[..., Any]:
        if cls.NUMPY is None:
            raise NotImplementedError(kind_of(cls))
        return cls.NUMPY

    def implied(self) -> Attributes:
        """Attributes that are not properties."""
        return {}

    def describe(self, *, id: str, var: str | None = None, at: str | None = None) -> None:
        """Set the identity (see the module's docstring)."""
        self.properties["id"] = StringAttr(id)
        if var is not None:
            self.properties["var"] = StringAttr(var)
        if at is not None:
            self.properties["at"] = StringAttr(at)

    def verify_(self) -> None:
        """Check that the result's type is the inferred one. Raises VerifyException that names the operation's id."""
        where = self.properties.get("id", kind_of(self))
        try:
            self.check()
        except InferenceError as error:
            raise VerifyException(f"{where}: {error}") from None
        except KeyError as error:
            raise VerifyException(f"{where}: a type or attribute that fleet does not know ({error})") from None

    def check(self) -> None:
        """Raises InferenceError if the result's type is not the inferred one."""
        found, expected = self.results[0].type, self.infer([v.type for v in self.operands], attributes_of(self))
        if expected != found and not (_is_python_integer(expected) and _is_python_integer(found)):
            raise InferenceError(f"result type is {found}, expected {expected}")


@cache
def _writers(cls: type[FleetOp]) -> Sequence[tuple[str, bool, int | None, Callable[[Any], Attribute]]]:
    """For every property: name, whether it is optional, the value that is not stored, and the conversion of a plain value."""
    return [
        (name, isinstance(p, OptPropertyDef), cls.UNWRITTEN.get(name), _FROM_PYTHON.get(p.constr, BoolAttr.from_bool))
        for name, p in cls.get_irdl_definition().properties.items()
        if name not in _NOT_ATTRIBUTES
    ]


def _written(cls: type[FleetOp], attributes: Attributes) -> Iterator[tuple[str, Attribute]]:
    for name, optional, unwritten, write in _writers(cls):
        value = attributes.get(name) if optional else attributes[name]
        numbers: Sequence[int] = value if isinstance(value, Sequence) else (value,)
        if value is not None and (unwritten is None or any(n != unwritten for n in numbers)):
            yield name, write(value)


def _is_python_integer(type_: Attribute) -> bool:
    """Return whether it is the type of a Python integer, which the IR writes as i32 or i64."""
    return not is_tensor(type_) and spelling(type_) in ("i32", "i64")


def op_id(op: Operation) -> str:
    """Return the operation's `id`. Raises KeyError if it has none."""
    attr = op.properties["id"]
    assert isinstance(attr, StringAttr)
    return attr.data


def kind_of(op: Operation | type[Operation]) -> str:
    """Return the operation's name without the dialect prefix: "add"."""
    return op.name.removeprefix("fleet.")


_NOT_ATTRIBUTES = frozenset({"id", "var", "at", "covers", "operandSegmentSizes", "value"})
"""A constant's `value` is a number with a type, see `fleet.ir.constants.constant_value`."""


def attributes_of(op: FleetOp) -> Attributes:
    """Return property name -> int, bool, float, str or list of int, and the attributes stored elsewhere (see `FleetOp.infer`)."""
    found: dict[str, Any] = {}
    for name, attr in op.properties.items():
        if name not in _NOT_ATTRIBUTES and (plain := _TO_PYTHON.get(type(attr))) is not None:
            found[name] = plain(attr)
    return {**found, **op.implied()}


class ValueOp(FleetOp, ABC):
    """One result and no side effect."""

    result = result_def()
    traits = traits_def(Pure())


class ShapedOp(ValueOp, ABC):
    """The result's type stores the attribute `shape`."""

    def implied(self) -> Attributes:
        """Return {"shape": sizes of the result}."""
        return {"shape": list(shape_of(self.result.type))}


class TypedOp(ValueOp, ABC):
    """The result's type stores the attribute `dtype`."""

    def implied(self) -> Attributes:
        """Return {"dtype": NumPy dtype of the result}."""
        return {"dtype": numpy_dtype(self.result.type)}


class ElementwiseOp(ValueOp, ABC):
    """Elementwise with NumPy broadcasting, in the dtypes of NumPy's loop."""

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        dtype = cls.compute_types(operands)[-1]
        if cls.PYTHON is not None and not any(is_tensor(t) for t in operands):
            return python_number(operands, dtype)
        shape = shape_of(operands[0])
        for other in operands[1:]:
            shape = broadcast(shape, shape_of(other), kind_of(cls))
        return tensor_type(shape, dtype)

    @classmethod
    def result_words(cls) -> str:
        """Derived from NumPy's function by default."""
        if cls.RESULT:
            return cls.RESULT
        shape = "broadcast" if issubclass(cls, BinaryOp) else "operand's shape"
        number = "; a Python number of Python numbers" if cls.PYTHON is not None else ""
        return f"{shape}; dtype of `numpy.{getattr(cls.NUMPY or cls.LIKE, '__name__', '')}`{number}"


class BinaryOp(ElementwiseOp, ABC):
    """Elementwise on two operands."""

    lhs = operand_def()
    rhs = operand_def()


class UnaryOp(ElementwiseOp, ABC):
    """Elementwise on one operand."""

    operand = operand_def()


class ReduceOp(ValueOp, ABC):
    """Reduction over `axes` (ascending, non-negative); `keepdims` as in NumPy. `IDENTITY`: whether it reduces no elements."""

    operand = operand_def()
    axes = prop_def(DenseArrayBase)
    keepdims = prop_def(BoolAttr)

    IDENTITY: ClassVar[bool] = True

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        name, given = kind_of(cls), attributes["axes"]
        shape, dtype = tensor_of(operands[0], name)
        axes = [normal_axis(a, len(shape)) for a in given]
        if sorted(set(axes)) != list(given):
            raise InferenceError(f"{name} over axes {list(given)}: they must be ascending, non-negative and distinct")
        if not cls.IDENTITY and any(shape[a] == 0 for a in axes):
            raise InferenceError(f"{name} over no elements (shape {shape_words(shape)})")
        if attributes["keepdims"]:
            kept = tuple(1 if i in axes else d for i, d in enumerate(shape))
        else:
            kept = tuple(d for i, d in enumerate(shape) if i not in axes)
        return tensor_type(kept, reduced_dtype(cls._numpy(), dtype))

    @classmethod
    def result_words(cls) -> str:
        """Return the line of docs/ir.md, derived from NumPy's function."""
        dtype = reduced_dtype(cls._numpy(), np.dtype(np.int32))
        words = "i1" if dtype.kind == "b" else "operand's dtype" if dtype == np.int32 else f"{dtype} of integers"
        return f"axes removed, or 1 with keepdims; {words}"

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return cls._numpy()(operands[0], axis=tuple(attributes["axes"]), keepdims=attributes["keepdims"])


class AxisOp(ValueOp, ABC):
    """One operand and one `axis` (non-negative)."""

    operand = operand_def()
    axis = prop_def(IntegerAttr)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return cls._numpy()(operands[0], axis=attributes["axis"])
