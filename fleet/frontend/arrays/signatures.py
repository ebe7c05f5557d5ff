"""The known functions of NumPy and methods of arrays, with their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Signature(NamedTuple):
    """positional: names in order ("*name" takes the rest); keywords: by keyword only; optional: how many positional
    ones, the last of them, may be left out.

    handler: name of what turns the call into operations (a key of `fleet.frontend.arrays.tracing`'s tables).
    """

    handler: str
    positional: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    optional: int = 0

    @property
    def required(self) -> tuple[str, ...]:
        """Positional parameters without a default."""
        return self.positional[: len(self.positional) - self.optional]


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
    "isnan": "isnan", "log1p": "log1p", "expm1": "expm1", "positive": "pos",
    **dict.fromkeys(("invert", "bitwise_not", "bitwise_invert"), "invert"),
    **{n: n for n in ("log2", "log10", "exp2", "sinh", "cosh", "tan")},
}  # fmt: skip
"""NumPy's name -> operation, of one operand."""

_AXIS = ("a", "axis")
_KEEP = ("keepdims",)
_SHAPE = ("shape", "dtype")
_ORDER = ("order",)
_REDUCTIONS = {
    "sum": "reduce_sum", "prod": "reduce_prod", "max": "reduce_max", "amax": "reduce_max", "min": "reduce_min",
    "amin": "reduce_min", "any": "reduce_any", "all": "reduce_all", "mean": "mean",
}  # fmt: skip

_UFUNC_REDUCTIONS = {
    "add": "reduce_sum", "multiply": "reduce_prod", "maximum": "reduce_max", "minimum": "reduce_min", "logical_and": "reduce_all",
    "logical_or": "reduce_any",
}  # fmt: skip

_AT_OF_TWO = (
    "add", "subtract", "multiply", "maximum", "minimum", "divide", "floor_divide", "power", "mod", "fmax", "fmin", "logical_and",
    "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift",
)  # fmt: skip
_AT_OF_ONE = ("negative", "absolute", "square", "sqrt", "invert", "logical_not")
"""Ufuncs whose `at` is followed, of two operands and of one."""

_SHARED: Mapping[str, Signature] = {
    **{n: Signature(f"reduce:{op}", _AXIS, _KEEP, optional=1) for n, op in _REDUCTIONS.items() if n not in ("amax", "amin")},
    "var": Signature("var", _AXIS, ("keepdims", "ddof"), optional=1),
    "std": Signature("std", _AXIS, ("keepdims", "ddof"), optional=1),
    "argmax": Signature("arg:argmax", _AXIS, _KEEP, optional=1),
    "argmin": Signature("arg:argmin", _AXIS, _KEEP, optional=1),
    "cumsum": Signature("cumsum", _AXIS, optional=1),
    "swapaxes": Signature("swapaxes", ("a", "axis1", "axis2")),
    "ravel": Signature("ravel", ("a",)),
    "squeeze": Signature("squeeze", _AXIS, optional=1),
    "repeat": Signature("repeat", ("a", "repeats", "axis"), optional=1),
    "take": Signature("take", ("a", "indices", "axis"), optional=1),
    "argsort": Signature("argsort", _AXIS, ("kind", "stable"), optional=1),
    "dot": Signature("dot", ("a", "b")),
    "copy": Signature("copy", ("a",)),
    "diagonal": Signature("diagonal", ("a",)),
    "trace": Signature("trace", ("a",)),
}
"""Functions that are methods too, of the same arguments."""

FUNCTIONS: Mapping[str, Signature] = {
    f"numpy.{name}": signature
    for name, signature in {
        **{n: Signature(f"binary:{op}", ("x1", "x2")) for n, op in BINARY.items()},
        **{f"{n}_shift": Signature(f"shift:shift_{n}", ("x1", "x2")) for n in ("left", "right")},
        **{f"bitwise_{n}_shift": Signature(f"shift:shift_{n}", ("x1", "x2")) for n in ("left", "right")},
        **{n: Signature(f"unary:{op}", ("x",)) for n, op in UNARY.items()},
        **{n: Signature(f"reduce:{op}", _AXIS, _KEEP, optional=1) for n, op in _REDUCTIONS.items()},
        **_SHARED,
        "average": Signature("average", _AXIS, _KEEP, optional=1),
        **{n: Signature(n, ("x",)) for n in ("trunc", "deg2rad", "rad2deg")},
        "heaviside": Signature("heaviside", ("x1", "x2")),
        **{n: Signature(f"reduce:{op}", _AXIS, _KEEP, optional=1) for n, op in (("nanmax", "nan_max"), ("nanmin", "nan_min"))},
        **{n: Signature(f"nan_sum:{op}", _AXIS, _KEEP, optional=1) for n, op in (("nansum", "reduce_sum"), ("nanmean", "mean"))},
        "fabs": Signature("fabs", ("x",)),
        "fix": Signature("trunc", ("x",)),
        "radians": Signature("deg2rad", ("x",)),
        "degrees": Signature("rad2deg", ("x",)),
        "nan_to_num": Signature("nan_to_num", ("x",), ("nan", "posinf", "neginf")),
        "isclose": Signature("isclose", ("a", "b", "rtol", "atol"), ("equal_nan",), optional=2),
        "allclose": Signature("allclose", ("a", "b", "rtol", "atol"), ("equal_nan",), optional=2),
        "array_equal": Signature("array_equal", ("a1", "a2")),
        "clip": Signature("clip", ("a", "a_min", "a_max"), ("min", "max"), optional=2),
        "take_along_axis": Signature("take_along_axis", ("arr", "indices", "axis"), optional=1),
        "put_along_axis": Signature("put_along_axis", ("arr", "indices", "values", "axis")),
        "nonzero": Signature("nonzero", ("a",)),
        "flatnonzero": Signature("flatnonzero", ("a",)),
        "diff": Signature("diff", ("a", "n", "axis"), optional=2),
        "append": Signature("append", ("arr", "values", "axis"), optional=1),
        "dstack": Signature("dstack", ("arrays",)),
        "meshgrid": Signature("meshgrid", ("*xi",), ("indexing", "sparse"), optional=1),
        "square": Signature("square", ("x",)),
        "reciprocal": Signature("reciprocal", ("x",)),
        "logical_xor": Signature("logical_xor", ("x1", "x2")),
        "isinf": Signature("isinf", ("x",)),
        "isfinite": Signature("isfinite", ("x",)),
        "round": Signature("round", ("a", "decimals"), optional=1),
        "around": Signature("round", ("a", "decimals"), optional=1),
        "ptp": Signature("ptp", _AXIS, _KEEP, optional=1),
        "count_nonzero": Signature("count_nonzero", _AXIS, _KEEP, optional=1),
        "linalg.norm": Signature("norm", ("a", "ord", "axis", "keepdims"), optional=3),
        "where": Signature("where", ("condition", "x", "y")),
        "matmul": Signature("matmul", ("x1", "x2")),
        "outer": Signature("outer", ("a", "b")),
        "kron": Signature("kron", ("a", "b")),
        "tensordot": Signature("tensordot", ("a", "b", "axes"), optional=1),
        "diag": Signature("diag", ("v", "k"), optional=1),
        "fill_diagonal": Signature("fill_diagonal", ("a", "val")),
        "put": Signature("put", ("a", "ind", "v")),
        "putmask": Signature("putmask", ("a", "mask", "values")),
        "place": Signature("place", ("arr", "mask", "vals")),
        "copyto": Signature("copyto", ("dst", "src"), ("where",)),
        **{f"{n}.at": Signature(f"at:{n}", ("a", "indices", "b")) for n in _AT_OF_TWO},
        **{f"{n}.at": Signature(f"at:{n}", ("a", "indices")) for n in _AT_OF_ONE},
        "lib.stride_tricks.as_strided": Signature("as_strided", ("x", "shape", "strides"), ("writeable",), optional=2),
        "inner": Signature("inner", ("a", "b")),
        "vdot": Signature("vdot", ("a", "b")),
        "einsum": Signature("einsum", ("subscripts", "*operands"), optional=1),
        "transpose": Signature("transpose", ("a", "axes"), optional=1),
        "permute_dims": Signature("transpose", ("a", "axes"), optional=1),
        "moveaxis": Signature("moveaxis", ("a", "source", "destination")),
        "reshape": Signature("reshape", ("a", "shape")),
        "expand_dims": Signature("expand_dims", ("a", "axis")),
        "atleast_1d": Signature("atleast_1d", ("a",)),
        "atleast_2d": Signature("atleast_2d", ("a",)),
        "broadcast_to": Signature("broadcast_to", ("a", "shape")),
        "concatenate": Signature("concatenate", ("arrays", "axis"), optional=1),
        "concat": Signature("concatenate", ("arrays", "axis"), optional=1),
        "hstack": Signature("hstack", ("arrays",)),
        "vstack": Signature("vstack", ("arrays",)),
        "stack": Signature("stack", ("arrays", "axis"), optional=1),
        "column_stack": Signature("column_stack", ("arrays",)),
        "split": Signature("split", ("a", "indices_or_sections", "axis"), optional=1),
        "array_split": Signature("array_split", ("a", "indices_or_sections", "axis"), optional=1),
        "hsplit": Signature("hsplit", ("a", "indices_or_sections")),
        "vsplit": Signature("vsplit", ("a", "indices_or_sections")),
        "tile": Signature("tile", ("a", "reps")),
        "flip": Signature("flip", _AXIS, optional=1),
        "flipud": Signature("flipud", ("a",)),
        "fliplr": Signature("fliplr", ("a",)),
        "roll": Signature("roll", ("a", "shift", "axis"), optional=1),
        "pad": Signature("pad", ("a", "pad_width", "mode"), ("constant_values",), optional=1),
        "tril": Signature("tril", ("a", "k"), optional=1),
        "triu": Signature("triu", ("a", "k"), optional=1),
        "shape": Signature("shape", ("a",)),
        "ndim": Signature("ndim", ("a",)),
        "size": Signature("size", _AXIS, optional=1),
        "asarray": Signature("asarray", ("a", "dtype"), ("order",), optional=1),
        "asanyarray": Signature("asarray", ("a", "dtype"), ("order",), optional=1),
        "ascontiguousarray": Signature("ascontiguousarray", ("a", "dtype"), optional=1),
        "array": Signature("array", ("a", "dtype"), ("order", "ndmin"), optional=1),
        "zeros": Signature("filled:0", _SHAPE, _ORDER, optional=1),
        "empty": Signature("filled:0", _SHAPE, _ORDER, optional=1),
        "ones": Signature("filled:1", _SHAPE, _ORDER, optional=1),
        "full": Signature("full", ("shape", "fill_value", "dtype"), _ORDER, optional=1),
        "zeros_like": Signature("like:0", ("a", "dtype"), ("shape",), optional=1),
        "empty_like": Signature("like:0", ("a", "dtype"), ("shape",), optional=1),
        "ones_like": Signature("like:1", ("a", "dtype"), ("shape",), optional=1),
        "full_like": Signature("full_like", ("a", "fill_value", "dtype"), ("shape",), optional=1),
        "tri": Signature("tri", ("N", "M", "k", "dtype"), optional=3),
        "arange": Signature("arange", ("start", "stop", "step"), ("dtype",), optional=2),
        "linspace": Signature("linspace", ("start", "stop", "num", "endpoint", "retstep", "dtype"), optional=4),
        "eye": Signature("eye", ("N", "M", "k"), ("dtype",), optional=2),
        "identity": Signature("eye", ("N",), ("dtype",)),
        **{n: Signature(f"made:{n}", ("M",)) for n in ("hamming", "hanning", "blackman", "bartlett")},
        "kaiser": Signature("made:kaiser", ("M", "beta")),
        "logspace": Signature("made:logspace", ("start", "stop", "num", "endpoint", "base", "dtype"), optional=4),
        "geomspace": Signature("made:geomspace", ("start", "stop", "num", "endpoint", "dtype"), optional=3),
        **{n: Signature(f"made:{n}", ("n", "k", "m"), optional=2) for n in ("tril_indices", "triu_indices")},
        **{f"{n}_indices_from": Signature(f"indices_from:{n}", ("arr", "k"), optional=1) for n in ("tril", "triu")},
        **{f"fft.{n}": Signature(f"made:fft.{n}", ("n", "d"), optional=1) for n in ("fftfreq", "rfftfreq")},
        **{
            f"polynomial.{n}": Signature(f"made:polynomial.{n}", ("deg",))
            for n in ("chebyshev.chebgauss", "hermite.hermgauss", "hermite_e.hermegauss", "laguerre.laggauss", "legendre.leggauss")
        },
        "diag_indices_from": Signature("indices_from:diag", ("arr",)),
        "ix_": Signature("ix", ("*args",)),
        "diag_indices": Signature("made:diag_indices", ("n", "ndim"), optional=1),
        "indices": Signature("made:indices", ("dimensions", "dtype"), optional=1),
        "select": Signature("select", ("condlist", "choicelist", "default"), optional=1),
        **{
            f"{n}.reduce": Signature(f"ufunc_reduce:{op}", ("array", "axis"), _KEEP, optional=1)
            for n, op in _UFUNC_REDUCTIONS.items()
        },
        "add.accumulate": Signature("ufunc_accumulate", ("array", "axis"), optional=1),
        **{
            f"{n}.outer": Signature(f"ufunc_outer:{op}", ("A", "B"))
            for n, op in BINARY.items()
            if n not in ("pow", "true_divide", "mod")
        },
    }.items()
}
"""Dotted path -> signature."""

METHODS: Mapping[str, Signature] = {
    **_SHARED,
    "clip": Signature("clip", ("a", "min", "max"), optional=2),
    "sort": Signature("sort_in_place", _AXIS, ("kind", "stable"), optional=1),
    "nonzero": Signature("nonzero", ("a",)),
    "copy": Signature("copy:method", ("a",), ("order",)),
    "flatten": Signature("flatten", ("a",)),
    "transpose": Signature("transpose", ("a", "*axes"), optional=1),
    "reshape": Signature("reshape:method", ("a", "*shape")),
    "astype": Signature("astype", ("a", "dtype"), ("copy", "order", "casting")),
    "view": Signature("view", ("a", "dtype"), optional=1),
    **{n: Signature("own", ("a",)) for n in ("conj", "conjugate")},
    "partition": Signature("partition", ("a", "kth"), ("axis", "kind")),
    "round": Signature("round", ("a", "decimals"), optional=1),
    "item": Signature("item", ("a", "*args"), optional=1),
    "tolist": Signature("tolist", ("a",)),
    "fill": Signature("fill", ("a", "value")),
    "put": Signature("put", ("a", "ind", "v")),
}
"""Method of an array -> signature; the array is the first argument."""
