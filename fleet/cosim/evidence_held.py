"""Check that a trace comes from the hardware that it names, by the records of the simulation's launcher."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fleet.engines.base import Engine
from fleet.engines.evidence import JobEvidence, records_of
from fleet.engines.rtl_sim.records import RECORD, RESULT_VALID
from fleet.engines.trace import CYCLE_CLASSES, Commit, Trace

HARDWARE = frozenset({"board", "fpga", "rtl"})
"""Engine names that mean hardware: an engine with such a name is never a model."""


def without_evidence(engine: Engine, trace: Trace, before: int) -> str | None:
    """Return why a trace does not prove that its engine made it, or None if nothing is missing.

    before: value of `fleet.engines.evidence.issued` before the run.
    """
    kind = trace.evidence.kind
    if engine.target in ("riscv", "aarch64") and not trace.counters.get("instructions"):
        return "gave back a trace that counts no instructions: nothing shows that it ran"
    if kind == "board":
        return "claims a board, and none is known: see fleet/engines/evidence.py for what one must bring"
    if kind in ("bench", "sample"):
        return _bench(trace, before)
    if engine.name.partition("@")[0] in HARDWARE:
        return f"has the name of hardware ({engine.name}) and the evidence of a model: no simulation was launched for it"
    if engine.target == "accel":
        clocked = next((c for c in trace.commits if c.cycles or c.end is not None), None)
        if clocked is not None:
            return f"gave back cycles at commit {clocked.seq} ({clocked.instruction}), and no simulation counted them"
        if trace.counters.get("cycles"):
            return f"counts {trace.counters['cycles']:,.0f} cycles, and no simulation counted them"
    return None


def _bench(trace: Trace, before: int) -> str | None:
    jobs, sampled = trace.evidence.jobs, trace.evidence.kind == "sample"
    if not jobs:
        return "claims a simulation, and none of its jobs is in its evidence"
    if len({job.nonce for job in jobs}) != len(jobs):
        return "states the same job of a simulation twice"
    parts: list[np.ndarray] = []
    bases: list[np.ndarray] = []
    base = end = 0
    for job in jobs:
        records = records_of(job)
        if records is None:
            return f"states a job with nonce {job.nonce[:16] or 'none'}, which the launcher has not issued"
        if job.number <= before:
            return f"states job {job.nonce[:16]} of a simulation of an earlier run"
        rows = np.frombuffer(records, RECORD)
        if sampled:
            rows = rows[job.own :]
        elif job.warm_up:  # a leg: it goes on at the last instruction that it repeats
            done = np.concatenate(parts)[-job.warm_up :] if parts else rows[:0]
            if why := _other_leg(job, rows, done):
                return why
            base = end - int(rows[job.warm_up - 1]["end"])
            rows = rows[job.warm_up :]
        parts.append(rows)
        bases.append(np.full(len(rows), base, np.int64))
        end = base + int(rows[-1]["end"]) if len(rows) else end
        base += job.start + job.cycles
    rows, offsets = np.concatenate(parts), np.concatenate(bases)
    if len(rows) != len(trace.commits):
        return f"gave back {len(trace.commits)} commits, its simulation wrote {len(rows)}"
    for row, offset, commit in zip(rows, offsets, trace.commits, strict=True):
        for what, stated, wrote in _bits(row, commit) if sampled else _facts(row, int(offset), commit):
            if stated != wrote:
                where = f"commit {commit.seq} ({commit.instruction})"
                return f"{where}: its trace says {what} {stated}, its simulation wrote {wrote}"
    if sampled:
        return "counts the cycles of a run, and its simulation ran a sample" if "cycles" in trace.counters else None
    if trace.counters.get("cycles") != base:
        return f"counts {trace.counters.get('cycles', 0):,.0f} cycles, its simulation {base:,}"
    return None


def _other_leg(job: JobEvidence, rows: np.ndarray, done: np.ndarray) -> str | None:
    """Return why a leg does not repeat the last instructions of the legs before it, or None. done: their records."""
    if len(done) != job.warm_up or len(rows) < job.warm_up:
        return f"leg {job.nonce[:16]} repeats {job.warm_up} instructions, {len(done)} were there before it"
    for name in ("opcode", "error", "digest", "bytes_written", "result"):
        if not np.array_equal(rows[name][: job.warm_up], done[name]):
            return f"leg {job.nonce[:16]} repeats instructions, and not with the {name} that the leg before it left"
    return None


def _bits(row: np.void, commit: Commit) -> Iterator[tuple[str, object, object]]:
    """Yield (what, value of the commit, value of the record) for each fact that has no clock, in the trace's terms."""
    error = int(row["error"])
    yield "digest", f"{commit.digest:016x}", f"{int(row['digest']):016x}"
    yield "bytes written", commit.bytes_written, int(row["bytes_written"])
    yield "result", commit.result, int(row["result"]) if error & RESULT_VALID else None
    yield "error cause", commit.error, error & ~RESULT_VALID


def _facts(row: np.void, base: int, commit: Commit) -> Iterator[tuple[str, object, object]]:
    """Yield all facts, as `_bits` does."""
    yield from _bits(row, commit)
    yield "the end", commit.end, base + int(row["end"])
    for name, cycles in zip(CYCLE_CLASSES, row["cycles"].tolist(), strict=True):
        yield f"cycles of class {name}", commit.cycles.get(name), cycles
    yield "the start", commit.start, base + int(row["end"]) - int(row["cycles"].sum())
