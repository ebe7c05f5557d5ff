"""What every instruction refuses and with which cause; of several violations the documented one counts."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from mvm_devices import make_device
from operands_of import act, attention, dat2hbm, elementwise, encoded, norm, pos_emb, softmax

from fleet.sdk import Instruction
from fleet.sets.hbm0923.instructions import INSTRUCTIONS
from fleet.sets.hbm0923.mvm_operands import MvmFields
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.units.attention import with_bank_step
from fleet.sets.hbm0923.units.wt2hbm import Wt2HbmOperands

SMALL = make_device("hbm_small")
MODE, SIZE, UNALIGNED, RANGE, UNSUPPORTED = 1, 2, 3, 4, 7
DDR, HBM, HALF = 64 << 20, 4 << 20, 1024 * 64
ALL: dict[str, type[Instruction]] = {**INSTRUCTIONS}

MVM = MvmFields(100, 40, 3, 64, 0x0, 0x40, 0x4000, 192, 192, 192, 192, bn=0x8000, residual=0x9000, argmax=0xA000)
NORM = norm(70, 2, 3, 0x8000, 0x1000, 192, 1024, 0x4000, 192, 1024, recip=fp20_word(Fraction(1, 70)))
POS = pos_emb(64, 2, 3, 7, (0x8000, 192, 0), 0x1000, 192, 1024, 0x4000, 192, 1024)
SOFTMAX = softmax(2, 3, 40, True, 0x1000, 192, 1024, 0x4000, 192, 1024)
ACT = act(70, 2, 3, 0x8000, 0x1000, 192, 1024, 0x4000, 192, 1024)
ELEMENT = elementwise(0, 70, 2, 3, 0x1000, 0x8000, 192, 1024, 0x4000, 192, 1024)
# 40 positions: 5 lines of K in 8 ports; 64 channels of V: 8 lines.
TRP = attention(SMALL, True, 64, 4, 2, 40, 3, (0x1000, 0x400, 128), 0x1000, 192, 1024, 0x4000, 192, 1024, scale=0x3000)
F2W = attention(SMALL, False, 64, 4, 2, 40, 3, (0x1000, 0x400, 96), 0x1000, 192, 1024, 0x4000, 192, 1024, scale=0x3C00)
KEYS = dat2hbm(True, 64, 2, 3, 37, 0x1000, 192, 384, 0x1000, 0x400, 128)
VALUES = dat2hbm(False, 64, 2, 3, 37, 0x1000, 192, 384, 0x1000, 0x400, 96)
COPY = Wt2HbmOperands.copy(0x1000, 0x2000, 0x123, 3)

GOOD = {
    "mvm_bn_res": [MVM], "norm": [NORM], "pos_emb": [POS], "softmax": [SOFTMAX], "act": [ACT], "elementwise": [ELEMENT],
    "trp_mvm": [TRP], "f2w_mvm": [F2W], "dat2hbm": [KEYS, VALUES], "wt2hbm": [COPY],
}  # fmt: skip

# instruction, register (with or without its prefix), value, cause; first what all feature instructions have in common
CASES: list[tuple[str, str, int, int]] = []
SFU = ("norm", "pos_emb", "softmax", "act", "trp_mvm", "f2w_mvm", "dat2hbm")
FEATURES = {"norm": "in", "softmax": "in", "act": "in", "elementwise": "a", "trp_mvm": "in", "f2w_mvm": "in"}
for _name, _in in FEATURES.items():
    CASES += [
        (_name, f"{_in}_addr", 0x1020, UNALIGNED), (_name, f"{_in}_surface", 0xD0, UNALIGNED),
        (_name, f"{_in}_line", 0x401, UNALIGNED),
        (_name, "out_addr", 0x4001, UNALIGNED), (_name, "out_surface", 200, UNALIGNED), (_name, "out_line", 0x420, UNALIGNED),
        (_name, f"{_in}_surface", 128, SIZE), (_name, "out_surface", 0, SIZE), (_name, f"{_in}_line", 128, SIZE),
        (_name, "out_line", 0, SIZE), (_name, f"{_in}_addr", DDR - 64, RANGE), (_name, "out_addr", DDR, RANGE),
        (_name, "out_addr", 0x1040, RANGE), (_name, "out_addr", 0xFFFFFFC0, RANGE), (_name, f"{_in}_line", 0xFFFFFFC0, RANGE),
        (_name, "out_surface", 0xFFFFFFC0, RANGE), (_name, "onchip", 8, UNSUPPORTED),
    ]  # fmt: skip
CASES += [
    *[(n, "sfu_start", v, MODE) for n in SFU for v in (0, 3, 0x80, 0x104)],
    ("elementwise", "elementwise_start", 0, MODE), ("elementwise", "elementwise_start", 3, MODE),
    ("wt2hbm", "aux_start", 3, MODE),
    ("norm", "onchip", 4, UNSUPPORTED), ("norm", "layer", 2, UNSUPPORTED),
    ("norm", "recip_channels", 1 << 20, UNSUPPORTED), ("norm", "recip_channels", 0x1234, SIZE),
    ("norm", "recip_channels", 0, SIZE), ("norm", "surfaces", 0, SIZE), ("norm", "surfaces", 6 << 16, SIZE),
    ("norm", "surfaces", 4, SIZE), ("norm", "surfaces", 32 << 16 | 3, SIZE), ("norm", "hin", 0, SIZE), ("norm", "win", 0, SIZE),
    ("norm", "win", 2, SIZE), ("norm", "pixels", 5, SIZE), ("norm", "burst_m1", 3, SIZE),
    ("norm", "wt_addr", 0x8020, UNALIGNED),
    ("norm", "wt_addr", DDR - 128, RANGE), ("norm", "wt_addr", 0x4000, RANGE), ("norm", "out_addr", 0x8000, RANGE),
    ("pos_emb", "zero207", 1, UNSUPPORTED), ("pos_emb", "onchip", 4, UNSUPPORTED), ("pos_emb", "surfaces", 3, SIZE),
    ("pos_emb", "surfaces", 1 << 16 | 2, SIZE), ("pos_emb", "tokens", 0, SIZE), ("pos_emb", "tokens", 513, SIZE),
    ("pos_emb", "heads", 0, SIZE), ("pos_emb", "heads", 256, SIZE), ("pos_emb", "table_head", 128, SIZE),
    ("pos_emb", "table_surface", 128, SIZE), ("pos_emb", "in_head", 64, SIZE), ("pos_emb", "out_surface", 128, SIZE),
    ("pos_emb", "table_addr", 0x8001, UNALIGNED), ("pos_emb", "table_head", 0x1001, UNALIGNED),
    ("pos_emb", "in_head", 0x190, UNALIGNED),
    ("pos_emb", "out_head", 0x190, UNALIGNED), ("pos_emb", "table_addr", 0x4000, RANGE),
    ("pos_emb", "table_addr", DDR - 64, RANGE),
    ("pos_emb", "out_addr", 0x1040, RANGE), ("pos_emb", "in_addr", DDR - 64, RANGE),
    ("softmax", "mask", 2, UNSUPPORTED), ("softmax", "zero207", 1, UNSUPPORTED), ("softmax", "win", 4, SIZE),
    ("softmax", "chin", 44, SIZE),
    ("softmax", "tokens", 4, SIZE), ("softmax", "last", 41, SIZE), ("softmax", "last", 0xFFFFFFFF, SIZE),
    ("softmax", "surfaces", 3, SIZE),
    ("softmax", "surfaces", 11 << 16 | 2, SIZE), ("softmax", "heads", 0, SIZE), ("softmax", "heads", 256, SIZE),
    ("act", "zero207", 1, UNSUPPORTED), ("act", "chout", 96 + 1, SIZE), ("act", "chout", 0, SIZE), ("act", "chout", 64, SIZE),
    ("act", "surfaces_dup", 2, SIZE), ("act", "surfaces", 2, SIZE), ("act", "pixels", 7, SIZE), ("act", "hin", 256, SIZE),
    ("act", "win", 513, SIZE), ("act", "table_addr", 32, UNALIGNED), ("act", "table_addr", 0x4040, RANGE),
    ("act", "table_addr", DDR - 64, RANGE),
    ("elementwise", "mode", 3, UNSUPPORTED), ("elementwise", "surfaces", 0, SIZE),
    ("elementwise", "surfaces", 0x00200003, SIZE),
    ("elementwise", "hin", 0, SIZE), ("elementwise", "win", 513, SIZE), ("elementwise", "b_addr", 0x8010, UNALIGNED),
    ("elementwise", "b_addr", 0x4040, RANGE), ("elementwise", "b_addr", DDR, RANGE),
]  # fmt: skip
for _name, _depth in (("trp_mvm", "chin"), ("f2w_mvm", "chout")):
    CASES += [
        (_name, "onchip", 4, UNSUPPORTED), (_name, _depth, 96, UNSUPPORTED), (_name, _depth, 0, UNSUPPORTED),
        (_name, "scale", 27 << 16, UNSUPPORTED), (_name, "scale", 0x3000, UNSUPPORTED), (_name, "total", 0, SIZE),
        (_name, "total", 513, SIZE),
        (_name, "tokens", 0, SIZE), (_name, "tokens", 513, SIZE), (_name, "heads", 0, SIZE), (_name, "heads", 0x00010400, SIZE),
        (_name, "heads", 0x00000402, SIZE), (_name, "heads", 0x00010403, SIZE), (_name, "heads", 0x00010502, SIZE),
        (_name, "wt_head", 0x100, SIZE), (_name, "wt_line", 64, SIZE), (_name, "wt_addr", 0x1010, UNALIGNED),
        (_name, "wt_head", 0x408, UNALIGNED), (_name, "wt_line", 132, UNALIGNED), (_name, "wt_addr", HBM - 0x400, RANGE),
        (_name, "wt_addr", 0xFFFFFFE0, RANGE), (_name, "wt_head", HBM, RANGE), (_name, "out_addr", 0x1000, RANGE),
    ]  # fmt: skip
CASES += [
    ("dat2hbm", "zero194", 1, UNSUPPORTED), ("dat2hbm", "zero207", 1, UNSUPPORTED), ("dat2hbm", "zero208", 1, UNSUPPORTED),
    ("dat2hbm", "bank_step", 27, UNSUPPORTED), ("dat2hbm", "trp", 2, UNSUPPORTED), ("dat2hbm", "surfaces", 3, UNSUPPORTED),
    ("dat2hbm", "surfaces", 1 << 16 | 2, UNSUPPORTED), ("dat2hbm", "tokens", 0, SIZE), ("dat2hbm", "last", 510, SIZE),
    ("dat2hbm", "last", 0xFFFFFFFF, SIZE), ("dat2hbm", "heads", 0, SIZE), ("dat2hbm", "heads", 256, SIZE),
    ("dat2hbm", "in_surface", 128, SIZE),
    ("dat2hbm", "in_line", 64, SIZE), ("dat2hbm", "wt_line", 64, SIZE), ("dat2hbm", "wt_head", 0x100, SIZE),
    ("dat2hbm", "in_addr", 32, UNALIGNED), ("dat2hbm", "out_addr", 16, UNALIGNED), ("dat2hbm", "wt_head", 0x410, UNALIGNED),
    ("dat2hbm", "in_addr", DDR - 64, RANGE), ("dat2hbm", "out_addr", HBM - 64, RANGE), ("dat2hbm", "wt_head", HBM, RANGE),
    ("wt2hbm", "aux_hbm_high", 1, UNSUPPORTED), ("wt2hbm", "aux_bits", 0, SIZE), ("wt2hbm", "aux_bits", 260, SIZE),
    ("wt2hbm", "aux_port", 8, SIZE),
    ("wt2hbm", "aux_ddr_addr", 0x1020, UNALIGNED), ("wt2hbm", "aux_hbm_low", 0x2010, UNALIGNED),
    ("wt2hbm", "aux_hbm_low", HBM - 0x120, RANGE),
    ("wt2hbm", "aux_ddr_addr", DDR - 0x100, RANGE), ("wt2hbm", "aux_bits", 0xFFFFFFF8, RANGE),
    ("mvm_bn_res", "onchip", 8, UNSUPPORTED), ("mvm_bn_res", "in_addr", 0xFFFFFFC0, RANGE),
    ("mvm_bn_res", "start", 0x51F, MODE),
    ("mvm_bn_res", "wt_bits", 256, UNSUPPORTED), ("mvm_bn_res", "out_surface", 64, SIZE),
    ("mvm_bn_res", "bn_addr", 0x20, UNALIGNED),
]  # fmt: skip


def register(instruction: str, name: str) -> str:
    """The full name: with the prefix where it has none."""
    prefix = "mvm" if instruction == "mvm_bn_res" else instruction
    return name if name.startswith(("sfu_", "aux_", "elementwise_start")) else f"{prefix}_{name}"


@pytest.mark.parametrize("instruction", sorted(GOOD))
def test_the_starting_points_are_legal_and_decode(instruction: str) -> None:
    for good in GOOD[instruction]:
        fields = encoded(good, SMALL)
        assert ALL[instruction].legal(SMALL, fields) == []
        assert ALL[instruction].refusal(SMALL, fields) is None
        if instruction == "mvm_bn_res":
            assert MvmFields.decode(SMALL, fields) == good
        else:
            assert ALL[instruction].decode(fields) == good  # pyright: ignore
            assert list(fields) == [register for register, _ in good.FIXED]
        assert ALL[instruction].cost(SMALL, fields) > 0


@pytest.mark.parametrize(("instruction", "name", "value", "cause"), CASES)
def test_a_wrong_register_gives_its_cause(instruction: str, name: str, value: int, cause: int) -> None:
    name = register(instruction, name)
    for good in GOOD[instruction]:
        fields = encoded(good, SMALL)
        assert name in fields
        refusal = ALL[instruction].refusal(SMALL, fields | {name: value})
        assert refusal is not None, "not refused"
        assert refusal[0] == cause, refusal
        assert "expected" in refusal[1]
        assert ALL[instruction].legal(SMALL, fields | {name: value})


@pytest.mark.parametrize("instruction", [*FEATURES, "pos_emb"])
def test_output_rows_that_overlap(instruction: str) -> None:
    """One stride has to step over all rows of the other, whichever that is; an input may overlap itself."""
    surface, line = (f"{instruction}_{n}" for n in ("out_surface", "out_head" if instruction == "pos_emb" else "out_line"))
    fields = encoded(GOOD[instruction][0], SMALL)
    for a, b, cause in ((192, 256, SIZE), (256, 192, SIZE), (192, 192, SIZE), (192, 1024, None), (4096, 192, None)):
        refusal = ALL[instruction].refusal(SMALL, fields | {surface: a, line: b})
        assert (refusal and refusal[0]) == cause, (a, b, refusal)
    before = {"elementwise": "a"}.get(instruction, "in")
    sources = f"{instruction}_{before}_surface", f"{instruction}_{before}_{'head' if instruction == 'pos_emb' else 'line'}"
    assert ALL[instruction].refusal(SMALL, fields | dict.fromkeys(sources, 192)) is None


RANKED = [MODE, UNSUPPORTED, SIZE, UNALIGNED, RANGE]


@pytest.mark.parametrize("instruction", sorted({c[0] for c in CASES}))
def test_of_two_violations_the_documented_one_counts(instruction: str) -> None:
    """Pairs of single violations in different registers; a range is judged only where nothing else is wrong."""
    cases = [c for c in CASES if c[0] == instruction]
    fields = encoded(GOOD[instruction][0], SMALL)
    pairs = 0
    for a in cases:
        for b in cases:
            if RANKED.index(a[3]) < RANKED.index(b[3]) and a[1] != b[1]:
                both = {register(instruction, a[1]): a[2], register(instruction, b[1]): b[2]}
                refusal = ALL[instruction].refusal(SMALL, fields | both)
                # A larger size may make the other stride short too, never the other way round.
                assert refusal is not None
                assert RANKED.index(refusal[0]) <= RANKED.index(a[3]), (a, b, refusal)
                if a[3] != UNALIGNED:
                    assert refusal[0] == a[3] or (a[3], refusal[0]) == (SIZE, UNSUPPORTED), (a, b, refusal)
                pairs += 1
    assert pairs > 5


def test_missing_and_wide_registers() -> None:
    fields = encoded(NORM, SMALL)
    del fields["norm_win"]
    assert ALL["norm"].legal(SMALL, fields) == ["norm_win: no value given"]
    assert ALL["norm"].legal(SMALL, encoded(NORM, SMALL) | {"norm_win": 1 << 32}) == [
        "norm_win: 4294967296 does not fit in 32 bits"
    ]
    assert ALL["norm"].refusal(SMALL, encoded(NORM, SMALL) | {"norm_win": -1}) is not None


@pytest.mark.parametrize("channels", [1, 2, 3, 17, 37, 63, 64, 70, 255, 4095, 4096])
def test_the_reciprocal_of_the_channels_is_that_of_the_channels(channels: int) -> None:
    """Rounded either way it is taken; what is more than a step beside the true one is not."""
    fields = encoded(norm(channels, 1, 1, 0x8000, 0x1000, 64, 64, 0x4000, 64, 64, recip=fp20_word(Fraction(1, channels))), SMALL)
    near = fields["norm_recip_channels"]
    taken = [w for w in range(near - 4, near + 5) if ALL["norm"].legal(SMALL, fields | {"norm_recip_channels": w}) == []]
    exact = [w for w in range(near - 4, near + 5) if abs(_value(w) - Fraction(1, channels)) <= _step(w)]
    assert taken == exact
    assert len(taken) == (3 if channels & channels - 1 == 0 else 2)
    line = f"norm_recip_channels: {near + 4:#x}, expected {near:#x} or one beside it, 1 / {channels} channels as FP20"
    assert ALL["norm"].refusal(SMALL, fields | {"norm_recip_channels": near + 4}) == (SIZE, line)
    for other in (0, near | 1 << 19, near ^ 32 << 13, 12 << 13, 32 << 13 | near & 0x1FFF):
        assert ALL["norm"].refusal(SMALL, fields | {"norm_recip_channels": other}) is not None


def _step(word: int) -> Fraction:
    return Fraction(2) ** ((word >> 13) - 44)


def _value(word: int) -> Fraction:
    return (1 << 13 | word & 0x1FFF) * _step(word)


@pytest.mark.parametrize("instruction", sorted(GOOD))
def test_any_values_are_judged_without_fail(instruction: str) -> None:
    """Random damage: a cause and lines come together, and nothing raises."""
    rng = random.Random(instruction)
    cls = ALL[instruction]
    refused = 0
    for _ in range(400):
        fields = encoded(rng.choice(GOOD[instruction]), SMALL)
        for name in rng.sample(sorted(fields), rng.randint(1, 3)):
            fields[name] = rng.choice(
                [0, 1, 2, 32, 64, 128, 0x1040, DDR, 0xFFFFFFFF, 0xFFFFFFC0, rng.getrandbits(32), fields[name] + 64]
            )
        lines, refusal = cls.legal(SMALL, fields), cls.refusal(SMALL, fields)
        assert (refusal is None) == (not lines)
        if refusal is not None:
            refused += 1
            assert refusal[0] in RANKED
            assert "\n" not in refusal[1]
    assert refused > 100


# ---- what an instruction may alias


def names(good: Any) -> tuple[str, str]:
    """Of the operands that are the addresses of input and output."""
    first = next(n for n in ("in_addr", "input", "a_addr") if hasattr(good, n))
    return first, "out_addr" if hasattr(good, "out_addr") else "output"


@pytest.mark.parametrize("instruction", ["norm", "pos_emb", "softmax", "act", "elementwise"])
def test_in_place_is_exactly_in_place(instruction: str) -> None:
    good = GOOD[instruction][0]
    first, output = names(good)
    cls = ALL[instruction]
    same = replace(good, **{output: getattr(good, first)})
    assert cls.legal(SMALL, encoded(same, SMALL)) == []
    moved = replace(same, out_surface=good.out_surface + 64)
    assert cls.refusal(SMALL, encoded(moved, SMALL))[0] == RANGE  # pyright: ignore
    if instruction == "elementwise":
        assert cls.legal(SMALL, encoded(replace(good, out_addr=good.b_addr), SMALL)) == []
        assert cls.legal(SMALL, encoded(replace(good, b_addr=good.a_addr, out_addr=good.a_addr), SMALL)) == []


def chip(instruction: str, source: int, output: int) -> tuple[int, str] | None:
    """The refusal with input and output on chip."""
    good = GOOD[instruction][0]
    first, second = names(good)
    flag = "a_onchip" if instruction == "elementwise" else "in_onchip"
    both = replace(good, **{first: source, second: output, flag: True, "out_onchip": True})
    return ALL[instruction].refusal(SMALL, encoded(both, SMALL))


@pytest.mark.parametrize("instruction", ["norm", "pos_emb", "softmax", "act", "elementwise", "trp_mvm", "f2w_mvm"])
def test_halves(instruction: str) -> None:
    assert chip(instruction, 0, HALF) is None
    assert chip(instruction, HALF + 0x1000, 0x1000) is None
    for source, output in (
        (0, 0x8000),
        (0, 0),
        (HALF - 64, HALF),
        (0, HALF - 64),
        (0, 2 * HALF - 64),
        (0, 2 * HALF),
        (0, 0x80000000),
    ):
        refusal = chip(instruction, source, output)
        assert refusal is not None, (source, output)
        assert refusal[0] == RANGE
    # On chip and in DDR the same numbers do not meet.
    good = GOOD[instruction][0]
    first, second = names(good)
    apart = replace(good, **{second: getattr(good, first), "out_onchip": True})
    assert ALL[instruction].refusal(SMALL, encoded(apart, SMALL)) is None


def test_mvm_on_chip() -> None:
    cls = ALL["mvm_bn_res"]
    for onchip, changed, cause in (
        (1, {}, None),
        (2, {}, None),
        (7, {"output": HALF}, None),
        (3, {}, RANGE),
        (6, {}, RANGE),
        (6, {"residual": HALF}, None),
        (2, {"output": HALF - 192}, RANGE),
        (2, {"output": 2 * HALF - 192}, RANGE),
        (4, {"residual": HALF - 64}, RANGE),
        (2, {"output": 0x8000}, None),
        (8, {}, UNSUPPORTED),
    ):
        refusal = cls.refusal(SMALL, encoded(replace(MVM, onchip=onchip, **changed), SMALL))
        assert (refusal and refusal[0]) == cause, (onchip, changed, refusal)
    plain = replace(MVM, bn=None, residual=None, argmax=None, onchip=4)
    assert ALL["mvm"].refusal(SMALL, encoded(plain, SMALL)) == (UNSUPPORTED, "mvm_onchip: bit 2 without a residual, expected 0")
    fields = encoded(replace(MVM, onchip=7, output=HALF), SMALL)
    assert {(r.space, r.offset) for r in cls.writes(SMALL, fields)} == {("onchip", HALF), ("ddr", 0xA000)}
    assert {r.space for r in cls.reads(SMALL, fields) if r.offset in (0x0, 0x9000)} == {"onchip"}


def test_mvm_sizes_rank_above_addresses() -> None:
    """Found late by the hardware: too many words for the buffer, short strides."""
    fields = encoded(replace(MVM, chin=64 * 40, tokens=40, in_surface=40 * 64, out_surface=40 * 64), SMALL)
    assert ALL["mvm_bn_res"].refusal(SMALL, fields | {"mvm_in_addr": 32})[0] == SIZE  # pyright: ignore
    fields = encoded(MVM, SMALL) | {"mvm_wt_bits": 256, "mvm_in_addr": 32, "mvm_win": 0}
    assert ALL["mvm_bn_res"].refusal(SMALL, fields)[0] == UNSUPPORTED  # pyright: ignore
    # What the bits should be is not known without the inputs.
    fields = encoded(MVM, SMALL) | {"mvm_wt_bits": 256, "mvm_chin_last": 0}
    assert ALL["mvm_bn_res"].refusal(SMALL, fields)[0] == SIZE  # pyright: ignore


def test_strides_count_only_where_there_are_two() -> None:
    one = replace(TRP, heads=1, kv_heads=1, total=8, tokens=1, wt_line=0, wt_head=0, in_line=0, out_line=0, out_surface=0)
    assert ALL["trp_mvm"].legal(SMALL, encoded(one, SMALL)) == []
    two = replace(one, total=9)
    assert ALL["trp_mvm"].refusal(SMALL, encoded(two, SMALL))[0] == SIZE  # pyright: ignore
    heads = replace(one, heads=2, kv_heads=2, in_line=128, out_line=64)
    assert ALL["trp_mvm"].refusal(SMALL, encoded(heads, SMALL))[0] == SIZE  # pyright: ignore
    assert ALL["trp_mvm"].legal(SMALL, encoded(replace(heads, wt_head=128), SMALL)) == []


def test_fp20_scales() -> None:
    device = make_device("hbm1128")
    fields = encoded(replace(TRP, scale=with_bank_step(device, 0x3000)), device)
    assert fields["trp_mvm_scale"] == 28 << 20 | 0x3000
    assert ALL["trp_mvm"].legal(device, fields | {"trp_mvm_wt_head": 0x4000}) == []
    assert ALL["trp_mvm"].refusal(device, fields | {"trp_mvm_scale": 28 << 16})[0] == UNSUPPORTED  # pyright: ignore
