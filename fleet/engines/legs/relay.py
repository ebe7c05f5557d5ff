"""Runs on one memory, one after the other, of which the next ones begin while legs of earlier ones are being simulated.

The functional model's state after a run is known before the hardware has simulated it, so the next run starts from there. If a run
fails or diverges, those behind it are dropped: nothing of them counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from fleet.engines.legs.course import ModelMemory
from fleet.engines.legs.pages import Pages, WrittenPages
from fleet.engines.legs.pool import Simulations
from fleet.engines.legs.request import LegRequest, LegsRan
from fleet.engines.legs.run import LegRun
from fleet.engines.rtl_sim.process import SimulationError
from fleet.errors import FleetError
from fleet.isa.memory import MappedMemory
from fleet.sdk import Memory


@dataclass(frozen=True)
class _Begun:
    """A run under way. hosted: pages that the host wrote before it. error: why the model ended it, or an earlier one."""

    run: LegRun | None
    hosted: Pages
    error: FleetError | None


class Relay:
    """Overlapping runs of one engine.

    Three memories share the image files, which stay as they are while a run is under way: `host` is the functional model's and
    ahead of all legs; each leg has its own; `results` is what the hardware left, up to the last run that has ended.
    """

    def __init__(self, memory: MappedMemory, simulations: Simulations, jobs: int) -> None:
        """memory: gets what the runs leave whenever none is under way. jobs: how many legs run at a time."""
        self._base, self._simulations, self._jobs = memory, simulations, jobs
        self._begun: deque[_Begun] = deque()
        self._legs = 0
        self._ahead: ModelMemory | None = None
        self._results: MappedMemory | None = None
        self._left: WrittenPages | None = None
        self._threads: ThreadPoolExecutor | None = None

    @property
    def host(self) -> Memory:
        """The memory from which the next run starts: the host writes there."""
        return self._model()

    @property
    def results(self) -> MappedMemory:
        """The memory after the last run that has ended, as the hardware left it."""
        return self._results or self._base

    def begin(self, requested: Callable[[MappedMemory], LegRequest], progress: Callable[[int], None] | None = None) -> None:
        """Begin a run after those under way; what the functional model raises, `end` raises in its turn.

        requested: gets the model's memory before the run, and returns the request, on the memory of this relay.
        """
        ahead, run = self._model(), None
        hosted = ahead.hosted()
        ahead.memory.reset_state()  # reset, as hardware does before every job
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._jobs, "leg")
        error = self._begun[-1].error if self._begun else None
        try:
            if error is None:
                run = LegRun(requested(ahead.memory), self._simulations, progress, ahead=ahead, number=self._legs)
                self._legs += len(run.legs)
                run.begin(self._threads)
        except FleetError as raised:
            error = raised
        self._begun.append(_Begun(run, hosted, error))

    def end(self) -> tuple[LegRequest, LegsRan]:
        """Wait for the earliest run under way; if it diverges or fails, all others are dropped.

        Raises what `run_in_legs` raises.
        """
        if not self._begun:
            raise SimulationError("no run is under way", where="rtl")
        whole = False
        try:
            ran = self._ended(self._begun[0])
            whole = ran[1].status.status == "done"
            return ran
        finally:
            if whole:
                self._begun.popleft()
            else:
                self._drop()
            if not self._begun:
                self._settle()

    def close(self) -> None:
        """Drop the runs under way; may be called twice."""
        self._drop()
        self._settle()

    def _model(self) -> ModelMemory:
        if self._ahead is None:
            self._ahead, self._results = ModelMemory(self._base), self._base.apart()
            self._left = WrittenPages(self._results)
        return self._ahead

    def _ended(self, begun: _Begun) -> tuple[LegRequest, LegsRan]:
        if begun.error is not None:
            raise begun.error
        assert begun.run is not None
        assert self._results is not None
        assert self._left is not None
        begun.run.wait()
        begun.hosted.put(self._results)
        ran = begun.run.whole(self._results)
        for pages in (begun.hosted, *begun.run.found.values()):
            self._left.mark_pages(pages)
        return begun.run.request, ran

    def _drop(self) -> None:
        """Stop all legs: the images may change then."""
        for begun in self._begun:
            if begun.run is not None:
                begun.run.drop()
        self._begun.clear()
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
            self._threads = None

    def _settle(self) -> None:
        """Put what the hardware left into the images, from which the next run starts."""
        if self._ahead is None or self._results is None or self._left is None:
            return
        self._left.contents().put(self._base)
        self._base.copy_inside(self._results)
        self._base.known = self._results.known
        self._results.close()
        self._ahead.close()
        self._ahead = self._results = self._left = None
