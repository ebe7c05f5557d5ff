"""A transformer block as a stream of HBM0923 instructions, written by hand: seventeen instructions and their memory images.

Weights are random and seeded, drawn as the device stores them (INT4 codes, FP16 scales): the block is there to be
simulated, and its meaning is checked against `reference.py` in float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from shapes import Shape

from fleet.isa.contract import Call, Device, Memory
from fleet.isa.hbm0923.act_tables import act_table
from fleet.isa.hbm0923.float32 import fp20_word
from fleet.isa.hbm0923.layout import FeatureLayout
from fleet.isa.hbm0923.operands import PIXEL_BYTES, PIXEL_LANES, Operands, ceil_div
from fleet.isa.hbm0923.tables import pack_act, pack_norm
from fleet.isa.hbm0923.weights import pack_bn, pack_weights

_STD_CODE = float(np.sqrt(np.mean(np.arange(-7, 8) ** 2)))


@dataclass
class Block:
    """What runs: calls, what memory holds before, where the result stands.

    Attributes:
        calls: in program order; `ops` of each is the name of the step ("wq").
        ddr, hbm: (offset, bytes) and (port, offset, bytes) to be placed.
        weights: name -> (codes int8 [in, out], scales float16 [groups, out]).
        arrays: everything else that the reference needs, by name.
        output: DDR offset of the result, [tokens, channels].
    """

    shape: Shape
    tokens: int
    last: int
    calls: list[Call] = field(default_factory=list)
    ddr: list[tuple[int, np.ndarray]] = field(default_factory=list)
    hbm: list[tuple[int, int, np.ndarray]] = field(default_factory=list)
    weights: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    output: int = 0
    ddr_end: int = 0

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


def build(shape: Shape, device: Device, *, tokens: int, last: int = 0, seed: int = 0, onchip: bool = False) -> Block:
    """The stream for `tokens` new tokens behind `last` cached ones.

    Args:
        shape: of the block.
        device: of the HBM0923 family, with the memory that the weights need.
        tokens, last: tokens of this step, tokens already in the KV cache (random there).
        seed: of weights, activations and cache.
        onchip: short-lived activations stand in the on-chip memory, input and output in different halves.
    """
    return _Builder(shape, device, tokens, last, seed, onchip).run()


class _Builder:
    def __init__(self, shape: Shape, device: Device, tokens: int, last: int, seed: int, onchip: bool) -> None:
        self.shape, self.device, self.tokens, self.last = shape, device, tokens, last
        self.rng = np.random.default_rng(seed)
        self.block = Block(shape, tokens, last)
        self.ddr_at = self.hbm_at = 0
        self.onchip = onchip
        self.row = tokens * PIXEL_BYTES
        self.half = device.parameters.get("OnchipDepth", 0) * PIXEL_BYTES

    # ---- memory

    def ddr(self, size: int) -> int:
        """Room in DDR, on a page."""
        at = self.ddr_at
        self.ddr_at += ceil_div(size, 4096) * 4096
        return at

    def put(self, data: np.ndarray) -> int:
        """Constant bytes in DDR."""
        at = self.ddr(data.size)
        self.block.ddr.append((at, data))
        return at

    def feature(self, channels: int, heads: int = 1) -> int:
        """Room for `heads` lines of `channels`."""
        return self.ddr(heads * ceil_div(channels, PIXEL_LANES) * self.row)

    def short(self, channels: int, half: int) -> tuple[int, bool]:
        """Room for a short-lived activation: on chip where wanted and where it fits."""
        if self.onchip and ceil_div(channels, PIXEL_LANES) * self.row <= self.half:
            return half * self.half, True
        return self.feature(channels), False

    def matrix(self, name: str, inputs: int, outputs: int) -> int:
        """A weight matrix in HBM; products of unit inputs have unit variance."""
        group = self.shape.tblk
        codes = self.rng.integers(-7, 8, (inputs, outputs)).astype(np.int8)
        scale = 1 / (_STD_CODE * np.sqrt(inputs))
        scales = (scale * self.rng.uniform(0.7, 1.3, (ceil_div(inputs, group), outputs))).astype(np.float16)
        self.block.weights[name] = codes, scales
        ports = pack_weights(self.device, codes, scales, group)
        at = self.hbm_room(ports[0].size)
        self.block.hbm += [(port, at, data) for port, data in enumerate(ports)]
        return at

    def hbm_room(self, size: int) -> int:
        """Room at the same offset of every port."""
        at = self.hbm_at
        self.hbm_at += ceil_div(size, 4096) * 4096
        return at

    # ---- instructions

    def emit(self, instruction: str, name: str, fields: Mapping[str, int]) -> None:
        self.block.calls.append(Call(instruction, dict(fields), ops=(name,)))

    def sfu(self, instruction: str, name: str, start: int, fields: Mapping[str, int]) -> None:
        self.emit(instruction, name, {f"{instruction}_{key}": value for key, value in fields.items()} | {"sfu_start": start})

    def mvm(
        self, name: str, source: tuple[int, bool], inputs: int, outputs: int, to: tuple[int, bool], *,
        residual: tuple[int, bool] | None = None, mul: bool = False,
    ) -> None:  # fmt: skip
        """A linear layer with batch norm words: weight 1 and a small bias, so that every path of the epilogue counts."""
        bias = (0.1 * self.rng.normal(size=outputs)).astype(np.float16)
        self.block.arrays[f"{name}.bias"] = bias
        operands = Operands(
            chin=inputs, chout=outputs, tokens=self.tokens, tblk=self.shape.tblk, input=source[0],
            weights=self.matrix(name, inputs, outputs), output=to[0], in_surface=self.row, in_line=self.row,
            out_surface=self.row, out_line=self.row, bn=self.put(pack_bn(np.ones(outputs, np.float16), bias)),
            residual=None if residual is None else residual[0], mul=mul,
        )  # fmt: skip
        fields = operands.encode(self.device)
        fields["mvm_onchip"] = source[1] + 2 * to[1] + 4 * (residual is not None and residual[1])
        self.emit("mvm_bn" if residual is None else "mvm_bn_res", name, fields)

    def norm(self, name: str, source: int, to: tuple[int, bool]) -> None:
        """RMS norm over all channels."""
        channels = self.shape.channels
        gamma = self.rng.uniform(0.5, 1.5, channels).astype(np.float16)
        self.block.arrays[f"{name}.gamma"] = gamma
        surfaces = channels // PIXEL_LANES
        self.sfu("norm", name, 0x20, {
            "wt_addr": self.put(pack_norm(gamma)),
            "in_addr": source, "in_surface": self.row, "in_line": self.row,
            "out_addr": to[0], "out_surface": self.row, "out_line": self.row,
            "surfaces": surfaces, "hin": 1, "win": self.tokens, "pixels": self.tokens,
            "recip_channels": fp20_word(Fraction(1, channels)), "burst_m1": surfaces - 1, "layer": 0, "onchip": 2 * to[1],
        })  # fmt: skip

    def rotate(self, name: str, source: int, to: int, heads: int, table: int, table_surface: int) -> None:
        groups = self.shape.head // PIXEL_LANES
        self.sfu("pos_emb", name, 0x04, {
            "table_addr": table + self.last * PIXEL_BYTES,
            "in_addr": source, "in_head": groups * self.row, "in_surface": self.row,
            "out_addr": to, "out_surface": self.row, "out_head": groups * self.row,
            "surfaces": groups, "tokens": self.tokens, "last": self.last, "heads": heads,
            "table_head": 0, "table_surface": table_surface, "zero207": 0, "onchip": 0,
        })  # fmt: skip

    def cache(self, name: str, source: int, at: int, head: int, line: int, *, key: bool) -> None:
        groups = self.shape.head // PIXEL_LANES
        self.sfu("dat2hbm", name, 0x40, {
            "zero194": 0, "in_addr": source, "in_surface": self.row, "in_line": groups * self.row,
            "out_addr": at, "wt_head": head, "wt_line": line, "bank_step": self.device.parameters["Log2BankStep"],
            "last": self.last, "tokens": self.tokens, "heads": self.shape.kv_heads, "surfaces": groups, "trp": int(key),
            "zero207": 0, "zero208": 0,
        })  # fmt: skip

    def attend(self, instruction: str, name: str, start: int, fields: Mapping[str, int], scale: float) -> None:
        s, step = self.shape, self.device.parameters["Log2BankStep"]
        word = (step << 20) + fp20_word(Fraction(scale)) if self.device.parameters.get("ScaleFp20") else (step << 16) + _bits(scale)
        self.sfu(instruction, name, start, {
            **fields, "total": self.last + self.tokens, "tokens": self.tokens, "scale": word,
            "heads": ((s.heads // s.kv_heads - 1) << 16) + (s.heads << 8) + s.kv_heads, "onchip": 0,
        })  # fmt: skip

    # ---- the block

    def run(self) -> Block:
        s, b, row = self.shape, self.block, self.row
        groups, total = s.head // PIXEL_LANES, self.last + self.tokens
        positions = ceil_div(total, PIXEL_LANES)
        x = self.rng.normal(size=(self.tokens, s.channels)).astype(np.float16)
        b.arrays["x"] = x
        residual = self.put(FeatureLayout().pack(x))
        table, table_surface = self.table()
        k_at, k_head, k_line, v_at, v_head, v_line = self.kv_cache()

        normed = self.short(s.channels, 0)
        self.norm("norm1", residual, normed)
        q, k, v = self.feature(s.query), self.feature(s.key), self.feature(s.key)
        q_rotated, k_rotated = self.feature(s.query), self.feature(s.key)
        self.mvm("wq", normed, s.channels, s.query, (q, False))
        self.rotate("rope_q", q, q_rotated, s.heads, table, table_surface)
        self.mvm("wk", normed, s.channels, s.key, (k, False))
        self.rotate("rope_k", k, k_rotated, s.kv_heads, table, table_surface)
        self.cache("cache_k", k_rotated, k_at, k_head, k_line, key=True)
        self.mvm("wv", normed, s.channels, s.key, (v, False))
        self.cache("cache_v", v, v_at, v_head, v_line, key=False)

        scores, probabilities = self.feature(total, s.heads), self.feature(total, s.heads)
        line = positions * row
        self.attend("trp_mvm", "scores", 0x02, {
            "wt_addr": k_at, "in_addr": q_rotated, "in_surface": row, "in_line": groups * row,
            "out_addr": scores, "out_surface": row, "out_line": line, "wt_head": k_head, "wt_line": k_line, "chin": s.head,
        }, 1 / np.sqrt(s.head))  # fmt: skip
        self.sfu("softmax", "softmax", 0x08, {
            "mask": int(self.tokens > 1), "in_addr": scores, "in_surface": row, "in_line": line,
            "out_addr": probabilities, "out_surface": row, "out_line": line, "surfaces": positions, "heads": s.heads,
            "chin": total, "tokens": self.tokens, "win": self.tokens, "last": self.last, "zero207": 0, "onchip": 0,
        })  # fmt: skip
        mixed = self.feature(s.query)
        self.attend("f2w_mvm", "mix", 0x01, {
            "wt_addr": v_at, "in_addr": probabilities, "in_surface": row, "in_line": line,
            "out_addr": mixed, "out_surface": row, "out_line": groups * row, "wt_head": v_head, "wt_line": v_line, "chout": s.head,
        }, 1.0)  # fmt: skip
        middle = self.feature(s.channels)
        self.mvm("wo", (mixed, False), s.query, s.channels, (middle, False), residual=(residual, False))

        normed = self.short(s.channels, 0)
        self.norm("norm2", middle, normed)
        gate = self.feature(s.ffn)
        self.mvm("gate", normed, s.channels, s.ffn, (gate, False))
        activated = self.short(s.ffn, 1)
        self.activate("silu", gate, activated)
        # The second half is free again when the gate has been multiplied in: the product goes to DDR.
        product = self.feature(s.ffn)
        self.mvm("up", normed, s.channels, s.ffn, (product, False), residual=activated, mul=True)
        b.output = self.feature(s.channels)
        self.mvm("down", (product, False), s.ffn, s.channels, (b.output, False), residual=(middle, False))
        b.ddr_end = self.ddr_at
        return b

    def activate(self, name: str, source: int, to: tuple[int, bool]) -> None:
        """SiLU by the fitted table of 16 segments."""
        surfaces = ceil_div(self.shape.ffn, PIXEL_LANES)
        self.sfu("act", name, 0x10, {
            "table_addr": self.put(pack_act(act_table("silu"))),
            "in_addr": source, "in_surface": self.row, "in_line": self.row,
            "out_addr": to[0], "out_surface": self.row, "out_line": self.row,
            "surfaces": surfaces, "hin": 1, "win": self.tokens, "pixels": self.tokens, "surfaces_dup": surfaces,
            "chout": self.shape.ffn, "zero207": 0, "onchip": 2 * to[1],
        })  # fmt: skip

    def table(self) -> tuple[int, int]:
        """Cosines and sines of every position, (1, 0) where a channel is not rotated: [head / 32, positions, 32]."""
        s, positions = self.shape, self.last + self.tokens
        pairs = np.arange(s.head // 2)
        frequency = np.where(2 * pairs < s.rotary, 10000.0 ** (-2 * pairs / s.rotary), 0.0)
        angle = np.arange(positions)[:, None] * frequency
        rows = np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(positions, s.head).astype(np.float16)
        self.block.arrays["table"] = rows
        return self.put(FeatureLayout().pack(rows)), positions * PIXEL_BYTES

    def kv_cache(self) -> tuple[int, int, int, int, int, int]:
        """Room for MaxToken positions; the first `last` are random, what follows is garbage that must not count."""
        s, ports, most = self.shape, self.device.parameters["HbmPorts"], self.device.parameters["MaxToken"]
        k_line, v_line = 2 * s.head, 2 * most
        k_head, v_head = ceil_div(most, ports) * k_line, ceil_div(s.head, ports) * v_line
        k_at, v_at = self.hbm_room(s.kv_heads * k_head), self.hbm_room(s.kv_heads * v_head)
        k, v = self.rng.normal(size=(2, s.kv_heads, most, s.head)).astype(np.float16)
        k[:, self.last :], v[:, self.last :] = np.nan, np.nan
        self.block.arrays |= {"k": k, "v": v}
        for port in range(ports):
            mine = np.ascontiguousarray(k[:, port::ports])  # token t is number t / ports of port t % ports
            self.block.hbm.append((port, k_at, mine.reshape(-1).view(np.uint8)))
            mine = np.ascontiguousarray(v[:, :, port::ports].transpose(0, 2, 1))
            self.block.hbm.append((port, v_at, mine.reshape(-1).view(np.uint8)))
        return k_at, k_head, k_line, v_at, v_head, v_line


def _bits(value: float) -> int:
    return int(np.float16(value).view(np.uint16))
