"""Types of the results of NumPy's functions: NumPy's own answer for examples of the operands' types."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute

from fleet.ir.library.call import LibraryCall
from fleet.ir.operations.promotion import carried
from fleet.ir.shapes import UNKNOWN, InferenceError
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, spelling

_SIZED = """
    bincount broadcast_to diag diagflat diff fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.irfft
    fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn
    histogram histogram2d histogram_bin_edges insert linalg.matrix_power linspace pad
    polyder polyfit polyint repeat resize tile unpackbits unravel_index vander"""
_LARGE = frozenset(_SIZED.split())
"""Functions whose numeric arguments determine the size of the result or the computing time."""
_MOST = 1 << 26


class CallError(InferenceError):
    """NumPy refuses the operands. refusal: the exception that it raises."""

    def __init__(self, message: str, refusal: Exception) -> None:
        super().__init__(message)
        self.refusal = refusal


@dataclass(frozen=True)
class ResultLeaf:
    """One array of a call's result.

    shape: UNKNOWN for dimensions that depend on values. scalar: a NumPy scalar or a Python number. shares: the operand whose memory
    it may share.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    scalar: bool = False
    shares: int | None = None


def results(text: str, operands: Sequence[Attribute]) -> Any:
    """Return the structure of a call's result: a `ResultLeaf`, or a tuple or list of them (as NumPy returns it).

    Raises InferenceError if NumPy refuses such operands, or if a dtype is not supported or depends on values.
    """
    for type_ in operands:
        if not is_tensor(type_):
            raise InferenceError(f"a call of NumPy needs arrays, found the Python number {spelling(type_)}")
    found = _inferred(text, tuple((shape_of(t), numpy_dtype(t)) for t in operands))
    if isinstance(found, CallError):
        raise CallError(str(found), found.refusal)
    if isinstance(found, InferenceError):
        raise InferenceError(str(found))
    return found


_Types: TypeAlias = tuple[tuple[tuple[int, ...], np.dtype], ...]
_SMALL = 1 << 12
"""Up to this many elements the operands' own shapes are used as examples."""
_KEPT = 16
"""Dimensions up to this size keep their value in examples (three coordinates, four channels)."""
_WORK = 1 << 24
"""Up to this product of all dimensions the operands' own sizes may be used in examples."""
_STAND_INS: tuple[int, ...] = (17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_SMALL_STAND_INS: tuple[int, ...] = (3, 4, 6, 5, 7, 8)
"""Used if the larger stand-ins give more than `_EXAMPLE` elements."""
_EXAMPLE = 1 << 13
"""Up to this many elements of operands no call exceeds memory: an outer product has the square."""


@lru_cache(maxsize=4096)
def _inferred(text: str, types: _Types) -> Any:
    try:
        call = LibraryCall.parse(text)
        call.check(len(types))
        _check_work(call, types)
        return _structure(call, types)
    except InferenceError as error:
        return error.with_traceback(None)


def _check_work(call: LibraryCall, types: _Types) -> None:
    """Refuse calls whose numeric arguments alone would exhaust memory or time."""
    if call.function not in _LARGE:
        return
    size = math.prod(max(1, abs(d)) for shape, _ in types for d in shape)
    numbers = [abs(n) for n in call.numbers("axis")]
    grown = size * math.prod(max(1, n) for n in numbers) if call.function != "pad" else _padded(types, numbers)
    if grown > _MOST and max(numbers, default=0) > 1:
        raise InferenceError(f"{call}: up to {grown} elements, at most {_MOST} are computed by one call")


def _padded(types: _Types, numbers: Sequence[int]) -> int:
    return math.prod(abs(d) + 2 * max(numbers, default=0) for d in types[0][0]) if types else 0


def _structure(call: LibraryCall, types: _Types) -> Any:
    """Return the result's structure.

    Large and unknown dimensions get stand-in sizes, twice: a result dimension that equals the same stand-in both times is that
    dimension."""
    sizes = sorted({d for shape, _ in types for d in shape if d > _KEPT or d == UNKNOWN})
    elements = sum(math.prod(shape) for shape, _ in types)
    if UNKNOWN not in sizes and elements <= _SMALL:
        return _merged([_example_results(call, types)], [{}])
    exact = UNKNOWN not in sizes and math.prod(max(1, d) for shape, _ in types for d in shape) <= _WORK
    if exact and _compares(call):
        return _merged([_example_results(call, types)], [{}])
    choices = ((_STAND_INS, _EXAMPLE), (_SMALL_STAND_INS, _WORK))
    maps = next((m for names, most in choices if (m := _maps(sizes, names)) and _elements(types, m) <= most), None)
    if maps is None:
        raise InferenceError(f"{call}: operands of too many large or unknown dimensions ({len(sizes)} different ones)")
    if UNKNOWN in sizes:
        maps.append({**maps[0], UNKNOWN: 2})
    runs: list[Any] = []
    taken: list[Mapping[int, int]] = []
    problem = InferenceError(f"{call}: what it gives depends on sizes that are large or unknown in ways that only the run can tell")
    for one in maps:
        scaled = tuple((tuple(one.get(d, d) for d in shape), dtype) for shape, dtype in types)
        try:
            runs.append(_example_results(call, scaled))
            taken.append(one)
        except InferenceError as error:
            problem = error
    found = _merged(runs, taken) if len(runs) > 1 else None
    if found is None and exact:
        return _merged([_example_results(call, types)], [{}])
    if found is None:
        raise problem
    return found


def _maps(sizes: Sequence[int], stand_ins: Sequence[int]) -> list[dict[int, int]]:
    """Return two substitutions of stand-ins for the sizes; none if there are too few stand-ins."""
    half = len(stand_ins) // 2
    return [dict(zip(sizes, stand_ins[start:], strict=False)) for start in (0, half)] if len(sizes) <= half else []


def _elements(types: _Types, maps: Sequence[Mapping[int, int]]) -> int:
    return max(sum(math.prod(m.get(d, d) for d in shape) for shape, _ in types) for m in maps)


def _compares(call: LibraryCall) -> bool:
    """Return whether its numbers may be larger or smaller than a dimension, so that stand-ins could hide the effect."""
    return any(abs(n) > _KEPT for n in call.numbers())


def _merged(runs: Sequence[Any], maps: Sequence[Mapping[int, int]]) -> Any:
    """Merge the structures of the runs' results; None if ranks differ or a dimension is not one of the substituted sizes."""
    first = runs[0]
    if not isinstance(first, ResultLeaf):
        if any(isinstance(r, ResultLeaf) or len(r) != len(first) for r in runs):
            return None
        parts = [_merged(parts, maps) for parts in zip(*runs, strict=True)]
        return None if None in parts else _rebuilt(first, parts)
    if any(not isinstance(r, ResultLeaf) or len(r.shape) != len(first.shape) for r in runs):
        return None
    dims: list[int] = []
    for values in zip(*(r.shape for r in runs), strict=True):
        stood = [d for d in maps[0] if values == tuple(m[d] for m in maps)]
        if stood or len(set(values)) == 1:
            dims.append(stood[0] if stood else values[0])
        elif UNKNOWN in maps[0] or UNKNOWN in values:
            dims.append(UNKNOWN)
        else:
            return None
    return ResultLeaf(tuple(dims), first.dtype, first.scalar, first.shares)


def _rebuilt(like: Any, parts: Sequence[Any]) -> Any:
    if isinstance(like, list):
        return list(parts)
    return type(like)(*parts) if hasattr(like, "_fields") else tuple(parts)


def _example_results(call: LibraryCall, types: _Types) -> Any:
    """Return NumPy's structure for several examples; dimensions in which they differ depend on values."""
    found: list[Any] = []
    problem: Exception | None = None
    for kind in ("ramp", "ones", "unit", "random", "zeros"):
        if kind == "zeros" and found:  # only if no other index is valid; LAPACK rejects them with a printed message
            break
        arrays = [_example(kind, i, shape, dtype) for i, (shape, dtype) in enumerate(types)]
        try:
            found.append(_leaves(call.run(arrays), arrays))
        except InferenceError:
            raise
        except Exception as error:  # NumPy's functions may raise any Python exception
            problem = problem or error
    if not found:
        assert problem is not None
        words = str(problem).split("\n", maxsplit=1)[0] or type(problem).__name__
        raise CallError(f"{call.function}: {words}", problem)
    return _agreed(call, found)


def _agreed(call: LibraryCall, found: Sequence[Any]) -> Any:
    first = found[0]
    if not isinstance(first, ResultLeaf):
        if any(isinstance(f, ResultLeaf) or len(f) != len(first) for f in found):
            raise InferenceError(f"{call.function}: values decide how many arrays it gives")
        return _rebuilt(first, [_agreed(call, parts) for parts in zip(*found, strict=True)])
    if any(not isinstance(f, ResultLeaf) or f.dtype != first.dtype or len(f.shape) != len(first.shape) for f in found):
        kinds = sorted({f.dtype.name if isinstance(f, ResultLeaf) else "a tuple" for f in found})
        raise InferenceError(f"{call.function}: values decide the result's type ({' or '.join(kinds)})")
    shape = tuple(dims[0] if len(set(dims)) == 1 else UNKNOWN for dims in zip(*(f.shape for f in found), strict=True))
    shares = next((f.shares for f in found if f.shares is not None), None)
    return ResultLeaf(shape, first.dtype, first.scalar, shares)


def _leaves(value: Any, operands: Sequence[np.ndarray]) -> Any:
    if isinstance(value, tuple | list):
        return _rebuilt(value, [_leaves(v, operands) for v in value])  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
        raise InferenceError(f"a result of the type {type(value).__name__}, which is not an array")
    array = np.asarray(value)
    dtype = carried(array.dtype, "a result of dtype")
    shares = next((i for i, o in enumerate(operands) if isinstance(value, np.ndarray) and np.may_share_memory(o, value)), None)
    return ResultLeaf(array.shape, dtype, not isinstance(value, np.ndarray), shares)


def _example(kind: str, number: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = math.prod(shape)
    match kind:
        case "zeros":
            return np.zeros(shape, dtype)
        case "ones":
            return np.ones(shape, dtype, order="F")  # whether the result is a view may depend on it
        case "unit" if len(shape) > 1:
            return np.array(np.broadcast_to(np.eye(shape[-2], shape[-1]), shape), dtype)
        case "random":
            drawn = np.random.default_rng(number).standard_normal(shape)
            if dtype.kind == "c":
                return (drawn * (1 + 0.5j)).astype(dtype)
            return (drawn * 3).astype(np.int8).astype(dtype) if dtype.kind in "biu" else drawn.astype(dtype)
        case _:
            ramp = np.arange(number, number + size) if dtype.kind in "fc" else np.arange(size) % 3
            return ramp.reshape(shape).astype(dtype)
