"""Instructions and memory of a hand-written stream: room for tensors, weights as the device stores them, a method each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from shapes import Shape

from fleet.sdk import Call, Device, Memory
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, MvmFields, ceil_div
from fleet.sets.hbm0923.numerics.act_tables import act_table
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.tables import pack_act, pack_norm
from fleet.sets.hbm0923.units.elementwise import ElementwiseTensors
from fleet.sets.hbm0923.units.feature import groups_of
from fleet.sets.hbm0923.weights import pack_bn, pack_weights

__all__ = ["Block", "Cache", "Emitter", "Tensor"]

_STD_CODE = float(np.sqrt(np.mean(np.arange(-7, 8) ** 2)))
ON_CHIP_IN, ON_CHIP_OUT, ON_CHIP_SECOND = 1, 2, 4


@dataclass(frozen=True)
class Tensor:
    """Where an activation stands: surfaces of 32 channels, `row` bytes each (a pixel of 64 bytes a token).

    Attributes:
        at: offset in its memory. onchip: which memory.
    """

    at: int
    onchip: bool = False


@dataclass(frozen=True)
class Cache:
    """Keys and values of one block in HBM: offsets, strides of a head and of a line."""

    k: int
    k_head: int
    k_line: int
    v: int
    v_head: int
    v_line: int


@dataclass
class Block:
    """What runs: calls, what memory holds before, where the result stands.

    Attributes:
        layers: blocks, one after the other.
        calls: in program order; `ops` of each is the name of the step ("wq").
        ddr, hbm: (offset, bytes) and (port, offset, bytes) to be placed.
        weights: "layer.name" -> (codes int8 [in, out], scales float16 [groups, out]).
        arrays: everything else that the reference needs, by name ("layer.name" where blocks have their own).
        output: DDR offset of the result, [tokens, channels].
        vocabulary: 0, or the words that a last norm and product with argmax choose from.
    """

    shape: Shape
    tokens: int
    last: int
    layers: int = 1
    calls: list[Call] = field(default_factory=list[Call])
    ddr: list[tuple[int, np.ndarray]] = field(default_factory=list[tuple[int, np.ndarray]])
    hbm: list[tuple[int, int, np.ndarray]] = field(default_factory=list[tuple[int, int, np.ndarray]])
    weights: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict[str, tuple[np.ndarray, np.ndarray]])
    arrays: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    output: int = 0
    ddr_end: int = 0
    vocabulary: int = 0

    def place(self, memory: Memory) -> None:
        """Writes the images."""
        for offset, data in self.ddr:
            memory.view("ddr", offset, data.size)[:] = data
        for port, offset, data in self.hbm:
            memory.view("hbm", offset, data.size, port)[:] = data

    def result(self, memory: Memory) -> np.ndarray:
        """[tokens, channels] float16 after the run."""
        shape, dtype = (self.tokens, self.shape.channels), np.dtype(np.float16)
        size = FeatureLayout().size(shape, dtype)
        return FeatureLayout().unpack(np.asarray(memory.view("ddr", self.output, size)), shape, dtype)


class Emitter:
    """Fills a `Block`."""

    def __init__(self, shape: Shape, device: Device, block: Block, seed: int) -> None:
        """Args:
        shape, block: what is built. device: of the HBM0923 family, with the memory that the weights need.
        seed: of weights, activations and cache.
        """
        self.shape, self.device, self.block = shape, device, block
        self.tokens, self.last = block.tokens, block.last
        self.rng = np.random.default_rng(seed)
        self.row = self.tokens * PIXEL_BYTES
        self.half = device.parameters.get("OnchipDepth", 0) * PIXEL_BYTES
        self.layer = 0
        self._ddr_at = self._hbm_at = 0

    # ---- memory

    @property
    def groups(self) -> int:
        """Surfaces of a head."""
        return self.shape.head // PIXEL_LANES

    def ddr(self, size: int) -> int:
        """Room in DDR, on a page."""
        at = self._ddr_at
        self._ddr_at += ceil_div(size, 4096) * 4096
        self.block.ddr_end = self._ddr_at
        return at

    def put(self, data: np.ndarray) -> int:
        """Constant bytes in DDR."""
        at = self.ddr(data.size)
        self.block.ddr.append((at, data))
        return at

    def feature(self, channels: int, heads: int = 1) -> Tensor:
        """Room in DDR for `heads` lines of `channels`."""
        return Tensor(self.ddr(self.bytes(channels, heads)))

    def bytes(self, channels: int, heads: int = 1) -> int:
        """Of `heads` lines of `channels`."""
        return heads * ceil_div(channels, PIXEL_LANES) * self.row

    def part(self, tensor: Tensor, channel: int) -> Tensor:
        """The same tensor from a channel on (a multiple of 32)."""
        return Tensor(tensor.at + channel // PIXEL_LANES * self.row, tensor.onchip)

    def hbm_room(self, size: int) -> int:
        """Room at the same offset of every port."""
        at = self._hbm_at
        self._hbm_at += ceil_div(size, 4096) * 4096
        return at

    def matrix(self, name: str, inputs: int, outputs: int) -> int:
        """A weight matrix in HBM; products of unit inputs have unit variance."""
        group = self.shape.tblk
        codes = self.rng.integers(-7, 8, (inputs, outputs), np.int8)
        scale = 1 / (_STD_CODE * np.sqrt(inputs))
        scales = (scale * self.rng.uniform(0.7, 1.3, (ceil_div(inputs, group), outputs))).astype(np.float16)
        self.block.weights[name] = codes, scales
        ports = pack_weights(self.device, codes, scales, group)
        at = self.hbm_room(ports[0].size)
        self.block.hbm += [(port, at, data) for port, data in enumerate(ports)]
        return at

    def named(self, name: str) -> str:
        """Of this block."""
        return f"{self.layer}.{name}"

    def cache(self) -> Cache:
        """Room for MaxToken positions; the first `last` are random, what follows is garbage that must not count."""
        s, ports, most = self.shape, self.device.parameters["HbmPorts"], self.device.parameters["MaxToken"]
        k_line, v_line = 2 * s.head, 2 * most
        k_head, v_head = ceil_div(most, ports) * k_line, ceil_div(s.head, ports) * v_line
        k_at, v_at = self.hbm_room(s.kv_heads * k_head), self.hbm_room(s.kv_heads * v_head)
        k, v = self.rng.normal(size=(2, s.kv_heads, most, s.head)).astype(np.float16)
        k[:, self.last :], v[:, self.last :] = np.nan, np.nan
        self.block.arrays |= {self.named("k"): k, self.named("v"): v}
        for port in range(ports):
            mine = np.ascontiguousarray(k[:, port::ports])  # token t is number t / ports of port t % ports
            self.block.hbm.append((port, k_at, mine.reshape(-1).view(np.uint8)))
            mine = np.ascontiguousarray(v[:, :, port::ports].transpose(0, 2, 1))
            self.block.hbm.append((port, v_at, mine.reshape(-1).view(np.uint8)))
        return Cache(k_at, k_head, k_line, v_at, v_head, v_line)

    def table(self) -> tuple[int, int]:
        """Cosines and sines of every position, (1, 0) where a channel is not rotated: [head / 32, positions, 32]."""
        s, positions = self.shape, self.last + self.tokens
        pairs = np.arange(s.head // 2)
        frequency = np.where(2 * pairs < s.rotary, 10000.0 ** (-2 * pairs / s.rotary), 0.0)
        angle = np.arange(positions)[:, None] * frequency
        rows = np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(positions, s.head).astype(np.float16)
        self.block.arrays["table"] = rows
        return self.put(FeatureLayout().pack(rows)), positions * PIXEL_BYTES

    # ---- instructions

    def emit(self, instruction: str, name: str, fields: Mapping[str, int]) -> None:
        """One instruction; `name` says which step of a block it is."""
        self.block.calls.append(Call(instruction, dict(fields), ops=(name,)))

    def _sfu(self, instruction: str, name: str, start: int, fields: Mapping[str, int]) -> None:
        self.emit(instruction, name, {f"{instruction}_{key}": value for key, value in fields.items()} | {"sfu_start": start})

    def mvm(
        self, name: str, source: Tensor, inputs: int, outputs: int, to: Tensor, *,
        residual: Tensor | None = None, mul: bool = False, argmax: int | None = None,
    ) -> None:  # fmt: skip
        """A linear layer, with batch norm words (weight 1) where the shape has a bias; a residual and argmax need them too."""
        bn = None
        if self.shape.bias or residual is not None or argmax is not None:
            bias = (0.1 * self.shape.bias * self.rng.normal(size=outputs)).astype(np.float16)
            self.block.arrays[f"{self.named(name)}.bias"] = bias
            bn = self.put(pack_bn(np.ones(outputs, np.float16), bias))
        operands = MvmFields(
            chin=inputs, chout=outputs, tokens=self.tokens, tblk=self.shape.tblk, input=source.at,
            weights=self.matrix(self.named(name), inputs, outputs), output=to.at, in_surface=self.row, in_line=self.row,
            out_surface=self.row, out_line=self.row, bn=bn, residual=None if residual is None else residual.at, mul=mul,
            argmax=argmax,
        )  # fmt: skip
        fields = operands.encode(self.device)
        second = residual is not None and residual.onchip
        fields["mvm_onchip"] = ON_CHIP_IN * source.onchip + ON_CHIP_OUT * to.onchip + ON_CHIP_SECOND * second
        self.emit("mvm" if bn is None else "mvm_bn" if residual is None else "mvm_bn_res", name, fields)

    def norm(self, name: str, source: Tensor, to: Tensor) -> None:
        """RMS norm over all channels."""
        channels = self.shape.channels
        gamma = self.rng.uniform(0.5, 1.5, channels).astype(np.float16)
        self.block.arrays[f"{self.named(name)}.gamma"] = gamma
        surfaces = channels // PIXEL_LANES
        self._sfu("norm", name, 0x20, {
            "wt_addr": self.put(pack_norm(gamma)),
            "in_addr": source.at, "in_surface": self.row, "in_line": self.row,
            "out_addr": to.at, "out_surface": self.row, "out_line": self.row,
            "surfaces": surfaces, "hin": 1, "win": self.tokens, "pixels": self.tokens,
            "recip_channels": fp20_word(Fraction(1, channels)), "burst_m1": surfaces - 1, "layer": 0,
            "onchip": ON_CHIP_IN * source.onchip + ON_CHIP_OUT * to.onchip,
        })  # fmt: skip

    def rotate(self, name: str, source: Tensor, to: Tensor, heads: int, table: tuple[int, int]) -> None:
        """Rotary embedding of `heads` heads that stand side by side."""
        line = self.groups * self.row
        self._sfu("pos_emb", name, 0x04, {
            "table_addr": table[0] + self.last * PIXEL_BYTES,
            "in_addr": source.at, "in_head": line, "in_surface": self.row,
            "out_addr": to.at, "out_surface": self.row, "out_head": line,
            "surfaces": self.groups, "tokens": self.tokens, "last": self.last, "heads": heads,
            "table_head": 0, "table_surface": table[1], "zero207": 0,
            "onchip": ON_CHIP_IN * source.onchip + ON_CHIP_OUT * to.onchip,
        })  # fmt: skip

    def store(self, name: str, source: Tensor, at: int, head: int, line: int, *, key: bool) -> None:
        """Keys or values to the cache; the source stands in DDR."""
        self._sfu("dat2hbm", name, 0x40, {
            "zero194": 0, "in_addr": source.at, "in_surface": self.row, "in_line": self.groups * self.row,
            "out_addr": at, "wt_head": head, "wt_line": line, "bank_step": self.device.parameters["Log2BankStep"],
            "last": self.last, "tokens": self.tokens, "heads": self.shape.kv_heads, "surfaces": self.groups, "trp": int(key),
            "zero207": 0, "zero208": 0,
        })  # fmt: skip

    def scores(self, source: Tensor, to: Tensor, cache: Cache) -> None:
        """Queries by keys, over sqrt(head)."""
        s = self.shape
        self._attend("trp_mvm", "scores", 0x02, source, to, (self.groups, self._positions), {
            "wt_addr": cache.k, "wt_head": cache.k_head, "wt_line": cache.k_line, "chin": s.head,
        }, 1 / np.sqrt(s.head))  # fmt: skip

    def mix(self, source: Tensor, to: Tensor, cache: Cache) -> None:
        """Probabilities by values."""
        self._attend("f2w_mvm", "mix", 0x01, source, to, (self._positions, self.groups), {
            "wt_addr": cache.v, "wt_head": cache.v_head, "wt_line": cache.v_line, "chout": self.shape.head,
        }, 1.0)  # fmt: skip

    @property
    def _positions(self) -> int:
        """Surfaces of a line of scores."""
        return ceil_div(self.last + self.tokens, PIXEL_LANES)

    def _attend(
        self, instruction: str, name: str, start: int, source: Tensor, to: Tensor, surfaces: tuple[int, int],
        fields: Mapping[str, int], scale: float,
    ) -> None:  # fmt: skip
        s, step, row = self.shape, self.device.parameters["Log2BankStep"], self.row
        word = (step << 20) + fp20_word(Fraction(scale)) if self.device.parameters.get("ScaleFp20") else (step << 16) + _bits(scale)
        self._sfu(instruction, name, start, {
            **fields, "total": self.last + self.tokens, "tokens": self.tokens, "scale": word,
            "in_addr": source.at, "in_surface": row, "in_line": surfaces[0] * row,
            "out_addr": to.at, "out_surface": row, "out_line": surfaces[1] * row,
            "heads": ((s.heads // s.kv_heads - 1) << 16) + (s.heads << 8) + s.kv_heads,
            "onchip": ON_CHIP_IN * source.onchip + ON_CHIP_OUT * to.onchip,
        })  # fmt: skip

    def softmax(self, source: Tensor, to: Tensor) -> None:
        """Of every head's scores, causal where there are several tokens."""
        line = self._positions * self.row
        total = self.last + self.tokens
        self._sfu("softmax", "softmax", 0x08, {
            "mask": int(self.tokens > 1), "in_addr": source.at, "in_surface": self.row, "in_line": line,
            "out_addr": to.at, "out_surface": self.row, "out_line": line, "surfaces": self._positions, "heads": self.shape.heads,
            "chin": total, "tokens": self.tokens, "win": self.tokens, "last": self.last, "zero207": 0,
            "onchip": ON_CHIP_IN * source.onchip + ON_CHIP_OUT * to.onchip,
        })  # fmt: skip

    def activate(self, name: str, source: Tensor, to: Tensor) -> None:
        """SiLU by the fitted table of 16 segments."""
        surfaces = ceil_div(self.shape.ffn, PIXEL_LANES)
        self._sfu("act", name, 0x10, {
            "table_addr": self.put(pack_act(act_table("silu"))),
            "in_addr": source.at, "in_surface": self.row, "in_line": self.row,
            "out_addr": to.at, "out_surface": self.row, "out_line": self.row,
            "surfaces": surfaces, "hin": 1, "win": self.tokens, "pixels": self.tokens, "surfaces_dup": surfaces,
            "chout": self.shape.ffn, "zero207": 0, "onchip": ON_CHIP_IN * source.onchip + ON_CHIP_OUT * to.onchip,
        })  # fmt: skip

    def multiply(self, name: str, a: Tensor, b: Tensor, channels: int, to: Tensor) -> None:
        """Product of two activations."""
        self.emit("elementwise", name, ElementwiseTensors(
            mode=ElementwiseMode.MUL, **groups_of(channels), lines=1, tokens=self.tokens, a_addr=a.at, b_addr=b.at,
            a_surface=self.row, a_line=self.row, out_addr=to.at, out_surface=self.row, out_line=self.row, a_onchip=a.onchip,
            b_onchip=b.onchip, out_onchip=to.onchip,
        ).encode())  # fmt: skip


def _bits(value: float) -> int:
    return int(np.float16(value).view(np.uint16))
