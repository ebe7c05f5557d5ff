"""Sparse weights as docs/arithmetic.md has them, bit by bit in plain Python: from the text, nothing of the set is imported."""

from __future__ import annotations

INPUTS_OF_C = {4: 128, 2: 256, 1: 512}


def group_beats(n: int, k: int) -> list[str]:
    """The kinds of the beats of n inputs behind their scales, in order: "C" and "P"."""
    kinds: list[str] = []
    for c in range(-(-n // INPUTS_OF_C[k])):
        if (k == 4 and c % 2 == 0) or (k != 4 and c % 4 != 3):
            kinds.append("P")
        kinds.append("C")
    return kinds


def channel_bytes(chin: int, k: int) -> int:
    return sum(32 * (1 + len(group_beats(min(2048, chin - first), k))) for first in range(0, chin, 2048))


def bit(beat: bytes, i: int) -> int:
    return beat[i // 8] >> i % 8 & 1


def nibble(beat: bytes, i: int) -> int:
    return beat[i // 2] >> 4 * (i % 2) & 15


def read_group(data: bytes, n: int, k: int) -> list[int]:
    """Nibbles of n inputs from the beats behind the scales."""
    beats = [data[i : i + 32] for i in range(0, len(data), 32)]
    kinds = group_beats(n, k)
    assert len(beats) == len(kinds)
    codes = [b for b, kind in zip(beats, kinds, strict=True) if kind == "C"]
    places = [b for b, kind in zip(beats, kinds, strict=True) if kind == "P"]
    out = [0] * (len(codes) * INPUTS_OF_C[k])
    if k == 4:
        for block in range(len(out) // 8):
            number = 0
            for i in range(8 * block, 8 * block + 8):
                if bit(places[i // 256], i % 256):
                    if number < 4:
                        code = 4 * block + number
                        out[i] = nibble(codes[code // 64], code % 64)
                    number += 1
        return out[:n]
    for c, beat in enumerate(codes):
        of_four, turn = divmod(c, 4)
        for code in range(64):
            if turn < 3:
                place = sum(bit(places[3 * of_four + turn], 3 * code + b) << b for b in range(3))
            else:
                place = sum(bit(places[3 * of_four + b], 192 + code) << b for b in range(3))
            out[c * INPUTS_OF_C[k] + 8 * (code // k) + place] = nibble(beat, code)
    return out[:n]


def read_channel(data: bytes, chin: int, k: int) -> tuple[list[int], list[int]]:
    """(nibbles of all inputs, FP16 bits of the scales of 128 inputs) of a channel's stream."""
    nibbles: list[int] = []
    scales: list[int] = []
    at = 0
    for first in range(0, chin, 2048):
        n = min(2048, chin - first)
        scales += [data[at + 2 * g] | data[at + 2 * g + 1] << 8 for g in range(-(-n // 128))]
        size = 32 * len(group_beats(n, k))
        nibbles += read_group(data[at + 32 : at + 32 + size], n, k)
        at += 32 + size
    assert at == len(data)
    return nibbles, scales


def keep(weights: list[float], k: int) -> list[bool]:
    """Which weights of a channel are kept: the k largest magnitudes of each block of 8, of equal ones the first."""
    kept = [False] * len(weights)
    for first in range(0, len(weights), 8):
        block = range(first, min(first + 8, len(weights)))
        for _ in range(min(k, len(block))):
            best = None
            for i in block:
                if not kept[i] and (best is None or abs(weights[i]) > abs(weights[best])):
                    best = i
            assert best is not None
            kept[best] = True
    return kept
