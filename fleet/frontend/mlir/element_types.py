"""Element types of MLIR as NumPy's. `bf16`, which NumPy lacks, is carried as float32: what is new is rounded to it.

Rounding is a sequence of operations of the IR on the bits, so that every target computes the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import ml_dtypes
import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BFloat16Type, IndexType
from xdsl.ir import Attribute, Operation

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.ir.types import numpy_dtype

_U16, _U32, _I32, _F32 = (np.dtype(t) for t in (np.uint16, np.uint32, np.int32, np.float32))


def _element(type_: Attribute) -> Attribute:
    return getattr(type_, "element_type", type_)


def is_bfloat16(type_: Attribute) -> bool:
    """Return whether a type, or the element type of a tensor, is bf16."""
    return isinstance(_element(type_), BFloat16Type)


def dtype_of(b: MlirBuild, type_: Attribute) -> np.dtype:
    """Return the NumPy dtype in which values of a type, or of a tensor's element type, are stored: float32 for bf16.

    Raises ModelError for a type that is not supported.
    """
    element = _element(type_)
    if isinstance(element, IndexType):
        return np.dtype(np.int64)
    if isinstance(element, BFloat16Type):
        return _F32
    with suppress(KeyError):
        if (dtype := numpy_dtype(element)).kind != "c":
            return dtype
    return b.refuse(f"values of type {element}", "f16, bf16, f32, f64, i1, i8, i16, i32, i64, unsigned ones and index are read")


def viewed(b: MlirBuild, x: MlirArray, dtype: npt.DTypeLike) -> MlirArray:
    """Return `x.view(dtype)`, of a dtype of the same size."""
    if x.known is not None:
        return b.known(np.asarray(x.known).view(dtype))
    found = b.emit("numpy", x if x.rank else b.reshape(x, (1,)), call=f"ndarray.view(x0, dtype='{np.dtype(dtype).name}')")
    return b.reshape(found, x.shape)


def same_bits(b: MlirBuild, op: Operation, x: MlirArray, view: Callable[..., MlirArray] = viewed) -> MlirArray:
    """Return the bits of x as elements of the result's type. view: as `viewed`, between types of NumPy."""
    if is_bfloat16(op.operands[0].type):
        x = b.cast(_upper(b, viewed(b, x, _U32)), _U16)
    if not is_bfloat16(target := op.results[0].type):
        return view(b, x, dtype_of(b, target))
    return viewed(b, b.emit("mul", b.cast(view(b, x, _U16), _U32), b.known(1 << 16, _U32)), _F32)


def _upper(b: MlirBuild, bits: MlirArray) -> MlirArray:
    """The upper half of 32 bits, by a division: shifts are not operations of every target."""
    return b.emit("floor_div", bits, b.known(1 << 16, _U32))


def rounded_values(array: np.ndarray) -> np.ndarray:
    """Return the values of bf16 next to those of an array of float32, ties to even, as float32."""
    with np.errstate(invalid="ignore"):  # NaN
        return array.astype(ml_dtypes.bfloat16).astype(_F32)


def rounded(b: MlirBuild, x: MlirArray) -> MlirArray:
    """Return the values of bf16 next to those of an array of float32 or float64, ties to even."""
    if x.known is not None and x.dtype == _F32:
        return b.known(rounded_values(x.known))
    if x.dtype == np.float64:
        x = _to_odd(b, x)
    bits = viewed(b, x, _U32)
    odd = b.emit("bitwise_and", _upper(b, bits), b.known(1, _U32))
    above = b.emit("add", b.emit("add", bits, odd), b.known(0x7FFF, _U32))
    quiet = b.emit("bitwise_or", bits, b.known(0x400000, _U32))
    found = b.emit("where", b.emit("isnan", x), quiet, above)
    return viewed(b, b.emit("bitwise_and", found, b.known(0xFFFF0000, _U32)), _F32)


def as_element(b: MlirBuild, x: MlirArray, type_: Attribute) -> MlirArray:
    """Return x cast to the dtype in which values of a type are stored. For bf16 the result is still to be rounded (`rounded`)."""
    return _to_odd(b, x) if is_bfloat16(type_) and x.dtype == np.float64 else b.cast(x, dtype_of(b, type_))


def _to_odd(b: MlirBuild, x: MlirArray) -> MlirArray:
    """Round float64 to float32 by round-to-odd: rounding the result to bf16 then equals rounding once."""
    near = b.cast(x, _F32)
    back, bits = b.cast(near, np.float64), viewed(b, near, _I32)
    even = b.emit("equal", b.emit("bitwise_and", bits, b.known(1, _I32)), b.known(0, _I32))
    low = b.emit("less", b.emit("abs", back), b.emit("abs", x))
    high = b.emit("greater", b.emit("abs", back), b.emit("abs", x))
    step = b.emit("sub", b.cast(b.emit("logical_and", even, low), _I32), b.cast(b.emit("logical_and", even, high), _I32))
    return viewed(b, b.emit("add", bits, step), _F32)


_EXACT = frozenset({
    "abs", "absf", "negate", "negf", "sign", "floor", "ceil", "round_nearest_afz", "round_nearest_even", "roundeven", "select",
    "maximum", "minimum", "maximumf", "minimumf", "maxnumf", "minnumf", "bitcast", "bitcast_convert",
    "reduce_max", "reduce_min", "max_pool2d", "sort", "top_k",
    "reshape", "transpose", "broadcast", "broadcast_in_dim", "slice", "dynamic_slice", "dynamic_update_slice", "concatenate",
    "concat", "tile", "pad", "gather", "reverse", "fill", "copy", "identity",
    "while", "if", "case", "composite", "custom_call", "optimization_barrier", "map",
})  # fmt: skip
"""Operations, without their dialect, whose results are among the operands, or were rounded where they were made."""


def as_typed(b: MlirBuild, op: Operation, name: str, results: Sequence[MlirArray]) -> list[MlirArray]:
    """Return an operation's results, rounded where they are new values of bf16."""
    dialect, _, kind = name.partition(".")
    exact = kind in _EXACT or dialect in ("tensor", "scf", "func")
    return [a if exact or not is_bfloat16(r.type) else rounded(b, a) for a, r in zip(results, op.results, strict=True)]
