"""Instructions as jobs of a running simulation, for replays: each on memory as it stands, with every write beat if wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fleet.engines.rtl_sim.arrays import Files, KeptState
from fleet.engines.rtl_sim.beats import Beat, read_beats
from fleet.engines.rtl_sim.expected import ExpectedCommit
from fleet.engines.rtl_sim.process import Simulation
from fleet.engines.rtl_sim.segment import Segment
from fleet.engines.trace import Commit
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.isa.resolved import registers_in
from fleet.sdk import Call, Device, InstructionSet, Write
from fleet.sdk.hardware.state import REGISTERS


@dataclass(frozen=True)
class Waves:
    """A wave file: path, first and last cycle, (levels, scope) of what it shows (empty: all)."""

    path: Path
    window: tuple[int, int]
    scopes: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Played:
    """Result of a job. commits: up to the one that was not expected; starts: cycle of the job at which each started.

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
    inside: what can be set of the state inside the hardware; None: nothing. blocks: of the stream, which may begin with some.
    rewrite: as `Segment` takes it.
    """

    instruction_set: InstructionSet
    device: Device
    memory: MappedMemory
    simulation: Callable[[], Simulation]
    folder: Path
    model: str = "ideal"
    timing: Mapping[str, str] | None = None
    parameters: Mapping[int, int] | None = None
    inside: KeptState | None = None
    blocks: Sequence[Write] = ()
    rewrite: bool = False

    @property
    def whole(self) -> bool:
        """Whether all that stands inside the hardware can be set."""
        return self.inside is not None and bool(self.inside.found) and self.inside.whole(self.device)

    def begin(self, source: MappedMemory, undefined: Callable[[str], np.ndarray], *, first: bool) -> Files | None:
        """Set the state inside the hardware to that of another memory, in which undefined bytes differ.

        undefined: which bytes of an on-chip memory these are; what the stream begins with is none of them.
        first: the stream begins here: what it does not begin with is left to the reset.

        Returns what `play` takes, None where nothing can be set.
        """
        if self.inside is None:
            return None
        for name, array in self.device.arrays.items():
            data, view = source.view(name, 0, array.size), self.memory.view(name, 0, array.size)
            others = undefined(name)
            for b in self.blocks:
                if b.space == name:
                    others[b.offset : b.offset + b.data.nbytes] = False
            view[:] = np.where(others, ~data, data)
        if registers := self.device.state.registers:
            size = 4 * len(registers)
            self.memory.view(REGISTERS, 0, size)[:] = source.view(REGISTERS, 0, size)
        return self.inside.put(self.memory, self.blocks) if first else self.inside.set_all(self.memory)

    def play(
        self, calls: Sequence[Call], first_seq: int, expected: Sequence[ExpectedCommit] = (), *, binaries: Sequence[Binary] = (),
        beats: bool = False, waves: Waves | None = None, begun: Files | None = None,
    ) -> Played:  # fmt: skip
        """Runs the calls on memory as it stands, until a commit is not the expected one. Raises SimulationError.

        begun: of `begin`; None: as after reset, and on-chip memory as the run before left it.
        """
        self.memory.known = ()
        before = registers_in(self.device, self.memory) if begun is not None else None
        segment = Segment(
            self.instruction_set, self.device, calls, first_seq, refusals=True, binaries=binaries, parameters=self.parameters,
            before=before, rewrite=self.rewrite,
        )  # fmt: skip
        self.folder.mkdir(parents=True, exist_ok=True)
        job = segment.job(
            self.folder / "replay", self.memory, self.model, waves.path if waves else None, waves.window if waves else None,
            self.timing, expected=expected, scopes=waves.scopes if waves else (), writes=beats,
            arrays=begun,
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
