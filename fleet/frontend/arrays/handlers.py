"""NumPy's calls in terms of the IR's operations: the dispatcher, elementwise functions, reductions, products and dtypes."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from fleet.frontend.arrays.functions.shifts import powers, shift
from fleet.frontend.arrays.sizes import dims_of, flat, reshaped
from fleet.frontend.python.values import List, Number, Operand, Range, Tensor, Value, words
from fleet.ir.dialect import ClipOp
from fleet.ir.promotion import common_dtype, loop_types
from fleet.ir.shapes import InferenceError
from fleet.ir.types import numpy_dtype

if TYPE_CHECKING:
    from fleet.frontend.arrays.builder import Builder
    from fleet.frontend.python.evaluator import Evaluator

Arguments: TypeAlias = Mapping[str, Value]
Handler: TypeAlias = "Callable[[Evaluator, ast.Call, Arguments], Value]"


def handle(ev: Evaluator, node: ast.Call, handler: str, args: Arguments) -> Value:
    """Carries out the call that a signature names ("reduce:mean", "where")."""
    from fleet.frontend.arrays.functions import changes, composed, create, matrices, order, products, shapes

    kind, _, detail = handler.partition(":")
    _refuse_truth_values(ev, node, kind, args)
    modules = (shapes, create, order, composed, matrices, products, changes)
    for table in (_HANDLERS, *(m.HANDLERS for m in modules)):
        if kind in table:
            return table[kind](ev, node, {**args, "": detail})
    raise AssertionError(handler)


_AXIS_FROM_PYTHON = frozenset(
    {"average", "sort", "median", "diff", "norm", "expand_dims", "stack", "split", "array_split", "flip", "roll"}
    | {"take_along_axis", "put_along_axis"}
)
"""What asks Python for the index that an axis is, which True has; the others ask for an integer, which True is not."""


def _refuse_truth_values(ev: Evaluator, node: ast.Call, kind: str, args: Arguments) -> None:
    one = kind in _AXIS_FROM_PYTHON and not (kind == "norm" and ev.sequence(args.get("axis")))
    for name in ("shape", *(("N", "M") if kind == "eye" else ()), *(() if one else ("axis", "axes"))):
        for part in ev.sequence(args.get(name)) or (args.get(name),):
            if isinstance(part, Number) and part.truth:
                ev.fail("F404", node, f"{name} must be an integer, found {words(part)}")


def emitter(ev: Evaluator) -> Builder:
    """The builder of the evaluator's domain."""
    from fleet.frontend.arrays.tracing import of

    return of(ev).builder


def emit(ev: Evaluator, node: ast.AST, name: str, operands: Sequence[Tensor], **attributes: object) -> Tensor:
    """One operation on arrays."""
    return emitter(ev).tensor(node, name, [o.ssa for o in operands], **attributes)


def array(ev: Evaluator, node: ast.AST, value: Value) -> Tensor:
    """`value` as an array; a number becomes a NumPy scalar of the dtype that numpy.asarray gives it."""
    from fleet.frontend.arrays.functions import create

    if isinstance(value, tuple | List | Range):
        return create.stacked(ev, node, value, None)
    number = ev.operand(node, value)
    if isinstance(number, Tensor):
        return number
    if number.symbolic:
        return _array_of_size(ev, node, number)
    return emitter(ev).filled(node, (), number.value, np.asarray(number.value).dtype)


def numeric(ev: Evaluator, node: ast.AST, value: Value) -> Operand:
    """`value` as an operand: a Python number stays one."""
    return value if isinstance(value, Number) else array(ev, node, value)


def _array_of_size(ev: Evaluator, node: ast.AST, number: Number) -> Tensor:
    """A number that only the run knows as a NumPy scalar: the constant 0 of its dtype, and the number added."""
    dtype = np.dtype(np.int64) if number.ssa is None else numpy_dtype(number.ssa.type)
    zero = emitter(ev).filled(node, (), 0, dtype)
    return emitter(ev).elementwise(node, "logical_or" if dtype.kind == "b" else "add", [zero, number])


def axes_of(ev: Evaluator, node: ast.AST, rank: int, value: Value) -> list[int]:
    """Axes as ascending non-negative numbers; all for None."""
    if value is None:
        return list(range(rank))
    axes = ev.integers(node, value, "axis")
    for a in axes:
        if not -rank <= a < rank:
            ev.fail("F305", node, f"axis {a} is out of bounds for an array of rank {rank}")
    found = sorted(a % rank for a in axes)
    if len(set(found)) != len(found):
        ev.fail("F305", node, f"axis {axes} names a dimension twice")
    return found


def axis_of(ev: Evaluator, node: ast.AST, rank: int, value: Value) -> int:
    """One axis."""
    return axes_of(ev, node, rank, Number(ev.integer(node, value, "axis")))[0]


_WITHOUT_AXIS = frozenset({"mean", "var"})
"""What NumPy refuses to reduce over axis 0 of a scalar; a ufunc's reduction takes it."""


def reduced_axes(ev: Evaluator, node: ast.AST, op: str, x: Tensor, args: Arguments) -> list[int]:
    """The axes of a reduction. Of a scalar NumPy takes 0 and -1, which say nothing."""
    axis = args.get("axis")
    if isinstance(axis, List):
        ev.fail("F404", node, "the axes of a reduction must be a number or a tuple of them, found a list", "write axis=(0, 1)")
    if not x.shape and op not in _WITHOUT_AXIS and isinstance(axis, Number) and repr(ev.static(axis)) in ("0", "-1"):
        return []
    return axes_of(ev, node, len(x.shape), axis)


def keeps(ev: Evaluator, node: ast.AST, args: Arguments) -> bool:
    """The call's keepdims."""
    return ev.flag(node, args["keepdims"], "keepdims") if "keepdims" in args else False


# ---- elementwise


def elementwise(ev: Evaluator, node: ast.AST, op: str, *operands: Operand) -> Tensor:
    """A ufunc called by its name: of numbers it gives a NumPy scalar, unlike Python's operators."""
    values = list(operands)
    if all(isinstance(v, Number) for v in values):
        values[0] = array(ev, node, values[0])
    if op == "pow" and not any(isinstance(v, Tensor) and v.shape for v in values):
        return _power(ev, node, values)
    return emitter(ev).elementwise(node, op, values)


def _power(ev: Evaluator, node: ast.AST, values: Sequence[Operand]) -> Tensor:
    """np.power where nothing has dimensions, by way of one: `pow` of rank 0 is Python's `**`, whose bits are others."""
    raised = [reshaped(ev, node, v, [1]) if isinstance(v, Tensor) else v for v in values]
    return Tensor(reshaped(ev, node, emitter(ev).elementwise(node, "pow", raised), []).ssa)


def loop(ev: Evaluator, node: ast.AST, ufunc: np.ufunc, *values: Value) -> list[Tensor]:
    """The operands of a ufunc in the dtypes in which NumPy computes it."""
    operands = [numeric(ev, node, v) for v in values]
    try:
        dtypes = loop_types(ufunc.__name__, ufunc, [emitter(ev).type_of(node, v) for v in operands])
    except InferenceError as error:
        ev.fail("F401", node, str(error))
    return [_widened(ev, node, v, t) for v, t in zip(operands, dtypes, strict=False)]


def _widened(ev: Evaluator, node: ast.AST, value: Operand, dtype: np.dtype) -> Tensor:
    """An operand in the dtype of a ufunc's loop.

    Integers times 1: what a cast gives lies in memory as its operand does, what a ufunc gives in C order where the operand is
    broadcast, and a later sum adds in the order of memory.
    """
    if isinstance(value, Tensor) and len(value.shape) > 1 and value.dtype.kind in "biu" and dtype.kind == "f":
        return elementwise(ev, node, "mul", value, emitter(ev).filled(node, (), 1.0, dtype))
    return convert(ev, node, value, dtype)


def _binary(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    from fleet.frontend.arrays.tracing import of

    a, b = numeric(ev, node, args["x1"]), numeric(ev, node, args["x2"])
    return elementwise(ev, node, of(ev).on_bools(node, str(args[""]), a, b), a, b)


def _logical_xor(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """Whether one is true and the other is not: what is not 0 is true."""
    given = (array(ev, node, args["x1"]), array(ev, node, args["x2"]))
    truths = (x if x.dtype.kind == "b" else elementwise(ev, node, "not_equal", x, Number(0)) for x in given)
    return elementwise(ev, node, "not_equal", *truths)


def _shift(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    by = numeric(ev, node, args["x2"])
    if isinstance(by, Number):
        return shift(ev, node, str(args[""]), array(ev, node, args["x1"]), by)
    return _shifted(ev, node, str(args[""]), *loop(ev, node, np.left_shift, args["x1"], by))


def _shifted(ev: Evaluator, node: ast.AST, name: str, x: Tensor, by: Tensor) -> Tensor:
    """By numbers of bits that are in an array: factors out of a table. Less than 0 and more than there are shift everything out."""
    from fleet.frontend.arrays.functions.create import static

    bits = 8 * x.dtype.itemsize
    beyond = elementwise(ev, node, "greater_equal", by, Number(bits))
    if by.dtype.kind == "i":
        beyond = elementwise(ev, node, "logical_or", beyond, elementwise(ev, node, "less", by, Number(0)))
    places = cast(ev, node, select(ev, node, beyond, Number(bits), by), np.dtype(np.int64))
    for table in powers(x.dtype, name):
        factors = emit(ev, node, "gather", [static(ev, node, table, "powers of two"), places])
        x = elementwise(ev, node, "mul" if name == "shift_left" else "floor_div", x, factors)
    return x


def _unary(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, op = numeric(ev, node, args["x"]), str(args[""])
    if op in ("pos", "invert"):
        return ev.domain.unary(node, op, array(ev, node, x))
    return elementwise(ev, node, op, x)


def _square(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    (x,) = loop(ev, node, np.square, args["x"])
    return elementwise(ev, node, "mul", x, x)


def _reciprocal(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        ev.fail("F401", node, f"reciprocal of {words(x)}", "make it a float first")
    return elementwise(ev, node, "div", Number(1), x)


def _isinf(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        return elementwise(ev, node, "not_equal", x, x)
    return elementwise(ev, node, "equal", elementwise(ev, node, "abs", x), Number(math.inf))


def _isfinite(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        return elementwise(ev, node, "equal", x, x)
    return elementwise(ev, node, "less", elementwise(ev, node, "abs", x), Number(math.inf))


_MOST_DECIMALS = 8
"""NumPy has the powers of ten up to here in a table."""


def _round(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """With decimals NumPy scales, rounds and scales back, each in the array's dtype."""
    decimals = ev.integer(node, args["decimals"], "decimals") if "decimals" in args else 0
    x = array(ev, node, args["a"])
    if x.dtype.kind in "iu" and decimals >= 0:  # the same bits, and np.round gives them in their own dtype
        return Tensor(x.ssa)
    if decimals == 0:
        return elementwise(ev, node, "rint", x)
    if x.dtype.kind != "f" or abs(decimals) > _MOST_DECIMALS:
        ev.fail("F506", node, f"round of {words(x)} with decimals={decimals} is not supported", "scale, np.rint, scale back")
    scale, back = ("mul", "div") if decimals > 0 else ("div", "mul")
    factor = Number(10.0 ** abs(decimals))
    return elementwise(ev, node, back, elementwise(ev, node, "rint", elementwise(ev, node, scale, x, factor)), factor)


def _clip(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """As NumPy has it: an integer beyond the array's own range is no bound, and one bound alone is a maximum or a minimum."""
    x = array(ev, node, args["a"])
    if ("a_min" in args) != ("a_max" in args):
        ev.fail("F208", node, f"np.clip needs {'a_max' if 'a_min' in args else 'a_min'} too", "give None for no bound")
    given = {n: args.get(n, args.get(f"a_{n}")) for n in ("min", "max")}
    bounds = {n: numeric(ev, node, v) for n, v in given.items() if v is not None}
    if x.dtype.kind in "iu":
        bounds = {n: v for n, v in bounds.items() if not _beyond(v, x.dtype, n)}
    if not bounds:
        loop(ev, node, np.positive, x)  # which NumPy then calls; it has none of truth values
        return Tensor(x.ssa)
    low, high = bounds.get("min"), bounds.get("max")
    if low is None or high is None:
        return elementwise(ev, node, "minimum" if low is None else "maximum", x, *bounds.values())
    types = [emitter(ev).type_of(node, v) for v in (x, low, high)]
    try:
        dtype = ClipOp.compute_types(types)[-1]
    except InferenceError as error:
        ev.fail("F401", node, str(error))
    if dtype.kind == "f":
        return emitter(ev).elementwise(node, "clip", [x, low, high])
    return elementwise(ev, node, "minimum", elementwise(ev, node, "maximum", cast(ev, node, x, dtype), low), high)


def _beyond(bound: Operand, dtype: np.dtype, side: str) -> bool:
    if not isinstance(bound, Number) or bound.symbolic or type(bound.value) is not int:
        return False
    limits = np.iinfo(dtype)
    return bound.value <= limits.min if side == "min" else bound.value >= limits.max


def _where(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    condition = array(ev, node, args["condition"])
    if condition.dtype.kind != "b":
        condition = elementwise(ev, node, "not_equal", condition, Number(0))
    chosen = select(ev, node, condition, numeric(ev, node, args["x"]), numeric(ev, node, args["y"]))
    return Tensor(chosen.ssa, scalar=False)  # an array also where it has no dimensions


def select(ev: Evaluator, node: ast.AST, condition: Tensor, a: Operand, b: Operand) -> Tensor:
    """`where(condition, a, b)`; numbers take the dtype of the other side, or their own where both are numbers."""
    if isinstance(a, Number) and isinstance(b, Number):
        a = array(ev, node, a)
    types = [emitter(ev).type_of(node, v) for v in (a, b)]
    dtype = common_dtype(types)
    parts = [
        v
        if isinstance(v, Tensor)
        else cast(ev, node, array(ev, node, v), dtype)
        if v.symbolic  # a size has no dtype of its own
        else emitter(ev).filled(node, (), wrapped(v, dtype), dtype)
        for v in (a, b)
    ]
    return emit(ev, node, "where", [condition, *parts])


def wrapped(number: Number, dtype: np.dtype) -> bool | int | float:
    """A number as NumPy casts it where it does not check: an integer loses the bits that `dtype` has no place for."""
    with np.errstate(all="ignore"):
        return np.asarray(number.value).astype(dtype).item()


# ---- reductions


def _reduce(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, op = array(ev, node, args["a"]), str(args[""])
    axes = reduced_axes(ev, node, op, x, args)
    if op in ("reduce_any", "reduce_all") and x.dtype.kind != "b":
        x = elementwise(ev, node, "not_equal", x, Number(0))
    return emit(ev, node, op, [x], axes=axes, keepdims=keeps(ev, node, args))


def variance(ev: Evaluator, node: ast.Call, args: Arguments) -> Tensor:
    """np.var; with ddof in the steps that NumPy takes."""
    x = array(ev, node, args["a"])
    axes = reduced_axes(ev, node, "var", x, args)
    ddof = ev.static(args["ddof"]) if "ddof" in args else 0
    if ddof is None:
        ev.fail("F404", node, f"ddof must be a number known from the source, found {words(args['ddof'])}")
    if ddof == 0:
        return emit(ev, node, "var", [x], axes=axes, keepdims=keeps(ev, node, args))
    if x.dtype == np.float16:
        ev.fail("F401", node, "var of float16 with ddof is not supported", "cast to float32 first")
    if x.dtype.kind != "f":
        x = cast(ev, node, x, np.dtype(float))
    if any(x.shape[a] < 0 for a in axes):
        ev.unknown(node, "var with ddof over a dimension whose size only the run knows")
    count = math.prod(x.shape[a] for a in axes)
    mean = elementwise(ev, node, "div", emit(ev, node, "reduce_sum", [x], axes=axes, keepdims=True), Number(float(count)))
    off = elementwise(ev, node, "sub", x, mean)
    total = emit(ev, node, "reduce_sum", [elementwise(ev, node, "mul", off, off)], axes=axes, keepdims=keeps(ev, node, args))
    return elementwise(ev, node, "div", total, Number(float(max(count - ddof, 0))))


def _std(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return elementwise(ev, node, "sqrt", variance(ev, node, args))


def _ptp(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    axes, keepdims = reduced_axes(ev, node, "ptp", x, args), keeps(ev, node, args)
    parts = [emit(ev, node, op, [x], axes=axes, keepdims=keepdims) for op in ("reduce_max", "reduce_min")]
    return elementwise(ev, node, "sub", *parts)


def _average(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """np.average without weights: a mean, but NumPy divides the operand's size by the result's."""
    x = array(ev, node, args["a"])
    axes = axes_of(ev, node, len(x.shape), args.get("axis"))
    if any(d == 0 for i, d in enumerate(x.shape) if i not in axes):
        ev.fail("F305", node, f"average of {words(x)} has no elements, which NumPy refuses", "np.mean takes it")
    return emit(ev, node, "mean", [x], axes=axes, keepdims=keeps(ev, node, args))


def _count_nonzero(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    x = x if x.dtype.kind == "b" else elementwise(ev, node, "not_equal", x, Number(0))
    axes = reduced_axes(ev, node, "count_nonzero", x, args)
    return emit(ev, node, "reduce_sum", [x], axes=axes, keepdims=keeps(ev, node, args))


def _arg(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, op = array(ev, node, args["a"]), str(args[""])
    kept: list[int | Number] = [1] * len(x.shape)
    if args.get("axis") is None or (not x.shape and not reduced_axes(ev, node, op, x, args)):
        result = emit(ev, node, op, [x if len(x.shape) == 1 else flat(ev, node, x)], axis=0)
    else:
        axis = axis_of(ev, node, len(x.shape), args["axis"])
        result = emit(ev, node, op, [x], axis=axis)
        kept = dims_of(result)
        kept.insert(axis, 1)
    return reshaped(ev, node, result, kept) if keeps(ev, node, args) else result


def _cumsum(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    if not x.shape or args.get("axis") is None:
        x = x if len(x.shape) == 1 else flat(ev, node, x)
    axis = 0 if args.get("axis") is None else axis_of(ev, node, len(x.shape), args["axis"])
    return emit(ev, node, "cumsum", [x], axis=axis)


# ---- products


# ---- dtypes


def cast(ev: Evaluator, node: ast.AST, value: Tensor, dtype: np.dtype) -> Tensor:
    """The array in another dtype; itself where that changes nothing."""
    return value if value.dtype == dtype else emit(ev, node, "cast", [value], dtype=dtype)


def convert(ev: Evaluator, node: ast.AST, value: Value, dtype: np.dtype) -> Tensor:
    """A number, array, list or tuple as an array of `dtype`."""
    from fleet.frontend.arrays.functions import create

    if isinstance(value, Number):
        if value.symbolic:
            return cast(ev, node, array(ev, node, value), dtype)
        return emitter(ev).filled(node, (), whole(ev, node, value.value, dtype), dtype)
    if isinstance(value, Tensor):
        return Tensor(cast(ev, node, value, dtype).ssa, scalar=value.scalar)
    if isinstance(value, tuple | List | Range):
        return create.stacked(ev, node, value, dtype)
    return ev.fail("F408", node, f"expected an array or a number, found {words(value)}")


def whole(ev: Evaluator, node: ast.AST, number: bool | int | float, dtype: np.dtype) -> bool | int | float:
    """A number that `dtype` can be filled with."""
    if dtype.kind in "iu" and isinstance(number, float):
        if not math.isfinite(number):
            ev.fail("F402", node, f"cannot convert {number} to {dtype}")
        return math.trunc(number)
    return number


_HANDLERS: Mapping[str, Handler] = {
    "binary": _binary, "logical_xor": _logical_xor, "shift": _shift, "unary": _unary,
    "square": _square, "reciprocal": _reciprocal, "isinf": _isinf, "isfinite": _isfinite, "average": _average,
    "round": _round, "clip": _clip, "where": _where, "reduce": _reduce, "var": variance, "std": _std, "ptp": _ptp,
    "count_nonzero": _count_nonzero, "arg": _arg, "cumsum": _cumsum,
}  # fmt: skip
