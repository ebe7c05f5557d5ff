"""ONNX models through the accelerator, and ONNX's own tests through the VM."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/frontend/onnx"))
from onnx_models import ROOT, digits

from fleet.cli.main import main


@pytest.mark.parametrize("device", ["hbm_small", "vgemm_small"])
def test_digits_from_onnx_to_rtl(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`iss` and `rtl` bit by bit at every commit, `riscv` and the accelerator within the bounds of the golden's arithmetic."""
    path = tmp_path / "digits.onnx"
    path.write_bytes(digits().SerializeToString())
    with np.load(ROOT / "examples/digits/test.npz") as given:
        np.savez(tmp_path / "x.npz", x=given["x"][:16])
    monkeypatch.chdir(tmp_path)
    command = [
        "cosim",
        "digits.onnx",
        "--input",
        "x.npz",
        "--engines",
        "vm,riscv,iss,rtl",
        "--device",
        device,
        "--report",
        "report",
    ]
    assert main(command) == 0
    page = (tmp_path / "report/index.html").read_text()
    assert "layer2.Gemm" in page


@pytest.mark.nightly
def test_the_table_of_riscv_is_current(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.verify.onnx_nodes import main as tables

    monkeypatch.chdir(ROOT)
    assert tables(["--riscv", "--check"]) == 0, capsys.readouterr().err


def test_the_tables_of_node_tests_are_current(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node test of the installed onnx ends as docs/onnx-operators.md and docs/onnx-skipped.md say, and none fails."""
    from fleet.verify.onnx_nodes import main as tables

    monkeypatch.chdir(ROOT)
    assert tables(["--check"]) == 0, capsys.readouterr().err
