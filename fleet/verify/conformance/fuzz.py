"""Endless random programs: the conformance suite's legal and illegal programs on `iss` and `rtl`, with every memory model in turn.

Program n of a seed is a named case of the suite, so it can be made again alone (`fleet stream run NAME`), and a stopped run
resumes. What is compared depends on seed and number only, not on the number of processes.
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
from fleet.verify.conformance.fuzz_state import Journal, RanProgram, StreamFuzzState, state_file
from fleet.verify.conformance.fuzz_workers import Done, FuzzOrder, Workers, make_workers

_STRIDE = 10_000_000
"""Maximum number of programs of one seed."""
_KINDS, _SHARES = ("program", "illegal", "random"), (0.75, 0.1, 0.15)
_SAVED_EVERY = 5.0
STOP_AFTER = 10
"""Failures after which the run stops."""
_BARREN = 100
"""The run stops if so many programs, and no other, were drawn and none of them fits into the device's memory."""
AHEAD = 16
"""A chooser names program n from the outcomes of all programs up to n - AHEAD, however many run in parallel."""


class Chooser(Protocol):
    """Chooses the next program from the coverage so far: steers a run towards unmet bins."""

    def choose(self, number: int) -> str:
        """Return the name of case `number`, for `make_case`. It depends only on the seed and on the outcomes so far."""
        ...

    def met(self, case: StreamCase, outcomes: Sequence[StreamOutcome]) -> None:
        """Report that a case was run. Called in the order of the numbers."""
        ...


def case_name(device: str, seed: int, number: int) -> str:
    """Return the name of program `number` of a seed."""
    instruction_set, _ = find_device(device)
    known = list(sources(instruction_set))
    if not known:
        raise DeviceError("the instruction set does not say what to draw", where=device, hint="see fleet.isa.conformance")
    rng = np.random.default_rng([seed, number])
    kind = str(rng.choice(_KINDS, p=_SHARES))
    what = "program" if kind == "program" else f"{known[int(rng.integers(len(known)))]}/{kind}"
    return f"{device}/{what}/{seed * _STRIDE + number}"


class UndefinedPrograms:
    """Chooses programs that may read undefined data. Only the instructions before the first that depends on such data count."""

    def __init__(self, device: str, seed: int) -> None:
        self._device, self._seed = device, seed

    def choose(self, number: int) -> str:
        """Return the name of case `number`."""
        return f"{self._device}/undefined/{self._seed * _STRIDE + number}"

    def met(self, case: StreamCase, outcomes: Sequence[StreamOutcome]) -> None:
        """Ignore the outcome: the choice does not depend on it."""


def fuzz(
    state: StreamFuzzState, folder: Path, *, seconds: float, count: int | None = None, instructions: int | None = None,
    stop_after: int = STOP_AFTER, jobs: int = 1, told: Callable[[StreamFuzzState], None] | None = None,
    chooser: Chooser | None = None, ran: Callable[[RanProgram], None] | None = None,
) -> StreamFuzzState:  # fmt: skip
    """Continue from `state` for some seconds, programs or instructions. Stores the state and failing streams in `folder`.

    Args:
        state: from `load_state`; modified.
        stop_after: failures after which the run stops.
        jobs: programs at a time, each in its own process with its own simulation; 1: in this process.
        told: called from time to time.
        ran: called after every program.
        chooser: names the programs; None: use `case_name`.

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
    """One run: assigns numbers and collects the outcomes."""

    def __init__(
        self, state: StreamFuzzState, journal: Journal, workers: Workers, chooser: Chooser | None,
        told: Callable[[StreamFuzzState], None] | None, ran: Callable[[RanProgram], None] | None,
    ) -> None:  # fmt: skip
        self._state, self._journal, self._workers, self._chooser = state, journal, workers, chooser
        self._told, self._ran = told, ran
        self._before = self._saved = time.monotonic()  # build time does not count
        self._given: list[int] = []  # numbers of this run, in order, whose outcome the chooser does not know yet
        self._outcomes: dict[int, Done] = {}
        self._under_way = 0

    def go(self, until: float, count: int | None, instructions: int | None, stop_after: int) -> None:
        """Run until one of the limits is reached."""
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
        """Return whether the outcomes that the chooser needs are known. If so, report exactly these to it, in order."""
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
