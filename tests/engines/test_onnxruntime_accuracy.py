"""Products of packed weights are compared with what the operator's definition says, whatever accuracy the file allows."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "frontend/onnx"))
from onnx import TensorProto, helper
from onnx_models import model, node

from fleet.cli.main import main
from fleet.engines.onnxruntime.accuracy import compute_exactly

RNG = np.random.default_rng(3)
WEIGHTS = {
    "b": RNG.integers(0, 256, (16, 1, 16)).astype(np.uint8),
    "s": (RNG.standard_normal(16) / 10).astype(np.float32),
}


def product(level: int, x: str = "x", y: str = "y") -> object:
    return node(
        "MatMulNBits", [x, "b", "s"], [y], domain="com.microsoft", K=32, N=16, bits=4, block_size=32, accuracy_level=level
    )  # fmt: skip


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
def test_every_level_agrees(
    level: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = model([product(level)], {"x": (np.float32, 3, 32)}, ["y"], WEIGHTS, domains=("com.microsoft",))
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    monkeypatch.chdir(tmp_path)
    assert main(["cosim", "m.onnx", "--engines", "vm,onnxruntime"]) == 0
    said = "m.onnx: engine onnxruntime runs y with accuracy_level 0" in capsys.readouterr().err
    assert said == (level > 0)


def test_products_in_branches_too() -> None:
    result = helper.make_tensor_value_info("z", TensorProto.FLOAT, [3, 16])
    branches = {key: helper.make_graph([product(4, y="z")], key, [], [result]) for key in ("then_branch", "else_branch")}
    made = model(
        [product(4), node("If", ["c"], ["o"], **branches)], {"x": (np.float32, 3, 32), "c": (np.bool_,)}, ["y", "o"], WEIGHTS
    )
    assert compute_exactly(made.graph) == ["y", "z", "z"]
    assert compute_exactly(made.graph) == []
