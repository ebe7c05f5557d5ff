"""Every instruction of the SFU and elementwise through the unit's ports: random sizes, strides, places and memory timing."""

from __future__ import annotations

import numpy as np
import pytest
from sfu_random import KINDS, MAKERS, Places
from unit_bench import Memory, Sizes, Unit, built


@pytest.fixture(scope="module")
def sfu(tmp_path_factory: pytest.TempPathFactory) -> Unit:
    return built(tmp_path_factory, "hbm0923_sfu", Sizes())


@pytest.fixture(scope="module")
def elementwise(tmp_path_factory: pytest.TempPathFactory) -> Unit:
    return built(tmp_path_factory, "hbm0923_elementwise", Sizes())


def play_and_compare(unit: Unit, kind: str, seed: int, stall: bool) -> int:
    """One random instruction from reset; the number of beats that it wrote."""
    random = np.random.default_rng(seed)
    memory = Memory(unit.sizes, seed)
    expected = memory.copy()
    instruction = MAKERS[kind](random, unit.sizes, memory, expected, Places(random, unit.sizes))
    (commit,) = unit.play([instruction], memory, seed, stall)
    assert (commit.opcode, commit.error) == (KINDS[kind][0], 0), (kind, seed, [hex(w) for w in instruction])
    different = np.flatnonzero(memory.ddr != expected.ddr), np.flatnonzero(memory.onchip != expected.onchip)
    assert memory.same(expected), (
        kind,
        seed,
        [hex(w) for w in instruction],
        [d[:8] for d in different],
        [d.size for d in different],
    )
    return commit.written


@pytest.mark.parametrize("kind", ["norm", "pos_emb", "softmax", "act"])
@pytest.mark.parametrize("stall", [False, True])
def test_random_instructions(sfu: Unit, kind: str, stall: bool) -> None:
    written = [play_and_compare(sfu, kind, seed, stall) for seed in range(30)]
    assert min(written) >= 1
    assert len(set(written)) > 10


@pytest.mark.parametrize("stall", [False, True])
def test_random_elementwise(elementwise: Unit, stall: bool) -> None:
    written = [play_and_compare(elementwise, "elementwise", seed, stall) for seed in range(40)]
    assert len(set(written)) > 10


SLOW = Sizes(interval=2, max_token=512)


@pytest.mark.parametrize("top", ["hbm0923_sfu", "hbm0923_elementwise"])
def test_at_half_the_clock(tmp_path_factory: pytest.TempPathFactory, top: str) -> None:
    unit = built(tmp_path_factory, top, SLOW)
    for kind in ["norm", "pos_emb", "softmax", "act"] if top == "hbm0923_sfu" else ["elementwise"]:
        for seed in range(200, 206):
            play_and_compare(unit, kind, seed, stall=seed % 2 == 0)


def long_instructions() -> dict[str, list[int]]:
    """About four thousand beats each, all in DDR."""
    surface, out, side = 64 * 128, 0x60000, 0xC0000
    return {
        "rms": [0x20, 0, side, 0, surface, 0, out, surface, 0, 32, 1, 128, 128, 21 << 13, 31, 0, 0],
        "layer": [0x20, 0, side, 0, surface, 0, out, surface, 0, 32, 1, 128, 128, 21 << 13, 31, 1, 0],
        "act": [0x10, 0, side, 0, surface, 0, out, surface, 0, 32, 1, 128, 128, 32, 1024, 0, 0],
        "pos_emb": [0x04, 0, side, 0, 4 * surface, surface, out, surface, 4 * surface, 4, 128, 0, 8, 0, surface, 0, 0],
        "softmax": [0x08, 0, 0, 0, surface, 4 * surface, out, surface, 4 * surface, 4, 8, 128, 128, 128, 0, 0, 0],
        "causal": [0x08, 0, 1, 0, surface, 4 * surface, out, surface, 4 * surface, 4, 8, 128, 128, 128, 0, 0, 0],
        "decode": [0x08, 0, 0, 0, 64, 512, out, 64, 512, 8, 255, 256, 1, 1, 255, 0, 0],
        "short rows": [0x08, 0, 0, 0, 768, 768, out, 768, 768, 1, 255, 12, 12, 12, 0, 0, 0],
        "narrow": [0x20, 0, side, 0, 64, 64 * 256, out, 64, 64 * 256, 1, 16, 256, 4096, 26 << 13, 0, 1, 0],
        "elementwise": [1, 0, 0, 0, surface, 0, out, surface, 0, 32, 1, 128, 0xA0000, 0],
    }


@pytest.mark.parametrize("interval", [1, 2])
def test_a_beat_a_step(tmp_path_factory: pytest.TempPathFactory, interval: int) -> None:
    """With ideal memory an instruction takes a step a beat, and little more: rows overlap, reads run ahead."""
    sizes = SLOW if interval == 2 else Sizes()
    for name, instruction in long_instructions().items():
        unit = built(tmp_path_factory, "hbm0923_elementwise" if name == "elementwise" else "hbm0923_sfu", sizes)
        (commit,) = unit.play([instruction], Memory(sizes, 1), 1, stall=False)
        assert commit.error == 0, name
        # Two inputs come over one port.
        steps = max(interval * commit.written, commit.read)
        assert commit.cycles >= steps
        assert commit.cycles <= 1.02 * steps + 130 * interval, (name, commit)
