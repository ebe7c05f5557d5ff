"""Calls of NumPy's own functions: which ones a program may make, and their text."""

from __future__ import annotations

import ast
import inspect
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from fleet.ir.shapes import InferenceError
from fleet.ir.types import DTYPES

FAMILIES: Mapping[str, str] = {
    "shapes and joining": """
        append asfortranarray atleast_1d atleast_2d atleast_3d block broadcast_arrays broadcast_to column_stack concatenate copy
        delete diag diagflat diagonal dsplit dstack expand_dims fft.fftshift fft.ifftshift flip hsplit hstack insert
        lib.stride_tricks.sliding_window_view matrix_transpose moveaxis ndarray.view pad ravel repeat reshape resize roll
        rollaxis rot90 split squeeze stack swapaxes tile transpose tril trim_zeros triu unstack vander vsplit vstack""",
    "elements": """
        angle argwhere array_equal array_equiv allclose around choose clip compress emath.arccos emath.arcsin emath.arctanh
        emath.log emath.log10 emath.log2 emath.logn emath.power emath.sqrt extract fix flatnonzero i0 imag iscomplex
        isclose isneginf isposinf isreal nan_to_num nonzero packbits ravel_multi_index real real_if_close round select sinc take
        take_along_axis unpackbits unravel_index unwrap""",
    "reductions": """
        all amax amin any argmax argmin average count_nonzero cumprod cumsum cumulative_prod cumulative_sum max mean median min
        nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
        nanvar percentile prod ptp quantile std sum var""",
    "differences, statistics and polynomials": """
        bincount convolve corrcoef correlate cov diff digitize ediff1d gradient histogram histogram2d histogram_bin_edges
        histogramdd interp linspace poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots trapezoid""",
    "order and sets": """
        argpartition argsort intersect1d isin lexsort partition searchsorted setdiff1d setxor1d sort sort_complex union1d unique
        unique_all unique_counts unique_inverse unique_values""",
    "products and linear algebra": """
        cross dot einsum inner kron linalg.cholesky linalg.cond linalg.cross linalg.det linalg.diagonal linalg.eig linalg.eigh
        linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq linalg.matmul linalg.matrix_norm linalg.matrix_power
        linalg.matrix_rank linalg.matrix_transpose linalg.multi_dot linalg.norm linalg.outer linalg.pinv linalg.qr
        linalg.slogdet linalg.solve linalg.svd linalg.svdvals linalg.tensordot linalg.tensorinv linalg.tensorsolve linalg.trace
        linalg.vecdot linalg.vector_norm outer tensordot trace vdot""",
    "numpy.polynomial": """
        polynomial.polynomial.polyadd polynomial.polynomial.polyder polynomial.polynomial.polydiv polynomial.polynomial.polyfit
        polynomial.polynomial.polyfromroots polynomial.polynomial.polyint polynomial.polynomial.polymul
        polynomial.polynomial.polypow polynomial.polynomial.polyroots polynomial.polynomial.polysub polynomial.polynomial.polyval
        polynomial.polynomial.polyvander polynomial.chebyshev.chebfit polynomial.chebyshev.chebval
        polynomial.chebyshev.chebvander polynomial.hermite.hermval
        polynomial.hermite_e.hermeval polynomial.laguerre.lagval polynomial.legendre.legfit
        polynomial.legendre.legval polynomial.legendre.legvander""",
    "Fourier transforms": """
        fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2
        fft.rfftn""",
}
"""Functions without side effects, grouped by purpose: they access no file, run no foreign code and change no operand.

Ufuncs are listed separately.
"""
_NAMES = frozenset(name for names in FAMILIES.values() for name in names.split())
_METHODS = ("reduce", "accumulate", "reduceat", "outer")
_CHANGING = frozenset({"overwrite_input", "copy", "subok", "signature", "like"})
"""Excluded arguments: they let a function write into its operands, or no program needs them."""
_MAX_TEXT = 4096


@dataclass(frozen=True)
class CallOperand:
    """One of the operation's operands, as an argument of the call."""

    index: int


CallArgument: TypeAlias = "CallOperand | bool | int | float | str | tuple[CallArgument, ...] | list[CallArgument] | None"


@lru_cache(maxsize=1024)
def is_callable(function: str) -> bool:
    """Return whether a program may call NumPy's function of this dotted path: "percentile", "linalg.inv", "add.reduce"."""
    if function in _NAMES:
        return True
    name, _, method = function.partition(".")
    found = vars(np).get(name)  # getattr would import NumPy's lazy modules, f2py among them
    return isinstance(found, np.ufunc) and found.types[0].find("O") < 0 and (not method or method in _METHODS)


def callable_names() -> list[str]:
    """Return the functions that a program may call, without methods of ufuncs."""
    return sorted(_NAMES | {n for n in dir(np) if is_callable(n)})


def _function(name: str) -> Callable[..., Any]:
    if not is_callable(name):
        raise InferenceError(f"numpy.{name} is not a function that a program may call")
    return _viewed if name == "ndarray.view" else attrgetter(name)(np)


def _viewed(a: np.ndarray | np.generic, dtype: str | None = None) -> np.ndarray | np.generic:
    """`a.view(dtype)` of an array or a NumPy scalar, which has a method of its own."""
    return a.view() if dtype is None else a.view(dtype)


@dataclass(frozen=True)
class LibraryCall:
    """NumPy's function on operands and numbers: `percentile(x0, 50, axis=0)`. An operand as `out` is copied before."""

    function: str
    arguments: tuple[CallArgument, ...] = ()
    keywords: tuple[tuple[str, CallArgument], ...] = ()

    def __str__(self) -> str:
        words = [_words(a) for a in self.arguments] + [f"{k}={_words(v)}" for k, v in self.keywords]
        return f"{self.function}({', '.join(words)})"

    @staticmethod
    def parse(text: str) -> LibraryCall:
        """Parse the text of a call. Raises InferenceError for any other text, and for functions that a program may not call."""
        return _parsed(text)

    def run(self, operands: Sequence[Any]) -> Any:
        """Call NumPy and return its result. Raises what NumPy raises."""
        if self.function == "take":
            self._check_take(operands)
        keywords = {k: _value(v, operands) for k, v in self.keywords}
        if "out" in keywords:
            keywords["out"] = np.array(keywords["out"], order="K")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _function(self.function)(*(_value(a, operands) for a in self.arguments), **keywords)

    def _check_take(self, operands: Sequence[Any]) -> None:
        """Raise IndexError for `mode="wrap"` on an axis of size 0, which NumPy 2 never returns from if its result is empty."""
        given = self.bound()
        array, axis = np.asarray(_value(given["a"], operands)), given.get("axis")
        if given.get("mode") == "wrap" and not (array.shape[axis] if isinstance(axis, int) else array.size):
            raise IndexError("cannot take from an empty axis")

    def bound(self) -> Mapping[str, CallArgument]:
        """Return the arguments by the function's parameter names. Raises InferenceError if they do not fit."""
        try:
            given = inspect.signature(_function(self.function)).bind(*self.arguments, **dict(self.keywords)).arguments
        except TypeError as error:
            raise InferenceError(f"{self.function}: {error}") from None
        return {**{k: v for k, v in given.items() if k != "kwargs"}, **given.get("kwargs", {})}

    def check(self, operands: int) -> None:
        """Raises InferenceError unless it has so many operands, and only arguments that do not change them."""
        used = sorted({i for a in (*self.arguments, *(v for _, v in self.keywords)) for i in _operands(a)})
        if used != list(range(operands)):
            raise InferenceError(f"{self} of {operands} operands")
        given = self.bound()
        if wrong := _CHANGING & given.keys():
            raise InferenceError(f"{self.function} with {', '.join(sorted(wrong))} is not supported")
        if (dtype := given.get("dtype")) is not None and dtype not in DTYPES:
            raise InferenceError(f"{self.function} with dtype={dtype!r}, supported are {', '.join(DTYPES)}")
        keywords = dict(self.keywords)
        if "out" in given and not isinstance(keywords.get("out"), CallOperand):
            raise InferenceError(f"{self.function} with `out` that is not an operand")
        if isinstance(_function(self.function), np.ufunc) and "where" in given and "out" not in given:
            raise InferenceError(f"{self.function} with `where` and without `out`: the other elements have no value")

    def numbers(self, *without: str) -> list[int]:
        """Return the integers among the arguments, except those of the keywords `without`."""
        given = (*self.arguments, *(v for k, v in self.keywords if k not in without))
        return [n for a in given for n in _numbers(a)]


def _words(value: CallArgument) -> str:
    match value:
        case CallOperand():
            return f"x{value.index}"
        case float():
            return repr(value)  # the text may contain inf and nan
        case tuple():
            return f"({', '.join(map(_words, value))}{',' * (len(value) == 1)})"
        case list():
            return f"[{', '.join(map(_words, value))}]"
        case _:
            return repr(value)


def _value(value: CallArgument, operands: Sequence[Any]) -> Any:
    match value:
        case CallOperand():
            return operands[value.index]
        case tuple():
            return tuple(_value(v, operands) for v in value)
        case list():
            return [_value(v, operands) for v in value]
        case _:
            return value


def _operands(value: Any) -> Iterator[int]:
    if isinstance(value, CallOperand):
        yield value.index
    elif isinstance(value, tuple | list):
        for v in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _operands(v)


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, tuple | list | dict):
        for v in value.values() if isinstance(value, dict) else value:  # pyright: ignore[reportUnknownVariableType]
            yield from _numbers(v)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> LibraryCall:
    if len(text) > _MAX_TEXT:
        raise InferenceError(f"a call of NumPy of {len(text)} characters")
    try:
        with warnings.catch_warnings():  # the parser warns about unusual text
            warnings.simplefilter("ignore")
            node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InferenceError(f"{text!r} is not a call of NumPy") from None
    if not isinstance(node, ast.Call):
        raise InferenceError(f"{text!r} is not a call of NumPy")
    keywords = tuple((k.arg, _argument(k.value, text)) for k in node.keywords if k.arg is not None)
    call = LibraryCall(ast.unparse(node.func), tuple(_argument(a, text) for a in node.args), keywords)
    if len(keywords) < len(node.keywords) or not is_callable(call.function) or str(call) != text:
        raise InferenceError(f"{text!r} is not a call of a function of NumPy that a program may call")
    return call


def _argument(node: ast.expr, text: str) -> CallArgument:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name(id="inf")):
            return -math.inf
        case ast.Name(id="inf" | "nan" as name):
            return float(name)
        case ast.Name(id=name) if name[:1] == "x" and name[1:].isdecimal() and name[1:].isascii():
            return CallOperand(int(name[1:]))
        case ast.Tuple():
            return tuple(_argument(e, text) for e in node.elts)
        case ast.List():
            return [_argument(e, text) for e in node.elts]
        case _:
            raise InferenceError(f"{text!r} is not a call of NumPy on operands and numbers")
