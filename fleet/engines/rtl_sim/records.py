"""The commit records that a simulation leaves (rtl_models/README.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fleet.engines.rtl_sim.job import JobStatus
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.trace import CYCLE_CLASSES
from fleet.errors import ModelError

RECORD = np.dtype(
    [
        ("seq", "<u4"),
        ("opcode", "<u2"),
        ("error", "<u2"),
        ("digest", "<u8"),
        ("start", "<u8"),
        ("end", "<u8"),
        ("cycles", "<u4", (len(CYCLE_CLASSES),)),
        ("bytes_written", "<u4"),
        ("result", "<u4"),
    ]
)
"""64 bytes; bit 15 of `error` says that `result` is valid."""

RESULT_VALID = 0x8000
"""Value of a record's `error` for which its `result` counts."""


@dataclass(frozen=True)
class CommitRecord:
    """One commit as the bench saw it.

    Attributes:
        seq: position in the job, from 0; opcode: the instruction's cfg_id; error: 0 or the cause of a refusal.
        digest, bytes_written: of all memory writes since the commit before.
        start: cycle after the start register's write was accepted (as the bench measured it); end: cycle after the commit.
        cycles: class -> cycles, as the design counted them.
        result: value of the result register, None where the instruction has none.
    """

    seq: int
    opcode: int
    error: int
    digest: int
    start: int
    end: int
    cycles: dict[str, int]
    bytes_written: int
    result: int | None


def read_records(path: Path, first: int = 0) -> list[CommitRecord]:
    """Every whole record of a trace file from number `first` on.

    The file may be longer than its records (zeros at the end): a crash leaves it so, and a simulation that still writes it.

    Raises ModelError for a file that is missing, is cut inside a record, or whose records are not numbered from 0.
    """
    try:
        with path.open("rb") as f:
            f.seek(first * RECORD.itemsize)
            raw = f.read()
    except OSError as error:
        raise ModelError(f"no trace of commits ({error.strerror})", where=str(path)) from error
    if len(raw) % RECORD.itemsize:
        raise ModelError(f"{len(raw)} bytes are not a whole number of {RECORD.itemsize}-byte commit records", where=str(path))
    records: list[CommitRecord] = []
    for row in np.frombuffer(raw, dtype=RECORD):
        if row["end"] == 0:  # a record always ends after cycle 0: this room was reserved and not used
            break
        if row["seq"] != first + len(records):
            raise ModelError(f"commit record {first + len(records)} carries number {row['seq']}", where=str(path))
        records.append(
            CommitRecord(
                seq=int(row["seq"]),
                opcode=int(row["opcode"]),
                error=int(row["error"]) & ~RESULT_VALID,
                digest=int(row["digest"]),
                start=int(row["start"]),
                end=int(row["end"]),
                cycles={name: int(n) for name, n in zip(CYCLE_CLASSES, row["cycles"], strict=True)},
                bytes_written=int(row["bytes_written"]),
                result=int(row["result"]) if int(row["error"]) & RESULT_VALID else None,
            )
        )
    return records


def encoded(records: Sequence[CommitRecord]) -> bytes:
    """The records as the bench wrote them: what `read_records` made of its file, back."""
    rows = [
        (
            r.seq, r.opcode, r.error | (0 if r.result is None else RESULT_VALID), r.digest, r.start, r.end,
            tuple(r.cycles[name] for name in CYCLE_CLASSES), r.bytes_written, r.result or 0,
        )
        for r in records
    ]  # fmt: skip
    return np.array(rows, RECORD).tobytes()


def verified_records(path: Path, status: JobStatus) -> list[CommitRecord]:
    """All records of a job that is over, held to the number and the hash that the bench counted as it wrote them.

    Raises ModelError as `read_records` does, SimulationError where they are not those that the bench wrote.
    """
    records = read_records(path)
    hold_records(len(records), hashlib.sha256(encoded(records)).hexdigest(), status, str(path))
    return records


def hold_records(count: int, found: str, status: JobStatus, where: str) -> None:
    """Raises SimulationError where so many records, whose `encoded` bytes hash to `found`, are not those that the bench wrote."""
    if status.commits != count:
        raise SimulationError(f"the trace holds {count} of {status.commits} commits", where=where)
    if found != status.records:
        raise SimulationError(
            f"the commit records that were read hash to {found[:16]}, the bench wrote {status.records[:16]}", where=where
        )
