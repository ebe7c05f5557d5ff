"""What a run in legs, or of a sample, is asked to do, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet.engines.backend import Snapshot
from fleet.engines.evidence import JobEvidence
from fleet.engines.legs.plan import SHORTEST, Leg
from fleet.engines.legs.sample import SampleEstimate
from fleet.engines.legs.write_log import WriteLog
from fleet.engines.rtl_sim.arrays import KeptState
from fleet.engines.rtl_sim.expected import ExpectedCommit
from fleet.engines.rtl_sim.job import JobStatus
from fleet.engines.rtl_sim.records import CommitRecord
from fleet.engines.trace import Commit
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call, Device, InstructionSet


@dataclass(frozen=True)
class LegRequest:
    """A run of instructions to be cut.

    memory: before the first instruction; at the end, after the run. refusals, binaries, together, parameters, described, rewrite,
    model, timing, snapshots: as `Segment` and `Segment.job` take them. inside: the settable state inside the hardware.
    expected: commits of the calls; empty: those of the functional model on this memory. written: writes of the same calls, so far
    as they are known. jobs: how many legs run at a time.
    shortest: cycles of a leg.
    """

    instruction_set: InstructionSet
    device: Device
    memory: MappedMemory
    calls: Sequence[Call]
    first_seq: int
    inside: KeptState
    folder: Path
    jobs: int
    binaries: Sequence[Binary] = ()
    together: Mapping[int, int] = field(default_factory=dict[int, int])
    parameters: Mapping[int, int] = field(default_factory=dict[int, int])
    refusals: bool = False
    expected: Sequence[ExpectedCommit] = ()
    written: WriteLog | None = None
    described: str = ""
    rewrite: bool = False
    model: str = "ideal"
    timing: Mapping[str, str] = field(default_factory=dict[str, str])
    snapshots: Sequence[Snapshot] = ()
    shortest: int = SHORTEST


@dataclass(frozen=True)
class LegsRan:
    """Result of a run in legs, in the form of an uncut run: cycles count from its reset.

    commits, records: of all calls, or up to the first that differs from the expected one (the status is then "diverged").
    status: as of one job, without warm-ups; it has no nonce, `evidence` has those of the legs. legs: those that count.
    agreed: cuts at which the last repeated instruction took equally long after the one before it in both legs.
    """

    commits: tuple[Commit, ...]
    records: tuple[CommitRecord, ...]
    status: JobStatus
    evidence: tuple[JobEvidence, ...]
    legs: tuple[Leg, ...]
    agreed: int


@dataclass(frozen=True)
class SampleRan:
    """Result of a sampled run. Memory afterwards is that of the functional model.

    commits: of the simulated calls, in program order, without clocks, which would be those of their legs.
    Up to the first that differs from the expected one, if any (`diverged`). of: number of all calls.
    seconds, cycles, traffic: of the simulations, with warm-ups. stretches: how many were simulated. estimate: None if it diverged.
    """

    commits: tuple[Commit, ...]
    of: int
    evidence: tuple[JobEvidence, ...]
    diverged: bool
    seconds: float
    cycles: int
    traffic: Mapping[str, int]
    stretches: int
    estimate: SampleEstimate | None
