"""Finds the bins of a stream from its calls, the functional model's commits and what that model wrote."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from fleet.sdk import Call, Write
from fleet.streams.case import StreamCommit
from fleet.verify.conformance.hazards import Hazard, hazards
from fleet.verify.coverage.bins import NO_MODE, BinSpace, distance_class
from fleet.verify.coverage.results import SPECIAL, results_of
from fleet.verify.coverage.shapes import shape_of, stride_of, widest
from fleet.verify.coverage.values import class_of, remainder

_REMEMBERED = 1 << 17


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of a call in a cross, as far as the call alone decides. reads, writes: row layout, or None."""

    modes: tuple[str, ...]
    shape: str
    reads: str | None
    writes: str | None

    @property
    def stride(self) -> str:
        """The wider stride of both sides; "dense" if there is none."""
        return widest(self.reads, self.writes) or "dense"


class Observer:
    """Finds the bins of streams on one device. Caches register values, because most of them recur."""

    def __init__(self, space: BinSpace) -> None:
        self.space = space
        self._known: dict[tuple[str, str, int], tuple[str, ...]] = {}
        self._results: dict[int, frozenset[str]] = {}
        set_ = space.instruction_set
        self._by_register: dict[str, dict[str, list[int]]] = {}
        self._bases: dict[str, tuple[str, ...]] = {}
        for name, found in space.places.items():
            groups = self._by_register.setdefault(name, {})
            for i, p in enumerate(found):
                groups.setdefault(p.register.name, []).append(i)
            self._bases[name] = tuple(p.register.name for p in found if p.field.kind == "address")
        self._classes = set_.instructions

    def wrote(self, place: int, call: Call, writes: Sequence[Write]) -> None:
        """Record what the functional model wrote for instruction `place` of the running stream, if the set's hints name a dtype."""
        if dtype := self.space.hints.dtypes.get(call.instruction):
            self._results[place] = results_of(writes, dtype)

    def forget(self) -> None:
        """Begin a new stream."""
        self._results.clear()

    def modes(self, call: Call) -> tuple[str, ...]:
        """Return "field=value" of every mode field that crosses have."""
        fields, found = call.fields, self.space.modes[call.instruction]
        return tuple(f"{p.label}={class_of(p.field, p.field.get(fields[p.register.name]))}" for p in found)

    def shape(self, call: Call) -> str:
        """Return the shape of a call's sizes."""
        return shape_of(self.space.sizes[call.instruction], call.fields, self.space.blocks)

    def stride(self, call: Call, side: str = "") -> str | None:
        """Return the row layout of what a legal call reads or writes (side "read", "write"). side "": the wider one, or "dense"."""
        name, fields, device = call.instruction, call.fields, self.space.device
        if not side:
            return widest(self.stride(call, "read"), self.stride(call, "write")) or "dense"
        if side not in self.space.strided[name]:
            return None
        cls = self._classes[name]
        ranges = cls.reads(device, fields) if side == "read" else cls.writes(device, fields)
        return stride_of(ranges, [fields[r] for r in self._bases[name]])

    def coordinates(self, call: Call) -> Coordinates:
        """Return the coordinates of a legal call."""
        return Coordinates(
            self.modes(call) or (NO_MODE,), self.shape(call), self.stride(call, "read"), self.stride(call, "write")
        )  # fmt: skip

    def call_bins(self, call: Call) -> Iterator[str]:
        """Yield the bins of fields, remainders and start values of a legal call."""
        name = call.instruction
        for register, at in self._by_register[name].items():
            key = (name, register, call.fields[register])
            known = self._known.get(key)
            if known is None:
                known = tuple(self._of_register(name, at, call.fields[register]))
                if len(self._known) < _REMEMBERED:
                    self._known[key] = known
            yield from known

    def _of_register(self, name: str, at: Sequence[int], value: int) -> Iterator[str]:
        for i in at:
            p = self.space.places[name][i]
            v = p.field.get(value)
            if p.free:
                yield f"{name}:field:{p.label}:{class_of(p.field, v)}"
            if v and p in self.space.sizes[name]:
                for block in self.space.blocks:
                    yield f"{name}:remainder:{p.label}/{block}:{remainder(v, block)}"
        if self.space.places[name][at[0]].register.role == "start":
            yield f"{name}:start:{value:#x}"

    def stream(
        self, calls: Sequence[Call], commits: Sequence[StreamCommit], memory: str, issue: str, has_form: Container[str]
    ) -> set[str]:
        """Return all bins of a stream that ran. Call `wrote` for its calls first.

        memory: name of the memory model without its parameter; issue: way of issue; has_form: instructions with a binary form (the
        others are written to the registers).
        """
        found: set[str] = set()
        nearest: dict[int, int] = {}
        for h in hazards(self.space.instruction_set, self.space.device, calls):
            nearest[h.later] = min(h.distance, nearest.get(h.later, h.distance))
            found |= set(self.hazard_bins(h, calls))
        for i, (call, commit) in enumerate(zip(calls, commits, strict=False)):
            name = call.instruction
            if name not in self.space.places:
                continue
            if commit.cause:
                found.add(f"{name}:refused:{self.space.causes.get(commit.cause, commit.cause)}")
                continue
            found.add(f"{name}:executed:yes")
            found.add(f"{name}:memory:{memory}")
            found.add(f"{name}:issue:{issue if issue != 'aux' or name in has_form else 'regs'}")
            found.update(self.call_bins(call))
            found |= self._crossed(call, i, nearest.get(i))
        return found

    def hazard_bins(self, h: Hazard, calls: Sequence[Call]) -> tuple[str, str]:
        """Return the bins of a hazard: by distance, and by pair of instructions."""
        pair = f"{calls[h.earlier].instruction}:{calls[h.later].instruction}"
        return f"hazard:{h.kind}:{distance_class(h.distance)}", f"hazard:{h.kind}:{pair}"

    def _crossed(self, call: Call, place: int, distance: int | None) -> set[str]:
        name, c = call.instruction, self.coordinates(call)
        results = self._results.get(place, frozenset[str]())
        found = {f"{name}:result:{r}" for r in results}
        found |= {f"{name}:stride:{side}:{s}" for side, s in (("read", c.reads), ("write", c.writes)) if s}
        saturation = "saturated" if results & SPECIAL else "ordinary"
        rest = f"{c.shape}:{c.stride}:{saturation}:{distance_class(distance)}"
        return found | {f"{name}:cross:{m}:{rest}" for m in c.modes}
