"""Moves fields of a legal call towards a class of values, a shape or a stride, and keeps the call legal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from fleet.sdk import Call, Range
from fleet.verify.coverage.bins import BinSpace, sample_calls
from fleet.verify.coverage.observe import Observer
from fleet.verify.coverage.shapes import near_shape, offending
from fleet.verify.coverage.values import FieldPlace, class_of, examples, fitting, remainder

_EXPECTED = re.compile(r"^(\w+)(?:: | is ).*?, expected (?:at least |\w+ \()?(0x[0-9a-f]+|\d+)(?: \(|\)|$)")
_TIE_SAMPLE = 24
_REPAIRS = 6
_STEPS, _DIRECTED, _TWO = 24, 0.8, 0.3
"""Parameters of a walk: number of steps; share of steps towards the shape; share of steps that change two fields at once."""
_LARGE = 40
"""A walk raises no size above this limit (or its present value), because a call's time grows with every size."""
_MOST_CYCLES, _MOST_BYTES = 150_000, 1 << 20
"""Limits for the cost and the touched bytes of a moved call: the largest sizes take longer than all others together."""
_SMALL = 20_000
"""Product of a call's sizes below which its cost is not estimated."""


class Mover:
    """Moves calls of one device. why: the last reason for which a move was refused."""

    def __init__(self, observer: Observer) -> None:
        self.observer, self.space = observer, observer.space
        self.why = ""
        self._ties: dict[str, tuple[tuple[FieldPlace, ...], ...]] = {}

    def ties(self, name: str) -> tuple[tuple[FieldPlace, ...], ...]:
        """Return groups of fields that agree in every sampled draw: duplicates, which must move together."""
        if name not in self._ties:
            calls = sample_calls(self.space, name, _TIE_SAMPLE)
            groups: dict[tuple[int, ...], list[FieldPlace]] = {}
            for p in self.space.places[name]:
                values = tuple(p.field.get(c.fields[p.register.name]) for c in calls)
                if p.field.kind != "address" and len(set(values)) > 2:
                    groups.setdefault(values, []).append(p)
            self._ties[name] = tuple(tuple(g) for g in groups.values() if len(g) > 1)
        return self._ties[name]

    def put(self, call: Call, place: FieldPlace, value: int) -> Call:
        """Return the call with a field and its duplicates changed."""
        group = next((g for g in self.ties(call.instruction) if place in g), (place,))
        fields = dict(call.fields)
        for p in group:
            f, name = p.field, p.register.name
            fields[name] = (fields[name] & ~f.mask) | ((value << f.low) & f.mask)
        return replace(call, fields=fields)

    def legal(self, call: Call, known: Sequence[Range]) -> Call | None:
        """Return the call, if needed repaired with the values that its refusals ask for; None if that does not make it legal.

        known: defined ranges of memories that only instructions fill.
        """
        cls, device = self.space.instruction_set.instructions[call.instruction], self.space.device
        for _ in range(_REPAIRS):
            wrong = cls.legal(device, call.fields)
            if not wrong:
                return call if self._defined(call, known) else None
            self.why = wrong[0]
            changed = dict(call.fields)
            for line in wrong:
                asked = _EXPECTED.match(line)
                if asked is not None and asked[1] in changed:
                    changed[asked[1]] = int(asked[2], 0)
            if changed == call.fields:
                return None
            call = replace(call, fields=changed)
        return None

    def quick(self, call: Call) -> bool:
        """Return whether a call is cheap enough. Ask once, after the last move: a cost model may simulate."""
        cls, device = self.space.instruction_set.instructions[call.instruction], self.space.device
        if self._volume(call) <= _SMALL:
            return True
        touched = sum(r.size for r in (*cls.reads(device, call.fields), *cls.writes(device, call.fields)) if r.bank == 0)
        if touched > _MOST_BYTES or cls.cost(device, call.fields) > _MOST_CYCLES:
            self.why = "it would take too long"
            return False
        return True

    def _volume(self, call: Call) -> int:
        """Return the product of all sizes; duplicates count once."""
        found, skipped = 1, set[FieldPlace]()
        for p in self.space.sizes[call.instruction]:
            if p not in skipped:
                skipped |= set(next((g for g in self.ties(call.instruction) if p in g), ()))
                found *= max(1, p.field.get(call.fields[p.register.name]))
        return found

    def _defined(self, call: Call, known: Sequence[Range]) -> bool:
        """Return whether the call reads memories that only instructions fill only in the ranges `known`."""
        cls, device = self.space.instruction_set.instructions[call.instruction], self.space.device
        for r in cls.reads(device, call.fields):
            if r.space not in device.memory and not _inside(r, known):
                self.why = f"it would read what nobody wrote ({r.space} {r.offset:#x})"
                return False
        return True

    def to_class(self, call: Call, label: str, value_class: str, rng: np.random.Generator, known: Sequence[Range]) -> Call | None:
        """Return the call with a field's value in a class, or None."""
        place = next((p for p in self.space.places[call.instruction] if p.label == label), None)
        if place is None:
            return None
        values = class_values(place, value_class, self.space)
        return self._first(call, place, values, rng, known, partners=place.field.kind != "mode")

    def to_remainder(
        self, call: Call, label: str, block: int, wanted: str, rng: np.random.Generator, known: Sequence[Range]
    ) -> Call | None:
        """Return the call with a size's remainder by a block in the wanted class, or None."""
        place = next((p for p in self.space.places[call.instruction] if p.label == label), None)
        if place is None:
            return None
        step = max(1, place.field.align)
        top = (1 << place.field.width) - 1
        near = [v for v in range(step, min(top, 4 * block + 4 * step) + 1, step) if remainder(v, block) == wanted]
        return self._first(call, place, near, rng, known)

    def _first(
        self, call: Call, place: FieldPlace, values: Sequence[int], rng: np.random.Generator, known: Sequence[Range],
        *, partners: bool = True,
    ) -> Call | None:  # fmt: skip
        """Return the call with the first value that can be made legal, or None. partners: also change a second size."""
        now = place.field.get(call.fields[place.register.name])
        close = sorted(values, key=lambda v: abs(v - now))[:4]
        drawn = [values[int(i)] for i in rng.permutation(len(values))[:6]]
        for value in dict.fromkeys([*close, *drawn]):
            moved = self._put_legal(call, place, value, known)
            if moved is not None:
                return moved
        others = [p for p in self.space.sizes[call.instruction] if p is not place and partners]
        for value in dict.fromkeys([*close[:2], *drawn[:2]]):  # not legal alone: change a second size after it, or before it
            for i in rng.permutation(len(others))[:6]:
                for second in _partners(value, others, call, self.space.blocks):
                    if second > 0 and second >> others[i].field.width == 0:
                        moved = self._put_legal(self.put(call, others[i], second), place, value, known)
                        if moved is not None:
                            return moved
        return None

    def _put_legal(self, call: Call, place: FieldPlace, value: int, known: Sequence[Range]) -> Call | None:
        moved = self.legal(self.put(call, place, value), known)
        return moved if moved is not None and place.field.get(moved.fields[place.register.name]) == value else None

    def to_shape(
        self, call: Call, shape: str, keeps: Callable[[Call], bool], rng: np.random.Generator, known: Sequence[Range]
    ) -> Call:
        """Change sizes, mostly those that prevent the shape, as long as the call does not move away from the shape.

        keeps: condition on every call on the way; it is checked first.
        """
        name, blocks = call.instruction, self.space.blocks
        sizes = self.space.sizes[name]
        wrong = offending(sizes, call.fields, blocks, shape)
        for _ in range(_STEPS if sizes else 0):
            if not wrong:
                break
            tried = self._step(call, wrong if rng.random() < _DIRECTED else sizes, shape, rng)
            if rng.random() < _TWO:
                tried = self._step(tried, offending(sizes, tried.fields, blocks, shape) or sizes, shape, rng)
            if tried == call or not keeps(tried) or len(offending(sizes, tried.fields, blocks, shape)) > len(wrong):
                continue
            moved = self.legal(tried, known)
            if moved is not None and len(left := offending(sizes, moved.fields, blocks, shape)) <= len(wrong):
                call, wrong = moved, left
        return call

    def to_stride(
        self, call: Call, shape: str, reached: Callable[[Call], bool], keeps: Callable[[Call], bool], rng: np.random.Generator,
        known: Sequence[Range],
    ) -> Call:  # fmt: skip
        """Change strides and sizes until `reached`. shape: present shape that the sizes must keep, "" for any."""
        sizes, blocks = self.space.sizes[call.instruction], self.space.blocks
        movable = [p for p in self.space.places[call.instruction] if p.free and p.field.kind in {"size", "stride", "count"}]
        done = reached(call)
        for _ in range(_STEPS if movable else 0):
            if done:
                break
            tried = self._step(call, movable, shape, rng)
            if rng.random() < _TWO:
                tried = self._step(tried, movable, shape, rng)
            if tried == call or not keeps(tried) or (shape and offending(sizes, tried.fields, blocks, shape)):
                continue
            moved = self.legal(tried, known)
            if moved is not None and moved != call and not (shape and offending(sizes, moved.fields, blocks, shape)):
                call, done = moved, reached(moved)
        return call

    def _step(self, call: Call, among: Sequence[FieldPlace], shape: str, rng: np.random.Generator) -> Call:
        """Return the call with one of the given sizes and strides changed, a size towards a shape; it may be illegal."""
        place = among[int(rng.integers(len(among)))]
        now = place.field.get(call.fields[place.register.name])
        towards = shape and place in self.space.sizes[call.instruction] and rng.random() < _DIRECTED
        pool = near_shape(place, now, self.space.blocks, shape) if towards else list(_near(place, now, self.space.blocks))
        pool = [v for v in pool if v <= max(now, _LARGE) or place.field.kind == "stride"]
        return self.put(call, place, pool[int(rng.integers(len(pool)))]) if pool else call


def _partners(value: int, others: Sequence[FieldPlace], call: Call, blocks: Sequence[int]) -> list[int]:
    """Return candidates for a second size, given the first: equal, neighbours, fractions, or that many blocks."""
    present = {p.field.get(call.fields[p.register.name]) for p in others} - {0}
    parts = [value // d for d in sorted({2, 3, *present}) if d < value and value % d == 0]
    return list(dict.fromkeys([value + 1, 1, value - 1, value, *parts[:4], *(b * value for b in blocks)]))


def _near(place: FieldPlace, now: int, blocks: Sequence[int]) -> Iterator[int]:
    """Yield values near the present one that change a shape or a stride."""
    step, top = max(1, place.field.align), (1 << place.field.width) - 1
    values = {step, now + step, now - step, now + 2 * step, 2 * now, 3 * now, now // 2, 1}
    for block in blocks:
        whole = max(1, now // block) * block
        values |= {whole, whole + 1, whole - 1, whole + 2, whole + block}
    for v in (value - value % step for value in values):
        if 0 < v <= top:
            yield v


def class_values(place: FieldPlace, value_class: str, space: BinSpace) -> tuple[int, ...]:
    """Return values of a class that the description allows; else any that fit (for a field that the instruction ignores)."""
    return examples(place, space.device).get(value_class) or any_of_class(place, value_class)


@lru_cache(maxsize=4096)
def any_of_class(place: FieldPlace, value_class: str) -> tuple[int, ...]:
    """Return some values of a class that fit into the field."""
    return tuple(v for v in fitting(place.field) if class_of(place.field, v) == value_class)[:16]


def _inside(r: Range, known: Sequence[Range]) -> bool:
    """Return whether the known ranges cover `r`."""
    at = r.offset
    for k in sorted((k for k in known if k.space == r.space and k.bank == r.bank), key=lambda k: k.offset):
        if k.offset > at:
            break
        at = max(at, k.offset + k.size)
        if at >= r.offset + r.size:
            return True
    return r.size == 0
