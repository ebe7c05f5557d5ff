"""Programs that aim at bins. The bins' keys and a number are enough to make one again."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fleet.isa.conformance import sources
from fleet.isa.registry import description_hash
from fleet.isa.resolved import resolved_draw, state_after
from fleet.sdk import Call, Device, Draw, InstructionSet, NoRoomError, Range, Write
from fleet.verify.conformance.hazards import hazards
from fleet.verify.coverage.aims import Aim, aims_of, field_of
from fleet.verify.coverage.bins import BinSpace, distance_class, space_of
from fleet.verify.coverage.moves import Mover
from fleet.verify.coverage.observe import Observer
from fleet.verify.coverage.place import AimedPlace
from fleet.verify.coverage.touched import nearest, touched_by

_CANDIDATES = 3
_DRAWS = 6
_NEAR = {"1": (1,), "2-3": (2, 3), "4+": (4, 5, 6, 7)}
_APART = {"2-3": 2, "4+": 4}
"""Minimum number of instructions before a call, if calls that fill a memory for it come before it."""
_FILLERS = 8
_ORDER = ("none", "", "1", "2-3", "4+")
"""Order of a program's aims by distance: independent calls first, so that the others have something to depend on."""


@dataclass(frozen=True)
class Aimed:
    """A program. reached: the bins that it meets, as far as known before it runs; why: the last refusal while drawing."""

    draws: tuple[Draw, ...]
    reached: frozenset[str]
    why: str

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls in order; draws made outside a program follow each other."""
        return tuple(c for d in self.draws for c in d.calls)

    @property
    def blocks(self) -> tuple[Write, ...]:
        """Blocks of memory's content, of all draws."""
        return tuple(b for d in self.draws for b in d.blocks)

    @property
    def parameters(self) -> dict[int, int]:
        """Byte address -> value; on a conflict the earlier draw's value."""
        return {k: v for d in reversed(self.draws) for k, v in d.parameters.items()}


class _Program:
    """A program under construction. waiting: (number of calls before which it may not come, aim, draw)."""

    def __init__(self, space: BinSpace, rng: np.random.Generator) -> None:
        self.place = AimedPlace(space.device, rng)
        self.draws: list[Draw] = []
        self.calls: list[Call] = []
        self.filled: list[Range] = []
        self.waiting: list[tuple[int, Aim, Draw]] = []
        self.reached: set[str] = set()
        self._space = space

    def append(self, draw: Draw) -> None:
        """Append a draw at the end."""
        set_, device = self._space.instruction_set, self._space.device
        draw = resolved_draw(set_, device, draw, self.place.state)
        self.place.state = state_after(set_, device, draw.calls, self.place.state)
        self.draws.append(draw)
        self.calls += draw.calls
        self.place.touched += [touched_by(self._space.instruction_set, self._space.device, c) for c in draw.calls]
        self.filled += self.fills(draw.calls)

    def fills(self, calls: Sequence[Call]) -> list[Range]:
        """Return the ranges that calls write in memories that only instructions fill."""
        fills, device = self._space.hints.fills, self._space.device
        classes = self._space.instruction_set.instructions
        calls = [c for c in calls if fills is None or c.instruction in fills]
        return [r for c in calls for r in classes[c.instruction].writes(device, c.fields) if r.space not in device.memory]


class Aimer:
    """Draws programs for one device."""

    def __init__(self, space: BinSpace) -> None:
        self.space = space
        self.observer = Observer(space)
        self.mover = Mover(self.observer)
        self._sources = sources(space.instruction_set)
        self._last: tuple[str, int, Aimed] | None = None

    def draw(self, text: str, number: int) -> Aimed:
        """Draw a program for the bins of a text (`aims_of`). A draw that misses its bin is left out if another one hits.

        The last program is cached, so a caller may check `reached` and then run it without a second draw. Raises NoRoomError if the
        device's memory is too small for every draw.
        """
        if self._last is None or self._last[:2] != (text, number):
            self._last = text, number, self._draw(text, np.random.default_rng([number, zlib.crc32(text.encode())]))
        return self._last[2]

    def _draw(self, text: str, rng: np.random.Generator) -> Aimed:
        aims = sorted(aims_of(self.space, text), key=lambda a: _ORDER.index(a.distance))
        program = _Program(self.space, rng)
        self.mover.why = ""
        spare: Draw | None = None
        full: NoRoomError | None = None
        for last, aim in [*((False, a) for a in aims), (True, None)]:
            try:
                if aim is not None:
                    missed = self._add(program, self._named(aim, rng), rng)
                    spare = spare or missed
                self._flush(program, rng, last=last)
            except NoRoomError as error:  # the other draws may be smaller
                full, self.mover.why = error, error.what
        if not program.draws and spare is not None:
            program.append(spare)
        if not program.draws and full is not None:
            raise full
        draws = self._seasoned(aims, program.draws, rng)
        return Aimed(draws, frozenset(program.reached), self.mover.why)

    def _named(self, aim: Aim, rng: np.random.Generator) -> Aim:
        """Choose a random instruction for an aim that names none."""
        names = list(self.space.places)
        return aim if aim.instruction else replace(aim, instruction=names[int(rng.integers(len(names)))])

    def _add(self, program: _Program, aim: Aim, rng: np.random.Generator) -> Draw | None:
        """Add a draw that reaches its bins, with the calls that it depends on. If no attempt succeeds, return the unused draw."""
        if aim.earlier:
            program.append(self._any(aim.earlier, program, rng))
        first = min(_NEAR.get(aim.distance, (1,))) if aim.distance not in {"", "none"} or aim.kind else 0
        while len(program.calls) < first:
            program.append(self._filler(program, rng))
        best: tuple[set[str], Draw] | None = None
        for candidate in range(_CANDIDATES):
            draw = self._target(aim, program, rng, twice=candidate > 0)
            apart = _APART.get(aim.distance, 0)
            if apart and draw.before and self.space.hints.barrier is None and self._reached(aim, draw.call):
                program.append(replace(draw, call=draw.before[-1], before=draw.before[:-1]))
                program.waiting.append((len(program.calls) + apart - 1, aim, replace(draw, before=(), blocks=())))
                return None
            reached = self._met(aim, program, draw)
            if best is None or len(reached) > len(best[0]):
                best = reached, draw
            if len(reached) == len(aim.keys):
                break
        assert best is not None
        if not best[0]:
            return best[1]
        program.reached |= best[0]
        program.append(best[1])
        return None

    def _flush(self, program: _Program, rng: np.random.Generator, *, last: bool) -> None:
        """Append the waiting calls that are due; last: all of them, with filler calls in between."""
        while program.waiting and (last or program.waiting[0][0] <= len(program.calls)):
            due, aim, draw = program.waiting.pop(0)
            for _ in range(_FILLERS):
                if len(program.calls) >= due:
                    break
                program.append(self._filler(program, rng))
            if (legal := self._legal(draw, program)) is not None:
                program.reached |= self._met(aim, program, legal)
                program.append(legal)

    def _legal(self, draw: Draw, program: _Program) -> Draw | None:
        """Resolve the draw with the present state registers; None if configuration since the draw makes it illegal."""
        set_, device = self.space.instruction_set, self.space.device
        found = resolved_draw(set_, device, draw, program.place.state)
        return None if any(set_.instructions[c.instruction].legal(device, c.fields) for c in found.calls) else found

    def _any(self, instruction: str, program: _Program, rng: np.random.Generator) -> Draw:
        program.place.wanted = ()
        return self._sources[instruction].draw(self.space.device, rng, program.place, small=True)

    def _filler(self, program: _Program, rng: np.random.Generator) -> Draw:
        """Draw an independent call, if possible one that needs no calls before it."""
        names = list(self._sources)
        found = [self._any(names[int(rng.integers(len(names)))], program, rng) for _ in range(2)]
        return min(found, key=lambda d: len(d.calls))

    def _target(self, aim: Aim, program: _Program, rng: np.random.Generator, *, twice: bool) -> Draw:
        """Draw for the aim: the best of several draws, moved. Sometimes a directed one, if the operands need no place of their own.

        twice: if a barrier precedes a moved call, the call itself may precede the barrier too, as the call to wait for.
        """
        source, device, hints = self._sources[aim.instruction], self.space.device, self.space.hints
        program.place.wanted = self._wanted(aim, program)
        best: Draw | None = None
        most = -1
        for _ in range(_DRAWS):
            if not program.draws and not aim.distance and rng.random() < 0.4:
                found = source.draw_directed(device, int(rng.integers(source.directed(device))), rng)
            else:
                found = source.draw(device, rng, program.place, small=bool(aim.distance or rng.random() < 0.7))
            found = resolved_draw(self.space.instruction_set, device, found, program.place.state)
            score = len(set(aim.modes) & set(self.observer.modes(found.call)))
            if score > most:
                best, most = found, score
            if most == len(aim.modes):
                break
        assert best is not None
        if hints.fill is not None and rng.random() < 0.5:
            with suppress(NoRoomError):
                calls, blocks = hints.fill(device, rng, program.place)
                filled = replace(best, before=(*calls, *best.before), blocks=(*blocks, *best.blocks))
                best = self._legal(filled, program) or best
        known = [*program.filled, *program.fills(best.before)]
        call = self._moved(best.call, aim, rng, known)
        if call != best.call and not self.mover.quick(call):
            call = best.call
        if hints.barrier is not None and (call != best.call or aim.distance in _APART):
            low = _APART.get(aim.distance, 2) - 1
            between = [hints.barrier() for _ in range(int(rng.integers(low, low + 2)))]
            if twice and aim.distance in _NEAR:
                between = [hints.barrier(), call, *(between if aim.distance in _APART else ())]
            best = replace(best, before=(*best.before, *between))
        return replace(best, call=call)

    def _wanted(self, aim: Aim, program: _Program) -> Sequence[int]:
        """Return the distances to the earlier calls on which the operands shall depend."""
        if aim.kind and not aim.distance:
            return (1,)
        if self.space.hints.barrier is not None and aim.distance in _NEAR:
            return range(1, 8)  # barriers come between
        return _NEAR.get(aim.distance, ())

    def _moved(self, call: Call, aim: Aim, rng: np.random.Generator, known: Sequence[Range]) -> Call:
        if aim.field:
            if aim.block:
                moved = self.mover.to_remainder(call, aim.field, aim.block, aim.value, rng, known)
            else:
                moved = self.mover.to_class(call, aim.field, aim.value, rng, known)
            return moved or call
        for mode in aim.modes:
            if mode not in self.observer.modes(call):
                call = self.mover.to_class(call, field_of(mode), mode.partition("=")[2], rng, known) or call
        modes = {m for m in self.observer.modes(call) if m in aim.modes}
        if aim.shape:
            call = self.mover.to_shape(call, aim.shape, lambda c: modes <= set(self.observer.modes(c)), rng, known)
        if aim.stride and (not aim.shape or self.observer.shape(call) == aim.shape):
            call = self.mover.to_stride(
                call, aim.shape, lambda c: self._stride(aim, c) == aim.stride, lambda c: modes <= set(self.observer.modes(c)), rng,
                known,
            )  # fmt: skip
        return call

    def _stride(self, aim: Aim, call: Call) -> str | None:
        return self.observer.stride(call, aim.side)

    def _reached(self, aim: Aim, call: Call) -> set[str]:
        """Return the aim's bins that the call alone reaches."""
        if aim.shape and self.observer.shape(call) != aim.shape:
            return set()
        if aim.stride and self._stride(aim, call) != aim.stride:
            return set()
        if aim.field or aim.keys[0].split(":")[1] == "start":
            return set(aim.keys) & set(self.observer.call_bins(call))
        if aim.modes:
            modes = self.observer.modes(call)
            return {k for k, m in zip(aim.keys, aim.modes, strict=True) if m in modes}
        return set(aim.keys)

    def _met(self, aim: Aim, program: _Program, draw: Draw) -> set[str]:
        """Return the aim's bins that a draw meets if it is appended to the program."""
        found = self._reached(aim, draw.call)
        if not found or not (aim.distance or aim.kind):
            return found
        set_, device = self.space.instruction_set, self.space.device
        if aim.kind:
            calls = [*program.calls, *draw.calls]
            met = {b for h in hazards(set_, device, calls) for b in self.observer.hazard_bins(h, calls)}
            return found & met
        touched = [*program.place.touched, *(touched_by(set_, device, c) for c in draw.before)]
        return found if distance_class(nearest(touched, touched_by(set_, device, draw.call))) == aim.distance else set()

    def _seasoned(self, aims: Sequence[Aim], draws: Sequence[Draw], rng: np.random.Generator) -> tuple[Draw, ...]:
        """Replace the data so that results are ordinary, or saturate, as the first aim asks; sometimes keep them."""
        aim = next((a for a in aims if a.saturation and self._dtype(a).kind == "f"), None)
        if aim is None or rng.random() < 0.1:
            return tuple(draws)
        dtype = self._dtype(aim)
        return tuple(replace(d, blocks=tuple(_seasoned(b, dtype, aim.saturation, rng) for b in d.blocks)) for d in draws)

    def _dtype(self, aim: Aim) -> np.dtype[Any]:
        return np.dtype(self.space.hints.dtypes.get(aim.instruction) or "|u1")


def _seasoned(block: Write, dtype: np.dtype[Any], saturation: str, rng: np.random.Generator) -> Write:
    """Fill the block with numbers whose results are ordinary, or mix in the largest number, infinities and NaN."""
    count = block.data.size // dtype.itemsize
    if saturation == "ordinary":
        numbers = rng.normal(0, 0.5, count).astype(dtype)
        numbers = np.where(np.abs(numbers) < 2**-10, dtype.type(0.25), numbers).astype(dtype)
    else:
        numbers = block.data.reshape(-1)[: count * dtype.itemsize].copy().view(dtype)
        odd = np.array([np.finfo(dtype).max, np.inf, -np.inf, np.nan], dtype)
        numbers = np.where(rng.random(count) < max(0.02, 4 / max(count, 8)), rng.choice(odd, count), numbers).astype(dtype)
    rest = block.data.reshape(-1)[count * dtype.itemsize :]
    return replace(block, data=np.concatenate([numbers.view(np.uint8), rest]))


_AIMERS: dict[tuple[str, str, int], tuple[InstructionSet, Aimer]] = {}


def aimer(instruction_set: InstructionSet, device: Device) -> Aimer:
    """Return the cached aimer of a device. A changed description gets a new one."""
    key = device.name, description_hash(instruction_set, device), id(instruction_set)
    if key not in _AIMERS:
        _AIMERS[key] = instruction_set, Aimer(space_of(instruction_set, device))  # keeps the set alive, so that its id stays unique
    return _AIMERS[key][1]
