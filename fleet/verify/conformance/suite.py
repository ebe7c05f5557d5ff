"""The conformance suite: every case can be made again from its name.

    <device>/<instruction>/directed/<number>    sizes at boundaries, modes, flags, aliasing
    <device>/<instruction>/random/<seed>        a legal call with random data
    <device>/<instruction>/illegal/<seed>       variants of a legal call, every field in turn; a refused call must write nothing
    <device>/program/<seed>                     instructions that depend on each other; every fourth has refused calls
    <device>/<instruction>/extremes/<number>    variants of a directed case: every field at both ends of what is legal
    <device>/<instruction>/aimed/<bin>/<seed>   a draw, or a program, that aims at a coverage bin (`fleet.verify.coverage`)

Generic over instruction sets: the set defines what is legal and what data look like (`fleet.isa.conformance`).
"""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from shlex import quote

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.conformance import mutations, sources
from fleet.isa.registry import find_device, instruction_sets
from fleet.isa.resolved import resolved, resolved_call, resolved_draw, state_after
from fleet.sdk import Call, Device, Draw, InstructionSet, NoRoomError, Place, Source
from fleet.streams.case import StreamCase
from fleet.streams.model_side import refusal
from fleet.streams.unwritten import unwritten_reads, zeros_for
from fleet.verify.conformance.extremes import extreme_calls
from fleet.verify.conformance.programs import draw_program

_NAME = re.compile(
    r"(?P<device>[^/]+)/((?P<instruction>[^/]+)/((?P<kind>directed|random|illegal|extremes)|aimed/(?P<bin>.+))|(?P<program>program|undefined))"
    r"/(?P<number>\d+)"
)
_VARIANTS = 60  # of a call in one stream
_TRIES = 8  # draws, the first of any size, until one fits into memory


def is_case_name(text: str) -> bool:
    """Return whether the text looks like a case's name."""
    return _NAME.fullmatch(text) is not None


def names(
    device: str,
    *,
    random: range = range(0),
    illegal: range = range(0),
    programs: range = range(0),
    extremes: range = range(0),
    directed: bool = True,
) -> list[str]:
    """Return the names of a device's cases: all directed ones, and of the other kinds those with the given seeds.

    Raises DeviceError if the instruction set does not say what to draw.
    """
    instruction_set, chip = find_device(device)
    found: list[str] = []
    for instruction, source in _sources(instruction_set).items():
        if directed:
            found += [f"{device}/{instruction}/directed/{i}" for i in range(source.directed(chip))]
        found += [f"{device}/{instruction}/random/{i}" for i in random]
        found += [f"{device}/{instruction}/illegal/{i}" for i in illegal]
        found += [f"{device}/{instruction}/extremes/{i}" for i in extremes if i < source.directed(chip)]
    return found + [f"{device}/program/{i}" for i in programs]


def make_case(name: str) -> StreamCase:
    """Make the case of that name.

    Raises NoRoomError if the device's memory is too small, DeviceError if the name is not a case's; both name the case.
    """
    try:
        case = _make_case(name)
    except NoRoomError as error:
        raise NoRoomError(f"does not fit into the device's memory: {error.what}", where=name) from error
    instruction_set, device = find_device(case.device)
    return replace(case, calls=resolved(instruction_set, device, case.calls))


def _make_case(name: str) -> StreamCase:
    match = _NAME.fullmatch(name)
    if match is None:
        raise DeviceError(
            "expected <device>/<instruction>/<directed, random, illegal or extremes>/<number>, "
            "<device>/<instruction>/aimed/<bin>/<number>, "
            "<device>/program/<number> or <device>/undefined/<number>",
            where=name,
        )
    instruction_set, device = find_device(match["device"])
    number = int(match["number"])
    rng = np.random.default_rng([number, zlib.crc32(name.rpartition("/")[0].encode())])
    replay = f"fleet stream run {quote(name)}"
    if match["program"]:
        p = draw_program(instruction_set, device, _sources(instruction_set), number, rng)
        if match["program"] == "undefined":
            unwritten, rest = "left out", ()
        else:  # the loader writes what no instruction writes before it is read
            unwritten, rest = "zeros", zeros_for(unwritten_reads(instruction_set, device, p.calls, p.blocks))
        return StreamCase(
            name, device.name, p.calls, (*p.blocks, *rest), p.causes, p.parameters, number, replay, p.classes, unwritten
        )  # fmt: skip
    if match["bin"]:
        from fleet.verify.coverage.aimed import aimer  # its bins are made of this suite's settings

        a = aimer(instruction_set, device).draw(match["bin"], number)
        return StreamCase(
            name, device.name, a.calls, a.blocks, (0,) * len(a.calls), a.parameters, number, replay, {"aimed at": match["bin"]}
        )
    source = _sources(instruction_set).get(match["instruction"])
    if source is None:
        known = ", ".join(_sources(instruction_set))
        raise DeviceError(f"nothing is drawn for an instruction '{match['instruction']}'", where=name, hint=f"there is {known}")
    draw = resolved_draw(instruction_set, device, _one(source, device, match["kind"], number, rng, name))
    calls, causes = (draw.call,), (0,)
    if match["kind"] == "illegal":
        calls, causes = _variants(instruction_set, device, draw, number, rng)
    if match["kind"] == "extremes":
        calls = extreme_calls(instruction_set, device, draw)
        causes = (0,) * len(calls)
    calls, causes = (*draw.before, *calls), (*(0 for _ in draw.before), *causes)
    wrong = instruction_set.instructions[draw.call.instruction].legal(device, draw.call.fields)
    if wrong:
        raise DeviceError(f"the suite drew an illegal {draw.call.instruction}: {'; '.join(wrong)}", where=name)
    return StreamCase(name, device.name, calls, draw.blocks, causes, draw.parameters, number, replay, draw.classes)


def suite_devices(*, all_devices: bool) -> list[str]:
    """Return the devices of installed sets that have hardware and say what to draw: all, or the one with the fewest HBM ports."""
    found: list[str] = []
    for s in instruction_sets().values():
        if s.rtl is not None and s.devices and sources(s):
            ordered = sorted(s.devices.values(), key=lambda d: (d.parameters.get("HbmPorts", 1), d.name))
            found += [d.name for d in (ordered if all_devices else ordered[:1])]
    return found


def _sources(instruction_set: InstructionSet) -> dict[str, Source]:
    found = dict(sources(instruction_set))
    if not found:
        raise DeviceError(
            "the instruction set does not say what to draw", where=instruction_set.name, hint="see fleet.isa.conformance"
        )
    return found


def _one(source: Source, device: Device, kind: str | None, number: int, rng: np.random.Generator, name: str) -> Draw:
    if kind in {"directed", "extremes"}:
        if number >= source.directed(device):
            raise DeviceError(f"there are {source.directed(device)} directed cases", where=name)
        return source.draw_directed(device, number, rng)
    small = kind == "illegal"
    for left in reversed(range(_TRIES)):
        try:
            return source.draw(device, rng, Place(device, rng), small=small)
        except NoRoomError:
            if not left:
                raise
        small = True
    raise AssertionError


def _variants(
    instruction_set: InstructionSet, device: Device, draw: Draw, number: int, rng: np.random.Generator
) -> tuple[tuple[Call, ...], tuple[int, ...]]:
    """Return some variants of a call, so that successive seeds cover all registers. The call itself ends the stream.

    Legal variants run too, on the present content of memory. They are left out unless they are cheap.
    """
    state = state_after(instruction_set, device, draw.before)
    variants = list(mutations(instruction_set, device, draw.call, rng))
    classes = instruction_set.instructions
    every = [(text, resolved_call(classes[c.instruction], device, c, state)) for text, c in variants]
    parts = max(1, -(-len(every) // _VARIANTS))
    chosen = [call for _, call in every[number % parts :: parts]]
    chosen = [c for c in chosen if not _changes_what_follows(instruction_set, device, c)]
    judged = [(c, refusal(instruction_set.instructions[c.instruction], device, c.fields)) for c in chosen]
    limit = 4 * instruction_set.instructions[draw.call.instruction].cost(device, draw.call.fields) + 2000
    kept = [
        (c, cause) for c, cause in judged if cause or instruction_set.instructions[c.instruction].cost(device, c.fields) <= limit
    ]
    return (*(c for c, _ in kept), draw.call), (*(cause for _, cause in kept), 0)


def _changes_what_follows(instruction_set: InstructionSet, device: Device, call: Call) -> bool:
    """Return whether a legal variant reads undefined memory that only instructions fill, or configures the device.

    Legality of the variants, like the draw, refers to the state before them.
    """
    unit = instruction_set.instructions[call.instruction]
    if unit.legal(device, call.fields):
        return False
    return bool(unit.configures(device, call.fields)) or any(r.space not in device.memory for r in unit.reads(device, call.fields))
