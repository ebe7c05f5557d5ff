"""Random legal instructions of the SFU and of elementwise, with what memory must hold after them (sfu_reference)."""

from __future__ import annotations

import numpy as np
import sfu_reference as ref
from numpy.typing import NDArray
from unit_bench import Feature, Memory, Sizes

KINDS = {"pos_emb": (4, 4), "softmax": (5, 8), "act": (6, 0x10), "norm": (7, 0x20), "elementwise": (1, 1)}
"""Opcode and start value."""


class Places:
    """Gives out memory that nobody else has: DDR in order, one on-chip half each for input and output."""

    def __init__(self, random: np.random.Generator, sizes: Sizes) -> None:
        self.random, self.sizes, self.next = random, sizes, 64 * int(random.integers(0, 5))

    def ddr(self, size: int) -> int:
        address = self.next
        self.next += -(-size // 64) * 64 + 64 * int(self.random.integers(0, 3))
        assert self.next <= self.sizes.megabytes << 20
        return address

    def feature(self, lines: int, tokens: int, channels: int, half: int | None = None) -> Feature:
        """With strides of any legal kind; on chip where `half` says so and there is room."""
        r = self.random
        surfaces = -(-channels // 32)
        gap = [0, 0, 1, 5][r.integers(0, 4)]
        if r.random() < 0.5:  # surfaces inside a line
            surface = 64 * (tokens + gap)
            line = surface * surfaces + 64 * int(r.integers(0, 3))
        else:
            line = 64 * (tokens + gap)
            surface = line * lines + 64 * int(r.integers(0, 3))
        f = Feature(lines, tokens, channels, 0, surface, line)
        if half is not None and f.bytes <= self.sizes.half and r.random() < 0.4:
            f.onchip, f.addr = True, half * self.sizes.half + 64 * int(r.integers(0, (self.sizes.half - f.bytes) // 64 + 1))
        else:
            f.addr = self.ddr(f.bytes)
        return f


def values(random: np.random.Generator, shape: tuple[int, ...], scale: float = 2.0, wild: float = 0.3) -> NDArray[np.uint16]:
    """Bits of FP16: mostly numbers of a size that a model has, at times any pattern at all."""
    x = (random.normal(size=shape) * scale).astype(np.float16).view(np.uint16)
    if random.random() < wild:
        x = np.where(random.random(shape) < random.choice([0.01, 0.2]), random.integers(0, 1 << 16, shape, np.uint16), x)
    return x


def place(random: np.random.Generator, places: Places, shape: tuple[int, int, int]) -> tuple[Feature, Feature]:
    """Input and output, at times the same."""
    half = int(random.integers(0, 2))
    src = places.feature(*shape, half=half)
    if not src.onchip and random.random() < 0.3:
        return src, src
    return src, places.feature(*shape, half=1 - half)


def onchip_flags(src: Feature, dst: Feature, second: Feature | None = None) -> int:
    return int(src.onchip) + 2 * int(dst.onchip) + 4 * int(second is not None and second.onchip)


def shape_of(random: np.random.Generator, sizes: Sizes, channels: int) -> tuple[int, int]:
    """Lines and tokens, so that an instruction stays small."""
    beats = -(-channels // 32)
    tokens = int(random.choice([1, 2, 3, 17, 40, sizes.max_token]))
    tokens = max(1, min(tokens, 700 // beats))
    lines = int(random.choice([1, 1, 2, 3, 8]))
    return max(1, min(lines, 900 // (beats * tokens))), tokens


def norm(random: np.random.Generator, sizes: Sizes, memory: Memory, expected: Memory, places: Places) -> list[int]:
    layer = bool(random.integers(0, 2))
    channels = int(random.choice([1, 31, 32, 64, 96, 100, 128, 512, sizes.max_channels]))
    lines, tokens = shape_of(random, sizes, channels)
    src, dst = place(random, places, (lines, tokens, channels))
    table = places.ddr(128 * src.surfaces)
    x = values(random, (lines, tokens, channels))
    gamma, beta = values(random, (channels,), 1.0, 0.1), values(random, (channels,), 0.3, 0.1)
    for image in (memory, expected):
        image.put(src, x, clear=False)
        words = image.words(table, 32 * src.surfaces)
        words[:] = 0
        words[:channels] = gamma.astype(np.uint32) << 16 | beta
    inv = ref.fp20_of(1 / channels) + int(random.integers(0, 2))  # cut off, or the next one
    eps = int(np.float32(random.choice([0.0, 1e-5, 1e-6, 1e-12, 60000, -1e-5])).view(np.uint32))
    y = ref.norm(
        x.view(np.float16),
        gamma.view(np.float16),
        beta.view(np.float16),
        np.array([eps], np.uint32).view(np.float32)[0],
        layer,
    )
    expected.put(dst, y, clear=True)
    surfaces = src.surfaces + (channels % 32 << 16)
    operands = [table, src.addr, src.surface, src.line, dst.addr, dst.surface, dst.line, surfaces, lines, tokens, lines * tokens]
    return [KINDS["norm"][1], eps, *operands, inv, src.surfaces - 1, int(layer), onchip_flags(src, dst)]


def pos_emb(random: np.random.Generator, sizes: Sizes, memory: Memory, expected: Memory, places: Places) -> list[int]:
    channels = int(random.choice([64, 128]))
    lines, tokens = shape_of(random, sizes, channels)
    src, dst = place(random, places, (lines, tokens, channels))
    shared = bool(random.integers(0, 2))
    table = places.feature(1 if shared else lines, tokens, channels)
    x, t = values(random, (lines, tokens, channels)), values(random, (table.lines, tokens, channels), 1.0)
    for image in (memory, expected):
        image.put(src, x, clear=False)
        image.put(table, t, clear=False)
    expected.put(dst, ref.pos_emb(x.view(np.float16), np.broadcast_to(t, x.shape).view(np.float16)), clear=True)
    head = 0 if shared else table.line
    operands = [table.addr, src.addr, src.line, src.surface, dst.addr, dst.surface, dst.line, src.surfaces, tokens, 5, lines]
    return [KINDS["pos_emb"][1], 0, *operands, head, table.surface, 0, onchip_flags(src, dst)]


def softmax(random: np.random.Generator, sizes: Sizes, memory: Memory, expected: Memory, places: Places) -> list[int]:
    causal = bool(random.integers(0, 2))
    tokens = int(random.choice([1, 2, 5, 33, 70]))
    last = int(random.choice([0, 1, 31, 32, 100, sizes.max_token - tokens]))
    channels = tokens + last
    lines = int(random.choice([1, 2, 4]))
    src, dst = place(random, places, (lines, tokens, channels))
    x = values(random, (lines, tokens, channels), 3.0, 0.2)
    if random.random() < 0.2:
        x[:, 0, :] = random.choice(np.array([0xFC00, 0x7C00, 0x7E01, 0x8000], np.uint16))
    counts = last + 1 + np.arange(tokens) if causal else np.full(tokens, channels)
    for image in (memory, expected):
        image.put(src, x, clear=False)
    expected.put(dst, ref.softmax(x.view(np.float16), counts), clear=True)
    operands = [int(causal), src.addr, src.surface, src.line, dst.addr, dst.surface, dst.line, src.surfaces, lines, channels]
    return [KINDS["softmax"][1], 0, *operands, tokens, tokens, last, 0, onchip_flags(src, dst)]


def act(random: np.random.Generator, sizes: Sizes, memory: Memory, expected: Memory, places: Places) -> list[int]:
    channels = int(random.choice([1, 30, 32, 64, 100, 300, 2048]))
    lines, tokens = shape_of(random, sizes, channels)
    src, dst = place(random, places, (lines, tokens, channels))
    address = places.ddr(128)
    table = values(random, (64,), 3.0, 0.3)
    table[:16] = np.sort(table[:16].view(np.float16)).view(np.uint16)
    table[16:32][random.random(16) < 0.3] = random.choice(np.array([0, 0x8000], np.uint16))
    x = values(random, (lines, tokens, channels), 4.0, 0.5)
    for image in (memory, expected):
        image.put(src, x, clear=False)
        image.words(address, 32)[:] = table.view(np.uint32)
    expected.put(dst, ref.act(x.view(np.float16), table.view(np.float16)), clear=True)
    operands = [
        address,
        src.addr,
        src.surface,
        src.line,
        dst.addr,
        dst.surface,
        dst.line,
        src.surfaces,
        lines,
        tokens,
        lines * tokens,
    ]
    return [KINDS["act"][1], 0, *operands, src.surfaces, channels, 0, onchip_flags(src, dst)]


def elementwise(random: np.random.Generator, sizes: Sizes, memory: Memory, expected: Memory, places: Places) -> list[int]:
    channels = int(random.choice([1, 30, 32, 64, 100, 300, 2048]))
    lines, tokens = shape_of(random, sizes, channels)
    a, out = place(random, places, (lines, tokens, channels))
    mode = int(random.integers(0, 3))
    b = Feature(lines, tokens, channels, 0, a.surface, a.line)
    kind = random.integers(0, 4)
    if kind == 0:
        b = a
    elif kind == 1 and a.onchip:  # the half of A
        b.onchip = True
        low = a.addr // sizes.half * sizes.half
        b.addr = low + 64 * int(random.integers(0, (sizes.half - b.bytes) // 64 + 1))
    else:
        b.addr = places.ddr(b.bytes)
        if kind == 2 and out is not a:  # in place of B, with the strides of A
            out = b
    for f in {(f.onchip, f.addr): f for f in (a, b)}.values():
        x = values(random, (lines, tokens, channels), 4.0, 0.5)
        for image in (memory, expected):
            image.put(f, x, clear=False)
    expected.put(out, ref.elementwise(expected.get(a), expected.get(b), mode), clear=True)
    surfaces = a.surfaces + (channels % 32 << 16)
    operands = [mode, a.addr, a.surface, a.line, out.addr, out.surface, out.line, surfaces, lines, tokens, b.addr]
    return [KINDS["elementwise"][1], 0, *operands, onchip_flags(a, out, b)]


MAKERS = {"norm": norm, "pos_emb": pos_emb, "softmax": softmax, "act": act, "elementwise": elementwise}
