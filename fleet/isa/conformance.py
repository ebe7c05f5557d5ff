"""How an instruction set says what its conformance suite draws: legal calls with the data that they run on.

A set brings one `Source` an instruction in `InstructionSet.extra["conformance"]` (instruction name -> Source). Everything else of
the suite is generic: illegal variants of a call come from the description (`mutations`), programs from drawing several calls that
share memory (`Place`), refusals and results from the functional model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

import numpy as np

from fleet.isa.contract import Call, Device, InstructionSet, Write
from fleet.isa.description import Description, Field, Register, load

__all__ = [
    "DATA_KINDS",
    "Ahead",
    "Draw",
    "Joined",
    "Place",
    "Source",
    "data_kind",
    "halves",
    "joined",
    "mutations",
    "sources",
    "value_class",
]

DATA_KINDS = ("plain", "special", "wild", "tiny", "huge")
"""Of FP16 operands: normal numbers; the same with NaN, infinities, zeros, subnormals; any bits; subnormals; the largest."""

_ODD = np.array([0x7C00, 0xFC00, 0x7E00, 0xFFFF, 0x7C01, 0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF], np.uint16)
_RANGES = {"tiny": (0, 0x0600), "huge": (0x7000, 0x7C00)}


@dataclass(frozen=True)
class Draw:
    """A legal call and what memory holds for it.

    classes: what it is about ("tokens" -> "maximum"), for the account of coverage.
    before: calls that have to go before it (to fill a memory that only instructions reach).
    parameters: byte address -> value of parameter registers that it needs; in a program the first draw's hold.
    parts: the same calls as the set's own `joined` takes them, where one call's bits depend on its neighbours (see `joined`).
    """

    call: Call
    blocks: tuple[Write, ...] = field(repr=False)
    classes: Mapping[str, str] = field(default_factory=dict[str, str])
    before: tuple[Call, ...] = ()
    parameters: Mapping[int, int] = field(default_factory=dict[int, int])
    parts: tuple[object, ...] = field(default=(), repr=False)

    @property
    def calls(self) -> tuple[Call, ...]:
        """All of them, in order."""
        return (*self.before, self.call)


Joined = Callable[[Device, Sequence[Draw]], Sequence[Call]]
"""`InstructionSet.extra["joined"]`: the calls of a program from its draws, where they are not simply one behind the other.

A set whose instructions carry dependency flags needs it: the flags depend on what stands around a call.
"""

Ahead = Callable[[Device, Sequence[Call], Call], bool]
"""`InstructionSet.extra["ahead"]`: whether a call may be written to the registers while those, the oldest first, are under way.

Without it every instruction that is written to the registers is waited for before the next.
"""


def joined(instruction_set: InstructionSet, device: Device, draws: Sequence[Draw]) -> tuple[Call, ...]:
    """The calls of a program."""
    own = cast("Joined | None", instruction_set.extra.get("joined"))
    return tuple(own(device, draws)) if own is not None else tuple(c for d in draws for c in d.calls)


class Source(ABC):
    """Draws calls of one instruction."""

    @abstractmethod
    def directed(self, device: Device) -> int:
        """How many directed draws there are for a device."""

    @abstractmethod
    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """The directed draw of that number: sizes at their boundaries, every mode and flag, every legal aliasing."""

    @abstractmethod
    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        """A random legal call; small: of the size of a step in a program."""


def sources(instruction_set: InstructionSet) -> Mapping[str, Source]:
    """Instruction name -> source, of the set's instructions; empty for a set that brings none."""
    found = cast("Mapping[str, Source]", instruction_set.extra.get("conformance", {}))
    return {name: source for name, source in found.items() if name in instruction_set.instructions}


class Place:
    """Hands out ranges of memory, and remembers them, so that the calls of a program meet in memory.

    dependent: how often (0 to 1) a range of an earlier call is handed out again.
    notes: what the sources of a set tell each other of the program's earlier calls.
    program: whether the calls make one program (`fleet.cosim.streams.programs` has the place for it).
    """

    program: ClassVar[bool] = False

    def __init__(self, device: Device, rng: np.random.Generator, *, dependent: float = 0.0) -> None:
        self._device, self._rng, self._dependent = device, rng, dependent
        self.notes: dict[str, int] = {}
        self._next: dict[str, int] = {}
        self._known: list[tuple[str, int, int]] = []

    def take(self, space: str, size: int, align: int = 64) -> int:
        """Offset of a range of its own, which no other call writes: right behind the last, or at times with a gap before it."""
        step = align * int(self._rng.choice([0, 0, 1, 5]))
        at = -(-self._next.get(space, 0) // align) * align + step
        self._next[space] = at + size
        return at

    def source(self, space: str, size: int, align: int = 64) -> tuple[int, bool]:
        """(offset, fresh) of a range to read. Not fresh: an earlier call reads or writes it, and it must not be filled."""
        return self._place(space, size, align, ())

    def target(self, space: str, size: int, avoid: Sequence[tuple[int, int]], align: int = 64) -> tuple[int, bool]:
        """(offset, fresh) of a range to write; it meets none of `avoid` ((start, end)), but perhaps earlier calls'."""
        return self._place(space, size, align, avoid)

    def written(self, space: str, size: int, align: int = 64) -> int | None:
        """Offset of a range of a memory that only instructions fill (on chip), every byte of which earlier calls wrote.

        None: there is none, or the draw shall fill one of its own.
        """
        return None

    def _place(self, space: str, size: int, align: int, avoid: Sequence[tuple[int, int]]) -> tuple[int, bool]:
        if self._rng.random() < self._dependent:
            fitting = [(at, n) for s, at, n in self._known if s == space and n >= size and at % align == 0]
            if fitting:
                at, n = fitting[int(self._rng.integers(len(fitting)))]
                at += align * int(self._rng.integers(0, (n - size) // align + 1))
                if not any(at < end and start < at + size for start, end in avoid):
                    return at, False
        at = self.take(space, size, align)
        self._known.append((space, at, size))
        return at, True


def data_kind(rng: np.random.Generator, place: Place) -> str:
    """One of `DATA_KINDS`; in a program mostly plain numbers, or nothing but NaN and infinities would be left after a few steps."""
    return "plain" if place.program and rng.random() < 0.85 else str(rng.choice(DATA_KINDS))


def halves(rng: np.random.Generator, count: int, kind: str) -> np.ndarray:
    """`count` FP16 patterns (uint16) of one of `DATA_KINDS`, or "scale": factors that leave a sum of products about as it was."""
    if kind == "scale":
        return rng.normal(0, 1 / 64, count).astype(np.float16).view(np.uint16)
    if kind == "wild":
        return rng.integers(0, 65536, count, dtype=np.uint16)
    if kind in _RANGES:
        signs = rng.integers(0, 2, count, dtype=np.uint16) << np.uint16(15)
        return (rng.integers(*_RANGES[kind], count, dtype=np.uint16) | signs).astype(np.uint16)
    values = rng.normal(0, 1, count).astype(np.float16).view(np.uint16)
    if kind == "special":
        values = np.where(rng.random(count) < 0.01, rng.choice(_ODD, count), values).astype(np.uint16)
    return values


def value_class(f: Field, value: int) -> str:
    """The class of a field's value in the account of coverage: named and allowed values, else its place among the powers of two."""
    for e in f.encode:
        if e.value == value:
            return e.name
    top = (1 << f.width) - 1
    if f.width <= 3 or f.kind in {"constant", "mode"} or (f.allowed is not None and value in f.allowed):
        return f"{value:#x}"
    if value in (0, 1, top):
        return {0: "0", 1: "1", top: "all ones"}[value]
    if f.kind == "address":
        return "below 1 MiB" if value < 1 << 20 else "below 1 GiB" if value < 1 << 30 else "1 GiB and up"
    for block in (2048, 128, 32):
        if value > 1 and value % block in (0, 1, block - 1):
            return f"{block}n" + {0: "", 1: " + 1", block - 1: " - 1"}[value % block]
    return "other"


def mutations(
    instruction_set: InstructionSet, device: Device, call: Call, rng: np.random.Generator, register: str | None = None
) -> Iterator[tuple[str, Call]]:
    """Variants of a legal call with one register changed, "register = value" and call: most are illegal, some are not.

    register: of this one only.

    For every field what lies outside its constraints: values that are not allowed, not aligned, zero, one more and one less,
    the largest, a single other bit; for addresses also the end of memory and the places of all other operands.
    """
    d = load(instruction_set.description)
    words = d.words(call.instruction)
    addresses = [call.fields[r.name] for r in words for f in r.fields if f.kind == "address"]
    for r in words:
        if register not in {None, r.name}:
            continue
        now = call.fields[r.name]
        values: dict[int, None] = {}
        for f in r.fields:
            for v in _odd_values(f, f.get(now), device, addresses, rng):
                values[(now & ~f.mask) | ((v << f.low) & f.mask)] = None
        for v in (now ^ (1 << int(rng.integers(32))), 0xFFFFFFFF, int(rng.integers(1 << 32))):
            values[v] = None
        for v in values:
            changed = _renamed(d, replace(call, fields={**call.fields, r.name: v}), r)
            if v != now and changed.instruction in instruction_set.instructions:
                yield f"{r.name} = {v:#x}", changed


def _odd_values(f: Field, now: int, device: Device, addresses: Sequence[int], rng: np.random.Generator) -> list[int]:
    top = (1 << f.width) - 1
    values = [0, 1, now + 1, now - 1, top, now ^ (1 << int(rng.integers(f.width)))]
    if f.align > 1:
        values += [now + f.align // 2, now + f.align, now - f.align]
    if f.allowed is not None:
        values += [*f.allowed, max(f.allowed) + 1]
    if f.kind == "address":
        size = device.memory.get(f.space or "", 0)
        values += [size, size - f.align, size - 1, top & -64, *addresses]
    if f.kind in {"size", "count"}:
        values += [2 * now, 1 << (f.width - 1), 33, 2049]
    if f.kind == "stride":
        values += [64, now * 2, top & -64]
    return [int(v) & top for v in values]


def _renamed(d: Description, call: Call, changed: Register) -> Call:
    """The call under the name of the instruction that a changed start value means; its own where it means none."""
    if changed.role != "start":
        return call
    value = call.fields[changed.name]
    unit = d.instructions[call.instruction].unit
    names = [i.name for i in d.instructions.values() if i.unit == unit and i.accepts(value)]
    if not names or call.instruction in names:
        return call
    by_address = {r.address: call.fields[r.name] for r in d.words(call.instruction)}
    return replace(call, instruction=names[0], fields={r.name: by_address[r.address] for r in d.words(names[0])})
