"""Simulations that a session keeps running between its runs: starting one costs more than a short run.

A process is taken again by a run on the same executable with the same seed of the power-on state. Each job resets the design; what
a reset does not set is what the last job left, as between the jobs of one run. Outside a session (`keep_warm`) nothing is kept.
"""

from __future__ import annotations

import threading
from pathlib import Path

from fleet.core.scratch import Scratch
from fleet.engines.rtl_sim.process import Simulation

_MOST = 2
"""Processes that wait for a run; the one that has waited longest is ended for another."""


class _Warm:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept = False
        self.waiting: list[tuple[tuple[Path, int], Simulation, Scratch]] = []
        self.lent: dict[Simulation, tuple[tuple[Path, int], Scratch]] = {}


_WARM = _Warm()


def keep_warm() -> None:
    """Keep simulations between runs from now on, until `end_warm`."""
    _WARM.kept = True


def end_warm() -> None:
    """End those that wait and keep no more; may be called twice."""
    with _WARM.lock:
        _WARM.kept = False
        waiting, _WARM.waiting = _WARM.waiting, []
    for _, simulation, scratch in waiting:
        simulation.close()
        scratch.close()


def take(executable: Path, seed: int) -> Simulation | None:
    """A simulation of a session: one that waits, else a new one in a folder of its own. None outside a session.

    Raises SetupError or SimulationError, as `Simulation` does.
    """
    key = (executable, seed)
    with _WARM.lock:
        if not _WARM.kept:
            return None
        for place, (other, simulation, scratch) in enumerate(_WARM.waiting):
            if other == key:
                del _WARM.waiting[place]
                _WARM.lent[simulation] = key, scratch
                return simulation
    scratch = Scratch("warm")
    try:
        simulation = Simulation(executable, scratch.path, seed=seed)
    except BaseException:
        scratch.close()
        raise
    with _WARM.lock:
        _WARM.lent[simulation] = key, scratch
    return simulation


def give(simulation: Simulation) -> None:
    """End a simulation, or let it wait for the next run if it came from `take` and runs."""
    with _WARM.lock:
        key, scratch = _WARM.lent.pop(simulation, (None, None))
        ended: list[tuple[Simulation, Scratch | None]] = []
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
