"""Casts to element types that are narrower than those of a program, and the types of an operator's results.

What makes a new value rounds it as the type has it, in operations of the IR, so that every target computes the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
import onnx
from onnx import defs

from fleet.frontend.onnx.array import OnnxArray, binary, maximum, minimum, unary, where
from fleet.frontend.onnx.graph import OnnxNode
from fleet.frontend.onnx.narrow import Narrow, narrow_of
from fleet.frontend.onnx.problems import refuse

T = TypeVar("T")
_T = onnx.TensorProto
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)


def cast(x: OnnxArray, to: np.dtype, *, saturate: bool = True, mode: str = "up") -> OnnxArray:
    """`Cast` to a dtype, which may be one of ml_dtypes.

    Args:
        x: what is cast.
        to: the dtype.
        saturate: values beyond the range of an 8-bit float become its greatest value; else infinity, or NaN if it has none.
        mode: "up", "down" or "nearest", for powers of two (FLOAT8E8M0).
    """
    narrow = narrow_of(to)
    if narrow is None:
        return x.of(None).astype(to)
    if x.narrow is narrow:
        return x
    x = x.of(None)
    if not narrow.floating:
        return _integer(x, narrow).of(narrow)
    wide = x.astype(_F64)
    if narrow.code == _T.FLOAT8E8M0:
        return _power(wide, mode, saturate).astype(_F32).of(narrow)
    return _rounded(wide, narrow, saturate).astype(_F32).of(narrow)


def _integer(x: OnnxArray, narrow: Narrow) -> OnnxArray:
    """The lowest bits of what is left when a float is cut off."""
    bits = int(ml_dtypes.iinfo(narrow.dtype).bits)
    low = x.astype(np.int32) if x.dtype.kind in "fb" else x.astype(np.int64)
    low = binary("bitwise_and", low, (1 << bits) - 1)
    if narrow.carried.kind == "i":
        low = where(low >= 1 << (bits - 1), low - (1 << bits), low)
    return low.astype(narrow.carried)


def _significant(x: OnnxArray, bits: int) -> OnnxArray:
    """float64 rounded to so many significant bits, ties to even: Veltkamp's product, whose own rounding decides the ties."""
    spread = x * float((1 << (53 - bits)) + 1)
    return spread - (spread - x)


def _rounded(x: OnnxArray, narrow: Narrow, saturate: bool) -> OnnxArray:
    info = ml_dtypes.finfo(narrow.dtype)
    top, normal, step = float(info.max), float(info.smallest_normal), float(info.smallest_subnormal)
    size = unary("abs", x)
    near = where(size < 2 * top, x, x.like(0))  # nothing larger must meet the product, which would be infinite
    fixed = 1.5 * 2.0**52 * step  # beside it the last bit of a float64 is one step of the subnormals
    small = (near + fixed) - fixed
    small = where(small.equal(0), near * 0.0, small)  # zero keeps the sign
    found = where(size < normal, small, _significant(near, int(info.nmant) + 1))
    large = binary("logical_or", unary("abs", found) > top, size >= 2 * top)
    if narrow.code == _T.FLOAT4E2M1 or (saturate and narrow.code != _T.BFLOAT16):
        beyond = x.like(top)
    else:
        beyond = x.like(float("inf") if narrow.code in (_T.BFLOAT16, _T.FLOAT8E5M2) else float("nan"))
    found = where(large, where(x < 0, -beyond, beyond), found)
    if narrow.name.endswith("FNUZ"):
        found = found + 0.0  # there is one zero
    elif narrow.code == _T.FLOAT4E2M1:
        return where(unary("isnan", x), x.like(-0.0), found)  # it has no NaN; ml_dtypes makes this of one
    return where(unary("isnan", x), x, found)


def _power(x: OnnxArray, mode: str, saturate: bool) -> OnnxArray:
    """Powers of two from 2**-127 to 2**127 of the size: there is no sign, no zero and no infinity."""
    low, high = 2.0**-127, 2.0**127
    size = unary("abs", x)
    near = maximum(minimum(size, 2.0**200), 2.0**-200)
    found = _significant(near, 1)
    if mode == "up":
        found = where(found < near, found * 2, found)
    elif mode == "down":
        found = where(found > near, found * 0.5, found)
    nan = x.like(float("nan"))
    found = maximum(minimum(found, high), low) if saturate else where(found > high, nan, maximum(found, low))
    finite = size < float("inf")
    return where(finite, found, nan)


_EXACT = frozenset({
    "Abs", "Neg", "Relu", "Max", "Min", "Clip", "Where", "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose",
    "Concat", "Split", "Slice", "Gather", "GatherElements", "GatherND", "Expand", "Tile", "Pad", "Trilu", "ReverseSequence",
    "Compress", "Unique", "DepthToSpace", "SpaceToDepth", "TopK", "ReduceMax", "ReduceMin", "MaxPool", "OneHot",
    "ScatterElements", "ScatterND", "If", "Loop", "Scan", "ConstantOfShape", "Dropout",
})  # fmt: skip
"""Operators whose results are among their operands' elements: nothing is rounded."""


STEPWISE = frozenset({"Softmax", "LogSoftmax"})
"""Operators of which the reference evaluator rounds every step: of a narrow type they are taken apart by their definition."""


def has_narrow(values: Sequence[object]) -> bool:
    """True if any value has a narrow dtype."""
    return any(isinstance(v, OnnxArray) and v.narrow is not None for v in values)


def typed(node: OnnxNode, opset: int, values: Sequence[object], results: Sequence[T]) -> list[T | OnnxArray]:
    """The results with the types that ONNX's definition gives them by those of its inputs: what is new is rounded to a narrow one.

    Raises ModelError for a type that the operator does not take, and for two types where its definition has one.
    """
    if not defs.has(node.op, opset, node.domain):
        return list(results)
    schema: Any = defs.get_schema(node.op, opset, node.domain)
    allowed = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
    kinds: dict[str, Narrow | None] = {}
    for i, value in enumerate(values):
        if not isinstance(value, OnnxArray):
            continue
        kind = schema.inputs[min(i, len(schema.inputs) - 1)].type_str
        narrow = value.narrow
        if narrow is not None and narrow.tensor not in allowed.get(kind, {kind}):
            refuse(
                node.where, f"{node.op} takes no {narrow.name} (its input {i})", f"cast it, or export with an opset after {opset}"
            )
        if kinds.setdefault(kind, narrow) is not narrow:
            refuse(node.where, f"its input {i} is {narrow.name if narrow else value.dtype}, another type than those before it")
    found: list[T | OnnxArray] = []
    for i, result in enumerate(results):
        narrow = kinds.get(schema.outputs[min(i, len(schema.outputs) - 1)].type_str)
        if not isinstance(result, OnnxArray) or narrow is None or result.narrow is narrow:
            found.append(result)
        else:
            found.append(result.of(narrow) if node.op in _EXACT else cast(result, narrow.dtype))
    return found
