"""Chains of elementwise steps that end in integers, compiled for this processor: one pass over the elements.

Each step is the one that NumPy does, in its dtype and order, none fused. Where the conversion of a float to an integer is not that
of a number inside the integer's range, the chain is left to NumPy.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fleet.sdk.native import Target, compile_library

_P, _N = ctypes.c_void_p, ctypes.c_int64
_LANES = {"avx512": 16, "avx2": 8, "portable": 4}
DTYPES: Mapping[str, int] = {"float32": 4, "float64": 8, "int32": 4, "int8": 1, "uint8": 1}
"""The dtypes of elements -> bytes of one."""
OPERATIONS = frozenset({"add", "sub", "mul", "div", "maximum", "minimum", "rint", "cast"})


@dataclass(frozen=True)
class ChainStep:
    """A step: its operation, and its result's dtype.

    operand: place of its other operand among the chain's, None for `cast` and `rint`. first: whether the chain's value is the left
    one.
    """

    operation: str
    dtype: str
    operand: int | None = None
    first: bool = True


@dataclass(frozen=True)
class ChainSpec:
    """The dtype of the elements that enter a chain, and its steps."""

    source: str
    steps: tuple[ChainStep, ...]


@lru_cache(maxsize=256)
def library(for_target: Target, spec: ChainSpec) -> Callable[..., Any]:  # what the signature says
    """Return `chain(x, out, rows, channels, inner, operands)`; it returns not 0 if a float is no number of its integer.

    x, out: [rows, channels, inner], C-contiguous, of the first and the last dtype. operands: int64 [operands, 2]: the address of
    each, in its step's dtype, and the bytes from one channel's element to the next (0: one for all).
    """
    name = f"chain_{hashlib.sha256(repr(spec).encode()).hexdigest()[:16]}"
    signatures = {"chain": (_N, [_P, _P, _N, _N, _N, _P])}
    return compile_library(name, for_target, (Path(__file__),), lambda t: _build(t, spec), signatures)["chain"]


def _build(for_target: Target, spec: ChainSpec) -> object:
    from llvmlite import ir

    from fleet.sdk.native_ir import F32, F64, I8, I32, I64, POINTER, NativeEmitter, Value, splat, vector

    types = {"float32": F32, "float64": F64, "int32": I32, "int8": I8, "uint8": I8}
    limits = {"int32": (-(2.0**31), 2.0**31 - 1), "int8": (-128.0, 127.0), "uint8": (0.0, 255.0)}
    module: Value = ir.Module("chain")
    names = (("x", POINTER), ("out", POINTER), ("rows", I64), ("channels", I64), ("inner", I64), ("operands", POINTER))
    e = NativeEmitter(module, "chain", I64, names)
    b = e.builder
    lanes = _LANES[for_target.variant]
    unfit = {n: e.room(vector(I32, lanes) if n > 1 else I32) for n in (lanes, 1)}
    """Not 0 where a float did not fit, by the number of elements that are computed together."""
    last = spec.steps[-1].dtype

    def widened(typ: Value, lanes: int) -> Value:
        return typ if lanes == 1 else vector(typ, lanes)

    def cast(value: Value, source: str, target: str, lanes: int) -> Value:
        to = widened(types[target], lanes)
        floating = [d.startswith("float") for d in (source, target)]
        if source == target:
            return value
        if all(floating):
            return b.fpext(value, to) if target == "float64" else b.fptrunc(value, to)
        if floating[1]:
            return (b.uitofp if source == "uint8" else b.sitofp)(value, to)
        if floating[0]:
            low, high = (splat(value.type, v) for v in limits[target])
            fits = b.and_(b.fcmp_ordered(">=", value, low), b.fcmp_ordered("<=", value, high))
            flags = widened(I32, lanes)
            e.store(b.or_(e.load(flags, unfit[lanes], align=4), b.zext(b.not_(fits), flags)), unfit[lanes], align=4)
            integer = b.fptosi(b.select(fits, value, splat(value.type, 0.0)), widened(I32, lanes))
            return integer if target == "int32" else b.trunc(integer, to)
        if DTYPES[target] <= DTYPES[source]:
            return b.trunc(value, to) if DTYPES[target] < DTYPES[source] else value
        return (b.zext if source == "uint8" else b.sext)(value, to)

    def combined(step: ChainStep, x: Value, y: Value) -> Value:
        left, right = (x, y) if step.first else (y, x)
        if step.dtype.startswith("float"):
            match step.operation:
                case "maximum" | "minimum":
                    # NaN wins, whichever it is; of two zeros any may: what follows makes an integer of it.
                    sign = ">" if step.operation == "maximum" else "<"
                    better = b.or_(b.fcmp_ordered(sign, left, right), b.fcmp_unordered("uno", left, left))
                    return b.select(better, left, right)
                case name:
                    return {"add": b.fadd, "sub": b.fsub, "mul": b.fmul, "div": b.fdiv}[name](left, right)
        match step.operation:
            case "maximum" | "minimum":
                compare = b.icmp_unsigned if step.dtype == "uint8" else b.icmp_signed
                return b.select(compare(">" if step.operation == "maximum" else "<", left, right), left, right)
            case name:
                return {"add": b.add, "sub": b.sub, "mul": b.mul}[name](left, right)

    def evaluated(place: Value, lanes: int, others: Sequence[Value]) -> None:
        value = e.load(widened(types[spec.source], lanes), e["x"], e.scaled(place, DTYPES[spec.source]))
        dtype = spec.source
        for step in spec.steps:
            if step.operation == "cast":
                value = cast(value, dtype, step.dtype, lanes)
            elif step.operation == "rint":
                suffix = "f32" if step.dtype == "float32" else "f64"
                value = e.call(f"llvm.rint.{suffix if lanes == 1 else f'v{lanes}{suffix}'}", value.type, value)
            else:
                assert step.operand is not None
                other = others[step.operand]
                value = combined(step, value, other if lanes == 1 else e.broadcast(other, lanes))
            dtype = step.dtype
        e.store(value, e["out"], e.scaled(place, DTYPES[last]))

    given = sorted((s.operand, s.dtype) for s in spec.steps if s.operand is not None)
    for n, place in unfit.items():
        e.store(splat(widened(I32, n), 0), place, align=4)
    with e.loop(0, e["rows"]) as row, e.loop(0, e["channels"]) as channel:
        others: list[Value] = []
        for place, dtype in given:
            stride = e.load(I64, e["operands"], 16 * place + 8, align=8)
            others.append(e.load(types[dtype], e.load(POINTER, e["operands"], 16 * place, align=8), b.mul(channel, stride)))
        begin = b.mul(b.add(b.mul(row, e["channels"]), channel), e["inner"])
        whole = b.sub(e["inner"], b.srem(e["inner"], e.number(lanes)))
        with e.loop(0, whole, lanes) as n:
            evaluated(b.add(begin, n), lanes, others)
        with e.loop(whole, e["inner"]) as n:
            evaluated(b.add(begin, n), 1, others)
    together = e.call(f"llvm.vector.reduce.or.v{lanes}i32", I32, e.load(vector(I32, lanes), unfit[lanes], align=4))
    b.ret(b.zext(b.or_(together, e.load(I32, unfit[1], align=4)), I64))
    return module
