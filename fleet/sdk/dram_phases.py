"""Refresh phases drawn from the seed N of `--memory timed:N`, and a set of seeds that represents all phases.

A port refreshes every t_refi from a phase of its own on. What a short instruction takes depends on which refreshes it meets, so
its cycles are a mean over phases. Of 16 drawn at random that mean scatters by several percent; `spread_seeds` picks 16 that are
spread over the period: DDR's phases one in each sixteenth, those of the HBM ports so that at any time as much is closed as
on average.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fleet.sdk.dram import Dram, dram
from fleet.sdk.hardware.device import Device

__all__ = ["drawn_phase", "spread_seeds"]

_CANDIDATES = 640
_ROUNDS = 4
_TIMES = 48  # of a period, at which is looked
_MASK = (1 << 64) - 1


def drawn_phase(seed: int, port: int, period: int) -> int:
    """Clock of a port's first refresh, 0 to period - 1. Ports are counted as the bench does: HBM's from 0 on, DDR behind them."""
    z = (seed + 0x51ED270B * (port + 1) + 0x9E3779B97F4A7C15) & _MASK  # SplitMix64, as in rtl_models/memory/timing.cpp
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return (z ^ (z >> 31)) % period


def spread_seeds(device: Device, count: int = 16, first: int = 0) -> tuple[int, ...]:
    """`count` (64 at most) seeds of `--memory timed:`, the same ones every time.

    first: those that are looked at begin there. What stays of chance in one choice would be the same for all short instructions,
    which start at about the same cycle; so give each its own. Raises DeviceError when the device has no timing tables.
    """
    hbm = dram(device, "hbm") if "hbm" in device.memory else None
    return _spread(hbm, device.parameters.get("HbmPorts", 0) if hbm else 0, dram(device, "ddr").t_refi, count, first)


@lru_cache
def _spread(hbm: Dram | None, ports: int, ddr_period: int, count: int, first: int) -> tuple[int, ...]:
    """A seed of every stratum of DDR's phase: the one that brings the sum of what is closed closest to its mean, in some rounds."""
    seeds = range(first, first + _CANDIDATES)
    strata = [drawn_phase(seed, ports, ddr_period) * count // ddr_period for seed in seeds]
    closed = np.zeros((_CANDIDATES, 1)) if hbm is None else _closed(hbm, ports, seeds)
    mine = [[at for at, stratum in enumerate(strata) if stratum == i] for i in range(count)]
    mean, chosen = closed.mean(axis=0), [candidates[0] for candidates in mine]
    sums = closed[chosen].sum(axis=0)
    for i in list(range(count)) * _ROUNDS:
        sums -= closed[chosen[i]]
        off = ((sums + closed[mine[i]] - count * mean) ** 2).sum(axis=1)
        chosen[i] = mine[i][int(off.argmin())]
        sums += closed[chosen[i]]
    return tuple(seeds[at] for at in chosen)


def _closed(d: Dram, ports: int, seeds: range) -> np.ndarray:
    """(seeds, times): clocks that a read of all ports at that time waits for the last one's refresh."""
    phases = np.array([[drawn_phase(seed, port, d.t_refi) for port in range(ports)] for seed in seeds])
    stop = d.t_rp + d.t_rfc + d.t_rcd
    found: list[np.ndarray] = []
    for t in np.arange(_TIMES) * d.t_refi // _TIMES:
        since = (t - phases) % d.t_refi
        found.append(np.maximum(0, stop - since).max(axis=1))
    return np.stack(found, axis=1).astype(np.float64)
