"""Simplifies operand values: sets blocks to zeros or one constant, by halving into smaller parts, then single values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fleet.isa.memory import as_bytes
from fleet.sdk import Write
from fleet.verify.shrink.oracle import ShrinkOracle
from fleet.verify.shrink.sparse import Sparse

_CONSTANTS = (b"\x01", b"\x00\x3c", b"\x01\x00\x00\x00", b"\x11")
"""The number one as byte, FP16, int32 and INT4; each is repeated."""
_SMALLEST = 2
_ATTEMPTS = 400
_SINGLE = 24


def simpler_values(oracle: ShrinkOracle) -> None:
    """Remove unneeded blocks, and fill the others with constants and zeros as far as the failure allows."""
    parameters = dict(oracle.best.case.parameters)
    for address in sorted(parameters):
        fewer = {k: v for k, v in oracle.best.case.parameters.items() if k != address}
        oracle.improves(replace(oracle.best, case=replace(oracle.best.case, parameters=fewer)))
    if not oracle.best.case.blocks:
        return
    if _blocks(oracle, ()):
        return
    limit = oracle.ran + _ATTEMPTS
    _zeros(oracle, limit)
    for i in range(len(oracle.best.case.blocks)):
        _constant(oracle, i)
    _blocks(oracle, trimmed(oracle.best.case.blocks))
    _single(oracle)


def trimmed(blocks: Sequence[Write]) -> tuple[Write, ...]:
    """Return the same memory in as few lines of 64 bytes as possible."""
    memory = Sparse()
    for b in blocks:
        memory.put(b.space, b.bank, b.offset, b.data)
    return memory.blocks()


def _blocks(oracle: ShrinkOracle, blocks: Sequence[Write]) -> bool:
    return oracle.improves(replace(oracle.best, case=replace(oracle.best.case, blocks=tuple(blocks))))


def _zeros(oracle: ShrinkOracle, limit: int) -> None:
    """Set parts of all blocks, taken as one row of bytes, to 0; halve a part that is needed and try again."""
    sizes = [b.data.size for b in oracle.best.case.blocks]
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    waiting = [(0, sum(sizes))]
    while waiting and oracle.ran < limit:
        low, high = waiting.pop(0)  # largest parts first
        blocks, changed = list(oracle.best.case.blocks), False
        for i, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            a, b = max(low - start, 0), min(high - start, size)
            if a < b and as_bytes(blocks[i].data)[a:b].any():
                data = as_bytes(blocks[i].data).copy()
                data[a:b] = 0
                blocks[i], changed = replace(blocks[i], data=data), True
        if not changed or _blocks(oracle, blocks) or high - low <= _SMALLEST:
            continue
        middle = _middle(starts, low, high)
        waiting += [(low, middle), (middle, high)]


def _middle(starts: Sequence[int], low: int, high: int) -> int:
    """Return where to cut a part: at a border between blocks, else at a round offset near its middle."""
    inside = [s for s in starts if low < s < high]
    if inside:
        return min(inside, key=lambda s: abs(2 * s - low - high))
    begin = max(s for s in starts if s <= low)
    step = 1 << max(1, (high - low).bit_length() - 2)
    middle = begin + (((low + high) // 2 - begin) // step) * step
    return middle if low < middle < high else (low + high + 1) // 2


def _constant(oracle: ShrinkOracle, index: int) -> None:
    """Set the rest of a block to one constant, only nonzero data or everywhere."""
    block = oracle.best.case.blocks[index]
    data = as_bytes(block.data)
    if not data.any():
        return
    for pattern in _CONSTANTS:
        full = np.resize(np.frombuffer(pattern, np.uint8), data.size)
        where = np.repeat(data.reshape(-1, 2).any(axis=1), 2) if data.size % 2 == 0 else data != 0
        for filled in (np.where(where, full, 0).astype(np.uint8), full):
            blocks = list(oracle.best.case.blocks)
            blocks[index] = replace(block, data=filled)
            if np.array_equal(filled, data) or _blocks(oracle, blocks):
                return


def _single(oracle: ShrinkOracle) -> None:
    """Simplify the few remaining 16-bit words one by one: 1 in FP16, 1, only the highest bit."""
    places = [
        (i, int(at))
        for i, b in enumerate(oracle.best.case.blocks)
        if b.data.size % 2 == 0
        for at in np.flatnonzero(as_bytes(b.data).reshape(-1, 2).any(axis=1))
    ]
    if len(places) > _SINGLE:
        return
    for i, at in places:
        words = as_bytes(oracle.best.case.blocks[i].data).view("<u2")
        now = int(words[at])
        for value in (0x3C00, 1, 1 << (now.bit_length() - 1), now & 0xFF00, now & 0x00FF):
            if value in (now, 0):
                continue
            new = words.copy()
            new[at] = value
            blocks = list(oracle.best.case.blocks)
            blocks[i] = replace(blocks[i], data=new.view(np.uint8))
            if _blocks(oracle, blocks):
                break
