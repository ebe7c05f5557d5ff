"""Draws of MVM: sizes at the unit's boundaries, every mode and flag, legal aliasing of inputs, data of every kind."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fleet.sdk import DATA_KINDS, Call, CycleRules, Device, Draw, NoRoomError, Place, Source, Write, data_kind, halves
from fleet.sets.hbm0923.conformance.mvm_sums import SUMS, set_sum_weights, sum_features, sum_inputs
from fleet.sets.hbm0923.conformance.tensors import choice, numbers, size_class, within_half
from fleet.sets.hbm0923.mvm_operands import (
    BEAT_BYTES,
    BEAT_CODES,
    ONCHIP_IN,
    ONCHIP_OUT,
    ONCHIP_SECOND,
    PIXEL_BYTES,
    PIXEL_LANES,
    SPARSE,
    SPARSE_TBLK,
    MvmFields,
    ceil_div,
    channel_bytes,
    code_beats,
    covered,
    row_words,
    step_inputs,
)
from fleet.sets.hbm0923.ranges import bn_bytes

_TBLKS = (32, 64, 128)


@dataclass(frozen=True)
class _Shape:
    """One instruction before its addresses.

    gap: unused rows between surfaces. slices: number of slices of the output channels.
    alias: inputs that share a range ("residual" = input, "bn" = inside the input, "both").
    end: its operands occupy the last bytes of memory.
    onchip: tensors in the on-chip memory, any of "in", "out", "second" (the residual).
    kept: stored weights of each block of 8 inputs; 0: all.
    """

    chin: int
    chout: int
    tokens: int
    tblk: int
    relu: bool = False
    mul: bool = False
    argmax: bool = False
    data: str = "plain"
    gap: int = 0
    slices: int = 1
    alias: str = ""
    end: str = ""
    onchip: tuple[str, ...] = ()
    kept: int = 0


_ONCHIP = (("in",), ("out",), ("in", "out"), ("second",), ("in", "second"), ("second", "out"), ("in", "second", "out"))


class MvmSource(Source):
    """Draws one of the three instructions."""

    def __init__(self, instruction: str) -> None:
        self.instruction = instruction
        self.bn = instruction != "mvm"
        self.residual = instruction == "mvm_bn_res"

    def cycles(self, device: Device, call: Call) -> CycleRules:
        """Return the rules: every class may occur."""
        return CycleRules({"compute": 1, "weight_wait": 0, "activation_wait": 0, "write_back": 0})

    def directed(self, device: Device) -> int:
        """Return the number of directed shapes."""
        return len(self._directed(device))

    def draw_directed(self, device: Device, number: int, rng: np.random.Generator) -> Draw:
        """Draw a directed shape, as `Source` asks."""
        return self._build(device, self._directed(device)[number], rng, Place(device, rng))

    def draw(self, device: Device, rng: np.random.Generator, place: Place, *, small: bool = False) -> Draw:
        """Draw a random shape."""
        p = device.parameters
        if small:
            chin = choice(rng, [32, 64, 65, 96, 128, 129, *numbers(rng, 200, 1)])
            chout = choice(rng, [8, 9, 32, 33, 64, *numbers(rng, 100, 1)])
            tokens = choice(rng, [1, 2, 3, 4])
            if place.program:
                chin = choice(rng, [chin, chin, 255, 256])
                chout = choice(rng, [chout, chout, chout, 255, 256])
        else:
            sizes = [1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 576, 2047, 2048, 2049, 4096, *numbers(rng, 700, 3)]
            chin = choice(rng, sizes)
            tout = p["Tout"]
            chout = choice(rng, [1, tout - 1, tout, tout + 1, 31, 32, 33, 64, 65, *numbers(rng, 200, 3)])
            tokens = choice(rng, [1, 1, 2, 3, 5, 17, 33, 40])
        kept = choice(rng, [0, *SPARSE]) if p["Sparse"] else 0
        tokens = min(tokens, p["MaxToken"], p["DatDepth"] * p["Tin"] // BEAT_CODES // row_words(chin, kept))
        flags = rng.integers(0, 2, 3)
        shape = _Shape(
            chin, max(1, chout), tokens, SPARSE_TBLK if kept else choice(rng, _TBLKS),
            relu=bool(flags[0]), mul=self.residual and bool(flags[1]), kept=kept,
            argmax=self.bn and bool(flags[2]), data=data_kind(rng, place), gap=choice(rng, [0, 0, 1, 3]),
            onchip=self._onchip(rng) if chin < 300 else (),
        )  # fmt: skip
        if place.program and self.bn and not shape.onchip and rng.random() < 0.2:
            shape = replace(shape, alias=str(rng.choice(["residual", "bn", "both"] if self.residual else ["bn"])))
        return self._build(device, shape, rng, place)

    def _onchip(self, rng: np.random.Generator) -> tuple[str, ...]:
        """Choose tensors for the on-chip memory, mostly none."""
        known = [o for o in _ONCHIP if self.residual or "second" not in o]
        return known[int(rng.integers(len(known)))] if rng.random() < 0.25 else ()

    def _directed(self, device: Device) -> list[_Shape]:
        p = device.parameters
        tin, tout, group = p["Tin"], p["Tout"], p["TgroupCh"]
        base = _Shape(96, tout + 1, 2, 128)
        shapes = [replace(base, chin=n) for n in (1, 31, 32, 33, tin - 1, tin, tin + 1, group - 1, group, group + 1)]
        for tblk in _TBLKS:
            shapes += [replace(base, tblk=tblk, chin=n) for n in (tblk - 1, tblk, tblk + 1, 2 * tblk + 1, group + tblk + 1)]
        shapes += [replace(base, chout=n) for n in (1, tout - 1, tout, tout + 1, 31, 32, 33, 3 * 32 - 1, 3 * 32, 3 * 32 + 1)]
        shapes += [replace(base, tokens=n) for n in (1, 2, 3, 4, 31, 32, 33)]
        deepest = tin * p["WtDepth"]
        most = min(p["MaxToken"], p["DatDepth"])
        shapes += [
            replace(base, chin=deepest, chout=tout + 1, tokens=min(2, p["DatDepth"] // p["WtDepth"]), tblk=t) for t in (32, 128)
        ]
        shapes += [
            replace(base, chin=tin * (p["DatDepth"] // most), chout=3, tokens=most),
            replace(base, chin=1, tokens=most, chout=1, data="special"),
            replace(base, chin=deepest, chout=2, tokens=p["DatDepth"] // p["WtDepth"]),
        ]
        modes = [(r, m, a) for r in (False, True) for m in (False, True) for a in (False, True)]
        for relu, mul, argmax in modes:
            if (mul and not self.residual) or (argmax and not self.bn):
                continue
            for data in DATA_KINDS:
                shapes.append(replace(base, relu=relu, mul=mul, argmax=argmax, data=data, chin=130, chout=tout + 3, tblk=32))
            shapes.append(replace(base, relu=relu, mul=mul, argmax=argmax, gap=2, chin=192, chout=65, tokens=17, tblk=64))
        shapes += [replace(base, slices=n, chout=n * tout - r, tblk=32) for n, r in ((2, 0), (2, 1), (3, tout - 1))]
        shapes += [replace(base, chin=64, chout=64, end=e) for e in ("ddr", "hbm")]
        onchip = [o for o in _ONCHIP if self.residual or "second" not in o]
        shapes += [
            replace(base, chin=70, chout=n, tokens=w, gap=g, onchip=o) for o in onchip for n, w, g in ((40, 3, 0), (64, 1, 2))
        ]
        for kept in SPARSE if p["Sparse"] else ():
            sparse, fills, step = replace(base, kept=kept), covered(kept), step_inputs(kept)
            shapes += [replace(sparse, chin=n) for n in (1, 7, 8, 9, 129, step - 1, step, step + 1)]
            shapes += [replace(sparse, chin=n * fills + 1) for n in (1, 2, 3, 4, 5)]
            shapes += [replace(sparse, chin=n, tokens=t) for n in (group - 1, group, group + 129) for t in (1, 2)]
            shapes += [replace(sparse, chin=700, data=d, tokens=3) for d in DATA_KINDS]
            shapes += [
                replace(sparse, chin=deepest, chout=tout + 1, tokens=min(2, p["DatDepth"] // p["WtDepth"])),
                replace(sparse, chin=step, chout=3, tokens=min(p["MaxToken"], p["DatDepth"] * p["Tin"] // step)),
            ]
        aliases = (("residual",) if self.residual else ()) + (("bn",) if self.bn else ()) + (("both",) if self.residual else ())
        shapes += [replace(base, chin=64, chout=64, tokens=4, alias=a, data=d) for a in aliases for d in ("plain", "special")]
        return shapes + [replace(base, chin=sum_inputs(k, t), chout=64, tblk=t, data=k) for k in SUMS for t in _TBLKS]

    def _build(self, device: Device, s: _Shape, rng: np.random.Generator, place: Place, at: int | None = None) -> Draw:
        """Build a draw. at: on-chip offset of the output; None: the second half."""
        blocks: list[Write] = []
        before: list[Call] = []
        half = device.parameters["OnchipDepth"] * PIXEL_BYTES
        other = "scale" if s.data in SUMS else s.data  # data of what is no factor of the sums
        in_surfaces, out_surfaces = ceil_div(s.chin, PIXEL_LANES), ceil_div(s.chout, PIXEL_LANES)
        rows = s.tokens + s.gap
        read: list[tuple[int, int]] = []

        def fill(space: str, at: int, data: np.ndarray, bank: int = 0) -> None:
            blocks.append(Write(space, at, data.reshape(-1).view(np.uint8), bank))

        def source(size: int, kind: str) -> int:
            at, fresh = place.source("ddr", size)
            if fresh:
                fill("ddr", at, halves(rng, size // 2, kind))
            read.append((at, at + size))
            return at

        def features() -> int:
            size = in_surfaces * rows * PIXEL_BYTES
            if s.data not in SUMS:
                return source(size, s.data)
            at = place.take("ddr", size)
            fill("ddr", at, sum_features(rng, s.data, in_surfaces, rows, s.tblk))
            read.append((at, at + size))
            return at

        if s.end == "ddr":
            place = _AtEnd(device, rng)

        def prepared(channels: int, offset: int) -> int:
            """Add a plain product that leaves a tensor on chip."""
            plain = _Shape(64, channels, s.tokens, 128, data=s.data, gap=s.gap, onchip=("out",))
            draw = MvmSource("mvm")._build(device, plain, rng, place, offset)
            blocks.extend(draw.blocks)
            before.append(draw.call)
            return offset

        chip_in, chip_out, chip_second = (name in s.onchip for name in ("in", "out", "second"))
        known = within_half(place, in_surfaces * rows * PIXEL_BYTES, half) if chip_in else None
        if known is not None:
            x = known
        else:
            x = prepared(s.chin, 0) if chip_in else features()
        bn = residual = None
        if self.bn:
            bn = x if s.alias in {"bn", "both"} else source(bn_bytes(s.chout), "plain" if s.data == "huge" else other)
        if self.residual:
            if chip_second:
                residual = within_half(place, out_surfaces * rows * PIXEL_BYTES, half)
                if residual is None:
                    residual = prepared(s.chout, in_surfaces * rows * PIXEL_BYTES)
            else:
                residual = x if s.alias in {"residual", "both"} else source(out_surfaces * rows * PIXEL_BYTES, other)
        size = out_surfaces * rows * PIXEL_BYTES
        if chip_out and at is None and known is not None and known >= half:
            at = 0  # the other half
        y, fresh = (half if at is None else at, False) if chip_out else place.target("ddr", size, read)
        if fresh:
            fill("ddr", y, rng.integers(0, 256, size, dtype=np.uint8))
        if not chip_out:
            read.append((y, y + size))
        argmax = place.target("ddr", 4 * s.tokens, read)[0] if s.argmax else None
        weights = self._weights(device, s, rng, place, blocks)
        o = MvmFields(
            chin=s.chin, chout=s.chout, tokens=s.tokens, tblk=s.tblk, input=x, weights=weights, output=y,
            in_surface=rows * PIXEL_BYTES, in_line=int(rng.integers(0, 64)) * 64, out_surface=rows * PIXEL_BYTES,
            out_line=int(rng.integers(0, 64)) * 64, bn=bn, residual=residual, argmax=argmax, relu=s.relu, mul=s.mul,
            onchip=ONCHIP_IN * chip_in | ONCHIP_OUT * chip_out | ONCHIP_SECOND * chip_second, kept=s.kept,
        )  # fmt: skip
        fields = o.encode(device)
        if s.slices > 1:
            tout = device.parameters["Tout"]
            fields |= {"mvm_splits_m1": s.slices - 1, "mvm_chout_slice": tout, "mvm_chout_last": s.chout - (s.slices - 1) * tout}
            if argmax is None:
                fields["mvm_argmax_addr"] = s.slices - 1
        return Draw(Call(self.instruction, fields), tuple(blocks), self._classes(device, s), tuple(before))

    def _weights(self, device: Device, s: _Shape, rng: np.random.Generator, place: Place, blocks: list[Write]) -> int:
        """Place weights in every port: scales of the data's kind, random codes, noise in the padding."""
        p = device.parameters
        size, channels = channel_bytes(device, s.chin, s.tblk, s.kept), ceil_div(s.chout, p["Tout"])
        if s.end == "hbm":
            at, fresh = min(device.memory["hbm"], 1 << p["Log2BankStep"]) - size * channels, True
        else:
            at, fresh = place.source("hbm", size * channels, BEAT_BYTES)
        for port in range(p["HbmPorts"] if fresh else 0):
            bank = rng.integers(0, 256, (channels, size), dtype=np.uint8)
            start = 0
            for first in range(0, s.chin, p["TgroupCh"]):
                n = min(p["TgroupCh"], s.chin - first)
                scales = ceil_div(ceil_div(n, s.tblk), 16) * BEAT_BYTES
                kind = s.data if s.data in {"special", "tiny"} else "scale" if place.program else "plain"
                bank[:, start : start + scales] = halves(rng, channels * scales // 2, kind).view(np.uint8).reshape(channels, scales)
                codes = BEAT_BYTES * sum(code_beats(n, s.kept))
                if s.data in SUMS:
                    of_groups = bank[:, start : start + scales].view(np.uint16)
                    set_sum_weights(rng, s.data, bank[:, start + scales : start + scales + codes], of_groups, s.tblk)
                start += scales + codes
            blocks.append(Write("hbm", at, bank.reshape(-1), port))
        return at

    def _classes(self, device: Device, s: _Shape) -> dict[str, str]:
        p = device.parameters
        return {
            "inputs": size_class(
                s.chin, {p["TgroupCh"]: "a weight group", p["Tin"]: "Tin", 32: "a pixel"}, p["Tin"] * p["WtDepth"]
            ),
            "outputs": size_class(s.chout, {p["Tout"]: "Tout", 32: "a pixel"}, 0),
            "tokens": size_class(s.tokens, {32: "a chunk"}, min(p["MaxToken"], p["DatDepth"])),
            "block": str(s.tblk),
            "flags": "+".join(n for n in ("relu", "mul", "argmax") if getattr(s, n)) or "none",
            "data": s.data,
            "strides": "gaps" if s.gap else "touching",
            "aliasing": s.alias or "none",
            "on chip": "+".join(s.onchip) or "none",
            "slices": "several" if s.slices > 1 else "one",
            **({"kept of 8": str(s.kept or "all")} if p["Sparse"] else {}),
        }


class _AtEnd(Place):
    """Places operands from the end of DDR downwards."""

    def __init__(self, device: Device, rng: np.random.Generator) -> None:
        super().__init__(device, rng)
        self._end = device.memory["ddr"]

    def take(self, space: str, size: int, align: int = 64) -> int:
        """Return the offset of the range directly below the last one."""
        if space != "ddr":
            return super().take(space, size, align)
        if size > self._end:
            raise NoRoomError(f"a range of {size:,} bytes below {self._end:#x} of 'ddr'", where=self._device.name)
        self._end = (self._end - size) // align * align
        return self._end
