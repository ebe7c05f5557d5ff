"""A transformer block as GPT-2 has it, of composite operations, at any width; and what it computes in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fleet.ir.build import make
from fleet.ir.program import Argument, Program
from fleet.ir.types import tensor_type


class Builder:
    """Arguments by name, operations by `fleet.ir.build.make`."""

    def __init__(self, inputs: Mapping[str, tuple[int, ...]], weights: Mapping[str, np.ndarray], dtype: str = "float32") -> None:
        self.arguments = [Argument(n, s, np.dtype(dtype), "input") for n, s in inputs.items()]
        self.arguments += [Argument(n, w.shape, w.dtype, "weight") for n, w in weights.items()]
        self.weights = dict(weights)
        self.block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in self.arguments])
        self.values: dict[str, SSAValue] = {a.name: v for a, v in zip(self.arguments, self.block.args, strict=True)}

    def __call__(self, id: str, name: str, *operands: str, **attributes: Any) -> str:
        op = make(name, [self.values[o] for o in operands], **attributes)
        op.describe(id=id)
        self.block.add_op(op)
        self.values[id] = op.results[0]
        return id

    def done(self, *outputs: str) -> Program:
        self.block.add_op(ReturnOp(*(self.values[o] for o in outputs)))
        types = [v.type for v in self.block.args], [self.values[o].type for o in outputs]
        return Program(ModuleOp([FuncOp("forward", types, Region(self.block))]), tuple(self.arguments), self.weights, outputs)


@dataclass(frozen=True)
class Size:
    """n tokens of `width` channels in `heads` heads, `ffn` channels between."""

    tokens: int
    width: int
    heads: int
    ffn: int


SMALL = Size(8, 128, 2, 256)


def weights(size: Size, seed: int = 0, dtype: str = "float32") -> dict[str, np.ndarray]:
    """Random, of a size that keeps activations of order 1; gamma and beta differ from 1 and 0."""
    rng = np.random.default_rng(seed)

    def matrix(a: int, b: int, gain: float = 1.0) -> np.ndarray:
        return (rng.standard_normal((a, b)) * gain / np.sqrt(a)).astype(dtype)

    def vector(n: int, middle: float = 0.0) -> np.ndarray:
        return (middle + 0.1 * rng.standard_normal(n)).astype(dtype)

    w, f = size.width, size.ffn
    return {
        "g1": vector(w, 1.0), "b1": vector(w), "c_attn": matrix(w, 3 * w, 2.0), "c_attn_b": vector(3 * w),
        "c_proj": matrix(w, w), "c_proj_b": vector(w), "g2": vector(w, 1.0), "b2": vector(w), "c_fc": matrix(w, f),
        "c_fc_b": vector(f), "m_proj": matrix(f, w), "m_proj_b": vector(w),
    }  # fmt: skip


def gpt2_block(
    size: Size = SMALL,
    *,
    seed: int = 0,
    linear: bool = False,
    causal: bool = True,
    scale: float | None = None,
    dtype: str = "float32",
) -> Program:
    """The block; `linear`: products as `linear` operations, else as matmul and add."""
    n, w, d = size.tokens, size.width, size.width // size.heads
    b = Builder({"x": (n, w)}, weights(size, seed, dtype), dtype)

    def product(id: str, x: str, name: str, residual: str | None = None, activation: str = "none") -> str:
        if linear:
            rest = () if residual is None else (residual,)
            return b(id, "linear", x, name, f"{name}_b", *rest, residual=residual is not None, activation=activation)
        b(f"{id}.m", "matmul", x, name)
        y = b(id if residual is None else f"{id}.b", "add", f"{id}.m", f"{name}_b")
        return y if residual is None else b(id, "add", y, residual)

    b("ln1", "layer_norm", "x", "g1", "b1", eps=1e-5)
    product("qkv", "ln1", "c_attn")
    for i, name in enumerate("qkv"):
        b(name, "slice", "qkv", start=[0, i * w], size=[n, w])
    scale = d**-0.5 if scale is None else scale
    b("mix", "attention", "q", "k", "v", heads=size.heads, kv_heads=size.heads, scale=scale, causal=causal)
    product("attn", "mix", "c_proj", "x")
    b("ln2", "layer_norm", "attn", "g2", "b2", eps=1e-5)
    if linear:
        product("act", "ln2", "c_fc", activation="gelu_tanh")
    else:
        b("act", "gelu", product("fc", "ln2", "c_fc"), approximate="tanh")
    product("out", "act", "m_proj", "attn")
    return b.done("out")


def inputs(size: Size = SMALL, seed: int = 100, dtype: str = "float32") -> dict[str, np.ndarray]:
    """x [tokens, width]."""
    return {"x": np.random.default_rng(seed).standard_normal((size.tokens, size.width)).astype(dtype)}
