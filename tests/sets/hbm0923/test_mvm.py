"""The functional model against exact rationals, bit for bit."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field

import mvm_exact as exact
import numpy as np
import pytest
from mvm_devices import ArrayMemory

from fleet.sdk import Device
from fleet.sets.hbm0923.instructions import INSTRUCTIONS
from fleet.sets.hbm0923.mvm_operands import MvmFields

IN, OUT, RES, BN, IDX = 0x0, 0x40000, 0x80000, 0xC0000, 0xD0000


@dataclass
class Problem:
    """Bit patterns of one instruction: x[token][channel], codes[channel][input] nibbles, scales[channel][group]."""

    x: list[list[int]]
    codes: list[list[int]]
    scales: list[list[int]]
    tblk: int = 128
    bn: list[int] | None = None
    residual: list[list[int]] | None = None
    mul: bool = False
    relu: bool = False
    argmax: bool = False
    extra_tokens: int = 0
    """Tokens of the whole tensors beyond the ones computed: strides are larger than the instruction."""
    junk: random.Random | None = field(default=None)
    """Fills pads of input and weights with arbitrary bits."""


def run(device: Device, p: Problem) -> tuple[list[list[int]], list[int] | None, int | None, ArrayMemory, dict[str, int]]:
    tokens, chin, chout = len(p.x), len(p.x[0]), len(p.codes)
    ports = device.parameters["HbmPorts"]
    surface = (tokens + p.extra_tokens) * 64
    memory = ArrayMemory(ports)
    ddr = memory.view("ddr", 0, 1 << 20)
    if p.junk:
        ddr[:] = np.frombuffer(p.junk.randbytes(1 << 20), np.uint8)

    def put(base: int, rows: list[list[int]]) -> None:
        for t, row in enumerate(rows):
            for c, bits in enumerate(row):
                at = exact.feature_address(base, surface, t, c)
                ddr[at : at + 2] = list(struct.pack("<H", bits))

    put(IN, p.x)
    if p.residual:
        put(RES, p.residual)
    if p.bn:
        ddr[BN : BN + 4 * chout] = list(struct.pack(f"<{chout}I", *p.bn))
    codes = p.codes
    for port, stream in enumerate(exact.pack_ports(codes, p.scales, p.tblk, ports)):
        memory.view("hbm", 0x40, len(stream), port)[:] = list(stream)
    o = MvmFields(
        chin, chout, tokens, p.tblk, IN, 0x40, OUT, surface, surface, surface, surface,
        bn=BN if p.bn else None, residual=RES if p.residual else None, argmax=IDX if p.argmax else None, relu=p.relu, mul=p.mul,
    )  # fmt: skip
    name = "mvm_bn_res" if p.residual else "mvm_bn" if p.bn else "mvm"
    cls, fields = INSTRUCTIONS[name], o.encode(device)
    assert cls.legal(device, fields) == []
    before = ddr.copy()
    writes = cls.execute(device, fields, memory)
    assert np.array_equal(before, ddr), "execute is pure"
    ranges = cls.writes(device, fields)
    written = np.zeros(ddr.size, np.uint8)
    result = None
    for w in writes:
        if w.space == "reg":
            assert w.offset == 160
            result = int.from_bytes(w.data.tobytes(), "little")
            continue
        assert any(r.offset <= w.offset and w.offset + w.data.size <= r.offset + r.size for r in ranges)
        ddr[w.offset : w.offset + w.data.size] = w.data
        written[w.offset : w.offset + w.data.size] += 1
    expected = np.zeros(ddr.size, np.uint8)
    for r in ranges:
        expected[r.offset : r.offset + r.size] += 1
    assert np.array_equal(written, expected), "every byte of the destination once, nothing else"
    read = lambda at: int.from_bytes(ddr[at : at + 2].tobytes(), "little")  # noqa: E731
    rows = [[read(exact.feature_address(OUT, surface, t, c)) for c in range(chout)] for t in range(tokens)]
    pads = range(chout, -(-chout // 32) * 32)
    assert all(read(exact.feature_address(OUT, surface, t, c)) == 0 for t in range(tokens) for c in pads)
    indices = [int.from_bytes(ddr[IDX + 4 * t : IDX + 4 * t + 4].tobytes(), "little") for t in range(tokens)] if p.argmax else None
    return rows, indices, result, memory, fields


def _exact(p: Problem, t: int, c: int) -> int:
    bn, residual = p.bn[c] if p.bn else None, p.residual[t][c] if p.residual else None
    return exact.mvm(p.x[t], p.codes[c], p.scales[c], p.tblk, bn, residual, mul=p.mul, relu=p.relu)


def check(device: Device, p: Problem) -> list[list[int]]:
    rows, indices, result, _, _ = run(device, p)
    want = [[_exact(p, t, c) for c in range(len(p.codes))] for t in range(len(p.x))]
    wrong = [(t, c, hex(rows[t][c]), hex(v)) for t, row in enumerate(want) for c, v in enumerate(row) if rows[t][c] != v]
    assert not wrong, f"{len(wrong)} differ (token, channel, model, exact): {wrong[:4]}"
    if p.argmax:
        assert indices == [exact.argmax(row) for row in want]
        assert result == indices[-1]
    else:
        assert result is None
    return want


def bits16(v: float) -> int:
    return int(np.float16(v).view(np.uint16))


def values(rng: random.Random, kind: str) -> int:
    """A random FP16 bit pattern: "normal" around 1, "wide" any finite, "any" also NaN and infinity."""
    if kind == "normal":
        return bits16(rng.gauss(0, 1))
    while True:
        bits = rng.getrandbits(16)
        if kind == "any" or bits & 0x7C00 != 0x7C00:
            return bits


def random_problem(seed: int, tokens: int, chin: int, chout: int, tblk: int, kind: str, **rest: object) -> Problem:
    rng = random.Random(seed)
    groups = -(-chin // tblk)
    return Problem(
        [[values(rng, kind) for _ in range(chin)] for _ in range(tokens)],
        [[rng.getrandbits(4) for _ in range(chin)] for _ in range(chout)],
        [[values(rng, "wide" if kind == "any" else kind) for _ in range(groups)] for _ in range(chout)],
        tblk,
        junk=rng,
        **rest,  # pyright: ignore[reportArgumentType]
    )


@pytest.mark.parametrize("chin", [1, 31, 64, 127, 128, 129, 576])
@pytest.mark.parametrize("kind", ["normal", "wide"])
def test_random_sizes(device: Device, chin: int, kind: str) -> None:
    check(device, random_problem(chin, 2, chin, 11, 128, kind, extra_tokens=3))


@pytest.mark.parametrize("tblk", [32, 64, 128])
@pytest.mark.parametrize("delta", [-1, 0, 1])
def test_group_boundaries(device: Device, tblk: int, delta: int) -> None:
    check(device, random_problem(tblk + delta, 2, 2 * tblk + delta, 9, tblk, "wide"))


@pytest.mark.parametrize("chin", [2047, 2048, 2049, 4100])
def test_weight_group_boundaries(device: Device, chin: int) -> None:
    check(device, random_problem(chin, 1, chin, 3, 64, "normal"))


@pytest.mark.parametrize("chout", [1, 8, 31, 32, 33, 67])
def test_output_channels(device: Device, chout: int) -> None:
    check(device, random_problem(chout, 3, 40, chout, 32, "normal", extra_tokens=1))


@pytest.mark.parametrize("seed", range(4))
def test_not_finite_lanes(device: Device, seed: int) -> None:
    """Half the groups hold infinities or NaN."""
    p = random_problem(seed, 4, 96, 33, 32, "wide")
    rng = random.Random(100 + seed)
    for row in p.x:
        for g in range(3):
            for _ in range(rng.choice([0, 0, 1, 1, 2])):
                row[32 * g + rng.randrange(32)] = rng.choice([0x7C00, 0xFC00, 0x7C00, 0xFC00, 0x7E01, 0xFFFF])
    for codes in p.codes:
        for i, c in enumerate(codes):
            codes[i] = c or 1
    check(device, p)


@pytest.mark.parametrize("seed", range(4))
def test_any_bits_everywhere(device: Device, seed: int) -> None:
    """Scales, BN words, residual and features of arbitrary bits, NaN and infinity included."""
    rng = random.Random(seed)
    p = random_problem(seed, 5, 40, 37, 32, "any" if seed % 2 else "wide", argmax=True, relu=seed < 2, mul=seed % 2 == 0)
    p.scales = [[rng.getrandbits(16) for _ in s] for s in p.scales]
    p.bn = [rng.getrandbits(32) for _ in p.codes]
    p.residual = [[rng.getrandbits(16) for _ in p.codes] for _ in p.x]
    check(device, p)


@pytest.mark.parametrize(("residual", "mul"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("argmax", [False, True])
def test_epilogue(device: Device, residual: bool, mul: bool, relu: bool, argmax: bool) -> None:
    rng = random.Random(7)
    p = random_problem(3, 4, 70, 10, 32, "normal", relu=relu, mul=mul, argmax=argmax)
    p.bn = [values(rng, "normal") << 16 | values(rng, "normal") for _ in p.codes]
    if residual:
        p.residual = [[values(rng, "normal") for _ in p.codes] for _ in p.x]
    rows = check(device, p)
    assert any(bits & 0x8000 for row in rows for bits in row) != relu, "negative results are there unless ReLU removed them"


def one(x: dict[int, int], q: dict[int, int], scales: list[float], chin: int = 128) -> Problem:
    """One token, one channel."""
    return Problem([[x.get(i, 0) for i in range(chin)]], [[q.get(i, 0) for i in range(chin)]], [[bits16(s) for s in scales]])


F = bits16
INF, NINF, NAN = 0x7C00, 0xFC00, 0x7E00
INFINITE = float("inf")
BY_HAND = {
    "one": (one({0: F(1)}, {0: 1}, [1]), 0x3C00),
    "overflow": (one(dict.fromkeys(range(128), 0x7BFF), dict.fromkeys(range(128), 7), [1]), INF),
    "largest sum, scaled": (one(dict.fromkeys(range(128), 0x7BFF), dict.fromkeys(range(128), 7), [2**-10]), 0x7AFF),
    "tie to zero": (one({0: 1}, {0: 1}, [0.5]), 0),
    "tie to two": (one({0: 1}, {0: 3}, [0.5]), 2),
    "negative rounded away": (one({0: 1}, {0: 9}, [0.5]), 0x8000),
    "negative zero lane": (one({0: 0x8000}, {0: 5}, [1]), 0),
    "only negative zeros": (one(dict.fromkeys(range(128), 0x8000), dict.fromkeys(range(128), 5), [1]), 0),
    "NaN with code 0": (one({0: 0x7C01}, {}, [1]), NAN),
    "infinity times minus zero": (one({0: INF}, {0: 8}, [1]), NAN),
    "infinity times -7": (one({0: INF}, {0: 15}, [1]), NINF),
    "infinities of one sign": (one({0: INF, 1: NINF}, {0: 1, 1: 9}, [1]), INF),
    "infinities of both signs": (one({0: INF, 1: INF}, {0: 1, 1: 9}, [1]), NAN),
    "tie to even": (one({0: F(2048), 1: F(1)}, {0: 1, 1: 1}, [1]), 0x6800),
    "groups that cancel": (one({0: F(16384), 128: F(1), 256: F(-16384)}, {0: 1, 128: 1, 256: 1}, [1024, 1, 1024], 384), 0x3C00),
    "group's sum is not rounded": (one({0: F(32768), 1: F(2**-8), 128: F(-32768)}, {0: 4, 1: 1, 128: 4}, [1, 1], 256), 0x1C00),
    "binary32 makes a tie": (one({0: F(2048), 1: F(1), 128: F(2**-14)}, {0: 1, 1: 1, 128: 1}, [1, 1], 256), 0x6800),
    "binary32 above the tie": (one({0: F(2048), 1: F(1), 128: F(2**-12)}, {0: 1, 1: 1, 128: 1}, [1, 1], 256), 0x6801),
    "infinity times scale 0": (one({0: INF}, {0: 1}, [0]), NAN),
    "zero times infinite scale": (one({}, {}, [INFINITE]), NAN),
    "negative times infinite scale": (one({0: F(1)}, {0: 9}, [INFINITE]), NINF),
    "infinities in two groups": (one({0: INF, 128: INF}, {0: 1, 128: 1}, [1, -1], 256), NAN),
    "NaN scale of a zero group": (one({0: F(1)}, {0: 1}, [1, float("nan")], 256), NAN),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_vectors_by_hand(device: Device, name: str) -> None:
    """The table of docs/arithmetic.md: results written down, and the rational reference agrees."""
    problem, expected = BY_HAND[name]
    assert check(device, problem)[0][0] == expected


def test_pads_of_the_input_do_not_count(device: Device) -> None:
    """NaN in the lanes at or beyond CHin and codes in the pads of the weights leave no trace."""
    p = random_problem(5, 2, 33, 4, 32, "normal")
    rows, _, _, memory, fields = run(device, p)
    ddr = memory.view("ddr", 0, 1 << 20)
    surface = 2 * 64
    for t in range(2):
        for c in range(33, 64):
            at = exact.feature_address(IN, surface, t, c)
            ddr[at : at + 2] = [0x01, 0x7C]
    # Input 33 of channel 0 stands in the high half of a byte of port 0's stream: one beat of scales, then 16 whole bytes.
    memory.view("hbm", 0x40 + 32 + 16, 1, 0)[0] |= 0x70
    (write,) = INSTRUCTIONS["mvm"].execute(device, fields, memory)
    again = write.data.view("<u2").reshape(2, 32)[:, :4].tolist()
    assert again == rows


def test_changed_weights_are_seen(device: Device) -> None:
    """The cache of unpacked weights compares the bytes."""
    p = random_problem(5, 1, 64, 4, 32, "normal")
    rows, _, _, memory, fields = run(device, p)
    memory.view("hbm", 0x40 + 32, 1, 1)[0] ^= 0x01
    (write,) = INSTRUCTIONS["mvm"].execute(device, fields, memory)
    changed = write.data.view("<u2")[:4].tolist()
    assert changed[1] != rows[0][1]
    assert changed[0] == rows[0][0]
    assert changed[2:] == rows[0][2:]


def test_many_tokens_equal_single_tokens(device: Device) -> None:
    """Blocking over tokens and groups does not show: 40 tokens at once are 40 times one."""
    p = random_problem(9, 40, 300, 16, 32, "wide")
    rows, *_ = run(device, p)
    for t in (0, 17, 39):
        single, *_ = run(device, Problem([p.x[t]], p.codes, p.scales, p.tblk))
        assert single[0] == rows[t]
