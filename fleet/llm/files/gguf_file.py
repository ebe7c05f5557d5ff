"""The header and the tensors of a GGUF file.

Every count, length and offset is checked against the file's size before data of that size is read or allocated. Package `gguf` only
unpacks blocks of quantised numbers. Layout: magic, version, counts, key-value pairs, tensor descriptions, padding, tensor data;
little endian, version 2 or 3.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fleet.core.room import bytes_of, check_room
from fleet.errors import FleetError, ModelError, SetupError

Value = str | int | float | bool | list[str] | npt.NDArray[Any]
"""Value of a key: a scalar, strings, or numbers."""

_SCALARS: Mapping[int, str] = {
    0: "<u1", 1: "<i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8",
}  # fmt: skip
_FLOAT32, _STRING, _ARRAY = 6, 8, 9
_PLAIN: Mapping[int, str] = {0: "<f4", 1: "<f2", 28: "<f8"}
_BF16 = 30
_MAX_PAIRS, _MAX_TENSORS, _MAX_ELEMENTS, _MAX_STRING, _MAX_ALIGNMENT = 1 << 16, 1 << 16, 1 << 22, 1 << 22, 1 << 16
_MAX_NAME, _MAX_DIMENSIONS = 256, 4
_LEAST_PAIR, _LEAST_TENSOR = 8 + 4 + 1, 8 + 4 + 8 + 4 + 8
"""Minimum bytes of a key-value pair and a tensor description, to reject headers that announce more entries than fit."""


class TensorInfo(NamedTuple):
    """A tensor's place. shape: rows first; kind: GGML's number of the format; offset: in the file; nbytes: size in the file."""

    shape: tuple[int, ...]
    kind: int
    offset: int
    nbytes: int


def _shown(text: str) -> str:
    """A text that holds names of a file: one line, whatever is in them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class GgufFile:
    """An open file: its fields and its tensors.

    Attributes:
        place: the path, for messages.
        fields: values by key.
        tensors: places by name.
        shapes: of the tensors, rows first.
    """

    def __init__(self, path: Path) -> None:
        """Read the header. Raises ModelError, naming file and reason, if the file is not a complete GGUF file."""
        self.path, self.place = path, str(path)
        try:
            with path.open("rb") as file:
                self.size = path.stat().st_size
                self._file: IO[bytes] = file
                self._read_header()
        except OSError as error:
            raise ModelError(f"cannot be read ({error.strerror or error})", where=self.place) from error
        finally:
            self.__dict__.pop("_file", None)

    def _bad(self, what: str) -> ModelError:
        return ModelError(_shown(what), where=self.place, hint="the file is damaged or no GGUF file")

    def _take(self, count: int, what: str) -> bytes:
        left = self.size - self._file.tell()
        data = self._file.read(count) if count <= left else b""
        if len(data) != count:
            raise self._bad(f"ends inside {what}: {count:,} bytes expected, {left:,} left")
        return data

    def _number(self, form: str, what: str) -> int:
        return struct.unpack("<" + form, self._take(struct.calcsize("<" + form), what))[0]

    def _string(self, what: str, most: int = _MAX_STRING) -> str:
        length = self._number("Q", what)
        if length > most:
            raise self._bad(f"{what} is {length:,} bytes long, expected at most {most:,}")
        data = self._take(length, what)
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise self._bad(f"{what} is not UTF-8") from None

    def _read_header(self) -> None:
        if self._take(4, "the magic number") != b"GGUF":
            raise ModelError("does not begin with GGUF, expected a GGUF file", where=self.place)
        version = self._number("I", "the version")
        if version not in {2, 3}:
            raise ModelError(f"GGUF version {version}, expected 2 or 3 (little endian)", where=self.place)
        tensors, pairs = self._number("Q", "the counts"), self._number("Q", "the counts")
        for count, most, least, what in (
            (pairs, _MAX_PAIRS, _LEAST_PAIR, "keys"),
            (tensors, _MAX_TENSORS, _LEAST_TENSOR, "tensors"),
        ):
            if count > most or count * least > self.size:
                raise self._bad(f"announces {count:,} {what}, more than its {self.size:,} bytes or fleet's limit ({most:,}) allow")
        self.fields: dict[str, Value] = {}
        for index in range(pairs):
            key = self._string(f"key {index}", _MAX_NAME * 4)
            if key in self.fields:
                raise self._bad(f"has key {key:.80} twice")
            self.fields[key] = self._value(self._number("I", f"the type of {key:.80}"), f"the value of {key:.80}")
        self._read_tensors(tensors)

    def _value(self, kind: int, what: str) -> Value:
        if kind == _STRING:
            return self._string(what)
        if kind == _ARRAY:
            item, count = self._number("I", what), self._number("Q", what)
            if count > _MAX_ELEMENTS:
                raise self._bad(f"{what} has {count:,} elements, expected at most {_MAX_ELEMENTS:,}")
            if item == _STRING:
                if 8 * count > self.size:
                    raise self._bad(f"ends inside {what}")
                return [self._string(f"{what}, element {i}") for i in range(count)]
            if item not in _SCALARS:
                raise self._bad(f"{what} is an array of type {item}, expected numbers or strings")
            dtype = np.dtype(_SCALARS[item])
            return np.frombuffer(self._take(count * dtype.itemsize, what), dtype)
        if kind not in _SCALARS:
            raise self._bad(f"{what} is of type {kind}, expected 0 to 12")
        number = np.frombuffer(self._take(np.dtype(_SCALARS[kind]).itemsize, what), _SCALARS[kind])[0]
        return float(str(number)) if kind == _FLOAT32 else number.item()  # the shortest decimal, 1e-05 instead of 9.99999974e-06

    def _read_tensors(self, count: int) -> None:
        described: dict[str, tuple[tuple[int, ...], int, int]] = {}
        for index in range(count):
            name = self._string(f"the name of tensor {index}", _MAX_NAME)
            if name in described:
                raise self._bad(f"has tensor {name} twice")
            dimensions = self._number("I", f"tensor {name}")
            if not 1 <= dimensions <= _MAX_DIMENSIONS:
                raise self._bad(f"tensor {name} has {dimensions} dimensions, expected 1 to {_MAX_DIMENSIONS}")
            shape = tuple(self._number("Q", f"tensor {name}") for _ in range(dimensions))[::-1]
            described[name] = shape, self._number("I", f"tensor {name}"), self._number("Q", f"tensor {name}")
        alignment = self.fields.get("general.alignment", 32)
        if type(alignment) is not int or not 0 < alignment <= _MAX_ALIGNMENT or alignment & (alignment - 1):
            raise self._bad(f"general.alignment is {alignment!r:.40}, expected a power of two up to {_MAX_ALIGNMENT}")
        start = -(-self._file.tell() // alignment) * alignment
        self.tensors: dict[str, TensorInfo] = {}
        for name, (shape, kind, offset) in described.items():
            nbytes = self._nbytes(name, shape, kind)
            if offset % alignment or start + offset + nbytes > self.size:
                raise self._bad(
                    f"tensor {name} {list(shape)} takes {nbytes:,} bytes from {start + offset:,}, "
                    f"expected within the file's {self.size:,} and aligned to {alignment}"
                )
            self.tensors[name] = TensorInfo(shape, kind, start + offset, nbytes)
        self.shapes: Mapping[str, tuple[int, ...]] = {name: info.shape for name, info in self.tensors.items()}

    def _nbytes(self, name: str, shape: tuple[int, ...], kind: int) -> int:
        block, size = self._format(name, kind)
        if 0 in shape or shape[-1] % block:
            raise self._bad(f"tensor {name} has shape {list(shape)}, expected rows of whole blocks of {block}")
        return math.prod(shape) // block * size  # Python integers: no overflow

    def _format(self, name: str, kind: int) -> tuple[int, int]:
        """Return the elements and the bytes of a block of the tensor's format."""
        if kind in _PLAIN:
            return 1, np.dtype(_PLAIN[kind]).itemsize
        if kind == _BF16:
            return 1, 2
        sizes: Mapping[int, tuple[int, int]] = _gguf(self.place).GGML_QUANT_SIZES
        if kind not in sizes:
            raise self._bad(f"tensor {name} is in format {kind}, which is not known")
        return sizes[kind]

    def format_of(self, name: str) -> str:
        """Return the format's name: "F32", "Q4_1"."""
        kind = self.tensors[name].kind
        plain = {0: "F32", 1: "F16", 28: "F64", _BF16: "BF16"}
        return plain[kind] if kind in plain else _gguf(self.place).GGMLQuantizationType(kind).name

    def read(self, name: str) -> np.ndarray:
        """Return the tensor, float32. Raises ModelError if the file has changed since or its format cannot be unpacked."""
        info = self.tensors[name]
        needed = info.nbytes + bytes_of(info.shape, np.dtype(np.float32))
        check_room(needed, _shown(f"tensor {name}, {self.format_of(name)}{list(info.shape)},"), where=self.place)
        try:
            with self.path.open("rb") as file:
                file.seek(info.offset)
                data = np.frombuffer(file.read(info.nbytes), np.uint8)
        except OSError as error:
            raise ModelError(f"cannot be read ({error.strerror or error})", where=self.place) from error
        if data.size != info.nbytes:
            raise self._bad(f"ends inside tensor {name}")
        if info.kind in _PLAIN:
            return data.view(_PLAIN[info.kind]).astype(np.float32).reshape(info.shape)
        if info.kind == _BF16:
            return (data.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(info.shape)
        gguf = _gguf(self.place)
        rows = data.reshape(*info.shape[:-1], -1)
        try:
            with np.errstate(all="ignore"):  # `ModelWeights` reports non-finite numbers
                return gguf.quants.dequantize(rows, gguf.GGMLQuantizationType(info.kind)).reshape(info.shape)
        except FleetError:
            raise
        except Exception as error:
            raise ModelError(
                f"tensor {name} is in format {self.format_of(name)}, which package gguf does not unpack ({error!s:.80})",
                where=self.place,
            ) from error

    def digest(self) -> str:
        """SHA-256 (hex) of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def _gguf(place: str) -> Any:
    """Import the package when a file needs it. Raises SetupError if it is not installed."""
    try:
        return importlib.import_module("gguf")
    except ImportError:
        raise SetupError("package gguf is missing", where=place, hint="pip install 'fleet-cosim[llm]'") from None
