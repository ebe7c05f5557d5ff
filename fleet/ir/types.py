"""NumPy dtypes and xDSL types: one table, both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ComplexType,
    IntegerType,
    Signedness,
    TensorType,
    TupleType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

Attributes: TypeAlias = Mapping[str, Any]
"""Name of an operation's attribute -> its value in Python and NumPy types (number, text, dtype, tuple of these)."""

_PAIRS: tuple[tuple[str, Attribute, str], ...] = (
    # NumPy name, xDSL type, spelling in dispatch hints and reports
    ("float16", f16, "f16"),
    ("float32", f32, "f32"),
    ("float64", f64, "f64"),
    ("bool", i1, "i1"),
    ("int8", i8, "i8"),
    ("int16", i16, "i16"),
    ("int32", i32, "i32"),
    ("int64", i64, "i64"),
    ("uint8", IntegerType(8, Signedness.UNSIGNED), "u8"),
    ("uint16", IntegerType(16, Signedness.UNSIGNED), "u16"),
    ("uint32", IntegerType(32, Signedness.UNSIGNED), "u32"),
    ("uint64", IntegerType(64, Signedness.UNSIGNED), "u64"),
    ("complex64", ComplexType(f32), "c64"),
    ("complex128", ComplexType(f64), "c128"),
)
_TO_XDSL: dict[np.dtype, Attribute] = {np.dtype(name): attr for name, attr, _ in _PAIRS}
_TO_NUMPY: dict[Attribute, np.dtype] = {attr: np.dtype(name) for name, attr, _ in _PAIRS}
_SPELLING = {np.dtype(name): spelling for name, _, spelling in _PAIRS}

_VOID = np.dtype(np.void)

DTYPES: tuple[str, ...] = tuple(name for name, _, _ in _PAIRS)
"""NumPy names of all dtypes of a program."""


def element_type(dtype: np.dtype | str | type) -> Attribute:
    """Return the xDSL element type of a NumPy dtype. Raises KeyError for a dtype that fleet does not support."""
    return _TO_XDSL[np.dtype(dtype)]


def tensor_type(shape: Sequence[int], dtype: np.dtype | str | type) -> Attribute:
    """`tensor<shape x dtype>`, -1 for an unknown dimension (`?`); rank 0 stays a tensor, scalars are builtin types."""
    return _tensor_type(tuple(shape), np.dtype(dtype))


@lru_cache(maxsize=4096)
def _tensor_type(shape: tuple[int, ...], dtype: np.dtype) -> Attribute:
    """Return one object for equal types, because types are compared at every operation."""
    return TensorType(element_type(dtype), [DYNAMIC_INDEX if d == -1 else int(d) for d in shape])


def numpy_dtype(type_: Attribute) -> np.dtype:
    """Return the NumPy dtype of a tensor's elements or of a scalar type; numpy.void for a tuple, which has no single dtype."""
    return _read(type_)[1]


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """Shape, -1 for unknown dimensions; () for a scalar type."""
    return _read(type_)[0]


_MOST_READ = 1 << 14
_READ: dict[int, tuple[tuple[int, ...], np.dtype, Attribute]] = {}
"""Shape and dtype by the identity of a type, which is kept alive: hashing a type would walk it."""


def _read(type_: Attribute) -> tuple[tuple[int, ...], np.dtype, Attribute]:
    known = _READ.get(id(type_))
    if known is None:
        if len(_READ) >= _MOST_READ:
            _READ.clear()
        known = _READ[id(type_)] = (*_shape_and_dtype(type_), type_)
    return known


def _shape_and_dtype(type_: Attribute) -> tuple[tuple[int, ...], np.dtype]:
    if isinstance(type_, TupleType):
        return (), _VOID
    if isinstance(type_, TensorType):
        shape = tuple(-1 if d.data == DYNAMIC_INDEX else d.data for d in type_.shape.data)
        return shape, _TO_NUMPY[type_.get_element_type()]
    return (), _TO_NUMPY[type_]


def is_tensor(type_: Attribute) -> bool:
    """True for a ranked tensor, False for a scalar (a Python number in the source)."""
    return isinstance(type_, TensorType)


def spelling(type_: Attribute) -> str:
    """`16x768xf32` for tensors (`?` for an unknown dimension), `i32` for scalars: the grammar of dispatch hints (seed 001)."""
    name = _SPELLING[numpy_dtype(type_)]
    return "x".join([*("?" if d < 0 else str(d) for d in shape_of(type_)), name]) if is_tensor(type_) else name
