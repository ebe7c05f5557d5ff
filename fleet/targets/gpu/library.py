"""Matrix products as calls of cuBLAS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fleet.targets.riscv.kernels.kernel import ArrayOperand
from fleet.targets.riscv.kernels.matmul import lead_strides

_TYPES = {"float16": ("CUDA_R_16F", "CUBLAS_COMPUTE_32F"), "float32": ("CUDA_R_32F", "CUBLAS_COMPUTE_32F"),
          "float64": ("CUDA_R_64F", "CUBLAS_COMPUTE_64F")}  # fmt: skip
"""Dtype -> cuBLAS's word for it, and for that of the sums. float32 is not rounded to TF32."""


@dataclass(frozen=True)
class GemmOperand:
    """A matrix of a call.

    turned: whether its columns lie in one piece, not its rows. pitch: elements from one such piece to the next; step: from a matrix
    to the next.
    """

    turned: bool
    pitch: int
    step: int


@dataclass(frozen=True)
class GemmCall:
    """A call of cublasGemmStridedBatchedEx, for arrays in C order: out[count, rows, columns] = lhs[.., depth] @ rhs.

    dtype: of all three arrays. pitch, step: of `out`, as in `GemmOperand`.
    """

    dtype: np.dtype
    count: int
    rows: int
    columns: int
    depth: int
    lhs: GemmOperand
    rhs: GemmOperand

    @property
    def types(self) -> tuple[str, str]:
        """cuBLAS's words for the dtype and for that of the sums."""
        return _TYPES[self.dtype.name]

    def text(self, out: str, lhs: str, rhs: str) -> str:
        """Return the call as it stands in C; its operands are addresses. cuBLAS's matrices lie in columns: it gets all turned."""
        type_, sums = self.types
        turned = [f"CUBLAS_OP_{'T' if one.turned else 'N'}" for one in (self.rhs, self.lhs)]
        given = [f"{name}, {type_}, {one.pitch}, {one.step}" for name, one in ((rhs, self.rhs), (lhs, self.lhs))]
        sizes = f"{self.columns}, {self.rows}, {self.depth}"
        result = f"{out}, {type_}, {self.columns}, {self.rows * self.columns}"
        rest = f"&zero, {result}, {self.count}, {sums}, CUBLAS_GEMM_DEFAULT"
        return f"cublasGemmStridedBatchedEx(cublas, {', '.join(turned)}, {sizes}, &one, {', '.join(given)}, {rest});"


def gemm_of(out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand) -> GemmCall | None:
    """Return the call for out = lhs @ rhs, or None if cuBLAS has none for these dtypes or for how the arrays lie."""
    if out.dtype.name not in _TYPES or not lhs.dtype == rhs.dtype == out.dtype or 0 in (*lhs.shape, *rhs.shape):
        return None
    if lhs.constant is not None or rhs.constant is not None:
        return None
    lead, (rows, columns), depth = out.shape[:-2], out.shape[-2:], lhs.shape[-1]
    left, right = _operand(lhs, lead), _operand(rhs, lead)
    if left is None or right is None:
        return None
    count = math.prod(lead)
    if count > 1 and right.step == 0 and not left.turned and left.step == rows * left.pitch:  # one product of more rows
        count, rows, left = 1, count * rows, GemmOperand(turned=False, pitch=left.pitch, step=0)
    return GemmCall(out.dtype, count, rows, columns, depth, left, right)


def _operand(array: ArrayOperand, lead: tuple[int, ...]) -> GemmOperand | None:
    step = _step(lead, lead_strides(array, lead))
    (rows, columns), (down, along) = array.shape[-2:], array.strides[-2:]
    if step is None or step < 0:
        return None
    if (along == 1 or columns == 1) and (rows == 1 or down >= columns):
        return GemmOperand(turned=False, pitch=down if rows > 1 else columns, step=step)
    if (down == 1 or rows == 1) and (columns == 1 or along >= rows):
        return GemmOperand(turned=True, pitch=along if columns > 1 else rows, step=step)
    return None


def _step(sizes: Sequence[int], strides: Sequence[int]) -> int | None:
    """Return the one stride over all leading dimensions, None if there is none."""
    kept = [(size, stride) for size, stride in zip(sizes, strides, strict=True) if size > 1]
    if any(stride != size_in * stride_in for (_, stride), (size_in, stride_in) in pairwise(kept)):
        return None
    return kept[-1][1] if kept else 0
