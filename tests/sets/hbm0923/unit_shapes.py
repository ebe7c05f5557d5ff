"""Instructions beside MVM by their sizes alone: for the cost model's test and for benchmarks/unit_cycles.py."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from operands_of import act, attention, dat2hbm, elementwise, encoded, norm, pos_emb, softmax

from fleet.sdk import Call, Device
from fleet.sets.hbm0923.mvm_operands import ceil_div
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.units.kv_cache import KvCache
from fleet.sets.hbm0923.units.wt2hbm import Wt2HbmOperands


class Shape(NamedTuple):
    """channels: of norm, act, elementwise; positions of softmax; of a head elsewhere; bytes of wt2hbm. lines: or heads.

    total: positions of attention, key/value heads in `kv`; of dat2hbm the first new one. mode: words of "layer", "causal", "own" (a
    table a head), "values", "gaps" (between rows of tokens), "in", "out" (on chip), "place".
    """

    instruction: str
    channels: int
    lines: int = 1
    tokens: int = 1
    total: int = 0
    kv: int = 1
    mode: str = ""


class _Places:
    """Tensors one after the other."""

    def __init__(self, device: Device, words: list[str]) -> None:
        self._next = {"ddr": 0, "onchip": 0}
        self._gap = 192 if "gaps" in words else 0
        self._half = 64 * device.parameters["OnchipDepth"]

    def take(self, size: int, space: str = "ddr") -> int:
        at = self._next[space]
        step = 4096 if space == "ddr" else self._half
        self._next[space] = at + ceil_div(size, step) * step
        return at

    def tensor(self, channels: int, lines: int, tokens: int, *, onchip: bool = False) -> tuple[int, int, int]:
        surface = tokens * 64 + self._gap
        line = surface * ceil_div(channels, 32)
        return self.take(line * lines, "onchip" if onchip else "ddr"), surface, line


def call(device: Device, s: Shape) -> Call:
    """The instruction, its tensors next to each other."""
    words = s.mode.split()
    at = _Places(device, words)
    chip_in, chip_out = "in" in words, "out" in words
    ports = device.parameters["HbmPorts"]
    if s.instruction == "wt2hbm":
        return Call("wt2hbm", Wt2HbmOperands.copy(at.take(s.channels), 0, s.channels, 1).encode())
    if s.instruction == "dat2hbm":
        keys = "values" not in words
        end = s.total + s.tokens
        cache = KvCache(0, 0, 0, s.lines, *((end, s.channels) if keys else (s.channels, end)))
        x = at.tensor(s.channels, s.lines, s.tokens)
        line = cache.line_bytes
        o = dat2hbm(keys, s.channels, s.lines, s.tokens, s.total, *x, 0, line * cache.lines(ports), line)
        return Call("dat2hbm", encoded(o, device))
    if s.instruction in {"trp_mvm", "f2w_mvm"}:
        scores = s.instruction == "trp_mvm"
        inputs, outputs = (s.channels, s.total) if scores else (s.total, s.channels)
        cache = KvCache(0, 0, 0, s.kv, outputs, inputs)
        line = cache.line_bytes + (32 if "gaps" in words else 0)
        x = at.tensor(inputs, s.lines, s.tokens, onchip=chip_in)
        y = at.tensor(outputs, s.lines, s.tokens, onchip=chip_out)
        o = attention(
            device, scores, s.channels, s.lines, s.kv, s.total, s.tokens, (0, line * cache.lines(ports), line), *x, *y,
            scale=0x3C00, in_onchip=chip_in, out_onchip=chip_out,
        )  # fmt: skip
        return Call(s.instruction, encoded(o, device))
    x = at.tensor(s.channels, s.lines, s.tokens, onchip=chip_in)
    if s.instruction == "elementwise":
        b = at.tensor(s.channels, s.lines, s.tokens)[0]
        y = x if "place" in words else at.tensor(s.channels, s.lines, s.tokens, onchip=chip_out)
        o = elementwise(
            0, s.channels, s.lines, s.tokens, x[0], b, x[1], x[2], *y, a_onchip=chip_in, out_onchip=chip_out
        )  # fmt: skip
        return Call("elementwise", encoded(o, device))
    side = at.take(4 * 32 * ceil_div(s.channels, 32))
    table = at.tensor(s.channels, s.lines, s.tokens)
    y = x if "place" in words else at.tensor(s.channels, s.lines, s.tokens, onchip=chip_out)
    on = {"in_onchip": chip_in, "out_onchip": chip_out}
    if s.instruction == "norm":
        o = norm(
            s.channels, s.lines, s.tokens, side, *x, *y, recip=fp20_word(Fraction(1, s.channels)), layer="layer" in words, **on
        )
    elif s.instruction == "softmax":
        o = softmax(s.lines, s.tokens, s.channels - s.tokens, "causal" in words, *x, *y, **on)
    elif s.instruction == "act":
        o = act(s.channels, s.lines, s.tokens, side, *x, *y, **on)
    else:
        head = table[2] if "own" in words else 0
        o = pos_emb(s.channels, s.lines, s.tokens, 0, (table[0], table[1], head), *x, *y, **on)
    return Call(s.instruction, encoded(o, device))
