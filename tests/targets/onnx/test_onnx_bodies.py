"""Loops and decisions of the run as Loop and If: checked by onnx, run by onnxruntime and read back, against the VM."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
sys.path.insert(0, str(Path(__file__).parents[1] / "mlir"))
from bodies_models import drawn_programs, golden
from onnx_out import exported

from fleet.cli.main import main
from fleet.errors import DeviceError
from fleet.frontend.onnx.load import program_of
from fleet.frontend.onnx.reader import read_model
from fleet.frontend.source import load
from fleet.targets.onnx.export import export_onnx
from fleet.targets.onnx.write import model_bytes


def test_random_models_run_and_come_back(tmp_path: Path) -> None:
    """`model_bytes` asks the checker, with shape inference."""
    seen = 0
    for text, program, inputs in drawn_programs(tmp_path, range(80)):
        expected, found = golden(program, inputs), exported(program, inputs)
        again = golden(program_of(read_model(model_bytes(export_onnx(program)), "again.onnx"), inputs), inputs)
        assert found.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-12, err_msg=text)
        for a, b in zip(again.values(), expected.values(), strict=True):
            np.testing.assert_array_equal(a, b, err_msg=text)
        seen += 1
    assert seen > 40


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_values_from_outside_and_constants_are_results(rounds: int, tmp_path: Path) -> None:
    """A body's results are its own: what it only hands on, twice, from outside, is copied."""
    text = (
        "import numpy as np\ndef forward(x, y):\n    a, b, c, k = x, x, 1.0, 0\n    while k < x.argmax():\n"
        "        a, b, c, k = y, y, 2.0, k + 1\n    if x[0] > 0: a, c = y, 2.0\n    return a, b, c\n"
    )
    (tmp_path / "m.py").write_text(text)
    inputs = {"x": np.eye(4)[rounds], "y": np.arange(4.0)}
    program = load(f"{tmp_path}/m.py:forward", {}, inputs)
    found = exported(program, inputs)
    for name, expected in golden(program, inputs).items():
        np.testing.assert_array_equal(found[name], expected)


def test_prints_and_checks_in_a_loop_are_refused(tmp_path: Path) -> None:
    text = "def forward(x):\n    while x[0] > 1:\n        x = x * 0.5\n        print(x)\n        assert x[1] > 0\n    return x\n"
    (tmp_path / "m.py").write_text(text)
    program = load(f"{tmp_path}/m.py:forward", {}, {"x": np.ones(2)})
    with pytest.raises(DeviceError, match="2 kinds of operations") as caught:
        export_onnx(program)
    assert "print in a branch or loop of the run" in str(caught.value.detail)
    assert "check in a branch or loop of the run" in str(caught.value.detail)


def test_every_operation_outside_the_bodies_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "import numpy as np\ndef forward(x: 'float64[4]'):\n    k = 0\n    while (x * x).sum() > 0.01:\n"
        "        x, k = x * 0.5, k + 1\n    y = np.exp(x)\n    return y, k\n"
    )
    (tmp_path / "m.py").write_text(text)
    assert main(["cosim", f"{tmp_path}/m.py:forward", "--engines", "vm,onnxruntime"]) == 0
    assert "PASS" in capsys.readouterr().out
