"""Tiny programs straight from the dialect, and an evaluator that sums in whatever order it is told.

Independent of the project's engines: NumPy calls only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.builder import Builder, InsertPoint
from xdsl.dialects.builtin import FloatAttr, FunctionType, IntegerAttr, ModuleOp, f64, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.program import Argument, Program
from fleet.ir.types import numpy_dtype, shape_of, tensor_type

Array = np.ndarray


class Net:
    """Builds a program operation by operation; every value is a tensor of `dtype` unless said otherwise."""

    def __init__(
        self, arguments: dict[str, tuple[tuple[int, ...], str]], weights: dict[str, Array] | None = None, dtype: str = "float32"
    ):
        self.dtype = dtype
        self.weights = weights or {}
        self.arguments = [Argument(n, s, np.dtype(dtype), k) for n, (s, k) in arguments.items()]
        self.block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in self.arguments])
        self.builder = Builder(InsertPoint.at_end(self.block))
        self.count = 0

    def __getitem__(self, name: str) -> SSAValue:
        return self.block.args[[a.name for a in self.arguments].index(name)]

    def add(self, op: FleetOp, name: str | None = None) -> SSAValue:
        self.count += 1
        op.describe(id=name or f"{kind_of(op)}.{self.count}", var=name, at=f"net.py:{self.count}:1")
        return self.builder.insert(op).results[0]

    def call(
        self,
        kind: type,
        *operands: SSAValue,
        shape: tuple[int, ...] | None = None,
        name: str | None = None,
        dtype: str | None = None,
    ):
        if shape is None:
            shape = np.broadcast_shapes(*(shape_of(v.type) for v in operands))
        return self.add(kind(operands, tensor_type(shape, dtype or self.dtype)), name)

    def matmul(self, a: SSAValue, b: SSAValue, name: str | None = None) -> SSAValue:
        return self.call(d.MatmulOp, a, b, shape=(*shape_of(a.type)[:-1], shape_of(b.type)[-1]), name=name)

    def reduce(self, kind: type, a: SSAValue, axis: int, name: str | None = None) -> SSAValue:
        shape = list(shape_of(a.type))
        shape[axis] = 1
        return self.add(kind([a], tensor_type(shape, self.dtype), axes=[axis], keepdims=True), name)

    def argmax(self, a: SSAValue, axis: int, name: str | None = None) -> SSAValue:
        shape = [n for i, n in enumerate(shape_of(a.type)) if i != axis]
        return self.add(d.ArgmaxOp([a], tensor_type(shape, "int64"), axis=axis), name)

    def number(self, value: float) -> SSAValue:
        if isinstance(value, int):
            return self.add(d.ConstantOp(IntegerAttr(value, i64), i64))
        return self.add(d.ConstantOp(FloatAttr(value, f64), f64))

    def program(self, **outputs: SSAValue) -> Program:
        self.builder.insert(ReturnOp(*outputs.values()))
        types = FunctionType.from_lists([a.type for a in self.block.args], [v.type for v in outputs.values()])
        function = FuncOp("forward", types, Region([self.block]))
        return Program(ModuleOp([function]), tuple(self.arguments), self.weights, tuple(outputs), "source", "net.py")


Sum = Callable[[Array, int], Array]
"""(terms, axis) -> sum along the axis, keepdims, in the terms' dtype."""


def plain_sum(terms: Array, axis: int) -> Array:
    return np.sum(terms, axis=axis, keepdims=True, dtype=terms.dtype)


def shuffled_sum(rng: np.random.Generator) -> Sum:
    """Sums in a random order along a random tree, each addition rounded to the terms' dtype."""

    def add_up(terms: Array, axis: int) -> Array:
        parts = list(np.moveaxis(terms, axis, 0))
        parts = [parts[i] for i in rng.permutation(len(parts))]
        while len(parts) > 1:
            if rng.random() < 0.5:
                parts = [parts[0] + parts[1], *parts[2:]]
            else:
                parts = [parts[i] + parts[i + 1] if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
        return np.expand_dims(parts[0], axis)

    return add_up


def evaluate(program: Program, inputs: dict[str, Array], add_up: Sum = plain_sum, work: str | None = None) -> dict[str, Array]:
    """Every operation's value, computed in the program's dtypes (or all floats in `work`)."""
    env: dict[SSAValue, Array] = {}

    def of(value: SSAValue) -> Array:
        if isinstance(value, BlockArgument):
            a = program.arguments[value.index]
            array = (program.weights if a.kind == "weight" else inputs)[a.name]
            return array.astype(work) if work and array.dtype.kind == "f" else array
        return env[value]

    for op in program.operations():
        result = op.results[0].type
        dtype = numpy_dtype(result)
        dtype = np.dtype(work) if work and dtype.kind == "f" else dtype
        x = [of(v) for v in op.operands]
        env[op.results[0]] = np.asarray(_one(op, x, dtype, add_up), dtype).reshape(shape_of(result))
    return {op_id(op): env[op.results[0]] for op in program.operations()}


def _one(op: FleetOp, x: list[Array], dtype: np.dtype, add_up: Sum) -> Array:
    two = {
        d.AddOp: np.add,
        d.SubOp: np.subtract,
        d.MulOp: np.multiply,
        d.DivOp: np.divide,
        d.MaximumOp: np.maximum,
        d.MinimumOp: np.minimum,
    }
    one = {d.NegOp: np.negative, d.AbsOp: np.abs, d.SqrtOp: np.sqrt, d.ExpOp: np.exp, d.LogOp: np.log, d.TanhOp: np.tanh}
    if isinstance(op, d.ConstantOp):
        return np.asarray(op.value.value.data, dtype)
    if type(op) in two:
        return two[type(op)](x[0].astype(dtype), x[1].astype(dtype))
    if isinstance(op, d.PowOp):
        return np.power(x[0].astype(dtype), x[1].astype(dtype))
    if type(op) in one:
        return one[type(op)](x[0])
    if isinstance(op, d.CastOp):
        return x[0].astype(dtype)
    if isinstance(op, d.MatmulOp):
        terms = x[0][..., :, :, None] * x[1][..., None, :, :]
        return add_up(terms, -2)[..., 0, :]
    if isinstance(op, d.ArgmaxOp):
        return np.argmax(x[0], axis=op.axis.value.data)
    if isinstance(op, d.TransposeOp):
        return np.transpose(x[0], op.permutation.get_values())
    if isinstance(op, d.ReshapeOp):
        return x[0]
    if isinstance(op, d.SliceOp):
        return x[0][tuple(slice(s, s + n) for s, n in zip(op.start.get_values(), op.size.get_values(), strict=True))]
    if isinstance(op, d.ConcatOp):
        return np.concatenate(x, axis=op.axis.value.data)
    if isinstance(op, d.GatherOp):
        return x[0][x[1]]
    assert isinstance(op, d.ReduceOp)
    (axis,) = op.axes.get_values()
    n = dtype.type(x[0].shape[axis])
    if isinstance(op, d.ReduceMaxOp):
        return np.max(x[0], axis=axis, keepdims=True)
    total = add_up(x[0], axis)
    if isinstance(op, d.ReduceSumOp):
        return total
    if isinstance(op, d.MeanOp):
        return total / n
    centred = x[0] - total / n
    return add_up(centred * centred, axis) / n
