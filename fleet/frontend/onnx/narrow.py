"""Element types that are narrower than those of a program: bfloat16, floats of 8 and 4 bits, integers of 4 and 2.

A program carries their values: floats as float32, integers as int8 or uint8, all of them exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import ml_dtypes
import numpy as np
import onnx

_T = onnx.TensorProto


@dataclass(frozen=True)
class Narrow:
    """An element type.

    Attributes:
        name: ONNX's. code: its number. dtype: that of ml_dtypes. carried: what a program has instead.
    """

    name: str
    code: int
    dtype: np.dtype
    carried: np.dtype

    @property
    def tensor(self) -> str:
        """The type as ONNX's definitions of operators write it."""
        return f"tensor({self.name.lower()})"

    @property
    def floating(self) -> bool:
        """Whether it is a float."""
        return self.carried.kind == "f"

    @property
    def limits(self) -> tuple[float, float]:
        """Least and greatest finite value."""
        info = ml_dtypes.finfo(self.dtype) if self.floating else ml_dtypes.iinfo(self.dtype)
        return float(info.min), float(info.max)


BY_CODE: Mapping[int, Narrow] = {
    code: Narrow(_T.DataType.Name(code), code, np.dtype(dtype), np.dtype(by))
    for code, dtype, by in (
        (_T.BFLOAT16, ml_dtypes.bfloat16, np.float32),
        (_T.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn, np.float32),
        (_T.FLOAT8E4M3FNUZ, ml_dtypes.float8_e4m3fnuz, np.float32),
        (_T.FLOAT8E5M2, ml_dtypes.float8_e5m2, np.float32),
        (_T.FLOAT8E5M2FNUZ, ml_dtypes.float8_e5m2fnuz, np.float32),
        (_T.FLOAT8E8M0, ml_dtypes.float8_e8m0fnu, np.float32),
        (_T.FLOAT4E2M1, ml_dtypes.float4_e2m1fn, np.float32),
        (_T.INT4, ml_dtypes.int4, np.int8),
        (_T.UINT4, ml_dtypes.uint4, np.uint8),
        (_T.INT2, ml_dtypes.int2, np.int8),
        (_T.UINT2, ml_dtypes.uint2, np.uint8),
    )
}
"""The types by ONNX's numbers."""

_BY_DTYPE: Mapping[np.dtype, Narrow] = {n.dtype: n for n in BY_CODE.values()}


def narrow_of(dtype: np.dtype) -> Narrow | None:
    """The narrow type of a dtype of ml_dtypes; None for any other."""
    return _BY_DTYPE.get(dtype)


def carried(array: np.ndarray) -> np.ndarray:
    """The array as a program has it: itself, or the exact values of a narrow type in a wider one."""
    narrow = narrow_of(array.dtype)
    return array if narrow is None else array.astype(narrow.carried)
