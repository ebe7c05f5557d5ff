"""The digest of a commit: a sum modulo 2^64 of a mix of (space, offset, byte) over the bytes written, each once.

A sum, so that the order of writes does not matter and hardware that writes in any order agrees; an offset in the mix,
so that a byte in the wrong place is seen; a byte that is written twice or not at all changes the sum. The C++ of the
memory models computes the same (rtl_models/memory); a test holds the two together on random data.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.memory import as_bytes
from fleet.sdk import Device, Write
from fleet.sdk.hardware.state import ARRAY_0, REGISTERS
from fleet.sdk.native import Target, compile_library, target

DDR, STATE = 0, 1
HBM_PORT_0 = 16
"""Numbers of spaces in the mix: STATE is the state registers, HBM_PORT_0 + p is port p, and on-chip memories have their own."""

_MANY = 16
_M1 = np.uint64(0x9E3779B97F4A7C15)
_M2 = np.uint64(0xD6E8FEB86659FD93)
_S = np.uint64(32)


def mix(space: int, offsets: np.ndarray, values: np.ndarray) -> np.ndarray:
    """uint64 mix of each byte. offsets: any integer shape, below 2^40; values: uint8, same shape."""
    x = offsets.astype(np.uint64, copy=False) << np.uint64(8)
    x ^= np.uint64(space) << np.uint64(48)
    x ^= values
    x *= _M1
    x ^= x >> _S
    x *= _M2
    x ^= x >> _S
    return x


def space_number(device: Device, space: str, bank: int = 0) -> int:
    """The number of a space. Raises DeviceError where the device has none of that name."""
    if space == "ddr":
        return DDR
    if space == "hbm":
        return HBM_PORT_0 + bank
    if space == REGISTERS:
        return STATE
    if space not in device.arrays:
        raise DeviceError(f"no memory '{space}'", where=device.name, hint=f"expected one of {', '.join(_spaces(device))}")
    return device.arrays[space].number


def space_named(device: Device, number: int) -> tuple[str, int]:
    """(space, bank) of a number. Raises DeviceError where the device has no such space."""
    if number in (DDR, STATE):
        return ("ddr" if number == DDR else REGISTERS), 0
    if HBM_PORT_0 <= number < ARRAY_0:
        return "hbm", number - HBM_PORT_0
    for array in device.arrays.values():
        if array.number == number:
            return array.name, 0
    raise DeviceError(f"the hardware wrote to space {number}, which the description does not have", where=device.name)


def _spaces(device: Device) -> list[str]:
    return [*device.memory, *device.arrays, *([REGISTERS] if device.state.registers else [])]


def digest_writes(device: Device, writes: Sequence[Write]) -> int:
    """The digest of a commit that writes these blocks; those of space "reg" (result registers) do not count.

    Raises DeviceError for a space that the device does not have.
    """
    by_space: dict[int, list[tuple[int, np.ndarray]]] = {}
    total = 0
    for w in writes:
        if w.strides:
            total += _digest_rows(space_number(device, w.space, w.bank), w.starts(), w.data)
        elif w.space != "reg":
            by_space.setdefault(space_number(device, w.space, w.bank), []).append((w.offset, w.data))
    return (total + sum(digest_blocks(number, blocks) for number, blocks in by_space.items())) % (1 << 64)


def digest(space: int, offset: int, data: np.ndarray) -> int:
    """Digest of a contiguous block of bytes that starts at `offset`; add digests of several blocks modulo 2^64."""
    return digest_blocks(space, [(offset, data)])


def digest_blocks(space: int, blocks: Sequence[tuple[int, np.ndarray]]) -> int:
    """Digest of several blocks of one space: (offset, contiguous bytes) each."""
    if not blocks:
        return 0
    flat = [(offset, data if data.dtype == np.uint8 and data.ndim == 1 else as_bytes(data)) for offset, data in blocks]
    for_target = target()
    if for_target is not None:
        table = np.empty((len(flat), 3), np.int64)
        table[:, 0] = [offset for offset, _ in flat]
        table[:, 2] = [data.size for _, data in flat]
        if len(flat) > _MANY:  # of thousands of small blocks the bytes are copied sooner than their addresses are asked for
            whole = np.concatenate([data for _, data in flat])
            table[:, 1] = whole.__array_interface__["data"][0] + np.cumsum(table[:, 2]) - table[:, 2]
        else:
            flat = [(offset, np.ascontiguousarray(data)) for offset, data in flat]
            table[:, 1] = [data.__array_interface__["data"][0] for _, data in flat]
        return _compiled(for_target)(space, table.__array_interface__["data"][0], len(flat))
    offsets = np.concatenate([np.arange(offset, offset + data.size, dtype=np.uint64) for offset, data in flat])
    return int(mix(space, offsets, np.concatenate([data for _, data in flat])).sum(dtype=np.uint64))


def _digest_rows(space: int, starts: np.ndarray, data: np.ndarray) -> int:
    """Digest of blocks of one size. starts: int64, flat; data: [..., size], as many blocks."""
    rows = np.ascontiguousarray(data).reshape(len(starts), data.shape[-1])
    size = rows.shape[1]
    for_target = target()
    if for_target is None:
        return int(mix(space, starts[:, None] + np.arange(size), rows).sum(dtype=np.uint64))
    table = np.empty((len(rows), 3), np.int64)
    table[:, 0] = starts
    table[:, 1] = rows.__array_interface__["data"][0] + size * np.arange(len(rows))
    table[:, 2] = size
    return _compiled(for_target)(space, table.__array_interface__["data"][0], len(rows))


@lru_cache(maxsize=4)
def _compiled(for_target: Target) -> Callable[[int, int, int], int]:
    """The digest of an image, compiled. Arguments: space, address of a table of (offset, address, size), 64 bits each, length."""
    number = ctypes.c_uint64
    signatures = {"digest": (number, (number, ctypes.c_void_p, number))}
    return compile_library("digest", for_target, [Path(__file__)], _build, signatures)["digest"]


def _build(_: Target) -> Any:
    from llvmlite import ir

    from fleet.sdk.native_ir import I8, I64, POINTER, NativeEmitter

    module = ir.Module("digest")
    e = NativeEmitter(module, "digest", I64, (("space", I64), ("table", POINTER), ("blocks", I64)))
    b, total = e.builder, e.room(I64)
    e.store(e.number(0), total, align=8)
    place = b.shl(e["space"], e.number(48))
    with e.loop(0, e["blocks"]) as n:
        block = e.at(e["table"], e.scaled(n, 24))
        offset, data, size = e.load(I64, block), e.load(POINTER, block, 8), e.load(I64, block, 16)
        with e.loop(0, size) as i:
            x = b.xor(b.shl(b.add(offset, i), e.number(8)), b.xor(place, b.zext(e.load(I8, data, i), I64)))
            for factor in (_M1, _M2):
                x = b.mul(x, e.number(int(factor)))
                x = b.xor(x, b.lshr(x, e.number(int(_S))))
            e.store(b.add(e.load(I64, total, align=8), x), total, align=8)
    b.ret(e.load(I64, total, align=8))
    return module
