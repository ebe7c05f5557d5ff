"""Which IR operations one MVM instruction covers: matmul (or linear), bias, residual, ReLU, argmax.

A linear's activation (but ReLU) and what it adds behind an activation take instructions of their own. The chain is walked
from its last operation back. Every value inside it must be used by the chain alone, but for the logits of an argmax, which the
instruction leaves in memory too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from fleet.sdk.ir import Program, is_tensor, numpy_dtype, shape_of
from fleet.sdk.ir import composite as c
from fleet.sdk.ir import dialect as d


@dataclass(frozen=True)
class Chain:
    """A covered chain.

    Attributes:
        ops: in program order, the product is the first of them.
        source, matrix: its operands. weight: name of the matrix; bias: name of the bias, None without.
        residual: the value added or multiplied, None without; mul: multiplied.
        relu: behind all of these. activation: table that is applied then, None without; added: a value that is added last.
        logits: the value that argmax reads, None without argmax.
    """

    ops: tuple[d.FleetOp, ...]
    source: SSAValue
    matrix: SSAValue
    weight: str
    bias: str | None = None
    residual: SSAValue | None = None
    mul: bool = False
    relu: bool = False
    activation: str | None = None
    added: SSAValue | None = None
    logits: SSAValue | None = None

    def then(self, op: d.FleetOp) -> Chain:
        """The chain with one more operation at its end."""
        return replace(self, ops=(*self.ops, op))

    @property
    def plain(self) -> bool:
        """Whether ReLU or a residual may still follow in the same instruction."""
        return not self.relu and self.activation is None and self.added is None

    @property
    def tokens(self) -> int:
        """Rows of the left side, its leading axes merged; 1 for a vector."""
        return prod(shape_of(self.source.type)[:-1])


def weight_name(value: SSAValue, program: Program) -> str | None:
    """Name of the weight argument that `value` is, or None."""
    if not isinstance(value, BlockArgument):
        return None
    argument = program.arguments[value.index]
    return argument.name if argument.kind == "weight" else None


def unstorable(program: Program, *values: SSAValue) -> str | None:
    """Why the device cannot hold one of the weights and constants among the values as FP16; None where it can hold all."""
    for value in values:
        name, owner = weight_name(value, program), value.owner
        number = owner.value.value.data if isinstance(owner, d.ConstantOp) else 0.0
        with np.errstate(over="ignore"):
            half = np.asarray(number if name is None else program.weights[name]).astype(np.float16)
        if not np.isfinite(half).all():
            what = "a constant is" if name is None else f"weight '{name}' has"
            return f"{what} NaN, an infinity or a number beyond FP16 (65504)"
    return None


def find_chain(op: Operation, program: Program) -> Chain | None:
    """The chain that ends with `op`, or None."""
    if isinstance(op, d.ArgmaxOp):
        return _argmax(op, program)
    return _features(op, program)


def _argmax(op: d.ArgmaxOp, program: Program) -> Chain | None:
    axis, rank = op.axis.value.data, len(shape_of(op.operand.type))
    if axis not in {-1, rank - 1}:
        return None
    # The logits stay in memory, so others may use them.
    inner = _features(op.operand.owner, program)
    return None if inner is None else replace(inner.then(op), logits=op.operand)


def _features(op: Operation | Block, program: Program) -> Chain | None:
    if not isinstance(op, Operation):
        return None
    if isinstance(op, d.MaximumOp):
        for value, other in _sides(op):
            if is_zero(other) and (inner := _used_once(value, _affine, program)) and inner.plain:
                return replace(inner.then(op), relu=True)
        return None
    return _affine(op, program)


def _affine(op: Operation, program: Program) -> Chain | None:
    """matmul, with bias, with residual."""
    if isinstance(op, d.AddOp | d.MulOp):
        for value, other in _sides(op):
            inner = _used_once(value, _biased, program)
            if inner is None or not inner.plain or inner.residual is not None:
                continue
            if shape_of(other.type) != shape_of(op.result.type) or shape_of(value.type) != shape_of(other.type):
                continue
            if unstorable(program, other):
                continue
            if weight_name(other, program) is None and is_tensor(other.type) and other.owner not in inner.ops:
                return replace(inner.then(op), residual=other, mul=isinstance(op, d.MulOp))
    return _biased(op, program)


def _biased(op: Operation, program: Program) -> Chain | None:
    if not isinstance(op, d.AddOp):
        return _matmul(op, program)
    if (found := _bias(op, program)) is None:
        return None
    product, bias = found
    return None if unstorable(program, bias) else replace(product.then(op), bias=weight_name(bias, program))


def _bias(op: d.AddOp, program: Program) -> tuple[Chain, SSAValue] | None:
    """The product to which `op` adds one number a channel, and these numbers: a weight."""
    for value, other in _sides(op):
        inner = None if weight_name(other, program) is None else _used_once(value, _matmul, program)
        if inner is None or not inner.plain or inner.bias is not None or inner.residual is not None:
            continue
        if shape_of(other.type) in _bias_shapes(value):
            return inner, other
    return None


def unstorable_bias(op: Operation, program: Program) -> str | None:
    """Why the device cannot hold the bias that `op` adds to a product; None where it can, or where `op` adds no bias."""
    found = _bias(op, program) if isinstance(op, d.AddOp) else None
    return None if found is None else unstorable(program, found[1])


def _bias_shapes(value: SSAValue) -> tuple[tuple[int, ...], ...]:
    """Shapes of a bias that is one number a channel and does not widen the result."""
    shape = shape_of(value.type)
    return tuple((*[1] * lead, shape[-1]) for lead in range(max(len(shape), 1)))


def _matmul(op: Operation, program: Program) -> Chain | None:
    if isinstance(op, c.LinearOp):
        return _linear(op, program)
    if not isinstance(op, d.MatmulOp) or no_product(op, program):
        return None
    return Chain((op,), op.lhs, op.rhs, str(weight_name(op.rhs, program)))


def _linear(op: c.LinearOp, program: Program) -> Chain | None:
    if no_product(op, program):
        return None
    chain = Chain((op,), op.operand, op.weight, str(weight_name(op.weight, program)))
    if op.bias is not None:
        chain = replace(chain, bias=weight_name(op.bias, program))
    activation = op.activation.data
    if activation == "none":
        return replace(chain, residual=op.residual)
    if activation == "relu":
        return replace(chain, relu=True, added=op.residual)
    return replace(chain, activation=activation, added=op.residual)


def no_product(op: Operation, program: Program) -> str | None:
    """Why a matmul or linear is none of the unit's; None where it is one, or where `op` is something else."""
    if not isinstance(op, d.MatmulOp | c.LinearOp):
        return None
    source, matrix = op.operands[:2]
    name, left, right = weight_name(matrix, program), shape_of(source.type), shape_of(matrix.type)
    if name is None:
        return "its right side is no weight, the device multiplies by matrices that stand in HBM before it runs"
    if len(right) != 2 or not left or any(n <= 0 for n in (*left, *right)):
        return f"{_sizes(left)} by {_sizes(right)}, the device takes [..., tokens, channels] by [channels, channels]"
    if weight_name(source, program) is not None:
        return "its left side is a weight"
    if any(numpy_dtype(v.type).kind != "f" for v in (source, matrix)):
        return "it is not of floats"
    if isinstance(op, c.LinearOp):
        residual = op.residual
        if op.bias is not None and (
            weight_name(op.bias, program) is None or shape_of(op.bias.type) not in _bias_shapes(op.results[0])
        ):
            return "its bias is no weight with one number a channel"
        if op.bias is not None and (reason := unstorable(program, op.bias)):
            return reason
        if residual is not None and (weight_name(residual, program) or shape_of(residual.type) != shape_of(op.results[0].type)):
            return "its residual is a weight or is broadcast"
    return None


def _sizes(shape: tuple[int, ...]) -> str:
    return "[" + ", ".join("?" if n < 0 else str(n) for n in shape) + "]"


def _sides(op: d.BinaryOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    yield op.lhs, op.rhs
    yield op.rhs, op.lhs


def _used_once(value: SSAValue, finder: Callable[[Operation, Program], Chain | None], program: Program) -> Chain | None:
    """What `finder` makes of the value's operation, if nothing else uses the value."""
    owner = value.owner
    if not isinstance(owner, Operation) or len(list(value.uses)) != 1:
        return None
    return finder(owner, program)


def is_zero(value: SSAValue) -> bool:
    """Whether a value is the constant 0."""
    owner = value.owner
    if not isinstance(owner, d.ConstantOp):
        return False
    return owner.value.value.data == 0
