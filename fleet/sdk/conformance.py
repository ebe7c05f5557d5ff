"""Draws of an instruction set's conformance suite: legal calls with the data that they run on, one `Source` an instruction.

Everything else of the suite is generic (`fleet.isa.conformance`, `fleet.streams`): illegal variants of a call come from the
description, programs from drawing several calls that share memory (`Place`), refusals and results from the functional model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fleet.errors import DeviceError
from fleet.sdk.hardware.device import Device
from fleet.sdk.instructions.instruction import Call, Write

__all__ = ["ANY_CYCLES", "DATA_KINDS", "WORKING", "CycleRules", "Draw", "NoRoomError", "Place", "Source", "data_kind", "halves"]

DATA_KINDS = ("plain", "special", "wild", "tiny", "huge")
"""Kinds of FP16 operands: normal numbers; these with NaN, infinities, zeros, subnormals; any bits; subnormals; the largest."""

_ODD = np.array([0x7C00, 0xFC00, 0x7E00, 0xFFFF, 0x7C01, 0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF], np.uint16)
_RANGES = {"tiny": (0, 0x0600), "huge": (0x7000, 0x7C00), "smallest": (0, 0x0040)}
_TRIES = 8


WORKING = ("compute", "weight_wait", "activation_wait", "write_back")
"""Classes of cycles between an instruction's issue and its commit."""


@dataclass(frozen=True)
class CycleRules:
    """Rules for the classes of a legal call's cycles, beside issue and dependency.

    Attributes:
        least: one of `WORKING` -> fewest cycles that the call has in it, whatever the memory; a class that is not named has none.
        overlapping: it works on one beat while it waits for another: a cycle of both counts as one of them. Else work takes the
            same number of cycles on every memory.
        asked: requests that it makes while it waits for the first answer: so many cycles of a later answer are not seen.
        answered: it writes bursts one after the other: each is asked for in a cycle, and the last one's answer is waited for.
    """

    least: Mapping[str, int]
    overlapping: bool = False
    asked: int = 0
    answered: bool = False


ANY_CYCLES = CycleRules(dict.fromkeys(WORKING, 0), overlapping=True)
"""Rules of cycles for a call of which nothing is stated."""


class NoRoomError(DeviceError):
    """A draw needs more memory than the device has: nothing is wrong with the set, and a smaller draw may fit."""


@dataclass(frozen=True)
class Draw:
    """A legal call and what memory holds for it.

    classes: what it is about ("tokens" -> "maximum"), for the account of coverage.
    before: calls that have to go before it (to fill a memory that only instructions reach).
    parameters: byte address -> value of parameter registers that it needs; in a program the first draw's hold.
    parts: the same calls as `IssueRules.joined` takes them, where one call's bits depend on its neighbours.
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


class Source(ABC):
    """Draws calls of one instruction."""

    @abstractmethod
    def directed(self, device: Device) -> int:
        """Return the number of directed draws for a device."""

    @abstractmethod
    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """The directed draw of that number: sizes at their boundaries, every mode and flag, every legal aliasing."""

    @abstractmethod
    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        """A random legal call; small: of the size of a step in a program."""

    def cycles(self, device: Device, call: Call) -> CycleRules:
        """Return the classes that the cycles of a legal call may lie in; by default all."""
        return ANY_CYCLES


class Place:
    """Hands out ranges of memory, and remembers them, so that the calls of a program meet in memory.

    dependent: how often (0 to 1) a range of an earlier call is handed out again.
    notes: what the sources of a set tell each other of the program's earlier calls.
    state: state registers as the next call finds them, name -> value.
    program: whether the calls make one program (`fleet.verify.conformance.programs` has the place for it).
    """

    program: ClassVar[bool] = False

    def __init__(self, device: Device, rng: np.random.Generator, *, dependent: float = 0.0) -> None:
        self._device, self._rng, self._dependent = device, rng, dependent
        self.notes: dict[str, int] = {}
        self.state: Mapping[str, int] = {r.name: r.reset for r in device.state.registers}
        self._next: dict[str, int] = {}
        self._known: list[tuple[str, int, int]] = []

    def take(self, space: str, size: int, align: int = 64) -> int:
        """Offset of a range of its own, which no other call writes: right behind the last, or at times with a gap before it.

        Raises NoRoomError where memory ends before the range does.
        """
        step = align * int(self._rng.choice([0, 0, 1, 5]))
        at = -(-self._next.get(space, 0) // align) * align + step
        room = self._device.memory.get(space, at + size)  # of other spaces the set itself knows the size
        if at + size > room:
            at -= step
        if at + size > room:
            raise NoRoomError(
                f"a range of {size:,} bytes behind {at:#x} of '{space}', which has {room:,} bytes", where=self._device.name
            )
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

    def _anywhere(self, space: str, size: int, align: int, avoid: Sequence[tuple[int, int]]) -> int | None:
        """Offset of a range that may meet what earlier calls read and write, and none of `avoid`; for memory that is full."""
        units = (self._device.memory.get(space, 0) - size) // align
        for _ in range(_TRIES if units >= 0 else 0):
            at = align * int(self._rng.integers(0, units + 1))
            if not any(at < end and start < at + size for start, end in avoid):
                return at
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


def _cancelling(rng: np.random.Generator, blocks: int, opposed: bool) -> np.ndarray:
    """[blocks, 2, 16]: any finite numbers, then the same with the same or the other sign; but a quarter are small ones."""
    signs = rng.integers(0, 2, (blocks, 2, 16), dtype=np.uint16) << np.uint16(15)
    signs[:, 1] = signs[:, 0] ^ np.uint16(opposed << 15)
    values = np.broadcast_to(rng.integers(0, 0x7C00, (blocks, 1, 16), dtype=np.uint16), signs.shape)
    small = rng.integers(0, 0x0600, signs.shape, dtype=np.uint16)
    return np.where(rng.random((blocks, 1, 16)) < 0.25, small, values) | signs


def halves(rng: np.random.Generator, count: int, kind: str) -> np.ndarray:
    """`count` FP16 patterns (uint16) of one of `DATA_KINDS`, or of a kind that one operand of a sum of products is made for.

    "scale": factors that leave a sum of products about as it was. "opposed" and "repeated", for one operand and the other: of 32
    products most cancel exactly, whatever their size, and a few small ones are left. "smallest": the least subnormals.
    "positive": 1 to 4, so that nothing cancels. "ninth": of 16 rows of 32 numbers the first and the ninth cancel, and what the
    others add up to is rounded if it meets one of them alone.
    """
    if kind == "ninth":
        rows = rng.uniform(2.0**-10, 2.0**-9, (-(-count // 512), 16, 32))
        rows[:, 0] = rng.uniform(64, 128, (len(rows), 32))
        rows[:, 8] = -rows[:, 0]
        return rows.astype(np.float16).view(np.uint16).reshape(-1)[:count]
    if kind == "scale":
        return rng.normal(0, 1 / 64, count).astype(np.float16).view(np.uint16)
    if kind == "positive":
        return rng.integers(0x3C00, 0x4400, count, dtype=np.uint16)
    if kind in {"opposed", "repeated"}:
        return _cancelling(rng, -(-count // 32), kind == "opposed").reshape(-1)[:count]
    if kind == "wild":
        return rng.integers(0, 65536, count, dtype=np.uint16)
    if kind in _RANGES:
        signs = rng.integers(0, 2, count, dtype=np.uint16) << np.uint16(15)
        return (rng.integers(*_RANGES[kind], count, dtype=np.uint16) | signs).astype(np.uint16)
    values = rng.normal(0, 1, count).astype(np.float16).view(np.uint16)
    if kind == "special":
        values = np.where(rng.random(count) < 0.01, rng.choice(_ODD, count), values).astype(np.uint16)
    return values
