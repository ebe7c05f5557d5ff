"""The NumPy (and few builtin and math) calls that the front end understands, each in terms of the IR's operations."""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fleet.frontend._values import Library, Method, Number, Tensor, Value, words
from fleet.ir.types import SUPPORTED_DTYPES

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator

Arguments = Mapping[str, Value]
Handler = Callable[["Evaluator", ast.Call, Arguments], Value]


class _Signature(NamedTuple):
    """positional: names in order ("*name" takes the rest); required: how many of them; keywords: by keyword only."""

    handler: Handler
    positional: tuple[str, ...]
    required: int
    keywords: tuple[str, ...] = ()


# ---- elementwise

_UFUNCS_2 = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "power": "pow",
             "maximum": "maximum", "minimum": "minimum"}  # fmt: skip
_UFUNCS_1 = {"exp": "exp", "log": "log", "sqrt": "sqrt", "tanh": "tanh", "abs": "abs", "absolute": "abs", "negative": "neg"}


def _ufunc(op: str, operands: tuple[str, ...]) -> _Signature:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        values = [ev.operand(node, args[p]) for p in operands]
        if all(isinstance(v, Number) for v in values):
            values[0] = ev.array(node, values[0])  # NumPy's functions give NumPy scalars, unlike Python's operators
        return ev.builder.elementwise(node, op, values)

    return _Signature(handler, operands, len(operands))


# ---- reductions


def _axes(ev: Evaluator, node: ast.AST, rank: int, value: Value) -> list[int]:
    if value is None:
        return list(range(rank))
    axes = ev.integers(node, value, "axis")
    for a in axes:
        if not -rank <= a < rank:
            ev.source.fail(node, f"axis {a} is out of bounds for an array of rank {rank}")
    found = sorted(a % rank for a in axes)
    if len(set(found)) != len(found):
        ev.source.fail(node, f"axis {axes} names a dimension twice")
    return found


def _flag(ev: Evaluator, node: ast.AST, value: Value, name: str) -> bool:
    if isinstance(value, Number) and isinstance(value.value, bool | int):
        return bool(value.value)
    return ev.source.fail(node, f"{name} must be True or False, found {words(value)}")


def _reduction(op: str) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        x = ev.array(node, args["a"])
        if "ddof" in args and ev.integer(node, args["ddof"], "ddof") != 0:
            ev.source.fail(node, "var with ddof is not supported", "only the population variance (ddof=0) is")
        keepdims = _flag(ev, node, args["keepdims"], "keepdims") if "keepdims" in args else False
        axes = _axes(ev, node, len(x.shape), args.get("axis"))
        return ev.builder.tensor(node, op, [x.ssa], axes=axes, keepdims=keepdims)

    return handler


def _argmax(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = ev.array(node, args["a"])
    keepdims = _flag(ev, node, args["keepdims"], "keepdims") if "keepdims" in args else False
    kept = [1] * len(x.shape)
    if args.get("axis") is None:
        flat = x if len(x.shape) == 1 else ev.builder.tensor(node, "reshape", [x.ssa], shape=[math.prod(x.shape)])
        result = ev.builder.tensor(node, "argmax", [flat.ssa], axis=0)
    else:
        (axis,) = _axes(ev, node, len(x.shape), Number(ev.integer(node, args["axis"], "axis")))
        result = ev.builder.tensor(node, "argmax", [x.ssa], axis=axis)
        kept = [1 if i == axis else d for i, d in enumerate(x.shape)]
    return ev.builder.tensor(node, "reshape", [result.ssa], shape=kept) if keepdims else result


# ---- shapes


def _transpose(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = ev.array(node, args["a"])
    given = args.get("axes")
    if isinstance(given, tuple) and len(given) == 1 and (given[0] is None or isinstance(given[0], tuple)):
        given = given[0]  # x.transpose((1, 0))
    rank = len(x.shape)
    permutation = ev.integers(node, given, "axes") if given not in (None, ()) else tuple(reversed(range(rank)))
    return ev.builder.tensor(node, "transpose", [x.ssa], permutation=[p + rank if p < 0 else p for p in permutation])


def _reshape(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = ev.array(node, args["a"])
    given = args["shape"]
    if isinstance(given, tuple) and len(given) == 1 and isinstance(given[0], tuple):
        given = given[0]  # x.reshape((2, 3))
    shape = list(ev.integers(node, given, "shape"))
    if shape.count(-1) > 1:
        ev.source.fail(node, "reshape with more than one -1")
    if -1 in shape:
        known = math.prod(d for d in shape if d != -1)
        if known == 0 or math.prod(x.shape) % known:
            ev.source.fail(node, f"reshape of shape {x.shape} ({math.prod(x.shape)} elements) to {tuple(shape)}")
        shape[shape.index(-1)] = math.prod(x.shape) // known
    return x if tuple(shape) == x.shape else ev.builder.tensor(node, "reshape", [x.ssa], shape=shape)


def _joined(ev: Evaluator, node: ast.Call, value: Value) -> list[Tensor]:
    if not isinstance(value, tuple) or not value:
        ev.source.fail(node, f"expected a list or tuple of arrays, found {words(value)}")
    return [ev.array(node, v) for v in value]


def _concatenate(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = _joined(ev, node, args["arrays"])
    axis = ev.integer(node, args["axis"], "axis") if "axis" in args else 0
    (axis,) = _axes(ev, node, len(parts[0].shape), Number(axis))
    return ev.builder.tensor(node, "concat", [p.ssa for p in parts], axis=axis)


def _hstack(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = [p if p.shape else ev.builder.tensor(node, "reshape", [p.ssa], shape=[1]) for p in _joined(ev, node, args["arrays"])]
    return ev.builder.tensor(node, "concat", [p.ssa for p in parts], axis=0 if len(parts[0].shape) == 1 else 1)


# ---- products


def matmul(ev: Evaluator, node: ast.AST, lhs: Tensor | Number, rhs: Tensor | Number) -> Value:
    """`lhs @ rhs`; a vector takes part as a row or a column that vanishes from the result."""
    if isinstance(lhs, Number) or isinstance(rhs, Number) or not lhs.shape or not rhs.shape:
        ev.source.fail(node, f"matmul of {words(lhs)} and {words(rhs)}", "both must be arrays of rank 1 or more")
    if len(lhs.shape) > 1 and len(rhs.shape) > 1:
        return ev.builder.tensor(node, "matmul", [lhs.ssa, rhs.ssa])
    inner: int = lhs.shape[len(lhs.shape) - 1]
    if inner != rhs.shape[max(len(rhs.shape) - 2, 0)]:
        ev.source.fail(node, f"matmul of shapes {lhs.shape} and {rhs.shape}: the inner dimensions must be equal")
    a = lhs.ssa if len(lhs.shape) > 1 else ev.builder.emit(node, "reshape", [lhs.ssa], shape=[1, *lhs.shape])
    b = rhs.ssa if len(rhs.shape) > 1 else ev.builder.emit(node, "reshape", [rhs.ssa], shape=[*rhs.shape, 1])
    product = ev.builder.tensor(node, "matmul", [a, b])
    rows = product.shape[len(product.shape) - 2 : -1] if len(lhs.shape) > 1 else ()
    columns = product.shape[-1:] if len(rhs.shape) > 1 else ()
    shape = [*product.shape[: len(product.shape) - 2], *rows, *columns]
    return ev.builder.tensor(node, "reshape", [product.ssa], shape=shape)


def _matmul(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return matmul(ev, node, ev.operand(node, args["x1"]), ev.operand(node, args["x2"]))


def _dot(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    lhs, rhs = ev.operand(node, args["a"]), ev.operand(node, args["b"])
    if not isinstance(lhs, Tensor) or not isinstance(rhs, Tensor) or not 1 <= len(lhs.shape) <= 2 or not 1 <= len(rhs.shape) <= 2:
        ev.source.fail(node, f"dot of {words(lhs)} and {words(rhs)}", "dot takes arrays of rank 1 or 2; use @ or *")
    return matmul(ev, node, lhs, rhs)


# ---- dtypes and constants


def dtype_of(ev: Evaluator, node: ast.AST, value: Value) -> np.dtype:
    """`value` as a dtype: numpy.float32, "float32", float, x.dtype."""
    found: np.dtype | None = None
    if isinstance(value, np.dtype):
        found = value
    elif isinstance(value, Library) and value.path in _PYTHON_DTYPES:
        found = _PYTHON_DTYPES[value.path]
    elif isinstance(value, str) and value in SUPPORTED_DTYPES:
        found = np.dtype(value)
    if found is None:
        ev.source.fail(node, f"expected a dtype, found {words(value)}", f"supported are {', '.join(SUPPORTED_DTYPES)}")
    return found


_PYTHON_DTYPES = {"builtins.float": np.dtype(float), "builtins.int": np.dtype(np.int64), "builtins.bool": np.dtype(bool)}


def _cast(ev: Evaluator, node: ast.AST, value: Tensor, dtype: np.dtype) -> Tensor:
    return value if value.dtype == dtype else ev.builder.tensor(node, "cast", [value.ssa], dtype=dtype)


def _convert(ev: Evaluator, node: ast.AST, value: Value, dtype: np.dtype) -> Tensor:
    if isinstance(value, Number):
        number = value.value
        if dtype.kind == "i" and isinstance(number, float):
            if not math.isfinite(number):
                ev.source.fail(node, f"cannot convert {number} to {dtype}")
            number = math.trunc(number)
        return ev.builder.filled(node, (), number, dtype)
    if isinstance(value, Tensor):
        return _cast(ev, node, value, dtype)
    return ev.source.fail(node, f"expected an array or a number, found {words(value)}", "arrays are arguments of the function")


def _asarray(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    value = args["a"]
    if not isinstance(value, Tensor | Number):
        ev.source.fail(node, f"an array made of {words(value)} is not supported", "arrays are arguments of the function")
    dtype = dtype_of(ev, node, args["dtype"]) if args.get("dtype") is not None else None
    return _convert(ev, node, value, dtype) if dtype is not None else ev.array(node, value)


def _astype(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return _cast(ev, node, ev.array(node, args["a"]), dtype_of(ev, node, args["dtype"]))


def _filled(value: float | None) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        shape = ev.integers(node, args["shape"], "shape")
        if any(d < 0 for d in shape) or math.prod(shape) > 1 << 31:
            ev.source.fail(node, f"an array of shape {shape}", "dimensions are not negative, at most 2^31 elements")
        number: bool | int | float = value if value is not None else 0
        dtype = np.dtype(float)
        if value is None:
            given = ev.operand(node, args["fill_value"])
            if not isinstance(given, Number):
                ev.source.fail(node, f"full with {words(given)} is not supported", "fill with a number")
            number, dtype = given.value, np.asarray(given.value).dtype
        if args.get("dtype") is not None:
            dtype = dtype_of(ev, node, args["dtype"])
        return ev.builder.filled(node, shape, int(number) if dtype.kind == "i" and math.isfinite(number) else number, dtype)

    return handler


# ---- builtins and math


def _print(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    values = args["values"]
    assert isinstance(values, tuple)
    if not values:
        ev.source.fail(node, "print without arguments is not supported", "print arrays and numbers")
    ev.builder.print(node, [ev.operand(node, v) for v in values])
    return None


def _len(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    value = args["value"]
    if isinstance(value, tuple):
        return Number(len(value))
    if isinstance(value, Tensor) and value.shape:
        return Number(value.shape[0])
    return ev.source.fail(node, f"{words(value)} has no len()")


def _builtin_abs(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    value = ev.operand(node, args["x"])
    if isinstance(value, Tensor):
        return ev.builder.elementwise(node, "abs", [value])
    return ev.builder.arithmetic(node, "abs", [value], abs(value.value))


def _number(kind: Callable[[float], float]) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        value = args["x"]
        if not isinstance(value, Number):
            ev.source.fail(node, f"a Python number out of {words(value)} is not supported", "use .astype(...)")
        try:
            return Number(kind(value.value))
        except (ArithmeticError, ValueError) as error:
            return ev.source.fail(node, f"{value.value!r}: {error}")

    return handler


BUILTINS = frozenset({"print", "len", "abs", "float", "int", "bool"})

_AXIS = ("a", "axis")
_FUNCTIONS: Mapping[str, _Signature] = {
    **{f"numpy.{n}": _ufunc(op, ("x1", "x2")) for n, op in _UFUNCS_2.items()},
    **{f"numpy.{n}": _ufunc(op, ("x",)) for n, op in _UFUNCS_1.items()},
    "numpy.matmul": _Signature(_matmul, ("x1", "x2"), 2),
    "numpy.dot": _Signature(_dot, ("a", "b"), 2),
    "numpy.sum": _Signature(_reduction("reduce_sum"), _AXIS, 1, ("keepdims",)),
    "numpy.max": _Signature(_reduction("reduce_max"), _AXIS, 1, ("keepdims",)),
    "numpy.amax": _Signature(_reduction("reduce_max"), _AXIS, 1, ("keepdims",)),
    "numpy.mean": _Signature(_reduction("mean"), _AXIS, 1, ("keepdims",)),
    "numpy.var": _Signature(_reduction("var"), _AXIS, 1, ("keepdims", "ddof")),
    "numpy.argmax": _Signature(_argmax, _AXIS, 1, ("keepdims",)),
    "numpy.transpose": _Signature(_transpose, ("a", "axes"), 1),
    "numpy.reshape": _Signature(_reshape, ("a", "shape"), 2),
    "numpy.concatenate": _Signature(_concatenate, ("arrays", "axis"), 1),
    "numpy.hstack": _Signature(_hstack, ("arrays",), 1),
    "numpy.asarray": _Signature(_asarray, ("a", "dtype"), 1),
    "numpy.array": _Signature(_asarray, ("a", "dtype"), 1),
    "numpy.zeros": _Signature(_filled(0.0), ("shape", "dtype"), 1),
    "numpy.ones": _Signature(_filled(1.0), ("shape", "dtype"), 1),
    "numpy.full": _Signature(_filled(None), ("shape", "fill_value", "dtype"), 2),
    "builtins.print": _Signature(_print, ("*values",), 0),
    "builtins.len": _Signature(_len, ("value",), 1),
    "builtins.abs": _Signature(_builtin_abs, ("x",), 1),
    "builtins.float": _Signature(_number(float), ("x",), 1),
    "builtins.int": _Signature(_number(int), ("x",), 1),
    "builtins.bool": _Signature(_number(bool), ("x",), 1),
    "math.sqrt": _Signature(_number(math.sqrt), ("x",), 1),
    "math.exp": _Signature(_number(math.exp), ("x",), 1),
    "math.log": _Signature(_number(math.log), ("x",), 1),
}
_METHODS: Mapping[str, _Signature] = {
    **{n: _FUNCTIONS[f"numpy.{n}"] for n in ("sum", "max", "mean", "var", "argmax", "dot")},
    "transpose": _Signature(_transpose, ("a", "*axes"), 1),
    "reshape": _Signature(_reshape, ("a", "*shape"), 1),
    "astype": _Signature(_astype, ("a", "dtype"), 2),
}
_NUMBERS = {"numpy.pi": math.pi, "numpy.e": math.e, "numpy.inf": math.inf, "numpy.nan": math.nan,
            "math.pi": math.pi, "math.e": math.e, "math.inf": math.inf, "math.nan": math.nan}  # fmt: skip
_DTYPES = {f"numpy.{n}": np.dtype(n) for n in SUPPORTED_DTYPES} | {"numpy.bool_": np.dtype(bool)}
_MODULES = frozenset({"numpy", "math", "numpy.typing"})
_ATTRIBUTES = ("shape", "ndim", "size", "dtype", "T")


def resolve(ev: Evaluator, node: ast.expr, path: str) -> Value:
    """What a dotted path ("numpy.maximum") stands for. SourceError, with what is near it, for what is not supported."""
    if path in _NUMBERS:
        return Number(_NUMBERS[path])
    if path in _DTYPES:
        return _DTYPES[path]
    if path == "numpy.newaxis":
        return None
    if path in _FUNCTIONS or path in _MODULES:
        return Library(path)
    known = sorted({*_FUNCTIONS, *_DTYPES, *_NUMBERS} - {f"builtins.{b}" for b in BUILTINS})
    if path.split(".", maxsplit=1)[0] not in ("numpy", "math"):
        ev.source.fail(node, f"`{path}` is not supported", "a model uses numpy, math and functions of its own file")
    close = difflib.get_close_matches(path, known, 1)
    names = ", ".join(sorted(k.removeprefix("numpy.") for k in _FUNCTIONS if k.startswith("numpy.")))
    hint = f"did you mean {close[0]}? " if close else ""
    return ev.source.fail(node, f"{path} is not supported", f"{hint}supported are {names}")


def library_attribute(ev: Evaluator, node: ast.Attribute, value: Library) -> Value:
    """`np.maximum`."""
    return resolve(ev, node, f"{value.path}.{node.attr}")


def array_attribute(ev: Evaluator, node: ast.Attribute, value: Tensor) -> Value:
    """`x.shape`, `x.T`, or a method still to be called."""
    match node.attr:
        case "shape":
            return tuple(Number(d) for d in value.shape)
        case "ndim":
            return Number(len(value.shape))
        case "size":
            return Number(math.prod(value.shape))
        case "dtype":
            return value.dtype
        case "T":
            return ev.builder.tensor(node, "transpose", [value.ssa], permutation=list(reversed(range(len(value.shape)))))
        case name if name in _METHODS:
            return Method(value, name)
        case name:
            supported = ", ".join(sorted([*_METHODS, *_ATTRIBUTES]))
            return ev.source.fail(node, f"arrays have no supported attribute `{name}`", f"supported are {supported}")


def call(
    ev: Evaluator, node: ast.Call, function: Library | Method | np.dtype, arguments: Sequence[Value], keywords: Arguments
) -> Value:
    """Calls a library function, a method, or a dtype (`np.float32(x)`)."""
    if isinstance(function, np.dtype):
        if len(arguments) != 1 or keywords:
            ev.source.fail(node, f"{function.name}(...) takes one argument")
        return _convert(ev, node, arguments[0], function)
    if isinstance(function, Method):
        name, signature, arguments = f"`.{function.name}`", _METHODS[function.name], [function.tensor, *arguments]
    else:
        if function.path not in _FUNCTIONS:
            ev.source.fail(node, f"`{function.path}` cannot be called")
        name, signature = function.path.removeprefix("builtins."), _FUNCTIONS[function.path]
    return signature.handler(ev, node, _bound(ev, node, name, signature, arguments, keywords))


def _bound(
    ev: Evaluator, node: ast.Call, name: str, signature: _Signature, arguments: Sequence[Value], keywords: Arguments
) -> Arguments:
    bound: dict[str, Value] = {}
    rest = list(arguments)
    for parameter in signature.positional:
        if parameter.startswith("*"):
            if rest or parameter[1:] not in keywords:
                bound[parameter[1:]], rest = tuple(rest), []
        elif rest:
            bound[parameter] = rest.pop(0)
    if rest:
        ev.source.fail(node, f"{name} with {len(arguments)} positional arguments is not supported")
    allowed = [p.removeprefix("*") for p in signature.positional] + list(signature.keywords)
    for k in node.keywords:
        if k.arg not in allowed or k.arg in bound:
            ev.source.fail(k.value, f"{name} with `{k.arg}=` is not supported", f"its arguments are {', '.join(allowed)}")
        bound[k.arg] = keywords[k.arg]
    missing = [p for p in signature.positional[: signature.required] if p.removeprefix("*") not in bound]
    if missing:
        ev.source.fail(node, f"{name} needs {', '.join(missing)}")
    return bound
