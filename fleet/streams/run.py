"""Run streams on `iss` and on `rtl` and compare every commit and every byte of memory.

    with StreamRunner("hbm_small") as runner:
        for outcome in runner.run(case, [Setting("ideal"), Setting("stall:1")]):
            assert outcome.passed, outcome.reasons

One process of the simulation serves all streams, one job each. The functional model runs once per stream; all settings are compared
with it bit by bit, and so with each other.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from fleet.compare.diverged import Divergence
from fleet.compare.memory_held import other_memory
from fleet.core.scratch import Scratch
from fleet.engines.legs.account import CutAccount
from fleet.engines.legs.plan import SHORTEST
from fleet.engines.legs.pool import Simulations
from fleet.engines.legs.request import LegRequest, LegsRan
from fleet.engines.legs.run import run_in_legs
from fleet.engines.rtl import memory_model, memory_timing
from fleet.engines.rtl_sim.arrays import KeptState, variables
from fleet.engines.rtl_sim.build import Design, Flavour, build, design_of
from fleet.engines.rtl_sim.hardware import Hardware
from fleet.engines.rtl_sim.job import Job, JobScript, JobStatus
from fleet.engines.rtl_sim.modes.recipe import unchecked
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.rtl_sim.records import CommitRecord
from fleet.engines.rtl_sim.segment import Segment
from fleet.engines.trace import Commit
from fleet.errors import DeviceError
from fleet.isa.registry import description_hash, find_device
from fleet.isa.resolved import begun_state
from fleet.sdk import Call, Write
from fleet.streams.binaries import BinaryPlan, binaries
from fleet.streams.case import Setting, StreamCase, StreamCommit, StreamOutcome
from fleet.streams.cycle_rules import wrong_classes
from fleet.streams.divergent import explained, stopped_at
from fleet.streams.images import Images, differences, images_home
from fleet.streams.locate import disagreement, expected_of
from fleet.streams.model_side import UNKNOWN_CAUSE, Watch, execute
from fleet.streams.quiescent import memory_differs
from fleet.streams.undefined import NothingDefinedError, undefined_read
from fleet.streams.unwritten import fill_unwritten, still_unwritten, undefined_of

NAME = "rtl-vs-iss"
_LEAVE_SECONDS: dict[str, float] = {"coverage": 120}
"""Timeouts for processes that have much to write when they end."""
_FILLS = 8
"""Number of different initial contents of undefined memory on the hardware."""
PHASES = ("plan", "model", "fill", "script", "simulation", "clock", "check", "compare")
"""Phases of a stream (`StreamRunner.spent`): way of issue; functional model; memory images cleared and filled; register script and
job written; the job in the simulation, and the part of it in the clock loop; commits checked; images compared.
"""


class StreamRunner:
    """A running simulation of a device, and the functional model beside it. Use it as a context manager."""

    def __init__(
        self, device: str, folder: Path | None = None, *, power_on: int = 0, flavour: Flavour = "burst",
        design: Design | None = None, arguments: Sequence[str] = (), stop: bool = True, rtl_jobs: int = 1,
        shortest_leg: int = SHORTEST, executable: Path | None = None,
    ) -> None:  # fmt: skip
        """Build and open the simulation. Raises SetupError, DeviceError, BuildError or SimulationError.

        Args:
            device: name; its instruction set must have hardware.
            folder: for images, jobs and logs; None: a temporary one that is removed.
            power_on: seed of every flip-flop and memory of the design at power-on.
            design: replaces the set's own, with the same ports and parameters. arguments: of the simulator (plusargs).
            stop: end a run at the first commit that differs, so that later instructions do not run.
            rtl_jobs: simulate a stream in legs, so many at a time (`fleet.engines.legs`); with `stop` only.
            shortest_leg: cycles of a leg. executable: of the design, where it is built already (`build`, `train`).
        """
        folder = None if folder is None else folder.absolute()  # the simulation runs in another folder
        self.set, self.device = find_device(device)
        self._scratch = Scratch("streams", images_home(self.device)) if folder is None else None
        self.folder = self._scratch.path if self._scratch is not None else folder or Path()
        self.power_on, self.stop, self._flavour = power_on, stop, flavour
        self.rtl_jobs, self._shortest_leg = rtl_jobs if stop else 1, shortest_leg
        self.ran: LegsRan | None = None
        """The last run in legs: its cuts and what they proved; None before the first."""
        self.spent: dict[str, float] = {}
        """Phase -> seconds, summed over all streams; the caller may clear it."""
        self.watch: Watch | None = None
        """Called with what the functional model writes, see `execute`."""
        self.expected = Images(self.device, self.folder / "iss")
        self.found = Images(self.device, self.folder / "rtl")
        self._described = description_hash(self.set, self.device)
        design = design or design_of(self.set, self.device)
        self.executable = executable or build(design, flavour)
        self._inside = KeptState(design.keepers, variables(self.executable), self.folder)
        self._arguments = arguments
        self._simulation: Simulation | None = None
        self._simulations = Simulations(self._started)

    def __enter__(self) -> StreamRunner:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the simulation and remove temporary files; may be called twice."""
        self._stop()
        self.expected.close()
        self.found.close()
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None

    @property
    def simulation_pid(self) -> int | None:
        """Process id of the simulation, or None."""
        return None if self._simulation is None else self._simulation.pid

    def run(self, case: StreamCase, settings: Sequence[Setting] = (Setting(),)) -> list[StreamOutcome]:
        """Return one outcome per setting. A simulation that hangs or breaks a rule gives an outcome that did not pass.

        Raises DeviceError if the functional model itself cannot run the stream, or if the case was made for another device.
        """
        case, left_out = self._defined(case)
        with self._phase("plan"):
            plans = {s.issue: binaries(self.set, self.device, case, s.issue) for s in settings}
        case = replace(case, blocks=(*case.blocks, *(b for plan in plans.values() for b in plan.blocks)))
        commits = self.model(case)
        outcomes = [self._under(case, setting, commits, plans[setting.issue]) for setting in settings]
        return [replace(o, left_out=left_out) for o in outcomes] if left_out else outcomes

    def _defined(self, case: StreamCase) -> tuple[StreamCase, int]:
        """Return the case and the number of calls left out: the first that reads undefined memory, and all after it."""
        if case.unwritten != "left out" or not case.calls:
            return case, 0
        read = undefined_read(self.set, self.device, case, self.expected, len(case.calls) - 1)
        if read is None:
            return case, 0
        if read.seq == 0:
            raise NothingDefinedError(f"{read}: nothing is left to compare", where=case.name)
        causes = None if case.causes is None else case.causes[: read.seq]
        return replace(case, calls=case.calls[: read.seq], causes=causes), len(case.calls) - read.seq

    def model(self, case: StreamCase) -> list[StreamCommit]:
        """Run the functional model alone; `expected` holds its memory afterwards."""
        if case.device != self.device.name:
            raise DeviceError(f"the stream was made for {case.device}", where=self.device.name)
        if not case.calls:
            raise DeviceError("the stream has no instruction: nothing would be compared", where=case.name)
        with self._phase("fill"):
            self.expected.fill(case.blocks, case.parameters)
        gaps = undefined_of(case, self.set, self.device)
        if not gaps:
            with self._phase("model"):
                return execute(self.set, self.device, self.expected.memory, case.calls, self.watch)
        fill_unwritten(self.expected.memory, gaps)
        written: list[Write] = []

        def watch(seq: int, call: Call, writes: Sequence[Write]) -> None:
            written.extend(writes)
            if self.watch is not None:
                self.watch(seq, call, writes)

        with self._phase("model"):
            commits = execute(self.set, self.device, self.expected.memory, case.calls, watch)
        fill_unwritten(self.expected.memory, still_unwritten(gaps, written), None)  # as on the hardware
        return commits

    def hardware(
        self,
        case: StreamCase,
        setting: Setting,
        count: int | None = None,
        plan: BinaryPlan | None = None,
        expected: Sequence[StreamCommit] = (),
        held: Mapping[int, int] | None = None,
    ) -> tuple[list[StreamCommit], JobStatus]:
        """Run the hardware alone; `found` holds its memory afterwards. Raises SimulationError.

        count: number of instructions to run from the start; they are then written to the registers, whatever the setting says.
        plan: how they are issued; the case's blocks must hold its binaries. None: written to the registers one by one.
        expected: end the run at the first commit that differs; the status is then "diverged".
        held: as `Segment` takes it.
        """
        plan = plan or BinaryPlan()
        with self._phase("fill"):
            # Not the functional model's bytes: a result that depends on undefined memory must not agree by chance.
            self.found.fill(case.blocks, seed=2 + (case.seed + self.power_on) % _FILLS)
        if self.rtl_jobs > 1 and count is None and held is None:
            return self._in_legs(case, setting, plan, expected)
        with self._phase("script"):
            segment = Segment(
                self.set, self.device, case.calls[:count], refusals=True, binaries=plan.binaries, together=plan.together,
                parameters=case.parameters, held=held, before=begun_state(self.device, case.blocks), described=self._described,
                rewrite=held is None,
            )  # fmt: skip
            model = self._model(setting, case.seed)
            arrays = self._inside.put(self.found.memory, case.blocks)
            job = segment.job(
                self.folder / "job", self.found.memory, *model, expected=expected_of(expected[:count]), arrays=arrays
            )  # fmt: skip
        try:
            with self._phase("simulation"):
                status = self._running().run(job)
        except SimulationError as error:
            self._stop()
            raise segment.failed(job, error) from error
        self.spent["clock"] = self.spent.get("clock", 0.0) + status.seconds
        with self._phase("check"):
            commits, records = segment.check(job, status, 0)
            if arrays is not None and status.status == "done":
                self._inside.get(arrays[2], self.found.memory)
        return _stream_commits(commits, records), status

    def _in_legs(
        self, case: StreamCase, setting: Setting, plan: BinaryPlan, expected: Sequence[StreamCommit]
    ) -> tuple[list[StreamCommit], JobStatus]:
        model, _, _, timing = self._model(setting, case.seed)
        request = LegRequest(
            self.set, self.device, self.found.memory, case.calls, 0, self._inside, self.folder / "legs", self.rtl_jobs,
            binaries=plan.binaries, together=plan.together, parameters=case.parameters, refusals=True,
            expected=expected_of(expected), described=self._described, rewrite=True, model=model, timing=timing,
            shortest=self._shortest_leg,
        )  # fmt: skip
        self.ran = None
        try:
            with self._phase("simulation"):
                self.ran = ran = run_in_legs(request, self._simulations)
        except SimulationError:
            self._stop()
            raise
        self.spent["clock"] = self.spent.get("clock", 0.0) + ran.status.seconds
        return _stream_commits(ran.commits, ran.records), ran.status

    def cycles(self, case: StreamCase, settings: Sequence[Setting]) -> list[int]:
        """Return the cycles of the stream's last instruction from start to commit, one per setting; all are written to the
        registers.

        Nothing is compared (`run` does that). Memory is filled once, and each run finds what the previous one wrote, which changes
        data and no cycle. Raises SimulationError, also if an instruction is refused.
        """
        self.found.fill(case.blocks)
        before = begun_state(self.device, case.blocks)
        segment = Segment(self.set, self.device, case.calls, parameters=case.parameters, before=before, described=self._described)
        found: list[int] = []
        for setting in settings:
            arrays = self._inside.put(self.found.memory, case.blocks)
            job = segment.job(self.folder / "job", self.found.memory, *self._model(setting, case.seed), arrays=arrays)
            try:
                status = self._running().run(job)
            except SimulationError as error:
                self._stop()
                raise segment.failed(job, error) from error
            last = segment.check(job, status, 0)[0][-1]
            if last.start is None or last.end is None:
                raise SimulationError("the commit carries no cycles", where=case.name)
            found.append(last.end - last.start)
        return found

    def abandon(self, case: StreamCase, setting: Setting, pause: int) -> None:
        """Start the stream's first instruction and end the job before it can finish: the next job begins with a reset.

        pause: number of register reads between start and end, some cycles each. The hardware's memory is cleared afterwards.
        """
        self.found.fill(case.blocks)
        segment = Segment(self.set, self.device, case.calls[:1], refusals=True, parameters=case.parameters)
        script = segment.begin(pause)
        job = segment.job(self.folder / "abandoned", self.found.memory, *self._model(setting, case.seed), script=script)
        try:
            self._running().run(job)
        except SimulationError:
            self._stop()
            raise
        finally:
            self.found.clear()

    def restart(self) -> None:
        """Start the next stream on the design as after power-on; otherwise its memories keep the contents of earlier streams."""
        self._stop()

    def play(self, script: JobScript, setting: Setting) -> tuple[JobStatus, Job]:
        """Run a script of the caller on the hardware's current memory. Raises SimulationError."""
        segment = Segment(self.set, self.device, [], refusals=True)
        job = segment.job(self.folder / "script", self.found.memory, *self._model(setting, 0), script=script)
        try:
            return self._running().run(job), job
        except SimulationError:
            self._stop()
            raise

    @contextmanager
    def _phase(self, name: str) -> Generator[None]:
        before = time.perf_counter()
        try:
            yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + time.perf_counter() - before

    def _model(self, setting: Setting, seed: int) -> tuple[str, None, None, dict[str, str]]:
        """Return memory model, no waves, and the memories' parameters for the bench, as `Segment.job` takes them."""
        model = memory_model(setting.memory, seed)
        return model, None, None, memory_timing(model, self.device)

    def _running(self) -> Simulation:
        if self._simulation is None:
            self._simulation = self._simulations.take()
        return self._simulation

    def _started(self, number: int) -> Simulation:
        return Simulation(
            self.executable, self.folder / (f"simulation_{number}" if number else "simulation"), seed=self.power_on,
            arguments=self._arguments, leave_seconds=_LEAVE_SECONDS.get(self._flavour, 5),
        )  # fmt: skip

    def _stop(self) -> None:
        """End the process after a failure, so that the next stream starts a new one."""
        self._simulations.close()
        if self._simulation is not None:
            self._simulation.close()
            self._simulation = None

    def _under(self, case: StreamCase, setting: Setting, expected: list[StreamCommit], plan: BinaryPlan) -> StreamOutcome:
        try:
            found, status = self.hardware(case, setting, plan=plan, expected=expected if self.stop else ())
        except SimulationError as error:
            return StreamOutcome(case, setting, expected, (), False, (str(error),), stopped_at(self, case, error))
        stopped = status.status == "diverged"
        reasons = [*_stated(case, expected), *_commits_differ(expected, found, stopped=stopped)]
        if why := other_memory(setting.memory, status.traffic):
            reasons.append(why)
        with self._phase("compare"):
            # After a run that ended early, memory is not comparable with that of the end.
            bytes_, compared = ([], 0) if stopped else differences(self.expected, self.found)
        if bytes_:
            reasons.append(
                memory_differs(
                    self.set,
                    self.device,
                    case.calls,
                    case.blocks,
                    bytes_,
                    self.expected.memory,
                    self.found.memory,
                    agreed=not reasons,
                )
            )
        divergence = self._divergence(case, setting, expected, found, reasons) if reasons else None
        if divergence is not None and divergence.commit != divergence.seq:
            reasons.insert(0, f"rtl, instruction {divergence.seq} ({divergence.instruction}): {divergence.what}")
        reasons += wrong_classes(self.set, self.device, case.calls, expected, found, setting.issue)
        if reasons:
            last = divergence.seq if divergence is not None and divergence.seq is not None else len(case.calls) - 1
            read = undefined_read(self.set, self.device, case, self.expected, last)  # later reads are not the cause
            reasons = [str(read), *reasons] if read is not None else reasons
            self.model(case)  # the searches changed the model's memory, which the next setting is compared with
        passed = not reasons
        written = sum(c.bytes_written for c in expected)
        return StreamOutcome(
            case, setting, expected, found, passed, tuple(reasons), divergence, written, compared, status.cycles, status.seconds,
            status.traffic, cut=self._cut(setting, case.seed),
        )  # fmt: skip

    def _cut(self, setting: Setting, seed: int) -> str:
        account = CutAccount()
        if self.ran is not None:
            account.add(self.ran)
        return "; ".join(part for part in (account.words(self._model(setting, seed)[0]), unchecked(self.executable)) if part)

    def _divergence(
        self, case: StreamCase, setting: Setting, expected: Sequence[StreamCommit], found: Sequence[StreamCommit],
        reasons: Sequence[str],
    ) -> Divergence:  # fmt: skip
        """Return where the runs diverge, by a replay of the instructions around it. Overwrites the final memories."""
        pairs = enumerate(zip(expected, found, strict=False))
        first = next((i for i, (a, b) in pairs if disagreement(a, b)), None)
        if first is None:  # all commits agree, memory does not: bytes that no commit wrote
            first = self.first_stray(case, setting)
        if first is None:
            return Divergence(NAME, None, None, (), reasons[0])
        return explained(self, case, setting, expected, found, first)

    def replayed(self, case: StreamCase, setting: Setting) -> Hardware:
        """Return the hardware as replays drive it, in the running simulation."""
        model, _, _, timing = self._model(setting, case.seed)
        return Hardware(
            self.set, self.device, self.found.memory, self._running, self.folder, model, timing, dict(case.parameters),
            self._inside, case.blocks, rewrite=True,
        )  # fmt: skip

    def first_stray(self, case: StreamCase, setting: Setting) -> int | None:
        """Return an instruction that makes memory differ although all commits agree, found by bisection.

        The instructions are written to the registers one by one. None if memory then agrees at the end.
        """
        low, high = 0, len(case.calls)
        if not self._strays(case, setting, high):
            return None
        while high - low > 1:  # memory agrees after the first `low`, and not after `high`
            middle = (low + high) // 2
            if self._strays(case, setting, middle):
                high = middle
            else:
                low = middle
        return low

    def _strays(self, case: StreamCase, setting: Setting, count: int) -> bool:
        """Return whether memory differs after the first `count` instructions, or they do not finish."""
        try:
            self.hardware(case, setting, count)
        except SimulationError:
            return True
        self.model(replace(case, calls=case.calls[:count]))
        return bool(differences(self.expected, self.found, 1)[0])


def _stream_commits(commits: Sequence[Commit], records: Sequence[CommitRecord]) -> list[StreamCommit]:
    return [
        StreamCommit(c.instruction, r.error, r.digest, r.bytes_written, r.result, c.start, c.end, c.cycles)
        for c, r in zip(commits, records, strict=True)
    ]


def _stated(case: StreamCase, commits: Sequence[StreamCommit]) -> list[str]:
    """Return a line for each cause of the functional model that differs from the case's."""
    if case.causes is None:
        return []
    return [
        f"instruction {i} ({call.instruction}): the functional model gives cause {c.cause}, the case states {cause}"
        for i, (call, c, cause) in enumerate(zip(case.calls, commits, case.causes, strict=True))
        if c.cause not in {cause, UNKNOWN_CAUSE} or (c.cause == UNKNOWN_CAUSE and cause == 0)
    ]


def _commits_differ(expected: Sequence[StreamCommit], found: Sequence[StreamCommit], *, stopped: bool = False) -> list[str]:
    if len(found) != len(expected) and not stopped:
        return [f"{len(found)} commits, expected {len(expected)}"]
    wrong = [(i, why) for i, (a, b) in enumerate(zip(expected, found, strict=False)) if (why := disagreement(a, b))]
    if not wrong:
        judged = f"the simulation ended at commit {len(found) - 1}, which it judged to differ; compared here, nothing differs"
        return [judged] if stopped else []
    i, why = wrong[0]
    ended = f"; the run ended there, {len(expected) - len(found)} did not run" if stopped and len(found) < len(expected) else ""
    return [f"{len(wrong)} of {len(expected)} commits differ; first: commit {i} ({expected[i].instruction}): {why}{ended}"]
