"""All bins of an instruction set on a device. Bins that no call can meet are impossible and carry a reason.

A bin is a key with parts joined by ":". The first part is an instruction, or "hazard":

    mvm:executed:yes                        mvm:refused:bad_size              mvm:start:0x11f
    mvm:field:mvm_chin:32n+1                mvm:remainder:mvm_chin/64:over    mvm:stride:write:padded
    mvm:result:inf                          mvm:memory:stall                  mvm:issue:aux
    mvm:cross:<mode>:<shape>:<stride>:<saturation>:<distance>
    hazard:raw:2-3                          hazard:raw:wt2hbm:mvm

`BinSpace` is built from the description, the device and a sample of draws; nothing runs. A bin is impossible if description and
device allow no value of its class, or if the set gives a reason (`CoverageHints.impossible`). All other bins count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from fleet.isa.codec import description_of
from fleet.isa.conformance import sources
from fleet.isa.resolved import resolved_draw
from fleet.sdk import Call, CoverageHints, Device, InstructionSet, NoRoomError
from fleet.sdk import Place as MemoryPlace
from fleet.verify.conformance.hazards import KINDS
from fleet.verify.conformance.settings import memories, ways_of_issue
from fleet.verify.coverage.results import SPECIAL, result_classes
from fleet.verify.coverage.shapes import SHAPES, STRIDES, crossed_modes, shapes_left, sizes_of
from fleet.verify.coverage.values import REMAINDERS, FieldPlace, class_of, examples, fitting, places, possible, remainder

DISTANCES = ("none", "1", "2-3", "4+")
"""Classes of the distance, in instructions, to the nearest call that a call must wait for."""
FAMILIES = ("executed", "refused", "start", "field", "remainder", "stride", "result", "memory", "issue", "hazard", "cross")
"""Second part of a key; "hazard" is the first part of keys that belong to no instruction."""
NO_MODE = "-"
"""Mode of a cross if the instruction has no modes."""
_SAMPLE = 12
_TELLING = 96
"""Number of sampled calls; two modes that agree in all of them count as one."""


def distance_class(distance: int | None) -> str:
    """Return one of `DISTANCES`."""
    return "none" if distance is None else "1" if distance == 1 else "2-3" if distance <= 3 else "4+"


def family(key: str) -> str:
    """Return one of `FAMILIES`."""
    first, second = key.split(":", 2)[:2]
    return "hazard" if first == "hazard" else second


@dataclass(frozen=True)
class BinSpace:
    """All bins of a device, in a fixed order. bins: key -> None, or why no call can meet it.

    places, sizes, modes: by instruction; strided: by instruction, "read" and "write" if its address fields locate that side's
    operands. ignored: labels of fields that may take values which the description does not allow. causes: number -> name. blocks:
    natural block sizes, ascending.
    """

    instruction_set: InstructionSet
    device: Device
    hints: CoverageHints
    bins: dict[str, str | None]
    places: dict[str, tuple[FieldPlace, ...]]
    sizes: dict[str, tuple[FieldPlace, ...]]
    modes: dict[str, tuple[FieldPlace, ...]]
    strided: dict[str, frozenset[str]]
    ignored: dict[str, frozenset[str]]
    causes: dict[int, str]
    blocks: tuple[int, ...]

    @property
    def open(self) -> list[str]:
        """The bins that count: all except the impossible ones."""
        return [key for key, why in self.bins.items() if why is None]

    def share(self, met: Collection[str]) -> float:
        """Return the share of the bins that count that are among these."""
        return sum(key in met for key in self.open) / len(self.open)


def space_of(instruction_set: InstructionSet, device: Device) -> BinSpace:
    """Return the bins of a set on a device. Raises DeviceError if the set does not say what to draw."""
    d, hints = description_of(instruction_set), instruction_set.coverage
    names = [n for n in instruction_set.instructions if n in sources(instruction_set)]
    found = {n: places(d, n, hints, device) for n in names}
    causes = {e.value: e.name for r in d.with_role("error_cause") for f in r.fields for e in f.encode if e.value}
    blocks = hints.blocks(device)
    space = BinSpace(
        instruction_set, device, hints, {}, found, {n: sizes_of(p) for n, p in found.items()},
        {}, {}, {}, causes, blocks,
    )  # fmt: skip
    space.strided.update({n: _strided(space, n) for n in names})
    space.ignored.update({n: _ignored(space, n) for n in names})
    space.modes.update({n: _distinct(space, n, crossed_modes(p)) for n, p in found.items()})
    for key, why in _bins(space, names):
        space.bins[key] = why if why is not None else hints.reason(key)
    return space


def _bins(space: BinSpace, names: list[str]) -> Iterator[tuple[str, str | None]]:
    for name in names:
        yield f"{name}:executed:yes", None
        yield from ((f"{name}:refused:{cause}", None) for cause in space.causes.values())
        yield from ((f"{name}:start:{value:#x}", None) for value in _starts(space, name))
        yield from _fields(space, name)
        yield from _remainders(space, name)
        yield from ((f"{name}:stride:{side}:{s}", None) for side in sorted(space.strided[name]) for s in STRIDES)
        yield from ((f"{name}:result:{r}", None) for r in result_classes(space.hints.dtypes.get(name, "")))
        kinds = [m.partition(":")[0] for m in memories(space.device, 0)]
        yield from ((f"{name}:memory:{m}", None) for m in kinds)
        has_form = description_of(space.instruction_set).instructions[name].beats > 0
        yield from ((f"{name}:issue:{w}", None if w != "aux" or has_form else "it has no binary form") for w in
                    ways_of_issue(space.instruction_set))  # fmt: skip
        yield from _cross(space, name)
    touched = {n: _sampled(space, n) for n in names}
    for kind in KINDS:
        for distance in DISTANCES[1:]:
            yield f"hazard:{kind}:{distance}", None
        for earlier, later in product(names, names):
            first = touched[earlier].reads if kind == "war" else touched[earlier].writes
            second = touched[later].reads if kind == "raw" else touched[later].writes
            if first & second:
                yield f"hazard:{kind}:{earlier}:{later}", None


def _starts(space: BinSpace, name: str) -> list[int]:
    word = description_of(space.instruction_set).instructions[name]
    bits = [1 << i for i in range(32) if word.start_optional >> i & 1]
    return sorted(word.start + sum(chosen) for chosen in product(*((0, b) for b in bits)))


def _fields(space: BinSpace, name: str) -> Iterator[tuple[str, str | None]]:
    ignored = space.ignored[name]
    for p in space.places[name]:
        if p.free:
            for value, why in possible(p, space.device).items():
                yield f"{name}:field:{p.label}:{value}", None if p.label in ignored else why


def _ignored(space: BinSpace, name: str) -> frozenset[str]:
    """Return labels of fields whose constraints the functional model does not check, mostly because it ignores the field.

    A sampled call stays legal with a value that the description does not allow.
    """
    cls, found = space.instruction_set.instructions[name], set[str]()
    for p in (p for p in space.places[name] if p.free):
        outside = {value for value, why in possible(p, space.device).items() if why is not None}
        first = {class_of(p.field, v): v for v in reversed(fitting(p.field)) if v} if outside else {}
        odd = [v for value, v in first.items() if value in outside]
        for call in sample_calls(space, name, _SAMPLE) if odd else ():
            now = call.fields[p.register.name] & ~p.field.mask
            if any(not cls.legal(space.device, {**call.fields, p.register.name: now | v << p.field.low}) for v in odd):
                found.add(p.label)
                break
    return frozenset(found)


def _remainders(space: BinSpace, name: str) -> Iterator[tuple[str, str | None]]:
    ignored = space.ignored[name]
    for p in space.sizes[name]:
        every = fitting(p.field) if p.label in ignored else [v for e in examples(p, space.device).values() for v in e]
        for block in space.blocks:
            left = {remainder(v, block) for v in every if v}
            for r in REMAINDERS:
                why = None if r in left else p.limit.why if p.limit is not None else f"no multiple of {p.field.align} is"
                yield f"{name}:remainder:{p.label}/{block}:{r}", why


def _strided(space: BinSpace, name: str) -> frozenset[str]:
    addressed = {p.field.space for p in space.places[name] if p.field.kind == "address"}
    sample = _sampled(space, name)
    return frozenset(side for side, touched in (("read", sample.reads), ("write", sample.writes)) if addressed & touched)


def _distinct(space: BinSpace, name: str, modes: tuple[FieldPlace, ...]) -> tuple[FieldPlace, ...]:
    """Drop modes that carry the same information as an earlier one in every sampled call."""
    calls = sample_calls(space, name, _TELLING)
    known: dict[tuple[int, ...], FieldPlace] = {}
    for p in modes:
        values = [p.field.get(c.fields[p.register.name]) for c in calls]
        first = {v: i for i, v in reversed(list(enumerate(values)))}
        pattern = tuple(first[v] for v in values)
        known.setdefault(pattern if len(first) > 1 else (-1, len(known)), p)
    return tuple(known.values())


def mode_values(space: BinSpace, name: str) -> list[str]:
    """Return "field=value" of every mode that an instruction may have."""
    found: list[str] = []
    for p in space.modes[name]:
        for value, why in possible(p, space.device).items():
            if why is None and space.bins.get(f"{name}:field:{p.label}:{value}") is None:
                found.append(f"{p.label}={value}")
    return found or [NO_MODE]


def _cross(space: BinSpace, name: str) -> Iterator[tuple[str, str | None]]:
    for p in space.modes[name]:  # the crosses below depend on what a set declares of fields
        for value in possible(p, space.device):
            key = f"{name}:field:{p.label}:{value}"
            space.bins[key] = space.bins.get(key) or space.hints.reason(key)
    shapes = SHAPES if space.sizes[name] else SHAPES[:1]
    sample = _sampled(space, name)
    strides = STRIDES if space.strided[name] else STRIDES[:1]
    known = set(result_classes(space.hints.dtypes.get(name, "")))
    saturation = ("ordinary", "saturated") if known & SPECIAL else ("ordinary",)
    touches = sample.reads | sample.writes
    never = _no_shapes(space, name)
    for point in product(mode_values(space, name), shapes, strides, saturation, DISTANCES if touches else DISTANCES[:1]):
        yield f"{name}:cross:{':'.join(point)}", never.get(point[1])


def _no_shapes(space: BinSpace, name: str) -> dict[str, str]:
    """Return shape -> reason, for shapes that the set's limits make impossible for all sizes of an instruction."""
    sizes = space.sizes[name]
    if not sizes or any(p.limit is None or p.label in space.ignored[name] for p in sizes):
        return {}
    left = frozenset[str]().union(*(shapes_left(p, space.blocks) for p in sizes))
    why = next(p.limit.why for p in sizes if p.limit is not None)
    return {s: why for s in SHAPES if s != "whole" and s not in left}


@dataclass(frozen=True)
class _Sampled:
    """The spaces that an instruction reads and writes, from a sample of its draws."""

    reads: frozenset[str]
    writes: frozenset[str]


_SAMPLES: dict[tuple[str, str, str], _Sampled] = {}


def _sampled(space: BinSpace, name: str) -> _Sampled:
    key = (str(space.instruction_set.description), space.device.name, name)
    if key not in _SAMPLES:
        cls = space.instruction_set.instructions[name]
        reads: set[str] = set()
        writes: set[str] = set()
        for call in sample_calls(space, name, _SAMPLE):
            reads |= {r.space for r in cls.reads(space.device, call.fields)}
            writes |= {r.space for r in cls.writes(space.device, call.fields)}
        _SAMPLES[key] = _Sampled(frozenset(reads), frozenset(writes))
    return _SAMPLES[key]


@dataclass
class _Calls:
    """drawn: the calls so far; seed: for the next draw."""

    drawn: list[Call] = field(default_factory=list[Call])
    seed: int = 0


_DRAWN: dict[tuple[str, str, str], _Calls] = {}
_FULL = 16
"""Stop sampling after so many consecutive draws that do not fit into memory."""


def sample_calls(space: BinSpace, name: str, count: int) -> list[Call]:
    """Return the first draws of an instruction, always the same ones; fewer, or none, if the device's memory is too small."""
    source = sources(space.instruction_set)[name]
    found = _DRAWN.setdefault((str(space.instruction_set.description), space.device.name, name), _Calls())
    full = 0
    while len(found.drawn) < count and full < _FULL:
        rng = np.random.default_rng(found.seed)
        found.seed += 1
        try:
            draw = source.draw(space.device, rng, MemoryPlace(space.device, rng), small=True)
            found.drawn.append(resolved_draw(space.instruction_set, space.device, draw).call)
            full = 0
        except NoRoomError:
            full += 1
    return found.drawn[:count]
