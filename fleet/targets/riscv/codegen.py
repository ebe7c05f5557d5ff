"""IR -> LLVM IR: one function an operation, called in program order by `fleet_main`.

Each operation becomes the function `op_<n>_<id>(out, operands..., scratch)` with external linkage that is never inlined,
so that instructions retired can be counted by operation. Fused multiply-add is used exactly where the code says so
(matrix products, polynomials); nothing is contracted or reassociated by LLVM, so the same program gives the same bits on
every run and machine. Functions carry "no-builtins": loops are not turned into calls of memcpy or memset, and the image
needs no library. `print` makes no code: values are single-assignment and all stay in memory, so the host formats the text
after the run, in program order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from llvmlite import ir

from fleet.ir import dialect
from fleet.ir.dialect import BinaryOp, FleetOp, ReduceOp, UnaryOp
from fleet.ir.program import Program
from fleet.ir.types import shape_of
from fleet.targets.riscv import _movement as movement
from fleet.targets.riscv import _reductions as reductions
from fleet.targets.riscv._elementwise import COST, emit_binary, emit_unary
from fleet.targets.riscv._kernel import I64, POINTER, Array, Builder, Value
from fleet.targets.riscv._matmul import emit_matmul, workspace
from fleet.targets.riscv.faults import FAULT_SYMBOL
from fleet.targets.riscv.plan import Buffer, MemoryPlan, dtype_of, identity, make_plan, refuse, symbol_part

TRIPLE = "riscv64-unknown-elf"
DATA_LAYOUT = "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128"
"""LLVM's own for this target; without it in the text, 64-bit loads are taken for aligned to 4 bytes and split."""
ENTRY = "fleet_main"
_SCRATCH = "fleet_scratch"


@dataclass(frozen=True)
class OperationCode:
    """One operation's function.

    Attributes:
        id: the operation's id; symbol: its function in the image.
        at: place in the source, None where unknown.
        work: upper estimate of the instructions that it retires (for progress and for the limit of a run).
    """

    id: str
    symbol: str
    at: str | None
    work: int


@dataclass(frozen=True)
class Module:
    """What `generate` makes: LLVM IR text, the memory plan, the operations, and the symbols left to the linker."""

    llvm_ir: str
    plan: MemoryPlan
    operations: tuple[OperationCode, ...]
    absolute: dict[str, tuple[int, int]]


def generate(program: Program) -> Module:
    """Plans memory and emits code.

    Raises:
        DeviceError: an operation, dtype or shape that the target lacks, named by its id and place.
    """
    scratch = max((_workspace(op) for op in program.operations()), default=0)
    plan, buffers = make_plan(program, scratch)
    module = ir.Module(name="fleet")
    module.triple = TRIPLE
    module.data_layout = DATA_LAYOUT
    fault: Value = ir.GlobalVariable(module, ir.ArrayType(I64, 3), FAULT_SYMBOL)
    fault.initializer = ir.Constant(fault.value_type, [0, 0, 0])
    main = _function(module, ENTRY, 0)
    b = ir.IRBuilder(main.append_basic_block("entry"))
    absolute = {buffer.symbol: (buffer.address, buffer.nbytes) for buffer in plan.buffers()} | {_SCRATCH: plan.scratch}
    places = {symbol: _external(module, symbol) for symbol in absolute}
    operations: list[OperationCode] = []
    for n, op in enumerate(program.operations()):
        if isinstance(op, dialect.PrintOp):
            continue
        id_ = identity(op)
        symbol = f"op_{n}_{symbol_part(id_)}"
        used = [buffers[op.results[0]], *(buffers[value] for value in op.operands)]
        function = _function(module, symbol, len(used) + 1)
        _emit(function, op, used)
        b.call(function, [*(places[buffer.symbol] for buffer in used), places[_SCRATCH]])
        at = op.properties.get("at")
        operations.append(OperationCode(id_, symbol, getattr(at, "data", None), _work(op, used)))
    b.ret_void()
    return Module(str(module), plan, tuple(operations), absolute)


def _external(module: Value, name: str) -> Value:
    place = ir.GlobalVariable(module, ir.IntType(8), name)
    place.linkage = "external"
    return place


def _function(module: Value, name: str, pointers: int) -> Value:
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER] * pointers), name)
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    set.add(function.attributes, '"no-builtins"')  # llvmlite's own `add` knows no string attributes
    for argument in function.args:
        argument.add_attribute("noalias")
    return function


def _workspace(op: FleetOp) -> int:
    if not isinstance(op, dialect.MatmulOp):
        return 0
    lhs, rhs, out = (shape_of(v.type) for v in (op.lhs, op.rhs, op.result))
    lead = np.broadcast_shapes(lhs[:-2], rhs[:-2]) if _broadcasts(lhs[:-2], rhs[:-2]) else None
    if min(len(lhs), len(rhs)) < 2 or lhs[-1] != rhs[-2] or lead is None or out != (*lead, lhs[-2], rhs[-1]):
        raise refuse(op, f"shapes {lhs} @ {rhs} into {out}; expected [..., M, K] @ [..., K, N] of rank 2 or more")
    dtype = dtype_of(op.result.type)
    return workspace(lhs, rhs, dtype) if dtype else 0  # an unknown dtype is refused by the plan


def _broadcasts(lhs: Sequence[int], rhs: Sequence[int]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(lhs), reversed(rhs), strict=False))


def _emit(function: Value, op: FleetOp, used: Sequence[Buffer]) -> None:
    b: Builder = ir.IRBuilder(function.append_basic_block("entry"))
    out, *operands = (Array(pointer, buffer.dtype, buffer.shape) for pointer, buffer in zip(function.args, used, strict=False))
    if not out.size:
        pass  # nothing to compute; the operand checks below are about elements
    elif isinstance(op, dialect.MatmulOp):
        emit_matmul(b, out, operands[0], operands[1], function.args[-1])
    elif isinstance(op, dialect.GatherOp):
        movement.emit_gather(b, op, out, operands[0], operands[1])
    elif isinstance(op, dialect.ReshapeOp):
        movement.emit_reshape(b, op, out, operands[0])
    elif isinstance(op, BinaryOp):
        emit_binary(b, op, out, operands[0], operands[1])
    elif isinstance(op, UnaryOp):
        emit_unary(b, op, out, operands[0])
    elif isinstance(op, ReduceOp):
        reductions.emit_reduce(b, op, out, operands[0])
    elif isinstance(op, dialect.ArgmaxOp):
        reductions.emit_argmax(b, op, out, operands[0])
    elif isinstance(op, dialect.TransposeOp):
        movement.emit_transpose(b, op, out, operands[0])
    elif isinstance(op, dialect.SliceOp):
        movement.emit_slice(b, op, out, operands[0])
    elif isinstance(op, dialect.ConcatOp):
        movement.emit_concat(b, op, out, operands)
    elif isinstance(op, dialect.ConstantOp):
        movement.emit_constant(b, op, out)
    else:
        raise refuse(op, "not supported")
    b.ret_void()


def _work(op: FleetOp, used: Sequence[Buffer]) -> int:
    """Upper estimate of instructions: a constant an element or multiply-add."""
    size = [max(1, buffer.nbytes // buffer.dtype.itemsize) for buffer in used]
    if isinstance(op, dialect.MatmulOp):
        return 200 + size[0] * (16 + 8 * used[1].shape[-1]) + 4 * size[2]
    rows = sum(size) if isinstance(op, dialect.ConcatOp | ReduceOp | dialect.ArgmaxOp) else size[0]
    return 200 + rows * COST.get(type(op), 24 if isinstance(op, ReduceOp | dialect.ArgmaxOp) else 12)
