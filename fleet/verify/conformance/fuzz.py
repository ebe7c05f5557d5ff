"""Random programs without end: legal and illegal ones of the conformance suite, on `iss` and `rtl`, on every memory in turn.

Program n of a seed is a case of the suite with a name, so it can be made again alone (`fleet stream run NAME`), and a run that was
stopped goes on where it stood. What is compared depends on seed and number only: not on how many processes run the programs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.conformance import sources
from fleet.isa.registry import find_device
from fleet.streams.case import StreamCase, StreamOutcome
from fleet.verify.conformance.fuzz_state import Journal, RanProgram, StreamFuzzState, load_state, state_file
from fleet.verify.conformance.fuzz_workers import Done, FuzzOrder, Workers, make_workers

__all__ = [
    "AHEAD",
    "STOP_AFTER",
    "Chooser",
    "StreamFuzzState",
    "UndefinedPrograms",
    "case_name",
    "fuzz",
    "load_state",
    "state_file",
]

_STRIDE = 10_000_000
"""Programs of one seed, at most."""
_KINDS, _SHARES = ("program", "illegal", "random"), (0.75, 0.1, 0.15)
_SAVED_EVERY = 5.0
STOP_AFTER = 10
"""Failures after which it is no use to go on."""
_BARREN = 100
"""Programs of which none fits into the device's memory, after which no other will."""
AHEAD = 16
"""A chooser names program n when it knows what came of all programs up to n - AHEAD, however many run at once."""


class Chooser(Protocol):
    """Chooses what is run next, knowing what has been met: how a run is steered towards what it has not seen yet."""

    def choose(self, number: int) -> str:
        """Name of case `number`, which `make_case` takes; it depends on the seed and on what was met, on nothing else."""
        ...

    def met(self, case: StreamCase, outcomes: Sequence[StreamOutcome]) -> None:
        """A case was run; in order of the numbers."""
        ...


def case_name(device: str, seed: int, number: int) -> str:
    """The name of program `number` of a seed."""
    instruction_set, _ = find_device(device)
    known = list(sources(instruction_set))
    if not known:
        raise DeviceError("the instruction set does not say what to draw", where=device, hint="see fleet.isa.conformance")
    rng = np.random.default_rng([seed, number])
    kind = str(rng.choice(_KINDS, p=_SHARES))
    what = "program" if kind == "program" else f"{known[int(rng.integers(len(known)))]}/{kind}"
    return f"{device}/{what}/{seed * _STRIDE + number}"


class UndefinedPrograms:
    """Chooses programs that may read what nothing defined: of each the instructions before the first that depends on it count."""

    def __init__(self, device: str, seed: int) -> None:
        self._device, self._seed = device, seed

    def choose(self, number: int) -> str:
        """See `Chooser`."""
        return f"{self._device}/undefined/{self._seed * _STRIDE + number}"

    def met(self, case: StreamCase, outcomes: Sequence[StreamOutcome]) -> None:
        """See `Chooser`: nothing is remembered."""


def fuzz(
    state: StreamFuzzState, folder: Path, *, seconds: float, count: int | None = None, instructions: int | None = None,
    stop_after: int = STOP_AFTER, jobs: int = 1, told: Callable[[StreamFuzzState], None] | None = None,
    chooser: Chooser | None = None, ran: Callable[[RanProgram], None] | None = None,
) -> StreamFuzzState:  # fmt: skip
    """Goes on from `state` for so long, so many programs, or so many instructions; stores state and failing streams in `folder`.

    Args:
        state: from `load_state`; it is changed.
        stop_after: failures after which it is no use to go on.
        jobs: programs at a time, each in a process with a simulation of its own; 1: in this process.
        told: called now and then; ran: called after every program.
        chooser: names the programs; None: `case_name` does.

    Raises SetupError, BuildError, FleetError.
    """
    with (
        Journal(state, state_file(folder, state.device, state.seed)) as journal,
        make_workers(state.device, folder, state.seed, jobs) as workers,
    ):
        run = _Run(state, journal, workers, chooser, told, ran)
        run.go(time.monotonic() + seconds, count, instructions, stop_after)
    return state


class _Run:
    """One run: hands out numbers, counts what comes back."""

    def __init__(
        self, state: StreamFuzzState, journal: Journal, workers: Workers, chooser: Chooser | None,
        told: Callable[[StreamFuzzState], None] | None, ran: Callable[[RanProgram], None] | None,
    ) -> None:  # fmt: skip
        self._state, self._journal, self._workers, self._chooser = state, journal, workers, chooser
        self._told, self._ran = told, ran
        self._before = self._saved = time.monotonic()  # the build does not count
        self._given: list[int] = []  # numbers of this run, in order, whose outcome the chooser does not know yet
        self._outcomes: dict[int, Done] = {}
        self._under_way = 0

    def go(self, until: float, count: int | None, instructions: int | None, stop_after: int) -> None:
        """Until one of the limits is met."""
        state, first, failures = self._state, self._state.instructions, len(self._state.failures)
        number, left = state.next, count if count is not None else _STRIDE
        while True:
            enough = instructions is not None and state.instructions - first >= instructions
            barren = not state.programs and state.left_out >= _BARREN
            over = left == 0 or barren or number >= _STRIDE or enough or len(state.failures) - failures >= stop_after
            while state.was_run(number):
                number += 1
            if not over and time.monotonic() < until and self._workers.free and self._may_choose(number):
                self._begin(number)
                number, left = number + 1, left - 1
            elif self._under_way:
                for done in self._workers.ended():
                    self._count(done)
            else:
                break
        self._tell(len(self._given))

    def _begin(self, number: int) -> None:
        state, chooser = self._state, self._chooser
        name = case_name(state.device, state.seed, number) if chooser is None else chooser.choose(number)
        if chooser is not None:
            self._given.append(number)
        self._workers.begin(FuzzOrder(number, name, whole=chooser is not None))
        self._under_way += 1

    def _may_choose(self, number: int) -> bool:
        """Whether what the chooser has to know is there; it is then told exactly that, in order."""
        behind = sum(n <= number - AHEAD for n in self._given)
        if any(n not in self._outcomes for n in self._given[:behind]):
            return False
        self._tell(behind)
        return True

    def _tell(self, count: int) -> None:
        for n in self._given[:count]:
            done = self._outcomes.pop(n)
            assert self._chooser is not None
            if done.case is not None:
                self._chooser.met(done.case, done.outcomes)
        del self._given[:count]

    def _count(self, done: Done) -> None:
        self._under_way -= 1
        if self._chooser is not None:
            self._outcomes[done.ran.number] = done
        now = time.monotonic()
        self._state.seconds += now - self._before
        self._before = now
        self._journal.add(done.ran)
        if self._ran is not None:
            self._ran(done.ran)
        if now - self._saved > _SAVED_EVERY:
            self._saved = now
            self._journal.save()
            if self._told is not None:
                self._told(self._state)
