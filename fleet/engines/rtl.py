"""Engine `rtl`: the instruction set's hardware, simulated by Verilator under cocotb.

`RtlBackend` executes instructions on device memory (the rest of a run is shared with `iss` in `fleet.engines.accel`); the
simulation itself is `fleet.engines.rtl_sim`. Nothing passes unseen: the hardware's description hash is read first, every call
must leave exactly one commit of its own opcode without an error, and the result register read over the register port must
equal the committed one.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.rtl_sim.build import Flavour, build, design_of
from fleet.engines.rtl_sim.job import Job, Script, Status, read_results
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.rtl_sim.records import CommitRecord, read_records
from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.engines.trace import CYCLE_CLASSES, Commit, Trace
from fleet.errors import DeviceError, FleetError, SetupError
from fleet.ir.program import Program
from fleet.isa.codec import Interrupt, interrupt, register_writes
from fleet.isa.contract import Call, Device, InstructionSet
from fleet.isa.description import Description, load
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import description_hash

__all__ = ["ENGINE", "RtlBackend", "RtlEngine", "memory_model"]

_FIXED_LATENCY = 64  # cycles, for `--memory fixed`
_PATIENCE = 64  # a call may take so many times its own cost estimate, and _GRACE cycles, before it counts as hung
_GRACE = 1_000_000
_START_SLACK = 16  # cycles that may pass between the bus's write of the start register and the unit's start


class _Reads(NamedTuple):
    """Positions of one call's READs in the job's results."""

    status: int
    cause: int | None
    result: int | None


def memory_model(memory: str, seed: int) -> str:
    """The bench's name of a memory model: "ideal", "fixed" (64 cycles), "stall" (seeded), or the bench's own spelling.

    Raises DeviceError for an unknown model.
    """
    if memory == "fixed":
        return f"fixed:{_FIXED_LATENCY}"
    if memory == "stall":
        return f"stall:{seed}"
    name, _, value = memory.partition(":")
    if memory == "ideal" or (name in {"fixed", "stall"} and value.isdecimal()):
        return memory
    raise DeviceError(f"no memory model '{memory}'", hint="use ideal, fixed, fixed:<cycles>, stall or stall:<seed>")


class RtlBackend:
    """`fleet.engines.backend.Backend` on the simulated hardware.

    Example:
        backend = RtlBackend()
        backend.open(instruction_set, device, memory, RunOptions(device="hbm_small"))
        try:
            commits = backend.execute(calls, first_seq=0)
        finally:
            backend.close()
    """

    name = "rtl"

    def __init__(self, flavour: Flavour = "burst", window: tuple[int, int] | None = None) -> None:
        """Args:
        flavour: "burst", or "waves" to write `waves_<n>.fst` (n counts the segments) into the work folder.
        window: first and last cycle of the waves; None for all.
        """
        self._flavour: Flavour = flavour
        self._window = window
        self._simulation: Simulation | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._jobs = 0
        self._base = 0  # cycles of the jobs before
        self._counters: dict[str, float] = {}

    def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
        """Builds the simulation (or takes it from the cache) and starts it.

        Raises SetupError, DeviceError, BuildError or SimulationError.
        """
        self.close()
        self._set, self._device, self._memory, self._options = instruction_set, device, memory, options
        self._description: Description = load(instruction_set.description)
        self._interrupt: Interrupt = interrupt(self._description)
        self._hash = description_hash(instruction_set, device)
        self._model = memory_model(options.memory, options.seed)
        self._jobs, self._base, self._counters = 0, 0, {}
        before = time.monotonic()
        executable = build(design_of(instruction_set, device), self._flavour, options.progress)
        self._counters["rtl_build_seconds"] = time.monotonic() - before
        if options.workdir is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="fleet-rtl-")
            self._folder = Path(self._temporary.name)
        else:
            self._folder = options.workdir.absolute() / "rtl"
        self._simulation = Simulation(executable, self._folder, seed=options.seed)
        self._counters["rtl_start_seconds"] = self._simulation.start_seconds

    def execute(self, calls: Sequence[Call], first_seq: int) -> Sequence[Commit]:
        """Runs the calls as one job; one commit a call.

        Raises SimulationError (exit code 1) naming the instruction for a refused, missing, extra or foreign commit, a hang, a
        broken bus rule or a foreign description hash.
        """
        if self._simulation is None:
            raise SimulationError("the simulation is not open", where=self.name)
        if not calls:
            return []
        self._jobs += 1
        job, reads = self._prepare(calls)
        failure: FleetError | None = None
        status: Status | None = None
        try:
            status = self._simulation.run(job, self._progress(calls))
        except SimulationError as error:
            failure = error
        records = read_records(job.trace) if job.trace.exists() else []
        if status is None:
            assert failure is not None
            raise self._during(calls, first_seq, records, failure) from failure
        results = read_results(job.results)
        if results[0] != int(self._hash[:8], 16):
            raise SimulationError(
                f"the hardware carries description hash {results[0]:08x}, the stream was made for {self._hash[:8]}",
                where=self._device.name,
                hint="generate the hardware's register block again",
            )
        commits = self._check(calls, first_seq, records, reads, results, status)
        self._count(status, records)
        self._base += status.cycles
        return commits

    def counters(self) -> Mapping[str, float]:
        """Of the run so far.

        "cycles": clock cycles of all jobs, register port included; "instruction_cycles": from start to commit, summed;
        "cycles.<class>"; "ddr_read_bytes", "ddr_write_bytes", "hbm_read_bytes", "hbm_write_bytes", "hbm_port_bytes.<p>" (both
        directions); "rtl_build_seconds", "rtl_start_seconds", "rtl_run_seconds"; "rtl_cycles_per_second".
        """
        counters = dict(self._counters)
        if counters.get("rtl_run_seconds"):
            counters["rtl_cycles_per_second"] = counters["cycles"] / counters["rtl_run_seconds"]
        return counters

    def close(self) -> None:
        """Ends the simulation; may be called twice."""
        if self._simulation is not None:
            self._simulation.close()
            self._simulation = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def _prepare(self, calls: Sequence[Call]) -> tuple[Job, list[_Reads]]:
        d, irq = self._description, self._interrupt
        both = irq.done | irq.error
        script = Script()
        hash_register = d.with_role("description_hash")
        if not hash_register:
            raise DeviceError("the description has no register with the role description_hash", where=str(d.path))
        script.read(hash_register[0].address)
        script.write(irq.status_address, both)
        script.write(irq.enable_address, both)
        reads: list[_Reads] = []
        budget = _GRACE
        for call in calls:
            writes = register_writes(d, call)
            for address, value in writes[:-1]:
                script.write(address, value)
            script.write(*writes[-1], start=True)
            limit = min(_PATIENCE * self._cost(call) + _GRACE, (1 << 32) - 1)
            budget += limit
            script.wait_irq(limit)
            result = d.units[d.instructions[call.instruction].unit].result
            reads.append(
                _Reads(
                    status=script.read(irq.status_address),
                    cause=None if irq.cause_address is None else script.read(irq.cause_address),
                    result=None if result is None else script.read(result.address),
                )
            )
            script.write(irq.status_address, both)
        stem = self._folder / f"segment_{self._jobs}"
        script.save(stem.with_suffix(".script"))
        ddr = self._memory.paths["ddr", 0].absolute()
        hbm = {bank: path.absolute() for (space, bank), path in self._memory.paths.items() if space == "hbm"}
        job = Job(
            ddr=ddr,
            hbm=hbm,
            script=stem.with_suffix(".script"),
            results=stem.with_suffix(".results"),
            trace=stem.with_suffix(".commits"),
            status=stem.with_suffix(".status"),
            memory=self._model,
            max_cycles=budget,
            waves=self._folder / f"waves_{self._jobs}.fst" if self._flavour == "waves" else None,
            window=self._window,
        )
        job.trace.unlink(missing_ok=True)
        return job, reads

    def _cost(self, call: Call) -> int:
        return self._set.instructions[call.instruction].cost(self._device, call.fields)

    def _progress(self, calls: Sequence[Call]) -> Callable[[int], None] | None:
        tell = self._options.progress
        if tell is None:
            return None
        expected = max(1, sum(self._cost(call) for call in calls))

        def report(cycles: int) -> None:
            tell(min(0.99, cycles / expected), f"rtl: {cycles:,} cycles")

        return report

    def _name(self, call: Call, seq: int) -> str:
        return f"instruction {seq} ({call.instruction}" + (f" for {call.ops[-1]})" if call.ops else ")")

    def _during(
        self, calls: Sequence[Call], first_seq: int, records: Sequence[CommitRecord], failure: FleetError
    ) -> SimulationError:
        """The failure of a job, with the instruction that was running."""
        index = min(len(records), len(calls) - 1)
        return SimulationError(
            failure.what, where=f"rtl, {self._name(calls[index], first_seq + index)}", hint=failure.where, detail=failure.detail
        )

    def _check(
        self,
        calls: Sequence[Call],
        first_seq: int,
        records: Sequence[CommitRecord],
        reads: Sequence[_Reads],
        results: Sequence[int],
        job: Status,
    ) -> list[Commit]:
        commits: list[Commit] = []
        for index, (call, read) in enumerate(zip(calls, reads, strict=True)):
            seq = first_seq + index
            where = f"rtl, {self._name(call, seq)}"
            if index >= len(records):
                raise SimulationError(f"the hardware committed {len(records)} of {len(calls)} instructions", where=where)
            record = records[index]
            opcode = self._description.instructions[call.instruction].opcode
            if record.opcode != opcode:
                raise SimulationError(f"the commit carries opcode {record.opcode:#x}, expected {opcode:#x}", where=where)
            status = results[read.status]
            if record.error or status & self._interrupt.error:
                cause = record.error or (results[read.cause] if read.cause is not None else 0)
                raise SimulationError(
                    f"the hardware refused the instruction with error cause {cause}", where=where, hint=job.refusal or None
                )
            if not status & self._interrupt.done:
                raise SimulationError(f"interrupt status is {status:#x}: the interrupt was not that of completion", where=where)
            if record.result is not None and read.result is not None and record.result != results[read.result]:
                raise SimulationError(
                    f"the result register reads {results[read.result]:#x}, the commit says {record.result:#x}", where=where
                )
            written = self._set.instructions[call.instruction].writes(self._device, call.fields)
            if written and (record.bytes_written == 0 or record.digest == 0):
                raise SimulationError("the instruction committed without having written anything", where=where)
            commits.append(self._commit(call, seq, record, where))
        if len(records) > len(calls):
            raise SimulationError(
                f"the hardware committed {len(records)} instructions, {len(calls)} were started",
                where=f"rtl, after {self._name(calls[-1], first_seq + len(calls) - 1)}",
            )
        return commits

    def _commit(self, call: Call, seq: int, record: CommitRecord, where: str) -> Commit:
        counted = sum(record.cycles.values())
        measured = record.end - record.start
        if not 0 <= measured - counted <= _START_SLACK:
            raise SimulationError(
                f"the classes of cycles sum to {counted}, from start to commit the bench measured {measured}", where=where
            )
        return Commit(
            seq=seq,
            instruction=call.instruction,
            ops=tuple(call.ops),
            digest=record.digest,
            bytes_written=record.bytes_written,
            result=record.result,
            start=self._base + record.end - counted,
            end=self._base + record.end,
            cycles=record.cycles,
            token_range=call.token_range,
        )

    def _count(self, status: Status, records: Sequence[CommitRecord]) -> None:
        c = self._counters

        def add(name: str, value: float) -> None:
            c[name] = c.get(name, 0) + value

        add("cycles", status.cycles)
        add("rtl_run_seconds", status.seconds)
        for record in records:
            add("instruction_cycles", sum(record.cycles.values()))
            for name in CYCLE_CLASSES:
                add(f"cycles.{name}", record.cycles[name])
        for name in ("ddr_read_bytes", "ddr_write_bytes", "hbm_read_bytes", "hbm_write_bytes"):
            add(name, 0)
        for key, value in status.traffic.items():
            space, _, what = key.rpartition(".")
            if not what.endswith("_bytes"):
                continue
            kind, _, port = space.partition(".")
            add(f"{kind}_{what}", value)
            if port:
                add(f"hbm_port_bytes.{port}", value)


class RtlEngine:
    """The plug-in object of `fleet.engines`."""

    name = "rtl"
    target = "accel"

    def available(self) -> str | None:
        """None when RTL can be simulated here, else what is missing."""
        try:
            find_toolchain()
        except SetupError as error:
            return str(error)
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """See `fleet.engines.base.Engine.run`. `options.device` is needed."""
        from fleet.engines.accel import run_accel

        return run_accel(program, inputs, options, RtlBackend())


ENGINE = RtlEngine()
