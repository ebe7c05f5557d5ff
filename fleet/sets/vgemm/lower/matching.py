"""Finds the IR operations that one product covers: matmul or convolution, bias, residual, and ALU steps on the sums.

A convolution is a pattern of NumPy operations: a padded image, one slice per tap, the slices concatenated, and a matmul by a matrix
[taps * channels, outputs].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from xdsl.ir import BlockArgument, Operation, SSAValue

from fleet.sdk.chain import ChainRule, Covered, Link, Site, Start
from fleet.sdk.ir import Program, constant_value, integers, numpy_dtype, shape_of, weight_name
from fleet.sdk.ir import dialect as d
from fleet.sets.vgemm.layout import FRACTION
from fleet.sets.vgemm.operands import AluOp

_ALU: Mapping[type[d.FleetOp], AluOp] = {
    d.MaximumOp: AluOp.MAX,
    d.MinimumOp: AluOp.MIN,
    d.AddOp: AluOp.ADD,
    d.FloorDivOp: AluOp.SHR,
}


@dataclass(frozen=True)
class ConvolutionWindow:
    """The window of a convolution: taps (rows, columns), stride, and zeros before and after each image's rows and columns."""

    taps: tuple[int, int]
    stride: int
    rows: tuple[int, int]
    columns: tuple[int, int]


@dataclass(frozen=True)
class ProductChain:
    """A covered chain.

    Attributes:
        ops: of the group; the last one computes its result.
        source: the multiplied value, in device memory.
        weight, bias: names.
        residual: a value that is added.
        window: None for a plain product.
        steps: following ALU steps, in order: (operation, immediate).
        narrow: the result is INT8; else INT32 or real.
    """

    ops: tuple[d.FleetOp, ...]
    source: SSAValue
    weight: str
    bias: str | None = None
    residual: SSAValue | None = None
    window: ConvolutionWindow | None = None
    steps: tuple[tuple[AluOp, int], ...] = ()
    narrow: bool = False

    @property
    def real(self) -> bool:
        """Whether it computes with real numbers, which are in fixed point on the device."""
        return numpy_dtype(self.source.type).kind == "f"


def find_chain(op: d.FleetOp, program: Program) -> ProductChain | None:
    """Return the chain that ends with `op`, or None. Its operations are in program order."""
    found = _CHAIN.find(op, program)
    if not isinstance(found, Covered):
        return None
    bias, residual = found.site("bias"), found.site("residual")
    return replace(
        found.start,
        ops=found.ops,
        bias=None if bias is None else bias.weight,
        residual=None if residual is None else residual.other,
        steps=tuple(_step(site) for name, site in found.sites if name == "alu"),
        narrow=found.site("narrow") is not None,
    )


def _step(site: Site) -> tuple[AluOp, int]:
    """Return the ALU operation and its immediate."""
    what, number = _ALU[type(site.op)], int(site.number or 0)
    return what, number.bit_length() - 1 if what is AluOp.SHR else number


def _is_step(site: Site) -> bool:
    """Return whether ALU can do it: an immediate of 16 bits, a division by a power of two; for real numbers only ReLU."""
    number = site.number
    if number is None or not float(number).is_integer():
        return False
    if numpy_dtype(site.value.type).kind == "f":
        return isinstance(site.op, d.MaximumOp) and number == 0
    if isinstance(site.op, d.FloorDivOp):
        return number >= 1 and not int(number) & int(number) - 1
    return -(1 << 15) <= number < 1 << 15


def _adds(site: Site, shape: tuple[int, ...]) -> bool:
    """Return whether a value of this shape is added to sums that keep their shape."""
    sums, result = shape_of(site.value.type), shape_of(site.op.results[0].type)
    return site.other is not None and shape_of(site.other.type) == shape and sums == result


def _is_bias(site: Site) -> bool:
    return site.weight is not None and _adds(site, shape_of(site.value.type)[-1:])


def _is_residual(site: Site) -> bool:
    dtype, other = numpy_dtype(site.value.type), site.other
    if other is None or site.weight is not None or numpy_dtype(other.type) != dtype:
        return False
    return _adds(site, shape_of(site.value.type)) and (dtype.kind != "f" or _fits(other, site.program))


def _fits(value: SSAValue, program: Program) -> bool:
    """Return whether a real value may be in fixed point: a number in range, or activations.

    Values computed from weights alone are weights, which no product adds; a mask of infinities is an example.
    """
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


def _product(op: d.FleetOp, program: Program) -> Start[ProductChain] | None:
    """Match a product by a weight, of float32 or of INT8 cast to INT32; or a convolution."""
    if not isinstance(op, d.MatmulOp) or len(shape_of(op.rhs.type)) != 2 or len(shape_of(op.lhs.type)) < 2:
        return None
    casts = [v.owner for v in (op.lhs, op.rhs) if isinstance(v.owner, d.CastOp)]
    dtype, ops, (left, right) = np.float32, (op,), op.operands
    if numpy_dtype(op.result.type) == np.int32:
        if len(casts) != 2:
            return None
        dtype, ops, (left, right) = np.int8, (*casts, op), (cast.operand for cast in casts)
    name = weight_name(right, program)
    if name is None or weight_name(left, program) is not None or any(numpy_dtype(v.type) != dtype for v in (left, right)):
        return None
    chain = ProductChain(ops, left, name)
    if dtype is np.int8:
        chain = _convolution(chain) or chain
    return Start(chain, chain.ops)


def _convolution(chain: ProductChain) -> ProductChain | None:
    """Return the chain with its window if the source is concatenated slices of a padded image; else None."""
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
    if isinstance(padding, d.PadOp) and isinstance(padding.value.owner, d.ConstantOp) and constant_value(padding.value.owner) == 0:
        low, high = integers(padding.low), integers(padding.high)
        if (low[0], low[3], high[0], high[3]) == (0, 0, 0, 0):
            window = ConvolutionWindow(taps, stride, (low[1], high[1]), (low[2], high[2]))
            return replace(chain, ops=(*ops, padding), source=padding.operand, window=window)
    return replace(chain, ops=ops, source=image, window=ConvolutionWindow(taps, stride, (0, 0), (0, 0)))


def _slice(op: d.SliceOp) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    start, size = integers(op.start), integers(op.size)
    return start, size, (1,) * len(start) if op.step is None else integers(op.step)


_ALU_LINK = Link("alu", tuple(_ALU), when=_is_step, most=None)
_NARROW = Link("narrow", d.CastOp, when=lambda s: [numpy_dtype(v.type) for v in (s.value, s.op.results[0])] == [np.int32, np.int8])
_CHAIN = ChainRule(
    _product, (Link("bias", d.AddOp, when=_is_bias), Link("residual", d.AddOp, when=_is_residual)), _ALU_LINK, _NARROW
)
