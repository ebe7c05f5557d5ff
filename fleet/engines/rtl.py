"""Engine `rtl`: the instruction set's hardware, simulated by Verilator under cocotb; `rtl@icarus`, `rtl@cxxrtl`: by others.

`RtlBackend` executes instructions on device memory (the rest of a run is shared with `iss` in `fleet.engines.accel`); the
simulation itself is `fleet.engines.rtl_sim`. The backend checks everything: it reads the hardware's description hash first, every
call must leave exactly one commit of its own opcode without an error, and the result register read over the register port must
equal the committed one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fleet.core.scratch import Scratch
from fleet.engines.accel import run_accel
from fleet.engines.backend import Snapshot
from fleet.engines.base import Progress, RunOptions
from fleet.engines.evidence import Evidence, JobEvidence
from fleet.engines.iss import fetched
from fleet.engines.legs.account import CutAccount, SampleAccount
from fleet.engines.legs.plan import SHORTEST
from fleet.engines.legs.pool import Simulations
from fleet.engines.legs.relay import Relay
from fleet.engines.legs.request import LegRequest, LegsRan
from fleet.engines.legs.run import run_in_legs, run_sample
from fleet.engines.legs.sample import sample_choice
from fleet.engines.legs.warm import give, take
from fleet.engines.rtl_sim.arrays import KeptState, variables
from fleet.engines.rtl_sim.build import Design, Flavour, build, design_of, stored, wave_suffix
from fleet.engines.rtl_sim.expected import ExpectedCommit, expected_of
from fleet.engines.rtl_sim.hardware import Hardware
from fleet.engines.rtl_sim.job import JobStatus
from fleet.engines.rtl_sim.modes.recipe import build_mode, unchecked
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.rtl_sim.records import CommitRecord
from fleet.engines.rtl_sim.segment import Segment
from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.engines.trace import CYCLE_CLASSES, Commit, Trace
from fleet.errors import DeviceError, SetupError
from fleet.ir.program import Program
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash
from fleet.sdk import Call, Device, InstructionSet
from fleet.sdk.dram import timing_keys

_FIXED_LATENCY = 64  # cycles, for `--memory fixed`
_SEEDED = ("stall", "timed")
_ROWS = ("row_hits", "row_closed", "row_misses")


def memory_model(memory: str, seed: int) -> str:
    """Return the bench's name for a model: "ideal", "fixed" (64 cycles), "stall" and "timed" (seeded), or the bench's own spelling.

    Raises DeviceError for an unknown model.
    """
    if memory == "fixed":
        return f"fixed:{_FIXED_LATENCY}"
    if memory in _SEEDED:
        return f"{memory}:{seed % 2**64}"
    name, _, value = memory.partition(":")
    if memory == "ideal" or (name in {"fixed", *_SEEDED} and value.isascii() and value.isdecimal()):
        return memory
    raise DeviceError(f"no memory model '{memory}'", hint="use ideal, fixed[:<cycles>], stall[:<seed>] or timed[:<seed>]")


def memory_timing(model: str, device: Device) -> dict[str, str]:
    """Return the job keys that describe the device's memories to the bench. Empty unless `model` (from `memory_model`) is timed.

    Raises DeviceError when the device says nothing of them.
    """
    return timing_keys(device) if model.startswith("timed") else {}


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

    def __init__(
        self,
        flavour: Flavour = "burst",
        window: tuple[int, int] | None = None,
        *,
        shortest_leg: int = SHORTEST,
        simulator: str = "verilator",
    ) -> None:
        """Args:
        flavour: "burst", or "waves" to leave `waves_<n>.fst` (n counts the segments; `.vcd` where FST cannot be built).
        window: first and last cycle of a segment that the waves show; None for all.
        shortest_leg: minimum cycles of a leg, if a run is cut (`RunOptions.rtl_jobs`).
        simulator: of the design; any but Verilator has no waves, no legs and no samples.
        """
        self._simulator = simulator
        self.name = rtl_name(simulator)
        self._flavour: Flavour = flavour
        self._window = window
        self._shortest = shortest_leg
        self._options = RunOptions()
        self._simulations: Simulations | None = None
        self._relay: Relay | None = None
        self._early: tuple[InstructionSet, Device, RunOptions] | None = None
        self._temporary: Scratch | None = None
        self._jobs = 0
        self._base = 0  # cycles of earlier jobs
        self._counters: dict[str, float] = {}
        self._evidence: list[JobEvidence] = []
        self._expected: Sequence[Commit] = ()
        self._used: dict[str, set[str]] = {}  # ports of a space with DRAM that transferred data
        self._account, self._sample = CutAccount(), SampleAccount()
        self._unchecked = ""

    def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
        """Build the simulation (or take it from the cache) and start it, or go on with what `early` has started.

        Raises SetupError, DeviceError, BuildError or SimulationError.
        """
        if self._early != (instruction_set, device, replace(options, progress=None)):
            self.close()
            self._launch(instruction_set, device, options, self._design)
        self._early = None
        assert self._simulations is not None
        self._memory, self._options = memory, options
        self._described = description_hash(instruction_set, device)
        self._model = memory_model(options.memory, options.seed)
        self._timing = memory_timing(self._model, device)
        self._jobs, self._base, self._used, self._evidence = 0, 0, {}, []
        self._account, self._sample = CutAccount(), SampleAccount()
        if options.rtl_jobs > 1 or options.rtl_sample:
            memory.fill_undefined(1)  # different from the functional model's bytes, so that nothing agrees by chance
        self._simulations.shared()
        if options.rtl_jobs > 1 and not options.rtl_sample and self._inside.whole(device):
            self._relay = Relay(memory, self._simulations, options.rtl_jobs)
        self._counters["rtl_start_seconds"] = self._simulations.start_seconds

    def early(self, instruction_set: InstructionSet, device: Device, options: RunOptions) -> None:
        """Start all processes in the background, unless the simulation must be built first; for `open` with the same arguments.

        Raises SetupError, DeviceError or BuildError.
        """
        design = self._design(instruction_set, device, options)
        if stored(design, self._flavour, mode=build_mode(options.rtl_build)):
            self.close()
            self._launch(instruction_set, device, options, lambda *_: design, max(1, options.rtl_jobs))
            self._early = instruction_set, device, replace(options, progress=None)

    def _design(self, instruction_set: InstructionSet, device: Device, options: RunOptions) -> Design:
        design = design_of(instruction_set, device)
        if self._simulator == "verilator":
            return design
        self._only_whole(options)
        from fleet.engines.linked.lowered import in_simulator

        return in_simulator(design, self._simulator)

    def _launch(
        self, instruction_set: InstructionSet, device: Device, options: RunOptions,
        designed: Callable[[InstructionSet, Device, RunOptions], Design], count: int = 1,
    ) -> None:  # fmt: skip
        """Build the simulation and begin to start so many processes; more follow on demand."""
        self._set, self._device = instruction_set, device
        before = time.monotonic()
        design = designed(instruction_set, device, options)
        executable = build(design, self._flavour, options.progress, mode=build_mode(options.rtl_build))
        self._counters = {"rtl_build_seconds": time.monotonic() - before}
        self._unchecked = unchecked(executable)
        self._suffix = wave_suffix(executable) if self._flavour == "waves" else None
        if options.workdir is None:
            self._temporary = Scratch("rtl")
            self._folder = self._temporary.path
        else:
            self._folder = options.workdir.absolute() / "rtl"
            self._folder.mkdir(parents=True, exist_ok=True)  # a simulation that runs already works in a folder of its own
        self._inside = KeptState(design.keepers, variables(executable), self._folder)

        def started(number: int) -> Simulation:
            kept = take(executable, options.seed) if self._flavour == "burst" else None
            return kept or Simulation(executable, self._folder / f"{number}" if number else self._folder, seed=options.seed)

        self._simulations = Simulations(started, give)
        self._simulations.begin(count)

    def execute(
        self, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary] = (), snapshots: Sequence[Snapshot] = ()
    ) -> Sequence[Commit]:
        """Run the calls as one job; one commit per call, fewer if one differs from the expected one (`expect`): the job ends there.

        Raises SimulationError (exit code 1) naming the instruction for a refused, missing, extra or foreign commit, a hang, a
        broken bus rule or a foreign description hash.
        """
        if self._simulations is None:
            raise SimulationError("the simulation is not open", where=self.name)
        if not calls:
            return []
        self._jobs += 1
        wanted, tell = self._wanted(calls, first_seq), self._options.progress
        if self._options.rtl_jobs > 1 or self._options.rtl_sample:
            return self._in_legs(self._simulations, calls, first_seq, binaries, snapshots, wanted, tell)
        segment = Segment(
            self._set, self._device, calls, first_seq, binaries=binaries, parameters=self._parameters(), described=self._described
        )
        waves = self._folder / f"waves_{self._jobs}{self._suffix}" if self._suffix else None
        job = segment.job(
            self._folder / f"segment_{self._jobs}", self._memory, self._model, waves, self._window, self._timing,
            expected=wanted, snapshots=snapshots,
        )  # fmt: skip
        simulation = self._simulations.shared()
        try:
            status = simulation.run(job, _reporter(tell, lambda: segment.expected_cycles))
        except SimulationError as error:
            raise segment.failed(job, error) from error
        if simulation.evidence is not None:
            self._evidence.append(simulation.evidence)
        commits, records = segment.check(job, status, self._base)
        segment.taken(job, snapshots)
        self._count(status, records)
        return commits

    def _only_whole(self, options: RunOptions) -> None:
        if self._flavour != "burst" or options.rtl_jobs > 1 or options.rtl_sample:
            raise DeviceError(
                "another simulator than Verilator runs whole jobs, without waves", where=self.name, hint="use engine rtl for that"
            )

    def _in_legs(
        self, simulations: Simulations, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary],
        snapshots: Sequence[Snapshot], wanted: Sequence[ExpectedCommit], tell: Progress | None,
    ) -> Sequence[Commit]:  # fmt: skip
        self._memory.reset_state()  # reset, as hardware does before every job
        request = self._leg_request(self._memory, calls, first_seq, binaries, wanted, snapshots)
        tell_cycles = _reporter(tell, lambda: self._cost(calls))
        if self._options.rtl_sample:
            choice = sample_choice(self._options.rtl_sample, self._options.seed)
            sample = run_sample(request, choice, simulations, tell_cycles)
            _check_known(sample.diverged and not wanted, sample.commits)
            if sample.diverged and expected_of(sample.commits[-1:]) == (wanted[sample.commits[-1].seq - first_seq],):
                raise SimulationError("the simulation judged a commit to differ that does not", where=f"rtl, {sample.commits[-1]}")
            self._evidence += sample.evidence
            self._sample.add(sample)
            self._counters["rtl_run_seconds"] = self._counters.get("rtl_run_seconds", 0) + sample.seconds
            for key, value in sample.traffic.items():
                if (row := key.rpartition(".")[2]) in _ROWS:
                    self._counters[f"sampled.{row}"] = self._counters.get(f"sampled.{row}", 0) + value
            return sample.commits
        return self._counted(run_in_legs(request, simulations, tell_cycles), known=bool(wanted))

    def _leg_request(
        self, memory: MappedMemory, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary],
        wanted: Sequence[ExpectedCommit], snapshots: Sequence[Snapshot] = (),
    ) -> LegRequest:  # fmt: skip
        """memory: as the calls find it."""
        return LegRequest(
            self._set, self._device, self._memory, fetched(self._set, memory, calls, binaries), first_seq, self._inside,
            self._folder / f"legs_{self._jobs}", self._options.rtl_jobs, binaries=binaries, parameters=self._parameters(),
            expected=wanted, written=self._options.written, described=self._described, model=self._model, timing=self._timing,
            snapshots=snapshots, shortest=self._shortest,
        )  # fmt: skip

    def _counted(self, ran: LegsRan, *, known: bool) -> Sequence[Commit]:
        """Add a run in legs to counters and evidence; return its commits on the engine's clock. known: commits were expected."""
        _check_known(ran.status.status == "diverged" and not known, ran.commits)
        self._evidence += ran.evidence
        self._account.add(ran)
        base = self._base
        self._count(ran.status, ran.records)
        return [replace(c, start=(c.start or 0) + base, end=(c.end or 0) + base) for c in ran.commits]

    # Runs that overlap

    @property
    def relay(self) -> Relay | None:
        """The memories of runs in legs that overlap (`begin`, `end`); None if each run must end before the next begins.

        Runs overlap if any process can begin with the state that the model has.
        """
        return self._relay

    def begin(self, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary] = ()) -> None:
        """Begin a run after those under way, on the memory that the host has written into (`Relay.host`)."""
        assert self._relay is not None, "relay says so"
        self._jobs += 1
        wanted = self._wanted(calls, first_seq)
        tell = _reporter(self._options.progress, lambda: self._cost(calls))
        self._relay.begin(lambda memory: self._leg_request(memory, calls, first_seq, binaries, wanted), tell)

    def end(self) -> Sequence[Commit]:
        """Wait for the earliest run under way. Returns and raises as `execute`; runs behind one that fails or stops are void."""
        assert self._relay is not None, "relay says so"
        request, ran = self._relay.end()
        return self._counted(ran, known=bool(request.expected))

    def _wanted(self, calls: Sequence[Call], first_seq: int) -> Sequence[ExpectedCommit]:
        """Return the expected commits of the calls; none unless all are known."""
        last = first_seq + len(calls)
        wanted = expected_of([c for c in self._expected or self._options.expected if first_seq <= c.seq < last])
        return wanted if len(wanted) == len(calls) else ()

    def _cost(self, calls: Sequence[Call]) -> int:
        return sum(self._set.instructions[c.instruction].cost(self._device, c.fields) for c in calls)

    def _parameters(self) -> dict[int, int]:
        registers = load(self._set.description).with_role("parameter")
        return {r.address: int(self._memory.view("reg", r.address, 4).view("<u4")[0]) for r in registers}

    def expect(self, commits: Sequence[Commit]) -> None:
        """Set the expected commits of the next calls instead of `RunOptions.expected`: `execute` ends at the first difference."""
        self._expected = commits

    @property
    def wave_suffix(self) -> str:
        """ ".fst" or ".vcd" if it was built with waves, else empty."""
        return self._suffix or ""

    def hardware(self) -> Hardware:
        """Return the running simulation with its memory, for replays.

        A replay sets the state inside the hardware first, because a run in legs leaves the state of another leg there. Raises
        SimulationError if the simulation has ended.
        """
        if self._simulations is None:
            raise SimulationError("the simulation is not open", where=self.name)
        return Hardware(
            self._set, self._device, self._memory, self._simulations.shared, self._folder, self._model, self._timing,
            self._parameters(), self._inside,
        )  # fmt: skip

    def counters(self) -> Mapping[str, float]:
        """Return the measured counters of the run so far.

        "cycles": clock cycles of all jobs, register port included; "instruction_cycles": from start to commit, summed;
        "cycles.<class>"; "ddr_read_bytes", "ddr_write_bytes", "hbm_read_bytes", "hbm_write_bytes", "hbm_port_bytes.<p>" (both
        directions); "rtl_build_seconds", "rtl_start_seconds", "rtl_run_seconds"; "rtl_cycles_per_second".
        With timed memory, for "hbm" (all ports) and "ddr": "hbm_row_hits", "hbm_row_closed", "hbm_row_misses" (beats whose row was
        open, whose bank had none open, whose bank had another one open), "hbm_row_hit_rate" (hits of all beats),
        "hbm_refresh_cycles" (by which beats came later because of a refresh, summed over ports) and "hbm_refresh_share" (of the
        cycles of the ports that were used).
        For a sample: "sampled.commits", "sampled.of_commits", "sampled.cycles" (simulated), "sampled.estimate", "sampled.low",
        "sampled.high" (cycles of the whole to its last commit, ends of their interval), but no counter of cycles or traffic.
        """
        counters = self._counters | (self._sample.counters() if self._options.rtl_sample else {})
        for space, ports in self._used.items():
            beats = sum(counters[f"{space}_{row}"] for row in _ROWS)
            if beats:
                counters[f"{space}_row_hit_rate"] = counters[f"{space}_row_hits"] / beats
                counters[f"{space}_refresh_share"] = counters[f"{space}_refresh_cycles"] / (len(ports) * counters["cycles"])
        if counters.get("rtl_run_seconds") and "cycles" in counters:
            counters["rtl_cycles_per_second"] = counters["cycles"] / counters["rtl_run_seconds"]
        return counters

    def evidence(self) -> Evidence:
        """Return the launcher's records of every job so far."""
        if self._options.rtl_sample:
            return Evidence("sample", tuple(self._evidence), self._said(self._sample.words()))
        return Evidence("bench", tuple(self._evidence), self._said(self._account.words(self._model)))

    def _said(self, account: str) -> str:
        return "; ".join(part for part in (account, self._unchecked) if part)

    def close(self) -> None:
        """End the simulation; may be called twice."""
        self._early = None
        if self._relay is not None:
            self._relay.close()
            self._relay = None
        if self._simulations is not None:
            self._simulations.close()
            self._simulations = None
        if self._temporary is not None:
            self._temporary.close()
            self._temporary = None

    def _count(self, status: JobStatus, records: Sequence[CommitRecord]) -> None:
        c = self._counters
        self._base += status.cycles

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
            kind, _, port = space.partition(".")
            if what in _ROWS or what == "refresh_cycles":
                add(f"{kind}_{what}", value)
                used = self._used.setdefault(kind, set())
                if value:
                    used.add(port)
            if not what.endswith("_bytes"):
                continue
            add(f"{kind}_{what}", value)
            if port:
                add(f"hbm_port_bytes.{port}", value)


def _check_known(unknown: bool, commits: Sequence[Commit]) -> None:
    """Raise SimulationError if the last commit differs from one that only the legs' own model expected."""
    if unknown:
        c = commits[-1]
        raise SimulationError(
            "the commit is not the functional model's, from which a run in legs starts", where=f"rtl, instruction {c.seq} "
            f"({c.instruction})", hint="run iss too, or give --rtl-jobs 1",
        )  # fmt: skip


def _reporter(tell: Progress | None, cost: Callable[[], int]) -> Callable[[int], None]:
    """Return what reports cycles as a fraction of a cost, which is estimated at the first report: short runs have none."""
    known: list[int] = []

    def report(cycles: int) -> None:
        if tell is None:
            return
        if not known:
            known.append(max(1, cost()))
        tell(min(0.99, cycles / known[0]), f"rtl: {cycles:,} cycles")

    return report


def rtl_name(simulator: str) -> str:
    """Name of the engine: "rtl" of Verilator, "rtl@icarus"."""
    return "rtl" if simulator == "verilator" else f"rtl@{simulator}"


class RtlEngine:
    """The plug-in object of `fleet.engines`. simulator: what has the design."""

    target = "accel"

    def __init__(self, simulator: str = "verilator") -> None:
        self._simulator = simulator
        self.name = rtl_name(simulator)

    def on(self, simulator: str) -> RtlEngine:
        """Return the engine in another simulator, as "rtl@icarus" names it."""
        return RtlEngine(simulator)

    def available(self) -> str | None:
        """Return None if RTL can be simulated here, else what is missing."""
        try:
            find_toolchain()
            if self._simulator != "verilator":
                from fleet.engines.linked.lowered import find_simulator

                find_simulator(self._simulator)
        except SetupError as error:
            return str(error)
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile or take from the cache, run, return a complete trace. `options.device` is needed."""
        return run_accel(program, inputs, options, RtlBackend(simulator=self._simulator))


ENGINE = RtlEngine()
