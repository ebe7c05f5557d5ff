"""Declarations of the function's arrays, and arrays that do not match: fleet refuses them before it reads a statement."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fleet.verify.programs.parts.hand import Hand
from fleet.verify.programs.parts.values import ProgramArray

_OPEN = (
    *("", ": np.ndarray", ": float", ': "np.ndarray"', ": 'ndarray'", ': "{d}"'),
    ": np.ndarray[tuple[int, ...], np.dtype[np.{D}]]",
)
_CLOSED = (': "{d}[{s}]"', ': "{d}[ {s} ]"', ': "{d}[{s},]"')
_WRONG = (
    *(": dict", ': "float33[2]"', ': "{d}[{s}"', ': "{d}[-1]"', ': "{d}[99999999999]"', ': "{d}[2 3]"', ": list[float]", ": 3"),
    *(": np.int64", ': "{d}[{s}, 1]"', ': "{o}[{s}]"', ': "{d}[7, 7, 7]"', ": NDArray[np.foo]", ": np.ndarray.foo", ": (int, int)"),
)


def declaration(h: Hand, array: ProgramArray, *, wrong: bool = False) -> str:
    """Return the text after the argument's name."""
    name, shape = array.dtype.name, ", ".join(map(str, array.shape))
    kinds = _WRONG if wrong else _OPEN if h.chance(0.7) or not array.shape else _CLOSED
    other = "int16" if name == "float32" else "float32"
    return h.one(kinds).format(d=name, s=shape, D=name if name != "bool" else "bool_", o=other)


def misgiven(h: Hand, inputs: Mapping[str, ProgramArray]) -> tuple[dict[str, ProgramArray], tuple[str, ...]]:
    """Return arrays of which one is missing, has another shape or dtype, or is not finite; and the names of weights."""
    found = dict(inputs)
    name = h.one(tuple(found))
    kind = h.integer(0, 5)
    if kind == 0:
        for n in h.one(((name,), tuple(found))):
            del found[n]
    elif kind == 1:
        found[name] = np.asarray(found[name]).astype(h.one(("float16", "int8", "complex64", "<U3", ">f4", "float64")))
    elif kind == 2:
        found[name] = h.one((found[name][None], np.zeros((3, 1, 5), found[name].dtype), found[name].reshape(-1)[:0]))
    else:
        weight = np.zeros((2, 3), h.one(("float32", "float64", "float16"))) if kind == 3 else np.ones(inputs[name].shape)
        weight.reshape(-1)[-1:] = h.one((np.nan, np.inf, -np.inf))
        found[name] = weight if kind == 3 else weight.astype(inputs[name].dtype if inputs[name].dtype.kind == "f" else "float32")
        return found, (name,)
    return found, ()
