"""Runs a test on the bench of an adopted design, and judges what it left: values, memory, streams, the findings of the monitors."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet.adopt.bench.build import LARGE, build_bench, delays_of, design_lines, wave_name
from fleet.adopt.bench.link import link_of
from fleet.adopt.bench.observe import Observation, read_observation
from fleet.adopt.bench.plan import BenchPlan, make_plan, untried
from fleet.adopt.bench.records import first_difference, seen_in
from fleet.adopt.bench.script import ADDRESSED, ERROR, IMAGE, ReplayScript, read_script
from fleet.adopt.bench.simulators import VERILATOR, host_simulator
from fleet.adopt.bench.text import TOP
from fleet.adopt.data_files import place_data
from fleet.adopt.lockstep.events import read_events
from fleet.adopt.lockstep.jobs import run_model
from fleet.adopt.lockstep.judge import LockstepOutcome, judge_lockstep
from fleet.adopt.record import ReplayRecord
from fleet.adopt.workspace import AdoptWorkspace, Clock, guesses, is_sampled
from fleet.core.processes import start
from fleet.engines.linked.link import BROKEN, BenchLink
from fleet.errors import DeviceError, ExitCode, FleetError, SetupError

_SECONDS = 600.0
_ASSERTS = re.compile(r"^\[\d+\] %(?:Fatal|Error): (\S+:\d+): (.*)$")
_ENDS = re.compile(r"^(?:%Error:|-) (\S+:\d+): Verilog \$(stop|finish)")
_NOT_FOUND = re.compile(r"%Warning: (\S+?):\d+: \$readmem file not found|\$readmem[hb]: Unable to open (\S+) for reading")
"""Verilator, Icarus. Both go on with what the memory had."""


class BenchError(FleetError):
    """The bench failed, not the design: exit code INTERNAL."""

    exit_code = ExitCode.INTERNAL


@dataclass(frozen=True)
class ProtocolViolation:
    """A broken rule of a protocol. blame: "design" or "bench"; times: how often it was broken."""

    cycle: int
    port: str
    rule: str
    blame: str
    times: int


@dataclass(frozen=True)
class UnknownSignal:
    """An output, or a signal inside that is observed, of which bits had no value (x) after the reset. first, last: cycles."""

    path: str
    bits: int
    first: int
    last: int


@dataclass(frozen=True)
class Outcome:
    """The result of a test.

    Attributes:
        cycles: of the reference clock, reset included.
        compared: how many values, bytes and words were held to what was expected.
        differences: one line each.
        violations: first of each rule and port.
        monitors: how many watched.
        unwritten: bytes that the design read before anybody wrote them; they read as 0.
        undriven: what the bench does not play; unpaused: ports whose `pause` does nothing, and why.
        lockstep: what a functional model found, None where none was asked.
        smoke: whether quiet monitors are what the test is about.
        folder: where results, images and the wave lie; wave: the file; no_wave: why there is no wave, if nobody asked for none.
        simulator: what simulated the design; unknown: what had no value there, of a simulator of four states.
        seconds: wall time of the simulation.
        scope: what the test does not try, and guesses that it rests on, one line each.
        delays: where the design waits by itself (#delay, wait), which makes the simulation slower; "" if it does not.
        stopped: whether the design ended the simulation (an assertion of its own, $stop, $finish); no comparison goes on behind it.
    """

    cycles: int
    compared: int
    differences: tuple[str, ...]
    violations: tuple[ProtocolViolation, ...]
    monitors: int
    unwritten: int
    undriven: tuple[str, ...]
    smoke: bool
    folder: Path
    wave: Path | None
    lockstep: LockstepOutcome | None = None
    simulator: str = VERILATOR
    unknown: tuple[UnknownSignal, ...] = ()
    seconds: float = 0.0
    stopped: bool = False
    no_wave: str = ""
    delays: str = ""
    unpaused: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """DIFFERS for the design's faults, INTERNAL for the bench's alone, INCOMPLETE where nothing was compared."""
        if self.differences or any(v.blame == "design" for v in self.violations):
            return ExitCode.DIFFERS
        if self.violations:
            return ExitCode.INTERNAL
        return ExitCode.AGREED if self.compared or (self.smoke and self.monitors) else ExitCode.INCOMPLETE


def replay(work: AdoptWorkspace, test: Path, model: bool | None = None) -> Outcome:
    """Builds the bench, or takes it from the cache, and runs a test on it.

    model: whether its functional model is held to it; None: where the workspace has one.
    Raises DeviceError for what is wrong with the test or the workspace, BuildError, SetupError, ModelError for a mistake of the
    model; BenchError if the bench itself failed.
    """
    return BenchRunner(work, model).run(test)


class BenchRunner:
    """The bench of a workspace, built once, that runs tests, its design in a simulator. Raises as `replay` does."""

    def __init__(
        self, work: AdoptWorkspace, model: bool | None = None, simulator: str = VERILATOR, waves: bool | None = None
    ) -> None:  # fmt: skip
        """waves: whether the bench can write waves; None: unless the design is large (`LARGE`)."""
        self.work, self.plan = work, make_plan(work)
        self.simulator, self._host = simulator, host_simulator(simulator)
        lines = design_lines(work)
        self.waves = (self._host is not None or lines <= LARGE) if waves is None else waves
        self._no_wave = f"none: the design has {lines:,} lines; --wave writes one" if waves is None and not self.waves else ""
        observed = None if work.observe is None or model is False else read_observation(work.observe, work, self.plan)
        if model and (observed is None or observed.model is None):
            raise DeviceError(
                "the workspace has no functional model", where=str(work.folder), hint='say observe = "observe.toml" in adopt.toml'
            )
        self.observed = observed if observed is not None and observed.model is not None else None
        self._executable: Path | None = None

    def _built(self) -> Path:
        return build_bench(self.work, self.plan, self.observed, self._host, waves=self.waves)

    def script(self, test: Path) -> ReplayScript:
        """A test as this bench runs it."""
        rest = self.observed.quiescent if self.observed is not None else None
        return read_script(test, self.work, self.plan, rest.cycles + rest.limit if rest is not None else 0)

    def run(
        self, test: Path, folder: Path | None = None, arguments: Sequence[str] = (), *, wave: bool = True, seconds: float = _SECONDS
    ) -> Outcome:
        """Run a test.

        In a simulator of four states it is run twice, bits without a value once as 0 and once as 1 where they reach the bench:
        what is seen may not depend on them.

        folder: is made anew; default: runs/TEST of the workspace. arguments: of the simulation. seconds: before it is given up.
        """
        script = self.script(test)
        folder = self.work.folder / "runs" / test.stem if folder is None else folder
        outcome = self._once(test, script, folder, arguments, wave=wave, seconds=seconds)
        if self._host is None or not self._host.four_states or outcome.exit_code is ExitCode.DIFFERS:
            return outcome
        ones = self._once(test, script, folder / "ones", (*arguments, "+link_unknown=1"), wave=False, seconds=seconds)
        found = first_difference(seen_in(folder), seen_in(ones.folder))
        said = [f"with bits that have no value as 1: {line}" for line in ones.differences]
        if found is not None:
            said.append(f"a bit that has no value is seen: with such bits as 0 {found[0]}, as 1 {found[1]}")
        unknown = _unknown(folder, link_of(self.work.top, self.observed))
        return replace(outcome, differences=(*outcome.differences, *said), unknown=unknown)

    def _once(
        self, test: Path, script: ReplayScript, folder: Path, arguments: Sequence[str], *, wave: bool, seconds: float
    ) -> Outcome:  # fmt: skip
        executable = self._executable = self._executable or self._built()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        place_data(self.work.top, folder)
        (folder / "script.txt").write_text(script.text(), encoding="utf-8")
        for n, image in enumerate(script.images):
            (folder / f"image{n}.bin").write_bytes(image)
        wave = wave and self.waves
        kept = folder / wave_name(executable)
        command = [str(executable), f"+limit={script.limit}", *arguments]
        command += ([f"+wave={kept.name}"] if wave else []) + (["+observe"] if self.observed is not None else [])
        if (host := self._host) is not None:
            image = executable.parent / host.image
            command += ["+observe", f"+link_program={host.program or image}", f"+link_image={image}"]
            command += [f"+link_options={host.wave_option}"] if wave and host.wave_option else []
        begun = time.monotonic()
        with (folder / "log.txt").open("w") as log, start(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT) as process:
            try:
                code = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired as error:
                raise SetupError(f"the simulation took longer than {seconds:.0f} s", where=str(test)) from error
            took = time.monotonic() - begun
        if code == BROKEN:
            *_, why = _lines(folder / "log.txt")
            design = [line for line in _lines(folder / "design.txt") if not line.startswith("VCD info")]
            said = f"; the last that it said: {design[-1]}" if design else ""
            raise DeviceError(f"the simulation of the design in {self.simulator} {why}{said}", where=str(folder))
        for log in ("log.txt", "design.txt"):
            if name := missing_data("\n".join(_lines(folder / log))):
                where = next((d.where for d in self.work.top.data if d.name == name), str(folder))
                raise DeviceError(
                    f"the design reads {name}, which is not there", where=where,
                    hint="name the folder that has it in data_dirs of adopt.toml",
                )  # fmt: skip
        outcome = judge(self.plan, script, folder, kept, code)
        delays = delays_of(executable.parent)
        settings = self.work.settings
        calm = "" if script.smoke or outcome.exit_code is ExitCode.DIFFERS else untried(self.plan, settings.clocks)
        scope = (*filter(None, [calm]), *guesses(settings))
        outcome = replace(
            outcome, simulator=self.simulator, seconds=took, no_wave=self._no_wave, delays=delays, unpaused=self.plan.unpaused,
            scope=scope,
        )  # fmt: skip
        return (
            outcome
            if self.observed is None or outcome.stopped
            else _held_to_model(outcome, self.work, self.plan, script, self.observed)
        )


def missing_data(log: str) -> str:
    """Return the first $readmem file that the simulation did not find; "" if it found all of them."""
    found = _NOT_FOUND.search(log)
    return "" if found is None else found[1] or found[2]


def _ended_by_design(log: Sequence[str]) -> str:
    """Return what the design said when it ended the simulation, "" if it did not: a line of its sources, not of the bench's."""
    for n, line in enumerate(log):
        if (found := _ASSERTS.search(line)) is not None:
            printed = [text.strip() for text in log[:n] if not text.startswith(("%", "- ", "["))][-2:]
            said = f"{found[1]}: {found[2].replace(f'{TOP}.dut', 'dut')}" + (f" ({' '.join(printed)})" if printed else "")
            return said if f" in {TOP}.dut" in found[2] else ""
        if (found := _ENDS.search(line)) is not None:
            return f"{found[1]}: ${found[2]}" if not found[1].startswith("bench.sv:") else ""
    return ""


def _lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").strip().splitlines() if path.is_file() else []


def _unknown(folder: Path, link: BenchLink) -> tuple[UnknownSignal, ...]:
    found: dict[str, UnknownSignal] = {}
    for line in _lines(folder / "unknown.txt"):
        bit, first, last = map(int, line.split())
        path = link.named(bit)
        one = found.get(path, UnknownSignal(path, 0, first, last))
        found[path] = UnknownSignal(path, one.bits + 1, min(one.first, first), max(one.last, last))
    return tuple(found.values())


def _held_to_model(
    outcome: Outcome, work: AdoptWorkspace, plan: BenchPlan, script: ReplayScript, observed: Observation
) -> Outcome:  # fmt: skip
    """The outcome with what the model found."""
    before = {(op.b, op.a + n): value for op in script.ops if op.code == IMAGE for n, value in enumerate(script.images[op.number])}
    events = read_events(outcome.folder, script, plan, observed)
    run = run_model(work, plan, script, observed, events.operations, before)
    clock = work.settings.clocks.get(work.settings.reference, Clock())
    found = judge_lockstep(plan, observed, run, events, before, clock.period)
    differences = (*outcome.differences, *run.expected, *([found.divergence] if found.divergence else []))
    compared = outcome.compared + run.compared + found.compared
    return replace(outcome, differences=differences, compared=compared, lockstep=found)


def judge(plan: BenchPlan, script: ReplayScript, folder: Path, wave: Path, code: int) -> Outcome:
    """Judge what a run left in its folder. code: of the process. Raises BenchError if the run did not end."""
    return _Judge(plan, script, folder).outcome(wave if wave.is_file() else None, code)


class _Judge:
    def __init__(self, plan: BenchPlan, script: ReplayScript, folder: Path) -> None:
        self._plan, self._script, self._folder = plan, script, folder
        text = (folder / "results.txt").read_text(errors="replace") if (folder / "results.txt").is_file() else ""
        self._lines = [line.split("|") for line in text.splitlines()]

    def _of(self, kind: str) -> Iterator[list[str]]:
        yield from (words[1:] for words in self._lines if words[0] == kind)

    def outcome(self, wave: Path | None, code: int) -> Outcome:
        ends = list(self._of("E"))
        log = _lines(self._folder / "log.txt")
        if not ends and (said := _ended_by_design(log)):
            differences = [f"the design ends the simulation: {said}"]
            compared, violations = self._compare(differences), tuple(self._violations())
            cycle = max((int(words[1]) for words in self._lines if words[0] in "QVWSC" and len(words) > 2), default=0)
            return Outcome(
                cycle, compared, tuple(differences), violations, self._plan.monitors(), 0, self._plan.undriven, self._script.smoke,
                self._folder, wave, stopped=True,
            )  # fmt: skip
        if not ends or code != 0 or ends[-1][1] == "script":
            what = log[-1] if log else f"exit code {code}"
            raise BenchError(f"the bench ended before its test did: {what}", where=str(self._folder))
        cycle, how, at, _, unwritten = ends[-1]
        differences: list[str] = []
        if how == "limit":
            op = self._script.ops[min(int(at), len(self._script.ops) - 1)]
            asked = [o for o in self._script.ops if o.code in ADDRESSED]
            hint = "; the first access after the reset: does the design need an idle step before it?" if asked[:1] == [op] else ""
            limit = min(op.limit, self._script.limit)
            differences.append(f"{op.where}: {op.text or 'the test'} did not end within {limit} cycles (cycle {cycle}){hint}")
        compared = self._compare(differences) + self._received(differences, whole=how == "end")
        compared += self._memory(differences) if how == "end" else 0
        return Outcome(
            int(cycle), compared, tuple(differences), tuple(self._violations()), self._plan.monitors(), int(unwritten),
            self._plan.undriven, self._script.smoke, self._folder, wave,
        )  # fmt: skip

    def _compare(self, differences: list[str]) -> int:
        answers = {int(at): int(value, 16) for at, _, value, *_ in self._of("R")}
        got = {at: value & ((1 << ERROR) - 1) for at, value in answers.items()}
        refusals, hinted = 0, set[int]()
        for n, op in enumerate(self._script.ops):
            if op.code in ADDRESSED and n in answers:
                refused = bool(answers[n] >> ERROR & 1)
                refusals += op.error
                if refused != op.error:
                    differences.append(f"{op.where}: {op.text}: the design answers {'with' if refused else 'without'} an error")
        for c in self._script.compares:
            if c.op in got and (got[c.op] & c.mask) != c.value:
                hint = self._sampled(self._script.ops[c.op].number, hinted)
                differences.append(f"{c.where}: {c.text}: {got[c.op] & c.mask:#x}, expected {c.value:#x}{hint}")
        stated = sum(op.stated and n in answers for n, op in enumerate(self._script.ops))
        return refusals + stated + sum(c.op in got for c in self._script.compares)

    def _sampled(self, number: int, hinted: set[int]) -> str:
        """What else a wrong value of a port may mean whose data come by `latency` alone, once of each port."""
        port = next((i.port for i in self._plan.instances if i.index == number), None)
        if port is None or number in hinted or not is_sampled(port.group):
            return ""
        hinted.add(number)
        found, other = (
            ("in the cycle of the strobe", "latency = 1 is the cycle behind it")
            if port.settings.latency == 0
            else (f"{port.settings.latency} behind the strobe", "latency = 0 is the cycle of the strobe, for combinational reads")
        )
        return f"; the data are those {found} (latency of {port.group.name} in adopt.toml: {other})"

    def _received(self, differences: list[str], *, whole: bool) -> int:
        got: dict[str, list[int]] = {}
        for _, port, value, *_ in self._of("S"):
            got.setdefault(port, []).append(int(value, 16))
        count = 0
        for check in self._script.received:
            values = got.get(check.port, [])
            for n, (value, (expected, mask)) in enumerate(zip(values, check.expected, strict=False)):
                count += 1
                if value & mask != expected & mask:
                    differences.append(f"{check.where}: {check.port} word {n}: {value & mask:#x}, expected {expected & mask:#x}")
            if whole and len(values) != len(check.expected):
                differences.append(f"{check.where}: {check.port} gave {len(values)} words, expected {len(check.expected)}")
        return count

    def _memory(self, differences: list[str]) -> int:
        count = 0
        for check in self._script.memory:
            path = self._folder / f"dump{check.dump}.txt"
            found = path.read_text().split() if path.is_file() else []
            wrong = [n for n, byte in enumerate(check.expected) if n >= len(found) or found[n] != f"{byte:02x}"]
            count += len(check.expected)
            if wrong:
                n = wrong[0]
                said = found[n] if n < len(found) else "--"
                said = "never written" if said == "--" else f"0x{said}"
                differences.append(
                    f"{check.where}: {check.text} at {check.address + n:#x}: {said}, expected {check.expected[n]:#04x}"
                    f" ({len(wrong)} of {len(check.expected)} bytes differ)"
                )
        return count

    def _violations(self) -> Iterator[ProtocolViolation]:
        first: dict[tuple[str, str, str], tuple[int, int]] = {}
        for cycle, port, rule, blame in self._of("V"):
            at, times = first.get((port, rule, blame), (int(cycle), 0))
            first[port, rule, blame] = at, times + 1
        for (port, rule, blame), (at, times) in first.items():
            yield ProtocolViolation(at, port, rule, blame, times)


_VERDICTS = {ExitCode.AGREED: "pass", ExitCode.DIFFERS: "fail", ExitCode.INTERNAL: "bench", ExitCode.INCOMPLETE: "incomplete"}


def record_of(work: AdoptWorkspace, test: Path, outcome: Outcome, simulators: Sequence[str] = ()) -> ReplayRecord:
    """The record of an outcome. simulators: those that were held to each other, if more than its own."""
    names = ",".join(simulators or (outcome.simulator,))
    simulator = () if names == VERILATOR else ("--simulator", names)
    rules = [f"{v.port}: {v.rule} (by the {v.blame}, first at cycle {v.cycle}, {v.times} times)" for v in outcome.violations]
    return ReplayRecord(
        _VERDICTS[outcome.exit_code], f"{test.name} of {work.top.name}",
        ("isa", "replay", str(work.folder), str(test), *simulator),
        (*outcome.differences, *rules), outcome.lockstep.account if outcome.lockstep is not None else (),
        str(outcome.wave.absolute()) if outcome.wave is not None else outcome.no_wave,
    )  # fmt: skip
