"""Which functions of NumPy and methods of arrays are known, and what they take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["FUNCTIONS", "METHODS", "Signature"]


class Signature(NamedTuple):
    """positional: names in order ("*name" takes the rest); required: how many of them; keywords: by keyword only.

    handler: name of what turns the call into operations (a key of `fleet.frontend._tracing`'s tables).
    """

    handler: str
    positional: tuple[str, ...]
    required: int
    keywords: tuple[str, ...] = ()


BINARY: Mapping[str, str] = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "power": "pow", "pow": "pow",
    "maximum": "maximum", "minimum": "minimum", "floor_divide": "floor_div", "mod": "mod", "remainder": "mod", "less": "less",
    "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal", "equal": "equal",
    "not_equal": "not_equal", "logical_and": "logical_and", "logical_or": "logical_or", "bitwise_and": "bit_and",
    "bitwise_or": "bit_or", "bitwise_xor": "bit_xor",
    **{n: n for n in ("hypot", "logaddexp", "fmax", "fmin")},
}  # fmt: skip
"""NumPy's name -> operation, of two operands."""
UNARY: Mapping[str, str] = {
    "exp": "exp", "log": "log", "sqrt": "sqrt", "tanh": "tanh", "abs": "abs", "absolute": "abs", "negative": "neg", "sin": "sin",
    "cos": "cos", "floor": "floor", "ceil": "ceil", "rint": "rint", "sign": "sign", "logical_not": "logical_not",
    "isnan": "isnan", "log1p": "log1p", "expm1": "expm1", "positive": "pos", "invert": "invert", "bitwise_not": "invert",
    **{n: n for n in ("log2", "log10", "exp2", "sinh", "cosh", "tan")},
}  # fmt: skip
"""NumPy's name -> operation, of one operand."""

_AXIS = ("a", "axis")
_KEEP = ("keepdims",)
_SHAPE = ("shape", "dtype")
_REDUCTIONS = {
    "sum": "reduce_sum", "prod": "reduce_prod", "max": "reduce_max", "amax": "reduce_max", "min": "reduce_min",
    "amin": "reduce_min", "any": "reduce_any", "all": "reduce_all", "mean": "mean",
}  # fmt: skip

_SHARED: Mapping[str, Signature] = {
    **{n: Signature(f"reduce:{op}", _AXIS, 1, _KEEP) for n, op in _REDUCTIONS.items() if n not in ("amax", "amin")},
    "var": Signature("var", _AXIS, 1, ("keepdims", "ddof")),
    "std": Signature("std", _AXIS, 1, ("keepdims", "ddof")),
    "argmax": Signature("arg:argmax", _AXIS, 1, _KEEP),
    "argmin": Signature("arg:argmin", _AXIS, 1, _KEEP),
    "cumsum": Signature("cumsum", _AXIS, 1),
    "swapaxes": Signature("swapaxes", ("a", "axis1", "axis2"), 3),
    "ravel": Signature("ravel", ("a",), 1),
    "squeeze": Signature("squeeze", _AXIS, 1),
    "repeat": Signature("repeat", ("a", "repeats", "axis"), 2),
    "take": Signature("take", ("a", "indices", "axis"), 2),
    "argsort": Signature("argsort", _AXIS, 1, ("kind",)),
    "dot": Signature("dot", ("a", "b"), 2),
    "copy": Signature("copy", ("a",), 1),
    "diagonal": Signature("diagonal", ("a",), 1),
    "trace": Signature("trace", ("a",), 1),
}
"""Functions that are methods too, of the same arguments."""

FUNCTIONS: Mapping[str, Signature] = {
    f"numpy.{name}": signature
    for name, signature in {
        **{n: Signature(f"binary:{op}", ("x1", "x2"), 2) for n, op in BINARY.items()},
        **{f"{n}_shift": Signature(f"shift:shift_{n}", ("x1", "x2"), 2) for n in ("left", "right")},
        **{n: Signature(f"unary:{op}", ("x",), 1) for n, op in UNARY.items()},
        **{n: Signature(f"reduce:{op}", _AXIS, 1, _KEEP) for n, op in _REDUCTIONS.items()},
        **_SHARED,
        "average": Signature("average", _AXIS, 1, _KEEP),
        **{n: Signature(n, ("x",), 1) for n in ("trunc", "deg2rad", "rad2deg")},
        "heaviside": Signature("heaviside", ("x1", "x2"), 2),
        **{n: Signature(f"reduce:{op}", _AXIS, 1, _KEEP) for n, op in (("nanmax", "nan_max"), ("nanmin", "nan_min"))},
        **{n: Signature(f"nan_sum:{op}", _AXIS, 1, _KEEP) for n, op in (("nansum", "reduce_sum"), ("nanmean", "mean"))},
        "fabs": Signature("fabs", ("x",), 1),
        "fix": Signature("trunc", ("x",), 1),
        "radians": Signature("deg2rad", ("x",), 1),
        "degrees": Signature("rad2deg", ("x",), 1),
        "nan_to_num": Signature("nan_to_num", ("x",), 1, ("nan", "posinf", "neginf")),
        "isclose": Signature("isclose", ("a", "b", "rtol", "atol"), 2, ("equal_nan",)),
        "allclose": Signature("allclose", ("a", "b", "rtol", "atol"), 2, ("equal_nan",)),
        "array_equal": Signature("array_equal", ("a1", "a2"), 2),
        "clip": Signature("clip", ("a", "min", "max"), 1, ("a_min", "a_max")),
        "sort": Signature("sort", _AXIS, 1, ("kind",)),
        "median": Signature("median", _AXIS, 1),
        "take_along_axis": Signature("take_along_axis", ("arr", "indices", "axis"), 2),
        "put_along_axis": Signature("put_along_axis", ("arr", "indices", "values", "axis"), 4),
        "nonzero": Signature("nonzero", ("a",), 1),
        "flatnonzero": Signature("flatnonzero", ("a",), 1),
        "diff": Signature("diff", ("a", "n", "axis"), 1),
        "append": Signature("append", ("arr", "values", "axis"), 2),
        "dstack": Signature("dstack", ("arrays",), 1),
        "meshgrid": Signature("meshgrid", ("*xi",), 0, ("indexing",)),
        "square": Signature("square", ("x",), 1),
        "reciprocal": Signature("reciprocal", ("x",), 1),
        "logical_xor": Signature("logical_xor", ("x1", "x2"), 2),
        "isinf": Signature("isinf", ("x",), 1),
        "isfinite": Signature("isfinite", ("x",), 1),
        "round": Signature("round", ("a", "decimals"), 1),
        "ptp": Signature("ptp", _AXIS, 1, _KEEP),
        "count_nonzero": Signature("count_nonzero", _AXIS, 1, _KEEP),
        "linalg.norm": Signature("norm", ("a", "ord", "axis", "keepdims"), 1),
        "where": Signature("where", ("condition", "x", "y"), 3),
        "matmul": Signature("matmul", ("x1", "x2"), 2),
        "outer": Signature("outer", ("a", "b"), 2),
        "inner": Signature("inner", ("a", "b"), 2),
        "vdot": Signature("inner", ("a", "b"), 2),
        "einsum": Signature("einsum", ("subscripts", "*operands"), 1, ("optimize",)),
        "transpose": Signature("transpose", ("a", "axes"), 1),
        "permute_dims": Signature("transpose", ("a", "axes"), 1),
        "moveaxis": Signature("moveaxis", ("a", "source", "destination"), 3),
        "reshape": Signature("reshape", ("a", "shape"), 2),
        "expand_dims": Signature("expand_dims", ("a", "axis"), 2),
        "atleast_1d": Signature("atleast_1d", ("a",), 1),
        "atleast_2d": Signature("atleast_2d", ("a",), 1),
        "broadcast_to": Signature("broadcast_to", ("a", "shape"), 2),
        "concatenate": Signature("concatenate", ("arrays", "axis"), 1),
        "concat": Signature("concatenate", ("arrays", "axis"), 1),
        "hstack": Signature("hstack", ("arrays",), 1),
        "vstack": Signature("vstack", ("arrays",), 1),
        "stack": Signature("stack", ("arrays", "axis"), 1),
        "column_stack": Signature("column_stack", ("arrays",), 1),
        "split": Signature("split", ("a", "indices_or_sections", "axis"), 2),
        "array_split": Signature("array_split", ("a", "indices_or_sections", "axis"), 2),
        "hsplit": Signature("hsplit", ("a", "indices_or_sections"), 2),
        "vsplit": Signature("vsplit", ("a", "indices_or_sections"), 2),
        "tile": Signature("tile", ("a", "reps"), 2),
        "flip": Signature("flip", _AXIS, 1),
        "flipud": Signature("flipud", ("a",), 1),
        "fliplr": Signature("fliplr", ("a",), 1),
        "roll": Signature("roll", ("a", "shift", "axis"), 2),
        "pad": Signature("pad", ("a", "pad_width", "mode"), 2, ("constant_values",)),
        "tril": Signature("tril", ("a", "k"), 1),
        "triu": Signature("triu", ("a", "k"), 1),
        "shape": Signature("shape", ("a",), 1),
        "ndim": Signature("ndim", ("a",), 1),
        "size": Signature("size", ("a",), 1),
        "asarray": Signature("asarray", ("a", "dtype"), 1),
        "ascontiguousarray": Signature("ascontiguousarray", ("a", "dtype"), 1),
        "array": Signature("array", ("a", "dtype"), 1),
        "zeros": Signature("filled:0", _SHAPE, 1),
        "ones": Signature("filled:1", _SHAPE, 1),
        "full": Signature("full", ("shape", "fill_value", "dtype"), 2),
        "zeros_like": Signature("like:0", ("a", "dtype"), 1),
        "ones_like": Signature("like:1", ("a", "dtype"), 1),
        "full_like": Signature("full_like", ("a", "fill_value", "dtype"), 2),
        "tri": Signature("tri", ("N", "M", "k", "dtype"), 1),
        "arange": Signature("arange", ("start", "stop", "step"), 1, ("dtype",)),
        "linspace": Signature("linspace", ("start", "stop", "num"), 2, ("endpoint", "dtype")),
        "eye": Signature("eye", ("N", "M", "k"), 1, ("dtype",)),
        "identity": Signature("eye", ("N",), 1, ("dtype",)),
    }.items()
}
"""Dotted path -> signature."""

METHODS: Mapping[str, Signature] = {
    **_SHARED,
    "clip": Signature("clip", ("a", "min", "max"), 1),
    "sort": Signature("sort_in_place", _AXIS, 1, ("kind",)),
    "nonzero": Signature("nonzero", ("a",), 1),
    "flatten": Signature("flatten", ("a",), 1),
    "transpose": Signature("transpose", ("a", "*axes"), 1),
    "reshape": Signature("reshape", ("a", "*shape"), 1),
    "astype": Signature("astype", ("a", "dtype"), 2),
    "round": Signature("round", ("a", "decimals"), 1),
    "item": Signature("item", ("a",), 1),
    "tolist": Signature("item", ("a",), 1),
    "fill": Signature("fill", ("a", "value"), 2),
}
"""Method of an array -> signature; the array is the first argument."""
