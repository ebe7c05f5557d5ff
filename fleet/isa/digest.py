"""The digest of a commit: a sum modulo 2^64 of a mix of (space, offset, byte) over the bytes written, each once.

A sum, so that the order of writes does not matter and hardware that writes in any order agrees; an offset in the mix,
so that a byte in the wrong place is seen; a byte that is written twice or not at all changes the sum. The C++ of the
memory models computes the same (rtl_models/memory); a test holds the two together on random data.
"""

from __future__ import annotations

import numpy as np

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
    flat = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return int(mix(space, offset + np.arange(flat.size, dtype=np.uint64), flat).sum(dtype=np.uint64))
