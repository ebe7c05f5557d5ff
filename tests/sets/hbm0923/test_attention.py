"""trp_mvm, f2w_mvm, dat2hbm and wt2hbm against exact rationals and the layouts of docs/arithmetic.md, byte by byte."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import unit_exact as exact
from instruction_bench import execute, get, get16, make_memory, put, put16, reads_only_ranges, tensor
from mvm_devices import ArrayMemory, make_device
from mvm_exact import half
from operands_of import attention, dat2hbm

from fleet.sdk import Device
from fleet.sets.hbm0923.instructions import INSTRUCTIONS
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.units.attention import AttentionOperands
from fleet.sets.hbm0923.units.wt2hbm import Wt2HbmOperands

IN, OUT, CACHE = 0x1000, 0x40000, 0x400
EIGHTH = 0x3000


@pytest.fixture(params=["hbm_small", "hbm0923", "hbm1128"])
def device(request: pytest.FixtureRequest) -> Device:
    return make_device(request.param)


def scale_of(device: Device) -> tuple[int, exact.Value]:
    """The register's scale, of 1/sqrt(128), and its value."""
    if device.parameters["ScaleFp20"]:
        word = fp20_word(Fraction(741455, 8388608))
        return word, exact.fp20(word)
    return 0x2DA8, half(0x2DA8)


def cache_at(ports: int, head: int, line: int, kv: int, vector: int, element: int) -> tuple[int, int]:
    """(port, offset) of an element of K (vector = position) or V (vector = channel)."""
    return vector % ports, CACHE + kv * head + vector // ports * line + 2 * element


def attention_case(
    device: Device, scores: bool, channels: int, heads: int, kv_heads: int, total: int, tokens: int, kind: str, seed: int = 0
) -> tuple[AttentionOperands, ArrayMemory, list[list[list[int]]], list[list[list[int]]]]:
    rng = random.Random(f"{scores}{channels}{heads}{total}{tokens}{kind}{seed}")
    inputs, outputs = (channels, total) if scores else (total, channels)
    in_groups, out_groups = -(-inputs // 32), -(-outputs // 32)
    line = 2 * 512  # of a cache for 512 positions
    head = -(-max(total, channels) // device.parameters["HbmPorts"]) * line + 64
    surface, out_surface = (tokens + 1) * 64, tokens * 64
    o = attention(
        device, scores, channels, heads, kv_heads, total, tokens, (CACHE, head, line), IN, surface, surface * in_groups, OUT,
        out_surface, out_surface * out_groups, scale=scale_of(device)[0],
    )  # fmt: skip
    memory = make_memory(device)
    x = tensor(rng, heads, tokens, inputs, kind)
    vectors = tensor(rng, kv_heads, outputs, inputs, kind)
    put(memory, x, IN, o.in_surface, o.in_line)
    for kv, rows in enumerate(vectors):
        for v, row in enumerate(rows):
            for i, bits in enumerate(row):
                port, at = cache_at(device.parameters["HbmPorts"], head, line, kv, v, i)
                put16(memory, at, bits, "hbm", port)
    return o, memory, x, vectors


@pytest.mark.parametrize(
    ("scores", "channels", "heads", "kv_heads", "total", "tokens", "kind"),
    [
        (True, 64, 2, 1, 5, 2, "moderate"),
        (True, 128, 2, 2, 35, 1, "moderate"),
        (True, 64, 1, 1, 1, 1, "special"),
        (True, 64, 4, 2, 33, 1, "mixed"),
        (False, 64, 2, 1, 5, 2, "moderate"),
        (False, 128, 2, 2, 33, 1, "moderate"),
        (False, 64, 1, 1, 1, 2, "bits"),
        (False, 64, 2, 1, 40, 1, "mixed"),
    ],
)
def test_attention(
    device: Device, scores: bool, channels: int, heads: int, kv_heads: int, total: int, tokens: int, kind: str
) -> None:
    """Junk stands beyond T in the last beat of a row of V, and behind D nothing is read."""
    o, memory, x, vectors = attention_case(device, scores, channels, heads, kv_heads, total, tokens, kind)
    name = "trp_mvm" if scores else "f2w_mvm"
    fields = o.encode()
    execute(device, name, fields, memory)
    scale, share, pads = scale_of(device)[1], heads // kv_heads, -o.outputs % 32
    want = [
        [[exact.attention(x[h][w], row, scale) for row in vectors[h // share]] + [0] * pads for w in range(tokens)]
        for h in range(heads)
    ]  # fmt: skip
    assert get(memory, (heads, tokens, o.outputs + pads), OUT, o.out_surface, o.out_line) == want
    reads_only_ranges(device, name, fields, memory)


BY_HAND = [
    ([0x7BFF, 0xFBFF, 0x0400], [0x7BFF, 0x7BFF, 0x1400], 0x0001),
    ([0x0001] * 64, [0x0001] * 64, 0x0000),
    ([0x6800, 0x3C00], [0x3C00, 0x3C00], 0x6800),
    ([0x6800, 0x3C00, 0x0400], [0x3C00] * 3, 0x6800),
    ([0x6800, 0x3C00, 0x0C00], [0x3C00] * 3, 0x6801),
    ([0x8000], [0x3C00], 0x0000),
    ([0x7C00, 0x7E01], [0x0000, 0x3C00], 0x7E00),
    ([0x7C00, 0x3C00], [0xBC00, 0x7C00], 0x7E00),
]
"""The table of docs/arithmetic.md: a, b and y."""


@pytest.mark.parametrize(("a", "b", "y"), BY_HAND)
def test_vectors_by_hand(a: list[int], b: list[int], y: int) -> None:
    """As the query and the key of one position, in lanes that do not stand together."""
    device = make_device("hbm_small")
    memory = make_memory(device)
    query, key = [0] * 64, [0] * 64
    for n, (x, w) in enumerate(zip(a, b, strict=True)):
        query[(n * 37 + 5) % 64], key[(n * 37 + 5) % 64] = x, w
    put(memory, [[query]], IN, 64, 0)
    for c, bits in enumerate(key):
        put16(memory, 2 * c, bits, "hbm", 0)
    o = attention(device, True, 64, 1, 1, 1, 1, (0, 0, 128), IN, 64, 0, OUT, 64, 0, scale=0x3C00)
    execute(device, "trp_mvm", o.encode(), memory)
    assert get(memory, (1, 1, 1), OUT, 64, 0) == [[[y]]]
    assert exact.attention(query, key, half(0x3C00)) == y


def test_attention_over_many_positions_is_the_same_in_pieces() -> None:
    """300 queries by 500 positions, more than a block: each query as if it were alone; one of them by rationals."""
    device = make_device("hbm_small")
    tokens, total = 300, 500
    rng = np.random.default_rng(1)
    memory = make_memory(device, 1 << 20)
    memory.view("ddr", IN, tokens * 128).view("<u2")[:] = rng.standard_normal(tokens * 64).astype(np.float16).view(np.uint16)
    for port in range(8):
        memory.view("hbm", 0, 1 << 18, port).view("<u2")[:] = rng.standard_normal(1 << 17).astype(np.float16).view(np.uint16)
    stride = tokens * 64
    o = attention(device, True, 64, 1, 1, total, tokens, (0, 0, 128), IN, stride, 0, 0x80000, stride, 0, scale=EIGHTH)
    execute(device, "trp_mvm", o.encode(), memory)
    together = memory.view("ddr", 0x80000, 16 * stride).view("<u2").reshape(16, tokens, 32).copy()
    for t in (0, 150, 299):
        execute(device, "trp_mvm", replace(o, tokens=1, in_addr=IN + 64 * t).encode(), memory)
        rows = np.stack([memory.view("ddr", 0x80000 + s * stride, 64).view("<u2") for s in range(16)])
        assert np.array_equal(rows, together[:, t])
    x = [get16(memory, IN + exact.feature_offset(stride, 0, 0, c, 299)) for c in range(64)]
    for position in (0, 7, 8, 255, 499):
        key = [get16(memory, position // 8 * 128 + 2 * c, "hbm", position % 8) for c in range(64)]
        assert int(together[position // 32, 299, position % 32]) == exact.attention(x, key, half(EIGHTH))


def test_work() -> None:
    device = make_device("hbm_small")
    case = 64, 4, 2, 33, 3, (0, 1 << 16, 128), IN, 192, 0x180, OUT, 192, 0x180
    o = attention(device, True, *case, scale=EIGHTH)
    assert INSTRUCTIONS["trp_mvm"].macs(device, o.encode()) == (12 * 64 * 33, 12 * 64 * 40)
    o = attention(device, False, *case, scale=EIGHTH)
    assert INSTRUCTIONS["f2w_mvm"].macs(device, o.encode()) == (12 * 64 * 33, 12 * 64 * 64)


@pytest.mark.parametrize("keys", [True, False])
@pytest.mark.parametrize(("channels", "heads", "tokens", "last"), [(64, 2, 3, 0), (128, 1, 1, 37), (64, 3, 40, 13)])
def test_dat2hbm(device: Device, keys: bool, channels: int, heads: int, tokens: int, last: int) -> None:
    """Exactly 2 * C bytes a head and token, with NaN payloads as they are; everything else keeps its junk."""
    rng = random.Random(f"{keys}{channels}{tokens}")
    ports = device.parameters["HbmPorts"]
    line, groups = 1024, channels // 32
    head = -(-max(last + tokens, channels) // ports) * line + 32
    surface = (tokens + 2) * 64
    o = dat2hbm(keys, channels, heads, tokens, last, IN, surface, surface * groups, CACHE, head, line)
    memory = make_memory(device)
    x = tensor(rng, heads, tokens, channels, "bits")
    put(memory, x, IN, surface, surface * groups)
    want = {key: space.copy() for key, space in memory.spaces.items()}
    for h in range(heads):
        for w in range(tokens):
            for c in range(channels):
                t = last + w
                port, at = cache_at(ports, head, line, h, t, c) if keys else cache_at(ports, head, line, h, c, t)
                want["hbm", port][at : at + 2] = (x[h][w][c] & 0xFF, x[h][w][c] >> 8)
    fields = o.encode()
    writes = execute(device, "dat2hbm", fields, memory)
    assert sum(w.data.size for w in writes) == 2 * channels * heads * tokens
    for key, space in memory.spaces.items():
        assert np.array_equal(space, want[key]), key
    reads_only_ranges(device, "dat2hbm", fields, memory)


def test_what_is_written_is_what_attention_reads() -> None:
    """dat2hbm, then trp_mvm and f2w_mvm of one-hot vectors: elements come back."""
    device = make_device("hbm_small")
    rng = random.Random(8)
    total, one = 20, 0x3C00
    memory = make_memory(device)
    x = tensor(rng, 1, total, 64)
    put(memory, x, IN, total * 64, 0)
    fresh = dat2hbm(True, 64, 1, total, 0, IN, total * 64, 0, 0, 0, 128)
    execute(device, "dat2hbm", fresh.encode(), memory)
    execute(device, "dat2hbm", replace(fresh, keys=False, out_addr=0x8000).encode(), memory)
    query = 0x20000
    put(memory, [[[one if c == 5 else 0 for c in range(64)]]], query, 64, 0)
    places = query, 64, 0, OUT, 64, 0
    o = attention(device, True, 64, 1, 1, total, 1, (0, 0, 128), *places, scale=one)
    execute(device, "trp_mvm", o.encode(), memory)
    assert get(memory, (1, 1, total), OUT, 64, 0)[0][0] == [x[0][t][5] for t in range(total)]
    put(memory, [[[one if t == 13 else 0 for t in range(total)]]], query, 64, 0)
    execute(device, "f2w_mvm", attention(device, False, 64, 1, 1, total, 1, (0x8000, 0, 128), *places, scale=one).encode(), memory)
    assert get(memory, (1, 1, 64), OUT, 64, 0)[0][0] == x[0][13]


def test_wt2hbm(device: Device) -> None:
    memory = make_memory(device)
    want = {key: space.copy() for key, space in memory.spaces.items()}
    port = device.parameters["HbmPorts"] - 1
    want["hbm", port][0x1020 : 0x1020 + 0x1223] = memory.view("ddr", 0x4040, 0x1223)
    fields = Wt2HbmOperands.copy(0x4040, 0x1020, 0x1223, port).encode() | {"aux_insts_addr": 0x123, "aux_beats": 7, "aux_tasks": 9}
    execute(device, "wt2hbm", fields, memory)
    for key, space in memory.spaces.items():
        assert np.array_equal(space, want[key]), key
    reads_only_ranges(device, "wt2hbm", fields, memory)
