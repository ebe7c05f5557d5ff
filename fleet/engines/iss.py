"""Engine `iss`: the instruction-set simulator, which runs the functional model of every instruction in order."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from fleet.engines.accel import run_accel
from fleet.engines.backend import Snapshot
from fleet.engines.base import RunOptions
from fleet.engines.evidence import Evidence
from fleet.engines.execute import execute_calls
from fleet.engines.trace import Commit, Trace
from fleet.errors import DeviceError
from fleet.ir.program import Program
from fleet.isa.codec_binary import decode_binary
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call, Device, InstructionSet, Memory, Write

_PROGRESS_S = 0.5


def fetched(instruction_set: InstructionSet, memory: Memory, calls: Sequence[Call], binaries: Sequence[Binary]) -> Sequence[Call]:
    """Return the calls, with those of `binaries` decoded from memory (operations and tokens are kept: the bytes have none).

    Raises CodecError if the bytes are not a binary, DeviceError if they hold another number of tasks.
    """
    done = list(calls)
    for binary in binaries:
        data = memory.view(binary.space, binary.offset, binary.size).tobytes()
        found = decode_binary(instruction_set, data)
        if len(found) != binary.count:
            raise DeviceError(f"{len(found)} tasks, expected {binary.count}", where=f"binary at {binary.space} {binary.offset:#x}")
        for n, call in enumerate(found, binary.first):
            done[n] = replace(call, ops=calls[n].ops, token_range=calls[n].token_range)
    return done


class IssBackend:
    """Executes on the mapped memory, in process, without a clock."""

    name = "iss"

    def __init__(self) -> None:
        self._opened: tuple[InstructionSet, Device, MappedMemory, RunOptions] | None = None

    def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
        """Store the arguments of `execute`."""
        self._opened = instruction_set, device, memory, options

    def execute(
        self, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary] = (), snapshots: Sequence[Snapshot] = ()
    ) -> Sequence[Commit]:
        """Execute calls (`execute_calls`); those in `binaries` are decoded from memory. Raises CodecError if they are damaged."""
        assert self._opened is not None, "open() comes first"
        instruction_set, device, memory, options = self._opened
        memory.reset_state()  # reset, as hardware does before every job
        calls = fetched(instruction_set, memory, calls, binaries)
        commits: list[Commit] = []
        said, later = time.monotonic(), deque(snapshots)
        wrote: Sequence[Write] = ()

        def watch(_seq: int, _call: Call, writes: Sequence[Write]) -> None:
            nonlocal wrote
            wrote = writes

        for call, commit in zip(calls, execute_calls(instruction_set, device, memory, calls, first_seq, watch=watch), strict=True):
            commits.append(commit)
            if options.written is not None:
                options.written.keep(call, commit, wrote)
            while later and later[0].seq == commit.seq:
                later.popleft().take(memory)
            if options.progress is not None and time.monotonic() - said > _PROGRESS_S:
                options.progress(len(commits) / len(calls), f"instruction {commit.seq}")
                said = time.monotonic()
        return commits

    def counters(self) -> Mapping[str, float]:
        """Return no counters."""
        return {}

    def evidence(self) -> Evidence:
        """Return a model's evidence."""
        return Evidence("model")

    def close(self) -> None:
        """Drop the references."""
        self._opened = None


class IssEngine:
    """The engine behind the entry point `iss`."""

    name = "iss"
    target = "accel"

    def available(self) -> str | None:
        """Return None: it needs nothing."""
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile a program and run it (`fleet.engines.accel.run_compiled`)."""
        return run_accel(program, inputs, options, IssBackend())


ENGINE = IssEngine()
