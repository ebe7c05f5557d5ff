"""Tells whether a smaller stream still fails in the same way. One running simulation serves all attempts; none runs twice."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from fleet.compare.signature import FailureSignature
from fleet.engines.rtl_sim.process import SimulationError
from fleet.errors import FleetError
from fleet.isa.resolved import begun_state, resolved
from fleet.sdk import Device, InstructionSet
from fleet.streams.case import Setting, StreamCase
from fleet.streams.model_side import refusal
from fleet.streams.run import StreamRunner
from fleet.streams.undefined import undefined_read
from fleet.verify.shrink.judge import FailureVerdict, judge


class OutOfTime(Exception):
    """The time is over; the oracle holds the best attempt so far."""


@dataclass(frozen=True)
class Attempt:
    """A stream under a setting. origins: for each instruction its number in the original stream."""

    case: StreamCase
    setting: Setting
    power_on: int
    origins: tuple[int, ...]

    def key(self) -> bytes:
        """Return a digest of everything that decides how the attempt runs."""
        h = hashlib.sha256(repr((self.case.device, self.setting, self.power_on, self.case.seed, self.case.causes)).encode())
        h.update(repr(sorted(self.case.parameters.items())).encode())
        for c in self.case.calls:
            h.update(repr((c.instruction, sorted(c.fields.items()))).encode())
        for b in self.case.blocks:
            h.update(repr((b.space, b.bank, b.offset, b.data.size)).encode())
            h.update(np.ascontiguousarray(b.data).tobytes())
        return h.digest()


@dataclass
class ShrinkOracle:
    """Runs attempts.

    runner: for the attempts' device, with its own state at power-on. until: deadline as `time.monotonic()`. best: the smallest
    attempt that failed in the same way. wanted: how it fails. ran, known, refused: number of attempts that ran, were cached, and
    were not well-formed.
    """

    runner: StreamRunner
    until: float
    told: Callable[[ShrinkOracle], None]
    best: Attempt
    wanted: FailureSignature | None = None
    ran: int = 0
    known: int = 0
    refused: int = 0
    _results: dict[bytes, FailureVerdict] = field(default_factory=dict[bytes, FailureVerdict])
    _settled: Attempt | None = None
    _unordered: frozenset[tuple[int, int]] = frozenset()
    _undefined: bool = False
    _causes: Mapping[int, int] = field(default_factory=dict[int, int])

    def start(self, first: Attempt, verdict: FailureVerdict) -> None:
        """Set the stream to shrink and its failure. Later attempts must be at least as well-formed."""
        first = self._resolved(first)
        self.best, self.wanted, self._settled = first, verdict.signature, first
        self._unordered = self._races(first)
        last = len(first.case.calls) - 1
        until = last if verdict.seq is None else verdict.seq
        self._undefined = undefined_read(self._set, self._device, first.case, self.runner.expected, until) is not None
        calls = zip(first.origins, first.case.calls, strict=True)
        self._causes = {o: refusal(self._set.instructions[c.instruction], self._device, c.fields) for o, c in calls}

    def improves(self, attempt: Attempt) -> bool:
        """Return whether the attempt fails in the same way; if so, it becomes the best. Raises OutOfTime."""
        if time.monotonic() > self.until:
            raise OutOfTime
        attempt = self._resolved(attempt)
        key = attempt.key()
        if (verdict := self._results.get(key)) is not None:
            self.known += 1
        else:
            verdict = FailureVerdict(None)
            if self._well_formed(attempt):
                verdict = self.run(attempt)
            else:
                self.refused += 1
            if verdict.signature == self.wanted and not self._undefined and self._depends_on_nothing(attempt, verdict):
                verdict = FailureVerdict(None)
            self._results[key] = verdict
        if verdict.signature != self.wanted:
            return False
        self.best = attempt
        return True

    def run(self, attempt: Attempt) -> FailureVerdict:
        """Run an attempt, cached or not. A stream that the functional model cannot run does not count as this failure."""
        self.ran += 1
        self.told(self)
        self._poison(attempt.case)
        try:
            return judge(self.runner, attempt.case, attempt.setting)
        except (FleetError, ValueError):  # semantics may refuse the shapes of arbitrary fields
            return FailureVerdict(None)

    def settle(self) -> None:
        """Run the best attempt once more after power-on. If it does not fail, return to the last settled one.

        A failure must not depend on what earlier attempts left in the hardware.
        """
        if self.best is self._settled:
            return
        self.runner.restart()
        if judge(self.runner, self.best.case, self.best.setting).signature == self.wanted:
            self._settled = self.best
        elif self._settled is not None:
            self._results[self.best.key()] = FailureVerdict(None)
            self.best = self._settled

    def _poison(self, case: StreamCase) -> None:
        """If the stream reads memory inside the hardware, first run it on random data, to overwrite the previous attempt's results.

        Attempts resemble each other. A result that was never written would often be left from the previous attempt, and hide the
        failure.
        """
        calls = case.calls
        classes = [self._set.instructions.get(c.instruction) for c in calls]
        legal = [(cls, c) for cls, c in zip(classes, calls, strict=True) if cls and not refusal(cls, self._device, c.fields)]
        if not any(r.space not in self._device.memory for cls, c in legal for r in cls.reads(self._device, c.fields)):
            return
        rng = np.random.default_rng(0)
        outside = [b for b in case.blocks if b.space in self._device.memory]
        blocks = tuple(replace(b, data=rng.integers(0, 256, b.data.size, dtype=np.uint8)) for b in outside)
        with contextlib.suppress(SimulationError):
            self.runner.hardware(replace(case, blocks=blocks), Setting())

    @property
    def _set(self) -> InstructionSet:
        return self.runner.set

    @property
    def _device(self) -> Device:
        return self.runner.device

    def _resolved(self, attempt: Attempt) -> Attempt:
        """Return the attempt with the state registers that its calls find now."""
        calls = resolved(self._set, self._device, attempt.case.calls, begun_state(self._device, attempt.case.blocks))
        return attempt if calls is attempt.case.calls else replace(attempt, case=replace(attempt.case, calls=calls))

    def _well_formed(self, attempt: Attempt) -> bool:
        """Return whether every instruction is as legal as in the original stream, and there is no new race."""
        if not attempt.case.calls:
            return False
        for origin, call in zip(attempt.origins, attempt.case.calls, strict=True):
            unit = self._set.instructions.get(call.instruction)
            if unit is None or refusal(unit, self._device, call.fields) != self._causes.get(origin, 0):
                return False
        return self._races(attempt) <= self._unordered

    def _races(self, attempt: Attempt) -> frozenset[tuple[int, int]]:
        if attempt.setting.issue == "regs":  # one by one, without overlap
            return frozenset()
        judge = self._set.issue.unordered
        pairs = judge(self._device, attempt.case.calls) if judge is not None else ()
        return frozenset((attempt.origins[a], attempt.origins[b]) for a, b in pairs)

    def _depends_on_nothing(self, attempt: Attempt, verdict: FailureVerdict) -> bool:
        last = len(attempt.case.calls) - 1 if verdict.seq is None else verdict.seq
        return undefined_read(self._set, self._device, attempt.case, self.runner.expected, last) is not None
