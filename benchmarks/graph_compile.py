"""Seconds that a graph of a language model takes to types, instructions, driver; milliseconds a step. Prints a table.

python benchmarks/graph_compile.py [--images]
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from fleet.dlavm import adr, ne, transform
from fleet.ir.accel.nodes import ConstantNode, Node
from fleet.isa.registry import find_device
from fleet.targets.accel.build import build

DEVICE = "hbm0923"
CARD = {"ddr": 4 << 30, "hbm": 256 << 20}
"""Bytes of the card: the device's file has less, to keep simulations small."""


@dataclass(frozen=True)
class Shape:
    """tokens: of a step, at most; positions: of the rotary table."""

    name: str
    blocks: int
    channels: int
    heads: int
    kv_heads: int
    head: int
    ffn: int
    vocabulary: int
    tokens: int
    lite: bool = False


SHAPES = (
    Shape("SmolLM2-135M, 128 tokens", 30, 576, 9, 3, 64, 1536, 49152, 128, lite=True),
    Shape("Llama-2-7B, 1 token", 32, 4096, 32, 32, 128, 11008, 32000, 1, lite=True),
    Shape("Llama-2-7B, 2,048 tokens, loops", 32, 4096, 32, 32, 128, 11008, 32000, 2048),
)
POSITIONS = 2048
_SEEDS = itertools.count()


def graph(s: Shape, data: Callable[[int, int], Any]) -> Node:
    """The public compiler's 17 calls a block, the final norm and the output layer."""
    hbm, token, last = adr.hbm, ne.Var("token", s.tokens), ne.Var("last_token", POSITIONS)

    def matrix(name: str, chin: int, chout: int) -> ConstantNode:
        return hbm.const_hbm(name, data(chin, chout), (chin, chout))

    def pairs(name: str, channels: int) -> ConstantNode:
        return hbm.const_ddr(name, None, (2 * channels,))

    query, key = s.heads * s.head, s.kv_heads * s.head
    table = hbm.const_ddr("table", None, (1, 2 * POSITIONS, s.head // 2))
    x: Node = hbm.var_ddr("x", (1, token, s.channels))
    for n in range(s.blocks):
        h = hbm.rms_norm(x, pairs(f"norm1_{n}", s.channels))
        q = hbm.pos_emb(adr.reshape(hbm.mvm(h, matrix(f"wq_{n}", s.channels, query)), (s.heads, -1, s.head)), table)
        k = hbm.pos_emb(adr.reshape(hbm.mvm(h, matrix(f"wk_{n}", s.channels, key)), (s.kv_heads, -1, s.head)), table)
        scores = hbm.softmax(hbm.trp_mvm(q, hbm.dat_hbm(k, 1, last)))
        v = adr.reshape(hbm.mvm(h, matrix(f"wv_{n}", s.channels, key)), (s.kv_heads, -1, s.head))
        mixed = adr.reshape(hbm.f2w_mvm(scores, hbm.dat_hbm(v, 0, last)), (1, -1, query))
        x = hbm.mvm_bn_res(mixed, matrix(f"wo_{n}", query, s.channels), pairs(f"bo_{n}", s.channels), x)
        h = hbm.rms_norm(x, pairs(f"norm2_{n}", s.channels))
        gate = hbm.silu(hbm.mvm(h, matrix(f"gate_{n}", s.channels, s.ffn)))
        up = hbm.mvm_bn_res(h, matrix(f"up_{n}", s.channels, s.ffn), pairs(f"bup_{n}", s.ffn), gate, res_mul=1)
        x = hbm.mvm_bn_res(up, matrix(f"down_{n}", s.ffn, s.channels), pairs(f"bdown_{n}", s.channels), x)
    x = hbm.rms_norm(adr.gather(x), pairs("norm", s.channels))
    return hbm.mvm_bn(x, matrix("head", s.channels, s.vocabulary), pairs("head_bn", s.vocabulary), arg_max=1)


def nothing(_chin: int, _chout: int) -> None:
    """No data: shapes only."""


def random(chin: int, chout: int) -> Callable[[], np.ndarray]:
    """Weights that are drawn when they are packed, no two matrices alike: equal ones would be quantised once."""
    seed = next(_SEEDS)
    return lambda: np.random.default_rng(seed).normal(size=(chin, chout)).astype(np.float32)


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = run()
    return time.perf_counter() - begun, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", action="store_true", help="of the first shape, from random weights; nothing is cached")
    images = parser.parse_args().images
    device = replace(find_device(DEVICE)[1], memory=CARD)
    titles = {"calls": 6, "graph s": 8, "types s": 8, "build s": 8, "header s": 9, "calls ms": 9, "patches ms": 11, "binary": 10}
    print(" " * 32, *(f"{title:>{width}}" for title, width in titles.items()))
    for s in SHAPES:
        drawn = images and s is SHAPES[0]
        made, whole = seconds(partial(graph, s, random if drawn else nothing))
        typed, whole = seconds(lambda g=whole: transform.infer_type(g, DEVICE))
        built, module = seconds(lambda g=whole, s=s: build(g, aux=True, build_config={"lite": s.lite}, device=device))
        header, _ = seconds(module.get_source)
        first = min(seconds(lambda m=module, n=n: m.calls(token=1, last_token=n))[0] for n in range(5))
        patches = min(seconds(lambda m=module, n=n: m.patches(token=1, last_token=n))[0] for n in range(5))
        print(f"{s.name:32} {len(module.emission.nodes):6} {made:8.2f} {typed:8.2f} {built:8.2f} {header:9.2f} "
              f"{1e3 * first:9.1f} {1e3 * patches:11.1f} {len(module.get_insts_bin()):10,}")  # fmt: skip
        if drawn:
            hbm = [p for p in module.constants.places if p.space == "hbm"]
            taken, size = seconds(lambda m=module, hbm=hbm: sum(b.size for p in hbm for b in m.constants.load(p)))
            print(f"{'':32} images: {size:,} bytes in {taken:.1f} s, drawing random weights included")


if __name__ == "__main__":
    main()
