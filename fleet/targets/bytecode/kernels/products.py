"""Matrix products of the VM: NumPy's, and for int32 a compiled kernel with bit-identical results.

NumPy multiplies integers one by one. The integers of quantised models are 8-bit codes minus a zero point and fit into int16, which
vector instructions multiply in pairs (`fleet.targets.bytecode.kernels.integer_kernel`); many small products with a few rows take
any int32. `FLEET_KERNEL=numpy` selects NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fleet.sdk.native import Target, target
from fleet.targets.bytecode.kernels.integer_kernel import library, sizes_of

_LEAST = 1 << 14
"""Minimum number of multiplications for which packing the operands pays off."""
_FEW = 4
"""Minimum rows and columns: with fewer, packing costs as much as multiplying."""
_LOW, _HIGH = -(1 << 15), (1 << 15) - 1


def matmul(x: Any, y: Any) -> Any:
    """Return `numpy.matmul`, bit for bit."""
    if not _is_integers(x) or not _is_integers(y) or y.shape[-2] != x.shape[-1]:
        return np.matmul(x, y)
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows, inputs, columns = *x.shape[-2:], y.shape[-1]
    together = math.prod(x.shape[:-1]) if y.ndim == 2 else rows
    if columns < _FEW or math.prod(lead) * rows * inputs * columns < _LEAST:
        return np.matmul(x, y)
    for_target = target()
    if for_target is None:
        return np.matmul(x, y)
    if together < _FEW:
        return _few_rows(for_target, x, y, lead)
    if x.min() < _LOW or x.max() > _HIGH:
        return np.matmul(x, y)
    if y.ndim == 2:
        found = _product(for_target, x.reshape(-1, inputs), y)
        return np.matmul(x, y) if found is None else found.reshape(*x.shape[:-1], columns)
    left, right = np.broadcast_to(x, (*lead, rows, inputs)), np.broadcast_to(y, (*lead, inputs, columns))
    whole = np.empty((*lead, rows, columns), np.int32)
    for at in np.ndindex(lead):
        found = _product(for_target, left[at], right[at])
        if found is None:
            return np.matmul(x, y)
        whole[at] = found
    return whole


def _few_rows(for_target: Target, x: np.ndarray, y: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
    """Return x @ y, one matrix at a time: products of depthwise convolutions."""
    rows, inputs, columns = *x.shape[-2:], y.shape[-1]
    left, right = _repeated(x, lead), _repeated(y, lead)
    found = np.empty((*lead, rows, columns), np.int32)
    library(for_target)["few_rows"](
        left.ctypes.data, right.ctypes.data, found.ctypes.data, math.prod(lead), rows, inputs, columns
    )  # fmt: skip
    return found


def _repeated(x: np.ndarray, lead: tuple[int, ...]) -> np.ndarray:
    """Return the matrices of x for every index of the leading dimensions `lead`, C-contiguous."""
    if math.prod(x.shape[:-2]) != math.prod(lead):
        x = np.broadcast_to(x, (*lead, *x.shape[-2:]))
    return np.ascontiguousarray(x)


def _is_integers(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == np.int32 and x.ndim >= 2


def _product(for_target: Target, x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Return x int16 [rows, inputs] times y int32 [inputs, columns], as a view of whole blocks; None if y exceeds int16."""
    rows, inputs, columns = *x.shape, y.shape[1]
    pairs, block = -(-inputs // 2), sizes_of(for_target).columns
    if inputs % 2:
        left = np.zeros((rows, 2 * pairs), np.int16)
        left[:, :inputs] = x
    else:
        left = x.astype(np.int16, order="C")
    right = y
    if inputs % 2 or not y.flags.c_contiguous:
        right = np.zeros((2 * pairs, columns), np.int32)
        right[:inputs] = y
    found = np.empty((rows, -(-columns // block) * block), np.int32)
    panel = np.empty(pairs * block, np.int32)
    beyond = library(for_target)["product"](
        left.ctypes.data, left.strides[0], right.ctypes.data, right.strides[0], found.ctypes.data, found.strides[0],
        panel.ctypes.data, rows, pairs, columns,
    )  # fmt: skip
    return None if beyond else found[:, :columns]
