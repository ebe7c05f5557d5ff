"""Which kernel an operation gets, how much scratch it needs, how long it takes at most, and when two share one function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.ir import dialect
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp
from fleet.ir.operation import attributes_of
from fleet.ir.types import is_tensor
from fleet.targets.riscv import _composite as composite
from fleet.targets.riscv import _movement as movement
from fleet.targets.riscv import _reductions as reductions
from fleet.targets.riscv._attention import Attention, emit_attention
from fleet.targets.riscv._division import FMOD_STEPS
from fleet.targets.riscv._einsum import emit_einsum
from fleet.targets.riscv._elementwise import BINARY, COST, UNARY, emit_binary, emit_unary, emit_where
from fleet.targets.riscv._kernel import Array, Builder, Value, is_float, isa_of
from fleet.targets.riscv._matmul import collapsed, emit_matmul, product_of
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.plan import refuse


def _name(op: FleetOp) -> str:
    return op.name.removeprefix("fleet.")


def describe(op: FleetOp, arrays: Sequence[Array]) -> str:
    """What the code of an operation depends on besides addresses: equal descriptions share a function."""
    parts = [f"{a.dtype.name}{a.shape}{a.strides}{'' if a.constant is None else repr(a.constant)}" for a in arrays]
    extra = repr(constant_value(op)) if isinstance(op, dialect.ConstantOp) else ""
    types = ",".join(str(is_tensor(v.type)) for v in op.operands)  # Python numbers are weak
    return f"{op.name}{sorted(attributes_of(op).items())}{extra}{types}" + ";".join(parts)


def emit(b: Builder, op: FleetOp, out: Array, operands: Sequence[Array], scratch: Value) -> None:
    """The body of an operation whose result has elements. Raises DeviceError for what the target lacks."""
    name = _name(op)
    found = attributes_of(op)
    if name == "matmul":
        emit_matmul(b, out, operands[0], operands[1], scratch)
    elif name in BINARY:
        emit_binary(b, op, name, out, operands[0], operands[1])
    elif name in UNARY:
        emit_unary(b, op, name, out, operands[0])
    elif name in reductions.REDUCTIONS:
        reductions.emit_reduce(b, op, name, out, operands[0])
    elif isinstance(op, dialect.CompositeOp):
        _emit_composite(b, op, out, operands, scratch)
    elif isinstance(op, dialect.ConstantOp):
        movement.emit_constant(b, op, out)
    else:
        match name:
            case "argmax" | "argmin":
                reductions.emit_argument(b, op, name, out, operands[0])
            case "cumsum":
                reductions.emit_cumsum(b, op, out, operands[0])
            case "where":
                emit_where(b, op, out, operands[0], operands[1], operands[2])
            case "einsum":
                emit_einsum(b, op, out, operands, found["subscripts"])
            case "gather":
                movement.emit_gather(b, op, out, operands[0], operands[1])
            case "scatter":
                movement.emit_scatter(b, op, out, *operands)
            case "argsort":
                reductions.emit_argsort(b, op, out, operands[0])
            case "reshape":
                movement.emit_reshape(b, op, out, operands[0])
            case "concat":
                movement.emit_concat(b, op, out, operands)
            case "pad":
                movement.emit_pad(b, op, out, operands[0], operands[1])
            case "dim":
                movement.emit_fill(b, out, operands[0].shape[found["axis"]])
            case _:
                raise refuse(op, "not supported")


def _emit_composite(b: Builder, op: FleetOp, out: Array, operands: Sequence[Array], scratch: Value) -> None:
    if not is_float(out.dtype):
        raise refuse(op, f"result {out.dtype}; expected float32 or float64")
    found = attributes_of(op)
    match _name(op):
        case "softmax":
            composite.emit_softmax(b, out, operands[0], found["axis"])
        case "layer_norm":
            composite.emit_layer_norm(b, out, operands[0], operands[1], operands[2], found["axis"], found["eps"])
        case "rms_norm":
            composite.emit_rms_norm(b, out, operands[0], operands[1], found["eps"])
        case "gelu":
            composite.emit_activation(b, out, operands[0], f"gelu_{found['approximate']}")
        case "silu" | "sigmoid" as name:
            composite.emit_activation(b, out, operands[0], name)
        case "rope":
            movement.emit_rope(b, out, operands[0], operands[1], operands[2], interleaved=found["interleaved"])
        case "linear":
            emit_matmul(b, out, operands[0], operands[1], scratch)
            rest = list(operands[2:])
            bias = rest.pop(0) if found["bias"] else None
            residual = rest.pop(0) if found["residual"] else None
            if bias is not None or residual is not None or found["activation"] != "none":
                composite.emit_finish(b, out, bias, residual, found["activation"])
        case "attention":
            mask = operands[3] if len(operands) > 3 else None
            emit_attention(b, _attention(op, [out, *operands], isa_of(b)), mask, scratch)
        case _:
            raise refuse(op, "not supported")


def _attention(op: FleetOp, arrays: Sequence[Array], isa: Isa) -> Attention:
    found = attributes_of(op)
    out, q, k, v = arrays[:4]
    return Attention(out, q, k, v, found["heads"], found["kv_heads"], found["scale"], found["causal"], isa)


def workspace(op: FleetOp, arrays: Sequence[Array], isa: Isa) -> int:
    """Bytes of scratch that the operation needs."""
    name = _name(op)
    if name == "attention":
        return _attention(op, arrays, isa).workspace
    if name not in ("matmul", "linear"):
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
    return product_of(left, right, out.dtype, isa).workspace


def _broadcasts(lhs: Sequence[int], rhs: Sequence[int]) -> bool:
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(lhs[:-2]), reversed(rhs[:-2]), strict=False))


def work(op: FleetOp, arrays: Sequence[Array]) -> tuple[int, int]:
    """Upper estimate of instructions retired, and the multiply-adds that the operation stands for."""
    name = _name(op)
    out, *operands = arrays
    size = [max(1, a.size) for a in arrays]
    if name in ("matmul", "linear"):
        macs = out.size * operands[0].shape[-1]
        return 400 + size[0] * (16 + 140 * (name == "linear")) + 8 * size[0] * operands[0].shape[-1] + 6 * size[2], macs
    if name == "attention":
        rows, keys = operands[0].shape[0], operands[1].shape[0]
        macs = rows * keys * (operands[0].shape[1] + out.shape[1])
        return 1000 + 10 * macs + attributes_of(op)["heads"] * (rows * (200 + 120 * keys) + 8 * operands[1].size), macs
    if name == "einsum":
        labels = {w: n for words, a in zip(_terms(op), operands, strict=True) for w, n in zip(words, a.shape, strict=False)}
        steps = int(np.prod([max(1, n) for n in labels.values()], dtype=np.int64))
        return 400 + 30 * steps * len(operands), steps if len(operands) == 2 else 0
    if name in ("softmax", "layer_norm", "rms_norm"):
        return 400 + 100 * size[0] + (200 * size[0] if out.dtype.itemsize == 8 else 0), 0
    if name == "argsort":
        return 400 + 40 * out.size * max(1, out.shape[attributes_of(op)["axis"] % len(out.shape)]), 0
    rows = sum(size) if name in ("concat", "scatter", "pad", "argmax", "argmin") or name in reductions.REDUCTIONS else size[0]
    cost = COST.get(name, 40 if name in reductions.REDUCTIONS or name in ("argmax", "argmin") else 20)
    if name in ("floor_div", "mod") and is_float(out.dtype):
        cost += 80 * FMOD_STEPS
    return 400 + rows * cost, 0


def _terms(op: FleetOp) -> list[str]:
    return str(attributes_of(op)["subscripts"]).partition("->")[0].split(",")
