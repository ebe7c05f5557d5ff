"""The Python API that mirrors the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.compiler import STAGES
from fleet.errors import FleetError, ModelError
from fleet.targets.bytecode import VM, ByteCodeConverter

MODEL = """
def forward(x: "float32[N, 4]", w: "float32[4, 3]"):
    y = x @ w
    return y
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "model.py").write_text(MODEL)
    return f"{tmp_path / 'model.py'}:forward"


def test_compile_show_and_run(model: str) -> None:
    x, w = np.ones((2, 4), np.float32), np.arange(12, dtype=np.float32).reshape(4, 3)
    compiled = fleet.compile(model, weights={"w": w}, inputs={"x": x})
    for stage in STAGES[:4]:
        assert compiled.text(stage).strip()
    for engine in ("vm", "llvm-cpu"):
        np.testing.assert_array_equal(compiled.run(engine).outputs["y"], x @ w)
    np.testing.assert_array_equal(compiled.run("vm", {"x": 2 * x}).outputs["y"], 2 * x @ w)
    np.testing.assert_array_equal(VM(compiled.bytecode()).run({"x": x})["y"], x @ w)


def test_the_api_of_seed_000_takes_a_module(model: str) -> None:
    compiled = fleet.compile("examples/add_sample.py")
    shown: list[object] = []
    VM(ByteCodeConverter(compiled.program.module).convert(), echo=lambda *values: shown.extend(values)).run()
    assert shown == [43]


def test_passes_and_files(model: str, tmp_path: Path) -> None:
    compiled = fleet.compile(model, batch=2, pipeline="vm")
    assert compiled.banner is not None
    assert [r.name for r in compiled.records][:1] == ["canonicalise"]
    compiled.write("mlir", tmp_path / "m.mlir")
    assert (tmp_path / "m.mlir").read_text() == compiled.text("mlir")


def test_what_is_wrong_is_an_error_of_fleet(model: str) -> None:
    with pytest.raises(FleetError, match="no stage is called"):
        fleet.compile(model).text("nonsense")
    with pytest.raises(ModelError):
        fleet.compile(model, weights={"w": np.ones((4, 3), np.float32)}, inputs={})
    with pytest.raises(FleetError, match="no pipeline"):
        fleet.compile(model, pipeline="nonsense")
    with pytest.raises(AttributeError):
        fleet.nonsense  # noqa: B018


def test_importing_the_package_loads_nothing() -> None:
    code = "import sys, fleet; print(sorted(m for m in sys.modules if m.startswith(('fleet.', 'numpy', 'xdsl'))))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
