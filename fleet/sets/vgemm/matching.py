"""Which IR operations one product covers: matmul or convolution, bias, residual, and what ALU does with the sums.

The chain is walked from its last operation back. A convolution is what NumPy makes of it: a padded image, one slice a tap, these
side by side, and a matmul of that by a matrix [taps * channels, outputs].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from fleet.sdk.ir import Program, integers, is_tensor, numpy_dtype, shape_of
from fleet.sdk.ir import composite as c
from fleet.sdk.ir import dialect as d
from fleet.sets.vgemm.layout import FRACTION
from fleet.sets.vgemm.operands import AluOp

_ALU: Mapping[type[Operation], AluOp] = {
    d.MaximumOp: AluOp.MAX,
    d.MinimumOp: AluOp.MIN,
    d.AddOp: AluOp.ADD,
    d.FloorDivOp: AluOp.SHR,
}

__all__ = ["Chain", "Window", "find_chain", "weight_name"]


@dataclass(frozen=True)
class Window:
    """A convolution's: taps (rows, columns), stride, and zeros before and behind each image's rows and columns."""

    taps: tuple[int, int]
    stride: int
    rows: tuple[int, int]
    columns: tuple[int, int]


@dataclass(frozen=True)
class Chain:
    """A covered chain.

    Attributes:
        ops: of the group, the last one is what it computes. source: what is multiplied, in device memory.
        weight, bias: names. residual: a value that is added. window: None for a plain product.
        steps: what ALU does then, in order: (operation, immediate).
        narrow: the result is INT8, else it is INT32 or real.
    """

    ops: tuple[d.FleetOp, ...]
    source: SSAValue
    weight: str
    bias: str | None = None
    residual: SSAValue | None = None
    window: Window | None = None
    steps: tuple[tuple[AluOp, int], ...] = ()
    narrow: bool = False

    def then(self, op: d.FleetOp) -> Chain:
        """The chain with one more operation."""
        return replace(self, ops=(*self.ops, op))

    @property
    def real(self) -> bool:
        """Of real numbers, which stand in fixed point on the device."""
        return numpy_dtype(self.source.type).kind == "f"


def weight_name(value: SSAValue, program: Program) -> str | None:
    """Name of the weight argument that a value is, or None."""
    if not isinstance(value, BlockArgument):
        return None
    argument = program.arguments[value.index]
    return argument.name if argument.kind == "weight" else None


def find_chain(op: Operation, program: Program) -> Chain | None:
    """The chain that ends with `op`, or None. Its operations are in program order."""
    chain = _narrowed(op, program)
    if chain is None:
        return None
    place = {id(o): i for i, o in enumerate(program.operations())}
    return replace(chain, ops=tuple(sorted(dict.fromkeys(chain.ops), key=lambda o: place[id(o)])))


def _narrowed(op: Operation, program: Program) -> Chain | None:
    if isinstance(op, d.CastOp):
        if numpy_dtype(op.results[0].type) != np.int8 or numpy_dtype(op.operand.type) != np.int32:
            return None
        inner = _stepped(op.operand.owner, program)
        return None if inner is None or inner.real else replace(inner.then(op), narrow=True)
    return _stepped(op, program)


def _stepped(op: Operation | Block, program: Program) -> Chain | None:
    """Operations with one number, behind sums."""
    steps: list[tuple[Operation, AluOp, int]] = []
    while isinstance(op, Operation) and (step := _step(op)) is not None:
        value, what, number = step
        steps.append((op, what, number))
        op = value.owner
    chain = _summed(op, program) if isinstance(op, Operation) else None
    for one, what, number in reversed(steps):
        if chain is None or (chain.real and (what, number) != (AluOp.MAX, 0)):
            chain = _summed(one, program)
        else:
            chain = replace(chain.then(_fleet(one)), steps=(*chain.steps, (what, number)))
    return chain


def _step(op: Operation) -> tuple[SSAValue, AluOp, int] | None:
    """(operand, operation, immediate) of an operation with one number that fits into 16 bits."""
    what = _ALU.get(type(op))
    if what is None:
        return None
    sides = [(op.operands[0], op.operands[1])]
    if what is not AluOp.SHR:
        sides.append((op.operands[1], op.operands[0]))
    for value, other in sides:
        number = _number(other)
        if number is None or not is_tensor(value.type) or isinstance(value.owner, d.ConstantOp):
            continue
        if what is AluOp.SHR:
            if number < 1 or number & (number - 1):
                return None
            return value, what, number.bit_length() - 1
        return (value, what, number) if -(1 << 15) <= number < 1 << 15 else None
    return None


def _number(value: SSAValue) -> int | None:
    owner = value.owner
    if not isinstance(owner, d.ConstantOp):
        return None
    number = owner.value.value.data
    return int(number) if number == int(number) else None


def _summed(op: Operation | Block, program: Program, most: int = 2) -> Chain | None:
    """A product, with a bias, with a residual; the two in any order. most: sums that may still follow."""
    if isinstance(op, d.AddOp):
        if not most:
            return None
        for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            inner = _summed(value.owner, program, most - 1)
            if inner is None or shape_of(value.type) != shape_of(op.result.type):
                continue
            name = weight_name(other, program)
            if name is not None and inner.bias is None and shape_of(other.type) == shape_of(value.type)[-1:]:
                return replace(inner.then(op), bias=name)
            same = shape_of(other.type) == shape_of(value.type) and numpy_dtype(other.type) == numpy_dtype(value.type)
            fits = not inner.real or _fits(other, program)
            if name is None and inner.residual is None and same and fits and other.owner not in inner.ops:
                return replace(inner.then(op), residual=other)
        return None
    return _product(op, program)


def _fits(value: SSAValue, program: Program) -> bool:
    """Whether a real value may stand in fixed point: a number that it holds, or activations. What is computed of weights alone is a
    weight, which no product adds; a mask of infinities is one."""
    if isinstance(value.owner, d.ConstantOp):
        return abs(float(value.owner.value.value.data)) < 1 << (31 - FRACTION)
    waiting, seen = [value], set[SSAValue]()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, BlockArgument):
            if program.arguments[value.index].kind == "input":
                return True
        elif isinstance(value.owner, Operation):
            waiting += value.owner.operands
    return False


def _product(op: Operation | Block, program: Program) -> Chain | None:
    if isinstance(op, c.LinearOp) or not isinstance(op, d.MatmulOp):
        return None
    if len(shape_of(op.rhs.type)) != 2 or len(shape_of(op.lhs.type)) < 2:
        return None
    dtype = numpy_dtype(op.result.type)
    if dtype == np.float32:
        name = weight_name(op.rhs, program)
        if name is None or weight_name(op.lhs, program) is not None or numpy_dtype(op.lhs.type) != np.float32:
            return None
        return Chain((op,), op.lhs, name)
    if dtype != np.int32:
        return None
    left, right = op.lhs.owner, op.rhs.owner
    if not isinstance(left, d.CastOp) or not isinstance(right, d.CastOp):
        return None
    name = weight_name(right.operand, program)
    if name is None or any(numpy_dtype(v.type) != np.int8 for v in (left.operand, right.operand)):
        return None
    if weight_name(left.operand, program) is not None:
        return None
    chain = Chain((left, right, op), left.operand, name)
    return _convolution(chain) or chain


def _convolution(chain: Chain) -> Chain | None:
    """The chain with its window where the source is slices of a padded image side by side."""
    joined = chain.source.owner
    if not isinstance(joined, d.ConcatOp) or joined.axis.value.data not in {-1, 3} or len(shape_of(chain.source.type)) != 4:
        return None
    slices = [v.owner for v in joined.operands]
    if not all(isinstance(s, d.SliceOp) for s in slices):
        return None
    parts = [s for s in slices if isinstance(s, d.SliceOp)]
    image = parts[0].operand
    if any(p.operand is not image for p in parts) or len(shape_of(image.type)) != 4:
        return None
    starts, sizes, steps = zip(*(_slice(p) for p in parts), strict=True)
    n, _, _, channels = shape_of(image.type)
    if len(set(sizes)) != 1 or len(set(steps)) != 1 or (sizes[0][0], sizes[0][3]) != (n, channels):
        return None
    stride = steps[0][1]
    taps = (max(s[1] for s in starts) + 1, max(s[2] for s in starts) + 1)
    if steps[0] != (1, stride, stride, 1) or stride < 1 or [*starts] != [(0, i, j, 0) for i, j in product(*map(range, taps))]:
        return None
    ops = (*chain.ops, joined, *parts)
    padding = image.owner
    if isinstance(padding, d.PadOp) and _number(padding.value) == 0:
        low, high = integers(padding.low), integers(padding.high)
        if (low[0], low[3], high[0], high[3]) == (0, 0, 0, 0):
            window = Window(taps, stride, (low[1], high[1]), (low[2], high[2]))
            return replace(chain, ops=(*ops, padding), source=padding.operand, window=window)
    return replace(chain, ops=ops, source=image, window=Window(taps, stride, (0, 0), (0, 0)))


def _slice(op: d.SliceOp) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    start, size = integers(op.start), integers(op.size)
    return start, size, (1,) * len(start) if op.step is None else integers(op.step)


def _fleet(op: Operation) -> d.FleetOp:
    assert isinstance(op, d.FleetOp)
    return op
