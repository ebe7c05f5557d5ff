"""Finds the IR operations that one MVM instruction covers: matmul (or linear), bias, residual, ReLU, argmax.

A linear's activation (except ReLU), and an addition after an activation, take their own instructions. Every value inside a chain
must be used only by the chain, except the logits of an argmax, which the instruction leaves in memory too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from fleet.sdk.chain import ChainRule, Covered, Link, Site, Start
from fleet.sdk.ir import Program, is_tensor, numpy_dtype, shape_of, weight_name
from fleet.sdk.ir import composite as c
from fleet.sdk.ir import dialect as d


@dataclass(frozen=True)
class MvmChain:
    """A covered chain.

    Attributes:
        ops: in program order, the product first.
        source, matrix: the product's operands.
        weight: name of the matrix.
        bias: name of the bias, or None.
        residual: the value added or multiplied, or None.
        mul: the residual is multiplied.
        relu: ReLU after all of these.
        activation: table that is applied then, or None.
        added: a value that is added last.
        logits: the value that argmax reads, or None.
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

    @property
    def tokens(self) -> int:
        """Rows of the left operand, with its leading axes merged; 1 for a vector."""
        return prod(shape_of(self.source.type)[:-1])


def unstorable(program: Program, *values: SSAValue) -> str | None:
    """Return why the device cannot hold one of the weights and constants as FP16; None if it can hold all."""
    for value in values:
        name, owner = weight_name(value, program), value.owner
        number = owner.value.value.data if isinstance(owner, d.ConstantOp) else 0.0
        with np.errstate(over="ignore"):
            half = np.asarray(number if name is None else program.weights[name]).astype(np.float16)
        if not np.isfinite(half).all():
            what = "a constant is" if name is None else f"weight '{name}' has"
            return f"{what} NaN, an infinity or a number beyond FP16 (65504)"
    return None


def find_chain(op: Operation, program: Program) -> MvmChain | str | None:
    """Return the chain that ends with `op`, or why there is none (FP16 cannot hold its bias); None for other operations."""
    found = _CHAIN.find(op, program)
    if not isinstance(found, Covered):
        return found
    chain, (bias, residual, argmax) = found.start, map(found.site, ("bias", "residual", "argmax"))
    return replace(
        chain,
        ops=found.ops,
        bias=chain.bias if bias is None else bias.weight,
        residual=chain.residual if residual is None else residual.other,
        mul=residual is not None and isinstance(residual.op, d.MulOp),
        relu=chain.relu or found.site("relu") is not None,
        logits=None if argmax is None else argmax.value,
    )


def unstorable_bias(op: Operation, program: Program) -> str | None:
    """Return why the device cannot hold the bias that `op` adds to a product; None if it can, or if `op` adds no bias."""
    found = find_chain(op, program)
    return found if isinstance(found, str) else None


def _is_bias(site: Site) -> bool | str:
    """Return whether the site adds one number per channel; the reason if FP16 cannot hold it."""
    if site.other is None or site.weight is None or not site.used_once or shape_of(site.other.type) not in _bias_shapes(site.value):
        return False
    return unstorable(site.program, site.other) or True


def _is_residual(site: Site) -> bool:
    """Return whether the other operand is a tensor of the product's shape, not a weight."""
    if site.other is None or site.weight is not None or not site.used_once or not is_tensor(site.other.type):
        return False
    same = len({shape_of(v.type) for v in (site.value, site.other, site.op.results[0])}) == 1
    return same and unstorable(site.program, site.other) is None


def _bias_shapes(value: SSAValue) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of a bias with one number per channel that does not widen the result."""
    shape = shape_of(value.type)
    return tuple((*[1] * lead, shape[-1]) for lead in range(max(len(shape), 1)))


def _start(op: d.FleetOp, program: Program) -> Start[MvmChain] | None:
    """Return the start of a chain: a product. Parts that a linear already contains do not match again."""
    if not isinstance(op, d.MatmulOp | c.LinearOp) or no_product(op, program):
        return None
    chain = MvmChain((op,), op.operands[0], op.operands[1], str(weight_name(op.operands[1], program)))
    if isinstance(op, d.MatmulOp):
        return Start(chain, chain.ops)
    activation, bias = op.activation.data, None if op.bias is None else weight_name(op.bias, program)
    if activation == "none":
        without = () if op.residual is None and bias is None else ("bias",) if op.residual is None else ("bias", "residual")
        return Start(replace(chain, bias=bias, residual=op.residual), chain.ops, without)
    table = None if activation == "relu" else activation
    chain = replace(chain, bias=bias, relu=table is None, activation=table, added=op.residual)
    return Start(chain, chain.ops, ("bias", "residual", "relu"))


def no_product(op: Operation, program: Program) -> str | None:
    """Return why the MVM unit cannot run this matmul or linear; None if it can, or if `op` is another operation."""
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


def is_zero(value: SSAValue) -> bool:
    """Return whether a value is the constant 0."""
    owner = value.owner
    if not isinstance(owner, d.ConstantOp):
        return False
    return owner.value.value.data == 0


def _is_last_axis(site: Site) -> bool:
    return isinstance(site.op, d.ArgmaxOp) and site.op.axis.value.data in {-1, len(shape_of(site.value.type)) - 1}


_CHAIN = ChainRule(
    _start,
    Link("bias", d.AddOp, when=_is_bias),
    Link("residual", (d.AddOp, d.MulOp), when=_is_residual),
    Link("relu", d.MaximumOp, when=lambda site: site.number == 0 and site.used_once),
    Link("argmax", d.ArgmaxOp, when=_is_last_axis),
)
