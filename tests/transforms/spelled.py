"""Models spelled in Python once, run twice: by NumPy itself, and traced into IR as NumPy programs are.

`trace(model, x=(4, 8))` calls `model(nx, x)` with `nx` in the place of `numpy`; `model(np, x)` is the oracle. Independent of the
front end: operators only make operations of the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dialect import OPERATIONS, FleetOp, PrintOp, kind_of
from fleet.ir.operations.composite import covered_ids
from fleet.ir.program import Argument, Program
from fleet.ir.types import element_type, numpy_dtype, shape_of, tensor_type

Model = Callable[..., Any]


class Array:
    """A value of the IR that behaves as an array in arithmetic, indexing and methods."""

    __array_ufunc__ = None  # NumPy scalars leave operators to us

    def __init__(self, nx: Tracer, value: SSAValue) -> None:
        self.nx, self.value = nx, value

    shape = property(lambda self: shape_of(self.value.type))
    dtype = property(lambda self: numpy_dtype(self.value.type))
    ndim = property(lambda self: len(self.shape))
    T = property(lambda self: self.transpose())

    def __add__(self, other):
        return self.nx.binary("add", self, other)

    def __radd__(self, other):
        return self.nx.binary("add", other, self)

    def __sub__(self, other):
        return self.nx.binary("sub", self, other)

    def __rsub__(self, other):
        return self.nx.binary("sub", other, self)

    def __mul__(self, other):
        return self.nx.binary("mul", self, other)

    def __rmul__(self, other):
        return self.nx.binary("mul", other, self)

    def __truediv__(self, other):
        return self.nx.binary("div", self, other)

    def __rtruediv__(self, other):
        return self.nx.binary("div", other, self)

    def __pow__(self, other):
        return self.nx.binary("pow", self, other)

    def __matmul__(self, other):
        return self.nx.call("matmul", self, other)

    def __neg__(self):
        return self.nx.call("neg", self)

    def mean(self, axis=None, keepdims=False):
        return self.nx.reduce("mean", self, axis, keepdims)

    def var(self, axis=None, keepdims=False):
        return self.nx.reduce("var", self, axis, keepdims)

    def sum(self, axis=None, keepdims=False):
        return self.nx.reduce("reduce_sum", self, axis, keepdims)

    def max(self, axis=None, keepdims=False):
        return self.nx.reduce("reduce_max", self, axis, keepdims)

    def astype(self, dtype):
        return self.nx.call("cast", self, dtype=np.dtype(dtype))

    def transpose(self, *axes):
        return self.nx.call("transpose", self, permutation=list(axes or reversed(range(self.ndim))))

    def reshape(self, *shape):
        return self.nx.call("reshape", self, shape=list(np.empty(self.shape, np.int8).reshape(*shape).shape))

    def __getitem__(self, index):
        window = np.empty(self.shape, np.int8)[index]  # NumPy says what comes out
        parts = list(index) if isinstance(index, tuple) else [index]
        if Ellipsis in parts:
            at = parts.index(Ellipsis)
            parts[at : at + 1] = [slice(None)] * (self.ndim - sum(p is not None for p in parts) + 1)
        taken = [p for p in parts if p is not None] + [slice(None)] * (self.ndim - sum(p is not None for p in parts))
        start, size, step = [], [], []
        for part, length in zip(taken, self.shape, strict=True):
            one = range(length)[part] if isinstance(part, slice) else range(length)[part:][:1] if part != -1 else range(length)[-1:]
            start.append(one.start)
            size.append(len(one))
            step.append(one.step)
        out = self
        if (start, size, step) != ([0] * self.ndim, list(self.shape), [1] * self.ndim):
            out = self.nx.call("slice", self, start=start, size=size, step=step)
        return out if out.shape == window.shape else self.nx.call("reshape", out, shape=list(window.shape))


class Tracer:
    """Stands for the module `numpy`; emits into one block."""

    pi, newaxis = np.pi, None
    float32, float64, float16 = np.float32, np.float64, np.float16

    def __init__(self, block: Block) -> None:
        self.block = block
        self.count = 0

    def emit(self, op: FleetOp) -> SSAValue | None:
        kind = kind_of(op)
        self.count += 1
        op.describe(id=f"{kind}.{self.count}", at=f"model.py:{self.count}:1")
        self.block.add_op(op)
        return op.results[0] if op.results else None

    def call(self, name: str, *operands: Array, **attributes: Any) -> Array:
        return Array(self, self.emit(make(name, [o.value for o in operands], **attributes)))

    def binary(self, name: str, lhs: Any, rhs: Any) -> Array:
        typed = [v.value.type if isinstance(v, Array) else self._type(v) for v in (lhs, rhs)]
        dtypes = OPERATIONS[name].compute_types(typed)
        values = [v.value if isinstance(v, Array) else self._number(v, d) for v, d in zip((lhs, rhs), dtypes, strict=False)]
        return Array(self, self.emit(make(name, values)))

    def _type(self, number: Any) -> Any:
        if isinstance(number, np.generic):
            return tensor_type((), number.dtype)
        return element_type(np.float64 if isinstance(number, float) else np.int64)

    def _number(self, number: Any, dtype: np.dtype) -> SSAValue:
        type_ = tensor_type((), number.dtype) if isinstance(number, np.generic) else element_type(dtype)
        return self.emit(constant(number.item() if isinstance(number, np.generic) else number, type_))

    def reduce(self, name: str, x: Array, axis: Any, keepdims: bool) -> Array:
        axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        return self.call(name, x, axes=sorted(a % x.ndim for a in axes), keepdims=keepdims)

    def mean(self, x, axis=None, keepdims=False):
        return self.reduce("mean", x, axis, keepdims)

    def var(self, x, axis=None, keepdims=False):
        return self.reduce("var", x, axis, keepdims)

    def sum(self, x, axis=None, keepdims=False):
        return self.reduce("reduce_sum", x, axis, keepdims)

    def max(self, x, axis=None, keepdims=False):
        return self.reduce("reduce_max", x, axis, keepdims)

    def sqrt(self, x):
        return self.call("sqrt", x) if isinstance(x, Array) else np.sqrt(x)

    def square(self, x):
        return x * x

    def exp(self, x):
        return self.call("exp", x)

    def tanh(self, x):
        return self.call("tanh", x)

    def maximum(self, x, y):
        return self.binary("maximum", x, y)

    def minimum(self, x, y):
        return self.binary("minimum", x, y)

    def power(self, x, y):
        return x**y

    def cos(self, x):
        return self.call("cos", x)

    def sin(self, x):
        return self.call("sin", x)

    def matmul(self, x, y):
        return x @ y

    def expand_dims(self, x, axis):
        return x.reshape(np.expand_dims(np.empty(x.shape, np.int8), axis).shape)

    def hstack(self, parts):
        return self.concatenate(parts, axis=1)

    def print(self, *values):
        self.emit(PrintOp([v.value for v in values]))

    def concatenate(self, parts, axis=0):
        return self.call("concat", *parts, axis=axis % parts[0].ndim)

    def stack(self, parts, axis=0):
        return self.concatenate([self.expand_dims(v, axis) for v in parts], axis=axis)

    def split(self, x, count, axis=0):
        size = x.shape[axis] // count
        whole = [slice(None)] * x.ndim
        found = []
        for i in range(count):
            window = list(whole)
            window[axis] = slice(i * size, (i + 1) * size)
            found.append(x[tuple(window)])
        return found

    def repeat(self, x, count, axis):
        shape = x.shape
        one = x.reshape((*shape[: axis + 1], 1, *shape[axis + 1 :]))
        wide = self.call("broadcast_to", one, shape=[*shape[: axis + 1], count, *shape[axis + 1 :]])
        return wide.reshape((*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))

    def einsum(self, subscripts, *operands):
        return self.call("einsum", *operands, subscripts=subscripts)

    def where(self, condition, yes, no):
        dtype = yes.dtype if isinstance(yes, Array) else no.dtype
        values = [v.value if isinstance(v, Array) else self._number(v, dtype) for v in (yes, no)]
        return Array(self, self.emit(make("where", [condition.value, *values])))


def trace(model: Model, weights: Mapping[str, np.ndarray] | None = None, dtype: str = "float32", **shapes: Any) -> Program:
    """A program of `model(nx, **arguments)`.

    shapes: argument -> shape of `dtype`, or (shape, dtype name). weights: arrays of further arguments.
    """
    weights = weights or {}
    arguments = []
    for name, shape in shapes.items():
        own, kind = (shape, dtype) if all(isinstance(s, int) for s in shape) else shape
        arguments.append(Argument(name, tuple(own), np.dtype(kind), "input"))
    arguments += [Argument(name, w.shape, w.dtype, "weight") for name, w in weights.items()]
    block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in arguments])
    for argument, value in zip(arguments, block.args, strict=True):
        value.name_hint = argument.name
    nx = Tracer(block)
    found = model(nx, **{a.name: Array(nx, v) for a, v in zip(arguments, block.args, strict=True)})
    results = [v.value for v in (found if isinstance(found, tuple) else (found,))]
    block.add_op(ReturnOp(*results))
    types = ([v.type for v in block.args], [v.type for v in results])
    module = ModuleOp([FuncOp("model", types, Region(block))])
    module.verify()
    outputs = tuple(f"out{i}" for i in range(len(results)))
    return Program(module, tuple(arguments), dict(weights), outputs, "source", "model.py")


def data(program: Program, seed: int = 0) -> dict[str, np.ndarray]:
    """Standard normal inputs (integers 0 to 3, booleans at random)."""
    rng = np.random.default_rng(seed)
    found = {}
    for a in program.inputs:
        drawn = rng.standard_normal(a.shape) if a.dtype.kind == "f" else rng.integers(0, 2 if a.dtype.kind == "b" else 4, a.shape)
        found[a.name] = np.asarray(drawn).astype(a.dtype)
    return found


def kinds(program: Program) -> list[str]:
    """Names of the operations, without constants."""
    return [kind_of(op) for op in program.operations() if op.name != "fleet.constant"]


def the(program: Program, kind: str) -> FleetOp:
    """The one operation of a kind."""
    (op,) = (op for op in program.operations() if op.name == f"fleet.{kind}")
    return op


def covers(program: Program) -> Sequence[str]:
    """All ids that composites cover."""
    return [c for op in program.operations() for c in covered_ids(op)]
