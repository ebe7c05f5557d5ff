"""From the bytes of a divergent commit to the first wrong tile, the first wrong beat, and what the wrong bits have in common."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from fleet.compare.account import FirstBeat, Tiles
from fleet.engines.rtl_sim.beats import Beat
from fleet.sdk import Device, Memory, Write

_TILE = 64  # bytes of a tile if the instruction states its destination as one block
_SHIFTS = 64  # most elements by which a result may be shifted
_FEW = 8


def first_tile(device: Device, writes: Sequence[Write], memory: Memory) -> Tiles | None:
    """Return the first block of the destination that `memory` does not hold, in the instruction's order of writing, or None.

    If the destination is one block, its 64-byte lines are the blocks.
    """
    tiles: list[tuple[Write, int, int]] = []
    for w in writes:
        step = w.data.size if len(writes) > 1 else _TILE
        tiles += [(w, at, min(step, w.data.size - at)) for at in range(0, w.data.size, max(step, 1))]
    wrong = [
        i
        for i, (w, at, size) in enumerate(tiles)
        if not np.array_equal(memory.view(w.space, w.offset + at, size, w.bank), w.data.reshape(-1)[at : at + size])
    ]
    if not wrong:
        return None
    w, at, size = tiles[wrong[0]]
    return Tiles(wrong[0], len(tiles), len(wrong), device.place(w.space, w.bank, w.offset + at), size)


def first_beat(device: Device, writes: Sequence[Write], beats: Sequence[Beat]) -> FirstBeat | None:
    """Return the first beat, in time, that wrote another value, or elsewhere, than the instruction should.

    Args:
        writes: what it should have written. beats: what its commit wrote, in order of time.

    Returns:
        The beat; one of kind "missing" if all beats are right but some are absent; None if nothing differs.
    """
    starts: dict[tuple[str, int], list[tuple[int, Write]]] = {}
    for w in writes:
        starts.setdefault((w.space, w.bank), []).append((w.offset, w))
    for found in starts.values():
        found.sort(key=lambda pair: pair[0])
    seen: dict[tuple[str, int], set[int]] = {}
    for number, beat in enumerate(beats):
        where = np.flatnonzero(beat.written)
        blocks = starts.get((beat.space, beat.bank), [])
        for i in where:
            address = beat.offset + int(i)
            at = bisect_right(blocks, address, key=lambda pair: pair[0]) - 1
            w = blocks[at][1] if at >= 0 else None
            if w is None or address >= w.offset + w.data.size:
                text = _hex(beat.data[where])
                return FirstBeat(
                    beat.cycle,
                    number,
                    len(beats),
                    "outside the destination",
                    device.place(beat.space, beat.bank, address),
                    "nothing",
                    text,
                )
            if int(w.data.reshape(-1)[address - w.offset]) != int(beat.data[i]):
                inside = [j for j in where if w.offset <= beat.offset + int(j) < w.offset + w.data.size]
                right = w.data.reshape(-1)[[beat.offset + int(j) - w.offset for j in inside]]
                return FirstBeat(
                    beat.cycle, number, len(beats), "wrong value", device.place(beat.space, beat.bank, beat.offset), _hex(right),
                    _hex(beat.data[inside]),
                )  # fmt: skip
            seen.setdefault((beat.space, beat.bank), set()).add(address)
    for w in writes:
        for i in range(w.data.size):
            if w.offset + i not in seen.get((w.space, w.bank), set()):
                text = _hex(w.data.reshape(-1)[i : i + 64])
                return FirstBeat(None, 0, len(beats), "missing", device.place(w.space, w.bank, w.offset + i), text, "never written")
    return None


def _hex(data: np.ndarray) -> str:
    """Return bytes as 32-bit words; a run of one word as its count."""
    if data.size % 4:
        return data.tobytes().hex()
    words = data.tobytes()
    texts = [words[i : i + 4][::-1].hex() for i in range(0, len(words), 4)]
    if len(texts) > 1 and len(set(texts)) == 1:
        return f"{len(texts)} x {texts[0]}"
    return " ".join(texts[:_FEW]) + (" ..." if len(texts) > _FEW else "")


def pattern(writes: Sequence[Write], memory: Memory, before: Memory) -> tuple[str, ...]:
    """Describe what the wrong elements have in common, a line each: which bits differ, which lanes, where the values come from.

    before: memory as the instruction found it, which shows what was not written.
    """
    lines: list[str] = []
    expected: list[np.ndarray] = []
    found: list[np.ndarray] = []
    old: list[np.ndarray] = []
    kind = np.dtype(writes[0].dtype or "<f2") if writes else np.dtype("u1")
    if any(w.offset % kind.itemsize or w.data.size % kind.itemsize for w in writes):
        kind = np.dtype("u1")
    word = np.dtype(f"<u{kind.itemsize}")
    places: list[np.ndarray] = []
    for w in writes:
        expected.append(np.ascontiguousarray(w.data.reshape(-1)).view(word))
        found.append(memory.view(w.space, w.offset, w.data.size, w.bank).copy().view(word))
        old.append(before.view(w.space, w.offset, w.data.size, w.bank).copy().view(word))
        places.append(w.offset // kind.itemsize + np.arange(w.data.size // kind.itemsize))
    if not expected:
        return ()
    a, b, c, at = (np.concatenate(x) for x in (expected, found, old, places))
    wrong = np.flatnonzero(a != b)
    if not wrong.size:
        return ()
    xor = a[wrong] ^ b[wrong]
    digits = 2 * kind.itemsize
    either, always = int(np.bitwise_or.reduce(xor)), int(np.bitwise_and.reduce(xor))
    share = f"{wrong.size:,} of {a.size:,} elements"
    if either == always:
        which = [i for i in range(8 * kind.itemsize) if either >> i & 1]
        stuck = int(np.bitwise_and.reduce(b[wrong])) & either, int(np.bitwise_or.reduce(b[wrong])) & either
        way = ", found always 1" if stuck[0] == either else ", found always 0" if stuck[1] == 0 else ""
        names = f"bit {which[0]}" if len(which) == 1 else f"bits {', '.join(map(str, which))}"
        lines.append(f"{share} differ, each in {names} alone (mask {either:#0{2 + digits}x}){way}")
    else:
        lines.append(f"{share} differ; bits {either:#0{2 + digits}x} in some, {always:#0{2 + digits}x} in all of them")
    if wrong.size > 1:
        for period in (128, 64, 32, 16, 8, 4, 2):
            lanes = np.unique(at[wrong] % period)
            if lanes.size == 1 and wrong.size < a.size:
                lines.append(
                    f"all at element {int(lanes[0])} of every {period} (element {int(at[wrong][0])} of the space is the first)"
                )
                break
    if not b[wrong].any():
        lines.append("found is 0 wherever it differs")
    if np.array_equal(b[wrong], c[wrong]):
        lines.append("found is what stood there before: it was not written")
    elif wrong.size > 1:
        lines += _shifted(a, b, wrong)
    return tuple(lines)


def _shifted(expected: np.ndarray, found: np.ndarray, wrong: np.ndarray) -> list[str]:
    """Describe whether the found values are the expected ones some elements away, if they are not all equal."""
    for shift in (s for n in range(1, _SHIFTS + 1) for s in (n, -n)):
        inside = wrong[(wrong + shift >= 0) & (wrong + shift < expected.size)]
        if inside.size < max(2, wrong.size // 2) or np.unique(found[inside]).size < 2:
            continue
        if np.array_equal(found[inside], expected[inside + shift]):
            way = "behind" if shift > 0 else "before"
            return [
                f"found is what is expected {abs(shift)} element{'s' * (abs(shift) > 1)} {way} (in {inside.size} of {wrong.size})"
            ]
    return []
