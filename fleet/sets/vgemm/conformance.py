"""The sources from which the conformance suite draws.

An independent draw begins with a FINISH and loads what it reads in the scratchpads. Draws of a program share the scratchpads: they
omit loads of what earlier ones have loaded, and `joined` sets the flags for all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from fleet.sdk import Call, CycleRules, Device, DeviceError, Draw, Place, Source, Write
from fleet.sets.vgemm.lower import emit
from fleet.sets.vgemm.lower.schedule import FINISH, ScheduledStep, synchronised
from fleet.sets.vgemm.operands import AluOp, LoadOperands, MemoryType
from fleet.sets.vgemm.pads import element_bytes, pad

_LOADED = (MemoryType.UOP, MemoryType.WGT, MemoryType.INP, MemoryType.ACC)
_LEFT = 0.75
"""Probability that a program's call uses what earlier ones left in a scratchpad."""
_WHOLE = 0.06
"""Probability that indices of a program's call wrap around the scratchpads, all of which are filled for it."""
_AGAIN = 0.4
"""Probability that a program's load uses the memory of the load before."""
_NEAR = 16
"""Three of four loads of a program begin below this element, so that they overlap."""
_IN_FLIGHT = 7
"""Instructions that are written to the registers without waiting; the hardware accepts one more."""
_COMPUTE = CycleRules({"compute": 1})
_ODD_NUMBERS = np.array([0, 1, -1, 31, 32, -31, -32, 127, 128, -128, 2**31 - 1, -(2**31), 1 << 16], np.int64)


class _Bench:
    """The steps of a draw, and the memory content for them."""

    def __init__(self, device: Device, rng: np.random.Generator, place: Place) -> None:
        self.device, self.rng, self.place = device, rng, place
        self.steps: list[ScheduledStep] = [] if place.program else [FINISH]
        self.blocks: list[Write] = []

    def source(self, size: int, align: int, data: np.ndarray | None = None) -> int:
        """Return the offset of `size` bytes to read: random ones, perhaps an earlier call's, or `data`."""
        align = min(align, 64)
        at, fresh = (self.place.take("ddr", size, align), True) if data is not None else self.place.source("ddr", size, align)
        if fresh:
            self.blocks.append(Write("ddr", at, self.rng.integers(0, 256, size, dtype=np.uint8) if data is None else data))
        return at

    def fill(self, kind: MemoryType, count: int, data: np.ndarray | None = None, base: int = 0) -> None:
        """Load elements [base, base + count) of a scratchpad; in a program, sometimes keep the present content."""
        if self._known(kind, base + count) and kind is not MemoryType.UOP:
            return
        size = element_bytes(self.device, kind)
        self.steps.append(emit.load(self.device, kind, base, self.source(count * size, size, data), 1, count))

    def _known(self, kind: MemoryType, end: int) -> bool:
        """Return whether earlier calls of a program filled the elements below `end` and they shall stay. Marks them as filled."""
        loaded = self.place.notes.get(kind.name, 0)
        self.place.notes[kind.name] = max(loaded, end)
        return self.place.program and end <= loaded and self.rng.random() < _LEFT

    def accumulators(self, count: int) -> None:
        """Fill the first accumulators, with special numbers among them."""
        numbers = self.rng.integers(-(2**31), 2**31, count * self.device.parameters["Block"])
        numbers = np.where(self.rng.random(numbers.size) < 0.3, self.rng.choice(_ODD_NUMBERS, numbers.size), numbers)
        self.fill(MemoryType.ACC, count, numbers.astype("<i4").view(np.uint8))

    def uops(self, uops: emit.Uops) -> None:
        """Load the micro-operations."""
        self.fill(MemoryType.UOP, len(uops.words), emit.uop_bytes(uops.words))

    def draw(self, last: ScheduledStep, classes: Mapping[str, str]) -> Draw:
        """Return the draw of the last step, with the other steps before it."""
        steps = (*self.steps, last)
        calls = synchronised(steps)
        return Draw(calls[-1], tuple(self.blocks), classes, tuple(calls[:-1]), parts=steps)


def joined(_: Device, draws: Sequence[Draw]) -> Sequence[Call]:
    """Return the calls of a program with the necessary flags and barriers (`fleet.sdk.issue_rules.Joined`)."""
    steps = [cast("Sequence[ScheduledStep]", d.parts) for d in draws]
    try:
        return synchronised([s for part in steps for s in part])
    except DeviceError:  # too many tokens in flight: a barrier before every draw
        return synchronised([s for part in steps for s in (FINISH, *part)])


def ahead(_: Device, under_way: Sequence[Call], __: Call) -> bool:
    """Whether a call may be written while others are in progress (`fleet.sdk.issue_rules.Ahead`): nothing waits after a FINISH."""
    return len(under_way) < _IN_FLIGHT and all(c.instruction != "finish" for c in under_way)


def _some(rng: np.random.Generator, most: int) -> int:
    return int(rng.integers(1, most + 1))


class _LoadSource(Source):
    def cycles(self, device: Device, call: Call) -> CycleRules:
        weights = LoadOperands.decode(call.fields).memory_type == MemoryType.WGT
        return CycleRules({"weight_wait" if weights else "activation_wait": 1})

    def directed(self, device: Device) -> int:
        return 4 * 5

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Every type: one element, the whole scratchpad, rows that cross 4 KiB, pads on all sides, and on each side alone."""
        kind, shape = _LOADED[number % 4], number // 4
        size, depth = element_bytes(device, kind), pad(device, kind).depth
        place = Place(device, rng)
        if shape == 0:
            return self._draw(device, rng, place, kind, 1, 1, 1, (0, 0), (0, 0), "one element")
        if shape == 1:
            return self._draw(device, rng, place, kind, 1, depth, depth, (0, 0), (0, 0), "the whole scratchpad")
        if shape == 2:
            place.take("ddr", 4096 - 2 * min(size, 64), min(size, 64))
            return self._draw(device, rng, place, kind, 3, 5, 4096 // size + 1, (0, 0), (0, 0), "across 4 KiB")
        if shape == 3:
            return self._draw(device, rng, place, kind, 3, 2, 3, (2, 1), (1, 3), "pads on all sides")
        pads = [(int(i == 0), int(i == 1)) for i in range(2)]
        return self._draw(device, rng, place, kind, 2, 2, 2, pads[number % 2], pads[1 - number % 2], "pads on two sides")

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        number = int(rng.integers(4))
        if place.program and rng.random() < _AGAIN:
            number = place.notes.get("loaded", number)
        place.notes["loaded"] = number
        kind = _LOADED[number]
        y, x = _some(rng, 6), _some(rng, 9)
        if place.program and rng.random() < 0.1:
            y, x = 1, 64  # 256 channels of the smallest device
        pads = [int(rng.integers(0, 3)) if rng.random() < 0.4 else 0 for _ in range(4)]
        return self._draw(
            device, rng, place, kind, y, x, x + int(rng.integers(0, 5)), (pads[0], pads[1]), (pads[2], pads[3]), "random"
        )

    def _draw(
        self, device: Device, rng: np.random.Generator, place: Place, kind: MemoryType, y: int, x: int, stride: int,
        y_pad: tuple[int, int], x_pad: tuple[int, int], shape: str,
    ) -> Draw:  # fmt: skip
        bench = _Bench(device, rng, place)
        size, depth = element_bytes(device, kind), pad(device, kind).depth
        at = bench.source(((y - 1) * stride + x) * size, size)
        room = depth - (y + sum(y_pad)) * (x + sum(x_pad))
        sram = int(rng.integers(0, room + 1))
        if place.program and sram % 4:
            sram = min(sram % _NEAR, room)  # two loads of a program overlap
        return bench.draw(emit.load(device, kind, sram, at, y, x, stride, y_pad, x_pad), {"memory": kind.name, "shape": shape})


class _StoreSource(Source):
    def cycles(self, device: Device, call: Call) -> CycleRules:
        return CycleRules({"write_back": 1})

    def directed(self, device: Device) -> int:
        return 2 * 4

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Draw both types: one element, many, rows with gaps, adjacent rows."""
        kind, shape = (MemoryType.ACC, MemoryType.OUT)[number % 2], number // 2
        y, x, stride = ((1, 1, 1), (1, pad(device, kind).depth, pad(device, kind).depth), (5, 3, 7), (4, 6, 6))[shape]
        return self._draw(device, rng, Place(device, rng), kind, y, x, stride)

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        kind = (MemoryType.ACC, MemoryType.OUT)[int(rng.integers(2))]
        y, x = _some(rng, 5), _some(rng, 8)
        return self._draw(device, rng, place, kind, y, x, x + int(rng.integers(0, 4)))

    def _draw(self, device: Device, rng: np.random.Generator, place: Place, kind: MemoryType, y: int, x: int, stride: int) -> Draw:
        bench = _Bench(device, rng, place)
        room = pad(device, kind).depth - y * x
        skip = int(rng.integers(0, min(room, 5) + 1))
        bench.accumulators(skip + y * x)
        size = element_bytes(device, kind)
        # The bytes between the rows are never written: they must exist before.
        extent = ((y - 1) * stride + x) * size
        at, fresh = place.target("ddr", extent, (), min(size, 64))
        if fresh:
            bench.blocks.append(Write("ddr", at, rng.integers(0, 256, extent, dtype=np.uint8)))
        return bench.draw(emit.store(device, kind, skip, at, y, x, stride), {"memory": kind.name, "rows": str(y)})


def _limits(device: Device, rng: np.random.Generator, *, whole: bool) -> tuple[int, int, int]:
    """Return how many accumulators, inputs and weights are loaded for a draw."""
    depths = [pad(device, k).depth for k in (MemoryType.ACC, MemoryType.INP, MemoryType.WGT)]
    if whole:
        return depths[0], depths[1], depths[2]
    return _some(rng, 40), _some(rng, 40), _some(rng, 12)


def _factors(rng: np.random.Generator, extents: tuple[int, int], limit: int) -> tuple[tuple[int, int], int]:
    """Return factors of two loops that reach at most `limit` elements, and how many are left for the first index."""
    left, found = limit - 1, [0, 0]
    for i in (1, 0) if rng.permutation(2)[0] else (0, 1):
        if extents[i] > 1:
            found[i] = int(rng.integers(0, left // (extents[i] - 1) + 1))
            left -= found[i] * (extents[i] - 1)
    return (found[0], found[1]), left + 1


class _GemmSource(Source):
    def cycles(self, device: Device, call: Call) -> CycleRules:
        return _COMPUTE

    def directed(self, device: Device) -> int:
        return 8

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Draw one product; one accumulator repeatedly; both loops; reset; indices that wrap around all scratchpads."""
        shapes = (((1, 1), 1), ((1, 1), 20), ((7, 3), 1), ((1, 9), 4), ((6, 1), 5), ((3, 4), 5))
        place = Place(device, rng)
        if number >= len(shapes):
            return self._draw(device, rng, place, (3, 5), 6, whole=True, reset=number % 2 == 1)
        return self._draw(device, rng, place, *shapes[number], whole=False, reset=False)

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        extents = _some(rng, 6), _some(rng, 6)
        whole = place.program and rng.random() < _WHOLE
        return self._draw(device, rng, place, extents, _some(rng, 8), whole=whole, reset=bool(rng.random() < 0.15))

    def _draw(
        self,
        device: Device,
        rng: np.random.Generator,
        place: Place,
        extents: tuple[int, int],
        count: int,
        *,
        whole: bool,
        reset: bool,
    ) -> Draw:
        bench, uops = _Bench(device, rng, place), emit.Uops()
        limits = _limits(device, rng, whole=whole)
        if whole:
            factors = [(int(rng.integers(0, w)), int(rng.integers(0, w))) for w in (2048, 2048, 1024)]
            firsts = (2048, 2048, 1024)
        else:
            pairs = [_factors(rng, extents, limit) for limit in limits]
            factors, firsts = [p[0] for p in pairs], tuple(p[1] for p in pairs)
        listed = [(int(rng.integers(firsts[0])), int(rng.integers(firsts[1])), int(rng.integers(firsts[2]))) for _ in range(count)]
        step = emit.gemm(device, uops, listed, extents, factors[0], factors[1], factors[2], reset=reset)
        bench.uops(uops)
        bench.accumulators(limits[0])
        bench.fill(MemoryType.INP, limits[1])
        bench.fill(MemoryType.WGT, limits[2])
        return bench.draw(step, {"reset": str(reset), "wraps": str(whole), "uops": "one" if count == 1 else "many"})


class _AluSource(Source):
    def cycles(self, device: Device, call: Call) -> CycleRules:
        return _COMPUTE

    def directed(self, device: Device) -> int:
        return 2 * len(AluOp) + 2

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Draw every operation with an immediate and with another accumulator; one that reads its own results; one that wraps."""
        if number >= 2 * len(AluOp):
            return self._draw(device, rng, Place(device, rng), AluOp.ADD, None, whole=number % 2 == 1, chain=True)
        immediate = int(rng.integers(-40, 40)) if number % 2 else None
        return self._draw(device, rng, Place(device, rng), AluOp(number // 2), immediate, whole=False, chain=False)

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        kinds = (int(rng.integers(-(1 << 15), 1 << 15)), int(rng.integers(-34, 35)), None)
        immediate = kinds[int(rng.integers(3))]
        whole = place.program and rng.random() < _WHOLE
        return self._draw(
            device, rng, place, AluOp(int(rng.integers(len(AluOp)))), immediate, whole=whole, chain=bool(rng.random() < 0.3)
        )

    def _draw(
        self, device: Device, rng: np.random.Generator, place: Place, op: AluOp, imm: int | None, *, whole: bool, chain: bool
    ) -> Draw:
        bench, uops = _Bench(device, rng, place), emit.Uops()
        limit = _limits(device, rng, whole=whole)[0]
        extents = _some(rng, 5), _some(rng, 5)
        if whole:
            dst, src = ((int(rng.integers(2048)), int(rng.integers(2048))), (int(rng.integers(1024)), int(rng.integers(1024))))
            firsts = 2048, 2048
        else:
            (dst, first_dst), (src, first_src) = (_factors(rng, extents, limit) for _ in range(2))
            firsts = first_dst, first_src
        listed = [(int(rng.integers(firsts[0])), int(rng.integers(firsts[1])), 0) for _ in range(_some(rng, 5))]
        if chain and not whole and limit > 3:  # each reads what the one before has written
            listed = [(i + 1, i, 0) for i in range(min(limit - 1, 8))]
            extents, dst, src = (1, 1), (0, 0), (0, 0)
        step = emit.alu(device, uops, listed, op, extents, dst, src, imm)
        bench.uops(uops)
        bench.accumulators(limit)
        second = "accumulator" if imm is None else "immediate"
        return bench.draw(step, {"operation": op.name, "second": second, "chain": str(chain)})


class _FinishSource(Source):
    """FINISH after a program of overlapping tiles: loads, products, arithmetic and stores that only tokens separate."""

    def cycles(self, device: Device, call: Call) -> CycleRules:
        """Return the rules: it is only issued."""
        return CycleRules({})

    def directed(self, device: Device) -> int:
        return 3

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Draw two, six and twelve tiles."""
        return self._draw(device, rng, Place(device, rng), (2, 6, 12)[number])

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        return self._draw(device, rng, place, _some(rng, 5))

    def _draw(self, device: Device, rng: np.random.Generator, place: Place, tiles: int) -> Draw:
        bench, uops = _Bench(device, rng, place), emit.Uops()
        steps, bench.steps = bench.steps, []
        size = 8
        for tile in range(tiles):
            half = size * (tile % 2) if tile < 2 or rng.random() < 0.8 else 0  # the first two tiles fill both halves
            kinds = rng.permutation(2)
            for kind in (MemoryType.INP, MemoryType.WGT)[:: 1 if kinds[0] else -1]:
                if tile < 2 or rng.random() < 0.7:
                    bench.fill(kind, size, base=half)
            if tile < 2 or rng.random() < 0.4:
                bench.fill(MemoryType.ACC, size, base=half)
            elif rng.random() < 0.5:
                bench.steps.append(emit.gemm(device, uops, [(half, 0, 0)], (1, size), (0, 1), reset=True))
            for _ in range(_some(rng, 2)):
                n, m = _some(rng, size), _some(rng, size)
                bench.steps.append(emit.gemm(device, uops, [(half, half, half)], (n, m), (0, 1), (1, 0), (0, 1)))
            if rng.random() < 0.7:
                op = (AluOp.MAX, AluOp.SHR, AluOp.MIN)[int(rng.integers(3))]
                bench.steps.append(
                    emit.alu(device, uops, [(half, half, 0)], op, (1, size), (0, 1), (0, 1), int(rng.integers(0, 9)))
                )
            kind = (MemoryType.ACC, MemoryType.OUT)[int(rng.integers(2))]
            room = size * element_bytes(device, kind)
            at = place.target("ddr", room, ())[0]
            bench.steps.append(emit.store(device, kind, half, at, 1, size))
        work, bench.steps = bench.steps, list(steps)
        bench.uops(uops)
        bench.steps += work
        return bench.draw(FINISH, {"tiles": str(tiles)})


SOURCES: Mapping[str, Source] = {
    "load": _LoadSource(),
    "store": _StoreSource(),
    "gemm": _GemmSource(),
    "alu": _AluSource(),
    "finish": _FinishSource(),
}
