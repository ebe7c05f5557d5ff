"""All checks of an instruction set that need nothing but the set."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from fleet.isa.checking.asking import NoAnswer, ask_rules, drawn
from fleet.isa.checking.calls import check_codec, check_cost, check_drawn, check_variants
from fleet.isa.checking.files import check_generated
from fleet.isa.checking.finding import Finding, class_place, method_place
from fleet.isa.checking.layouts import check_layout
from fleet.isa.checking.semantics import check_execution, prepared, results
from fleet.isa.checking.state import check_idle, configured
from fleet.isa.conformance import sources
from fleet.isa.resolved import resolved_draw
from fleet.sdk import Device, Draw, InstructionSet, NoRoomError, Place


@dataclass
class CheckReport:
    """findings: in the order in which they were met, one a kind and instruction; instructions, draws: what was looked at.

    configured: state registers that a drawn call changes.
    """

    findings: list[Finding] = field(default_factory=list[Finding])
    instructions: int = 0
    draws: int = 0
    configured: set[str] = field(default_factory=set[str])

    def add(self, found: Iterator[Finding]) -> bool:
        """Takes what is new; whether there was any."""
        new: list[Finding] = []
        try:
            new += found
        except NoAnswer as stopped:
            new.append(stopped.finding)
        known = set(map(str, self.findings))
        self.findings += (fresh := [f for f in new if str(f) not in known])
        return bool(fresh)


def check_set(instruction_set: InstructionSet, device: Device, *, draws: int = 24, seed: int = 0) -> CheckReport:
    """Looks at generated files, the layout, and `draws` calls of every instruction: directed ones spread over all, the rest random.

    After the first call with a finding an instruction is left: the rest would say the same. Raises FleetError where the description
    cannot be read. What the description itself refuses has been refused when the set was loaded.
    """
    report = CheckReport()
    report.add(check_generated(instruction_set))
    report.add(check_layout(instruction_set))
    known = sources(instruction_set)
    for name, cls in instruction_set.instructions.items():
        report.instructions += 1
        if name not in known:
            report.add(iter([Finding(class_place(cls), f"{name}: no source in `conformance`: nothing can be drawn of it")]))
            continue
        report.add(_of_instruction(instruction_set, device, name, draws, seed, report))
    if not report.findings:  # else some may not have been drawn
        report.add(check_idle(instruction_set, report.configured))
    return report


def _of_instruction(
    instruction_set: InstructionSet, device: Device, name: str, draws: int, seed: int, report: CheckReport
) -> Iterator[Finding]:
    cls = instruction_set.instructions[name]
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    seen: list[tuple[Draw, object]] = []
    for draw in _draws(instruction_set, device, name, draws, rng):
        report.draws += 1
        found = list(_one(instruction_set, device, draw, rng))
        if found:
            yield from found
            return
        for call in draw.calls:
            report.configured |= configured(instruction_set, device, call).keys()
        seen.append((draw, _result(instruction_set, device, draw)))
    for draw, before in reversed(seen):  # in another order: state that a class keeps shows itself
        if _result(instruction_set, device, draw) != before:
            what = f"{name}: is not deterministic: a call gives another result after other calls"
            yield Finding(method_place(cls, "execute"), what)
            return


def _draws(instruction_set: InstructionSet, device: Device, name: str, count: int, rng: np.random.Generator) -> Iterator[Draw]:
    source = sources(instruction_set)[name]
    directed = drawn(name, source, lambda: source.directed(device))
    half = min(directed, max(1, count // 2))
    some = [lambda i=i: source.draw_directed(device, i * (directed - 1) // max(half - 1, 1), rng) for i in range(half)]
    some += [lambda _=i: source.draw(device, rng, Place(device, rng), small=True) for i in range(count - half)]
    full: NoRoomError | None = None
    fitting = 0
    for draw in some:
        try:
            one = drawn(name, source, draw)
        except NoRoomError as error:
            full = error
            continue
        fitting += 1
        yield resolved_draw(instruction_set, device, one)
    if full is not None and not fitting:
        raise NoAnswer(Finding(class_place(type(source)), f"{name}: no draw fits into the memory of {device.name}: {full.what}"))


def _one(instruction_set: InstructionSet, device: Device, draw: Draw, rng: np.random.Generator) -> Iterator[Finding]:
    drawn = [*check_drawn(instruction_set, device, draw), *check_cost(instruction_set, device, draw)]
    yield from drawn
    if not drawn:
        ask_rules(sources(instruction_set)[draw.call.instruction], device, draw.call)
        yield from check_codec(instruction_set, draw)
        yield from (wrong := list(check_execution(instruction_set, device, draw)))
        yield from check_variants(instruction_set, device, draw, rng, execute=not wrong)


def _result(instruction_set: InstructionSet, device: Device, draw: Draw) -> object:
    cls = instruction_set.instructions[draw.call.instruction]
    return results(cls.execute(device, draw.call.fields, prepared(instruction_set, device, draw)))
