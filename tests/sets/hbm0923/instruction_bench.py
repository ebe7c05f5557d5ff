"""Runs one instruction on plain arrays: tensors are put in and taken out byte by byte by the formula of docs/arithmetic.md."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
from mvm_devices import ArrayMemory
from unit_exact import feature_offset

from fleet.sdk import Device, Write, contiguous
from fleet.sets.hbm0923.instructions import INSTRUCTIONS

SPECIAL = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7D01, 0xFE5A, 0x3C00, 0xBC00]
EPS = 0x358637BD

Tensor = list[list[list[int]]]
"""Bit patterns [line][token][channel]."""


def moderate(rng: random.Random) -> int:
    """A bit pattern of a number between 2^-8 and 2^3."""
    return rng.getrandbits(1) << 15 | rng.randint(7, 17) << 10 | rng.getrandbits(10)


def draw(rng: random.Random, kind: str) -> int:
    if kind == "special":
        return rng.choice(SPECIAL)
    if kind == "mixed" and rng.random() < 0.02:
        return rng.choice(SPECIAL)
    if kind == "finite":
        return rng.getrandbits(1) << 15 | rng.randrange(0x7C00)
    return rng.getrandbits(16) if kind == "bits" else moderate(rng)


def tensor(rng: random.Random, lines: int, tokens: int, channels: int, kind: str = "moderate") -> Tensor:
    return [[[draw(rng, kind) for _ in range(channels)] for _ in range(tokens)] for _ in range(lines)]


def make_memory(device: Device, ddr: int = 1 << 20, hbm: int = 1 << 18) -> ArrayMemory:
    """Filled with junk, so that nothing depends on what stands beside the operands."""
    memory = ArrayMemory(device.parameters["HbmPorts"], ddr, hbm)
    memory.spaces["onchip", 0] = np.zeros(2 * device.parameters["OnchipDepth"] * 64, np.uint8)
    memory.spaces["reg", 0] = np.zeros(1024, np.uint8)
    rng = np.random.default_rng(7)
    for key, space in memory.spaces.items():
        if key[0] != "reg":
            space[:] = rng.integers(0, 256, space.size, np.uint8)
    put_words(memory, 4 * 224, [EPS], "reg")
    return memory


def put16(memory: ArrayMemory, at: int, bits: int, space: str = "ddr", bank: int = 0) -> None:
    memory.view(space, at, 2, bank)[:] = (bits & 0xFF, bits >> 8)


def get16(memory: ArrayMemory, at: int, space: str = "ddr", bank: int = 0) -> int:
    low, high = memory.view(space, at, 2, bank)
    return int(low) | int(high) << 8


def put_words(memory: ArrayMemory, at: int, words: Sequence[int], space: str = "ddr") -> None:
    memory.view(space, at, 4 * len(words))[:] = np.frombuffer(b"".join(w.to_bytes(4, "little") for w in words), np.uint8)


def put(memory: ArrayMemory, t: Tensor, base: int, surface: int, line: int, space: str = "ddr") -> None:
    for h, tokens in enumerate(t):
        for w, channels in enumerate(tokens):
            for c, bits in enumerate(channels):
                put16(memory, base + feature_offset(surface, line, h, c, w), bits, space)


def get(memory: ArrayMemory, shape: tuple[int, int, int], base: int, surface: int, line: int, space: str = "ddr") -> Tensor:
    lines, tokens, channels = shape
    return [
        [[get16(memory, base + feature_offset(surface, line, h, c, w), space) for c in range(channels)] for w in range(tokens)]
        for h in range(lines)
    ]


def execute(device: Device, name: str, fields: Mapping[str, int], memory: ArrayMemory) -> list[Write]:
    """Legality, execution and ranges: exactly the bytes of `writes` are written, each once. Applies the writes."""
    cls = INSTRUCTIONS[name]
    assert cls.legal(device, fields) == []
    assert cls.refusal(device, fields) is None
    before = {key: space.copy() for key, space in memory.spaces.items()}
    writes = contiguous(cls.execute(device, fields, memory))
    for key, space in memory.spaces.items():
        assert np.array_equal(before[key], space), "execute wrote by itself"
    written = covered((w.space, w.bank, w.offset, w.data.size) for w in writes)
    assert written == covered((r.space, r.bank, r.offset, r.size) for r in cls.writes(device, fields))
    for w in writes:
        memory.view(w.space, w.offset, w.data.size, w.bank)[:] = w.data
    return writes


def covered(blocks: object) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """Bytes by space, as merged intervals; fails on overlap."""
    found: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for space, bank, at, size in sorted(blocks):  # pyright: ignore
        spans = found.setdefault((space, bank), [])
        assert not spans or spans[-1][1] <= at, "written twice"
        if spans and spans[-1][1] == at:
            spans[-1] = (spans[-1][0], at + size)
        else:
            spans.append((at, at + size))
    return found


def reads_only_ranges(device: Device, name: str, fields: Mapping[str, int], memory: ArrayMemory) -> None:
    """Junk outside of `reads` changes nothing, and every range that is read lies within memory."""
    cls = INSTRUCTIONS[name]
    first = [(w.offset, w.data.copy()) for w in contiguous(cls.execute(device, fields, memory))]
    keep = {key: np.zeros(space.size, bool) for key, space in memory.spaces.items()}
    for r in cls.reads(device, fields):
        keep[r.space, r.bank][r.offset : r.offset + r.size] = True
    for key, space in memory.spaces.items():
        if key[0] != "reg":
            space[~keep[key]] ^= 0x5A
    again = [(w.offset, w.data) for w in contiguous(cls.execute(device, fields, memory))]
    assert len(first) == len(again)
    assert all(a == b and np.array_equal(x, y) for (a, x), (b, y) in zip(first, again, strict=True))
