"""Checks mutants of the hardware one by one: runs streams on the mutated design until one differs from iss."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from fleet.core.scratch import Scratch
from fleet.engines.rtl_sim.build import Design, Progress, build
from fleet.engines.rtl_sim.job import JobStatus
from fleet.engines.rtl_sim.process import SimulationError
from fleet.errors import ComparisonFailure
from fleet.isa.registry import find_device
from fleet.streams.binaries import BinaryPlan, binaries
from fleet.streams.case import Setting, StreamCase, StreamCommit
from fleet.streams.cycle_rules import wrong_classes
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case
from fleet.verify.mutation.mutant import Mutant, MutantResult
from fleet.verify.mutation.outside import Outside, pytest_command
from fleet.verify.mutation.probes import Effort, Expected, Probe, differs, image_digest, left_by_model, probes
from fleet.verify.mutation.recordings import Reference, load_references, save_references
from fleet.verify.mutation.rtl_hook import environment
from fleet.verify.mutation.schemata import plusarg

CYCLES = "cycles"
_POWER_ON = (1000, 1001, 1002)
_TESTS = (
    "conformance/test_registers.py", "conformance/test_status.py", "conformance/test_cycle_classes.py",
    "conformance/test_bus_errors.py", "conformance/test_long_binaries.py", "conformance/test_end_of_memory.py",
    "conformance/test_special_values.py", "conformance/test_most_lines.py",
)  # fmt: skip
_PATIENCE_S = 3600.0
_PAUSES = (3, 11, 24, 38)


class HarnessError(ComparisonFailure):
    """The instrumented design differs from the design, or fails its own regression: results of mutants would be meaningless."""


def references(device: str, design: Design, folder: Path, tell: Progress, effort: Effort = "usual") -> Path:
    """Return a file with the references of all probes; missing ones are added.

    On every probe, the instrumented design without an active mutant must match the original design in bits, cycles and traffic, and
    iss in bits. Raises HarnessError if it does not, SetupError, DeviceError, BuildError, SimulationError.
    """
    built = build(design, progress=tell).parent.name
    path = folder / f"references-{device}-{built}" / "references.json"
    found = load_references(path)
    every = [p for p in probes(device, effort) if p.name not in found]
    if not every:
        return path
    with (
        Scratch("mutants") as temporary,
        StreamRunner(device, temporary / "plain") as plain,
        StreamRunner(device, temporary / "none", design=design, arguments=(plusarg(0),)) as none,
    ):
        for n, probe in enumerate(every):
            tell(n / len(every), "comparing the design with itself and iss")
            case, plan = _case(plain, probe)
            one, two = (r.hardware(case, probe.setting, plan=plan) for r in (plain, none))
            if (one[0], one[1].cycles, one[1].traffic) != (two[0], two[1].cycles, two[1].traffic):
                raise HarnessError("with no mutant active, the instrumented design behaves differently", where=probe.name)
            expected = left_by_model(plain.set, plain.device, case, plain.expected)
            if why := differs(expected, two[0], image_digest(none.found)) or _classes(none, case, probe, expected, two[0]):
                raise HarnessError(f"the unchanged design does not agree with iss: {why}", where=probe.name)
            found[probe.name] = Reference(expected, _cycles(two[0], two[1]))
    return save_references(path, found)


def _case(runner: StreamRunner, probe: Probe) -> tuple[StreamCase, BinaryPlan]:
    """Return the case with the binaries of its way of issue in memory, and the plan of these binaries."""
    case = make_case(probe.case)
    plan = binaries(runner.set, runner.device, case, probe.setting.issue)
    return replace(case, blocks=(*case.blocks, *plan.blocks)), plan


def _cycles(found: Sequence[StreamCommit], status: JobStatus) -> tuple[int, ...]:
    return (*((c.end or 0) - (c.start or 0) for c in found), status.cycles)


class RtlHunt:
    """Runs streams on mutants of an instrumented design."""

    def __init__(
        self, device: str, design: Design, known: Path, folder: Path, root: Path, effort: Effort = "usual",
        before: Mapping[str, str] | None = None, equivalent: Set[str] = frozenset(),
    ) -> None:  # fmt: skip
        """design: from `Schemata.write`; known: from `references`; folder: for images and logs; root: the project.

        before: mutant -> the test that found it before, which runs first. equivalent: mutants for which only the quick streams run.
        """
        self._device, self._design, self._folder = device, design, folder
        self._probes = probes(device, effort)
        self._known = load_references(known)
        self._cases: dict[tuple[str, str], tuple[StreamCase, BinaryPlan]] = {}
        self._killers: dict[str, dict[Probe, int]] = {}
        self._outside, self._root, self._effort = Outside(root), root, effort
        self._tests_pass: bool | None = None
        self._before, self._equivalent = dict(before or {}), equivalent
        self._quick = frozenset(probes(device, "quick"))

    def look(self, mutant: Mutant) -> MutantResult:
        """Check a mutant. A difference in cycles alone counts if nothing else finds the mutant, and is named as such."""
        began, tests = time.monotonic(), 0
        slow = ""
        told = self._before.get(mutant.id, "").startswith(f"sim{os.sep}") and self._effort != "quick"
        if told:
            test, how = self._regression(mutant)
            tests += 1
            if test:
                return MutantResult(mutant, "found", test, how, tests, time.monotonic() - began)
        with self._runner(mutant, 1) as runner:
            for probe in self._ordered(mutant):
                tests += 1
                why, cycles = self._played(runner, probe)
                if why:
                    self._killers.setdefault(mutant.file, {}).setdefault(probe, 0)
                    self._killers[mutant.file][probe] += 1
                    return MutantResult(mutant, "found", probe.name, why, tests, time.monotonic() - began)
                slow = slow or (f"{probe.name}: {cycles}" if cycles else "")
            for probe in self._short():
                for pause in _PAUSES:
                    tests += 1
                    why = self._after_reset(runner, probe, pause)
                    if why:
                        test = f"{probe.name} after a reset at {pause}"
                        return MutantResult(mutant, "found", test, why, tests, time.monotonic() - began)
        for seed in _POWER_ON:
            with self._runner(mutant, seed) as runner:
                for probe in self._short():
                    tests += 1
                    why, _ = self._played(runner, probe)
                    if why:
                        return MutantResult(mutant, "found", f"{probe.name} power-on {seed}", why, tests, time.monotonic() - began)
        if self._effort != "quick" and not told and mutant.id not in self._equivalent:
            test, how = self._regression(mutant)
            tests += 1
            if test:
                return MutantResult(mutant, "found", test, how, tests, time.monotonic() - began)
        if slow:
            return MutantResult(mutant, "found", CYCLES, slow, tests, time.monotonic() - began)
        return MutantResult(mutant, "survived", "", "", tests, time.monotonic() - began)

    def _regression(self, mutant: Mutant) -> tuple[str, str]:
        """Run tests of `sim/` that drive registers themselves on the mutant. Raises HarnessError if they fail without a mutant."""
        folders = [self._root / "sim" / name for name in (*_TESTS, find_device(self._device)[0].name)]
        there = [f for f in folders if f.exists()]
        if not there:
            return "", ""
        command = pytest_command(there)
        if self._tests_pass is None:
            found = self._outside.run("sim", command, environment(self._device, self._design, plusarg(0)), _PATIENCE_S)
            if found[0]:
                raise HarnessError(f"{found[0]} fails without a mutant: {found[1]}", where=self._device)
            self._tests_pass = True
        return self._outside.run("sim", command, environment(self._device, self._design, plusarg(mutant.number)))

    def _runner(self, mutant: Mutant, power_on: int) -> StreamRunner:
        folder = self._folder / f"{mutant.id}-{power_on}"
        return StreamRunner(self._device, folder, power_on=power_on, design=self._design, arguments=(plusarg(mutant.number),))

    def _ordered(self, mutant: Mutant) -> list[Probe]:
        known = self._killers.get(mutant.file, {})
        before = [p for p in self._probes if p.name == self._before.get(mutant.id)]
        first = [*before, *sorted((p for p in known if p not in before), key=lambda p: -known[p])]
        every = [*first, *(p for p in self._probes if p not in first)]
        return [p for p in every if p in self._quick] if mutant.id in self._equivalent else every

    def _short(self) -> list[Probe]:
        """One probe of every instruction, on ideal memory, issued by registers."""
        return [p for p in self._probes if p.case.endswith("/directed/0") and p.setting == Setting()]

    def _played(self, runner: StreamRunner, probe: Probe) -> tuple[str, str]:
        """Return the difference in results and the difference in cycles."""
        key = (probe.case, probe.setting.issue)
        if key not in self._cases:
            self._cases[key] = _case(runner, probe)
        case, plan = self._cases[key]
        try:
            found, status = runner.hardware(case, probe.setting, plan=plan)
        except SimulationError as error:
            return _first_line(error).replace(f"{self._folder}/", ""), ""
        reference = self._known[probe.name]
        why = differs(reference.expected, found, image_digest(runner.found))
        why = why or _classes(runner, case, probe, reference.expected, found)
        if why:
            return why, ""
        cycles = _cycles(found, status)
        return "", "" if cycles == reference.cycles else f"{cycles[-1]:,} cycles instead of {reference.cycles[-1]:,}"

    def _after_reset(self, runner: StreamRunner, probe: Probe, pause: int) -> str:
        case, _ = _case(runner, probe)
        try:
            runner.abandon(case, Setting(f"stall:{pause}" if pause % 2 else "ideal"), pause)
        except SimulationError as error:
            return _first_line(error)
        return self._played(runner, probe)[0]


def _classes(runner: StreamRunner, case: StreamCase, probe: Probe, expected: Expected, found: Sequence[StreamCommit]) -> str:
    """Return the first impossible class of cycles; empty if all are possible."""
    return next(wrong_classes(runner.set, runner.device, case.calls, expected.commits, found, probe.setting.issue), "")


def _first_line(error: SimulationError) -> str:
    return str(error).splitlines()[0]
