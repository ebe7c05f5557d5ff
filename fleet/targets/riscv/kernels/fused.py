"""Kernels of several operations: one nest of loops, in which results pass from operation to operation in registers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Block, SSAValue

from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp, FusedOp, RegionOp, YieldOp
from fleet.ir.operations.operation import ReduceOp, attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.kernels.bodies import parts_of
from fleet.targets.riscv.kernels.elementwise import COST, LaneOperand, StepShape, check_elementwise, loaded, walk_elements
from fleet.targets.riscv.kernels.kernel import ArrayOperand, Builder, Value, isa_of, store
from fleet.targets.riscv.kernels.row_code import emit_rows
from fleet.targets.riscv.kernels.rows import REDUCTION_COST, RowKernel, can_reduce
from fleet.targets.riscv.kernels.steps import STEPS, constant_of, passed, step_of, step_value
from fleet.targets.riscv.plan import type_supported
from fleet.transforms.schedule_loops import loops_of
from fleet.transforms.widen_halves import computes_in_half


def fusable(op: FleetOp) -> bool:
    """True if the operation may be part of a kernel: the target has its dtypes, vectors can compute it, no element ends the run."""
    if not all(type_supported(v.type) for v in (*op.results, *op.operands)) or computes_in_half(op):
        return False
    if isinstance(op, ReduceOp):
        return can_reduce(op)
    return isinstance(op, d.ReshapeOp) or (type(op) in STEPS and not step_of(op, [constant_of(v) for v in op.operands]).serial)


def emit_fused(b: Builder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand], scratch: Value) -> None:
    """Emit a kernel. Raises DeviceError if the target lacks one of its operations."""
    assert isinstance(op, FusedOp)
    emit_loops(b, op, parts_of(op.result.type, out.pointer, b), operands, scratch)


def emit_loops(b: Builder, op: FusedOp, results: Sequence[ArrayOperand], operands: Sequence[ArrayOperand], scratch: Value) -> None:
    """Emit a kernel whose results are arrays of their own."""
    if op.space.reduced:
        emit_rows(b, _rows(op, operands, results, isa_of(b)), scratch, loops_of(op))
    else:
        _emit_elements(b, op, operands, results)


def _rows(op: FusedOp, operands: Sequence[ArrayOperand], results: Sequence[ArrayOperand], isa: Isa) -> RowKernel:
    given: dict[SSAValue, ArrayOperand] = dict(zip(op.body.block.args, operands, strict=True))
    return RowKernel(op.space, op.operations, given, dict(zip(_yielded(op), results, strict=True)), isa)


def _yielded(op: FusedOp) -> Sequence[SSAValue]:
    yields = op.body.block.last_op
    assert isinstance(yields, YieldOp)
    return yields.operands


def _emit_elements(b: Builder, op: FusedOp, operands: Sequence[ArrayOperand], results: Sequence[ArrayOperand]) -> None:
    block, inner, shape = op.body.block, op.operations, op.space.shape
    arrays: dict[SSAValue, ArrayOperand] = dict(zip(block.args, operands, strict=True))
    for one in inner:
        dtype = numpy_dtype(one.results[0].type)
        check_elementwise(one, dtype, shape, [arrays[v] for v in one.operands])
        arrays[one.results[0]] = ArrayOperand(None, dtype, shape)

    def body(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
        places = zip(operands, offsets[len(results) :], walk[len(results) :], strict=True)
        given = [loaded(b, array, offset, lanes, stride) for array, offset, stride in places]
        values: dict[SSAValue, LaneOperand] = dict(zip(block.args, given, strict=True))
        for one in inner:
            dtype = numpy_dtype(one.results[0].type)
            values[one.results[0]] = passed(b, step_value(b, one, [values[v] for v in one.operands]), dtype)
        for target, offset, value in zip(results, offsets, _yielded(op), strict=False):
            store(b, target, offset, values[value].read(target.dtype))

    steps = [step_of(one, [arrays[v].constant for v in one.operands]) for one in inner]
    step = StepShape(max(s.size for s in steps), any(s.heavy for s in steps), serial=False)
    walk_elements(b, shape, results, operands, body, step, loops_of(op))


def fused_workspace(op: FusedOp, operands: Sequence[ArrayOperand], isa: Isa) -> int:
    """Return the bytes of scratch that a kernel needs."""
    if not op.space.reduced:
        return 0
    results = [ArrayOperand(None, numpy_dtype(v.type), shape_of(v.type)) for v in _yielded(op)]
    return _rows(op, operands, results, isa).workspace


def fused_work(op: FusedOp) -> int:
    """Return an upper estimate of retired instructions."""
    inner, space = op.operations, op.space
    size = int(np.prod(space.shape, dtype=np.int64))
    passes = 1 + 2 * sum(isinstance(one, ReduceOp) for one in inner)
    cost = sum(REDUCTION_COST if isinstance(one, ReduceOp) else COST.get(type(one), 20) for one in inner)
    return 400 + size * (20 * passes + passes * cost)


def describe_bodies(op: RegionOp) -> str:
    """Return what the code of an operation's bodies depends on besides arrays: their operations without names and places."""
    return "|".join(map(_described, op.bodies))


def _described(block: Block) -> str:
    numbers: dict[SSAValue, int] = {v: i for i, v in enumerate(block.args)}
    words = [str(v.type) for v in block.args]
    for one in block.ops:
        operands = [(numbers[v], is_tensor(v.type)) for v in one.operands]
        attributes = sorted(attributes_of(one).items()) if isinstance(one, FleetOp) else []
        constant = repr(constant_value(one)) if isinstance(one, d.ConstantOp) else ""
        inner = f"({describe_bodies(one)})" if isinstance(one, RegionOp) else ""
        words.append(f"{one.name}{attributes}{constant}{operands}{inner}{[str(r.type) for r in one.results]}")
        numbers |= {r: len(numbers) for r in one.results}
    return ";".join(words)
