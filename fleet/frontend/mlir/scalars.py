"""Operations of arith and math on whole arrays: what a loop's body does to one element, done to all of them.

Integers wrap and floats round as MLIR says; what has no result there (an overflowing cast, a division by zero) is NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import as_element, dtype_of, same_bits

_INT64 = np.dtype(np.int64)


def name_of(op: Operation) -> str:
    """Return the operation's name, of one that xDSL lacks too."""
    written = getattr(op, "op_name", None)
    return written.data if written is not None else op.name


def compute(b: MlirBuild, op: Operation, operands: Sequence[MlirArray]) -> MlirArray:
    """Emit the operation on these arrays. Raises ModelError if it is not supported."""
    name = name_of(op)
    rule = _RULES.get(name)
    if rule is None:
        b.refuse(f"{name} is not read", "`fleet help mlir` lists what is")
        raise AssertionError
    if isinstance(op, arith.ConstantOp):
        return constant(b, op.value)
    return rule(b, op, *operands)


def constant(b: MlirBuild, value: Attribute) -> MlirArray:
    """Return the array of a constant's attribute."""
    if isinstance(value, IntegerAttr | FloatAttr):
        dtype = dtype_of(b, value.type)
        number: Any = value.value.data
        return b.known(bool(number) if dtype.kind == "b" else number, dtype)
    if isinstance(value, DenseIntOrFPElementsAttr):
        dtype = dtype_of(b, value.type)
        shape = tuple(value.get_shape())
        numbers = np.asarray(list(value.get_values()))
        if numbers.size == 1:
            return b.known(np.broadcast_to(numbers.astype(dtype).reshape(()), shape))
        return b.known(numbers.astype(dtype).reshape(shape))
    b.refuse(f"a constant {value}")
    raise AssertionError


Rule = Callable[..., MlirArray]


def _emits(name: str) -> Rule:
    return lambda b, _op, *operands: b.emit(name, *operands)


def calls(function: str) -> Rule:
    """Return the rule that calls a function of NumPy, "left_shift"."""

    def rule(b: MlirBuild, _op: Operation, *operands: MlirArray) -> MlirArray:
        names = ", ".join(f"x{n}" for n in range(len(operands)))
        return b.emit("numpy", *operands, call=f"{function}({names})")

    return rule


def _by_kind(integers: str, truths: str) -> Rule:
    return lambda b, _op, *operands: b.emit(truths if operands[0].dtype.kind == "b" else integers, *operands)


def _casts(b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    target = dtype_of(b, op.results[0].type)
    if target.kind == "b" and x.dtype.kind == "i":  # the lowest bit
        return b.emit("not_equal", b.emit("bitwise_and", x, b.known(1, x.dtype)), b.known(0, x.dtype))
    if op.name in ("arith.extsi", "arith.sitofp", "arith.index_cast") and x.dtype.kind == "b":  # true is -1
        return b.emit("neg", b.cast(x, target))
    return as_element(b, x, op.results[0].type)


def _unsigned_cast(b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    target = dtype_of(b, op.results[0].type)
    if x.dtype.kind == "b":
        return b.cast(x, target)
    mask = (1 << 8 * x.dtype.itemsize) - 1
    if op.name == "arith.extui":
        return b.emit("bitwise_and", b.cast(x, target), b.known(mask, target))
    if x.dtype.itemsize < 8:
        return b.cast(b.emit("bitwise_and", b.cast(x, _INT64), b.known(mask, _INT64)), target)
    b.refuse(f"{op.name} of i64")
    raise AssertionError


def truncated(b: MlirBuild, _op: Operation, x: MlirArray, y: MlirArray) -> MlirArray:
    """Division towards zero."""
    zero = b.known(0, x.dtype)
    floor, rest = b.emit("floor_div", x, y), b.emit("mod", x, y)
    up = b.emit("logical_and", b.emit("not_equal", rest, zero), b.emit("less", floor, zero))
    return b.emit("add", floor, b.cast(up, x.dtype))


def remainder(b: MlirBuild, op: Operation, x: MlirArray, y: MlirArray) -> MlirArray:
    """The remainder of `truncated`."""
    return b.emit("sub", x, b.emit("mul", truncated(b, op, x, y), y))


def _ceiling(b: MlirBuild, _op: Operation, x: MlirArray, y: MlirArray) -> MlirArray:
    return b.emit("neg", b.emit("floor_div", b.emit("neg", x), y))


_LESS = {"l": "less", "g": "greater"}


def _order(predicate: str) -> str:
    return _LESS[predicate[0]] + ("_equal" if predicate[1] == "e" else "")


def _compares(b: MlirBuild, op: Operation, x: MlirArray, y: MlirArray) -> MlirArray:
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]  # pyright: ignore
    if predicate in ("eq", "ne"):
        return b.emit("equal" if predicate == "eq" else "not_equal", x, y)
    signed = predicate[0] == "s"
    if x.dtype.kind == "b":  # as integers: with a sign true is -1
        x, y = (b.cast(v, np.int8) for v in (x, y))
        return b.emit(_order(predicate[1:]), *((y, x) if signed else (x, y)))
    if not signed:
        least = b.known(np.iinfo(x.dtype).min, x.dtype)
        x, y = (b.emit("bitwise_xor", v, least) for v in (x, y))
    return b.emit(_order(predicate[1:]), x, y)


def _compares_floats(b: MlirBuild, op: Operation, x: MlirArray, y: MlirArray) -> MlirArray:
    predicate = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]  # pyright: ignore
    if predicate in ("false", "true"):
        return b.broadcast(b.known(predicate == "true"), np.broadcast_shapes(x.shape, y.shape))
    if predicate in ("uno", "ord"):
        undefined = b.emit("isnan", x) if x is y or (x.value is not None and x.value is y.value) else b.emit(
            "logical_or", b.emit("isnan", x), b.emit("isnan", y)
        )  # fmt: skip
        return undefined if predicate == "uno" else b.emit("logical_not", undefined)
    if predicate == "oeq":
        return b.emit("equal", x, y)
    if predicate == "une":
        return b.emit("not_equal", x, y)
    if predicate in ("one", "ueq"):
        differ = b.emit("logical_or", b.emit("less", x, y), b.emit("greater", x, y))
        return differ if predicate == "one" else b.emit("logical_not", differ)
    if predicate[0] == "o":
        return b.emit(_order(predicate[1:]), x, y)
    against = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[predicate[1:]]
    return b.emit("logical_not", b.emit(_order(against), x, y))


def _chooses(b: MlirBuild, _op: Operation, condition: MlirArray, x: MlirArray, y: MlirArray) -> MlirArray:
    if condition.known is not None and condition.known.size == 1:
        chosen, other = (x, y) if condition.known.item() else (y, x)
        if chosen.rank >= max(condition.rank, other.rank):
            return chosen
    return b.emit("where", condition, x, y)


def _shifts_right(b: MlirBuild, _op: Operation, x: MlirArray, y: MlirArray) -> MlirArray:
    """Without a sign: the bits that come in are zeros."""
    least = b.emit("numpy", b.known(np.iinfo(x.dtype).min, x.dtype), y, call="right_shift(x0, x1)")
    above = b.emit("numpy", least, b.known(1, x.dtype), call="left_shift(x0, x1)")
    moved = b.emit("numpy", x, y, call="right_shift(x0, x1)")
    return b.emit("bitwise_and", moved, b.emit("bitwise_xor", above, b.known(-1, x.dtype)))


def _same(_b: MlirBuild, _op: Operation, x: MlirArray) -> MlirArray:
    return x


_RULES: Mapping[str, Rule] = {
    "arith.constant": _same,
    "arith.addf": _emits("add"), "arith.subf": _emits("sub"), "arith.mulf": _emits("mul"), "arith.divf": _emits("div"),
    "arith.addi": _by_kind("add", "not_equal"), "arith.subi": _by_kind("sub", "not_equal"),
    "arith.muli": _by_kind("mul", "logical_and"),
    "arith.negf": _emits("neg"), "arith.remf": calls("fmod"),
    "arith.maximumf": _emits("maximum"), "arith.minimumf": _emits("minimum"),
    "arith.maxnumf": _emits("fmax"), "arith.minnumf": _emits("fmin"),
    "arith.maxsi": _by_kind("maximum", "logical_and"), "arith.minsi": _by_kind("minimum", "logical_or"),
    "arith.andi": _by_kind("bitwise_and", "logical_and"), "arith.ori": _by_kind("bitwise_or", "logical_or"),
    "arith.xori": _by_kind("bitwise_xor", "not_equal"),
    "arith.floordivsi": _emits("floor_div"), "arith.divsi": truncated, "arith.remsi": remainder, "arith.ceildivsi": _ceiling,
    "arith.shli": calls("left_shift"), "arith.shrsi": calls("right_shift"), "arith.shrui": _shifts_right,
    "arith.cmpi": _compares, "arith.cmpf": _compares_floats, "arith.select": _chooses,
    "arith.extf": _casts, "arith.truncf": _casts, "arith.extsi": _casts, "arith.trunci": _casts, "arith.sitofp": _casts,
    "arith.fptosi": _casts, "arith.index_cast": _casts, "arith.extui": _unsigned_cast, "arith.uitofp": _unsigned_cast,
    "arith.bitcast": same_bits,
    "math.absf": _emits("abs"), "math.absi": _emits("abs"), "math.sqrt": _emits("sqrt"), "math.rsqrt": _emits("rsqrt"),
    "math.exp": _emits("exp"), "math.expm1": _emits("expm1"), "math.exp2": _emits("exp2"), "math.log": _emits("log"),
    "math.log1p": _emits("log1p"), "math.log2": _emits("log2"), "math.log10": _emits("log10"), "math.tanh": _emits("tanh"),
    "math.sinh": _emits("sinh"), "math.cosh": _emits("cosh"), "math.sin": _emits("sin"), "math.cos": _emits("cos"),
    "math.tan": _emits("tan"), "math.erf": _emits("erf"), "math.floor": _emits("floor"), "math.ceil": _emits("ceil"),
    "math.roundeven": _emits("rint"), "math.powf": _emits("pow"), "math.trunc": calls("trunc"),
    "math.atan": calls("arctan"), "math.atan2": calls("arctan2"), "math.asin": calls("arcsin"), "math.acos": calls("arccos"),
    "math.cbrt": calls("cbrt"), "math.copysign": calls("copysign"),
}  # fmt: skip
"""Operation -> what computes it."""
