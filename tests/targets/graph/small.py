"""A small decoder as a graph: grouped heads, rotary embedding, a KV cache, gated activation, argmax of the last token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from fleet.dlavm import adr, ne, transform
from fleet.engines.execute import execute_calls
from fleet.ir.accel.nodes import ConstantNode, Node
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call
from fleet.targets.accel.module import Module

DEVICE = "hbm_small"
CHANNELS, HEADS, KV_HEADS, HEAD, FFN, VOCABULARY = 128, 4, 2, 64, 192, 100
TOKENS, POSITIONS = 24, 64


class Weights:
    """Seeded constants; `data` False: shapes only."""

    def __init__(self, seed: int = 0, *, data: bool = True) -> None:
        self.rng, self.data = np.random.default_rng(seed), data

    def matrix(self, name: str, chin: int, chout: int) -> ConstantNode:
        array = self.rng.normal(size=(chin, chout)).astype(np.float32) / np.float32(np.sqrt(chin))
        return adr.hbm.const_hbm(name, array if self.data else None, (chin, chout))

    def pairs(self, name: str, channels: int) -> ConstantNode:
        array = np.stack([self.rng.uniform(0.5, 1.5, channels), 0.1 * self.rng.normal(size=channels)]).astype(np.float16)
        return adr.hbm.const_ddr(name, array.reshape(-1) if self.data else None, (2 * channels,))

    def rotary(self, name: str, positions: int, channels: int) -> ConstantNode:
        angles = np.arange(positions)[:, None] * 10000.0 ** (-2 * np.arange(channels // 2) / channels)
        array = np.concatenate([np.cos(angles), np.sin(angles)]).astype(np.float16)
        return adr.hbm.const_ddr(name, array if self.data else None, (1, 2 * positions, channels // 2))


def dims(tokens: int = TOKENS, positions: int = POSITIONS) -> tuple[ne.Var, ne.Var]:
    """token and last_token."""
    return ne.Var("token", max_data=tokens), ne.Var("last_token", max_data=positions)


def block(x: Node, w: Weights, n: int, table: ConstantNode, last: ne.Var, *, onchip: bool = False) -> Node:
    """One decoder block, of 17 calls as the public compiler has them."""
    hbm, query, key = adr.hbm, HEADS * HEAD, KV_HEADS * HEAD

    def short(node: Node) -> Node:
        if onchip:
            node.prefix = "onchip"
        return node

    normed = short(hbm.rms_norm(x, w.pairs(f"norm1_{n}", CHANNELS)))
    q = adr.reshape(hbm.mvm_bn(normed, w.matrix(f"wq_{n}", CHANNELS, query), w.pairs(f"bq_{n}", query)), (HEADS, -1, HEAD))
    k = adr.reshape(hbm.mvm_bn(normed, w.matrix(f"wk_{n}", CHANNELS, key), w.pairs(f"bk_{n}", key)), (KV_HEADS, -1, HEAD))
    k_cache = hbm.dat_hbm(hbm.pos_emb(k, table), 1, last)
    scores = hbm.softmax(hbm.trp_mvm(hbm.pos_emb(q, table), k_cache))
    v = adr.reshape(hbm.mvm(normed, w.matrix(f"wv_{n}", CHANNELS, key)), (KV_HEADS, -1, HEAD))
    mixed = adr.reshape(hbm.f2w_mvm(scores, hbm.dat_hbm(v, 0, last)), (1, -1, query))
    x = hbm.mvm_bn_res(mixed, w.matrix(f"wo_{n}", query, CHANNELS), w.pairs(f"bo_{n}", CHANNELS), x)
    normed = short(hbm.rms_norm(x, w.pairs(f"norm2_{n}", CHANNELS)))
    gate = short(hbm.silu(hbm.mvm(normed, w.matrix(f"gate_{n}", CHANNELS, FFN))))
    up = hbm.mvm_bn_res(normed, w.matrix(f"up_{n}", CHANNELS, FFN), w.pairs(f"bup_{n}", FFN), gate, res_mul=1)
    return hbm.mvm_bn_res(up, w.matrix(f"down_{n}", FFN, CHANNELS), w.pairs(f"bdown_{n}", CHANNELS), x)


def decoder(
    blocks: int = 2, *, tokens: int = TOKENS, positions: int = POSITIONS, data: bool = True, onchip: bool = False, seed: int = 0,
    device: str = DEVICE,
) -> Node:  # fmt: skip
    """Logits and argmax of the last token, typed for a device."""
    token, last = dims(tokens, positions)
    w = Weights(seed, data=data)
    x: Node = adr.hbm.var_ddr("x", (1, token, CHANNELS))
    table = w.rotary("table", positions, HEAD)
    for n in range(blocks):
        x = block(x, w, n, table, last, onchip=onchip)
    x = adr.hbm.rms_norm(adr.gather(x), w.pairs("norm", CHANNELS))
    out = adr.hbm.mvm_bn(x, w.matrix("head", CHANNELS, VOCABULARY), w.pairs("head_bn", VOCABULARY), arg_max=1)
    return transform.infer_type(out, device, attrs={"last_token": last})


class Machine:
    """A module on the functional model; memory lives through all steps."""

    def __init__(self, module: Module, folder: Path, *, images: bool = True) -> None:
        self.module = module
        self.memory = MappedMemory.fresh(module.device, folder, module.images() if images else (), module.registers)

    def execute(self, calls: tuple[Call, ...]) -> list[object]:
        m = self.module
        return list(execute_calls(m.instruction_set, m.device, self.memory, calls, 0))

    def step(self, inputs: Mapping[str, np.ndarray], **dims: int) -> dict[str, np.ndarray]:
        """Register writes."""
        for name, array in inputs.items():
            self.module.write_input(self.memory, name, array, **dims)
        self.execute(self.module.calls(**dims))
        return {name: self.module.read_output(self.memory, name, **dims) for name in self.module.outputs}


def steps(sizes: tuple[int, ...], seed: int = 1) -> Iterator[tuple[np.ndarray, dict[str, int]]]:
    """(input, dimensions) of steps that follow each other."""
    rng, last = np.random.default_rng(seed), 0
    for size in sizes:
        yield rng.normal(size=(1, size, CHANNELS)).astype(np.float16), {"token": size, "last_token": last}
        last += size


def wide(tokens: int, chin: int = 2048) -> Node:
    """Products whose tokens exceed the on-chip buffer of hbm_small: 1024 words, 32 a token of 2048 channels."""
    token, last = dims(tokens, 8)
    w = Weights()
    x = adr.hbm.mvm(adr.hbm.var_ddr("x", (1, token, CHANNELS)), w.matrix("w1", CHANNELS, chin))
    y = adr.hbm.mvm_bn_res(x, w.matrix("w2", chin, CHANNELS), w.pairs("b2", CHANNELS), adr.hbm.var_ddr("r", (1, token, CHANNELS)))
    return transform.infer_type(adr.hbm.rms_norm(y, w.pairs("n", CHANNELS)), "hbm_small", attrs={"last_token": last})
