"""The kernel of each operation, its scratch and maximum run time, and which operations share one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.schedule import LoopSchedule
from fleet.ir.types import is_tensor
from fleet.targets.planner import round_up
from fleet.targets.riscv.isa import DEFAULT_ISA, Isa
from fleet.targets.riscv.kernels import bodies, composite, movement, reductions
from fleet.targets.riscv.kernels.attention import Attention, emit_attention
from fleet.targets.riscv.kernels.division import FMOD_STEPS
from fleet.targets.riscv.kernels.einsum import emit_einsum
from fleet.targets.riscv.kernels.elementwise import BINARY, COST, UNARY, emit_elementwise
from fleet.targets.riscv.kernels.fused import describe_bodies, emit_fused, fused_work, fused_workspace
from fleet.targets.riscv.kernels.kernel import ArrayOperand, Builder, Value, is_float, isa_of
from fleet.targets.riscv.kernels.loops import product_part
from fleet.targets.riscv.kernels.matmul import collapsed, emit_matmul, product_of
from fleet.targets.riscv.kernels.row_code import emit_reduce
from fleet.targets.riscv.kernels.rows import REDUCTION_COST
from fleet.targets.riscv.plan import ALIGN, DTYPES, HELD, refuse, type_supported
from fleet.transforms.schedule_loops import ATTRIBUTE, divided_axis, loops_of
from fleet.transforms.widen_halves import computes_in_half

_CALL = 1000
"""Instructions that a call of the host takes at most."""
RiscvKernel: TypeAlias = Callable[[Builder, FleetOp, ArrayOperand, Sequence[ArrayOperand], Value], None]
"""Emits an operation's code. Arguments: builder, operation, result, operands, scratch."""


def describe(op: FleetOp, arrays: Sequence[ArrayOperand]) -> str:
    """Return everything that an operation's code depends on besides addresses; equal descriptions share a function."""
    parts = [f"{a.dtype.name}{a.shape}{a.strides}{'' if a.constant is None else repr(a.constant)}" for a in arrays]
    extra = ""
    if isinstance(op, d.ConstantOp):
        extra = repr(constant_value(op))
    elif isinstance(op, d.RegionOp):
        extra = describe_bodies(op)
    types = ",".join(str(is_tensor(v.type)) for v in op.operands)  # Python numbers are weakly typed
    extra += str(op.attributes.get(ATTRIBUTE, ""))
    return f"{op.name}{sorted(attributes_of(op).items())}{extra}{types}" + ";".join(parts)


def emit(b: Builder, op: FleetOp, arrays: Sequence[ArrayOperand], scratch: Value) -> None:
    """Emit the body of an operation on the arrays of its results and operands. Raises DeviceError if the target lacks it."""
    if needs_host(op, arrays):
        if b.fleet_host is None:
            raise refuse(op, _lacking(op))
        b.fleet_host.emit(b, op, arrays)
        return
    if computes_in_half(op):
        raise refuse(op, "arithmetic in float16", "run pass widen-halves before")
    out, *operands = arrays
    if out.size or d.has_effects(op):
        KERNELS[type(op)](b, op, out, operands, scratch)


def needs_host(op: FleetOp, arrays: Sequence[ArrayOperand]) -> bool:
    """True if there is no code for an operation on arrays of these dtypes, its results' and operands'."""
    if type(op) not in KERNELS or any(a.dtype == HELD for a in arrays):
        return True
    return isinstance(op, d.NumpyOp) and not movement.copies_bits(op, arrays)


def _lacking(op: FleetOp) -> str:
    if isinstance(op, d.PrintOp):
        return "a print in a part that only the run enters or repeats"
    lacking = [v.type for v in (*op.results, *op.operands) if not type_supported(v.type)]
    return f"type {lacking[0]}; supported are static shapes of {', '.join(DTYPES)}" if lacking else "not supported"


def _of(emit_: Callable[..., None]) -> RiscvKernel:
    """Adapt an emitter that takes the operation and its operands."""
    return lambda b, op, out, x, _scratch: emit_(b, op, out, *x)


def _composite(
    emit_: Callable[[Builder, ArrayOperand, Sequence[ArrayOperand], Mapping[str, Any], LoopSchedule], None],
) -> RiscvKernel:
    """Adapt an emitter that takes operands, attributes and the schedule, in floating point."""

    def kernel(b: Builder, op: FleetOp, out: ArrayOperand, x: Sequence[ArrayOperand], _scratch: Value) -> None:
        _check_float(op, out)
        emit_(b, out, x, attributes_of(op), loops_of(op))

    return kernel


def _check_float(op: FleetOp, out: ArrayOperand) -> None:
    if not is_float(out.dtype):
        raise refuse(op, f"result {out.dtype}; expected float32 or float64")


def _emit_linear(b: Builder, op: FleetOp, out: ArrayOperand, x: Sequence[ArrayOperand], scratch: Value) -> None:
    _check_float(op, out)
    out, *x = product_part(b, out, x)
    emit_matmul(b, out, x[0], x[1], scratch, loops_of(op))
    found = attributes_of(op)
    rest = list(x[2:])
    bias = rest.pop(0) if found["bias"] else None
    residual = rest.pop(0) if found["residual"] else None
    if bias is not None or residual is not None or found["activation"] != "none":
        composite.emit_finish(b, out, bias, residual, found["activation"])


def _emit_product(b: Builder, op: FleetOp, out: ArrayOperand, x: Sequence[ArrayOperand], scratch: Value) -> None:
    out, left, right = product_part(b, out, x)
    emit_matmul(b, out, left, right, scratch, loops_of(op))


def _emit_attention(b: Builder, op: FleetOp, out: ArrayOperand, x: Sequence[ArrayOperand], scratch: Value) -> None:
    _check_float(op, out)
    emit_attention(b, attention_of(op, [out, *x], isa_of(b)), x[3] if len(x) > 3 else None, scratch)


def _with_bodies(emit_: Callable[..., None]) -> RiscvKernel:
    """Adapt an emitter of an operation with bodies."""
    return lambda b, op, out, x, scratch: emit_(b, op, out, x, scratch, bodies.Inner(emit, workspace, isa_of(b)))


KERNELS: Mapping[type[FleetOp], RiscvKernel] = {
    **dict.fromkeys((*BINARY, *UNARY, d.WhereOp), _of(emit_elementwise)),
    **dict.fromkeys(reductions.REDUCTIONS, _of(emit_reduce)),
    d.ArgmaxOp: _of(reductions.emit_argument),
    d.ArgminOp: _of(reductions.emit_argument),
    d.CumsumOp: _of(reductions.emit_cumsum),
    d.ArgsortOp: _of(reductions.emit_argsort),
    d.MatmulOp: _emit_product,
    d.EinsumOp: lambda b, op, out, x, _scratch: emit_einsum(b, op, out, x, attributes_of(op)["subscripts"]),
    d.GatherOp: _of(movement.emit_gather),
    d.ScatterOp: _of(movement.emit_scatter),
    d.ReshapeOp: _of(movement.emit_reshape),
    d.ConcatOp: lambda b, op, out, x, _scratch: movement.emit_concat(b, op, out, x),
    d.PadOp: _of(movement.emit_pad),
    d.DimOp: lambda b, op, out, x, _scratch: movement.emit_fill(b, out, x[0].shape[attributes_of(op)["axis"]]),
    d.ConstantOp: _of(movement.emit_constant),
    d.SoftmaxOp: _composite(lambda b, out, x, a, loops: composite.emit_softmax(b, out, x[0], a["axis"], loops)),
    d.LayerNormOp: _composite(
        lambda b, out, x, a, loops: composite.emit_layer_norm(b, out, x[0], x[1], x[2], a["axis"], a["eps"], loops)
    ),
    d.RmsNormOp: _composite(lambda b, out, x, a, loops: composite.emit_rms_norm(b, out, x[0], x[1], a["eps"], loops)),
    d.GeluOp: _composite(lambda b, out, x, a, loops: composite.emit_activation(b, out, x[0], f"gelu_{a['approximate']}", loops)),
    d.SiluOp: _composite(lambda b, out, x, _a, loops: composite.emit_activation(b, out, x[0], "silu", loops)),
    d.RopeOp: _composite(lambda b, out, x, a, _: movement.emit_rope(b, out, x[0], x[1], x[2], interleaved=a["interleaved"])),
    d.CheckOp: _of(movement.emit_check),
    d.ItemOp: lambda b, _op, out, x, _scratch: movement.emit_item(b, out, x[0]),
    d.IfOp: _with_bodies(bodies.emit_if),
    d.WhileOp: _with_bodies(bodies.emit_while),
    d.FusedOp: emit_fused,
    d.NumpyOp: lambda b, _op, out, x, _scratch: movement.emit_bits(b, out, x),
    d.LinearOp: _emit_linear,
    d.AttentionOp: _emit_attention,
}
"""Operation -> its kernel. Views (`fleet.targets.riscv.views`) need none; a print is formatted from its operands."""


def attention_of(op: FleetOp, arrays: Sequence[ArrayOperand], isa: Isa) -> Attention:
    """Return the attention of an operation on the arrays of its result and operands."""
    found = attributes_of(op)
    out, q, k, v = arrays[:4]
    return Attention(out, q, k, v, found["heads"], found["kv_heads"], found["scale"], found["causal"], isa)


def workspace(op: FleetOp, arrays: Sequence[ArrayOperand], isa: Isa) -> int:
    """Return the bytes of scratch that the operation needs, for each of its threads."""
    one, divided = thread_workspace(op, arrays, isa), divided_axis(op)
    return one if divided is None else round_up(one, ALIGN) * divided[1]


def thread_workspace(op: FleetOp, arrays: Sequence[ArrayOperand], isa: Isa) -> int:
    """Return the bytes of scratch that one thread of the operation needs."""
    if needs_host(op, arrays):
        return 0
    if isinstance(op, d.FusedOp):
        return fused_workspace(op, arrays[1:], isa)
    if isinstance(op, d.RegionOp):
        return bodies.body_workspace(op, arrays[1:], workspace, isa)
    if isinstance(op, d.AttentionOp):
        return attention_of(op, arrays, isa).workspace
    if not isinstance(op, d.MatmulOp | d.LinearOp):
        return 0
    out, lhs, rhs = arrays[:3]
    fits = min(len(lhs.shape), len(rhs.shape)) >= 2 and lhs.shape[-1] == rhs.shape[-2] and _broadcasts(lhs.shape, rhs.shape)
    expected = (*np.broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2]), lhs.shape[-2], rhs.shape[-1]) if fits else None
    if out.shape != expected:
        words = f"shapes {lhs.shape} @ {rhs.shape} into {out.shape}"
        raise refuse(op, f"{words}; expected [..., M, K] @ [..., K, N] of rank 2 or more")
    if out.dtype.kind == "b":
        raise refuse(op, "matrix product of truth values")
    _, left, right = collapsed(out, lhs, rhs)
    return product_of(left, right, out.dtype, isa, loops_of(op)).workspace


def _broadcasts(lhs: Sequence[int], rhs: Sequence[int]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(lhs[:-2]), reversed(rhs[:-2]), strict=False))


def work(op: FleetOp, arrays: Sequence[ArrayOperand]) -> tuple[int, int]:
    """Return an upper estimate of retired instructions, and the multiply-adds of the operation."""
    if needs_host(op, arrays):
        return _CALL, 0
    out, *operands = arrays
    if isinstance(op, d.FusedOp):
        return fused_work(op), 0
    if isinstance(op, d.RegionOp):
        return bodies.body_work(op, operands, work, workspace, DEFAULT_ISA)
    size = [max(1, a.size) for a in arrays]
    if isinstance(op, d.MatmulOp | d.LinearOp):
        macs = out.size * operands[0].shape[-1]
        return 400 + size[0] * (16 + 140 * isinstance(op, d.LinearOp)) + 8 * size[0] * operands[0].shape[-1] + 6 * size[2], macs
    if isinstance(op, d.AttentionOp):
        rows, keys = operands[0].size // operands[0].shape[-1], operands[1].shape[-2]
        macs = rows * keys * (operands[0].shape[-1] + out.shape[-1])
        return 1000 + 10 * macs + attributes_of(op)["heads"] * (rows * (200 + 120 * keys) + 8 * operands[1].size), macs
    if isinstance(op, d.EinsumOp):
        labels = {w: n for words, a in zip(_terms(op), operands, strict=True) for w, n in zip(words, a.shape, strict=False)}
        steps = int(np.prod([max(1, n) for n in labels.values()], dtype=np.int64))
        return 400 + 30 * steps * len(operands), steps if len(operands) == 2 else 0
    if isinstance(op, d.SoftmaxOp | d.LayerNormOp | d.RmsNormOp):
        return 400 + 100 * size[0] + (200 * size[0] if out.dtype.itemsize == 8 else 0), 0
    if isinstance(op, d.ArgsortOp):
        return 400 + 40 * out.size * max(1, out.shape[attributes_of(op)["axis"] % len(out.shape)]), 0
    folds = (*reductions.REDUCTIONS, d.ArgmaxOp, d.ArgminOp)
    rows = sum(size) if isinstance(op, (*folds, d.ConcatOp, d.ScatterOp, d.PadOp)) else size[0]
    cost = COST.get(type(op), REDUCTION_COST if isinstance(op, folds) else 20)
    if isinstance(op, d.FloorDivOp | d.ModOp) and is_float(out.dtype):
        cost += 80 * FMOD_STEPS
    return 400 + rows * cost, 0


def _terms(op: FleetOp) -> list[str]:
    return str(attributes_of(op)["subscripts"]).partition("->")[0].split(",")
