"""Views that show an array's bytes as other numbers: `z.real` and `z.imag` of complex numbers, and `x.view(dtype)`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np
from xdsl.ir import Block, Operation

from fleet.frontend.arrays.emitting import emit
from fleet.frontend.arrays.sizes import reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.tensor import TracedArray
from fleet.ir import dialect as d
from fleet.ir.library.call import CallOperand, LibraryCall
from fleet.ir.types import numpy_dtype

PARTS = ("real", "imag")
_BITS = "ndarray.view"
_PLACE: Mapping[int, type] = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64, 16: np.complex128}
"""Bytes -> a number of that size."""


def reinterprets(op: Operation | Block) -> str | None:
    """Return which view of its operand's bytes an operation is: "real", "imag" or "ndarray.view"; None if it is no such view."""
    if not isinstance(op, d.NumpyOp):
        return None
    call = LibraryCall.parse(op.call.data)
    if not call.arguments or call.arguments[0] != CallOperand(0):
        return None
    if call.function in PARTS and numpy_dtype(op.operands[0].type).kind == "c":
        return call.function
    return _BITS if call.function == _BITS else None


def places_shown(op: d.NumpyOp, places: np.ndarray) -> np.ndarray | None:
    """Return the places of a view's elements. places: those of its base, an array that lies in memory as the base does.

    The result is a view of `places` with the strides of NumPy's view. None if no integer of NumPy has the
    width that its places need, or if the last axis has a stride.
    """
    how = reinterprets(op)
    if how in PARTS:
        half = _PLACE.get(places.itemsize // 2)
        return None if half is None else places.view(np.dtype([(name, half) for name in PARTS]))[how]
    own, its = (numpy_dtype(v.type).itemsize for v in (op.operands[0], op.results[0]))
    kind = _PLACE.get(places.itemsize * its // own) if places.itemsize * its % own == 0 else None
    try:
        return None if kind is None else places.view(kind)
    except ValueError:  # the last axis has a stride
        return None


def written_back(ev: Evaluator, node: ast.AST, how: str, whole: TracedArray, new: TracedArray) -> TracedArray:
    """Return the array `whole` with the elements of its view `how` (see `reinterprets`) replaced by `new`."""
    if how == _BITS:
        return reshaped(ev, node, as_dtype(ev, node, new, whole.dtype), whole.shape)
    parts = [new if name == how else _numpy(ev, node, LibraryCall(name, (CallOperand(0),)), whole) for name in PARTS]
    pairs = _numpy(ev, node, LibraryCall("stack", ((CallOperand(0), CallOperand(1)),), (("axis", -1),)), *parts)
    return reshaped(ev, node, as_dtype(ev, node, pairs, whole.dtype), whole.shape)


def as_dtype(ev: Evaluator, node: ast.AST, x: TracedArray, dtype: np.dtype) -> TracedArray:
    """The bytes of an array as another dtype, as NumPy's `x.view(dtype)`."""
    return _numpy(ev, node, LibraryCall(_BITS, (CallOperand(0), dtype.name)), x)


def _numpy(ev: Evaluator, node: ast.AST, call: LibraryCall, *operands: TracedArray) -> TracedArray:
    return emit(ev, node, "numpy", list(operands), call=str(call), output=0)
