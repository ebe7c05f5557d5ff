"""Refresh phases: what the bench draws from a seed, and 16 seeds that stand for all."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fleet.errors import DeviceError
from fleet.isa.registry import find_device
from fleet.sdk.dram import dram
from fleet.sdk.dram_phases import drawn_phase, spread_seeds

DEVICES = ("hbm_small", "hbm0923")


def test_the_generator_is_splitmix64() -> None:
    """First outputs for the state 1234567, as published with the generator; a port adds to the state."""
    state = 1234567 - 0x51ED270B
    assert drawn_phase(state, 0, 1 << 64) == 6457827717110365317


@pytest.mark.parametrize("name", DEVICES)
def test_every_sixteenth_of_the_ddr_period_is_met_once(name: str) -> None:
    device = find_device(name)[1]
    period = dram(device, "ddr").t_refi
    for first in (0, 5000, 1 << 32):
        seeds = spread_seeds(device, first=first)
        phases = [drawn_phase(seed, device.parameters["HbmPorts"], period) for seed in seeds]
        assert sorted(p * 16 // period for p in phases) == list(range(16))
        assert seeds == spread_seeds(device, first=first)
        assert min(seeds) >= first
    assert spread_seeds(device) != spread_seeds(device, first=5000)


@pytest.mark.parametrize("name", DEVICES)
def test_their_mean_scatters_less_than_that_of_the_first_ones(name: str) -> None:
    """What a read of all HBM ports waits for refreshes, at a time that the choice did not look at."""
    device = find_device(name)[1]
    d, ports = dram(device, "hbm"), device.parameters["HbmPorts"]

    def waits(seeds: tuple[int, ...]) -> float:
        phases = np.array([[drawn_phase(s, p, d.t_refi) for p in range(ports)] for s in seeds])
        return float(np.maximum(0, d.t_rfc - (301 - phases) % d.t_refi).max(axis=1).mean())

    true = waits(tuple(range(4000)))
    spread = [waits(spread_seeds(device, first=10_000 * i)) - true for i in range(1, 25)]
    plain = [waits(tuple(range(10_000 * i, 10_000 * i + 16))) - true for i in range(1, 25)]
    assert np.std(spread) < 0.6 * np.std(plain)
    assert abs(np.mean(spread)) < np.std(plain), "and it is not biased"


def test_a_device_without_timing_tables_is_refused() -> None:
    device = dataclasses.replace(find_device("hbm_small")[1], timing={})
    with pytest.raises(DeviceError, match="no table"):
        spread_seeds(device)
