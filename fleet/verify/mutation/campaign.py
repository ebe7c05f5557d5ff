"""A campaign: draws mutants with a seed, runs the checks on each, stores the results."""

from __future__ import annotations

import multiprocessing
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from fleet.core.processes import ends_with_parent, stopping
from fleet.core.scratch import Scratch
from fleet.engines.rtl_sim.build import Design, Progress, build, design_of
from fleet.errors import ModelError
from fleet.isa.registry import find_device
from fleet.regress.cases import Case, find_cases
from fleet.sdk import Device, InstructionSet
from fleet.verify.mutation.mutant import Mutant, MutantResult, Over
from fleet.verify.mutation.probes import Effort
from fleet.verify.mutation.python_hunt import PythonHunt, PythonMutants, python_mutants
from fleet.verify.mutation.recordings import recorded
from fleet.verify.mutation.rtl_hunt import HarnessError, RtlHunt, references
from fleet.verify.mutation.schemata import rtl_mutants
from fleet.verify.mutation.store import MutantDraw, MutantRecord, content, load_results, save_results
from fleet.verify.mutation.survivors import JudgedSurvivor

Told = Callable[[MutantResult], None]

_SET = ("fleet/isa", "fleet/sdk", "fleet/sets", "fleet/symbols", "fleet/streams", "fleet/engines", "fleet/compare", "fleet/verify")
_RTL_SOURCES = (*_SET, "rtl_models")
_PYTHON_SOURCES = (*_SET, "fleet/ir", "fleet/frontend", "fleet/transforms", "fleet/targets", "fleet/cosim", "sim/cases")
"""Folders that decide a mutant's verdict: a stored one counts only while none of their files has changed."""
_TESTS = ("tests", "sim")
_SAVED_EVERY = 10.0


@dataclass(frozen=True)
class Campaign:
    """The settings of a campaign.

    Attributes:
        device: name of the device.
        root: the project or workspace; its `tests` and `sim/cases` are used.
        work: folder for builds, recordings and results.
        jobs: number of processes.
        effort: how many streams.
        resume: reuse results in the folder that belong to the same sources; a survivor only if the tests are the same too, or if it
            is
            explained.
        known: mutant -> the test that found it before; it runs first.
        explained: mutants whose survival has a reason.
        equivalent: explained mutants that are said to equal the program; only the quickest checks try to disprove that.
    """

    device: str
    root: Path
    work: Path
    jobs: int = 1
    effort: Effort = "usual"
    resume: bool = False
    known: Mapping[str, str] = field(default_factory=dict[str, str])
    explained: frozenset[str] = frozenset()
    equivalent: frozenset[str] = frozenset()


class MutationTarget(ABC):
    """All mutants of one part of a device: hardware, functional model or compiler."""

    def __init__(self, campaign: Campaign, over: Over, mutants: Sequence[Mutant], results: Path) -> None:
        self.campaign, self.over, self.mutants, self._results = campaign, over, tuple(mutants), results
        self.left_out: tuple[str, ...] = ()
        """Checks that cannot run here, each with the command that enables it."""

    def draw(self, count: int, seed: int) -> list[Mutant]:
        """Draw `count` mutants, or all if there are fewer."""
        return random.Random(seed).sample(self.mutants, min(count, len(self.mutants)))

    def find(self, name: str) -> Mutant:
        """Return the mutant with that id. Raises ModelError if there is none."""
        found = next((m for m in self.mutants if m.id == name), None)
        if found is None:
            raise ModelError(f"there is no mutant '{name}'", where=f"{self.campaign.device}, {self.over}")
        return found

    def look(self, wanted: Sequence[Mutant], tell: Progress, told: Told) -> dict[str, MutantResult]:
        """Return results by id. told: called with each. Raises SetupError, BuildError, HarnessError."""
        tests = content(self.campaign.root, _TESTS)
        stored = load_results(self._results, tests, self.campaign.explained)
        done = {m.id: stored[m.id] for m in wanted if m.id in stored} if self.campaign.resume else {}
        for result in done.values():
            told(result)
        rest = [m for m in wanted if m.id not in done]
        if rest:
            self._prepare(tell, rest)
            saved = time.monotonic()
            try:
                for result in self._each(rest):
                    done[result.mutant.id] = stored[result.mutant.id] = result
                    tell(len(done) / len(wanted), f"{len(done)} of {len(wanted)} mutants")
                    told(result)
                    if time.monotonic() - saved > _SAVED_EVERY:
                        saved = time.monotonic()
                        save_results(self._results, stored, tests)
            finally:  # an interrupted run resumes from here
                save_results(self._results, stored, tests)
        return {m.id: done[m.id] for m in wanted}

    @abstractmethod
    def _prepare(self, tell: Progress, rest: Sequence[Mutant]) -> None:
        """Build and record what all mutants need, and run these mutants' checks on the unchanged program. Raises HarnessError."""

    @abstractmethod
    def _each(self, rest: Sequence[Mutant]) -> Iterator[MutantResult]:
        """Yield results in the order of completion."""


def _in_order(executor: Executor, work: Callable[[Mutant], MutantResult], rest: Sequence[Mutant]) -> Iterator[MutantResult]:
    """Yield results in the order of completion; cancel the rest if the caller stops."""
    futures = [executor.submit(work, m) for m in rest]
    try:
        with stopping():
            for future in as_completed(futures):
                yield future.result()
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


class _Hardware(MutationTarget):
    def __init__(self, campaign: Campaign, instruction_set: InstructionSet, device: Device) -> None:
        self._schemata = rtl_mutants(design_of(instruction_set, device), campaign.root)
        folder = campaign.work / device.name
        results = folder / f"rtl-{content(campaign.root, _RTL_SOURCES)}-{campaign.effort}.json"
        super().__init__(campaign, "rtl", self._schemata.mutants, results)
        self._folder = folder
        self._design: Design | None = None
        self._known: Path | None = None

    def _prepare(self, tell: Progress, rest: Sequence[Mutant]) -> None:
        self._design = self._schemata.write(self._folder / "rtl")
        build(self._design, progress=tell)
        self._known = references(self.campaign.device, self._design, self._folder, tell, self.campaign.effort)

    def _each(self, rest: Sequence[Mutant]) -> Iterator[MutantResult]:
        assert self._design is not None
        assert self._known is not None
        with Scratch("mutants") as folder:
            c = self.campaign
            arguments = (c.device, self._design, self._known, folder, c.root, c.effort, dict(c.known), c.equivalent)
            if self.campaign.jobs == 1:
                _start_worker(*arguments)
                yield from map(_hunt, rest)
                return
            spawn = multiprocessing.get_context("spawn")
            executor = ProcessPoolExecutor(self.campaign.jobs, spawn, _start_worker, arguments)
            yield from _in_order(executor, _hunt, rest)


_worker: list[RtlHunt] = []


def _start_worker(
    device: str, design: Design, known: Path, folder: Path, root: Path, effort: Effort, before: Mapping[str, str],
    equivalent: frozenset[str],
) -> None:  # fmt: skip
    ends_with_parent()
    _worker[:] = [RtlHunt(device, design, known, folder, root, effort, before, equivalent)]


def _hunt(mutant: Mutant) -> MutantResult:
    return _worker[0].look(mutant)


class _Python(MutationTarget):
    def __init__(self, campaign: Campaign, instruction_set: InstructionSet, over: Over, cases: Sequence[Path]) -> None:
        found: PythonMutants = python_mutants(instruction_set, over, campaign.root)
        results = campaign.work / campaign.device / f"{over}-{content(campaign.root, _PYTHON_SOURCES)}.json"
        super().__init__(campaign, over, found.mutants, results)
        self._changes, self._cases = found.changes, cases
        self._hunt: PythonHunt | None = None

    def _prepare(self, tell: Progress, rest: Sequence[Mutant]) -> None:
        tell(0.0, "recording streams")
        kept = recorded(self.campaign.device, self.campaign.work / self.campaign.device, self.campaign.effort)
        self._hunt = PythonHunt(
            self.campaign.device, kept, self.campaign.root, self._cases, self.campaign.known, self.campaign.equivalent
        )
        tell(0.0, "running what looks for mutants without one")
        test, how = self._hunt.unchanged(rest)
        if test:
            raise HarnessError(f"{test} fails on the unchanged program: {how}", where=self.campaign.device)

    def _each(self, rest: Sequence[Mutant]) -> Iterator[MutantResult]:
        hunt = self._hunt
        assert hunt is not None
        yield from _in_order(ThreadPoolExecutor(self.campaign.jobs), lambda m: hunt.look(m, self._changes[m.id]), rest)


def open_target(campaign: Campaign, over: Over) -> MutationTarget:
    """Open one part of the campaign's device. Raises DeviceError if it has no hardware, SetupError if pyslang is missing."""
    instruction_set, device = find_device(campaign.device)
    if over == "rtl":
        return _Hardware(campaign, instruction_set, device)
    cases = list(_cases(campaign.root, instruction_set, device))
    # Some files are generated by a command. Without them a case cannot check a mutant.
    there = [c for c in cases if all(p is None or p.exists() for p in (c.weights, c.input, c.labels))]
    target = _Python(campaign, instruction_set, over, [c.path for c in there])
    target.left_out = tuple(f"case {c.name} ({c.make or 'its files are missing'})" for c in cases if c not in there)
    return target


def _cases(root: Path, instruction_set: InstructionSet, device: Device) -> Iterator[Case]:
    """Yield cases of the project and of the set that run on the device in the quick tier."""
    for folder in (root / "sim" / "cases", instruction_set.cases):
        if folder is not None and folder.is_dir():
            for case in find_cases(folder):
                if any(r.device == device.name and r.tier == "quick" and "iss" in r.engines for r in case.runs):
                    yield case


def shares(count: int, over: Sequence[Over]) -> list[tuple[Over, int]]:
    """Split a number of mutants evenly over the parts; the first parts take the remainder."""
    return [(o, count // len(over) + (i < count % len(over))) for i, o in enumerate(over)]


def judged(
    device: str, results: Sequence[MutantResult], survivors: Mapping[str, JudgedSurvivor], seed: int = 0
) -> list[MutantRecord]:
    """Combine results with the judgements of survivors. seed: of the draw."""
    records: list[MutantRecord] = []
    for r in results:
        known = survivors.get(r.mutant.id) if r.verdict == "survived" else None
        records.append(
            MutantRecord(device, r, known.kind, known.reason, seed, known.test)
            if known is not None
            else MutantRecord(device, r, seed=seed)
        )
    return records


def drawn(target: MutationTarget, seed: int, count: int, seconds: float) -> MutantDraw:
    """Return the summary of a draw for a report."""
    return MutantDraw(target.campaign.device, target.over, seed, count, len(target.mutants), round(seconds, 1))
