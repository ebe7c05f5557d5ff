"""Tensors of a file as arrays: sizes are checked against the bytes that are there before memory is taken."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from fleet.core.room import check_room
from fleet.frontend.onnx.narrow import BY_CODE
from fleet.frontend.onnx.problems import refuse

_T = onnx.TensorProto

DTYPES: Mapping[int, np.dtype] = {
    _T.FLOAT: np.dtype(np.float32), _T.DOUBLE: np.dtype(np.float64), _T.FLOAT16: np.dtype(np.float16), _T.BOOL: np.dtype(bool),
    _T.INT8: np.dtype(np.int8), _T.INT16: np.dtype(np.int16), _T.INT32: np.dtype(np.int32), _T.INT64: np.dtype(np.int64),
    _T.UINT8: np.dtype(np.uint8), _T.UINT16: np.dtype(np.uint16), _T.UINT32: np.dtype(np.uint32), _T.UINT64: np.dtype(np.uint64),
}  # fmt: skip
"""Element types that a program carries."""

_PACKED: Mapping[int, tuple[int, bool]] = {
    _T.INT4: (4, True), _T.UINT4: (4, False), _T.INT2: (2, True), _T.UINT2: (2, False), _T.FLOAT4E2M1: (4, False),
}  # fmt: skip
"""Types of which several stand in a byte: bits, signed."""

_FIELDS: Mapping[int, str] = {
    _T.FLOAT: "float_data", _T.DOUBLE: "double_data", _T.INT64: "int64_data", _T.UINT64: "uint64_data", _T.UINT32: "uint64_data",
}  # fmt: skip
"""Where values stand that are not raw bytes; int32_data for all others."""


_MOST = 1 << 31
"""Elements of an array."""


@dataclass(frozen=True)
class ExternalData:
    """Where external data lies: file, first byte, bytes (None: to the end)."""

    path: Path
    offset: int
    length: int | None


def dtype_name(code: int) -> str:
    """ "FLOAT", or the number where it has no name."""
    names: Mapping[int, str] = {v: k for k, v in _T.DataType.items()}
    return names.get(code, str(code))


def dtype_of(code: int, where: str) -> np.dtype:
    """NumPy's dtype, of a narrow type that of ml_dtypes. Raises ModelError for an element type that is not read."""
    if code in BY_CODE:
        return BY_CODE[code].dtype
    if code not in DTYPES:
        names = ", ".join(map(dtype_name, (*DTYPES, *BY_CODE)))
        refuse(where, f"element type {dtype_name(code)} is not supported", f"supported are {names}")
    return DTYPES[code]


def read_tensor(tensor: onnx.TensorProto, where: str, folder: Path | None) -> np.ndarray:
    """The array. Raises ModelError for sizes that do not fit the bytes, unsupported types and data outside the folder."""
    shape = tuple(tensor.dims)
    code = tensor.data_type
    if any(d < 0 for d in shape):
        refuse(where, f"has the shape {list(shape)}")
    count = math.prod(shape)
    dtype_of(code, where)
    if tensor.data_location == _T.EXTERNAL:
        return _from_bytes(_external(tensor, where, folder, _bytes_of(code, count)), code, shape, where)
    if tensor.HasField("raw_data"):
        return _from_bytes(np.frombuffer(tensor.raw_data, np.uint8), code, shape, where)
    return _from_fields(tensor, code, shape, count, where)


def read_sparse(sparse: onnx.SparseTensorProto, where: str, folder: Path | None) -> np.ndarray:
    """The dense array: 0 but for the elements that are listed, by their places in the flat array or along each axis.

    Raises ModelError as `read_tensor`, and for places that are none of the array's.
    """
    shape = tuple(sparse.dims)
    values, places = read_tensor(sparse.values, where, folder), read_tensor(sparse.indices, where, folder)
    count = math.prod(shape)
    if any(d < 0 for d in shape) or count > _MOST:
        refuse(where, f"has the shape {list(shape)}")
    check_room(count * values.itemsize, f"{values.dtype}{list(shape)}", where=where)
    if values.ndim != 1 or places.dtype != np.int64 or places.shape not in ((values.size,), (values.size, len(shape))):
        refuse(where, f"of {values.size} values has places of {places.dtype}{list(places.shape)}")
    if places.size and ((places < 0).any() or (places >= (count if places.ndim == 1 else np.array(shape, np.int64))).any()):
        refuse(where, f"has places outside its shape {list(shape)}")
    found = np.zeros(shape, values.dtype)
    found[np.unravel_index(places, shape) if places.ndim == 1 else tuple(places.T)] = values
    return found


def _bytes_of(code: int, count: int) -> int:
    if code in _PACKED:
        return -(-count * _PACKED[code][0] // 8)
    return count * _dtype(code).itemsize


def _dtype(code: int) -> np.dtype:
    return BY_CODE[code].dtype if code in BY_CODE else DTYPES[code]


def _carried(code: int, count: int) -> int:
    """Bytes of so many elements as a program carries them."""
    return count * (BY_CODE[code].carried.itemsize if code in BY_CODE else DTYPES[code].itemsize)


def _from_bytes(raw: np.ndarray, code: int, shape: tuple[int, ...], where: str) -> np.ndarray:
    count = math.prod(shape)
    expected = _bytes_of(code, count)
    if raw.size != expected:
        refuse(where, f"of shape {list(shape)} needs {expected} bytes of {dtype_name(code)}, found {raw.size}")
    if code in _PACKED:
        return _unpacked(raw, code, count).reshape(shape)
    found = raw != 0 if code == _T.BOOL else raw.view(_dtype(code))
    return found.reshape(shape)


def _unpacked(raw: np.ndarray, code: int, count: int) -> np.ndarray:
    bits, signed = _PACKED[code]
    parts = np.stack([(raw >> (bits * i)) & ((1 << bits) - 1) for i in range(8 // bits)], axis=-1).reshape(-1)[:count]
    if code == _T.FLOAT4E2M1:
        return parts.view(_dtype(code))
    if signed:
        parts = ((parts.astype(np.int8) ^ (1 << (bits - 1))) - (1 << (bits - 1))).astype(np.int8)
    return parts.astype(_dtype(code))


def _from_fields(tensor: onnx.TensorProto, code: int, shape: tuple[int, ...], count: int, where: str) -> np.ndarray:
    field: Any = getattr(tensor, _FIELDS.get(code, "int32_data"))
    expected = _bytes_of(code, count) if code in _PACKED else count
    if len(field) != expected:
        refuse(where, f"of shape {list(shape)} needs {expected} values, found {len(field)}")
    dtype = _dtype(code)
    if code in _PACKED:
        return _unpacked(np.array(field, np.int64).astype(np.uint8), code, count).reshape(shape)
    if code == _T.FLOAT16 or code in BY_CODE:  # bits
        return np.array(field, np.int64).astype(f"u{dtype.itemsize}").view(dtype).reshape(shape)
    wide = np.array(field, dtype if dtype.kind == "f" or dtype.itemsize == 8 else np.int64)
    if dtype.kind in "iu" and dtype.itemsize < 8 and wide.size:
        limits = np.iinfo(dtype)
        if wide.min() < limits.min or wide.max() > limits.max:
            refuse(where, f"holds a value that {dtype} cannot have")
    return wide.astype(dtype).reshape(shape)


def _external(tensor: onnx.TensorProto, where: str, folder: Path | None, expected: int) -> np.ndarray:
    place = _place(tensor, where, folder)
    try:
        size = place.path.stat().st_size
    except OSError as error:
        refuse(where, f"its data {place.path.name} cannot be read ({error.strerror})", "the file belongs beside the model")
    length = size - place.offset if place.length is None else place.length
    if place.offset < 0 or length != expected or place.offset + length > size:
        refuse(where, f"needs {expected} bytes of {place.path.name} (of {size}) from {place.offset}, its entry says {length}")
    if expected == 0:
        return np.empty(0, np.uint8)
    check_room(
        _carried(tensor.data_type, math.prod(tensor.dims)), f"{dtype_name(tensor.data_type)}{list(tensor.dims)}", where=where
    )
    return np.memmap(place.path, np.uint8, "r", place.offset, (expected,)).view(np.ndarray)


def _inside(root: Path, location: str) -> Path | None:
    """The file, links followed; None if it does not exist or lies outside the folder."""
    if "\0" in location or Path(location).is_absolute():
        return None
    try:
        path = Path(os.path.realpath(root / location))
        return path if path != root and path.is_relative_to(root) and path.is_file() else None
    except OSError:  # a name that no file can have
        return None


def _place(tensor: onnx.TensorProto, where: str, folder: Path | None) -> ExternalData:
    entries = {e.key: e.value for e in tensor.external_data}
    location = entries.get("location", "")
    if folder is None or not location:
        refuse(where, "has external data, and no file is named for it")
    root = Path(os.path.realpath(folder))
    path = _inside(root, location)
    if path is None:
        refuse(where, f"its data lie in {location[:200]!r}, which is no file below the model's folder")
    numbers: dict[str, int | None] = {}
    for key in ("offset", "length"):
        text = entries.get(key)
        if text is not None and not (text.isascii() and text.isdecimal() and len(text) < 20):
            refuse(where, f"its data have the {key} {text!r}, which is no number of bytes")
        numbers[key] = None if text is None else int(text)
    return ExternalData(path, numbers["offset"] or 0, numbers["length"])
