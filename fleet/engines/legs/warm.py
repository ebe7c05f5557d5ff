"""Simulations that a regression session keeps running between its runs: starting one costs more than a short run.

A run takes a waiting process of the same executable and the same seed of the power-on state. Every job resets the design; what a
reset does not set is what the previous job left, as between the jobs of one run. A run that fails in such a process is repeated in
a new one (`fleet.regress.pytest_plugin`). Outside a session (`keep_warm`) nothing is kept.
"""

from __future__ import annotations

import threading
from pathlib import Path

from fleet.core.scratch import Scratch
from fleet.engines.rtl_sim.process import Simulation

_MOST = 2
"""Number of waiting processes; the one that has waited longest is ended for another."""

_Key = tuple[Path, int]


class _Warm:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept = False
        self.reused = 0
        self.waiting: list[tuple[_Key, Simulation, Scratch]] = []
        self.lent: dict[Simulation, tuple[_Key, Scratch]] = {}


_WARM = _Warm()


def keep_warm() -> None:
    """Keep simulations between runs from now on, until `end_warm`."""
    _WARM.kept = True


def end_warm() -> None:
    """End the waiting processes and keep no more; may be called twice."""
    _WARM.kept = False
    drop_waiting()


def drop_waiting() -> None:
    """End the waiting processes: the next runs start new ones."""
    with _WARM.lock:
        waiting, _WARM.waiting = _WARM.waiting, []
    for _, simulation, scratch in waiting:
        simulation.close()
        scratch.close()


def times_reused() -> int:
    """Return how often this process lent a simulation that another run had used."""
    return _WARM.reused


def take(executable: Path, seed: int) -> Simulation | None:
    """Return a waiting simulation, else a new one in a folder of its own; None outside a session.

    Raises SetupError or SimulationError, as `Simulation` does.
    """
    if not _WARM.kept:
        return None
    key = (executable, seed)
    lent = _waiting(key)
    if lent is not None:
        return lent
    scratch = Scratch("warm")
    try:
        simulation = Simulation(executable, scratch.path, seed=seed)
    except BaseException:
        scratch.close()
        raise
    with _WARM.lock:
        _WARM.lent[simulation] = key, scratch
    return simulation


def _waiting(key: _Key) -> Simulation | None:
    """Lend a waiting process that still runs; forget those that ended while they waited."""
    ended: list[tuple[Simulation, Scratch]] = []
    found: Simulation | None = None
    with _WARM.lock:
        for entry in [e for e in _WARM.waiting if e[0] == key]:
            _, simulation, scratch = entry
            _WARM.waiting.remove(entry)
            if simulation.running:
                _WARM.lent[simulation] = key, scratch
                _WARM.reused += 1
                found = simulation
                break
            ended.append((simulation, scratch))
    for simulation, scratch in ended:
        simulation.close()
        scratch.close()
    return found


def give(simulation: Simulation) -> None:
    """End a simulation, or let it wait for the next run if it came from `take` and still serves jobs."""
    ended: list[tuple[Simulation, Scratch | None]] = []
    with _WARM.lock:
        key, scratch = _WARM.lent.pop(simulation, (None, None))
        if key is None or scratch is None or simulation.closed or not _WARM.kept:
            ended.append((simulation, scratch))
        else:
            _WARM.waiting.append((key, simulation, scratch))
            while len(_WARM.waiting) > _MOST:
                _, oldest, folder = _WARM.waiting.pop(0)
                ended.append((oldest, folder))
    for one, folder in ended:
        one.close()
        if folder is not None:
            folder.close()
