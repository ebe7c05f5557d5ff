"""Models that were fitted to calibration data, and quantised models, on the hardware."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/frontend/onnx"))
from onnx_models import ROOT, digits, quantised_digits

from fleet.cli.main import main


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Digits to fit to, others to measure, and their labels."""
    with np.load(ROOT / "examples/digits/test.npz") as x, np.load(ROOT / "examples/digits/labels.npz") as labels:
        np.savez(tmp_path / "fit.npz", x=x["x"][200:])
        np.savez(tmp_path / "x.npz", x=x["x"][:16])
        np.savez(tmp_path / "labels.npz", digit=labels["digit"][:16])
    return tmp_path


def verdicts(capsys: pytest.CaptureFixture[str], command: list[str]) -> dict[str, str]:
    code, shown = main([*command, "--json"]), capsys.readouterr()
    assert code == 0, shown.err + shown.out[-2000:]
    return {c["name"]: c["verdict"] for c in json.loads(shown.out)["comparisons"]}


@pytest.mark.parametrize("device", ["hbm_small", "vgemm_small"])
def test_calibrated_digits(device: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = data / "digits.onnx"
    path.write_bytes(digits().SerializeToString())
    command = ["cosim", str(path), "--input", str(data / "x.npz"), "--labels", str(data / "labels.npz")]
    command += ["--calibrate", str(data / "fit.npz"), "--device", device, "--engines", "vm,iss,rtl"]
    found = verdicts(capsys, command)
    assert (found["rtl-vs-iss"], found["iss-vs-vm-rounded"]) == ("pass", "pass")


@pytest.mark.parametrize("convolution", [False, True])
def test_quantised_digits(convolution: bool, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A QDQ model keeps its codes: products are exact in the hardware."""
    path = data / "qdq.onnx"
    path.write_bytes(quantised_digits(convolution=convolution).SerializeToString())
    command = ["cosim", str(path), "--input", str(data / "x.npz"), "--labels", str(data / "labels.npz")]
    found = verdicts(capsys, [*command, "--device", "vgemm_small", "--engines", "vm,iss,rtl"])
    assert (found["rtl-vs-iss"], found["iss-vs-vm-rounded"]) == ("pass", "pass")
