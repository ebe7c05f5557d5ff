"""The MVM's product as compiled code on packed weights; `fleet.sets.hbm0923.numerics.mvm.accumulate` does the same in NumPy.
The code of attention's dot products is here too; `fleet.sets.hbm0923.numerics.dots` calls it.

All compute docs/arithmetic.md bit for bit. Tests compare them with each other, and both with exact rationals.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fleet.sdk import Device, Memory
from fleet.sdk.native import Target, compile_library, target
from fleet.sets.hbm0923.kernel._sizes import CHANNELS, DIGITS, UNIT
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, BEAT_CODES, MvmFields, ceil_div, channel_bytes
from fleet.sets.hbm0923.ranges import feature_hull
from fleet.sets.hbm0923.weights import dense_ports

_HERE = Path(__file__).resolve().parent
_NAMES = ("_sizes", "_lanes", "_extremes", "_rounding", "_split", "_product", "_dots", "../numerics/sum_bounds")
_SOURCES = tuple(_HERE / f"{name}.py" for name in _NAMES)
_P, _N = ctypes.c_void_p, ctypes.c_int64
_SPLIT = (_N, [_P, _N, _N, _N, _N, _P, _P, _P, _P, _P, _P, _P])
_PRODUCT = (_N, [_P, _N, _N, _N, _N, _N, _P, _P, _N, _P, _P, _P, _P, _P, _P, _P, _P, _P, _N])
_DOTS = (_N, [_P, _N, _P, _N, _N, _N, _P, _P, _P, _P, _P, _N])


def _build(for_target: Target) -> object:
    from llvmlite import ir

    from fleet.sets.hbm0923.kernel._dots import emit_dots
    from fleet.sets.hbm0923.kernel._lanes import lanes_of
    from fleet.sets.hbm0923.kernel._product import emit_product
    from fleet.sets.hbm0923.kernel._split import emit_split

    module = ir.Module("mvm")
    emit_split(module)
    emit_product(module, lanes_of(for_target))
    emit_dots(module, lanes_of(for_target))
    return module


@lru_cache(maxsize=4)
def library(for_target: Target) -> Mapping[str, Callable[..., Any]]:  # what their signatures say
    """The functions `split`, `product` and `dots`, whose arguments `_split`, `_product` and `_dots` explain."""
    return compile_library("hbm0923_mvm", for_target, _SOURCES, _build, {"split": _SPLIT, "product": _PRODUCT, "dots": _DOTS})


@lru_cache(maxsize=256)
def _offsets(tgroup: int, chin: int, tblk: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (codes, scales): the offset of every group in the bytes of a channel."""
    codes: list[int] = []
    scales: list[int] = []
    at = 0
    for first in range(0, chin, tgroup):
        n = min(tgroup, chin - first)
        groups = ceil_div(n, tblk)
        scales += (at + 2 * g for g in range(groups))
        at += BEAT_BYTES * ceil_div(groups, BEAT_BYTES // 2)
        codes += (at + g * tblk // 2 for g in range(groups))
        at += BEAT_BYTES * ceil_div(n, BEAT_CODES)
    return np.array(codes, np.int64), np.array(scales, np.int64)


def address(array: npt.NDArray[np.generic]) -> int:
    """Return the address of a writable, contiguous, non-empty array; five times as fast as NumPy's own way."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array.data))


def compiled_product(device: Device, o: MvmFields, memory: Memory) -> tuple[npt.NDArray[np.float32], bool] | None:
    """Return the sum over all groups, of every token and channel.

    Returns:
        float32 [channels, tokens] (a view with tokens outermost in memory), and whether any of them is `UNDECIDED`. None if the
        NumPy path must be taken: no code can be compiled on this machine or for the device's sizes, or a feature below CHin is
        infinite or NaN.

    Raises:
        DeviceError: an operand leaves the memory.
        SetupError: FLEET_KERNEL names a variant that this machine cannot run.
    """
    for_target = target()
    # The code takes scales eight groups at a time.
    if for_target is None or device.parameters["TgroupCh"] % (8 * o.tblk):
        return None
    functions = library(for_target)
    start, end = feature_hull(o.input, o.in_surfaces, o.in_surface, o.tokens)
    x = memory.view(o.spaces[0], start, end - start)
    size = channel_bytes(device, o.chin, o.tblk)
    ports = dense_ports(device, o, memory)
    units, all_units = o.tblk // UNIT, ceil_div(o.chin, UNIT)
    # Allocate for the worst case; untouched pages take no memory.
    digits = np.empty(DIGITS * o.tokens * all_units * UNIT, np.int8)
    meta = np.empty((4, o.groups, o.tokens), np.int64)
    of_tokens = np.empty((2, o.tokens), np.float64)
    arguments = (address(digits), *rows_of(meta), *rows_of(of_tokens))
    if functions["split"](address(x), o.in_surface, o.tokens, o.chin, units, *arguments) < 0:
        return None
    sums = np.empty((o.tokens + 1, CHANNELS), np.float64)  # from a multiple of 64 bytes on
    out = np.empty((o.tokens, ceil_div(o.chout, CHANNELS) * CHANNELS), np.float32)
    codes_at, scales_at = _offsets(device.parameters["TgroupCh"], o.chin, o.tblk)
    addresses = np.array([address(p) for p in ports], np.int64)
    undecided = functions["product"](
        address(addresses), device.parameters["Tout"], size, o.chout, units, all_units, address(codes_at), address(scales_at),
        o.tokens, *arguments, ceil_div(address(sums), 64) * 64, address(out), out.strides[0],
    )  # fmt: skip
    return out[:, : o.chout].T, bool(undecided)


def rows_of(array: npt.NDArray[np.generic]) -> range:
    """Return the addresses of the rows of a contiguous array."""
    first = address(array)
    return range(first, first + array.nbytes, array.strides[0])
