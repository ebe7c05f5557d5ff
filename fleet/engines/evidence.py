"""Evidence that a trace was made by the engine that it names: its kind, and the records of each job of a simulation.

  model  only the engine's own statement: vm, iss, cpython, emulators. A model has no clock, so it has no cycles.
  bench  a simulation of the hardware. The launcher (`fleet.engines.rtl_sim.process`), not the engine, starts the binary that the
         build's manifest holds, gives every job a nonce, and reads what that process wrote: nonce, number and SHA-256 of the commit
         records, cycles of the bench's clock, beats of its ports. `fleet.cosim.evidence_held` checks the trace against that.
  sample jobs of a bench that ran a sample of the instructions (`--rtl`): each as of kind bench, without a common clock.
  board  hardware. This version supports no board, so it is refused. To support one, add a launcher that reads from the
         device itself: the hash of the running bitstream and the description's hash, a nonce that it wrote into a register, the
         commit records with their number and a hash made on the device, and cycles of a counter on the device.

This finds mistakes and short cuts: an engine that passes on another's results, invented cycles, a stale trace, a scaled counter.
It is no defence against malicious code: any code in this process may change anything in it.
"""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass
from typing import Literal

EvidenceKind = Literal["model", "sample", "bench", "board"]


@dataclass(frozen=True)
class JobEvidence:
    """One job of a simulation, as its launcher read it from the output of that process.

    Attributes:
        number: of jobs that this process has launched, from 1; nonce: the job's own, hex.
        executable: SHA-256 (hex) of the binary, which is that of the build's manifest.
        commits, records: number of commit records, and SHA-256 (hex) of their bytes.
        cycles: of the bench's clock, since reset; beats: read and written on all ports, of a leg since its warm-up.
        warm_up: number of the first commits of a leg, which repeat the last ones of the leg before; 0: it continues no other job.
        start: cycle of the bench's clock at reset, from which the records count.
    """

    number: int
    nonce: str
    executable: str
    commits: int
    records: str
    cycles: int
    beats: int
    warm_up: int = 0
    start: int = 0

    @property
    def own(self) -> int:
        """Number of the first commit that counts in a sample; if a stretch ended in its warm-up, the one that ended it."""
        return min(self.warm_up, max(self.commits - 1, 0))


@dataclass(frozen=True)
class Evidence:
    """The evidence of a whole run.

    kind: as listed in the module. jobs: of kinds bench and sample, in program order. cut: for a run in legs or a sample, a text
    on what was proved; for a fast build, that it had no assertions.
    """

    kind: EvidenceKind = "model"
    jobs: tuple[JobEvidence, ...] = ()
    cut: str = ""


class _Launched:
    """Jobs of this process: their number, and the commit records of those whose evidence is still referenced."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = threading.Lock()
        self.records: weakref.WeakKeyDictionary[JobEvidence, bytes] = weakref.WeakKeyDictionary()


_launched = _Launched()


def issued() -> int:
    """Return how many jobs this process has launched; the jobs of a later run have higher numbers."""
    return _launched.count


def register(
    nonce: str, executable: str, records: bytes, sha256: str, cycles: int, beats: int, *, warm_up: int = 0, start: int = 0
) -> JobEvidence:
    """Keep a process's records of a job, as long as its evidence is referenced. For launchers only.

    records: the commit records, 64 bytes each; sha256: of them (hex), as that process stated it. warm_up, start: of a leg.
    """
    with _launched.lock:
        _launched.count += 1
        number = _launched.count
    job = JobEvidence(number, nonce, executable, len(records) // 64, sha256, cycles, beats, warm_up, start)
    _launched.records[job] = records
    return job


def records_of(job: JobEvidence) -> bytes | None:
    """Return the commit records of a job that this process launched; None for other jobs."""
    return _launched.records.get(job)
