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

from fleet.sdk.native import Target, compile_library, target

DDR, ONCHIP, REGISTER = 0, 1, 2
HBM_PORT_0 = 16
"""Space numbers of the mix: HBM port p is HBM_PORT_0 + p. An instruction set may name further spaces from 256 up."""

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


def digest(space: int, offset: int, data: np.ndarray) -> int:
    """Digest of a contiguous block of bytes that starts at `offset`; add digests of several blocks modulo 2^64."""
    return digest_blocks(space, [(offset, data)])


def digest_blocks(space: int, blocks: Sequence[tuple[int, np.ndarray]]) -> int:
    """Digest of several blocks of one space: (offset, contiguous bytes) each."""
    flat = [(offset, np.ascontiguousarray(data).reshape(-1).view(np.uint8)) for offset, data in blocks]
    for_target = target()
    if for_target is not None:
        table = np.array([(offset, data.__array_interface__["data"][0], data.size) for offset, data in flat], np.int64)
        return _compiled(for_target)(space, table.__array_interface__["data"][0], len(flat))
    if not flat:
        return 0
    offsets = np.concatenate([np.arange(offset, offset + data.size, dtype=np.uint64) for offset, data in flat])
    return int(mix(space, offsets, np.concatenate([data for _, data in flat])).sum(dtype=np.uint64))


@lru_cache(maxsize=4)
def _compiled(for_target: Target) -> Callable[[int, int, int], int]:
    """The same, compiled: space, address of a table of (offset, address, size) in 64 bits each, its length."""
    number = ctypes.c_uint64
    signatures = {"digest": (number, (number, ctypes.c_void_p, number))}
    return compile_library("digest", for_target, [Path(__file__)], _build, signatures)["digest"]


def _build(_: Target) -> Any:
    from llvmlite import ir

    from fleet.sdk.native_ir import I8, I64, POINTER, Emitter

    module = ir.Module("digest")
    e = Emitter(module, "digest", I64, (("space", I64), ("table", POINTER), ("blocks", I64)))
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
