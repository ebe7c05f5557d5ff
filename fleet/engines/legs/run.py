"""A run in legs: the model runs ahead, processes simulate the legs as their start states become known, the results are merged."""

from __future__ import annotations

import math
import queue
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

from fleet.engines.backend import Snapshot
from fleet.engines.evidence import JobEvidence
from fleet.engines.legs.course import Course, CourseState, ModelMemory, put
from fleet.engines.legs.pages import Pages, Stray, load_overlay, save_overlay
from fleet.engines.legs.plan import Leg, plan_legs
from fleet.engines.legs.pool import Simulations
from fleet.engines.legs.request import LegRequest, LegsRan, SampleRan
from fleet.engines.legs.sample import SampleChoice, SampledCalls
from fleet.engines.rtl_sim.arrays import Files
from fleet.engines.rtl_sim.expected import ExpectedCommit
from fleet.engines.rtl_sim.job import Job, JobStatus
from fleet.engines.rtl_sim.process import LostSimulationError, SimulationError
from fleet.engines.rtl_sim.records import CommitRecord
from fleet.engines.rtl_sim.segment import JobOfLeg, Segment
from fleet.engines.trace import Commit
from fleet.errors import DeviceError, FleetError
from fleet.isa.codec_binary import BLOCK, TASKS
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.isa.resolved import registers_in, resolved
from fleet.sdk import Call, Device

_LOOK = 0.5
"""Seconds between two reports of progress."""


@dataclass(frozen=True)
class _Begun:
    """A leg that can run. younger: number of instructions after its own in progress when it ends."""

    number: int
    leg: Leg
    start: CourseState
    segment: Segment
    expected: tuple[ExpectedCommit, ...]
    arrays: Files | None
    of_job: JobOfLeg
    younger: int
    snapshots: tuple[Snapshot, ...]


@dataclass(frozen=True)
class _Ran:
    """Result of a leg's process: commits and records from its warm-up on, on the bench's own clock."""

    job: Job
    status: JobStatus
    evidence: JobEvidence
    commits: tuple[Commit, ...]
    records: tuple[CommitRecord, ...]


def run_sample(
    request: LegRequest, choice: SampleChoice, simulations: Simulations, progress: Callable[[int], None] | None = None
) -> SampleRan:
    """Simulate a sample of the calls, each stretch from the functional model's state and compared with it as a leg is.

    Raises what `run_in_legs` raises, and DeviceError if the set does not state where its RTL keeps its state.
    """
    r, calls = request, _resolved(request)
    if not r.inside.whole(r.device):
        raise DeviceError(
            "a stretch cannot start in the middle: the set does not say where its RTL keeps its state", where=r.device.name,
            hint="leave out --rtl",
        )  # fmt: skip
    fetches = {b.first + n for b in r.binaries for n in range(0, b.count, TASKS)}
    sampled = SampledCalls(r.instruction_set, r.device, calls, [_cost(r, c) for c in calls], fetches, r.model)
    stretches = sampled.stretches(*_places(r))
    begun: list[_Begun] = []
    ran: list[_Ran] = []
    drawn: list[Leg] = []
    legs = sampled.draw(choice, stretches)
    while True:
        run = LegRun(replace(r, folder=r.folder / f"{len(drawn)}"), simulations, progress, legs=legs, known=drawn)
        end = run.apart()
        count, drawn = run.last + 1, drawn + legs
        begun, ran = begun + run.begun[:count], ran + [run.ran[n] for n in range(count)]
        estimate = None if ran[-1].status.status == "diverged" else sampled.estimate(_times(begun, ran))
        if estimate is None or choice.unit != "ci":
            break
        wider = 2 * estimate.half / estimate.cycles / choice.amount
        more = max(1, min(len(drawn), math.ceil(len(drawn) * (wider * wider - 1))))
        legs = sampled.draw(choice, stretches, drawn, more) if wider > 1 else []
        if not legs:
            break
    put(end, r.memory)
    order = sorted(range(len(ran)), key=lambda n: begun[n].leg.own)
    if estimate is None:  # stretches after the one that differs may have been simulated earlier
        order = order[: order.index(len(ran) - 1) + 1]
    ran = [ran[n] for n in order]
    own = [replace(c, start=None, end=None, cycles={}) for one in ran for c in one.commits[one.evidence.own :]]
    traffic: Counter[str] = Counter()
    for one in ran:
        traffic.update(one.status.traffic)
    return SampleRan(
        tuple(own), len(calls), tuple(one.evidence for one in ran), estimate is None, sum(one.status.seconds for one in ran),
        sum(one.status.cycles for one in ran), traffic, len(ran), estimate,
    )  # fmt: skip


def _times(begun: Sequence[_Begun], ran: Sequence[_Ran]) -> list[dict[int, int]]:
    """Return, for each stretch, the cycles from the commit before each of its calls to its own."""
    found: list[dict[int, int]] = []
    for b, one in zip(begun, ran, strict=True):
        ends = [0, *(record.end for record in one.records)]
        found.append({b.leg.first + n: ends[n + 1] - ends[n] for n in range(b.leg.warm_up, b.leg.end - b.leg.first)})
    return found


def run_in_legs(request: LegRequest, simulations: Simulations, progress: Callable[[int], None] | None = None) -> LegsRan:
    """Run the calls in legs, and compare each with the functional model.

    progress: gets the cycles so far.

    Raises:
        SimulationError: of the earliest failed leg: as in an uncut run, or because memory at its end differs from the model's.
        DeviceError, ComparisonFailure: of the functional model.
    """
    return LegRun(request, simulations, progress).run()


class LegRun:
    """One run: `run` or `apart` does all of it; `begin`, `wait` and `whole` are its parts, for runs that overlap.

    legs: to simulate, in order; None: legs that cover the whole run. known: legs of the same run already simulated.
    ahead: the model's memory, which goes on from the run before; None: a new one. number: of its first leg, among all of
    `simulations`.
    """

    def __init__(
        self, request: LegRequest, simulations: Simulations, progress: Callable[[int], None] | None = None, *,
        legs: Sequence[Leg] | None = None, known: Sequence[Leg] = (), ahead: ModelMemory | None = None, number: int = 0,
    ) -> None:  # fmt: skip
        self.known, self.number = known, number
        self.request, self.simulations, self.progress = request, simulations, progress
        self.costs = [_cost(request, c) for c in _resolved(request)]
        jobs = request.jobs if request.inside.whole(request.device) else 1
        self.legs = tuple(legs or ()) or plan_legs(self.costs, jobs, *_places(request), shortest=request.shortest)
        self.ahead = ahead or ModelMemory(request.memory)
        self.course = Course(
            request.instruction_set, request.device, self.ahead, request.calls, refusals=request.refusals,
            written=request.written, first_seq=request.first_seq,
        )  # fmt: skip
        self.done: queue.SimpleQueue[tuple[int, _Ran | BaseException]] = queue.SimpleQueue()
        self.cycles = [0] * len(self.legs)
        self.dropped = False
        self.last = len(self.legs) - 1
        """Number of the earliest leg that failed or diverged: later ones do not count."""
        self.begun: list[_Begun] = []
        self.ends: dict[int, CourseState] = {}
        self.early: list[tuple[int, _Ran | BaseException]] = []
        """Results of legs that ended before the model was at their ends."""
        self.ran: dict[int, _Ran] = {}
        self.found: dict[int, Pages] = {}
        self.failed: dict[int, BaseException] = {}

    def run(self) -> LegsRan:
        """Simulate the legs, which cover the whole run."""
        try:
            self._simulate()
            return self.whole(self.request.memory)
        finally:
            self.ahead.close()

    def apart(self) -> CourseState:
        """Simulate the legs, which need not be adjacent. Return the model's state after the whole run."""
        try:
            self._simulate()
            self.course.to(len(self.request.calls))
            return self.course.state()
        finally:
            self.ahead.close()

    def _simulate(self) -> None:
        threads = ThreadPoolExecutor(self.request.jobs, "leg")
        try:
            self.begin(threads)
            self.wait()
        finally:
            self.drop()
            threads.shutdown(wait=True, cancel_futures=True)

    def begin(self, threads: Executor) -> None:
        """Take the model through the run; threads simulate the legs. Raises what the functional model raises."""
        for leg in self._starts():
            self.begun.append(leg)
            threads.submit(self._work, leg)

    def wait(self) -> None:
        """Wait for the legs, or for those up to the first that differs. Raises SimulationError of the first failed leg."""
        while not all(n in self.found or n in self.failed for n in range(self.last + 1)):
            try:
                self.early.append(self.done.get(timeout=_LOOK))
                self._settle()
            except queue.Empty:
                if self.progress is not None:
                    self.progress(sum(self.cycles))
        # A leg that repeats the faulty instruction may have failed before the leg that owns it.
        if (first := min(self.failed, default=self.last + 1)) <= self.last:
            raise self.failed[first]

    def drop(self) -> None:
        """Stop all legs that still run or wait to run."""
        self.dropped = True
        self.simulations.kill(self.number - 1)

    def _settle(self) -> None:
        """Take the results of legs at whose ends the model is."""
        while not self.done.empty():
            self.early.append(self.done.get())
        ready = [e for e in self.early if e[0] in self.ends]
        self.early = [e for e in self.early if e[0] not in self.ends]
        for one in ready:
            self._take(*one)

    def _take(self, number: int, outcome: _Ran | BaseException) -> None:
        """Compare the result of a leg; the earliest that fails or diverges ends the later ones."""
        if number > self.last:
            return
        if isinstance(outcome, BaseException):
            self.failed[number] = outcome
        else:
            try:
                self.ran[number], self.found[number] = outcome, self._held(self.begun[number], outcome)
            except FleetError as error:
                self.failed[number] = error
        if number in self.failed or self.ran[number].status.status == "diverged":
            self._stop_behind(number)

    def _stop_behind(self, number: int) -> None:
        self.last = min(self.last, number)
        self.simulations.kill(self.number + self.last)

    # The model's course

    def _starts(self) -> Iterator[_Begun]:
        """Take the model to each leg's start and end, in order.

        A leg can run as soon as its start is known, and its commits: those of the run, or the model's at the leg's end.
        """
        waiting: dict[int, _Begun] = {}
        for position in sorted({p for leg in self.legs for p in (leg.first, leg.end)}):
            if position > self.legs[self.last].end:
                return
            self.course.to(position)
            state = self.course.state()
            for number, leg in enumerate(self.legs):
                if leg.end == position:
                    self.ends[number] = state
                    if number in waiting:
                        yield replace(waiting.pop(number), expected=tuple(self.course.expected[leg.first : leg.end]))
            for number, leg in enumerate(self.legs[: self.last + 1]):
                if leg.first == position:
                    waiting[number] = self._begun(number, leg, state, *self._files(number, leg, state))
                    if self.request.expected:
                        yield waiting.pop(number)
            self._settle()

    def _files(self, number: int, leg: Leg, state: CourseState) -> tuple[Files | None, JobOfLeg]:
        r = self.request
        folder = r.folder / f"leg_{number}"
        folder.mkdir(parents=True, exist_ok=True)
        save_overlay(folder / "overlay", self.course.memory, state.images)
        arrays = replace(r.inside, folder=folder).set_all(self.course.memory) if r.inside.whole(r.device) else None
        clock = sum(self.costs[: leg.first]) if r.model.startswith("timed") else 0
        return arrays, JobOfLeg(folder / "overlay", folder / "overlay.to", clock, leg.warm_up)

    def _begun(self, number: int, leg: Leg, start: CourseState, arrays: Files | None, of_job: JobOfLeg) -> _Begun:
        r = self.request
        binaries, end = self._binaries(leg)
        segment = Segment(
            r.instruction_set, r.device, r.calls[leg.first : end], r.first_seq + leg.first, refusals=r.refusals, binaries=binaries,
            together={n - leg.first: count for n, count in r.together.items() if leg.first <= n < leg.end},
            parameters=r.parameters, before=self.course.registers, count=leg.end - leg.first, described=r.described,
            rewrite=r.rewrite,
        )  # fmt: skip
        own = range(r.first_seq + leg.own, r.first_seq + leg.end)
        snapshots = tuple(s for s in r.snapshots if s.seq in own)
        expected = tuple(r.expected[leg.first : leg.end])
        return _Begun(number, leg, start, segment, expected, arrays, of_job, end - leg.end, snapshots)

    def _binaries(self, leg: Leg) -> tuple[list[Binary], int]:
        """Return the binaries that a leg fetches from, in place up to their ends, and the number of the call after them."""
        found: list[Binary] = []
        end = leg.end
        for b in self.request.binaries:
            if leg.first < b.first + b.count and b.first < leg.end:
                left = max(0, leg.first - b.first)
                skipped = left // TASKS * BLOCK
                at = b.first + left - leg.first
                found.append(Binary(at, b.count - left, b.space, b.offset + skipped, b.size - skipped))
                end = max(end, b.first + b.count)
        return found, end

    # The processes

    def _work(self, begun: _Begun) -> None:
        """Simulate a leg, in a thread; a process that was lost is replaced once."""
        outcome: _Ran | BaseException | None
        try:
            try:
                outcome = self._simulated(begun)
            except LostSimulationError:
                outcome = self._simulated(begun)
        except BaseException as error:
            outcome = error
        if outcome is not None:
            self.done.put((begun.number, outcome))

    def _simulated(self, begun: _Begun) -> _Ran | None:
        """Return the result of the leg's process; None if the leg no longer counts."""
        r, number = self.request, begun.number

        def tell(cycles: int) -> None:
            self.cycles[number] = cycles

        if self._over(number):
            return None
        with self.simulations.lend(self.number + number) as simulation:
            if self._over(number):
                return None
            job = begun.segment.job(
                r.folder / f"leg_{number}" / "job", r.memory, r.model, timing=r.timing, expected=begun.expected,
                arrays=begun.arrays, snapshots=begun.snapshots, leg=begun.of_job,
            )  # fmt: skip
            try:
                status = simulation.run(job, tell)
            except LostSimulationError:
                if self._over(number):
                    return None
                raise
            except SimulationError as error:
                raise begun.segment.failed(job, error) from error
            commits, records = begun.segment.check(job, status, 0)
            evidence = simulation.evidence
        assert evidence is not None
        tell(status.cycles)
        begun.segment.taken(job, begun.snapshots)
        return _Ran(job, status, evidence, tuple(commits), tuple(records))

    def _over(self, number: int) -> bool:
        return self.dropped or number > self.last

    # The results

    def _held(self, begun: _Begun, ran: _Ran) -> Pages:
        """Return the pages that a leg wrote. Raises SimulationError if they differ from the model's."""
        r = self.request
        assert ran.job.overlay_to is not None
        found = load_overlay(ran.job.overlay_to, r.memory)
        if ran.status.status == "diverged":
            if len(ran.commits) <= begun.leg.warm_up and self._ran_with_others(begun.leg.first + len(ran.commits) - 1):
                raise SimulationError(
                    "differs from the functional model when it follows a reset, and not after the instructions before it: state "
                    "that the description does not declare decides what it computes",
                    where=begun.segment.name(len(ran.commits) - 1), hint="run it whole, without --rtl and --rtl-jobs",
                )  # fmt: skip
            return found
        inside: MappedMemory | None = None
        try:
            if ran.job.arrays_to is not None:
                inside = r.memory.apart()
                r.inside.get(ran.job.arrays_to, inside)
            wrong = self.course.wrong(begun.start, self.ends[begun.number], found, inside, begun.younger)
        finally:
            if inside is not None:
                inside.close()
        if wrong:
            raise _left(r.device, wrong, begun)
        return found

    def _ran_with_others(self, call: int) -> bool:
        """Return whether another leg ran the call as one of its own, which a sample does not guarantee.

        That leg comes first if it differs at this call, too.
        """
        return any(leg.own <= call < leg.end for leg in (*self.known, *self.legs))

    def whole(self, memory: MappedMemory) -> LegsRan:
        """Merge the legs into one run: each continues where the one before it ended, at the last instruction that both ran.

        memory: gets what they wrote; it is as the run found it.
        """
        commits: list[Commit] = []
        records: list[CommitRecord] = []
        traffic: Counter[str] = Counter()
        agreed = cycles = 0
        jobs = [self.ran[n] for n in range(self.last + 1)]
        for begun, ran in zip(self.begun, jobs, strict=False):
            warm_up, shift = begun.leg.warm_up, 0
            if warm_up:
                repeated = ran.records[warm_up - 1]
                shift = records[-1].end - repeated.end
                agreed += _pace(ran.records[:warm_up]) == _pace(records)
            own, clocked = ran.commits[warm_up:], ran.records[warm_up:]
            commits += [_later(c, shift) for c in own] if shift else own
            records += [replace(r, start=r.start + shift, end=r.end + shift) for r in clocked] if shift else clocked
            cycles = shift + begun.of_job.start_cycle + ran.status.cycles
            traffic.update(ran.status.traffic)
            self.found[begun.number].put(memory)
        last = jobs[-1]
        whole = last.status.status == "done"
        if [c.seq - self.request.first_seq for c in commits] != [*range(len(self.request.calls) if whole else len(commits))]:
            raise SimulationError("the legs' instructions are not the run's, each once", where=self.begun[0].segment.name(0))
        if whole and last.job.arrays_to is not None:
            self.request.inside.get(last.job.arrays_to, memory)
        status = replace(
            last.status, nonce="", records="", cycles=cycles, commits=len(commits), seconds=sum(r.status.seconds for r in jobs),
            traffic=traffic,
        )  # fmt: skip
        return LegsRan(
            tuple(commits), tuple(records), status, tuple(r.evidence for r in jobs), self.legs[: self.last + 1], agreed
        )  # fmt: skip


def _resolved(request: LegRequest) -> Sequence[Call]:
    before = registers_in(request.device, request.memory)
    return resolved(request.instruction_set, request.device, request.calls, before)


def _cost(request: LegRequest, call: Call) -> int:
    """Return the cycles of a call, by its instruction's estimate."""
    cls = request.instruction_set.instructions[call.instruction]
    if request.refusals and cls.legal(request.device, call.fields):
        return 0  # it is refused at once
    model = request.model.partition(":")[0]
    return cls.expected_cycles(request.device, call.fields, model) or cls.cost(request.device, call.fields)


def _places(request: LegRequest) -> tuple[set[int], set[int]]:
    """Return the calls with which a leg can start, and those before which it may end.

    Register writes can start with any call, a binary with the first task of any of its blocks. Calls that run together are not cut.
    """
    together = {n for first, count in request.together.items() for n in range(first + 1, first + count)}
    ends = set(range(1, len(request.calls))) - together
    fetched = {b.first + n for b in request.binaries for n in range(b.count) if n % TASKS}
    return ends - fetched, ends


def _pace(records: Sequence[CommitRecord]) -> int:
    """Return the cycles from the last commit but one to the last."""
    return records[-1].end - records[-2].end


def _later(commit: Commit, cycles: int) -> Commit:
    assert commit.start is not None
    assert commit.end is not None
    return replace(commit, start=commit.start + cycles, end=commit.end + cycles)


def _left(device: Device, wrong: Sequence[Stray], begun: _Begun) -> SimulationError:
    first = wrong[0]
    more = f"{len(wrong):,} byte{'s' if len(wrong) > 1 else ''}"
    return SimulationError(
        f"{device.place(first.space, first.bank, first.offset)} differs after the last instruction of a leg although all commits "
        f"agree: expected {first.expected:#04x}, found {first.found:#04x}; {more} in all",
        where=begun.segment.name(begun.leg.end - begun.leg.first - 1),
    )
