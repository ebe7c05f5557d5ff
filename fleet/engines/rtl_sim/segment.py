"""A run of instructions as one job of the simulation, and the check that the hardware executed exactly these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fleet.engines.backend import Snapshot
from fleet.engines.rtl_sim.arrays import Files
from fleet.engines.rtl_sim.expected import ExpectedCommit, save_expected
from fleet.engines.rtl_sim.job import Job, JobScript, JobStatus, read_results
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.rtl_sim.records import CommitRecord, read_records, verified_records
from fleet.engines.trace import Commit
from fleet.errors import DeviceError, FleetError
from fleet.isa.codec import interrupt, register_writes
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash
from fleet.isa.resolved import resolved, writes_of
from fleet.sdk import Call, Device, InstructionSet

_PATIENCE = 64  # a call may take so many times its own cost estimate, and _GRACE cycles, before it counts as hung
_GRACE = 1_000_000
_START_SLACK = 16  # cycles that may pass between the bus's write of the start register and the unit's start


class _Reads(NamedTuple):
    """Positions of one call's READs in the job's results."""

    status: int
    cause: int | None
    result: int | None
    first: int
    end: int
    """Numbers of the first call and of the one behind those that share them (tasks of a binary, calls started together)."""


class JobOfLeg(NamedTuple):
    """The part of a job that only a run in legs has (`fleet.engines.legs`).

    overlay, overlay_to: as `Job`. start_cycle: of the clock. warm_up: how many of the calls repeat those of the leg before.
    """

    overlay: Path
    overlay_to: Path
    start_cycle: int
    warm_up: int


class Segment:
    """Calls that run as one job.

    The script reads the description's hash, enables the interrupts, writes the parameter registers, and for each call (or
    each binary) writes its registers, waits for the interrupt, reads interrupt status, error cause and result registers, and
    clears the interrupt.
    """

    def __init__(
        self,
        instruction_set: InstructionSet,
        device: Device,
        calls: Sequence[Call],
        first_seq: int = 0,
        *,
        refusals: bool = False,
        binaries: Sequence[Binary] = (),
        together: Mapping[int, int] | None = None,
        parameters: Mapping[int, int] | None = None,
        held: Mapping[int, int] | None = None,
        before: Mapping[str, int] | None = None,
        count: int | None = None,
        described: str = "",
        rewrite: bool = False,
    ) -> None:
        """Args:
        rewrite: right after each start that is waited for, its operand registers are overwritten: the hardware must have latched
            them.
        refusals: calls may be illegal; then a refused one is a commit like any other, its cause in the record.
        binaries: calls that the hardware fetches from memory.
        together: number of a call -> how many from it on are written one behind the other, and waited for only then.
        parameters: byte address -> value, written first.
        before: state registers that the first call finds; None: as reset leaves them.
        held: byte address -> what a register holds before the calls; a write that would change nothing is left out.
        count: the job ends with the commit of so many calls, while those behind them are under way. None: with its script.
        described: `description_hash`, where it is known; it reads every file of the set.

        Raises DeviceError or CodecError for a call that the description does not know.
        """
        self.calls, self.first_seq = resolved(instruction_set, device, calls, before), first_seq
        self._refusals = refusals
        self._set, self._device = instruction_set, device
        self._description = load(instruction_set.description)
        self._interrupt = interrupt(self._description)
        self._hash = (described or description_hash(instruction_set, device))[:8]
        self._script, self._reads, self._budget = JobScript(), list[_Reads](), _GRACE
        self._binaries, self._parameters = {b.first: b for b in binaries}, dict(parameters or {})
        self._together, self._held = dict(together or {}), dict(held or {})
        self._count = len(self.calls) if count is None else count
        self._cut, self._rewrite = self._count < len(self.calls), rewrite
        self._make_script()

    @property
    def expected_cycles(self) -> int:
        """Cycles by the instructions' cost models, with ideal memory."""
        return sum(self._cost(call) for call in self.calls)

    def job(
        self,
        stem: Path,
        memory: MappedMemory,
        model: str,
        waves: Path | None = None,
        window: tuple[int, int] | None = None,
        timing: Mapping[str, str] | None = None,
        script: JobScript | None = None,
        expected: Sequence[ExpectedCommit] = (),
        scopes: Sequence[tuple[int, str]] = (),
        writes: bool = False,
        arrays: Files | None = None,
        snapshots: Sequence[Snapshot] = (),
        leg: JobOfLeg | None = None,
    ) -> Job:
        """Writes the script beside `stem` (suffixes are added) and returns the job; an old trace is removed.

        script: played instead of the segment's own.
        expected: commits of the calls, in order; the job ends at the first that is another one. scopes: see `Job`.
        writes: the beats are logged, in `<stem>.writes`. arrays: of `Content.put`.
        snapshots: taken at commits of the calls; `taken` reads them. leg: of a run that is cut.
        """
        wanted = stem.with_suffix(".expected") if expected else None
        if wanted is not None:
            save_expected(wanted, expected)
        if snapshots:
            list_ = np.array([(s.seq - self.first_seq, s.offset, s.size) for s in snapshots], "<u8")
            list_.tofile(stem.with_suffix(".snapshots"))
        (script or self._script).save(stem.with_suffix(".script"))
        job = Job(
            ddr=memory.paths["ddr", 0].absolute(),
            hbm={bank: path.absolute() for (space, bank), path in memory.paths.items() if space == "hbm"},
            script=stem.with_suffix(".script"),
            results=stem.with_suffix(".results"),
            trace=stem.with_suffix(".commits"),
            status=stem.with_suffix(".status"),
            memory=model,
            max_cycles=self._budget,
            waves=waves,
            window=window,
            timing=timing or {},
            scopes=scopes,
            expected=wanted,
            writes=stem.with_suffix(".writes") if writes else None,
            arrays=arrays[0] if arrays else None,
            arrays_from=arrays[1] if arrays else None,
            arrays_to=arrays[2] if arrays else None,
            snapshots=stem.with_suffix(".snapshots") if snapshots else None,
            snapshots_to=stem.with_suffix(".taken") if snapshots else None,
            overlay=leg.overlay if leg else None,
            overlay_to=leg.overlay_to if leg else None,
            start_cycle=leg.start_cycle if leg else 0,
            warm_commits=leg.warm_up if leg else 0,
            last_commit=self._count if self._cut else 0,
        )
        job.trace.unlink(missing_ok=True)
        return job

    def taken(self, job: Job, snapshots: Sequence[Snapshot]) -> None:
        """Fills in what the job left of its snapshots: all of them, or those up to where it ended."""
        if job.snapshots_to is None:
            return
        data, at = np.fromfile(job.snapshots_to, np.uint8), 0
        for s in snapshots:
            if at + s.size > data.size:
                break
            s.data, at = data[at : at + s.size], at + s.size

    def begin(self, reads: int) -> JobScript:
        """A script that starts the first call and ends after so many register reads, without waiting for it."""
        script = JobScript()
        writes = self._words(self.calls[0])
        for address, value in writes[:-1]:
            script.write(address, value)
        script.write(*writes[-1], start=True)
        for _ in range(reads):
            script.read(writes[-1][0])
        return script

    def name(self, index: int) -> str:
        """Return the name of a call in messages: "rtl, instruction 3 (mvm_bn for h1)"."""
        call = self.calls[index]
        return f"rtl, instruction {self.first_seq + index} ({call.instruction}" + (f" for {call.ops[-1]})" if call.ops else ")")

    def failed(self, job: Job, failure: FleetError) -> SimulationError:
        """The failure of the job, with the instruction that was running."""
        done = len(read_records(job.trace)) if job.trace.exists() else 0
        at = min(done, len(self.calls) - 1)
        error = SimulationError(failure.what, where=self.name(at), hint=f"the log is in {failure.where}", detail=failure.detail)
        error.seq = self.first_seq + at
        return error

    def check(self, job: Job, status: JobStatus, base: int) -> tuple[list[Commit], list[CommitRecord]]:
        """One commit a call, and the records; of a job that ended at a commit which was not the expected one, those up to it.

        base: cycles of the run before this job.
        Raises SimulationError for a foreign description hash, a missing, extra, foreign or refused commit, one that wrote
        nothing, a result register that disagrees with its commit, and cycles that do not sum up.
        """
        results, records = read_results(job.results), verified_records(job.trace, status)
        stopped = status.status == "diverged" or self._cut
        if len(results) != self._script.reads and not (stopped and 0 < len(results) < self._script.reads):
            raise SimulationError(f"{len(results)} of {self._script.reads} register reads came back", where=str(job.results))
        if results[0] != int(self._hash, 16):
            raise SimulationError(
                f"the hardware carries description hash {results[0]:08x}, the stream was made for {self._hash}",
                where=self._device.name,
                hint="generate the hardware's register block again",
            )
        count = min(len(records), self._count) if status.status == "diverged" else self._count
        commits: list[Commit] = []
        for i in range(count):
            try:
                commits.append(self._commit(i, records, results, status, base))
            except SimulationError as error:
                error.seq = self.first_seq + i
                raise
        if len(records) > len(self.calls):
            raise SimulationError(
                f"the hardware committed {len(records)} instructions, {len(self.calls)} were started",
                where=f"after {self.name(len(self.calls) - 1)}",
            )
        return commits, records

    def _cost(self, call: Call) -> int:
        if self._refusals and self._set.instructions[call.instruction].legal(self._device, call.fields):
            return 0  # it is refused at once; what the fields of an illegal call cost has no meaning
        return self._set.instructions[call.instruction].cost(self._device, call.fields)

    def _words(self, call: Call) -> list[tuple[int, int]]:
        """Address and value of the call's writes; where refusals are wanted also of such that no instruction has."""
        if not self._refusals:
            return register_writes(self._description, call)
        return [(r.address, call.fields[r.name]) for r in self._description.words(call.instruction)]

    def _make_script(self) -> None:
        d, irq, script = self._description, self._interrupt, self._script
        both = irq.done | irq.error
        hash_register = d.with_role("description_hash")
        if not hash_register:
            raise DeviceError("the description has no register with the role description_hash", where=str(d.path))
        script.read(hash_register[0].address)
        script.write(irq.status_address, both)
        script.write(irq.enable_address, both)
        for address, value in self._parameters.items():
            script.write(address, value)
        position = 0
        while position < len(self.calls):
            binary = self._binaries.get(position)
            calls = self.calls[position : position + (binary.count if binary else self._together.get(position, 1))]
            # Before anything is looked up: here an unknown instruction is refused.
            written = [self._fetch_writes(binary)] if binary else [self._words(c) for c in calls]
            units = {d.instructions[c.instruction].unit: d.units[d.instructions[c.instruction].unit] for c in calls}
            # The bench times an instruction from its own start register; a task of a binary has none.
            for writes in written:
                for address, value in writes[:-1]:
                    if self._held.get(address) != value:
                        script.write(address, value)
                    if address in self._held:
                        self._held[address] = value
                script.write(*writes[-1], start=binary is None, fetch=binary is not None)
            if self._rewrite and binary is None and len(calls) == 1:
                for r in next(iter(units.values())).operands:
                    script.write(r.address, (dict(written[0])[r.address] ^ 0xFFFFFFFF) & r.mask)
            limit = min(_PATIENCE * sum(map(self._cost, calls)) + _GRACE, (1 << 32) - 1)
            self._budget += limit
            if binary is None and len(calls) > 1:  # one interrupt may stand for several of them
                for unit in units.values():
                    if unit.status is None:
                        raise DeviceError("has no status register to wait for", where=f"{self._set.name}, unit {unit.name}")
                    script.poll(unit.status.address, unit.status.mask, unit.status.mask)
            script.wait_irq(limit)
            status = script.read(irq.status_address)
            cause = None if irq.cause_address is None else script.read(irq.cause_address)
            results = {name: script.read(unit.result.address) for name, unit in units.items() if unit.result is not None}
            for call in calls:
                name = d.instructions[call.instruction].unit
                self._reads.append(_Reads(status, cause, results.get(name), position, position + len(calls)))
            script.write(irq.status_address, both)
            position += len(calls)

    def _fetch_writes(self, binary: Binary) -> list[tuple[int, int]]:
        """The register writes that make the hardware run a binary, its start last."""
        fetch = self._description.fetch
        if fetch is None:
            raise DeviceError("the hardware cannot fetch a binary", where=self._set.name)
        values = ((fetch.address, binary.offset), (fetch.beats, binary.beats), (fetch.tasks, binary.count))
        return [*((r.address, v) for r, v in values), (fetch.unit.start.address, fetch.word.start)]

    def _is_last_result(self, index: int, records: Sequence[CommitRecord]) -> bool:
        """Return whether the commit set its unit's result register, and nothing did before the register was read."""
        unit = self._description.instructions[self.calls[index].instruction].unit
        later = range(index + 1, min(self._reads[index].end, len(records)))
        units = (self._description.instructions[self.calls[i].instruction].unit for i in later if records[i].result is not None)
        return records[index].result is not None and unit not in units

    def _commit(self, index: int, records: Sequence[CommitRecord], results: Sequence[int], job: JobStatus, base: int) -> Commit:
        call, read, where = self.calls[index], self._reads[index], self.name(index)
        if index >= len(records):
            raise SimulationError(f"the hardware committed {len(records)} of {len(self.calls)} instructions", where=where)
        record = records[index]
        opcode = self._description.instructions[call.instruction].opcode
        fetch = self._description.fetch
        if fetch is not None and record.error and record.opcode == fetch.word.opcode:
            raise SimulationError(f"the hardware refused the binary with error cause {record.error}", where=where)
        refused = self._refusals and record.error != 0
        if record.opcode != opcode and not (refused and record.opcode == 0):  # of an illegal mode nobody knows the opcode
            raise SimulationError(f"the commit carries opcode {record.opcode:#x}, expected {opcode:#x}", where=where)
        if max(n for n in (read.status, read.cause, read.result) if n is not None) >= len(results):
            # The job ended at a commit that is not the expected one before the registers of this one were read.
            if record.error and not refused:
                raise SimulationError(f"the hardware refused the instruction with error cause {record.error}", where=where)
            return self._made(index, record, base, error=record.error)
        status = results[read.status]
        refusals = [i for i in range(read.first, min(read.end, len(records))) if records[i].error] if self._refusals else []
        if refused:
            last = index == refusals[-1]  # of several the cause register says the last one's
            self._check_refusal(record, status, None if read.cause is None or not last else results[read.cause], where)
        elif record.error or (status & self._interrupt.error and index + 1 == read.end and not refusals):
            cause = record.error or (results[read.cause] if read.cause is not None else 0)
            raise SimulationError(
                f"the hardware refused the instruction with error cause {cause}", where=where, hint=job.refusal or None
            )
        elif not status & self._interrupt.done:
            raise SimulationError(f"interrupt status is {status:#x}: the interrupt was not that of completion", where=where)
        if self._is_last_result(index, records) and read.result is not None and record.result != results[read.result]:
            raise SimulationError(
                f"the result register reads {results[read.result]:#x}, the commit says {record.result:#x}", where=where
            )
        written = [] if refused else writes_of(self._set.instructions[call.instruction], self._device, call.fields)
        if written and (record.bytes_written == 0 or record.digest == 0):
            raise SimulationError("the instruction committed without having written anything", where=where)
        counted = sum(record.cycles.values())
        measured = record.end - record.start
        if not 0 <= measured - counted <= _START_SLACK:
            raise SimulationError(
                f"the classes of cycles sum to {counted}, from start to commit the bench measured {measured}", where=where
            )
        return self._made(index, record, base)

    def _made(self, index: int, record: CommitRecord, base: int, error: int = 0) -> Commit:
        call = self.calls[index]
        counted = sum(record.cycles.values())
        return Commit(
            seq=self.first_seq + index,
            instruction=call.instruction,
            ops=tuple(call.ops),
            digest=record.digest,
            bytes_written=record.bytes_written,
            result=record.result,
            start=base + record.end - counted,
            end=base + record.end,
            cycles=record.cycles,
            token_range=call.token_range,
            error=error,
        )

    def _check_refusal(self, record: CommitRecord, status: int, cause: int | None, where: str) -> None:
        """A refused instruction raises the error interrupt, and the cause register says what its commit says."""
        if not status & self._interrupt.error:
            raise SimulationError(f"refused with cause {record.error}, interrupt status is {status:#x}", where=where)
        if cause is not None and cause != record.error:
            raise SimulationError(f"the cause register reads {cause}, the commit says {record.error}", where=where)
