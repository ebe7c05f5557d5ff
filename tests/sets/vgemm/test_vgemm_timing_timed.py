"""What a load is expected to take with timed memory: the mean over all phases of the refresh, of which the formula takes some."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.isa.registry import find_device
from fleet.sdk.dram import dram
from fleet.sdk.dram_port import TimedPort
from fleet.sets.vgemm import timing_timed
from fleet.sets.vgemm.operands import LoadOperands, MemoryType
from fleet.sets.vgemm.pads import element_bytes
from fleet.sets.vgemm.timing import MODULE_CYCLES

_, CHIP = find_device("vgemm_small")


def load(kind: MemoryType, address: int, y: int, x: int, stride: int, border: int = 0) -> LoadOperands:
    pads = dict.fromkeys(("y_pad_before", "y_pad_after", "x_pad_before", "x_pad_after"), border)
    return LoadOperands(memory_type=kind, sram_base=0, address=address, y_size=y, x_size=x, x_stride=stride, **pads)


LOADS = {
    "one row": load(MemoryType.INP, 0, 1, 1, 1),
    "a few rows": load(MemoryType.INP, 64, 6, 20, 37),
    "weights": load(MemoryType.WGT, 4096, 2, 24, 24),
    "with borders": load(MemoryType.INP, 128, 5, 9, 11, 1),
    "rows far apart": load(MemoryType.ACC, 0, 12, 4, 600),
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
