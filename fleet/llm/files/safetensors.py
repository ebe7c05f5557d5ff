"""Reads and writes tensors in safetensors files.

A safetensors file is the length of a JSON header (8 bytes), the header, and the tensors' bytes. This module parses it itself,
because NumPy has no bfloat16, the dtype of most checkpoints.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fleet.core.codec import is_table
from fleet.core.json_text import parse_json
from fleet.core.room import bytes_of, check_room
from fleet.errors import ModelError

_DTYPES: Mapping[str, str] = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_MAX_HEADER, _MAX_FILES, _MAX_DIMENSIONS = 1 << 26, 1024, 8
_SINGLE, _INDEX = "model.safetensors", "model.safetensors.index.json"


class TensorPlace(NamedTuple):
    """The place of a tensor: file, the format's dtype name, shape, offset, size in bytes."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


def read_json(path: Path, most: int) -> dict[str, Any]:
    """Read a JSON object from a file of at most `most` bytes. Raises ModelError, naming file and reason."""
    try:
        if path.stat().st_size > most:
            raise ModelError(f"is larger than {most:,} bytes", where=str(path))
        content = parse_json(path.read_bytes(), path, "its JSON text is wrong")
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    if not is_table(content):
        raise ModelError("its JSON text is not an object", where=str(path))
    return content


def _object(data: bytes, place: str) -> dict[str, Any]:
    try:
        content = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"its JSON text is wrong ({' '.join(str(error).split())[:80]})", where=place) from None
    if not isinstance(content, dict):
        raise ModelError("its JSON text is not an object", where=place)
    return content


def read_header(path: Path) -> dict[str, TensorPlace]:
    """Return the tensors of one file, checked against its size. Raises ModelError, naming file and reason."""
    place = str(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(size - 8, _MAX_HEADER):
                raise ModelError(
                    f"announces a header of {length:,} bytes in a file of {size:,}", where=place, hint="the file is damaged"
                )
            content = _object(file.read(length), place)
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=place) from error
    content.pop("__metadata__", None)
    tensors: dict[str, TensorPlace] = {}
    for name, entry in content.items():
        match entry:
            case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(start), int(end)]} if (
                len(shape) <= _MAX_DIMENSIONS
                and all(type(n) is int and 0 <= n < 1 << 40 for n in shape)
                and 0 <= start <= end <= size - 8 - length
            ):
                tensors[name] = TensorPlace(path, dtype, tuple(shape), 8 + length + start, end - start)
            case _:
                raise ModelError(
                    f"tensor {name!r:.80} is described by {entry!r:.100}, expected dtype, shape and offsets within the file",
                    where=place,
                    hint="the file is damaged or cut",
                )
    return tensors


_PART = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.safetensors")
"""Name of a part of a set of files."""


class TensorFolder:
    """The tensors of a folder's safetensors files.

    Attributes:
        place: the folder, for messages.
        shapes: by name.
    """

    def __init__(self, folder: Path) -> None:
        """Read the headers. Raises ModelError, naming file and reason."""
        self.place = str(folder)
        self._tensors: dict[str, TensorPlace] = {}
        self.files = self._files(folder)
        for path in self.files:
            self._tensors.update(read_header(path))
        self.shapes: Mapping[str, tuple[int, ...]] = {name: tensor.shape for name, tensor in self._tensors.items()}

    def _files(self, folder: Path) -> list[Path]:
        if (folder / _SINGLE).is_file():
            return [folder / _SINGLE]
        if not (folder / _INDEX).is_file():
            return self._without_index(folder)
        index = read_json(folder / _INDEX, _MAX_HEADER)
        names = index.get("weight_map")
        if not isinstance(names, dict) or not all(isinstance(n, str) for n in names.values()):
            raise ModelError("weight_map is missing or no table of file names", where=str(folder / _INDEX))
        files = sorted(set(names.values()))
        if len(files) > _MAX_FILES:
            raise ModelError(f"names {len(files)} files, expected at most {_MAX_FILES}", where=str(folder / _INDEX))
        for name in files:
            if not name.endswith(".safetensors") or "/" in name or "\\" in name or "\0" in name:
                raise ModelError(
                    f"names file {name!r:.80}, expected a .safetensors file in the same folder", where=str(folder / _INDEX)
                )
        return [folder / name for name in files]

    def _without_index(self, folder: Path) -> list[Path]:
        """The files of a folder whose index was left behind: one of any name, or all parts of one set."""
        found = sorted(folder.glob("*.safetensors"))
        parts = [_PART.fullmatch(path.name) for path in found]
        whole = {(p[1], int(p[3]), len(found)) for p in parts if p} if all(parts) else set[tuple[str, int, int]]()
        if len(whole) == 1 and next(iter(whole))[1] == len(found) <= _MAX_FILES:
            return found
        if len(found) == 1 and parts[0] is None:
            return found
        what = f"holds neither {_SINGLE} nor {_INDEX}"
        if found:
            what += f", and its {len(found)} .safetensors file{'s are' if len(found) > 1 else ' is'} not a whole set"
        hint = "name a GGUF file or such a folder"
        if any(folder.glob("*.bin")) and not found:
            what += ", but tensors that Python pickled (.bin), which fleet does not open"
            hint = "transformers converts it: AutoModelForCausalLM.from_pretrained(folder).save_pretrained(folder)"
        raise ModelError(what, where=self.place, hint=hint)

    def renamed(self, name: Callable[[str], str]) -> TensorFolder:
        """Rename the tensors in place: some checkpoints have a prefix, others do not."""
        self._tensors = {name(stored): tensor for stored, tensor in self._tensors.items()}
        self.shapes = {stored: tensor.shape for stored, tensor in self._tensors.items()}
        return self

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def read(self, name: str) -> np.ndarray:
        """Return the tensor, float32. Raises ModelError if its dtype is not supported or the file has changed since."""
        tensor = self._tensors[name]
        place = str(tensor.path)
        if tensor.dtype not in _DTYPES:
            raise ModelError(f"tensor {name} is of type {tensor.dtype!r:.20}, expected {', '.join(_DTYPES)}", where=place)
        dtype = np.dtype(_DTYPES[tensor.dtype])
        if math.prod(tensor.shape) * dtype.itemsize != tensor.nbytes:
            raise ModelError(
                f"tensor {name} {tensor.dtype}{list(tensor.shape)} has {tensor.nbytes:,} bytes", where=place, hint="it is damaged"
            )
        check_room(
            tensor.nbytes + bytes_of(tensor.shape, np.dtype(np.float32)), f"tensor {name}, {tensor.dtype}{list(tensor.shape)},",
            where=place,
        )  # fmt: skip
        try:
            with tensor.path.open("rb") as file:
                file.seek(tensor.offset)
                data = file.read(tensor.nbytes)
        except OSError as error:
            raise ModelError(f"cannot be read ({error.strerror or error})", where=place) from error
        if len(data) != tensor.nbytes:
            raise ModelError(f"ends inside tensor {name}", where=place)
        array = np.frombuffer(data, dtype)
        if tensor.dtype == "BF16":  # the upper half of a binary32
            array = (array.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(over="ignore"):
            return array.astype(np.float32).reshape(tensor.shape)

    def digest(self) -> str:
        """Return a SHA-256 (hex) over the files."""
        total = hashlib.sha256()
        for path in self.files:
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()


def write_safetensors(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write float32 tensors into one file."""
    header: dict[str, Any] = {}
    offset = 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + 4 * array.size]}
        offset += 4 * array.size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in tensors.values():
            file.write(np.ascontiguousarray(array, "<f4").tobytes())
