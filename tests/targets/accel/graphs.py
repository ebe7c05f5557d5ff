"""Programs for the tests, built by hand from the dialect's operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fleet.ir import dialect as d
from fleet.ir.program import Argument, Program
from fleet.ir.types import tensor_type


class Graph:
    """Arguments first, then operations; `values` by name."""

    def __init__(self, inputs: dict[str, tuple[int, ...]], weights: dict[str, np.ndarray]) -> None:
        self.arguments = [Argument(n, s, np.dtype(np.float32), "input") for n, s in inputs.items()]
        self.arguments += [Argument(n, w.shape, w.dtype, "weight") for n, w in weights.items()]
        self.weights = weights
        self.block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in self.arguments])
        self.values: dict[str, SSAValue] = {a.name: v for a, v in zip(self.arguments, self.block.args, strict=True)}

    def add(self, name: str, op: d.FleetOp) -> None:
        op.describe(id=name)
        self.block.add_op(op)
        if op.results:
            self.values[name] = op.results[0]

    def binary(self, cls: Callable[..., d.FleetOp], name: str, lhs: str, rhs: str, shape: Sequence[int]) -> None:
        self.add(name, cls([self.values[lhs], self.values[rhs]], tensor_type(shape, np.float32)))

    def zero(self, name: str = "zero") -> None:
        self.add(name, d.ConstantOp(FloatAttr(0.0, f32), f32))

    def argmax(self, name: str, of: str, shape: Sequence[int], axis: int = -1) -> None:
        self.add(name, d.ArgmaxOp([self.values[of]], tensor_type(shape, np.int64), axis=axis))

    def done(self, *outputs: str) -> Program:
        self.block.add_op(ReturnOp(*(self.values[o] for o in outputs)))
        types = [v.type for v in self.block.args], [self.values[o].type for o in outputs]
        return Program(ModuleOp([FuncOp("forward", types, Region(self.block))]), tuple(self.arguments), self.weights, outputs)


def rand(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32)


def digits(tokens: int = 5, seed: int = 0) -> Program:
    """64 -> 128 -> 128 -> 10 with ReLU, a residual and argmax, as examples/digits."""
    weights = {
        "w1": rand(seed, 64, 128, scale=0.2), "b1": rand(seed + 1, 128), "w2": rand(seed + 2, 128, 128, scale=0.1),
        "b2": rand(seed + 3, 128), "w3": rand(seed + 4, 128, 10, scale=0.2), "b3": rand(seed + 5, 10),
    }  # fmt: skip
    g = Graph({"x": (tokens, 64)}, weights)
    g.binary(d.MatmulOp, "m1", "x", "w1", (tokens, 128))
    g.binary(d.AddOp, "a1", "m1", "b1", (tokens, 128))
    g.zero()
    g.binary(d.MaximumOp, "h1", "a1", "zero", (tokens, 128))
    g.binary(d.MatmulOp, "m2", "h1", "w2", (tokens, 128))
    g.binary(d.AddOp, "a2", "m2", "b2", (tokens, 128))
    g.binary(d.AddOp, "r2", "a2", "h1", (tokens, 128))
    g.zero("zero2")
    g.binary(d.MaximumOp, "h2", "r2", "zero2", (tokens, 128))
    g.binary(d.MatmulOp, "m3", "h2", "w3", (tokens, 10))
    g.binary(d.AddOp, "logits", "m3", "b3", (tokens, 10))
    g.argmax("classes", "logits", (tokens,))
    return g.done("logits", "classes")


def one_matmul(tokens: int, chin: int, chout: int, seed: int = 0) -> Program:
    g = Graph({"x": (tokens, chin)}, {"w": rand(seed, chin, chout, scale=chin**-0.5)})
    g.binary(d.MatmulOp, "y", "x", "w", (tokens, chout))
    return g.done("y")
