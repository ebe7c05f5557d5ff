"""Code of decisions and loops: their bodies inline, results of their operations in scratch.

A tuple's parts follow each other in memory, each aligned like a buffer. A loop keeps its carried values in its result. New values
of an iteration that still depend on the old ones pass through scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, Block, SSAValue

from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp
from fleet.ir.operations import regions
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.liveness import Life, Lives
from fleet.targets.planner import round_up, share
from fleet.targets.riscv.faults import RuntimeFault, emit_fault
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.kernels.kernel import I64, ArrayOperand, Builder, Value, index, load, moved_bytes
from fleet.targets.riscv.kernels.movement import emit_copy
from fleet.targets.riscv.plan import ALIGN, HELD, array_of, part_offsets, refuse
from fleet.targets.riscv.views import view_of

Emit: TypeAlias = Callable[[Builder, FleetOp, Sequence[ArrayOperand], Value], None]
BodyWorkspace: TypeAlias = Callable[[FleetOp, Sequence[ArrayOperand], Isa], int]
Work: TypeAlias = Callable[[FleetOp, Sequence[ArrayOperand]], tuple[int, int]]


@dataclass(frozen=True)
class Inner:
    """Functions that the operations of a body need: for their code and for its scratch."""

    emit: Emit
    workspace: BodyWorkspace
    isa: Isa


@dataclass(frozen=True)
class _Place:
    """Place of a value: byte offset in scratch, or in an outer array (`of`)."""

    array: ArrayOperand
    offset: int
    of: int | None = None


class _Layout:
    """The memory of a body: the place of every value, and the order of operations."""

    def __init__(self, block: Block, arguments: Sequence[ArrayOperand], workspace: BodyWorkspace, isa: Isa) -> None:
        self.places: dict[SSAValue, _Place] = {
            v: _Place(a, 0, i) for i, (v, a) in enumerate(zip(block.args, arguments, strict=True))
        }
        self.code: list[FleetOp] = []
        self.given: list[SSAValue] = []
        views: dict[SSAValue, tuple[SSAValue, int]] = {}
        lives = Lives[SSAValue]()
        for n, op in enumerate(block.ops):
            for value in op.operands:
                lives.use(value, n)
            if isinstance(op, d.YieldOp):
                self.given = list(op.operands)
                continue
            assert isinstance(op, FleetOp)
            if isinstance(op, d.PrintOp):
                self.code.append(op)
                continue
            result = op.results[0]
            shape, dtype = array_of(result.type)
            array = ArrayOperand(None, dtype, shape)
            moved = self._view(op, array)
            if moved is not None:
                source, offset, array = moved
                views[result] = source, offset
                lives.view(result, [source])
            else:
                lives.begin(result, n)
                self.code.append(op)
            self.places[result] = _Place(array, 0)
        found = share({v: Life(_bytes(self.places[v].array), *ends) for v, ends in lives.of.items()}, ALIGN)
        for value, offset in found.offsets.items():
            self.places[value] = replace(self.places[value], offset=offset)
        for value, (source, offset) in views.items():
            at = self.places[source]
            self.places[value] = replace(self.places[value], offset=at.offset + offset, of=at.of)
        self.size = round_up(found.size, ALIGN)
        self.scratch = round_up(max((workspace(op, self.arrays(op), isa) for op in self.code), default=0), ALIGN)

    def _view(self, op: FleetOp, array: ArrayOperand) -> tuple[SSAValue, int, ArrayOperand] | None:
        """Return the operand that contains a result, the byte offset, and the part; None if the result is not a view."""
        if HELD in (array.dtype, *(self.places[v].array.dtype for v in op.operands[:1])):
            return None
        if isinstance(op, d.ElementOp):
            offset = part_offsets(op.operand.type)[0][op.index.value.data]
            return op.operand, offset, array
        if not op.operands:
            return None
        source = self.places[op.operands[0]].array
        if source.dtype != array.dtype:
            return None
        try:
            view = view_of(op, source.shape, source.strides, array.shape)
        except ValueError as error:
            raise refuse(op, str(error)) from error
        if view is None:
            return None
        return op.operands[0], view.offset * array.dtype.itemsize, replace(array, given=view.strides)

    def arrays(self, op: FleetOp) -> list[ArrayOperand]:
        """Return the arrays of the result and the operands without addresses; numbers of the source are known."""
        found = [self.places[v].array for v in op.results]
        for value in op.operands:
            array, owner = self.places[value].array, value.owner
            known = constant_value(owner) if isinstance(owner, d.ConstantOp) and array.size == 1 else None
            found.append(replace(array, constant=known))
        return found

    def pointer(self, b: Builder, value: SSAValue, arguments: Sequence[ArrayOperand], scratch: Value) -> Value:
        """Return the address of a value."""
        place = self.places[value]
        return moved_bytes(b, scratch if place.of is None else arguments[place.of].pointer, place.offset)


def _bytes(array: ArrayOperand) -> int:
    return array.size * array.dtype.itemsize


def parts_of(type_: Attribute, pointer: Value, b: Builder) -> list[ArrayOperand]:
    """Return the parts of a tuple at an address."""
    assert isinstance(type_, TupleType)
    offsets, _ = part_offsets(type_)
    return [
        ArrayOperand(moved_bytes(b, pointer, at), numpy_dtype(t), shape_of(t))
        for t, at in zip(type_.types.data, offsets, strict=True)
    ]


def _copy(b: Builder, target: ArrayOperand, source: ArrayOperand) -> None:
    if target.size:
        emit_copy(b, target.shape, target, target.strides, index(0), source, source.strides, index(0))


def _run(b: Builder, layout: _Layout, arguments: Sequence[ArrayOperand], scratch: Value, emit: Emit) -> list[ArrayOperand]:
    """Emit a body's code; return its results."""
    inner = moved_bytes(b, scratch, layout.size)

    def placed(value: SSAValue, array: ArrayOperand) -> ArrayOperand:
        return replace(array, pointer=layout.pointer(b, value, arguments, scratch))

    for op in layout.code:
        emit(b, op, [placed(v, a) for v, a in zip((*op.results, *op.operands), layout.arrays(op), strict=True)], inner)
    return [placed(v, layout.places[v].array) for v in layout.given]


def _layouts(op: d.RegionOp, operands: Sequence[ArrayOperand], workspace: BodyWorkspace, isa: Isa) -> list[_Layout]:
    given = operands[1:] if isinstance(op, d.IfOp) else operands
    return [_Layout(block, [replace(a, constant=None) for a in given], workspace, isa) for block in op.bodies]


def body_workspace(op: d.RegionOp, operands: Sequence[ArrayOperand], workspace: BodyWorkspace, isa: Isa) -> int:
    """Return the bytes of scratch."""
    most = max(layout.size + layout.scratch for layout in _layouts(op, operands, workspace, isa))
    return most + (round_up(part_offsets(op.result.type)[1], ALIGN) if isinstance(op, d.WhileOp) else 0)


def body_work(op: d.RegionOp, operands: Sequence[ArrayOperand], work: Work, workspace: BodyWorkspace, isa: Isa) -> tuple[int, int]:
    """Return an upper estimate of instructions, and the multiply-adds of one iteration."""
    found = [[work(inner, layout.arrays(inner)) for inner in layout.code] for layout in _layouts(op, operands, workspace, isa)]
    moved = 400 + 60 * part_offsets(op.result.type)[1]
    rounds = regions.MAX_ROUNDS if isinstance(op, d.WhileOp) else 1
    return min(1 << 52, rounds * (moved + sum(w for body in found for w, _ in body))), sum(m for body in found for _, m in body)


def emit_if(b: Builder, op: d.IfOp, out: ArrayOperand, operands: Sequence[ArrayOperand], scratch: Value, inner: Inner) -> None:
    """Emit code that runs one of two bodies."""
    given = [replace(a, constant=None) for a in operands[1:]]
    layouts = _layouts(op, operands, inner.workspace, inner.isa)
    holds = load(b, replace(operands[0], constant=None), index(0), np.dtype(np.bool_))
    ways = [b.append_basic_block(name) for name in ("then", "otherwise")]
    end = b.append_basic_block("end")
    b.cbranch(holds, *ways)
    for way, layout in zip(ways, layouts, strict=True):
        b.position_at_end(way)
        for target, source in zip(
            parts_of(op.result.type, out.pointer, b), _run(b, layout, given, scratch, inner.emit), strict=True
        ):
            _copy(b, target, source)
        b.branch(end)
    b.position_at_end(end)


def emit_while(
    b: Builder, op: d.WhileOp, out: ArrayOperand, operands: Sequence[ArrayOperand], scratch: Value, inner: Inner
) -> None:
    """Emit code that repeats a body as long as another returns true."""
    count = len(op.carried)
    test, body = _layouts(op, operands, inner.workspace, inner.isa)
    carried = parts_of(op.result.type, out.pointer, b)
    for target, source in zip(carried, operands, strict=False):
        _copy(b, target, replace(source, constant=None))
    arguments = [*carried, *(replace(a, constant=None) for a in operands[count:])]
    before = b.block
    again, round_, end = (b.append_basic_block(name) for name in ("again", "round", "end"))
    b.branch(again)
    b.position_at_end(again)
    rounds = b.phi(I64)
    rounds.add_incoming(index(0), before)
    (holds,) = _run(b, test, arguments, scratch, inner.emit)
    repeat = load(b, holds, index(0), np.dtype(np.bool_))
    endless = b.icmp_unsigned(">=", rounds, index(regions.MAX_ROUNDS))
    b.cbranch(b.and_(repeat, b.not_(endless)), round_, end)
    b.position_at_end(round_)
    given = _run(b, body, arguments, scratch, inner.emit)
    # Copy a result that is the iteration's own argument before it is overwritten.
    held = parts_of(op.result.type, moved_bytes(b, scratch, max(layout.size + layout.scratch for layout in (test, body))), b)
    kept = [body.places[v].of is not None for v in body.given]
    for waits, source, place in zip(kept, given, held, strict=True):
        if waits:
            _copy(b, place, source)
    for waits, source, place, target in zip(kept, given, held, carried, strict=True):
        _copy(b, target, place if waits else source)
    rounds.add_incoming(b.add(rounds, index(1)), b.block)
    b.branch(again)
    b.position_at_end(end)
    emit_fault(b, b.and_(repeat, endless), RuntimeFault.ROUNDS, rounds, index(regions.MAX_ROUNDS))
