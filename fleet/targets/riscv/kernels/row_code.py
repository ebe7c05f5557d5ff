"""The code of kernels with reductions: every pass is a loop over the elements of a row.

Without vectors, and with lanes over adjacent rows, a pass is one loop, which stores and sums at once. With lanes over the elements
of a row, it first stores what it has to, then makes each total in its own order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.operations.spaces import KernelSpace
from fleet.ir.schedule import LoopSchedule
from fleet.targets.riscv.kernels.elementwise import LaneOperand, loaded
from fleet.targets.riscv.kernels.kernel import ArrayOperand, Builder, Value, index, isa_of, moved_bytes, number, spread, store
from fleet.targets.riscv.kernels.loops import Carried, moved, nest, nest_fold, nest_scheduled
from fleet.targets.riscv.kernels.reductions import combine, fold_lanes, neutral
from fleet.targets.riscv.kernels.rows import RowKernel, RowNode, RowPlace
from fleet.targets.riscv.kernels.steps import passed
from fleet.targets.riscv.plan import refuse
from fleet.transforms.schedule_loops import loops_of


def emit_rows(b: Builder, kernel: RowKernel, scratch: Value, loops: LoopSchedule) -> None:
    """Emit a kernel. scratch: an address with the kernel's `workspace` bytes; loops: how it goes over the rows and over one."""
    at = 0
    for node in kernel.spilled:
        assert node.place is not None
        node.place.array = replace(node.place.array, pointer=moved_bytes(b, scratch, at))
        at += kernel.spilled_bytes(node)
    places = [n.place for n in kernel.inputs.values() if n.place is not None] + [place for _, place in kernel.stored]
    outer = [place for place in places if place.rows is not None]

    def row(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
        where = dict(zip(outer, zip(offsets, walk, strict=True), strict=True))
        _RowCode(kernel, b, where, lanes, loops.unroll).emit()

    shape, strides = [kernel.space.shape[i] for i in kernel.kept], [place.rows or () for place in outer]
    outside = replace(loops, unroll=1)
    nest_scheduled(b, outside, kernel.kept, shape, strides, [index(0)] * len(outer), row, size=kernel.size, unroll=1)


def emit_reduce(b: Builder, op: FleetOp, out: ArrayOperand, operand: ArrayOperand) -> None:
    """Emit `reduce_sum`, `reduce_prod`, `reduce_max`, `reduce_min`, `reduce_any`, `reduce_all`, `mean` or `var` alone."""
    axes, rank = attributes_of(op)["axes"], len(operand.shape)
    if any(not 0 <= a < rank for a in axes):
        raise refuse(op, f"axes {tuple(axes)} of an array of rank {rank}")
    space = KernelSpace(operand.shape, tuple(axes))
    emit_rows(b, RowKernel(space, [op], {op.operands[0]: operand}, {op.results[0]: out}, isa_of(b)), None, loops_of(op))


class _RowCode:
    """The code of a row, or of adjacent rows in lanes.

    where: offset of a place's row, and its stride from lane to lane. unroll: steps of its loops between two branches, or None.
    """

    def __init__(
        self, kernel: RowKernel, b: Builder, where: Mapping[RowPlace, tuple[Value, int]], lanes: int, unroll: int | None
    ) -> None:
        self._kernel, self._b, self._where, self._lanes, self._unroll = kernel, b, where, lanes, unroll
        self._rows: dict[RowNode, LaneOperand] = {}

    def emit(self) -> None:
        """Emit all passes, then what is stored of the row itself."""
        for turn in range(self._kernel.passes):
            totals, stores = self._kernel.totals(turn), self._kernel.stores(turn)
            if not self._kernel.across:
                self._loop(turn, totals, stores)
                continue
            if stores:
                self._store(turn, stores)
            for total in totals:
                self._sum(turn, total)
        for node, place in self._kernel.stored:
            if node.row:
                store(self._b, place.array, self._where[place][0], self._row(node).read(node.dtype))

    def _row(self, node: RowNode) -> LaneOperand:
        """Return a value of the row; emits it where it is asked for first, which must be outside of the passes' loops."""
        found = self._rows.get(node)
        if found is None:
            b = self._b
            if node.step is not None:
                found = passed(b, node.step(b, [self._row(o) for o in node.operands]), node.dtype)
            else:
                assert node.place is not None
                offset, walk = self._where[node.place]
                found = loaded(b, node.place.array, offset, self._lanes, walk)
                if node.constant is None:
                    found = passed(b, found.read(node.dtype), node.dtype)
            self._rows[node] = found
        return found

    def _from(self, place: RowPlace) -> Value:
        return index(0) if place.rows is None else self._where[place][0]

    def _needs(
        self, turn: int, roots: Sequence[RowNode], stores: Sequence[RowPlace], *, after_stores: bool = False
    ) -> tuple[list[RowPlace], bool]:
        """Emit the values of the row that a loop needs; return the places of its elements, and whether its code is long."""
        used = self._kernel.used(roots, turn, after_stores=after_stores)
        places = dict.fromkeys(stores)
        for node in used:
            if self._kernel.loads(node, turn, after_stores=after_stores):
                assert node.place is not None
                places[node.place] = None
                continue
            for operand in node.operands:
                if operand.row:
                    self._row(operand)
        return list(places), any(n.heavy for n in used)

    def _loop(self, turn: int, totals: Sequence[RowNode], stores: Sequence[tuple[RowNode, RowPlace]]) -> None:
        """Emit a pass in one loop."""
        roots = [t.operands[0] for t in totals] + [node for node, _ in stores]
        places, heavy = self._needs(turn, roots, [place for _, place in stores])
        walk = {p: (1 if self._lanes > 1 else 0) if p.rows is None else self._where[p][1] for p in places}

        def body(offsets: list[Value], sums: Carried) -> Carried:
            at = dict(zip(places, offsets, strict=True))
            elements = _Elements(self._kernel, self._b, self._rows, turn, at, walk, self._lanes)
            for node, place in stores:
                store(self._b, place.array, at[place], elements.of(node).read(node.dtype))
            return [self._summed(elements, t, s) for t, s in zip(totals, sums, strict=True)]

        starts = [self._from(p) for p in places]
        init = [spread(self._b, _begin(t), self._lanes) for t in totals]
        if roots:
            unroll = self._unroll or (1 if heavy else 4)
            sums = nest_fold(self._b, self._kernel.sizes, [p.elements for p in places], starts, init, body, unroll)
            self._known(totals, sums)

    def _known(self, totals: Sequence[RowNode], sums: Carried) -> None:
        self._rows |= {t: passed(self._b, s, t.dtype) for t, s in zip(totals, sums, strict=True)}

    def _summed(self, elements: _Elements, total: RowNode, before: Value) -> Value:
        assert total.total is not None
        return combine(self._b, total.total.reduce, before, elements.of(total.operands[0]).read(total.dtype), total.dtype)

    def _store(self, turn: int, stores: Sequence[tuple[RowNode, RowPlace]]) -> None:
        """Emit the stores of a pass, in lanes over the elements."""
        roots = [node for node, _ in stores]
        places, heavy = self._needs(turn, roots, [place for _, place in stores])

        def body(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
            at = dict(zip(places, offsets, strict=True))
            elements = _Elements(self._kernel, self._b, self._rows, turn, at, dict(zip(places, walk, strict=True)), lanes)
            for node, place in stores:
                store(self._b, place.array, at[place], elements.of(node).read(node.dtype))

        size = max(n.size for n in self._kernel.used(roots, turn))
        strides, starts = [p.elements for p in places], [self._from(p) for p in places]
        nest(self._b, self._kernel.sizes, strides, starts, body, size=size, unroll=self._unroll or (1 if heavy else 4))

    def _sum(self, turn: int, node: RowNode) -> None:
        """Emit one total, in lanes over the elements if that is its order."""
        b, total = self._b, node.total
        assert total is not None
        places, _ = self._needs(turn, node.operands, [], after_stores=True)
        strides, starts = [p.elements for p in places], [self._from(p) for p in places]

        def elements(offsets: Sequence[Value], walk: Sequence[int], lanes: int) -> _Elements:
            at, steps = dict(zip(places, offsets, strict=True)), dict(zip(places, walk, strict=True))
            return _Elements(self._kernel, b, self._rows, turn, at, steps, lanes, after_stores=True)

        if total.lanes == 1 or 0 in self._kernel.sizes:

            def step(offsets: list[Value], sums: Carried) -> Carried:
                return [self._summed(elements(offsets, [0] * len(offsets), 1), node, sums[0])]

            self._known([node], nest_fold(b, self._kernel.sizes, strides, starts, [_begin(node)], step))
            return
        sizes, steps = total.loops(self._kernel.sizes, strides)
        walk = [s[-1] for s in steps]

        def row(offsets: list[Value], sums: Carried) -> Carried:
            def value(i: Value, width: int) -> Value:
                places = [moved(b, o, i, w) for o, w in zip(offsets, walk, strict=True)]
                return elements(places, walk, width).of(node.operands[0]).read(node.dtype)

            return [fold_lanes(b, sizes[-1], index(0), sums[0], total.lanes, value, total.reduce, node.dtype)]

        self._known([node], nest_fold(b, sizes[:-1], [s[:-1] for s in steps], starts, [_begin(node)], row, 1))


class _Elements:
    """The elements of one step of a pass. at, walk: offset of every place and its stride from lane to lane."""

    def __init__(
        self,
        kernel: RowKernel,
        b: Builder,
        rows: Mapping[RowNode, LaneOperand],
        turn: int,
        at: Mapping[RowPlace, Value],
        walk: Mapping[RowPlace, int],
        lanes: int,
        *,
        after_stores: bool = False,
    ) -> None:
        self._kernel, self._b, self._rows, self._turn = kernel, b, rows, turn
        self._at, self._walk, self._lanes, self._after_stores = at, walk, lanes, after_stores
        self._made: dict[RowNode, LaneOperand] = {}

    def of(self, node: RowNode) -> LaneOperand:
        """Return a node's elements; they are computed once."""
        if node.row:
            value = self._rows[node]
            return LaneOperand(value.dtype, value.constant, lambda wanted: spread(self._b, value.read(wanted), self._lanes))
        found = self._made.get(node)
        if found is None:
            if self._kernel.loads(node, self._turn, after_stores=self._after_stores):
                place = node.place
                assert place is not None
                found = loaded(self._b, place.array, self._at[place], self._lanes, self._walk[place])
            else:
                assert node.step is not None
                found = passed(self._b, node.step(self._b, [self.of(o) for o in node.operands]), node.dtype)
            self._made[node] = found
        return found


def _begin(total: RowNode) -> Value:
    """Return what a sum begins with."""
    assert total.total is not None
    reduce = total.total.reduce
    return number(total.dtype, 0 if reduce == "add" else 1) if reduce in ("add", "mul") else neutral(total.dtype, reduce, 1)
