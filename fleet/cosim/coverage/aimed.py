"""Draws that aim at a bin: made again from the bin's key and a number alone."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fleet.cosim.coverage.bins import NO_MODE, Space, distance_class, family, space_of
from fleet.cosim.coverage.moves import Mover
from fleet.cosim.coverage.observe import Observer
from fleet.cosim.streams.hazards import hazards
from fleet.errors import DeviceError
from fleet.isa.conformance import Draw, Place, sources
from fleet.isa.contract import Call, Device, InstructionSet, Range, Write
from fleet.isa.registry import description_hash

__all__ = ["Aim", "Aimed", "aimer"]

_CANDIDATES = 3
_EARLIER = {"none": (0, 1), "1": (1, 2), "2-3": (2, 4), "4+": (4, 7)}
_APART = {"2-3": (1, 3), "4+": (3, 6)}
"""Barriers between a call and what it waits for, at least and less than."""
_DRAWS = 6
_ROOMY, _ROOM = 0.7, (4096, 32768, 131072)


@dataclass(frozen=True)
class Aim:
    """What is aimed at, taken out of a bin's key; what is empty is free."""

    instruction: str
    mode: str = ""
    shape: str = ""
    stride: str = ""
    saturation: str = ""
    side: str = ""
    distance: str = ""
    field: str = ""
    value: str = ""
    block: int = 0
    kind: str = ""
    earlier: str = ""


class _Roomy(Place):
    """Leaves room between ranges, so that sizes and strides can grow."""

    def take(self, space: str, size: int, align: int = 64) -> int:
        """A range of its own; at times with the size of what it may become before it."""
        if self._rng.random() < _ROOMY:
            gap = int(self._rng.choice(_ROOM))
            if self._next.get(space, 0) + 2 * gap + size < self._device.memory.get(space, 0) // 2:
                self._next[space] = self._next.get(space, 0) + gap
        return super().take(space, size, align)


@dataclass(frozen=True)
class Aimed:
    """A program of draws, the last of them the one that aims. reached: as far as can be told before it runs; why: else."""

    draws: tuple[Draw, ...]
    reached: bool
    why: str

    @property
    def calls(self) -> tuple[Call, ...]:
        """In order; draws that are made outside a program stand one behind the other."""
        return tuple(c for d in self.draws for c in d.calls)

    @property
    def blocks(self) -> tuple[Write, ...]:
        """What memory holds."""
        return tuple(b for d in self.draws for b in d.blocks)

    @property
    def parameters(self) -> dict[int, int]:
        """Byte address -> value; the first draw's hold."""
        return {k: v for d in reversed(self.draws) for k, v in d.parameters.items()}


def aim_of(space: Space, key: str) -> Aim:
    """Raises DeviceError for a key that is no bin which a draw can aim at."""
    parts = key.split(":")
    if key not in space.bins:
        raise DeviceError("there is no such bin", where=key, hint="`fleet isa coverage` lists them")
    name, kind = parts[0], family(key)
    if kind == "hazard":
        names = list(space.places)
        if len(parts) == 4:
            return Aim(parts[3], kind=parts[1], earlier=parts[2])
        return Aim(names[0], kind=parts[1], distance=parts[2])
    if kind == "cross":
        mode = parts[2] if parts[2] != NO_MODE else ""
        return Aim(name, mode=mode, shape=parts[3], stride=parts[4], saturation=parts[5], distance=parts[6])
    if kind == "field":
        return Aim(name, field=parts[2], value=parts[3])
    if kind == "remainder":
        label, block = parts[2].split("/")
        return Aim(name, field=label, value=parts[3], block=int(block))
    if kind == "stride":
        return Aim(name, stride=parts[3], side=parts[2])
    return Aim(name)


class Aimer:
    """Draws for one device."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.observer = Observer(space)
        self.mover = Mover(self.observer)
        self._sources = sources(space.instruction_set)
        self._last: tuple[str, int, Aimed] | None = None

    def draw(self, key: str, number: int) -> Aimed:
        """The first of some programs that meets what the key says of calls and their places; else the best of them.

        The last one is kept: who looks whether it reached its bin need not draw it again to run it.
        """
        if self._last is None or self._last[:2] != (key, number):
            self._last = key, number, self._draw(key, np.random.default_rng([number, zlib.crc32(key.encode())]))
        return self._last[2]

    def _draw(self, key: str, rng: np.random.Generator) -> Aimed:
        aim = aim_of(self.space, key)
        if key.startswith("hazard:") and not aim.earlier:
            names = list(self.space.places)
            aim = replace(aim, instruction=names[int(rng.integers(len(names)))])
        best: Aimed | None = None
        most = -1
        for _ in range(_CANDIDATES):
            self.mover.why = ""
            draws = self._program(aim, rng)
            score, full = self._score(aim, draws)
            if score > most:
                best, most = Aimed(draws, score >= full, self.mover.why), score
            if score >= full:
                break
        assert best is not None
        return best

    def _program(self, aim: Aim, rng: np.random.Generator) -> tuple[Draw, ...]:
        device = self.space.device
        depends = bool(aim.distance and aim.distance != "none") or bool(aim.earlier) or bool(aim.kind)
        place = _Roomy(device, rng, dependent=0.85 if depends else 0.0)
        names = list(self._sources)
        earlier: list[str] = []
        if aim.earlier:
            earlier = [aim.earlier]
        elif aim.distance:
            low, high = _EARLIER[aim.distance]
            earlier = [names[int(rng.integers(len(names)))] for _ in range(int(rng.integers(low, high)))]
            if depends and rng.random() < 0.4:
                earlier[0] = aim.instruction
        draws = [self._sources[n].draw(device, rng, place, small=True) for n in earlier]
        program = (*draws, self._target(aim, draws, rng, place))
        dtype = self.space.hints.dtypes.get(aim.instruction, "")
        if not aim.saturation or not dtype or np.dtype(dtype).kind != "f" or rng.random() < 0.2:
            return program
        return tuple(
            replace(d, blocks=tuple(_seasoned(b, np.dtype(dtype), aim.saturation, rng) for b in d.blocks)) for d in program
        )

    def _target(self, aim: Aim, earlier: Sequence[Draw], rng: np.random.Generator, place: Place) -> Draw:
        """The draw that aims: the best of some, moved. Without a place of its own in memory, at times a directed one."""
        source, device = self._sources[aim.instruction], self.space.device
        best: Draw | None = None
        for _ in range(_DRAWS):
            if not earlier and rng.random() < 0.4:
                found = source.draw_directed(device, int(rng.integers(source.directed(device))), rng)
            else:
                found = source.draw(device, rng, place, small=bool(rng.random() < 0.7))
            if self._has_mode(found.call, aim):
                best = found
                break
            best = best or found
        assert best is not None
        fill = self.space.hints.fill
        if fill is not None and rng.random() < 0.5:
            calls, blocks = fill(device, rng, place)
            best = replace(best, before=(*calls, *best.before), blocks=(*blocks, *best.blocks))
        known = self._written([*earlier, best])
        call = self._moved(best.call, aim, rng, known)
        if call != best.call and not self.mover.quick(call):
            call = best.call
        barrier = self.space.hints.barrier
        if barrier is not None and (call != best.call or aim.distance in _APART):
            low, high = _APART.get(aim.distance, (1, 2))
            best = replace(best, before=(*best.before, *(barrier() for _ in range(int(rng.integers(low, high))))))
        return replace(best, call=call)

    def _written(self, draws: Sequence[Draw]) -> list[Range]:
        """What the calls before the last one write into memories that only instructions fill."""
        fills = self.space.hints.fills
        calls = [c for d in draws for c in d.calls][:-1]
        calls = [c for c in calls if fills is None or c.instruction in fills]
        classes, device = self.space.instruction_set.instructions, self.space.device
        return [r for c in calls for r in classes[c.instruction].writes(device, c.fields) if r.space not in device.memory]

    def _has_mode(self, call: Call, aim: Aim) -> bool:
        if not aim.mode:
            return True
        return aim.mode in self.observer.coordinates(call).modes

    def _moved(self, call: Call, aim: Aim, rng: np.random.Generator, known: Sequence[Range]) -> Call:
        if aim.field:
            if aim.block:
                moved = self.mover.to_remainder(call, aim.field, aim.block, aim.value, rng, known)
            else:
                moved = self.mover.to_class(call, aim.field, aim.value, rng, known)
            return moved or call
        if aim.mode and not self._has_mode(call, aim):
            label, _, value = aim.mode.partition("=")
            call = self.mover.to_class(call, label, value, rng, known) or call
        if aim.shape or aim.stride:
            goal = 2 * bool(aim.shape) + 2 * bool(aim.stride) + bool(aim.mode)
            call = self.mover.walk(call, lambda c: self._alone(aim, c), goal, rng, known)
        return call

    def _alone(self, aim: Aim, call: Call) -> int:
        """Points for what the call says by itself."""
        c = self.observer.coordinates(call)
        stride = {"read": c.reads, "write": c.writes}.get(aim.side, c.stride)
        return (
            2 * (bool(aim.shape) and c.shape == aim.shape) + 2 * (bool(aim.stride) and stride == aim.stride) + (aim.mode in c.modes)
        )

    def _score(self, aim: Aim, draws: Sequence[Draw]) -> tuple[int, int]:
        """Points and the most there are."""
        call = draws[-1].call
        score = self._alone(aim, call)
        full = 2 * bool(aim.shape) + 2 * bool(aim.stride) + bool(aim.mode)
        if aim.field:
            full += 1
            wanted = f"{aim.field}/{aim.block}" if aim.block else aim.field
            kind = "remainder" if aim.block else "field"
            score += f"{aim.instruction}:{kind}:{wanted}:{aim.value}" in set(self.observer.call_bins(call))
        if aim.distance or aim.kind:
            full += 1
            score += self._meets(aim, [c for d in draws for c in d.calls])
        return score, full

    def _meets(self, aim: Aim, calls: Sequence[Call]) -> bool:
        found = hazards(self.space.instruction_set, self.space.device, calls)
        if aim.earlier:
            return f"hazard:{aim.kind}:{aim.earlier}:{aim.instruction}" in {self.observer.hazard_bins(h, calls)[1] for h in found}
        if aim.kind:
            return any(h.kind == aim.kind and distance_class(h.distance) == aim.distance for h in found)
        mine = [h.distance for h in found if h.later == len(calls) - 1]
        return distance_class(min(mine, default=None)) == aim.distance


def _seasoned(block: Write, dtype: np.dtype[Any], saturation: str, rng: np.random.Generator) -> Write:
    """The block with numbers that leave results ordinary, or with some that do not: largest, infinite, NaN."""
    count = block.data.size // dtype.itemsize
    if saturation == "ordinary":
        numbers = rng.normal(0, 0.5, count).astype(dtype)
        numbers = np.where(np.abs(numbers) < 2**-10, dtype.type(0.25), numbers).astype(dtype)
    else:
        numbers = block.data.reshape(-1)[: count * dtype.itemsize].copy().view(dtype)
        odd = np.array([np.finfo(dtype).max, np.inf, -np.inf, np.nan], dtype)
        numbers = np.where(rng.random(count) < 0.02, rng.choice(odd, count), numbers).astype(dtype)
    rest = block.data.reshape(-1)[count * dtype.itemsize :]
    return replace(block, data=np.concatenate([numbers.view(np.uint8), rest]))


_AIMERS: dict[tuple[str, str, int], tuple[InstructionSet, Aimer]] = {}


def aimer(instruction_set: InstructionSet, device: Device) -> Aimer:
    """The aimer of a device, kept; a changed description has another one."""
    key = device.name, description_hash(instruction_set, device), id(instruction_set)
    if key not in _AIMERS:
        _AIMERS[key] = instruction_set, Aimer(space_of(instruction_set, device))  # the set is kept: its id stays its own
    return _AIMERS[key][1]
