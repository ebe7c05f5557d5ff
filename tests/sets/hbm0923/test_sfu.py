"""norm, pos_emb, softmax, act and elementwise against exact rationals, bit for bit, pads and padding of memory included."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import operands_of
import pytest
import unit_exact as exact
from instruction_bench import EPS, Tensor, draw, execute, get, make_memory, put, put16, put_words, reads_only_ranges, tensor
from mvm_devices import make_device
from mvm_exact import decode
from operands_of import encoded

from fleet.sdk import Device
from fleet.sets.hbm0923.numerics.float32 import fp20_word

IN, OUT, SIDE = 0x1000, 0x40000, 0x80000
SMALL = make_device("hbm_small")


def strides(lines: int, tokens: int, surfaces: int, extra: int) -> tuple[int, int]:
    """(surface, line) of a tensor with `extra` unused tokens behind every row."""
    row = (tokens + extra) * 64
    return row, row * surfaces


# ---- norm


@pytest.mark.parametrize(
    ("layer", "lines", "tokens", "channels", "kind", "extra"),
    [
        (False, 1, 2, 70, "moderate", 0),
        (False, 2, 2, 32, "moderate", 3),
        (False, 1, 3, 33, "mixed", 1),
        (True, 1, 2, 64, "moderate", 0),
        (True, 2, 1, 96, "mixed", 2),
        (True, 1, 3, 96, "moderate", 1),
        (True, 1, 2, 160, "moderate", 0),
        (False, 1, 2, 5, "bits", 0),
        (True, 1, 2, 32, "special", 0),
        (True, 1, 2, 45, "moderate", 0),
        (True, 1, 1, 1, "moderate", 0),
        (True, 2, 2, 33, "finite", 1),
        (False, 1, 3, 77, "finite", 0),
        (False, 1, 2, 40, "special", 0),
    ],
)
def test_norm(device: Device, layer: bool, lines: int, tokens: int, channels: int, kind: str, extra: int) -> None:
    rng = random.Random(f"{layer}{lines}{tokens}{channels}{kind}")
    groups = -(-channels // 32)
    (surface, line), (out_surface, out_line) = strides(lines, tokens, groups, extra), strides(lines, tokens, groups, 0)
    recip = fp20_word(Fraction(1, channels))
    o = operands_of.norm(channels, lines, tokens, SIDE, IN, surface, line, OUT, out_surface, out_line, recip=recip, layer=layer)
    memory = make_memory(device)
    x = tensor(rng, lines, tokens, channels, kind)
    words = [rng.getrandbits(1) << 31 | 0x38003800 + rng.getrandbits(10) * 0x10001 for _ in range(channels)]
    put(memory, x, IN, surface, line)
    put_words(memory, SIDE, words)
    fields = encoded(o, device)
    execute(device, "norm", fields, memory)
    eps = decode(EPS, 8, 23)
    want = [[exact.norm(t, words, eps, layer=layer) + [0] * (-channels % 32) for t in row] for row in x]
    assert get(memory, (lines, tokens, groups * 32), OUT, out_surface, out_line) == want
    reads_only_ranges(device, "norm", fields, memory)


def run_norm(x: list[int], words: list[int], *, layer: bool, eps: int = EPS, device: Device = SMALL) -> list[int]:
    memory = make_memory(device)
    groups = -(-len(x) // 32)
    put(memory, [[x]], IN, 64, 64 * groups)
    put_words(memory, SIDE, words)
    put_words(memory, 4 * 224, [eps], "reg")
    recip = fp20_word(Fraction(1, len(x)))
    o = operands_of.norm(len(x), 1, 1, SIDE, IN, 64, 64 * groups, OUT, 64, 64 * groups, recip=recip, layer=layer)
    execute(device, "norm", encoded(o, device), memory)
    return get(memory, (1, 1, len(x)), OUT, 64, 64 * groups)[0][0]


ONE, TWO, INF = 0x3C00, 0x4000, 0x7C00


def test_norm_by_hand() -> None:
    """The table of docs/arithmetic.md."""
    gamma_one = [ONE << 16] * 32
    # All 2: mean square 4, its root 2 (eps 0).
    assert run_norm([TWO] * 32, gamma_one, layer=False, eps=0) == [ONE] * 32
    # beta counts in an RMS norm too.
    assert run_norm([TWO] * 32, [ONE << 16 | TWO] * 32, layer=False, eps=0) == [0x4200] * 32
    # A layer norm of equal values: deviations +0; without eps there is no result.
    assert run_norm([TWO] * 32, gamma_one, layer=True, eps=0) == [0x7E00] * 32
    assert run_norm([TWO] * 32, gamma_one, layer=True) == [0] * 32
    assert run_norm([0] * 32, gamma_one, layer=False, eps=0) == [0x7E00] * 32
    # +-1: mean 0, variance 1; three values, of which one is absent in the group: mean 1, deviations -1, 0, 1.
    assert run_norm([ONE, ONE | 0x8000] * 16, gamma_one, layer=True, eps=0) == [ONE, ONE | 0x8000] * 16
    assert run_norm([0, ONE, TWO], [ONE << 16] * 3, layer=True, eps=0) == [0xBCE6, 0, 0x3CE6]  # sqrt(3/2)
    # One NaN or infinity spoils its token.
    for odd in (0x7E01, INF, INF | 0x8000):
        for layer in (False, True):
            assert run_norm([odd] + [ONE] * 31, gamma_one, layer=layer) == [0x7E00] * 32
    # -0 keeps its sign without beta words that would absorb it: -0 * r * 1 + 0 = +0; with beta -0 it stays.
    assert run_norm([0x8000] + [ONE] * 31, gamma_one, layer=False)[0] == 0
    assert run_norm([0x8000] + [ONE] * 31, [ONE << 16 | 0x8000] * 32, layer=False)[0] == 0x8000
    # What is small counts beside what cancels: binary32 beside 65504 holds no 2^-24.
    assert run_norm([0x7BFF, 0xFBFF, 1], [0x7BFF << 16] * 3, layer=True, eps=0)[2] == 1  # 0.82 * 2^-24
    # The smallest numbers, and the largest.
    assert run_norm([1, 0x8001] * 16, gamma_one, layer=True, eps=0) == [ONE, ONE | 0x8000] * 16
    assert run_norm([0xFBFF] * 32, gamma_one, layer=False, eps=0) == [ONE | 0x8000] * 32


@pytest.mark.parametrize("layer", [False, True])
def test_eps_that_leave_no_result(layer: bool) -> None:
    words, x = [ONE << 16] * 32, [ONE, TWO] * 16
    for eps in (0x47800000, 0x7F800000, 0x7FC00000, 0xB727C5AC, 0x80000001):
        assert run_norm(x, words, layer=layer, eps=eps) == [0x7E00] * 32
    for eps in (0x477FFFFF, 0x80000000, 1):
        want = exact.norm(x, words, decode(eps, 8, 23), layer=layer)
        assert 0x7E00 not in want
        assert run_norm(x, words, layer=layer, eps=eps) == want


@pytest.mark.parametrize("layer", [False, True])
@pytest.mark.parametrize("channels", [4095, 4096, 8192, 8193, 16384])
def test_norm_of_long_rows(layer: bool, channels: int) -> None:
    """Of sizes that binary64 does not hold, with numbers of all sizes and with the largest, which cancel but for one."""
    device = make_device("hbm0923")
    rng = random.Random(channels)
    words = [0x40003C00] * channels
    for x in (
        [draw(rng, "finite") for _ in range(channels)],
        [0x7BFF ^ (n % 2 << 15) for n in range(channels - 1)] + [0x0203],
    ):
        assert run_norm(x, words, layer=layer, device=device) == exact.norm(x, words, decode(EPS, 8, 23), layer=layer)


def test_norm_of_many_tokens_goes_in_blocks() -> None:
    """More lanes than a block holds: every token as if it were alone."""
    channels, tokens = 4096, 40
    bits = np.random.default_rng(3).standard_normal((tokens, channels)).astype(np.float16).view(np.uint16)
    memory = make_memory(SMALL, 1 << 21)
    surface = tokens * 64
    memory.view("ddr", IN, channels * tokens * 2).view("<u2")[:] = bits.reshape(tokens, -1, 32).transpose(1, 0, 2).reshape(-1)
    side, out = 0x100000, 0x180000
    recip = fp20_word(Fraction(1, channels))
    o = operands_of.norm(channels, 1, tokens, side, IN, surface, 0, out, surface, 0, recip=recip, layer=True)
    execute(SMALL, "norm", encoded(o, SMALL), memory)
    together = memory.view("ddr", out, channels * tokens * 2).view("<u2").reshape(-1, tokens, 32).copy()
    for t in (0, 17, tokens - 1):
        alone = replace(o, tokens=1, in_addr=IN + 64 * t)
        execute(SMALL, "norm", encoded(alone, SMALL), memory)
        got = memory.view("ddr", out, (channels // 32 - 1) * surface + 64)
        rows = np.stack([got[s * surface : s * surface + 64].view("<u2") for s in range(channels // 32)])
        assert np.array_equal(rows, together[:, t])


# ---- rotary embedding


@pytest.mark.parametrize(
    ("channels", "heads", "tokens", "shared", "kind", "extra"),
    [(64, 2, 3, True, "moderate", 0), (128, 1, 2, True, "mixed", 2), (64, 3, 2, False, "bits", 1), (64, 1, 4, False, "special", 0)],
)
def test_pos_emb(device: Device, channels: int, heads: int, tokens: int, shared: bool, kind: str, extra: int) -> None:
    rng = random.Random(f"{channels}{heads}{tokens}{kind}")
    groups = channels // 32
    surface, head = strides(heads, tokens, groups, extra)
    table = tensor(rng, 1 if shared else heads, tokens, channels, kind)
    # The output stands heads within surfaces: the strides may be in any order.
    out_head, out_surface = tokens * 64, tokens * 64 * heads
    table_head = 0 if shared else groups * tokens * 64
    o = operands_of.pos_emb(
        channels, heads, tokens, 5, (SIDE, tokens * 64, table_head), IN, surface, head, OUT, out_surface, out_head
    )
    memory = make_memory(device)
    x = tensor(rng, heads, tokens, channels, kind)
    put(memory, x, IN, surface, head)
    put(memory, table, SIDE, tokens * 64, groups * tokens * 64)
    fields = encoded(o, device)
    execute(device, "pos_emb", fields, memory)
    want = [[exact.pos_emb(x[h][w], table[0 if shared else h][w]) for w in range(tokens)] for h in range(heads)]
    assert get(memory, (heads, tokens, channels), OUT, out_surface, out_head) == want
    reads_only_ranges(device, "pos_emb", fields, memory)


# ---- softmax


@pytest.mark.parametrize(
    ("heads", "tokens", "last", "mask", "kind", "extra"),
    [
        (2, 3, 0, True, "moderate", 0),
        (1, 2, 40, True, "moderate", 1),
        (2, 2, 31, False, "moderate", 0),
        (1, 1, 0, False, "moderate", 0),
        (1, 3, 62, True, "mixed", 2),
        (1, 3, 20, False, "bits", 0),
        (3, 2, 3, True, "special", 0),
    ],
)
def test_softmax(device: Device, heads: int, tokens: int, last: int, mask: bool, kind: str, extra: int) -> None:
    rng = random.Random(f"{heads}{tokens}{last}{kind}")
    positions = last + tokens
    groups = -(-positions // 32)
    (surface, line), (out_surface, out_line) = strides(heads, tokens, groups, 0), strides(heads, tokens, groups, extra)
    memory = make_memory(device)
    x = tensor(rng, heads, tokens, positions, kind)
    put(memory, x, IN, surface, line)
    fields = operands_of.softmax(heads, tokens, last, mask, IN, surface, line, OUT, out_surface, out_line).encode()
    execute(device, "softmax", fields, memory)
    want = [[exact.softmax(x[h][w], last + w + 1 if mask else positions, groups * 32) for w in range(tokens)] for h in range(heads)]
    assert get(memory, (heads, tokens, groups * 32), OUT, out_surface, out_line) == want
    reads_only_ranges(device, "softmax", fields, memory)


def run_softmax(rows: list[list[int]], *, mask: bool) -> list[list[int]]:
    memory = make_memory(SMALL)
    tokens, positions = len(rows), len(rows[0])
    put(memory, [rows], IN, tokens * 64, 0)
    o = operands_of.softmax(1, tokens, positions - tokens, mask, IN, tokens * 64, 0, OUT, tokens * 64, 0)
    execute(SMALL, "softmax", encoded(o, SMALL), memory)
    return get(memory, (1, tokens, 32), OUT, tokens * 64, 0)[0]


def test_softmax_by_hand() -> None:
    inf, ninf, nan = 0x7C00, 0xFC00, 0x7E01
    # One position: exactly 1, whatever it holds that is finite.
    assert run_softmax([[0xFBFF]], mask=False)[0] == [ONE] + [0] * 31
    # Four equal ones: exactly 1/4. Two zeros of both signs: 1/2.
    assert run_softmax([[TWO] * 4], mask=False)[0][:5] == [0x3400] * 4 + [0]
    assert run_softmax([[0x8000, 0]], mask=False)[0][:2] == [0x3800, 0x3800]
    # The mask hides what stands behind, also NaN.
    assert run_softmax([[ONE, nan], [ONE, ONE]], mask=True) == [[ONE] + [0] * 31, [0x3800, 0x3800] + [0] * 30]
    # -infinity among others is 0; NaN and +infinity spoil the token, and -infinity alone does.
    assert run_softmax([[ONE, ninf]], mask=False)[0][:2] == [ONE, 0]
    for bad in ([ONE, nan, ONE], [ONE, inf, ONE], [ninf, ninf, ninf], [nan, nan, nan], [nan, ninf, ninf]):
        assert run_softmax([bad], mask=False)[0] == [0x7E00] * 3 + [0] * 29
    # e^-16.625 = 1.01 * 2^-24, e^-17.375 = 0.96 * 2^-25: on both sides of the tie between 0 and 2^-24. Far below all is 0.
    assert run_softmax([[0, 0xCC28]], mask=False)[0][:2] == [ONE, 1]
    assert run_softmax([[0, 0xCC58]], mask=False)[0][:2] == [ONE, 0]
    for low in (0xCFFF, 0xD000, 0xD001, 0xFBFF):
        assert run_softmax([[0, low]], mask=False)[0][:2] == [ONE, 0]
    assert run_softmax([[0x7BFF, 0xFBFF]], mask=False)[0][:2] == [ONE, 0]


def test_softmax_of_many_tokens_goes_in_blocks() -> None:
    tokens, last = 300, 200
    positions = tokens + last
    bits = np.random.default_rng(4).standard_normal((tokens, 16 * 32)).astype(np.float16).view(np.uint16)
    memory = make_memory(SMALL, 1 << 20)
    memory.view("ddr", 0, bits.nbytes).view("<u2")[:] = bits.reshape(tokens, 16, 32).transpose(1, 0, 2).reshape(-1)
    surface = tokens * 64
    execute(SMALL, "softmax", operands_of.softmax(1, tokens, last, True, 0, surface, 0, 0x80000, surface, 0).encode(), memory)
    got = memory.view("ddr", 0x80000, bits.nbytes).view("<u2").reshape(16, tokens, 32).transpose(1, 0, 2).reshape(tokens, -1)
    for w in (0, 63, 64, 299):
        n = last + w + 1
        assert n <= positions
        want = exact.softmax(bits[w].tolist()[:n], n, 512)
        assert got[w].tolist() == want


# ---- activation


def table_words(x: list[int], k: list[int], b: list[int]) -> bytes:
    return b"".join(v.to_bytes(2, "little") for v in [*x, *k, *b]).ljust(128, b"\0")


RISING = [
    0xFC00, 0xC800, 0xC400, 0xC000, 0xBC00, 0xB800, 0xB400, 0x8000, 0x3000, 0x3400, 0x3800, 0x3C00, 0x4000, 0x4400, 0x4800, 0x7C00,
]  # fmt: skip
JUMPS = [0x7E00, *RISING[1:9], 0x7D00, *RISING[10:14], 0xBC00, 0x7E00]
TABLES = {
    "rising": (RISING, [0x3800 + 37 * i for i in range(16)], [0x2000 + 301 * i for i in range(16)]),
    "zero slopes": (RISING, [0x0000, 0x8000] * 8, [0x8000, 0x7E01, 0x7C00, 0x3C00] * 4),
    "odd": (JUMPS, [0x7C00, 0xFC00, 0x7E00, 1] * 4, [0x7C00, 0, 0x8000, 0x3C01] * 4),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(TABLES))
def test_act_of_every_input(name: str) -> None:
    """65,536 inputs as 2 lines of 512 tokens of 64 channels: the reference takes each segment's input classes apart."""
    x, k, b = TABLES[name]
    memory = make_memory(SMALL)
    inputs = np.arange(1 << 16, dtype=np.uint16)
    memory.view("ddr", 0, 1 << 17).view("<u2")[:] = inputs
    memory.view("ddr", SIDE, 128)[:] = np.frombuffer(table_words(x, k, b), np.uint8)
    o = operands_of.act(64, 2, 512, SIDE, 0, 512 * 64, 512 * 128, OUT, 512 * 64, 512 * 128)
    execute(SMALL, "act", encoded(o, SMALL), memory)
    got = memory.view("ddr", OUT, 1 << 17).view("<u2")
    rng = random.Random(name)
    probes = {
        *(p + d & 0xFFFF for p in x for d in (-1, 0, 1)),
        *(rng.getrandbits(16) for _ in range(3000)),
        0,
        0x8000,
        0x7C00,
        0xFC00,
    }
    for p in sorted(probes):
        assert int(got[p]) == exact.act(p, x, k, b), hex(p)
    assert (got[(inputs & 0x7FFF) > 0x7C00] == 0x7E00).all()


@pytest.mark.parametrize(("channels", "lines", "tokens", "extra"), [(5, 2, 3, 1), (64, 1, 2, 0), (70, 2, 1, 0)])
def test_act_writes_pads(device: Device, channels: int, lines: int, tokens: int, extra: int) -> None:
    rng = random.Random(channels)
    x, k, b = TABLES["rising"]
    groups = -(-channels // 32)
    (surface, line), (out_surface, out_line) = strides(lines, tokens, groups, extra), strides(lines, tokens, groups, 2 * extra)
    memory = make_memory(device)
    v = tensor(rng, lines, tokens, channels, "bits")
    put(memory, v, IN, surface, line)
    memory.view("ddr", SIDE, 128)[:] = np.frombuffer(table_words(x, k, b), np.uint8)
    fields = operands_of.act(channels, lines, tokens, SIDE, IN, surface, line, OUT, out_surface, out_line).encode()
    execute(device, "act", fields, memory)
    want = [[[exact.act(p, x, k, b) for p in t] + [0] * (-channels % 32) for t in row] for row in v]
    assert get(memory, (lines, tokens, groups * 32), OUT, out_surface, out_line) == want
    reads_only_ranges(device, "act", fields, memory)


# ---- elementwise


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize(("channels", "kind"), [(40, "mixed"), (32, "special"), (97, "bits")])
def test_elementwise(device: Device, mode: int, channels: int, kind: str) -> None:
    rng = random.Random(f"{mode}{channels}")
    lines, tokens, groups = 2, 3, -(-channels // 32)
    (surface, line), (out_surface, out_line) = strides(lines, tokens, groups, 1), strides(lines, tokens, groups, 0)
    a, b = tensor(rng, lines, tokens, channels, kind), tensor(rng, lines, tokens, channels, kind)
    memory = make_memory(device)
    put(memory, a, IN, surface, line)
    put(memory, b, SIDE, surface, line)
    fields = operands_of.elementwise(mode, channels, lines, tokens, IN, SIDE, surface, line, OUT, out_surface, out_line).encode()
    execute(device, "elementwise", fields, memory)
    pads = [0] * (-channels % 32)

    def token(p: list[int], q: list[int]) -> list[int]:
        return [exact.elementwise(mode, v, w) for v, w in zip(p, q, strict=True)] + pads

    want: Tensor = [[token(s, t) for s, t in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]
    assert get(memory, (lines, tokens, groups * 32), OUT, out_surface, out_line) == want
    reads_only_ranges(device, "elementwise", fields, memory)


@pytest.mark.parametrize(
    ("mode", "a", "b", "y"),
    [
        (0, 0x8000, 0x8000, 0x8000),
        (0, 0x8000, 0x0000, 0x0000),
        (1, 0x0000, 0x0000, 0x0000),
        (1, 0x8000, 0x0000, 0x8000),
        (2, 0x8000, 0x3C00, 0x8000),
        (0, 0x7C00, 0xFC00, 0x7E00),
        (1, 0x7C00, 0x7C00, 0x7E00),
        (2, 0x7C00, 0x0000, 0x7E00),
        (0, 0x7E01, 0x3C00, 0x7E00),
        (0, 0x7BFF, 0x4B80, 0x7BFF),  # 65504 + 15 < 65520
        (0, 0x7BFF, 0x4C00, 0x7C00),  # 65504 + 16 = 65520: the tie goes to infinity
        (0, 0x6800, 0x3C00, 0x6800),  # 2049: to even
        (0, 0x6800, 0x4200, 0x6802),  # 2051: to even, 2052
        (2, 0x0001, 0x3800, 0x0000),  # 2^-25: to even
        (2, 0x0003, 0x3800, 0x0002),  # 1.5 * 2^-24: to even
        (2, 0x8001, 0x3400, 0x8000),
        (2, 0x7BFF, 0x4000, 0x7C00),
    ],
)
def test_elementwise_by_hand(mode: int, a: int, b: int, y: int) -> None:
    memory = make_memory(SMALL)
    put16(memory, IN, a)
    put16(memory, SIDE, b)
    execute(SMALL, "elementwise", operands_of.elementwise(mode, 1, 1, 1, IN, SIDE, 64, 64, OUT, 64, 64).encode(), memory)
    assert get(memory, (1, 1, 32), OUT, 64, 64)[0][0] == [y] + [0] * 31


# ---- in place and on chip


def test_in_place_and_on_chip() -> None:
    """The same bits wherever the operands stand; halves differ, both inputs of an elementwise may share one."""
    rng = random.Random(1)
    half = SMALL.parameters["OnchipDepth"] * 64
    a, b = tensor(rng, 2, 3, 40), tensor(rng, 2, 3, 40)
    o = operands_of.elementwise(0, 40, 2, 3, IN, SIDE, 192, 384, OUT, 192, 384)
    memory = make_memory(SMALL)
    put(memory, a, IN, 192, 384)
    put(memory, b, SIDE, 192, 384)
    execute(SMALL, "elementwise", encoded(o, SMALL), memory)
    want = get(memory, (2, 3, 64), OUT, 192, 384)
    execute(SMALL, "elementwise", encoded(replace(o, out_addr=IN), SMALL), memory)
    assert get(memory, (2, 3, 64), IN, 192, 384) == want
    put(memory, a, 0, 192, 384, "onchip")
    put(memory, b, 0x1000, 192, 384, "onchip")
    chip = replace(o, a_addr=0, b_addr=0x1000, out_addr=half + 64, a_onchip=True, b_onchip=True, out_onchip=True)
    writes = execute(SMALL, "elementwise", encoded(chip, SMALL), memory)
    assert {w.space for w in writes} == {"onchip"}
    assert get(memory, (2, 3, 64), half + 64, 192, 384, "onchip") == want
