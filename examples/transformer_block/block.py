"""Transformer blocks as a stream of HBM0923 instructions, written by hand: their order, and where every tensor stands.

Weights are random and seeded, drawn as the device stores them (INT4 codes, FP16 scales): the blocks are there to be
simulated, and their meaning is checked against `reference.py` in float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from emitter import Block, Emitter, Tensor
from shapes import Shape

from fleet.sdk import Device
from fleet.sets.hbm0923.layout import FeatureLayout

__all__ = ["PLAIN", "SHORTEST", "Block", "Order", "build"]


@dataclass(frozen=True)
class Order:
    """Which instructions a block is made of, and where short-lived activations stand.

    Attributes:
        fuse_qkv: queries, keys and values are one product, of whose result the others are parts.
        join_rope: query and key heads are rotated by one instruction (they stand side by side in that result).
        fuse_gate: gate and up are one product, multiplied by an instruction of its own.
        onchip: short-lived activations stand in the on-chip memory where they fit. An instruction reads one half and writes
            the other; what dat2hbm reads stands in DDR.
    """

    fuse_qkv: bool = False
    join_rope: bool = False
    fuse_gate: bool = False
    onchip: bool = False

    @property
    def commits(self) -> int:
        """Instructions of a block."""
        return 17 - 2 * self.fuse_qkv - self.join_rope


PLAIN = Order()
"""Seventeen instructions, as the public compiler has them."""
SHORTEST = Order(fuse_qkv=True, join_rope=True, onchip=True)


def build(
    shape: Shape, device: Device, *, tokens: int, last: int = 0, seed: int = 0, order: Order = PLAIN, layers: int = 1,
    vocabulary: int = 0,
) -> Block:  # fmt: skip
    """The stream for `tokens` new tokens behind `last` cached ones.

    Args:
        shape: of the blocks.
        device: of the HBM0923 family, with the memory that the weights need.
        tokens, last: tokens of this step, tokens already in the KV cache (random there).
        seed: of weights, activations and cache.
        order: of the instructions.
        layers: blocks, one after the other.
        vocabulary: a last norm and a product with so many outputs and argmax follow; 0: none.
    """
    if order.join_rope and not order.fuse_qkv:
        raise ValueError("query and key heads stand side by side only where q, k and v are one product")
    return _Builder(shape, device, Block(shape, tokens, last, layers, vocabulary=vocabulary), seed, order).run()


class _Builder:
    def __init__(self, shape: Shape, device: Device, block: Block, seed: int, order: Order) -> None:
        self._e = Emitter(shape, device, block, seed)
        self._shape, self._block, self._order = shape, block, order
        self._used = [0, 0]

    def run(self) -> Block:
        s, b, e = self._shape, self._block, self._e
        x = e.rng.normal(size=(b.tokens, s.channels)).astype(np.float16)
        b.arrays["x"] = x
        at = Tensor(e.put(FeatureLayout().pack(x)))
        table = e.table()
        for layer in range(b.layers):
            e.layer = layer
            last = layer == b.layers - 1
            # The residual stream begins each half: what comes in or goes out half 0, what is between half 1.
            room = e.bytes(s.channels)
            self._used = [room, room]
            b.output = e.ddr(room) if last else 0
            to = Tensor(b.output) if last or not self._fits(room) else Tensor(0, onchip=True)
            to = to if last or to.onchip else e.feature(s.channels)
            mixed = self._attention(at, table)
            middle = Tensor(e.half, onchip=True) if self._fits(room) else e.feature(s.channels)
            e.mvm("wo", mixed, s.query, s.channels, middle, residual=at)
            self._feed_forward(middle, to)
            at = to
        if b.vocabulary:
            e.layer = b.layers
            normed = self._short(s.channels, 1)
            e.norm("norm", at, normed)
            e.mvm("head", normed, s.channels, b.vocabulary, e.feature(b.vocabulary), argmax=e.ddr(4 * b.tokens))
        return b

    def _fits(self, size: int) -> bool:
        return self._order.onchip and size <= self._e.half // 4

    def _short(self, channels: int, half: int, heads: int = 1) -> Tensor:
        """Room for a short-lived activation: on chip where wanted and where it fits."""
        size = self._e.bytes(channels, heads)
        at = self._used[half]
        if self._order.onchip and at + size <= self._e.half:
            self._used[half] += size
            return Tensor(half * self._e.half + at, onchip=True)
        return self._e.feature(channels, heads)

    def _attention(self, x: Tensor, table: tuple[int, int]) -> Tensor:
        s, b, e, order = self._shape, self._block, self._e, self._order
        cache = e.cache()
        normed = self._short(s.channels, 1)
        e.norm("norm1", x, normed)
        if order.fuse_qkv:
            qkv = e.feature(s.query + 2 * s.key)
            q, k, v = qkv, e.part(qkv, s.query), e.part(qkv, s.query + s.key)
            e.mvm("qkv", normed, s.channels, s.query + 2 * s.key, qkv)
        else:
            q, k, v = e.feature(s.query), e.feature(s.key), e.feature(s.key)
            e.mvm("wq", normed, s.channels, s.query, q)
        if order.fuse_qkv:  # while the heads are rotated, and long before the mix
            e.store("cache_v", v, cache.v, cache.v_head, cache.v_line, key=False)
        if order.join_rope:
            rotated = e.feature(s.query + s.key)
            q_rotated, k_rotated = rotated, e.part(rotated, s.query)
            e.rotate("rope", q, rotated, s.heads + s.kv_heads, table)
        else:
            q_rotated, k_rotated = e.feature(s.query), e.feature(s.key)
            e.rotate("rope_q", q, q_rotated, s.heads, table)
            if not order.fuse_qkv:
                e.mvm("wk", normed, s.channels, s.key, k)
            e.rotate("rope_k", k, k_rotated, s.kv_heads, table)
        e.store("cache_k", k_rotated, cache.k, cache.k_head, cache.k_line, key=True)
        if not order.fuse_qkv:
            e.mvm("wv", normed, s.channels, s.key, v)
            e.store("cache_v", v, cache.v, cache.v_head, cache.v_line, key=False)
        total = b.last + b.tokens
        scores, probabilities = self._short(total, 0, s.heads), self._short(total, 1, s.heads)
        e.scores(q_rotated, scores, cache)
        e.softmax(scores, probabilities)
        mixed = self._short(s.query, 0)
        e.mix(probabilities, mixed, cache)
        return mixed

    def _feed_forward(self, middle: Tensor, to: Tensor) -> None:
        s, e = self._shape, self._e
        normed = self._short(s.channels, 0)
        e.norm("norm2", middle, normed)
        if self._order.fuse_gate:
            both = self._short(2 * s.ffn, 1)
            e.mvm("gate_up", normed, s.channels, 2 * s.ffn, both)
            activated = self._short(s.ffn, 0)
            e.activate("silu", both, activated)
            # Its inputs stand in both halves.
            product = e.feature(s.ffn)
            e.multiply("product", activated, e.part(both, s.ffn), s.ffn, product)
        else:
            gate = self._short(s.ffn, 1)
            e.mvm("gate", normed, s.channels, s.ffn, gate)
            activated = self._short(s.ffn, 0)
            e.activate("silu", gate, activated)
            product = self._short(s.ffn, 1)
            e.mvm("up", normed, s.channels, s.ffn, product, residual=activated, mul=True)
        e.mvm("down", product, s.ffn, s.channels, to, residual=middle)
