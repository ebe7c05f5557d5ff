"""Shrinks a stream: instructions, sizes, values, setting and addresses, in turn, and again until nothing changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from fleet.compare.signature import FailureSignature
from fleet.errors import DeviceError
from fleet.isa.memory import as_bytes
from fleet.streams.case import Issue, Setting, StreamCase, StreamOutcome
from fleet.streams.run import StreamRunner
from fleet.verify.shrink.fields import simpler_fields
from fleet.verify.shrink.instructions import fewer_instructions
from fleet.verify.shrink.judge import FailureVerdict, judge
from fleet.verify.shrink.oracle import Attempt, OutOfTime, ShrinkOracle
from fleet.verify.shrink.places import tidier_addresses
from fleet.verify.shrink.values import simpler_values

_ROUNDS = 8
_ISSUES: tuple[Issue, ...] = ("regs", "ahead", "aux")
"""Ways of issue, simplest first."""
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class StreamSize:
    """Size of a stream. bytes: nonzero bytes of its blocks."""

    instructions: int
    bytes: int


@dataclass(frozen=True)
class Shrunk:
    """The shrunk stream.

    outcome: of the smallest stream, compared and located. power_on: seed of its state at power-on. origins: numbers of its
    instructions in the original stream. before, after: sizes. ran: attempts that ran; again: cached ones; refused: not well-formed
    ones. finished: nothing more could be removed; else the time was over.
    """

    outcome: StreamOutcome
    power_on: int
    signature: FailureSignature
    origins: tuple[int, ...]
    before: StreamSize
    after: StreamSize
    ran: int
    again: int
    refused: int
    seconds: float
    finished: bool


def size_of(case: StreamCase) -> StreamSize:
    """Count instructions, and nonzero bytes of memory."""
    return StreamSize(len(case.calls), sum(int(np.count_nonzero(as_bytes(b.data))) for b in case.blocks))


def shrink_stream(
    case: StreamCase, setting: Setting, *, power_on: int = 0, seconds: float = 120.0, progress: Progress | None = None
) -> Shrunk:
    """Return the smallest stream found in so many seconds that fails in the same way as this one.

    Raises DeviceError if it does not fail, or not twice in the same way; SetupError, BuildError.
    """
    tell = progress or _silent
    with ExitStack() as open_:
        runner = open_.enter_context(StreamRunner(case.device, power_on=power_on))
        began = time.monotonic()  # build time does not count
        phase = ["running it twice"]

        def told(o: ShrinkOracle) -> None:
            left = size_of(o.best.case)
            words = f"{phase[0]}, {o.ran} attempts, {left.instructions} instructions, {left.bytes:,} bytes"
            tell((time.monotonic() - began) / seconds, words)

        first = Attempt(case, setting, power_on, tuple(range(len(case.calls))))
        oracle = ShrinkOracle(runner, began + seconds, told, first)
        verdict = _twice(oracle, first)
        assert verdict.signature is not None
        oracle.start(first, verdict)
        finished = False
        try:
            phase[0] = "setting"
            _simpler_setting(oracle, open_)
            for _ in range(_ROUNDS):
                before = oracle.best.key()
                for phase[0], step in (
                    ("instructions", _instructions),
                    ("sizes", simpler_fields),
                    ("values", simpler_values),
                    ("addresses", tidier_addresses),
                ):
                    step(oracle)
                    oracle.settle()
                phase[0] = "setting"
                _simpler_setting(oracle, open_)
                if oracle.best.key() == before:
                    finished = True
                    break
        except OutOfTime:
            pass
        oracle.settle()
        best = oracle.best
        (outcome,) = oracle.runner.run(best.case, [best.setting])
        return Shrunk(
            replace(outcome, case=replace(outcome.case, blocks=best.case.blocks)), best.power_on, verdict.signature, best.origins,
            size_of(case), size_of(best.case), oracle.ran, oracle.known, oracle.refused, time.monotonic() - began, finished,
        )  # fmt: skip


def _twice(oracle: ShrinkOracle, first: Attempt) -> FailureVerdict:
    one = judge(oracle.runner, first.case, first.setting)
    oracle.runner.restart()
    other = judge(oracle.runner, first.case, first.setting)
    if one.signature is None and other.signature is None:
        raise DeviceError(
            "does not fail: there is nothing to shrink", where=first.case.name, hint=f"it ran with {first.setting.name}"
        )
    if one != other:
        told = " and ".join(str(v.signature or "a pass") for v in (one, other))
        raise DeviceError(f"two runs differ ({told}): what is not repeatable cannot be shrunk", where=first.case.name)
    return one


def _instructions(oracle: ShrinkOracle) -> None:
    if len(oracle.best.case.calls) > 1:
        verdict = oracle.run(oracle.best)
        fewer_instructions(oracle, verdict.seq)


def _simpler_setting(oracle: ShrinkOracle, open_: ExitStack) -> None:
    """Find the simplest setting that still fails: state at power-on 0, registers instead of a binary, memory without stalls."""
    best = oracle.best
    if best.power_on:
        before = oracle.runner
        oracle.runner = open_.enter_context(StreamRunner(best.case.device))
        if not oracle.improves(replace(best, power_on=0)):
            oracle.runner = before
    kind = oracle.best.setting.memory.partition(":")[0]
    memories = [m for m in ("ideal", "fixed:5", "stall:0") if m.partition(":")[0] != kind]
    memories = memories[: {"ideal": 0, "fixed": 1, "stall": 2}.get(kind, 3)]
    for memory in (*memories, oracle.best.setting.memory):
        for issue in _ISSUES[: _ISSUES.index(oracle.best.setting.issue) + 1]:
            tried = Setting(memory, issue)
            if tried == oracle.best.setting:
                continue
            if oracle.improves(replace(oracle.best, setting=tried)):
                return


def _silent(fraction: float, words: str) -> None:
    """Ignore the progress."""
