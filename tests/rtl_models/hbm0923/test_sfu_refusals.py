"""What the SFU and elementwise refuse, and with which cause; what comes before and after is not touched by it."""

from __future__ import annotations

import numpy as np
import pytest
from sfu_random import KINDS, MAKERS, Places
from unit_bench import (
    BAD_SIZE,
    BUS_ERROR,
    ILLEGAL_MODE,
    NONE,
    OUT_OF_RANGE,
    UNALIGNED,
    UNSUPPORTED,
    Memory,
    Sizes,
    Unit,
    built,
)

SIZES = Sizes()
END = SIZES.megabytes << 20
HALF = SIZES.half

# Index of a register in [mode, eps, operands...].
SFU = {register: register - 192 for register in range(194, 209)}
ELT = {register: register - 128 for register in range(130, 142)}

# 1 / 63 and 1 / 37 as FP20, cut off.
CUT63, CUT37 = 25 << 13 | 130, 25 << 13 | 5977

# Legal: 2 lines, 3 tokens, 2 surfaces (64 channels), except where it says otherwise.
LEGAL = {
    "norm": [0x20, 0, 0x8000, 0x0, 192, 384, 0x1000, 192, 384, 2, 2, 3, 6, 25 << 13, 1, 0, 0],
    "pos_emb": [0x04, 0, 0x8000, 0x0, 384, 192, 0x1000, 192, 384, 2, 3, 9, 2, 0, 192, 0, 0],
    "softmax": [0x08, 0, 1, 0x0, 192, 384, 0x1000, 192, 384, 2, 2, 40, 3, 3, 37, 0, 0],
    "act": [0x10, 0, 0x8000, 0x0, 192, 384, 0x1000, 192, 384, 2, 2, 3, 6, 2, 40, 0, 0],
    "elementwise": [1, 0, 0, 0x0, 192, 384, 0x1000, 192, 384, 2, 2, 3, 0x8000, 0],
}

# Changes of registers, and the cause.
CASES: dict[str, list[tuple[dict[int, int], int]]] = {
    "norm": [
        ({}, NONE),
        ({0: 0x30}, ILLEGAL_MODE), ({0: 0x21, 208: 4}, ILLEGAL_MODE), ({0: 0}, ILLEGAL_MODE), ({0: 0x1}, ILLEGAL_MODE),
        ({207: 1}, NONE), ({207: 2}, UNSUPPORTED), ({208: 4}, UNSUPPORTED), ({205: 1 << 20}, UNSUPPORTED),
        ({207: 2, 201: 0}, UNSUPPORTED), ({208: 0x80000000, 195: 1}, UNSUPPORTED),
        ({201: 0, 206: 0xFFFFFFFF}, BAD_SIZE), ({201: 65, 206: 64}, BAD_SIZE),
        ({201: 64, 205: 20 << 13, 206: 63, 196: 192, 197: 12288, 199: 192, 200: 12288, 198: 0x10000}, NONE),
        ({201: 2 + (31 << 16), 205: CUT63}, NONE), ({201: 2 + (32 << 16)}, BAD_SIZE),
        ({201: 2 + (5 << 16), 205: CUT37, 207: 1}, NONE),
        ({205: (25 << 13) + 1}, NONE), ({205: (25 << 13) - 1}, NONE), ({205: (25 << 13) + 2}, BAD_SIZE),
        ({205: (25 << 13) - 2}, BAD_SIZE), ({205: 0}, BAD_SIZE), ({205: 26 << 13}, BAD_SIZE), ({205: 1 << 19 | 25 << 13}, BAD_SIZE),
        ({205: 57 << 13}, BAD_SIZE), ({205: 9 << 13}, BAD_SIZE), ({205: 12 << 13}, BAD_SIZE), ({205: 32 << 13}, BAD_SIZE),
        *(({201: 2 + (31 << 16), 205: CUT63 + d}, NONE if d in (0, 1) else BAD_SIZE) for d in (-2, -1, 0, 1, 2)),
        *(({201: 1 + (1 << 16), 205: (31 << 13) + d, 206: 0}, NONE if abs(d) < 2 else BAD_SIZE) for d in (-2, -1, 0, 1, 2)),
        ({205: 0, 207: 2}, UNSUPPORTED), ({205: 0, 0: 0}, ILLEGAL_MODE), ({205: 0, 195: 4}, BAD_SIZE),
        ({205: 0, 195: END - 704}, BAD_SIZE),
        ({202: 0, 204: 0}, BAD_SIZE), ({202: 256, 204: 768}, BAD_SIZE), ({203: 0, 204: 0}, BAD_SIZE),
        ({203: 257, 204: 514, 196: 32768, 197: 65536, 199: 32768, 200: 65536, 198: 0x80000}, BAD_SIZE),
        ({204: 7}, BAD_SIZE), ({204: 6 + (1 << 24)}, BAD_SIZE), ({206: 0}, BAD_SIZE), ({206: 2}, BAD_SIZE),
        ({196: 128}, BAD_SIZE), ({197: 128}, BAD_SIZE), ({199: 128}, BAD_SIZE), ({200: 128}, BAD_SIZE),
        ({204: 7, 195: 4}, BAD_SIZE),
        ({196: 128, 194: 4}, BAD_SIZE), ({196: 128, 201: 1, 205: 26 << 13, 206: 0}, NONE),
        ({197: 64, 200: 64, 202: 1, 204: 3}, NONE),
        ({194: 0x8020}, UNALIGNED), ({195: 32}, UNALIGNED), ({196: 224}, UNALIGNED), ({197: 400}, UNALIGNED),
        ({198: 0x1004}, UNALIGNED),
        ({199: 193, 200: 448}, UNALIGNED), ({199: 256, 200: 384}, BAD_SIZE), ({199: 384, 200: 192}, NONE),
        ({200: 386}, UNALIGNED), ({197: 65, 202: 1, 204: 3}, UNALIGNED),
        ({194: 0x8020, 195: 0xFFFFFFC0}, UNALIGNED),
        ({195: END - 768}, NONE), ({195: END - 704}, OUT_OF_RANGE), ({198: END - 768}, NONE), ({198: END - 704}, OUT_OF_RANGE),
        ({194: END - 256}, NONE), ({194: END - 192}, OUT_OF_RANGE), ({195: 0xFFFFFFC0}, OUT_OF_RANGE),
        ({196: 0x80000000}, OUT_OF_RANGE), ({197: 0xFFFFFFC0}, OUT_OF_RANGE), ({200: 0xFFFFFFC0}, OUT_OF_RANGE),
        ({198: 704}, OUT_OF_RANGE), ({198: 768}, NONE), ({198: 0}, NONE), ({198: 0, 199: 256, 200: 576}, OUT_OF_RANGE),
        ({198: 64}, OUT_OF_RANGE),
        ({198: 0x8000 - 768}, NONE), ({198: 0x8000 - 704}, OUT_OF_RANGE), ({198: 0x80C0}, OUT_OF_RANGE), ({198: 0x8100}, NONE),
        ({195: 0x8000}, NONE), ({195: 0x8000, 198: 0x8000}, OUT_OF_RANGE),
        ({208: 1}, NONE), ({208: 2}, NONE), ({208: 3}, OUT_OF_RANGE), ({208: 3, 198: HALF}, NONE),
        ({208: 3, 195: HALF, 198: 0}, NONE),
        ({208: 1, 195: HALF - 768}, NONE), ({208: 1, 195: HALF - 704}, OUT_OF_RANGE), ({208: 2, 198: 2 * HALF - 768}, NONE),
        ({208: 2, 198: 2 * HALF - 704}, OUT_OF_RANGE), ({208: 3, 198: 0}, OUT_OF_RANGE), ({208: 1, 198: 0}, NONE),
        ({208: 2, 198: HALF, 194: HALF}, NONE),
    ],
    "pos_emb": [
        ({}, NONE), ({205: 384}, NONE), ({205: 128}, BAD_SIZE), ({205: 192}, NONE), ({206: 128}, BAD_SIZE),
        ({205: 400}, UNALIGNED),
        ({206: 200}, UNALIGNED), ({194: 8}, UNALIGNED), ({207: 1}, UNSUPPORTED), ({201: 1}, BAD_SIZE), ({201: 3}, BAD_SIZE),
        ({201: 2 + (1 << 16)}, BAD_SIZE), ({202: 0}, BAD_SIZE), ({202: 257}, BAD_SIZE), ({204: 0}, BAD_SIZE),
        ({204: 256}, BAD_SIZE),
        ({196: 128}, BAD_SIZE), ({197: 128}, BAD_SIZE), ({203: 0xFFFFFFFF}, NONE), ({194: END - 384}, NONE),
        ({194: END - 320}, OUT_OF_RANGE),
        ({194: END - 384, 205: 384}, OUT_OF_RANGE), ({194: END - 768, 205: 384}, NONE), ({198: 0x8000 + 320}, OUT_OF_RANGE),
        ({198: 0x8000 + 384}, NONE), ({198: 0x8000 + 384, 205: 384}, OUT_OF_RANGE), ({198: 0, 199: 192, 200: 384}, NONE),
        ({194: 0}, NONE),
    ],
    "softmax": [
        ({}, NONE), ({194: 0}, NONE), ({194: 2}, UNSUPPORTED), ({207: 9}, UNSUPPORTED), ({201: 1}, BAD_SIZE),
        ({201: 3}, BAD_SIZE),
        ({203: 41}, BAD_SIZE), ({205: 4}, BAD_SIZE), ({206: 36}, BAD_SIZE), ({203: 0, 201: 0, 206: 0xFFFFFFFD}, BAD_SIZE),
        ({204: 0, 205: 0, 206: 40}, BAD_SIZE), ({202: 0}, BAD_SIZE), ({202: 256}, BAD_SIZE),
        ({203: 256, 206: 253, 201: 8, 197: 1536, 200: 1536, 198: 0x8000}, NONE),
        ({203: 257, 206: 254, 201: 9, 197: 1728, 200: 1728, 198: 0x8000}, BAD_SIZE),
        ({203: 2, 206: 0xFFFFFFFF, 201: 1}, BAD_SIZE),
        ({195: 8}, UNALIGNED), ({194: 2, 195: 8}, UNSUPPORTED), ({198: 64}, OUT_OF_RANGE), ({198: 0}, NONE),
    ],
    "act": [
        ({}, NONE), ({207: 1}, UNSUPPORTED), ({205: 3}, BAD_SIZE), ({201: 3, 205: 3}, BAD_SIZE),
        ({206: 0, 201: 0, 205: 0}, BAD_SIZE), ({206: 65}, BAD_SIZE),
        ({206: 64}, NONE), ({206: 33}, NONE), ({206: 32}, BAD_SIZE), ({204: 5}, BAD_SIZE), ({202: 0, 204: 0}, BAD_SIZE),
        ({194: 4}, UNALIGNED),
        ({201: 0x10000, 205: 0x10000, 206: 0x200000}, BAD_SIZE), ({194: END - 128}, NONE), ({194: END - 64}, OUT_OF_RANGE),
        ({194: 0x1000}, OUT_OF_RANGE),
        ({206: 0xFFFFFFFF}, BAD_SIZE),
    ],
    "elementwise": [
        ({}, NONE), ({0: 0}, ILLEGAL_MODE), ({0: 3}, ILLEGAL_MODE), ({130: 2}, NONE), ({130: 3}, UNSUPPORTED),
        ({130: 0x80000000}, UNSUPPORTED),
        ({141: 8}, UNSUPPORTED), ({137: 0}, BAD_SIZE), ({137: 2 + (31 << 16)}, NONE), ({137: 2 + (32 << 16)}, BAD_SIZE),
        ({138: 0}, BAD_SIZE),
        ({138: 256}, BAD_SIZE), ({139: 0}, BAD_SIZE), ({139: 257}, BAD_SIZE), ({132: 128}, BAD_SIZE), ({133: 128}, BAD_SIZE),
        ({135: 128}, BAD_SIZE),
        ({136: 128}, BAD_SIZE), ({131: 2}, UNALIGNED), ({140: 2}, UNALIGNED), ({135: 194, 136: 448}, UNALIGNED),
        ({135: 192, 136: 192}, BAD_SIZE), ({135: 384, 136: 192}, NONE), ({134: 0}, NONE),
        ({134: 0x8000}, NONE),
        ({134: 64}, OUT_OF_RANGE), ({134: 0x8040}, OUT_OF_RANGE), ({140: 0, 134: 0}, NONE), ({140: 64, 134: 0}, OUT_OF_RANGE),
        ({140: 64}, NONE),
        ({134: 0, 135: 256, 136: 576}, OUT_OF_RANGE), ({140: END - 768}, NONE), ({140: END - 704}, OUT_OF_RANGE),
        ({141: 1}, NONE),
        ({141: 4, 140: 0}, NONE), ({141: 5, 140: 0}, NONE), ({141: 5, 140: HALF}, NONE), ({141: 7, 140: 0, 134: HALF}, NONE),
        ({141: 7, 140: HALF, 134: HALF}, OUT_OF_RANGE), ({141: 6, 140: 0, 134: 0x1000}, OUT_OF_RANGE),
        ({141: 4, 140: HALF - 704}, OUT_OF_RANGE),
        ({141: 3, 134: 0}, OUT_OF_RANGE), ({141: 1, 131: 0, 134: 0}, NONE),
    ],
}  # fmt: skip


@pytest.fixture(scope="module", params=["hbm0923_sfu", "hbm0923_elementwise"])
def unit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Unit:
    return built(tmp_path_factory, request.param, SIZES)


def kinds_of(unit: Unit) -> list[str]:
    return ["elementwise"] if unit.top == "hbm0923_elementwise" else ["norm", "pos_emb", "softmax", "act"]


def test_causes(unit: Unit) -> None:
    for kind in kinds_of(unit):
        index = (ELT if kind == "elementwise" else SFU) | {0: 0}
        instructions: list[list[int]] = []
        for changes, _ in CASES[kind]:
            words = list(LEGAL[kind])
            for register, value in changes.items():
                words[index[register]] = value
            instructions.append(words)
        memory = Memory(SIZES, 1)
        commits = unit.play(instructions, memory, 3, stall=False)
        got = [commit.error for commit in commits]
        wrong = [(c, got[i]) for i, c in enumerate(CASES[kind]) if got[i] != c[1]]
        assert not wrong, (kind, wrong)
        for (changes, cause), commit in zip(CASES[kind], commits, strict=True):
            assert (commit.written > 0) == (cause == NONE), (kind, changes)
            assert commit.read > 0 or cause != NONE
            assert commit.opcode == (0 if cause == ILLEGAL_MODE else KINDS[kind][0])


def test_refused_ones_write_nothing_and_disturb_nobody(unit: Unit) -> None:
    """Legal instructions with refused ones between them, in DDR, under random stalls."""
    in_ddr = Sizes(onchip_depth=0)
    for seed in range(6):
        random = np.random.default_rng(100 + seed)
        memory = Memory(SIZES, seed)
        expected = memory.copy()
        places = Places(random, in_ddr)
        instructions: list[list[int]] = []
        for kind in random.permutation(kinds_of(unit) * 3):
            if places.next < END // 2:
                bad = list(LEGAL[kind])
                bad[3] += 4
                instructions += [MAKERS[kind](random, in_ddr, memory, expected, places), bad]
        commits = unit.play(instructions, memory, seed)
        assert len(commits) >= 4
        assert [c.error for c in commits] == [NONE, UNALIGNED] * (len(instructions) // 2)
        assert memory.same(expected)


def test_a_bus_error_is_reported(unit: Unit) -> None:
    """The image is shorter than the memory that the unit was told of."""
    for kind in kinds_of(unit):
        memory = Memory(SIZES, 2)
        memory.ddr = memory.ddr[: END // 2].copy()
        far = list(LEGAL[kind])
        far[3] = END // 2 - 64
        before = memory.copy()
        commits = unit.play([far, LEGAL[kind]], memory, 5)
        assert [c.error for c in commits] == [BUS_ERROR, NONE], kind
        assert not memory.same(before)
