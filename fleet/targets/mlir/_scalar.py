"""NumPy's operations on single elements, as operations of arith and math.

Special values follow NumPy 2 on x86-64: integers wrap, an integer divided by zero gives 0, and casting NaN or a number outside an
integer type gives its smallest value. float16 functions are computed in float32 and rounded once, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.types import element_type
from fleet.targets.mlir._emitter import MlirEmitter

_F32 = np.dtype(np.float32)
_INDEX = IndexType()


def smallest(dtype: np.dtype) -> float | int:
    """Return the identity of `maximum`."""
    return -np.inf if dtype.kind == "f" else 0 if dtype.kind == "b" else int(np.iinfo(dtype).min)


def largest(dtype: np.dtype) -> float | int:
    """Return the identity of `minimum`."""
    return np.inf if dtype.kind == "f" else 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)


def to_index(e: MlirEmitter, value: SSAValue) -> SSAValue:
    """Convert an integer to `index`."""
    return e.add(arith.IndexCastOp(value, _INDEX))


def from_index(e: MlirEmitter, value: SSAValue, dtype: np.dtype) -> SSAValue:
    """Convert an `index` to a number of `dtype`."""
    integer = dtype if dtype.kind == "i" else np.dtype(np.int64)
    return convert(e, e.add(arith.IndexCastOp(value, element_type(integer))), integer, dtype)


def truth(e: MlirEmitter, value: SSAValue, dtype: np.dtype) -> SSAValue:
    """Emit `bool(x)`: NaN is true."""
    if dtype.kind == "b":
        return value
    zero = e.constant(0, dtype)
    return e.add(arith.CmpfOp(value, zero, "une") if dtype.kind == "f" else arith.CmpiOp(value, zero, "ne"))


def convert(e: MlirEmitter, value: SSAValue, source: np.dtype, target: np.dtype) -> SSAValue:
    """Emit `astype`."""
    if source == target:
        return value
    to: Any = element_type(target)
    if target.kind == "b":
        return truth(e, value, source)
    if source.kind == "b":
        return e.add(arith.UIToFPOp(value, to) if target.kind == "f" else arith.ExtUIOp(value, to))
    if source.kind == "f" and target.kind == "f":
        return e.add(arith.ExtFOp(value, to) if target.itemsize > source.itemsize else arith.TruncFOp(value, to))
    if target.kind == "f":
        return e.add(arith.SIToFPOp(value, to))
    if source.kind == "i":
        return e.add(arith.ExtSIOp(value, to) if target.itemsize > source.itemsize else arith.TruncIOp(value, to))
    return _to_integer(e, value, source, target)


def _to_integer(e: MlirEmitter, value: SSAValue, source: np.dtype, target: np.dtype) -> SSAValue:
    if target.itemsize < 4:  # through int, as in C and NumPy
        return convert(e, _to_integer(e, value, source, np.dtype(np.int32)), np.dtype(np.int32), target)
    wide = np.dtype(np.float64)
    x = convert(e, value, source, wide)
    bits = 8 * target.itemsize
    low, high = e.constant(-(2.0 ** (bits - 1)) - (bits < 64), wide), e.constant(2.0 ** (bits - 1), wide)
    above = e.add(arith.CmpfOp(x, low, "oge" if bits == 64 else "ogt"))
    fits = e.add(arith.AndIOp(above, e.add(arith.CmpfOp(x, high, "olt"))))
    safe = e.add(arith.SelectOp(fits, x, e.constant(0.0, wide)))
    to: Any = element_type(target)
    return e.add(arith.SelectOp(fits, e.add(arith.FPToSIOp(safe, to)), e.constant(int(np.iinfo(target).min), target)))


# ---- two operands, both of one dtype

_COMPARE: Mapping[type[FleetOp], tuple[str, str, str]] = {
    # float, integer, bool
    d.LessOp: ("olt", "slt", "ult"),
    d.LessEqualOp: ("ole", "sle", "ule"),
    d.GreaterOp: ("ogt", "sgt", "ugt"),
    d.GreaterEqualOp: ("oge", "sge", "uge"),
    d.EqualOp: ("oeq", "eq", "eq"),
    d.NotEqualOp: ("une", "ne", "ne"),
}
_ARITHMETIC: Mapping[type[FleetOp], tuple[Any, Any, Any]] = {
    # float, integer, bool
    d.AddOp: (arith.AddfOp, arith.AddiOp, arith.OrIOp),
    d.SubOp: (arith.SubfOp, arith.SubiOp, arith.XOrIOp),
    d.MulOp: (arith.MulfOp, arith.MuliOp, arith.AndIOp),
    d.DivOp: (arith.DivfOp, None, None),
    d.MaximumOp: (arith.MaximumfOp, arith.MaxSIOp, arith.OrIOp),
    d.MinimumOp: (arith.MinimumfOp, arith.MinSIOp, arith.AndIOp),
    d.BitwiseAndOp: (None, arith.AndIOp, arith.AndIOp),
    d.BitwiseOrOp: (None, arith.OrIOp, arith.OrIOp),
    d.BitwiseXorOp: (None, arith.XOrIOp, arith.XOrIOp),
}


def binary(e: MlirEmitter, op: type[FleetOp], x: SSAValue, y: SSAValue, dtype: np.dtype) -> SSAValue:
    """Emit an operation of two elements of `dtype`; comparisons and logical operations give i1."""
    kind = "fib".index(dtype.kind)
    if op in _COMPARE:
        predicate = _COMPARE[op][kind]
        return e.add(arith.CmpfOp(x, y, predicate) if kind == 0 else arith.CmpiOp(x, y, predicate))
    if op in (d.LogicalAndOp, d.LogicalOrOp):
        operation = arith.AndIOp if op is d.LogicalAndOp else arith.OrIOp
        return e.add(operation(truth(e, x, dtype), truth(e, y, dtype)))
    if op in _ARITHMETIC:
        return e.add(_ARITHMETIC[op][kind](x, y))
    if kind == 0 and dtype.itemsize == 2:
        wide = [convert(e, v, dtype, _F32) for v in (x, y)]
        return convert(e, binary(e, op, wide[0], wide[1], _F32), _F32, dtype)
    return _REST[op][kind](e, x, y, dtype)


def _remainder(e: MlirEmitter, x: SSAValue, y: SSAValue) -> SSAValue:
    return e.unregistered("arith.remf", [x, y], x.type)  # xDSL has no arith.remf


def _float_mod(e: MlirEmitter, x: SSAValue, y: SSAValue, dtype: np.dtype) -> SSAValue:
    """Emit the remainder with the divisor's sign."""
    zero, rest = e.constant(0.0, dtype), _remainder(e, x, y)
    moved = e.add(arith.AddfOp(rest, y))
    result = e.add(arith.SelectOp(_signs_differ(e, rest, y, zero), moved, rest))
    exact = e.add(arith.CmpfOp(rest, zero, "oeq"))
    return e.add(arith.SelectOp(exact, _signed_zero(e, y, dtype), result))


def _signed_zero(e: MlirEmitter, x: SSAValue, dtype: np.dtype) -> SSAValue:
    """Emit zero with the sign of x. (convert-math-to-libm refuses math.copysign.)"""
    integer = np.dtype(f"int{8 * dtype.itemsize}")
    bits = e.add(arith.BitcastOp(x, element_type(integer)))
    sign = e.add(arith.AndIOp(bits, e.constant(int(np.iinfo(integer).min), integer)))
    return e.add(arith.BitcastOp(sign, x.type))


def _signs_differ(e: MlirEmitter, x: SSAValue, y: SSAValue, zero: SSAValue) -> SSAValue:
    return e.add(arith.XOrIOp(e.add(arith.CmpfOp(x, zero, "olt")), e.add(arith.CmpfOp(y, zero, "olt"))))


def _float_floor_div(e: MlirEmitter, x: SSAValue, y: SSAValue, dtype: np.dtype) -> SSAValue:
    """Emit floor division as CPython and NumPy do: from the exact remainder, then snapped to the nearest integer."""
    zero, one, half = (e.constant(v, dtype) for v in (0.0, 1.0, 0.5))
    rest, plain = _remainder(e, x, y), e.add(arith.DivfOp(x, y))
    quotient = e.add(arith.DivfOp(e.add(arith.SubfOp(x, rest)), y))
    inexact = e.add(arith.CmpfOp(rest, zero, "une"))
    lower = e.add(arith.AndIOp(inexact, _signs_differ(e, rest, y, zero)))
    quotient = e.add(arith.SelectOp(lower, e.add(arith.SubfOp(quotient, one)), quotient))
    floor = e.add(math.FloorOp(quotient))
    up = e.add(arith.CmpfOp(e.add(arith.SubfOp(quotient, floor)), half, "ogt"))
    floor = e.add(arith.SelectOp(up, e.add(arith.AddfOp(floor, one)), floor))
    some = e.add(arith.CmpfOp(quotient, zero, "une"))
    result = e.add(arith.SelectOp(some, floor, _signed_zero(e, plain, dtype)))
    return e.add(arith.SelectOp(e.add(arith.CmpfOp(y, zero, "oeq")), plain, result))


def _integer_floor_div(e: MlirEmitter, x: SSAValue, y: SSAValue, dtype: np.dtype) -> SSAValue:
    zero, safe = _safe_divisor(e, x, y, dtype)
    quotient = e.add(arith.FloorDivSIOp(x, safe))
    return e.add(arith.SelectOp(e.add(arith.CmpiOp(y, zero, "eq")), zero, quotient))


def _integer_mod(e: MlirEmitter, x: SSAValue, y: SSAValue, dtype: np.dtype) -> SSAValue:
    zero, safe = _safe_divisor(e, x, y, dtype)
    rest = e.add(arith.RemSIOp(x, safe))
    differ = e.add(arith.CmpiOp(e.add(arith.XOrIOp(rest, safe)), zero, "slt"))
    wrong = e.add(arith.AndIOp(e.add(arith.CmpiOp(rest, zero, "ne")), differ))
    rest = e.add(arith.SelectOp(wrong, e.add(arith.AddiOp(rest, safe)), rest))
    return e.add(arith.SelectOp(e.add(arith.CmpiOp(y, zero, "eq")), zero, rest))


def _safe_divisor(e: MlirEmitter, x: SSAValue, y: SSAValue, dtype: np.dtype) -> tuple[SSAValue, SSAValue]:
    """Return zero, and y with 1 in place of invalid divisors: 0, and -1 if the quotient would not fit."""
    zero, least = e.constant(0, dtype), e.constant(int(np.iinfo(dtype).min), dtype)
    overflow = e.add(arith.AndIOp(e.add(arith.CmpiOp(x, least, "eq")), e.add(arith.CmpiOp(y, e.constant(-1, dtype), "eq"))))
    bad = e.add(arith.OrIOp(e.add(arith.CmpiOp(y, zero, "eq")), overflow))
    return zero, e.add(arith.SelectOp(bad, e.constant(1, dtype), y))


def _integer_pow(e: MlirEmitter, x: SSAValue, y: SSAValue, dtype: np.dtype) -> SSAValue:
    """Emit square and multiply modulo 2**n. (NumPy refuses a negative exponent; here it gives some number.)"""
    one = e.constant(1, dtype)
    block = Block(arg_types=[_INDEX, x.type, x.type, x.type])
    with e.inside(block):
        _, result, square, rest = block.args
        odd = e.add(arith.CmpiOp(e.add(arith.AndIOp(rest, one)), one, "eq"))
        product = e.add(arith.SelectOp(odd, e.add(arith.MuliOp(result, square)), result))
        block.add_op(scf.YieldOp(product, e.add(arith.MuliOp(square, square)), e.add(arith.ShRUIOp(rest, one))))
    bits = e.index(8 * dtype.itemsize - 1)
    return e.add(scf.ForOp(e.index(0), bits, e.index(1), [one, x, y], block))


def _float_pow(e: MlirEmitter, x: SSAValue, y: SSAValue, _dtype: np.dtype) -> SSAValue:
    return e.add(math.PowFOp(x, y))


_Binary = Callable[[MlirEmitter, SSAValue, SSAValue, np.dtype], SSAValue]
_REST: Mapping[type[FleetOp], tuple[_Binary, _Binary]] = {
    d.PowOp: (_float_pow, _integer_pow),
    d.FloorDivOp: (_float_floor_div, _integer_floor_div),
    d.ModOp: (_float_mod, _integer_mod),
}
BINARY = (*_ARITHMETIC, *_COMPARE, *_REST, d.LogicalAndOp, d.LogicalOrOp)

# ---- one operand

_FUNCTIONS: Mapping[type[FleetOp], Callable[[SSAValue], Operation]] = {
    d.SqrtOp: math.SqrtOp,
    d.ExpOp: math.ExpOp,
    d.LogOp: math.LogOp,
    d.TanhOp: math.TanhOp,
    d.ErfOp: math.ErfOp,
    d.SinOp: math.SinOp,
    d.CosOp: math.CosOp,
    d.FloorOp: math.FloorOp,
    d.CeilOp: math.CeilOp,
    d.RintOp: math.RoundEvenOp,
    d.Log1pOp: math.Log1pOp,
    d.Expm1Op: math.ExpM1Op,
}
UNARY = (*_FUNCTIONS, d.NegOp, d.AbsOp, d.SignOp, d.RsqrtOp, d.LogicalNotOp, d.IsnanOp)


def unary(e: MlirEmitter, op: type[FleetOp], x: SSAValue, dtype: np.dtype) -> SSAValue:
    """Emit an operation of one element; `logical_not` and `isnan` give i1."""
    true = np.dtype(bool)
    if op is d.LogicalNotOp:
        return e.add(arith.XOrIOp(truth(e, x, dtype), e.constant(1, true)))
    if op is d.IsnanOp:
        return e.add(arith.CmpfOp(x, x, "uno")) if dtype.kind == "f" else e.constant(0, true)
    if dtype.kind != "f":
        return _integer_unary(e, op, x, dtype)
    if op is d.NegOp:
        return e.add(arith.NegfOp(x))
    if op is d.AbsOp:
        return e.add(math.AbsFOp(x))
    if op is d.SignOp:
        return _sign(e, x, dtype)
    if dtype.itemsize == 2:
        return convert(e, unary(e, op, convert(e, x, dtype, _F32), _F32), _F32, dtype)
    if op is d.RsqrtOp:
        return e.add(arith.DivfOp(e.constant(1.0, dtype), e.add(math.SqrtOp(x))))
    return e.add(_FUNCTIONS[op](x))


def _integer_unary(e: MlirEmitter, op: type[FleetOp], x: SSAValue, dtype: np.dtype) -> SSAValue:
    if op in (d.FloorOp, d.CeilOp, d.RintOp) or dtype.kind == "b":
        return x
    zero = e.constant(0, dtype)
    if op is d.NegOp:
        return e.add(arith.SubiOp(zero, x))
    negative = e.add(arith.CmpiOp(x, zero, "slt"))
    if op is d.AbsOp:
        return e.add(arith.SelectOp(negative, e.add(arith.SubiOp(zero, x)), x))
    positive = e.add(arith.SelectOp(e.add(arith.CmpiOp(x, zero, "sgt")), e.constant(1, dtype), zero))
    return e.add(arith.SelectOp(negative, e.constant(-1, dtype), positive))


def _sign(e: MlirEmitter, x: SSAValue, dtype: np.dtype) -> SSAValue:
    """Emit 1, -1 or 0; NaN for NaN."""
    zero = e.constant(0.0, dtype)
    rest = e.add(arith.SelectOp(e.add(arith.CmpfOp(x, zero, "oeq")), zero, x))
    below = e.add(arith.SelectOp(e.add(arith.CmpfOp(x, zero, "olt")), e.constant(-1.0, dtype), rest))
    return e.add(arith.SelectOp(e.add(arith.CmpfOp(x, zero, "ogt")), e.constant(1.0, dtype), below))
