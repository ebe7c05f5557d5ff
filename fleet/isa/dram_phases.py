"""When the memories refresh, which the number behind `--memory timed:` draws, and which numbers stand for all of them.

A port refreshes every t_refi from a phase of its own on. What a short instruction takes depends on which refreshes it meets, so
its cycles are a mean over phases. Of 16 drawn at random that mean scatters by several percent; `spread_seeds` picks 16 that are
spread over the period: DDR's phases one in each sixteenth, those of the HBM ports so that at any time as much is closed as
on average.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fleet.isa.contract import Device
from fleet.isa.dram import Dram, dram

__all__ = ["drawn_phase", "spread_seeds"]

_CANDIDATES = 2048
_TIMES = 48  # of a period, at which is looked
_MASK = (1 << 64) - 1


def drawn_phase(seed: int, port: int, period: int) -> int:
    """Clock of a port's first refresh, 0 to period - 1. Ports are counted as the bench does: HBM's from 0 on, DDR behind them."""
    z = (seed + 0x51ED270B * (port + 1) + 0x9E3779B97F4A7C15) & _MASK  # SplitMix64, as in rtl_models/memory/timing.cpp
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return (z ^ (z >> 31)) % period


def spread_seeds(device: Device, count: int = 16) -> tuple[int, ...]:
    """`count` seeds of `--memory timed:`, the same ones every time. Raises DeviceError when the device has no timing tables."""
    hbm = dram(device, "hbm") if "hbm" in device.memory else None
    return _spread(hbm, device.parameters.get("HbmPorts", 0) if hbm else 0, dram(device, "ddr").t_refi, count)


@lru_cache
def _spread(hbm: Dram | None, ports: int, ddr_period: int, count: int) -> tuple[int, ...]:
    """One stratum of DDR's phase after the other, the seed that brings the sum of what is closed closest to its mean."""
    strata = [drawn_phase(seed, ports, ddr_period) * count // ddr_period for seed in range(_CANDIDATES)]
    closed = np.zeros((_CANDIDATES, 1)) if hbm is None else _closed(hbm, ports)
    mean, sums = closed.mean(axis=0), np.zeros(closed.shape[1])
    chosen: list[int] = []
    for i in range(count):
        mine = [seed for seed, stratum in enumerate(strata) if stratum == i]
        off = ((sums + closed[mine] - (i + 1) * mean) ** 2).sum(axis=1)
        chosen.append(mine[int(off.argmin())])
        sums += closed[chosen[-1]]
    return tuple(chosen)


def _closed(d: Dram, ports: int) -> np.ndarray:
    """(candidates, times): how long a read at that time waits for the last port's refresh, of what begins in a fixed window."""
    phases = np.array([[drawn_phase(seed, port, d.t_refi) for port in range(ports)] for seed in range(_CANDIDATES)])
    stop = d.t_rp + d.t_rfc + d.t_rcd
    found: list[np.ndarray] = []
    for t in np.arange(_TIMES) * d.t_refi // _TIMES:
        since = (t - phases) % d.t_refi
        found.append(np.maximum(0, stop - since).max(axis=1))
    return np.stack(found, axis=1).astype(np.float64)
