"""Which IR operations one MVM instruction covers: matmul, bias, residual, ReLU, argmax.

The chain is walked from its last operation back. Every value inside it must be used by the chain alone, but for the
logits of an argmax, which the instruction leaves in memory too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from fleet.ir import dialect as d
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of


@dataclass(frozen=True)
class Chain:
    """A covered chain.

    Attributes:
        ops: in program order. matmul: the first of them.
        weight: name of the matrix; bias: name of the bias, None without.
        residual: the value added or multiplied, None without; mul: multiplied.
        logits: the value that argmax reads, None without argmax.
    """

    ops: tuple[d.FleetOp, ...]
    matmul: d.MatmulOp
    weight: str
    bias: str | None = None
    residual: SSAValue | None = None
    mul: bool = False
    relu: bool = False
    logits: SSAValue | None = None

    def then(self, op: d.FleetOp) -> Chain:
        """The chain with one more operation at its end."""
        return replace(self, ops=(*self.ops, op))

    @property
    def tokens(self) -> int:
        """Rows of the left side; 1 for a vector."""
        shape = shape_of(self.matmul.lhs.type)
        return shape[0] if len(shape) == 2 else 1


def weight_name(value: SSAValue, program: Program) -> str | None:
    """Name of the weight argument that `value` is, or None."""
    if not isinstance(value, BlockArgument):
        return None
    argument = program.arguments[value.index]
    return argument.name if argument.kind == "weight" else None


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
            if _is_zero(other) and (inner := _used_once(value, _affine, program)):
                return replace(inner.then(op), relu=True)
        return None
    return _affine(op, program)


def _affine(op: Operation, program: Program) -> Chain | None:
    """matmul, with bias, with residual."""
    if isinstance(op, d.AddOp | d.MulOp):
        for value, other in _sides(op):
            inner = _used_once(value, _biased, program)
            if inner is None or shape_of(other.type) != shape_of(op.result.type) or shape_of(value.type) != shape_of(other.type):
                continue
            if weight_name(other, program) is None and is_tensor(other.type) and other.owner not in inner.ops:
                return replace(inner.then(op), residual=other, mul=isinstance(op, d.MulOp))
    return _biased(op, program)


def _biased(op: Operation, program: Program) -> Chain | None:
    if isinstance(op, d.AddOp):
        for value, other in _sides(op):
            name = weight_name(other, program)
            inner = None if name is None else _used_once(value, _matmul, program)
            if inner is not None and shape_of(other.type) in _bias_shapes(value):
                return replace(inner.then(op), bias=name)
        return None
    return _matmul(op, program)


def _bias_shapes(value: SSAValue) -> tuple[tuple[int, ...], ...]:
    """Shapes of a bias that is one number a channel and does not widen the result."""
    shape = shape_of(value.type)
    return ((shape[-1],), (1, shape[-1])) if len(shape) == 2 else ((shape[-1],),)


def _matmul(op: Operation, program: Program) -> Chain | None:
    if not isinstance(op, d.MatmulOp):
        return None
    name = weight_name(op.rhs, program)
    left, right = shape_of(op.lhs.type), shape_of(op.rhs.type)
    if name is None or len(right) != 2 or len(left) not in {1, 2} or 0 in (*left, *right):
        return None
    if weight_name(op.lhs, program) is not None or any(numpy_dtype(v.type).kind != "f" for v in (op.lhs, op.rhs)):
        return None
    return Chain((op,), op, name)


def _sides(op: d.BinaryOp) -> Iterator[tuple[SSAValue, SSAValue]]:
    yield op.lhs, op.rhs
    yield op.rhs, op.lhs


def _used_once(value: SSAValue, finder: Callable[[Operation, Program], Chain | None], program: Program) -> Chain | None:
    """What `finder` makes of the value's operation, if nothing else uses the value."""
    owner = value.owner
    if not isinstance(owner, Operation) or len(list(value.uses)) != 1:
        return None
    return finder(owner, program)


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, d.ConstantOp):
        return False
    return owner.value.value.data == 0
