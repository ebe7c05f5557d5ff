"""Processes of one simulation, for jobs that run side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress

from fleet.engines.rtl_sim.process import Simulation
from fleet.errors import FleetError


class Simulations:
    """Starts processes on demand and lends each to one job at a time. Thread-safe."""

    def __init__(self, start: Callable[[int], Simulation], end: Callable[[Simulation], None] = Simulation.close) -> None:
        """start: starts process number n, in a folder of its own. end: ends one that is needed no more."""
        self._start, self._end = start, end
        self._lock = threading.Lock()
        self._idle: list[Simulation] = []
        self._lent: dict[int, Simulation] = {}
        self._killed: list[Simulation] = []
        self._starting: list[Future[Simulation]] = []
        self._started = 0
        self.start_seconds = 0.0
        """Wall time until processes were ready, summed."""

    @contextmanager
    def lend(self, number: int) -> Generator[Simulation]:
        """Lend a process to job `number`. After an error, or if it was killed, it is not reused."""
        simulation = self.take()
        with self._lock:
            self._lent[number] = simulation
        try:
            yield simulation
        except BaseException:
            self._over(simulation)
            raise
        finally:
            with self._lock:
                del self._lent[number]
                killed = simulation in self._killed
                if not killed and not simulation.closed:
                    self._idle.append(simulation)
            if killed:
                self._over(simulation)

    def _over(self, simulation: Simulation) -> None:
        simulation.close()  # at once: no other run may take it
        self._end(simulation)

    def begin(self, count: int) -> None:
        """Start processes without waiting for them; `take` then returns them, or raises why one did not start."""
        for number in range(self._started, self._started + count):
            future: Future[Simulation] = Future()
            self._starting.append(future)
            threading.Thread(target=self._begin, args=(number, future), daemon=True).start()
        self._started += count

    def _begin(self, number: int, future: Future[Simulation]) -> None:
        try:
            future.set_result(self._start(number))
        except BaseException as error:
            future.set_exception(error)

    def take(self) -> Simulation:
        """Return an idle process. Raises SetupError or SimulationError."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            starting = self._starting.pop(0) if self._starting else None
            number = self._started
            self._started += starting is None
        simulation = self._start(number) if starting is None else starting.result()
        with self._lock:
            self.start_seconds += simulation.start_seconds
        return simulation

    def shared(self) -> Simulation:
        """Return a running process, for sequential jobs while none is lent."""
        simulation = self.take()
        with self._lock:
            self._idle.append(simulation)
        return simulation

    def kill(self, behind: int) -> None:
        """End the processes of jobs with numbers above."""
        with self._lock:
            for number, simulation in self._lent.items():
                if number > behind:
                    self._killed.append(simulation)
                    simulation.kill()

    def close(self) -> None:
        """End all processes; may be called twice."""
        with self._lock:
            running, self._idle = [*self._idle, *self._lent.values()], []
            starting, self._starting = self._starting, []
        for simulation in running:
            self._end(simulation)
        for future in starting:
            with suppress(FleetError):
                self._end(future.result())
