"""Calibration of a model on data: what it sees, and what it changes on both kinds of devices."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "frontend/onnx"))
from onnx_models import ROOT, digits, model, node

from fleet.cli.main import main
from fleet.cosim.models.calibrate import calibrate_model
from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.ir.calibration import calibration_of
from fleet.ir.lowering_options import LoweringOptions


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """digits.onnx, digits to fit to, others to measure, their labels; an empty cache."""
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))
    (tmp_path / "digits.onnx").write_bytes(digits().SerializeToString())
    with np.load(ROOT / "examples/digits/test.npz") as x, np.load(ROOT / "examples/digits/labels.npz") as labels:
        np.savez(tmp_path / "fit.npz", x=x["x"][200:])
        np.savez(tmp_path / "x.npz", x=x["x"][:100])
        np.savez(tmp_path / "labels.npz", digit=labels["digit"][:100])
    return tmp_path


def test_it_sees_what_enters_products(folder: Path) -> None:
    path = calibrate_model(str(folder / "digits.onnx"), None, folder / "fit.npz", "vgemm_small", folder, method="minmax")
    found = calibration_of({"calibration": str(path)})
    assert found is not None
    with np.load(folder / "fit.npz") as given, np.load(ROOT / "examples/digits/weights.npz") as w:
        x = given["x"]
        h1 = np.maximum(x @ w["w1"] + w["b1"], 0)
        h2 = np.maximum(h1 @ w["w2"] + w["b2"] + h1, 0)
    assert set(found.moments) == {"w1", "w2", "w3"}
    for (name, top), weight, values in zip(found.ranges.items(), ("w1", "w2", "w3"), (x, h1, h2), strict=True):
        assert top == pytest.approx(np.abs(values).max(), rel=1e-5)
        assert found.seen[name] == pytest.approx((values.min(), values.max()), rel=1e-5)
        np.testing.assert_allclose(found.moments[weight], values.T @ values / len(values), rtol=1e-3, atol=1e-5)


def test_samples_one_by_one_are_the_same_data(folder: Path) -> None:
    with np.load(folder / "fit.npz") as given:
        np.savez(folder / "apart.npz", x=given["x"].reshape(4, 40, 64))
    spec = str(folder / "digits.onnx")
    whole, apart = (
        calibration_of({"calibration": str(calibrate_model(spec, None, folder / f, "hbm_small", folder, method="minmax"))})
        for f in ("fit.npz", "apart.npz")
    )
    assert whole is not None
    assert apart is not None
    assert (whole.samples, apart.samples) == (1, 4)
    assert whole.ranges == pytest.approx(apart.ranges, rel=1e-6)
    for name, moments in whole.moments.items():
        np.testing.assert_allclose(apart.moments[name], moments, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(("device", "gain"), [("vgemm_small", 2.0), ("hbm_small", 5.0)])
def test_it_makes_both_devices_more_accurate(device: str, gain: float, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On digits that it has not seen."""
    command = ["quantise", str(folder / "digits.onnx"), "--input", str(folder / "x.npz"), "--labels", str(folder / "labels.npz")]
    assert main([*command, "--calibrate", str(folder / "fit.npz"), "--device", device, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["op"] for row in found["rows"]] == ["layer1.Relu", "layer2.Relu", "layer3.Gemm"]
    for row in found["rows"]:
        assert row["sqnr_db"]["device, calibrated"] > row["sqnr_db"]["device"]
    last = found["rows"][-1]["sqnr_db"]
    assert last["device, calibrated"] > last["device"] + gain
    assert found["labelled"] == 100
    assert found["correct"]["device, calibrated"] >= found["correct"]["golden"] - 2
    assert main([*command, "--calibrate", str(folder / "fit.npz"), "--device", device]) == 0
    assert "accuracy, device, calibrated" in capsys.readouterr().out


@pytest.mark.parametrize(("scale", "least", "most"), [(0.05, 20, 3), (1.0, 30, 30), (40.0, 30, 20), (900.0, 30, 20)])
def test_int8_covers_any_range(scale: float, least: float, most: float, folder: Path) -> None:
    """Activations far from the range of -8 to 8: without calibration they are cut off or lost, with it they keep some bits."""
    rng = np.random.default_rng(1)
    weights = {"w": rng.normal(0, 0.1, (32, 16)).astype(np.float32) * np.logspace(-2, 0, 16).astype(np.float32)}
    made = model([node("MatMul", ["x", "w"], ["y"], "product")], {"x": (np.float32, "N", 32)}, ["y"], weights)
    (folder / "p.onnx").write_bytes(made.SerializeToString())
    np.savez(folder / "p.npz", x=(rng.uniform(-1, 1, (50, 32)) * scale).astype(np.float32))
    loaded = load_model(str(folder / "p.onnx"), None, folder / "p.npz", 0, None)
    path = calibrate_model(str(folder / "p.onnx"), None, folder / "p.npz", "vgemm_small", folder, method="minmax")
    golden = loaded.inputs["x"].astype(np.float64) @ weights["w"]

    def sqnr(lowering: dict[str, str]) -> float:
        options = RunOptions(device="vgemm_small", lowering=LoweringOptions.of(lowering))
        trace = find_engine("iss").engine.run(loaded.program, loaded.inputs, options)
        error = trace.outputs["y"] - golden
        return float(10 * np.log10(np.square(golden).sum() / np.square(error).sum()))

    assert sqnr({"calibration": str(path)}) > least
    assert sqnr({}) < most


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--calibrate", "gone.npz", "--device", "vgemm_small"], "gone.npz"),
        (["--calibrate", "labels.npz", "--device", "vgemm_small"], "digit"),
        (["--calibrate", "fit.npz", "--device", "spam"], "spam"),
        (["--calibrate", "fit.npz", "--engines", "vm,riscv"], "is for a device"),
        (["--calibrate", "nan.npz", "--device", "vgemm_small", "--engines", "vm,iss"], "not finite"),
    ],
)
def test_wrong_data_is_told(
    arguments: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    np.savez("nan.npz", x=np.full((3, 64), np.nan, np.float32))
    assert main(["cosim", "digits.onnx", "--input", "x.npz", *arguments]) == 2
    assert says in capsys.readouterr().err
