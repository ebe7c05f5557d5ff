"""Writes ONNX models to files: the weights in the model, or in a file beside it; checked before writing."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fleet.core.files import replacing
from fleet.errors import DeviceError, SetupError

if TYPE_CHECKING:
    from onnx import ModelProto

    from fleet.targets.onnx.export import OnnxExport

EXTERNAL_FROM = 1 << 30
"""From this number of bytes on, weights are in a separate file (protobuf's limit is 2 GB)."""
_ALIGNED = 4096
_TEXT_ELEMENTS = 16


def needs(*packages: str) -> None:
    """Raises SetupError if a package of the extra `onnx` is missing."""
    if missing := [name for name in packages if find_spec(name) is None]:
        raise SetupError(
            f"the package {missing[0]} is missing", where="ONNX", hint="install the extra: pip install 'fleet-cosim[onnx]'"
        )


def model_bytes(export: OnnxExport) -> bytes:
    """Return the model including its weights, checked. Raises DeviceError if ONNX's checker refuses it or it exceeds 1 GiB."""
    model = _whole(export)
    check(model)
    return model.SerializeToString()


def in_memory(export: OnnxExport) -> bytes:
    """Return the same as `model_bytes`, unchecked: for a runtime that checks it itself."""
    return _whole(export).SerializeToString()


def _whole(export: OnnxExport) -> ModelProto:
    if (size := _size(export)) > EXTERNAL_FROM:
        raise DeviceError(f"{size} bytes of weights do not go into one model", where="ONNX", hint="write it with external data")
    model = _copied(export)
    for tensor in model.graph.initializer:
        tensor.raw_data = _raw(export.weights[tensor.name])
    return model


def model_text(export: OnnxExport) -> str:
    """Return the model in ONNX's textual syntax. Of a weight of more than 16 elements only name, type and shape, as a comment."""
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
    """Write the model, and if requested or needed its weights into "NAME.data" beside it; return the files.

    Each file is first written under a temporary name; the model is replaced last. Raises DeviceError if ONNX's checker refuses it,
    FleetError if a file cannot be written.
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
    """Run ONNX's checker, and compare shape inference with the model's shapes. folder: has external data.

    Raises DeviceError if the exported model is not valid.
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
    with replacing(path) as f:
        f.writelines(parts)
