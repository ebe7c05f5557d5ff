"""Draws of the instructions on the KV cache, and of the copy into HBM: trp_mvm, f2w_mvm, dat2hbm, wt2hbm."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from fleet.sdk import DATA_KINDS, Call, CycleRules, Device, Draw, Place, Source, data_kind, halves
from fleet.sets.hbm0923.conformance.tensors import LAYOUTS, Tensors, choice, ends, numbers, size_class
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES
from fleet.sets.hbm0923.units.attention import F2wMvmTensors, TrpMvmTensors, with_bank_step
from fleet.sets.hbm0923.units.dat2hbm import Dat2HbmOperands
from fleet.sets.hbm0923.units.kv_cache import KvCache
from fleet.sets.hbm0923.units.wt2hbm import Wt2HbmOperands


@dataclass(frozen=True)
class _Shape:
    """heads: query heads (of dat2hbm: all); share: query heads per key/value head; total: positions; last: earlier positions."""

    channels: int
    heads: int
    share: int
    total: int
    tokens: int
    data: str = "plain"
    layout: str = LAYOUTS[0]
    onchip: tuple[str, ...] = ()
    last: int = 0
    keys: bool = True
    gap: bool = False


class _CacheSource(Source):
    """Draws the shapes of instructions with a cache."""

    onchip: tuple[tuple[str, ...], ...] = ((),)

    @abstractmethod
    def build(self, device: Device, s: _Shape, t: Tensors, rng: np.random.Generator) -> Call:
        """Build the call of a shape."""

    @abstractmethod
    def shapes(self, device: Device) -> list[_Shape]:
        """Return the directed shapes."""

    def directed(self, device: Device) -> int:
        """Return the number of directed shapes."""
        return len(self.shapes(device))

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Draw a directed shape, as `Source` asks."""
        return self._draw(device, self.shapes(device)[number], rng, Place(device, rng))

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        """Draw a random shape."""
        kv, share = choice(rng, [1, 1, 2]), choice(rng, [1, 1, 2, 3])
        shape = _Shape(
            channels=choice(rng, [64, 128]), heads=kv * share, share=share,
            total=choice(rng, [1, 31, 32, 33, *numbers(rng, 80, 3), *([255, 256] if place.program else [])]),
            tokens=choice(rng, [1, 2] if small else [1, 2, 3, 17]), data=data_kind(rng, place),
            layout=str(rng.choice(LAYOUTS)),
            onchip=self.onchip[int(rng.integers(len(self.onchip)))], last=choice(rng, [0, 1, 7, 8, *numbers(rng, 40, 2)]),
            keys=bool(rng.integers(2)), gap=bool(rng.integers(2)),
        )  # fmt: skip
        return self._draw(device, shape, rng, place)

    def cycles(self, device: Device, call: Call) -> CycleRules:
        """Return the rules: attention reads keys and values as weights; a cache write reads no weights."""
        weights = {} if call.instruction == "dat2hbm" else {"weight_wait": 0}
        return CycleRules({"compute": 1, "activation_wait": 0, "write_back": 0, **weights})

    def _draw(self, device: Device, s: _Shape, rng: np.random.Generator, place: Place) -> Draw:
        t = Tensors(device, rng, place)
        call = self.build(device, s, t, rng)
        ports = device.parameters["HbmPorts"]
        classes = {
            "head width": str(s.channels),
            "heads": f"{s.heads} ({s.share} a key/value head)",
            "positions": size_class(s.total, {32: "a pixel", ports: "the ports"}, device.parameters["MaxToken"]),
            "tokens": size_class(s.tokens, {32: "32"}),
            "pairs of head and token": size_class(s.share * s.tokens, {device.parameters["AttQueries"]: "a group"}),
            "last": size_class(s.last, {ports: "the ports"}),
            "data": s.data,
            "layout": s.layout,
            "cache": "gaps" if s.gap else "touching",
            "on chip": "+".join(s.onchip) or "none",
        }
        return Draw(call, tuple(t.blocks), classes, tuple(t.before), {})


def _cache(device: Device, s: _Shape, heads: int, vectors: int, length: int) -> KvCache:
    """Return a cache at offset 0 with drawn strides."""
    ports = device.parameters["HbmPorts"]
    cache = KvCache(0, 0, 0, heads, vectors, length)
    line = cache.line_bytes + (BEAT_BYTES if s.gap else 0)
    return replace(cache, line=line, head=line * cache.lines(ports) + (2 * BEAT_BYTES if s.gap else 0))


_SUMS = ("opposed", "smallest", "positive")
"""Data whose sums need the whole window of the exact sums: what is left when large products cancel, the least products, sums in
which nothing cancels."""
_CACHED = {"huge": "plain", "opposed": "repeated"}
"""Data of the cache, where they are not those of the input."""
_SCALE = {"opposed": "plain", "smallest": "huge", "positive": "plain"}
"""Data of the scale, where they are not those of the input."""


class AttentionSource(_CacheSource):
    """Draws `trp_mvm` (scores) or `f2w_mvm`."""

    onchip = ((), (), ("in",), ("out",), ("in", "out"))

    def __init__(self, instruction: str) -> None:
        self.instruction, self.scores = instruction, instruction == "trp_mvm"

    def shapes(self, device: Device) -> list[_Shape]:
        """Return the directed shapes."""
        ports, most = device.parameters["HbmPorts"], device.parameters["MaxToken"]
        base = _Shape(64, 2, 2, 40, 2)
        found = [replace(base, total=n) for n in (1, 2, 31, 32, 33, 63, 64, 65, ports - 1, ports, ports + 1, 128)]
        found += [
            replace(base, channels=c, heads=h, share=s) for c in (64, 128) for h, s in ((1, 1), (2, 1), (4, 2), (6, 3), (8, 8))
        ]
        found += [replace(base, tokens=n) for n in (1, 3, 31, 32, 33)]
        found += [replace(base, data=d, channels=c) for d in DATA_KINDS for c in (64, 128)]
        found += [replace(base, layout=i, gap=g) for i in LAYOUTS for g in (False, True)]
        found += [replace(base, onchip=o) for o in self.onchip if o]
        grouped = [replace(base, heads=kv * s, share=s, tokens=1) for kv, s in ((1, 3), (2, 4), (2, 5), (1, 9))]
        grouped += [replace(base, total=n, data=d, channels=c) for d in _SUMS for c, n in ((64, 64), (128, 40), (64, most))]
        return [*dict.fromkeys(found), replace(base, total=most, heads=1, share=1, tokens=1), *grouped]

    def build(self, device: Device, s: _Shape, t: Tensors, rng: np.random.Generator) -> Call:
        """Build the call of a shape."""
        inputs, outputs = (s.channels, s.total) if self.scores else (s.total, s.channels)
        kv = s.heads // s.share
        x = t.source(s.heads, inputs, s.tokens, s.data, s.layout, onchip="in" in s.onchip)
        cache = _cache(device, s, kv, outputs, inputs)
        base = t.bank(cache.end(device.parameters["HbmPorts"]), _CACHED.get(s.data, s.data))
        y = t.target(s.heads, outputs, s.tokens, s.layout, onchip="out" in s.onchip, avoid=(x,))
        scale = int(rng.integers(1 << 20)) if device.parameters["ScaleFp20"] else int(halves(rng, 1, _SCALE.get(s.data, s.data))[0])
        operands = TrpMvmTensors if self.scores else F2wMvmTensors
        o = operands(
            channels=s.channels, heads=s.heads, kv_heads=kv, total=s.total, tokens=s.tokens, wt_addr=base, wt_head=cache.head,
            wt_line=cache.line, scale=with_bank_step(device, scale), **ends(x, y),
        )  # fmt: skip
        return Call(self.instruction, o.encode())


class Dat2HbmSource(_CacheSource):
    """Draws `dat2hbm`."""

    def shapes(self, device: Device) -> list[_Shape]:
        """Return the directed shapes."""
        ports = device.parameters["HbmPorts"]
        base = _Shape(64, 2, 1, 1, 3, data="wild")
        found: list[_Shape] = []
        for keys in (True, False):
            one = replace(base, keys=keys)
            found += [replace(one, last=n) for n in (0, 1, 15, 16, 17, ports - 1, ports, ports + 1, 100)]
            found += [replace(one, tokens=n) for n in (1, 2, 15, 16, 17, 32, 33, ports, ports + 1)]
            found += [replace(one, channels=c, heads=h, layout=i) for c in (64, 128) for h in (1, 3) for i in LAYOUTS]
            found += [replace(one, gap=True, data=d) for d in DATA_KINDS]
        return list(dict.fromkeys(found))

    def build(self, device: Device, s: _Shape, t: Tensors, rng: np.random.Generator) -> Call:
        """Build the call. The other content of the cache must stay."""
        x = t.source(s.heads, s.channels, s.tokens, s.data, s.layout)
        total = s.last + s.tokens
        cache = _cache(device, s, s.heads, *((total, s.channels) if s.keys else (s.channels, total)))
        base = t.bank(cache.end(device.parameters["HbmPorts"]), "wild", written=True)
        o = Dat2HbmOperands(
            keys=s.keys, channels=s.channels, heads=s.heads, tokens=s.tokens, last=s.last, in_addr=x.base, in_surface=x.surface,
            in_line=x.line, out_addr=base, wt_head=cache.head, wt_line=cache.line,
        )  # fmt: skip
        return Call("dat2hbm", o.encode())


class Wt2HbmSource(Source):
    """Draws `wt2hbm`."""

    def directed(self, device: Device) -> int:
        """Return the number of directed sizes."""
        return len(self._sizes(device))

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Draw a directed size, as `Source` asks."""
        beats, port = self._sizes(device)[number]
        return self._draw(device, beats, port, rng, Place(device, rng))

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        """Draw a random size."""
        beats = choice(rng, [1, 2, 3, 127, 128, 129, *numbers(rng, 60 if small else 600, 3)])
        return self._draw(device, beats, int(rng.integers(device.parameters["HbmPorts"])), rng, place)

    def cycles(self, device: Device, call: Call) -> CycleRules:
        """Return the rules: it moves weights and reads no activations."""
        return CycleRules({"compute": 0, "weight_wait": 0, "write_back": 1}, answered=True)

    def _sizes(self, device: Device) -> list[tuple[int, int]]:
        ports = device.parameters["HbmPorts"]
        sizes = [(n, n % ports) for n in (1, 2, 3, 4, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000)]
        return sizes + [(2, p) for p in range(ports)]

    def _draw(self, device: Device, beats: int, port: int, rng: np.random.Generator, place: Place) -> Draw:
        t = Tensors(device, rng, place)
        size = beats * BEAT_BYTES
        source = t.data(size, "wild")
        at = t.bank(size, "wild", written=True)
        call = Call("wt2hbm", Wt2HbmOperands.copy(source, at, size, port).encode())
        return Draw(call, tuple(t.blocks), {"beats": size_class(beats, {128: "128", 64: "64", 2: "a DDR beat"}), "port": str(port)})
