"""Explain a stream's first divergent commit: replay from the last good commit, then describe what it showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from fleet.compare.diverged import Divergence
from fleet.compare.divergence import StreamEvidence, explain
from fleet.engines.rtl_sim.hardware import Hardware
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.trace import Commit, Trace
from fleet.errors import FleetError
from fleet.isa.issue import Binary
from fleet.isa.resolved import begun_state, resolved
from fleet.sdk import Call, Device, InstructionSet, Write
from fleet.streams.binaries import binaries
from fleet.streams.case import Setting, StreamCase, StreamCommit
from fleet.streams.images import Images
from fleet.streams.locate import disagreement, expected_of
from fleet.streams.model_side import UNKNOWN_CAUSE
from fleet.streams.replay.explain import ReplayContext, account, spans
from fleet.streams.replay.history import MemoryHistory
from fleet.streams.replay.window import Fetch, replay

NAME = "rtl-vs-iss"


class Bench(Protocol):
    """The part of a `StreamRunner` that explaining needs: the set, the device, both memories, and runs of the hardware."""

    set: InstructionSet
    device: Device
    expected: Images
    found: Images

    def hardware(self, case: StreamCase, setting: Setting, count: int | None = None) -> object:
        """Run the first `count` instructions; `found` holds the memory afterwards."""
        ...

    def replayed(self, case: StreamCase, setting: Setting) -> Hardware:
        """Return the hardware as replays drive it, in the running simulation."""
        ...


def history_of(runner: Bench, case: StreamCase) -> MemoryHistory:
    """Return the functional model before the stream's first instruction, on the runner's memory."""

    def fill() -> None:
        runner.expected.fill(case.blocks, case.parameters)

    fill()
    return MemoryHistory(runner.set, runner.device, runner.expected.memory, case.calls, fill)


def fetch_of(runner: Bench, case: StreamCase, setting: Setting) -> Fetch | None:
    """Return how the instructions of a window are fetched; None if the setting writes them to the registers."""

    def fetch(calls: Sequence[Call]) -> tuple[Sequence[Write], Sequence[Binary]]:
        plan = binaries(runner.set, runner.device, replace(case, calls=tuple(calls), causes=None), "aux")
        return plan.blocks, plan.binaries

    return fetch if setting.issue == "aux" else None


def explained(
    runner: Bench, case: StreamCase, setting: Setting, expected: Sequence[StreamCommit], found: Sequence[StreamCommit],
    first: int,
) -> Divergence:  # fmt: skip
    """Return the explained divergence at instruction `first`. Overwrites both memories of the runner."""
    call = case.calls[first]
    why = disagreement(expected[first], found[first])
    divergence = Divergence(NAME, first, call.instruction, call.ops, why or "memory outside its destination changed")
    history = history_of(runner, case)
    expectations = expected_of(expected)
    original = _commit(first, found[first])

    window = None
    try:
        if why:
            hardware = runner.replayed(case, setting)
            history.to(first)
            window = replay(history, hardware, expectations, first, original, fetch=fetch_of(runner, case, setting))
        if window is None:
            runner.hardware(case, setting, first + 1)
    except FleetError as error:
        divergence = replace(divergence, what=f"{divergence.what}; alone, the instructions up to {first} fail: {error}")
    known = ReplayContext(
        near=spans([_commit(i, c) for i, c in enumerate(expected)], [_commit(i, c) for i, c in enumerate(found)], first),
        cut=len(found) < len(expected), digests={i: c.digest for i, c in enumerate(expected[:first])},
    )  # fmt: skip
    return account(divergence, history, runner.found, _commit(first, expected[first]), original, window, known)


def stopped_at(runner: Bench, case: StreamCase, error: SimulationError) -> Divergence | None:
    """Return the instruction at which a run of the hardware ended, with its registers and the configuration that it found.

    None where no instruction is known: the run itself could not begin. Nothing runs on the hardware, and no memory changes.
    """
    if error.seq is None or not 0 <= error.seq < len(case.calls):
        return None
    calls = resolved(runner.set, runner.device, case.calls, begun_state(runner.device, case.blocks))
    call = calls[error.seq]
    divergence = Divergence(NAME, error.seq, call.instruction, call.ops, error.what)
    evidence = StreamEvidence(runner.set, runner.device, calls)
    return explain(divergence, Trace("iss", ""), Trace("rtl", ""), evidence)


def _commit(seq: int, c: StreamCommit) -> Commit:
    """Convert to the commit of an engine's trace."""
    cause = 0 if c.cause == UNKNOWN_CAUSE else c.cause
    return Commit(seq, c.instruction, (), c.digest, c.bytes_written, c.result, c.start, c.end, c.cycles, error=cause)
