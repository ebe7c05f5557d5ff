"""Files as strangers ship them, as they are: the VM beside onnxruntime without its optimisations.

Each is written by its generator (`strangers_*.py`) in the manner of one exporter; this file run as a script with
a folder writes them, with inputs, for `fleet try` and `fleet cosim`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import strangers_blind
import strangers_blind_second
import strangers_exporters
import strangers_mixed
import strangers_networks
import strangers_runtime
import strangers_tables
import strangers_torch
import strangers_vision
from strangers import FILES, StrangerFile

from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.onnxruntime.exact_sums import make_sums_exact
from fleet.engines.registry import find_engine
from fleet.ir.dialect import op_id

FAMILIES = (
    *(strangers_exporters, strangers_mixed, strangers_networks, strangers_runtime, strangers_tables),
    *(strangers_torch, strangers_vision, strangers_blind, strangers_blind_second),
)
HALF = {"half_precision_classifier", "blind_bfloat_linear", "blind_external_data"}
"""Their sums are float16's: they differ by the order of the terms, and onnxruntime leaves out roundings between two operators."""


def expected(file: StrangerFile) -> dict[str, np.ndarray]:
    """onnxruntime's results by name; of dictionaries for each row the table of their values."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = onnx.load(file.path, load_external_data=False)
    make_sums_exact(model)
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(file.path.parent))
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    given = {n: a.astype(object) if a.dtype.kind == "U" else a for n, a in file.inputs.items()}
    return {o.name: table(v) for o, v in zip(session.get_outputs(), session.run(None, given), strict=True)}


def table(value: Any) -> np.ndarray:
    """A result as an array."""
    rows = isinstance(value, list) and all(isinstance(row, Mapping) for row in value)
    return np.array([list(row.values()) for row in value], np.float32) if rows else np.asarray(value)


@pytest.mark.parametrize("name", FILES)
def test_a_file_as_it_was_shipped(name: str, tmp_path: Path) -> None:
    file = FILES[name](tmp_path)
    np.savez(tmp_path / "inputs.npz", **file.inputs)
    loaded = load_model(str(file.path), None, tmp_path / "inputs.npz", 0, None)
    found = find_engine("vm").engine.run(loaded.program, loaded.inputs, RunOptions()).outputs
    wanted = {n: a for n, a in expected(file).items() if a.dtype.kind not in "OU"}
    assert len(found) == len(wanted), "labels of text are left out, and nothing else"
    assert found, "no result was compared"
    for (one, got), (other, want) in zip(found.items(), wanted.items(), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape), (one, other)
        limit = (2e-3, 2e-3) if name in HALF else (1e-4, 1e-5)
        np.testing.assert_allclose(got, want, *limit, err_msg=one)


@pytest.mark.parametrize("name", FILES)
def test_the_file_itself_as_an_engine(name: str, tmp_path: Path) -> None:
    """Also where fleet reads what onnx's converter made of it, whose names the file lacks: its values are left out."""
    file = FILES[name](tmp_path)
    np.savez(tmp_path / "inputs.npz", **file.inputs)
    loaded = load_model(str(file.path), None, tmp_path / "inputs.npz", 0, None)
    trace = find_engine("onnxruntime").engine.run(loaded.program, loaded.inputs, RunOptions())
    assert trace.complete
    assert trace.outputs
    assert trace.tensors.keys() <= {op_id(op) for op in loaded.program.operations()}


def test_there_are_files_of_every_kind() -> None:
    made = {g.__module__ for g in FILES.values()}
    assert made == {m.__name__ for m in FAMILIES}


if __name__ == "__main__":
    for label, generator in FILES.items():
        folder = Path(sys.argv[1]) / label
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / "inputs.npz", **generator(folder).inputs)
