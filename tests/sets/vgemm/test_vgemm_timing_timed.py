"""What a load is expected to take with timed memory: the mean over all phases of the refresh, of which the formula takes some."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.isa.registry import find_device
from fleet.sdk.dram import dram
from fleet.sdk.dram_port import TimedPort
from fleet.sets.vgemm import timing_timed
from fleet.sets.vgemm.pads import element_bytes
from fleet.sets.vgemm.timing import MODULE_CYCLES
from fleet.sets.vgemm.words import MemoryType, Transfer

_, CHIP = find_device("vgemm_small")
LOADS = {
    "one row": Transfer(MemoryType.INP, 0, 0, 1, 1, 1),
    "a few rows": Transfer(MemoryType.INP, 0, 64, 6, 20, 37),
    "weights": Transfer(MemoryType.WGT, 0, 4096, 2, 24, 24),
    "with borders": Transfer(MemoryType.INP, 0, 128, 5, 9, 11, (1, 1), (1, 1)),
    "rows far apart": Transfer(MemoryType.ACC, 0, 0, 12, 4, 600),
}
MANY = 509  # a prime: no multiple of the formula's own steps


@pytest.mark.parametrize("name", LOADS)
def test_the_mean_is_that_over_many_phases(name: str) -> None:
    t, d = LOADS[name], dram(CHIP, "ddr")
    size = element_bytes(CHIP, MemoryType(t.memory_type))
    phases = -np.arange(MANY) * d.t_refi // MANY
    cycles = [timing_timed._followed(TimedPort(d, "ddr", CHIP.clock_mhz, int(p)), size, t) for p in phases]
    assert max(cycles) > min(cycles) + 10, "some meet a refresh"
    expected = MODULE_CYCLES + float(np.mean(cycles))
    assert timing_timed.timed_load_cycles(CHIP, t) == pytest.approx(expected, rel=0.01, abs=0.6)
