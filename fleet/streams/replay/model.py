"""Explain a compiled model's first divergent commit: run the functional model up to it, replay, describe the result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from fleet.compare.compiled_stream import CompiledStream
from fleet.compare.diverged import Divergence
from fleet.compare.divergence import StreamEvidence, explain
from fleet.engines.accel import run_compiled
from fleet.engines.backend import Snapshot
from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend, fetched
from fleet.engines.rtl import RtlBackend
from fleet.engines.rtl_sim.expected import expected_of
from fleet.engines.rtl_sim.hardware import Waves
from fleet.engines.trace import Commit, Trace
from fleet.errors import DeviceError, FleetError
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call, Device, InstructionSet
from fleet.streams.replay.explain import ReplayContext, account, spans
from fleet.streams.replay.fetch import fetch_at_end
from fleet.streams.replay.history import MemoryHistory
from fleet.streams.replay.waves import replay_with_waves
from fleet.streams.replay.window import copy_memory, replay
from fleet.targets.accel.stream import DeviceSegment


class _ReachedError(Exception):
    """The run has reached the instruction."""


class _UpTo(IssBackend):
    """Executes up to the segment with instruction `seq`, passes the history to `then` and ends the run."""

    def __init__(self, seq: int, calls: Sequence[Call], then: Callable[[MemoryHistory], None]) -> None:
        super().__init__()
        self._seq, self._calls, self._then = seq, calls, then

    def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
        super().open(instruction_set, device, memory, options)
        self._parts = instruction_set, device, memory

    def execute(
        self, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary] = (), snapshots: Sequence[Snapshot] = ()
    ) -> Sequence[Commit]:
        if self._seq >= first_seq + len(calls):
            return super().execute(calls, first_seq, binaries, snapshots)
        instruction_set, device, memory = self._parts
        here = fetched(instruction_set, memory, calls, binaries)
        every = [*self._calls[:first_seq], *here, *self._calls[first_seq + len(calls) :]]
        self._then(MemoryHistory(instruction_set, device, memory, every, first=first_seq))
        raise _ReachedError


def explain_model(
    divergence: Divergence, stream: CompiledStream, inputs: Mapping[str, np.ndarray], options: RunOptions,
    traces: tuple[Trace, Trace], known: ReplayContext, folder: Path,
) -> Divergence | None:  # fmt: skip
    """Return the divergence after a replay, or None if no replay was possible.

    Args:
        divergence: of `compare_bits`. stream, inputs, options: as the engines ran them.
        traces: of the functional model and of the hardware. folder: for memory images and the simulation's files.
    """
    seq = divergence.seq
    reference, other = traces
    if seq is None or seq >= len(reference.commits) or seq >= len(other.commits):
        return None
    found: list[Divergence] = []
    wanted = expected_of(reference.commits)

    def then(history: MemoryHistory) -> None:
        history.to(seq)
        with _copied(history, options, folder, RtlBackend()) as backend:
            hardware = backend.hardware()
            fetch = fetch_at_end(hardware) if stream.compiled.options.issue == "aux" else None
            window = replay(history, hardware, wanted, seq, other.commits[seq], fetch=fetch)
            if window is not None:
                told = replace(
                    known, near=spans(reference.commits, other.commits, seq), cut=other.stopped is not None,
                    digests={c.seq: c.digest for c in reference.commits[:seq]},
                )  # fmt: skip
                found.append(account(divergence, history, hardware, reference.commits[seq], other.commits[seq], window, told))

    _run_up_to(seq, stream, inputs, options, folder, then)
    return found[0] if found else None


def explain_on_model(
    divergence: Divergence, stream: CompiledStream, inputs: Mapping[str, np.ndarray], options: RunOptions,
    traces: tuple[Trace, Trace], evidence: StreamEvidence, folder: Path,
) -> Divergence:  # fmt: skip
    """Return the divergence from what the run itself left, with the operands from the functional model.

    The run's memory may already hold other tensors in place of the operands. If constants in it are damaged, it is used as it is.
    """
    seq, found = divergence.seq, list[Divergence]()

    def then(history: MemoryHistory) -> None:
        assert seq is not None
        history.to(seq)
        found.append(explain(divergence, *traces, replace(evidence, before=history.memory)))

    if seq is not None and not evidence.damage:
        _run_up_to(seq, stream, inputs, options, folder, then)
    return found[0] if found else explain(divergence, *traces, evidence)


def _run_up_to(
    seq: int,
    stream: CompiledStream,
    inputs: Mapping[str, np.ndarray],
    options: RunOptions,
    folder: Path,
    then: Callable[[MemoryHistory], None],
) -> None:
    """Run the functional model; `then` gets the history of the segment with instruction `seq`, unless something fails before."""
    run = replace(options, workdir=folder / "model", progress=None, expected=(), keep_tensors=False)
    with suppress(_ReachedError, FleetError):
        run_compiled(stream.compiled, inputs, run, _UpTo(seq, stream.calls, then))


def leave_model_waves(
    stream: CompiledStream,
    inputs: Mapping[str, np.ndarray],
    options: RunOptions,
    divergence: Divergence,
    path: Path,
    where: str,
    folder: Path,
) -> Waves:
    """Write waves of a compiled model's divergent commit, from a replay of the instructions around it.

    Args:
        stream, inputs, options: of the run, made again. divergence: of the result, at a commit.
        path: gets the suffix of the format written. where: the stored result, for messages. folder: for images and jobs.

    Raises:
        SimulationError: no replay shows the divergence.
        BuildError, SetupError, FleetError.
    """
    model = IssBackend()
    plain = replace(options, progress=None, expected=(), keep_tensors=False)
    commits = run_compiled(stream.compiled, inputs, replace(plain, workdir=folder / "iss"), model).commits
    seq = divergence.commit
    if seq is None or not 0 <= seq < len(commits):
        raise DeviceError(f"instruction {seq} differs, the model has {len(commits)}: the model has changed", where=where)
    found: list[Waves] = []

    def then(history: MemoryHistory) -> None:
        history.to(seq)
        with _copied(history, options, folder, RtlBackend("waves")) as backend:
            hardware = backend.hardware()
            fetch = fetch_at_end(hardware) if stream.compiled.options.issue == "aux" else None
            shown = path.with_suffix(backend.wave_suffix)
            found.append(replay_with_waves(history, hardware, expected_of(commits), divergence, shown, where, fetch))

    with suppress(_ReachedError):
        run_compiled(stream.compiled, inputs, replace(plain, workdir=folder / "model"), _UpTo(seq, stream.calls, then))
    return found[0]


@contextmanager
def _copied(history: MemoryHistory, options: RunOptions, folder: Path, backend: RtlBackend) -> Generator[RtlBackend]:
    """Open the backend on a copy of the history's memory."""
    memory = MappedMemory(history.device, folder / "again")
    try:
        copy_memory(history.memory, memory)
        memory.view("reg", 0, 1 << 16)[:] = history.memory.view("reg", 0, 1 << 16)
        backend.open(history.instruction_set, history.device, memory, replace(options, workdir=folder / "replay", progress=None))
        yield backend
    finally:
        backend.close()
        memory.close()


def host_names(stream: CompiledStream) -> Callable[[str, int, int], str]:
    """Return a function from a place to what the host wrote there: constants and inputs of the plan (`HostNames`)."""
    plan = stream.compiled.plan
    inputs = {"%" + a.name for a in stream.compiled.program.inputs}
    places = [
        (c.space, c.offset, max(int(d.size) for d in c.data), f"constant {name}") for name, c in plan.constants.items() if c.data
    ]
    places += [
        ("ddr", b.offset, b.size, f"input {key[1:]}" if key in inputs else f"{key.lstrip('%')}, from the host")
        for step in stream.compiled.steps
        if isinstance(step, DeviceSegment)
        for key in step.uploads
        for b in [plan.buffers[key]]
    ]

    def name(space: str, _bank: int, offset: int) -> str:
        return next((text for where, start, size, text in places if where == space and start <= offset < start + size), "")

    return name
