"""Inputs and weights that nobody gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fleet.cosim.models.data import random_like
from fleet.frontend.source import sample_inputs


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_integers_that_hold_data_come_from_their_whole_range(tmp_path: Path, dtype: str) -> None:
    """Of zeros and ones no sum saturates and a ReLU meets nothing negative; of large numbers alone all sums saturate."""
    (tmp_path / "m.py").write_text(f'def forward(x: "{dtype}[64, 64]"):\n    return x + x\n')
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "g",
        *([helper.make_tensor_value_info(name, getattr(TensorProto, dtype.upper()), [64, 64])] for name in "xy"),
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    ends = np.iinfo(dtype)
    for found in (
        sample_inputs(f"{tmp_path}/m.py:forward", {})["x"],
        sample_inputs(f"{tmp_path}/m.onnx", {})["x"],
        random_like({"x": ((64, 64), np.dtype(dtype))}, 0)["x"],
    ):
        assert found.dtype == dtype
        wide, narrow = (int(found[row].max()) - int(found[row].min()) for row in (8, 15))
        assert wide > 0.9 * (ends.max - ends.min)
        assert 0 < narrow < 0.02 * (ends.max - ends.min)
        assert np.unique(found).size > 100


@pytest.mark.parametrize(("dtype", "most"), [("int32", 9), ("int64", 9), ("uint16", 9), ("bool", 1), ("complex64", 9)])
def test_what_may_be_an_index_or_a_size_stays_small(tmp_path: Path, dtype: str, most: int) -> None:
    found = random_like({"x": ((64, 64), np.dtype(dtype))}, 0)["x"]
    assert found.dtype == dtype
    assert set(np.unique(found.real).tolist()) == set(range(most + 1))
    if dtype != "complex64":
        (tmp_path / "m.py").write_text(f'def forward(x: "{dtype}[64, 64]"):\n    return x\n')
        assert set(np.unique(sample_inputs(f"{tmp_path}/m.py:forward", {})["x"]).tolist()) == {0, 1}
