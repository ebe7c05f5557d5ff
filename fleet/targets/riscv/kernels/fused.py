"""Kernels of several elementwise operations: one nest of loops, in which results pass from operation to operation in registers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp, FusedOp, YieldOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.riscv.kernels.bodies import parts_of
from fleet.targets.riscv.kernels.composite import activation
from fleet.targets.riscv.kernels.elementwise import (
    BINARY,
    COST,
    UNARY,
    LaneOperand,
    StepShape,
    check_elementwise,
    lane_value,
    loaded,
    step_shape,
    walk_elements,
)
from fleet.targets.riscv.kernels.kernel import ArrayOperand, Builder, Value, convert, store
from fleet.targets.riscv.plan import dtype_of

__all__ = ["describe_fused", "emit_fused", "fusable", "fused_work"]

_ACTIVATIONS = (d.GeluOp, d.SiluOp)
_KINDS = frozenset({*BINARY, *UNARY, d.WhereOp, *_ACTIVATIONS})


def fusable(op: FleetOp) -> bool:
    """Whether the operation may be part of a kernel: the target has its dtype, vectors can compute it, no element ends the run."""
    return (
        type(op) in _KINDS
        and dtype_of(op.results[0].type) is not None
        and not _step(op, [_constant(v) for v in op.operands]).serial
    )


def emit_fused(b: Builder, op: FleetOp, out: ArrayOperand, *operands: ArrayOperand) -> None:
    """Emit a kernel. Raises DeviceError if the target lacks one of its operations."""
    assert isinstance(op, FusedOp)
    block = op.body.block
    inner = _operations(op)
    shape = shape_of(inner[0].results[0].type)
    arrays: dict[SSAValue, ArrayOperand] = dict(zip(block.args, operands, strict=True))
    for one in inner:
        dtype = numpy_dtype(one.results[0].type)
        check_elementwise(one, dtype, shape, [arrays[v] for v in one.operands])
        arrays[one.results[0]] = ArrayOperand(None, dtype, shape)
    results = parts_of(op.result.type, out.pointer, b)
    yields = block.last_op
    assert isinstance(yields, YieldOp)

    def body(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
        places = zip(operands, offsets[len(results) :], walk[len(results) :], strict=True)
        given = [loaded(b, array, offset, lanes, stride) for array, offset, stride in places]
        values: dict[SSAValue, LaneOperand] = dict(zip(block.args, given, strict=True))
        for one in inner:
            dtype = numpy_dtype(one.results[0].type)
            values[one.results[0]] = _passed(b, _value(b, one, dtype, [values[v] for v in one.operands]), dtype)
        for target, offset, value in zip(results, offsets, yields.operands, strict=False):
            store(b, target, offset, values[value].read(target.dtype))

    steps = [_step(one, [arrays[v].constant for v in one.operands]) for one in inner]
    heavy = any(s.heavy for s in steps)
    step = StepShape(max(s.size for s in steps), heavy, serial=False)
    walk_elements(b, shape, results, operands, body, step, unroll=1 if heavy else 4)


def fused_work(op: FusedOp) -> int:
    """Return an upper estimate of retired instructions."""
    inner = _operations(op)
    size = int(np.prod(shape_of(inner[0].results[0].type), dtype=np.int64))
    return 400 + size * sum(COST.get(type(one), 20) for one in inner)


def describe_fused(op: FusedOp) -> str:
    """Return what the kernel's code depends on besides its arrays: the operations without their names."""
    block = op.body.block
    numbers: dict[SSAValue, int] = {v: i for i, v in enumerate(block.args)}
    words: list[str] = []
    for one in block.ops:
        operands = [(numbers[v], is_tensor(v.type)) for v in one.operands]
        attributes = sorted(attributes_of(one).items()) if isinstance(one, FleetOp) else []
        words.append(f"{one.name}{attributes}{operands}{[str(r.type) for r in one.results]}")
        numbers |= {r: len(numbers) for r in one.results}
    return ";".join(words)


def _operations(op: FusedOp) -> list[FleetOp]:
    return [one for one in op.body.block.ops if isinstance(one, FleetOp)]


def _value(b: Builder, op: FleetOp, dtype: np.dtype, operands: Sequence[LaneOperand]) -> Value:
    if isinstance(op, d.GeluOp | d.SiluOp):
        name = f"gelu_{attributes_of(op)['approximate']}" if isinstance(op, d.GeluOp) else "silu"
        return activation(b, name, operands[0].read(dtype), dtype)
    return lane_value(b, op, dtype, operands)


def _passed(b: Builder, value: Value, dtype: np.dtype) -> LaneOperand:
    """Return a result as an operand of later operations."""
    return LaneOperand(dtype, None, lambda wanted: convert(b, value, dtype, wanted))


def _step(op: FleetOp, constants: Sequence[float | None]) -> StepShape:
    if isinstance(op, _ACTIVATIONS):
        return StepShape(8, heavy=True, serial=False)
    return step_shape(op, numpy_dtype(op.results[0].type), [numpy_dtype(v.type) for v in op.operands], constants)


def _constant(value: SSAValue) -> float | None:
    owner = value.owner
    return constant_value(owner) if isinstance(owner, d.ConstantOp) and not shape_of(value.type) else None
