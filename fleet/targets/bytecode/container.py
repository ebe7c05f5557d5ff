"""The bytecode file: magic, version, checksum, a JSON header, raw little-endian arrays. Nothing in it is executed.

offset  0  8 bytes   magic "FLEETBC" and a zero byte
        8  uint32    version of the format (2)
       12  uint32    zero
       16  uint64    length of the payload in bytes
       24  32 bytes  SHA-256 of the payload
       56            payload: uint64 length of the header, the header (JSON, UTF-8), then the arrays, each at the
                     next place of the file that is aligned to 64 bytes

Version 2 has jumps and unknown dimensions (-1 in shapes of arguments); a file of version 1 must be made again.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from fleet.core.files import replacing
from fleet.errors import FleetError, ModelError
from fleet.ir.types import DTYPES
from fleet.ir.weights import Recipe, Weights, recipe_to_plain
from fleet.targets.bytecode.contents import Contents
from fleet.targets.bytecode.header import Header

T = TypeVar("T", bound=Contents)

MAGIC = b"FLEETBC\0"
VERSION = 2
_PREFIX = struct.Struct("<8sIIQ32s")
_ALIGN = 64


def save(module: Contents, path: Path) -> None:
    """Write a bytecode file under a temporary name in the same folder, then rename it. Raises ModelError."""
    arrays: list[np.ndarray] = []
    header = {
        "target": module.target,
        "variable_size": module.variable_size,
        "code": [int(c) for c in module.code],
        "consts": [_constant_out(c, arrays) for c in module.consts],
        "invokes": list(module.invokes),
        "arguments": [[a.name, a.kind, list(a.shape), a.dtype, *([list(a.dims)] if a.dims else [])] for a in module.arguments],
        "outputs": [[o.name, o.slot, o.type, o.scalar] for o in module.outputs],
        "weights": {name: _weight_out(name, module.weights, arrays) for name in module.weights},
        "program_hash": module.program_hash,
        "arrays": [[a.dtype.name, list(a.shape)] for a in arrays],
    }
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    digest = hashlib.sha256()
    size = 0
    with replacing(Path(path), kind=ModelError) as file:
        file.write(bytes(_PREFIX.size))
        for part in _payload(text, arrays):
            file.write(part)
            digest.update(part)
            size += len(part)
        file.seek(0)
        file.write(_PREFIX.pack(MAGIC, VERSION, 0, size, digest.digest()))


def _payload(text: bytes, arrays: list[np.ndarray]) -> list[bytes]:
    parts = [struct.pack("<Q", len(text)), text]
    position = 8 + len(text)
    for array in arrays:
        padding = _padding(position)
        parts += [bytes(padding), array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()]
        position += padding + len(parts[-1])
    return parts


def _padding(position: int) -> int:
    """Return the bytes from a payload position to the next one that is aligned in the file."""
    return -(position + _PREFIX.size) % _ALIGN


def _constant_out(value: Any, arrays: list[np.ndarray]) -> Any:
    match value:
        case np.ndarray():
            return {"array": _array_out(value, arrays)}
        case bool() | int() | str():
            return value
        case float():
            return {"float": value.hex() if math.isfinite(value) else str(value)}
        case _:
            raise ModelError(f"a constant of type {type(value).__name__} has no place in a bytecode file")


def _weight_out(name: str, weights: Mapping[str, np.ndarray], arrays: list[np.ndarray]) -> Any:
    """Return a recipe if JSON can hold it, so that a file of random draws is as small as its source; else store the array."""
    entry = weights.entries[name] if isinstance(weights, Weights) else weights[name]
    recipe = recipe_to_plain(entry) if isinstance(entry, Recipe) else None
    return _array_out(weights[name], arrays) if recipe is None else recipe


def _array_out(array: np.ndarray, arrays: list[np.ndarray]) -> int:
    if array.dtype.name not in DTYPES:
        raise ModelError(f"an array of {array.dtype} has no place in a bytecode file")
    arrays.append(array)
    return len(arrays) - 1


def load(path: Path, kind: type[T]) -> T:
    """Read a bytecode file as a `kind`; arrays are views of the mapped file.

    Raises ModelError if `save` did not write the file.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < _PREFIX.size + 8:
                _refuse(path, f"{size} bytes are too few")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    magic, version, zero, length, digest = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        _refuse(path, "it does not begin with the format's magic")
    if version != VERSION or zero != 0:
        _refuse(path, f"it has version {version}, this program reads version {VERSION}")
    payload = data[_PREFIX.size :]
    if length != len(payload):
        _refuse(path, f"{len(payload)} bytes of payload, {length} were written: it is truncated or has grown")
    if hashlib.sha256(payload).digest() != digest:
        _refuse(path, "its checksum does not match: it was damaged or edited")
    try:
        return _read(payload, kind)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError, MemoryError, FleetError) as error:
        _refuse(path, f"its header is not that of a bytecode file ({type(error).__name__}: {str(error)[:200]})")


def _refuse(path: Path, why: str) -> NoReturn:
    raise ModelError(f"not a whole bytecode file: {why}", where=str(path), hint="compile the model again")


def _read(payload: memoryview, kind: type[T]) -> T:
    (length,) = struct.unpack_from("<Q", payload)
    if length > len(payload) - 8:
        raise ValueError("header length")
    header = Header(json.loads(bytes(payload[8 : 8 + length])))
    arrays: list[np.ndarray] = []
    position = 8 + length
    for dtype, shape in header.arrays():
        position += _padding(position)
        count = math.prod(shape)
        arrays.append(np.frombuffer(payload, dtype.newbyteorder("<"), count, position).reshape(shape).view(dtype))
        position += count * dtype.itemsize
    if position != len(payload):
        raise ValueError(f"{len(payload) - position} bytes behind the arrays")
    return header.contents(arrays, kind)
