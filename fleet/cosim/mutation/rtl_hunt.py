"""Looks for one mutant of the hardware after the other: streams on the design that is this mutant, until one tells it from iss."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from fleet.cosim.mutation.mutant import Mutant, Result
from fleet.cosim.mutation.probes import Expected, Probe, expected_of, image_digest, probes
from fleet.cosim.mutation.schemata import plusarg
from fleet.cosim.streams.binaries import binaries
from fleet.cosim.streams.case import Setting, StreamCase, StreamCommit
from fleet.cosim.streams.locate import disagreement
from fleet.cosim.streams.run import StreamRunner
from fleet.cosim.streams.suite import make_case
from fleet.engines.rtl_sim.build import Design
from fleet.engines.rtl_sim.process import SimulationError
from fleet.isa.issue import Binary

__all__ = ["RtlHunt"]

CYCLES = "cycles"
_POWER_ON = (1000, 1001, 1002)
_PAUSES = (3, 11, 24, 38)


class RtlHunt:
    """Runs streams on mutants of an instrumented design. Use it as a context manager; one simulation stays for the clean design."""

    def __init__(self, device: str, design: Design, folder: Path, *, quick: bool = False) -> None:
        """design: from `Schemata.write`. folder: for images and logs. Raises SetupError, DeviceError, BuildError."""
        self._device, self._design, self._folder = device, design, folder
        self._probes = probes(device, quick=quick)
        self._clean = StreamRunner(device, folder / "clean", design=design, arguments=(plusarg(0),))
        self._expected: dict[str, Expected] = {}
        self._cycles: dict[str, tuple[int, ...]] = {}
        self._cases: dict[tuple[str, str], tuple[StreamCase, Sequence[Binary]]] = {}
        self._killers: dict[str, dict[Probe, int]] = {}

    def __enter__(self) -> RtlHunt:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._clean.close()

    def look(self, mutant: Mutant) -> Result:
        """Found or survived. A difference of cycles alone counts when nothing else finds it, and is named as such."""
        began, tests = time.monotonic(), 0
        slow = ""
        with self._runner(mutant, 1) as runner:
            for probe in self._ordered(mutant):
                tests += 1
                why, cycles = self._differs(runner, probe)
                if why:
                    self._killers.setdefault(mutant.file, {}).setdefault(probe, 0)
                    self._killers[mutant.file][probe] += 1
                    return Result(mutant, "found", probe.name, why, tests, time.monotonic() - began)
                slow = slow or (f"{probe.name}: {cycles}" if cycles else "")
            for probe in self._short():
                for pause in _PAUSES:
                    tests += 1
                    why = self._after_reset(runner, probe, pause)
                    if why:
                        test = f"{probe.name} after a reset at {pause}"
                        return Result(mutant, "found", test, why, tests, time.monotonic() - began)
        for seed in _POWER_ON:
            with self._runner(mutant, seed) as runner:
                for probe in self._short():
                    tests += 1
                    why, _ = self._differs(runner, probe)
                    if why:
                        return Result(mutant, "found", f"{probe.name} power-on {seed}", why, tests, time.monotonic() - began)
        if slow:
            return Result(mutant, "found", CYCLES, slow, tests, time.monotonic() - began)
        return Result(mutant, "survived", "", "", tests, time.monotonic() - began)

    def clean(self) -> list[str]:
        """What the design without an active mutant does otherwise than iss, or than the design as it is: nothing, or the harness is wrong."""
        wrong: list[str] = []
        with StreamRunner(self._device, self._folder / "as_it_is") as plain:
            for probe in self._probes:
                case, fetched = self._case(probe)
                one, two = (r.hardware(case, probe.setting, fetched=fetched) for r in (plain, self._clean))
                if (one[0], one[1].cycles, one[1].traffic) != (two[0], two[1].cycles, two[1].traffic):
                    wrong.append(f"{probe.name}: the instrumented design is another")
                elif why := self._against_model(probe, two[0], image_digest(self._clean.found)):
                    wrong.append(f"{probe.name}: {why}")
        return wrong

    def _runner(self, mutant: Mutant, power_on: int) -> StreamRunner:
        folder = self._folder / f"{mutant.id}-{power_on}"
        return StreamRunner(
            self._device, folder, power_on=power_on, design=self._design, arguments=(plusarg(mutant.number),)
        )

    def _ordered(self, mutant: Mutant) -> list[Probe]:
        known = self._killers.get(mutant.file, {})
        first = sorted(known, key=lambda p: -known[p])
        return [*first, *(p for p in self._probes if p not in known)]

    def _short(self) -> list[Probe]:
        """One of every instruction, on ideal memory by registers."""
        return [p for p in self._probes if p.case.endswith("/directed/0") and p.setting == Setting()]

    def _differs(self, runner: StreamRunner, probe: Probe) -> tuple[str, str]:
        """What differs in results, and what in cycles."""
        case, fetched = self._case(probe)
        try:
            found, status = runner.hardware(case, probe.setting, fetched=fetched)
        except SimulationError as error:
            return str(error).splitlines()[0], ""
        why = self._against_model(probe, found, image_digest(runner.found))
        if why:
            return why, ""
        cycles = (*((c.end or 0) - (c.start or 0) for c in found), status.cycles)
        clean = self._clean_cycles(probe)
        return "", "" if cycles == clean else f"{cycles[-1]} cycles instead of {clean[-1]}"

    def _after_reset(self, runner: StreamRunner, probe: Probe, pause: int) -> str:
        case, _ = self._case(probe)
        try:
            runner.abandon(case, Setting(f"stall:{pause}" if pause % 2 else "ideal"), pause)
        except SimulationError as error:
            return str(error).splitlines()[0]
        return self._differs(runner, probe)[0]

    def _against_model(self, probe: Probe, found: Sequence[StreamCommit], memory: str) -> str:
        expected = self._model(probe)
        for i, (a, b) in enumerate(zip(expected.commits, found, strict=True)):
            if why := disagreement(a, b):
                return f"commit {i} ({a.instruction}): {why}"
        return "" if memory == expected.memory else "memory differs at the end"

    def _case(self, probe: Probe) -> tuple[StreamCase, Sequence[Binary]]:
        key = (probe.case, probe.setting.issue)
        if key not in self._cases:
            from dataclasses import replace

            case = make_case(probe.case)
            plan = binaries(self._clean.set, self._clean.device, case, probe.setting.issue)
            self._cases[key] = replace(case, blocks=(*case.blocks, *plan.blocks)), plan.binaries
        return self._cases[key]

    def _model(self, probe: Probe) -> Expected:
        key = f"{probe.case} {probe.setting.issue}"
        if key not in self._expected:
            self._expected[key] = expected_of(self._clean.set, self._clean.device, self._case(probe)[0], self._clean.expected)
        return self._expected[key]

    def _clean_cycles(self, probe: Probe) -> tuple[int, ...]:
        if probe.name not in self._cycles:
            case, fetched = self._case(probe)
            found, status = self._clean.hardware(case, probe.setting, fetched=fetched)
            self._cycles[probe.name] = (*((c.end or 0) - (c.start or 0) for c in found), status.cycles)
        return self._cycles[probe.name]
