"""Kernels with reductions: passes over the elements of one row after another.

A pass computes what the rows' totals known so far allow: softmax takes the maximum in the first, exponentials and their sum in the
second, and divides in the third. What a later pass needs again is computed again if that is short, else read where it was stored:
in a result, or in scratch memory of one row.

Every total has the bits that it has alone. Sums run sequentially in C order of the reduced axes, in the result's dtype. If the
reduced elements are adjacent and the instruction set has vectors, lane l of a vector of W lanes sums elements l, l + W, l + 2 W ...
The lanes are added in ascending order, then the remainder in the same way with half as many lanes, and so on. Whether elements are
adjacent and W depend on the operand's strides and dtypes, not on the kernel. The variance takes two passes, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import ReduceOp
from fleet.ir.operations.spaces import KernelSpace
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.planner import round_up
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.kernels.elementwise import LaneOperand, check_elementwise
from fleet.targets.riscv.kernels.kernel import (
    ArrayOperand,
    Builder,
    Value,
    broadcast_strides,
    contiguous,
    is_float,
    lanes_of,
    number,
)
from fleet.targets.riscv.kernels.loops import merge
from fleet.targets.riscv.kernels.reductions import REDUCTIONS
from fleet.targets.riscv.kernels.steps import step_of, step_value
from fleet.targets.riscv.plan import ALIGN, refuse

REDUCTION_COST = 40
"""Upper estimate of instructions per reduced element."""
_SHORT = 3
"""Loads and steps up to which a value is computed again instead of stored and loaded."""
_SLOW = (d.DivOp, d.SqrtOp, d.FloorDivOp, d.ModOp)
"""Steps of one instruction that take longer than a load."""
_ONE_LANE = 1 << 20
"""Bytes of an element of which no register holds two."""


def can_reduce(op: ReduceOp) -> bool:
    """Return whether the target has the reduction for its dtypes."""
    dtype = numpy_dtype(op.results[0].type)
    if isinstance(op, d.MeanOp | d.VarOp):
        return is_float(dtype)
    return dtype.kind == "b" or not isinstance(op, d.ReduceAnyOp | d.ReduceAllOp)


@dataclass(eq=False)
class RowPlace:
    """Place of elements or values of rows: strides over the rows and over the elements of one. rows None: in scratch, one row."""

    array: ArrayOperand
    rows: tuple[int, ...] | None
    elements: tuple[int, ...]


@dataclass(eq=False)
class RowTotal:
    """The sum of a row. reduce: as in `reductions.combine`. order: strides of the operand alone. lanes: partial sums, or 1.

    The loops are those that the operand alone would have; partial sums lie side by side over the innermost of them.
    """

    reduce: str
    order: tuple[int, ...]
    lanes: int

    def loops(self, sizes: Sequence[int], strides: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
        """Return the sizes of its loops, and the strides of arrays in them, given those by reduced axis."""
        found, steps = merge(sizes, [*strides, self.order])
        return found, steps[:-1]


@dataclass(eq=False)
class RowNode:
    """A value of the kernel: one a row, or one an element.

    ready: the first pass that can use it. place: where it is stored or comes from. size, heavy: as in `StepShape`. cost: loads and
    steps of an element.
    """

    dtype: np.dtype
    row: bool
    operands: tuple[RowNode, ...] = ()
    step: Callable[[Builder, Sequence[LaneOperand]], Value] | None = None
    total: RowTotal | None = None
    place: RowPlace | None = None
    ready: int = 0
    size: int = 1
    heavy: bool = False
    cost: int = 1
    constant: float | None = None


class RowKernel:
    """The plan of a kernel, out of which its code is made.

    Args:
        space: its loops.
        operations: what it computes, in order.
        given: the values from outside.
        results: the values that it stores, with their arrays.
        isa: the instruction set.

    Attributes:
        space: as given.
        kept: the axes of the rows.
        inputs: values from outside with the shape that they are read with.
        workspace: bytes of scratch.
        spilled: what is stored there, in order; each takes `spilled_bytes`.
        size: bytes of the largest element that is computed with, for the rows' lanes.
        sizes: elements of a row, by reduced axis.
        stored: what is stored, and where.
        passes: over the elements of a row.
        across: whether lanes hold partial sums of one row.
    """

    def __init__(
        self,
        space: KernelSpace,
        operations: Sequence[FleetOp],
        given: Mapping[SSAValue, ArrayOperand],
        results: Mapping[SSAValue, ArrayOperand],
        isa: Isa,
    ) -> None:
        self.space, self._isa = space, isa
        self.kept = [i for i in range(len(space.shape)) if i not in space.reduced]
        self.sizes = [space.shape[i] for i in space.reduced]
        self._arrays = dict(given)
        self._values: dict[SSAValue, RowNode] = {}
        self.inputs: dict[tuple[SSAValue, tuple[int, ...]], RowNode] = {}
        self._nodes: list[RowNode] = []
        for op in operations:
            self._add(op)
        self.stored = [(self._values[v], self._place(array, array.shape)) for v, array in results.items()]
        for node, place in self.stored:
            if not node.row and node.place is None:
                node.place = place
        self.passes = max([n.ready for n in self._nodes if n.total], default=0) + 1
        self.across = any(n.total.lanes > 1 for n in self._nodes if n.total)
        self.spilled: list[RowNode] = []
        self._plan_spills()
        size = _ONE_LANE if self.across else max((n.size for n in self._nodes), default=8)
        self.size, self._most = size, isa.lanes(size, 4) if self.kept and not self.across else 1
        for node in self.spilled:
            assert node.place is not None
            node.place.elements = tuple(s * self._most for s in contiguous(self.sizes))
        self.workspace = sum(map(self.spilled_bytes, self.spilled))

    def spilled_bytes(self, node: RowNode) -> int:
        """Return the bytes of scratch of a node: its elements of a row, or of all rows that are done at a time."""
        return round_up(int(np.prod(self.sizes, dtype=np.int64)) * self._most * node.dtype.itemsize, ALIGN)

    # ---- the plan

    def _add(self, op: FleetOp) -> None:
        result, dtype, shape = op.results[0], numpy_dtype(op.results[0].type), shape_of(op.results[0].type)
        if isinstance(op, d.ReshapeOp):
            self._values[result] = self._values[op.operands[0]]
            self._arrays[result] = replace(self._arrays[op.operands[0]], shape=shape)
            return
        arrays = [self._arrays[v] for v in op.operands]
        self._arrays[result] = ArrayOperand(None, dtype, shape)
        if isinstance(op, ReduceOp):
            self._values[result] = self._reduction(op, dtype, shape)
            return
        check_elementwise(op, dtype, shape, arrays)
        step = step_of(op, [a.constant for a in arrays])
        operands = [self._operand(v, shape) for v in op.operands]
        row = shape != self.space.shape
        node = self._step(dtype, row, operands, lambda b, x: step_value(b, op, x), step.size, heavy=step.heavy)
        node.cost += _SHORT * isinstance(op, _SLOW)
        self._values[result] = node

    def _operand(self, value: SSAValue, shape: tuple[int, ...]) -> RowNode:
        """Return an operand of a result of that shape."""
        if value in self._values:
            return self._values[value]
        node = self.inputs.get((value, shape))
        if node is None:
            array = self._arrays[value]
            node = RowNode(array.dtype, shape != self.space.shape, place=self._place(array, shape), constant=array.constant)
            node.size, node.cost = array.dtype.itemsize, int(array.constant is None)
            self.inputs[value, shape] = node
        return node

    def _place(self, array: ArrayOperand, shape: tuple[int, ...]) -> RowPlace:
        strides = broadcast_strides(array, shape)
        assert strides is not None, "shapes are checked before code is made"
        if len(shape) < len(self.space.shape):
            return RowPlace(array, strides, ())
        return RowPlace(array, tuple(strides[i] for i in self.kept), tuple(strides[i] for i in self.space.reduced))

    def _step(
        self,
        dtype: np.dtype,
        row: bool,
        operands: Sequence[RowNode],
        step: Callable[[Builder, Sequence[LaneOperand]], Value],
        size: int,
        *,
        heavy: bool = False,
    ) -> RowNode:
        node = RowNode(dtype, row, tuple(operands), step, size=size, heavy=heavy)
        node.ready = max(o.ready for o in operands)
        node.cost = (10 if heavy else 1) + sum(o.cost for o in dict.fromkeys(operands) if not o.row)
        self._nodes.append(node)
        return node

    def _reduction(self, op: ReduceOp, dtype: np.dtype, shape: tuple[int, ...]) -> RowNode:
        array, operand = self._arrays[op.operand], self._operand(op.operand, self.space.shape)
        count = int(np.prod(self.sizes, dtype=np.int64))
        if shape not in (self.space.kept, self.space.removed):
            raise refuse(op, f"result shape {shape}; expected {self.space.removed}")
        if isinstance(op, d.ReduceMaxOp | d.ReduceMinOp) and not count and 0 not in shape:
            raise refuse(op, "the maximum or minimum of no elements")
        if not can_reduce(op):
            raise refuse(op, f"result {dtype}; expected {'float32 or float64' if isinstance(op, d.MeanOp | d.VarOp) else 'bool'}")
        order = tuple(array.strides[i] for i in self.space.reduced)
        sizes, (steps,) = merge(self.sizes, [order])
        size = 8 if is_float(dtype) != is_float(array.dtype) else max(dtype.itemsize, array.dtype.itemsize)
        lanes = self._isa.lanes(size, 4) if sizes and steps[-1] == 1 else 1

        def total(of: RowNode) -> RowNode:
            node = RowNode(dtype, True, (of,), total=RowTotal(REDUCTIONS[type(op)], order, lanes), ready=of.ready + 1, size=size)
            self._nodes.append(node)
            return node

        def mean(of: RowNode) -> RowNode:
            return self._step(dtype, True, [total(of)], lambda b, x: _divided(b, x[0].read(dtype), count, dtype), dtype.itemsize)

        def square(b: Builder, x: Sequence[LaneOperand]) -> Value:
            distance = b.fsub(x[0].read(dtype), x[1].read(dtype))
            return b.fmul(distance, distance)

        if isinstance(op, d.MeanOp):
            return mean(operand)
        if isinstance(op, d.VarOp):
            return mean(self._step(dtype, False, [operand, mean(operand)], square, size))
        return total(operand)

    def _plan_spills(self) -> None:
        """Decide what is stored in scratch: what a later pass needs and is long, and what lanes cannot sum as it is computed."""
        while (node := next(self._unstored(), None)) is not None:
            array = ArrayOperand(None, node.dtype, tuple(self.sizes))
            node.place = RowPlace(array, None, contiguous(self.sizes))
            self.spilled.append(node)

    def _unstored(self) -> Iterator[RowNode]:
        for turn in range(self.passes):
            for node in self.used(self._roots(turn), turn):
                if node.ready < turn and node.operands and node.place is None and node.cost > _SHORT:
                    yield node
            for total in self.totals(turn):
                if total.total is not None and total.total.lanes > 1 and not self._direct(total, turn):
                    yield total.operands[0]

    def totals(self, turn: int) -> list[RowNode]:
        """Return the totals that a pass makes."""
        return [n for n in self._nodes if n.total is not None and n.ready == turn + 1]

    def stores(self, turn: int) -> list[tuple[RowNode, RowPlace]]:
        """Return what a pass stores of its elements."""
        kept = [(node, place) for node, place in self.stored if not node.row and node.ready == turn]
        return kept + [(node, node.place) for node in self.spilled if node.ready == turn and node.place is not None]

    def _roots(self, turn: int) -> list[RowNode]:
        return [t.operands[0] for t in self.totals(turn)] + [node for node, _ in self.stores(turn)]

    def used(self, roots: Sequence[RowNode], turn: int, *, after_stores: bool = False) -> list[RowNode]:
        """Return the nodes of elements that a pass computes or loads for some of them. after_stores: what it stores is loaded."""
        found: dict[RowNode, None] = {}
        waiting = list(roots)
        while waiting:
            node = waiting.pop()
            if node not in found:
                found[node] = None
                if not self.loads(node, turn, after_stores=after_stores):
                    waiting += [operand for operand in node.operands if not operand.row]
        return list(found)

    def loads(self, node: RowNode, turn: int, *, after_stores: bool = False) -> bool:
        """Return whether a pass loads a node's elements instead of computing them; see `used`."""
        return not node.operands or (node.place is not None and (node.ready < turn or (after_stores and node.ready == turn)))

    def _direct(self, total: RowNode, turn: int) -> bool:
        """Return whether lanes can sum the elements as they are computed, in the total's order."""
        assert total.total is not None
        used = self.used(total.operands, turn, after_stores=True)
        if len(used) == 1 and used[0].place is not None:
            return True
        places = [n.place for n in used if n.place is not None and self.loads(n, turn, after_stores=True)]
        sizes, steps = total.total.loops(self.sizes, [p.elements for p in places])
        fits = sizes == merge(self.sizes, [total.total.order])[0] and all(s[-1] in (0, 1) for s in steps)
        return fits and max(n.size for n in used) <= total.size and not any(n.heavy for n in used)


def _divided(b: Builder, value: Value, count: int, dtype: np.dtype) -> Value:
    return b.fdiv(value, number(dtype, count, lanes_of(value)))
