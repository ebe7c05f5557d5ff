"""Instructions as jobs of a running simulation, for replays: each on memory as it stands, with every write beat if wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fleet.engines.rtl_sim.beats import Beat, read_beats
from fleet.engines.rtl_sim.expected import ExpectedCommit
from fleet.engines.rtl_sim.process import Simulation
from fleet.engines.rtl_sim.segment import Segment
from fleet.engines.trace import Commit
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call, Device, InstructionSet

__all__ = ["Hardware", "Played", "Waves"]


@dataclass(frozen=True)
class Waves:
    """A wave file: path, first and last cycle, (levels, scope) of what it shows (all where there is none)."""

    path: Path
    window: tuple[int, int]
    scopes: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Played:
    """What a job left. commits: up to the one that was not expected; starts: cycle of the job at which each started.

    ends: cycle behind each; cycles: of the job; beats: every write in the order of time, empty unless wanted.
    """

    commits: tuple[Commit, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    cycles: int
    beats: tuple[Beat, ...] = ()


@dataclass(frozen=True)
class Hardware:
    """A simulation and its memory.

    simulation: gives the running process, a new one where the last has ended. model, timing: memory model, as `Segment.job` takes
    them. parameters: byte address -> value of parameter registers. folder: for job files.
    """

    instruction_set: InstructionSet
    device: Device
    memory: MappedMemory
    simulation: Callable[[], Simulation]
    folder: Path
    model: str = "ideal"
    timing: Mapping[str, str] | None = None
    parameters: Mapping[int, int] | None = None

    def play(
        self, calls: Sequence[Call], first_seq: int, expected: Sequence[ExpectedCommit] = (), *, binaries: Sequence[Binary] = (),
        beats: bool = False, waves: Waves | None = None,
    ) -> Played:  # fmt: skip
        """Runs the calls on memory as it stands, until a commit is not the expected one. Raises SimulationError."""
        segment = Segment(
            self.instruction_set, self.device, calls, first_seq, refusals=True, binaries=binaries, parameters=self.parameters
        )
        self.folder.mkdir(parents=True, exist_ok=True)
        job = segment.job(
            self.folder / "replay", self.memory, self.model, waves.path if waves else None, waves.window if waves else None,
            self.timing, expected=expected, scopes=waves.scopes if waves else (), writes=beats,
        )  # fmt: skip
        status = self.simulation().run(job)
        commits, records = segment.check(job, status, 0)
        commits = [replace(c, error=r.error) for c, r in zip(commits, records, strict=True)]
        found = tuple(read_beats(job.writes, self.device)) if job.writes is not None else ()
        for beat in found:  # no image shows what the hardware keeps inside
            if beat.space not in self.device.memory:
                size = int(np.flatnonzero(beat.written)[-1]) + 1
                written = beat.written[:size]
                self.memory.view(beat.space, beat.offset, size)[written] = beat.data[:size][written]
        return Played(
            tuple(commits), tuple(r.start for r in records), tuple(r.end for r in records), status.cycles, found
        )  # fmt: skip
