"""ONNX models as files: the weights in the model, or in a file beside it; checked before they are written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleet.errors import DeviceError, FleetError, SetupError

if TYPE_CHECKING:
    from onnx import ModelProto

    from fleet.targets.onnx.export import OnnxExport

__all__ = ["EXTERNAL_FROM", "check", "in_memory", "model_bytes", "model_text", "needs", "save_onnx"]

EXTERNAL_FROM = 1 << 30
"""Bytes of weights from which on they stand in a file of their own (protobuf ends at 2 GB)."""
_ALIGNED = 4096
_TEXT_ELEMENTS = 16


def needs(*packages: str) -> None:
    """Raises SetupError for a package of the extra `onnx` that is missing."""
    if missing := [name for name in packages if find_spec(name) is None]:
        raise SetupError(
            f"the package {missing[0]} is missing", where="ONNX", hint="install the extra: pip install 'fleet-cosim[onnx]'"
        )


def model_bytes(export: OnnxExport) -> bytes:
    """The model with its weights in it, checked. Raises DeviceError for what ONNX's checker refuses, or more than 1 GiB."""
    model = _whole(export)
    check(model)
    return model.SerializeToString()


def in_memory(export: OnnxExport) -> bytes:
    """As `model_bytes`, unchecked: for a runtime that checks it itself."""
    return _whole(export).SerializeToString()


def _whole(export: OnnxExport) -> ModelProto:
    if (size := _size(export)) > EXTERNAL_FROM:
        raise DeviceError(f"{size} bytes of weights do not go into one model", where="ONNX", hint="write it with external data")
    model = _copied(export)
    for tensor in model.graph.initializer:
        tensor.raw_data = _raw(export.weights[tensor.name])
    return model


def model_text(export: OnnxExport) -> str:
    """The model in ONNX's textual syntax; of a weight of more than 16 elements only name, type and shape, as a comment."""
    from onnx import printer

    model = _copied(export)
    large = [t for t in model.graph.initializer if export.weights[t.name].size > _TEXT_ELEMENTS]
    for tensor in model.graph.initializer:
        tensor.raw_data = _raw(export.weights[tensor.name])
    for tensor in large:
        model.graph.initializer.remove(tensor)
    notes = [f"# initializer {t.name}: {export.weights[t.name].dtype}{list(t.dims)}" for t in large]
    return "\n".join([*notes, printer.to_text(model)]) + "\n"


def save_onnx(export: OnnxExport, path: Path, *, external: bool = False) -> list[Path]:
    """Writes the model, and where asked for or needed its weights into "NAME.data" beside it; returns the files.

    The model is replaced last, each file under a temporary name first. Raises DeviceError for what ONNX's checker refuses,
    FleetError where a file cannot be written.
    """
    if not external and _size(export) <= EXTERNAL_FROM:
        _write(path, [model_bytes(export)])
        return [path]
    model, data = _copied(export), path.with_name(f"{path.name}.data")
    offset = 0
    for tensor in model.graph.initializer:
        length = export.weights[tensor.name].nbytes
        tensor.data_location = tensor.EXTERNAL
        for key, value in (("location", data.name), ("offset", str(offset)), ("length", str(length))):
            tensor.external_data.add(key=key, value=value)
        offset += length + -length % _ALIGNED
    _write(data, _padded(export, [t.name for t in model.graph.initializer]))
    check(model, path.parent)
    _write(path, [model.SerializeToString()])
    return [path, data]


def check(model: ModelProto, folder: Path | None = None) -> None:
    """ONNX's checker, with shape inference held against the shapes that the model states; `folder` has external data.

    Raises DeviceError: what the export made is no valid model.
    """
    from onnx import checker, shape_inference

    try:
        if folder is None:
            checker.check_model(model, full_check=True)
        else:
            with tempfile.NamedTemporaryFile(dir=folder, suffix=".onnx") as file:
                file.write(model.SerializeToString())
                file.flush()
                checker.check_model(file.name, full_check=True)
    except (checker.ValidationError, shape_inference.InferenceError) as error:
        line = " ".join(str(error).split())[:300]
        raise DeviceError(f"the checker refuses the model: {line}", where="ONNX", hint="this is a bug of fleet's export") from error


def _copied(export: OnnxExport) -> ModelProto:
    model = type(export.model)()
    model.CopyFrom(export.model)
    return model


def _size(export: OnnxExport) -> int:
    return sum(w.nbytes for w in export.weights.values())


def _raw(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()


def _padded(export: OnnxExport, names: Iterable[str]) -> Iterator[bytes]:
    for name in names:
        raw = _raw(export.weights[name])
        yield raw
        yield b"\0" * (-len(raw) % _ALIGNED)


def _write(path: Path, parts: Iterable[bytes]) -> None:
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}", suffix=".tmp")
        with os.fdopen(fd, "wb") as f:
            for part in parts:
                f.write(part)
        Path(temporary).chmod(0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise FleetError(f"cannot be written ({error.strerror or error})", where=str(path), hint="free space") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
