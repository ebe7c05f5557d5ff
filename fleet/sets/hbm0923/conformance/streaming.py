"""Draws of norm, rotary embedding, softmax, activation and elementwise: features in, features out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from fleet.sdk import DATA_KINDS, Call, CycleRules, Device, Draw, Place, Source, data_kind, halves
from fleet.sets.hbm0923.conformance.tensors import LAYOUTS, DrawnTensor, Tensors, choice, ends, numbers, size_class
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.units.act import ActTensors
from fleet.sets.hbm0923.units.elementwise import ElementwiseTensors
from fleet.sets.hbm0923.units.feature import groups_of
from fleet.sets.hbm0923.units.norm import EPS_REGISTER, NormTensors
from fleet.sets.hbm0923.units.pos_emb import PosEmbTensors
from fleet.sets.hbm0923.units.softmax import SoftmaxTensors

_EPS = (0x3727C5AC, 0x358637BD, 0x00000000, 0x3F800000)
"""1e-5, 1e-6, 0 and 1 as binary32."""
_ODD_EPS = (0x2B8CBCCC, 0x00000001, 0x80000000, 0x477FFFFF, 0x47800000, 0x80000001, 0xB727C5AC, 0x7F800000, 0x7FC00001)
"""Very small ones, -0, the largest one, and those that leave no result: too large, negative, infinite, NaN."""
_EPS_DATA = "eps "
"""Begins the name of data that come with that eps."""
TIES = ((0, 0xC56E, 0xBF53), (0, 0xC4B1, 0xC7BB), (0, 0xC94A, 0xC0D3))
"""Rows (FP16) of which softmax's first result lies exactly between two numbers of FP16, the lower one even in the first two."""


@dataclass(frozen=True)
class StreamShape:
    """One instruction before its addresses.

    mode: the instruction's own (layer, mask, shared table, operation, kind of table). last: positions before the first token.
    place: "apart", "in place", or the tensors that share a range. onchip: any of "in", "out", "second".
    """

    channels: int
    lines: int
    tokens: int
    mode: str
    data: str = "plain"
    layout: str = LAYOUTS[0]
    out_layout: str = LAYOUTS[0]
    place: str = "apart"
    onchip: tuple[str, ...] = ()
    last: int = 0


class StreamingSource(Source):
    """Base class of these sources. modes: all, the plainest first; places: legal aliasing."""

    modes: tuple[str, ...]
    places: tuple[str, ...] = ("apart", "in place")
    onchip: tuple[tuple[str, ...], ...] = ((), ("in",), ("out",), ("in", "out"))

    @abstractmethod
    def channels(self, device: Device) -> list[int]:
        """Return sizes at boundaries, all legal with the first mode."""

    @abstractmethod
    def build(self, device: Device, s: StreamShape, t: Tensors, rng: np.random.Generator) -> tuple[Call, dict[int, int]]:
        """Build the call and the parameter registers that it needs."""

    def fit(self, device: Device, s: StreamShape) -> StreamShape:
        """Return the nearest legal shape."""
        return s

    def directed(self, device: Device) -> int:
        """Return the number of directed shapes."""
        return len(self._directed(device))

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Draw a directed shape, as `Source` asks."""
        return self._draw(device, self._directed(device)[number], rng, Place(device, rng))

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        """Draw a random shape."""
        sizes = [c for c in self.channels(device) if c <= 200] if small else self.channels(device)
        sizes += [255, 256] if place.program else []
        shape = StreamShape(
            channels=choice(rng, [*sizes, *numbers(rng, 100 if small else 400, 2)]), lines=choice(rng, [1, 1, 2, 3]),
            tokens=choice(rng, [1, 2, 3] if small else [1, 2, 3, 5, 17, 33]), mode=str(rng.choice(self.modes)),
            data=data_kind(rng, place), layout=str(rng.choice(LAYOUTS)), out_layout=str(rng.choice(LAYOUTS)),
            place=str(rng.choice(self.places)), last=choice(rng, [0, 0, 1, 31, 32, *numbers(rng, 100, 2)]),
            onchip=self.onchip[int(rng.integers(len(self.onchip)))] if rng.random() < 0.4 else (),
        )  # fmt: skip
        return self._draw(device, self.fit(device, shape), rng, place)

    def cycles(self, device: Device, call: Call) -> CycleRules:
        """Return the rules: norms read weights, rotations and functions coefficients; all work while waiting for a beat."""
        weights = {"weight_wait": 0} if call.instruction in {"norm", "pos_emb", "act"} else {}
        return CycleRules({"compute": 1, "activation_wait": 0, "write_back": 0, **weights}, overlapping=True)

    def _directed(self, device: Device) -> list[StreamShape]:
        base = StreamShape(96, 2, 3, self.modes[0])
        shapes = [replace(base, channels=c) for c in self.channels(device)]
        shapes += [replace(base, tokens=w, lines=h) for w, h in ((1, 1), (1, 3), (2, 1), (31, 1), (32, 2), (33, 1))]
        shapes += [replace(base, channels=32, lines=1, tokens=device.parameters["MaxToken"])]
        for mode in self.modes:
            shapes += [replace(base, mode=mode, data=d, channels=64) for d in DATA_KINDS]
            shapes += [replace(base, mode=mode, layout=i, out_layout=o) for i in LAYOUTS for o in LAYOUTS]
            shapes += [replace(base, mode=mode, place=p, data="special", layout=i) for p in self.places for i in LAYOUTS]
            shapes += [replace(base, mode=mode, onchip=o, channels=40, layout="gaps") for o in self.onchip if o]
        return list(dict.fromkeys(self.fit(device, s) for s in shapes))

    def _draw(self, device: Device, s: StreamShape, rng: np.random.Generator, place: Place) -> Draw:
        t = Tensors(device, rng, place)
        call, parameters = self.build(device, s, t, rng)
        classes = {
            "channels": size_class(s.channels, {2048: "2048", 128: "128", 64: "64", 32: "a pixel"}),
            "lines": size_class(s.lines, {}),
            "tokens": size_class(s.tokens, {32: "32"}, device.parameters["MaxToken"]),
            "mode": s.mode,
            "data": s.data,
            "layout": f"{s.layout} -> {s.out_layout}",
            "aliasing": s.place,
            "on chip": "+".join(s.onchip) or "none",
        }
        return Draw(call, tuple(t.blocks), classes, tuple(t.before), parameters)

    def output(self, s: StreamShape, t: Tensors, source: DrawnTensor, second: DrawnTensor | None = None) -> DrawnTensor:
        """Place the result: apart, or exactly on an input."""
        if s.place == "in place" and not source.onchip and t.alone(source):
            return source
        avoid = (source,) if second is None else (source, second)
        return t.target(s.lines, s.channels, s.tokens, s.out_layout, onchip="out" in s.onchip, avoid=avoid)


class NormSource(StreamingSource):
    """Draws `norm`."""

    modes = ("rms", "layer")

    def channels(self, device: Device) -> list[int]:
        """Return sizes at boundaries."""
        return [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 1024, device.parameters["MaxChannels"]]

    def fit(self, device: Device, s: StreamShape) -> StreamShape:
        """Return the nearest legal shape."""
        s = replace(s, channels=min(s.channels, device.parameters["MaxChannels"]), last=0)
        return replace(s, tokens=min(s.tokens, 3), lines=1) if s.channels > 400 else s

    def _directed(self, device: Device) -> list[StreamShape]:
        rows = [StreamShape(512, 1, 1, "layer", "ninth"), *(StreamShape(64, 1, 2, mode, "level") for mode in self.modes)]
        rows += [StreamShape(c, 1, 1, "layer", data) for c in self.channels(device) for data in ("plain", "huge")]
        rows += [StreamShape(50, 1, 2, mode, f"{_EPS_DATA}{eps:#x}") for mode in self.modes for eps in _ODD_EPS]
        return [*super()._directed(device), *rows]

    def build(self, device: Device, s: StreamShape, t: Tensors, rng: np.random.Generator) -> tuple[Call, dict[int, int]]:
        """Build the call, with 1 / C as FP20 or sometimes a word beside it."""
        words = ceil_div(s.channels, PIXEL_LANES) * PIXEL_LANES
        eps = _EPS[int(rng.integers(len(_EPS)))]
        data = s.data
        if data.startswith(_EPS_DATA):
            eps, data = int(data.removeprefix(_EPS_DATA), 16), "plain"
        if data == "level":  # without eps a layer norm of equal numbers has no result
            eps, data = 0, "plain"
            x = DrawnTensor(t.words(np.full(words * s.tokens, 0x4248, np.uint16)), 2 * PIXEL_LANES * s.tokens, 2 * words * s.tokens)
        else:
            x = t.source(s.lines, s.channels, s.tokens, data, s.layout, onchip="in" in s.onchip)
        if data == "ninth":  # no beta, which would hide the last digits
            weights = t.words(halves(rng, words, "positive").astype(np.uint32) << np.uint32(16))
        else:
            weights = t.data(4 * words, "plain" if data == "huge" else data)
        y = self.output(s, t, x)
        recip = fp20_word(Fraction(1, s.channels))
        if s.data == "wild" and s.channels & s.channels - 1 == 0:  # exact: both of its neighbours do
            recip += int(rng.integers(-1, 2))
        o = NormTensors(
            **groups_of(s.channels), lines=s.lines, tokens=s.tokens, wt_addr=weights, recip=recip, layer=s.mode == "layer",
            **ends(x, y),
        )  # fmt: skip
        return Call("norm", o.encode()), {EPS_REGISTER: eps}


class PosEmbSource(StreamingSource):
    """Draws `pos_emb`."""

    modes = ("table shared", "table a head")

    def channels(self, device: Device) -> list[int]:
        """Return sizes at boundaries."""
        return [64, 128]

    def fit(self, device: Device, s: StreamShape) -> StreamShape:
        """Return the nearest legal shape: heads are 64 or 128 wide."""
        return replace(s, channels=64 if s.channels <= 64 else 128)

    def build(self, device: Device, s: StreamShape, t: Tensors, rng: np.random.Generator) -> tuple[Call, dict[int, int]]:
        """Build the call; the table may hold any bits."""
        x = t.source(s.lines, s.channels, s.tokens, s.data, s.layout, onchip="in" in s.onchip)
        shared = s.mode == "table shared"
        table = t.source(1 if shared else s.lines, s.channels, s.tokens, s.data, s.layout)
        y = self.output(s, t, x)
        o = PosEmbTensors(
            channels=s.channels, heads=s.lines, tokens=s.tokens, last=s.last, table_addr=table.base, table_surface=table.surface,
            table_line=0 if shared else table.line, **ends(x, y),
        )  # fmt: skip
        return Call("pos_emb", o.encode()), {}


class SoftmaxSource(StreamingSource):
    """Draws `softmax`; its channels are positions."""

    modes = ("all positions", "causal mask")

    def channels(self, device: Device) -> list[int]:
        """Return sizes at boundaries."""
        return [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, device.parameters["MaxToken"]]

    def fit(self, device: Device, s: StreamShape) -> StreamShape:
        """Return the nearest legal shape: positions are the earlier ones plus the tokens."""
        channels = min(max(s.channels, 1), device.parameters["MaxToken"])
        tokens = min(s.tokens, channels)
        if s.tokens == device.parameters["MaxToken"]:
            channels = tokens = 96
        return replace(s, channels=channels, tokens=tokens, last=channels - tokens)

    def _directed(self, device: Device) -> list[StreamShape]:
        return [*super()._directed(device), StreamShape(len(TIES[0]), 1, len(TIES), self.modes[0], "ties")]

    def build(self, device: Device, s: StreamShape, t: Tensors, rng: np.random.Generator) -> tuple[Call, dict[int, int]]:
        """Build the call; lanes beyond the positions hold noise."""
        if s.data == "ties":
            rows = np.zeros((s.tokens, PIXEL_LANES), np.uint16)
            rows[:, : s.channels] = TIES
            x = DrawnTensor(t.words(rows), rows.nbytes, rows.nbytes)
        else:
            x = t.source(s.lines, s.channels, s.tokens, s.data, s.layout, onchip="in" in s.onchip)
        y = self.output(s, t, x)
        o = SoftmaxTensors(
            heads=s.lines, tokens=s.tokens, last=s.last, mask=s.mode == "causal mask", **ends(x, y),
        )  # fmt: skip
        return Call("softmax", o.encode()), {}


class ActSource(StreamingSource):
    """Draws `act`; its modes are kinds of tables."""

    modes = ("ascending", "any order", "constants", "any bits")

    def channels(self, device: Device) -> list[int]:
        """Return sizes at boundaries."""
        return [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 500]

    def build(self, device: Device, s: StreamShape, t: Tensors, rng: np.random.Generator) -> tuple[Call, dict[int, int]]:
        """Build the call with a table of 128 bytes: x, k, b and noise."""
        x = t.source(s.lines, s.channels, s.tokens, s.data, s.layout, onchip="in" in s.onchip)
        words = np.concatenate([halves(rng, 48, "wild" if s.mode == "any bits" else "plain"), np.zeros(16, np.uint16)])
        if s.mode in {"ascending", "constants"}:
            words[:16] = np.sort(words[:16].view(np.float16)).view(np.uint16)
        if s.mode == "constants":
            words[16:32] = rng.choice(np.array([0, 0x8000, 0x3C00], np.uint16), 16)
        table = t.words(words)
        y = self.output(s, t, x)
        o = ActTensors(
            channels=s.channels, lines=s.lines, tokens=s.tokens, table_addr=table, **ends(x, y),
        )  # fmt: skip
        return Call("act", o.encode()), {}


class ElementwiseSource(StreamingSource):
    """Draws `elementwise`."""

    modes = ("add", "subtract", "multiply")
    places = ("apart", "in place", "onto B", "A is B", "all one")
    onchip = ((), ("in",), ("out",), ("second",), ("in", "out"), ("in", "second"), ("second", "out"), ("in", "second", "out"))

    def channels(self, device: Device) -> list[int]:
        """Return sizes at boundaries."""
        return [1, 31, 32, 33, 63, 64, 65, 128, 500]

    def build(self, device: Device, s: StreamShape, t: Tensors, rng: np.random.Generator) -> tuple[Call, dict[int, int]]:
        """Build the call. A and B have the same strides. On chip they are one tensor: the calls that fill it use one half."""
        a = t.source(s.lines, s.channels, s.tokens, s.data, s.layout, onchip="in" in s.onchip)
        if s.place in {"A is B", "all one"} or ("second" in s.onchip and a.onchip):
            b = a
        else:
            size = (ceil_div(s.channels, 32) - 1) * a.surface + (s.lines - 1) * a.line + s.tokens * 64
            b = DrawnTensor(t.data(size, s.data), a.surface, a.line)
        onto = {"in place": a, "all one": a, "onto B": b}.get(s.place)
        if onto is not None and not onto.onchip and t.alone(onto, twice=True):
            y = onto
        else:
            y = t.target(s.lines, s.channels, s.tokens, s.out_layout, onchip="out" in s.onchip, avoid=(a, b))
        o = ElementwiseTensors(
            mode=ElementwiseMode(self.modes.index(s.mode)), **groups_of(s.channels), lines=s.lines, tokens=s.tokens, a_addr=a.base,
            b_addr=b.base, a_surface=a.surface, a_line=a.line, out_addr=y.base, out_surface=y.surface, out_line=y.line,
            a_onchip=a.onchip, b_onchip=b.onchip, out_onchip=y.onchip,
        )  # fmt: skip
        return Call("elementwise", o.encode()), {}
