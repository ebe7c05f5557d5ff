"""Every instruction of the SFU and elementwise through the unit's ports: random sizes, strides, places and memory timing."""

from __future__ import annotations

import numpy as np
import pytest
from sfu_random import KINDS, MAKERS, Places
from unit_bench import Memory, Sizes, Unit


@pytest.fixture(scope="module")
def sfu(tmp_path_factory: pytest.TempPathFactory) -> Unit:
    return Unit(tmp_path_factory.mktemp("sfu"), "hbm0923_sfu", Sizes())


@pytest.fixture(scope="module")
def elementwise(tmp_path_factory: pytest.TempPathFactory) -> Unit:
    return Unit(tmp_path_factory.mktemp("elementwise"), "hbm0923_elementwise", Sizes())


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
