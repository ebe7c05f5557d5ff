"""Layers beyond the scratchpads, on the hardware: every commit, and the result against NumPy."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.cli.main import main

MODELS = Path(__file__).parent / "models" / "large.py"


@pytest.mark.parametrize("layer", ["same", "strided", "deep", "dense"])
@pytest.mark.parametrize("device", ["vgemm_small", pytest.param("vgemm16", marks=pytest.mark.nightly)])
def test_a_large_layer_on_the_hardware(layer: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The small device has the smaller scratchpads, so it is the quick one."""
    ways = ["--issue", "aux", "--memory", "timed:3"]
    code = main(
        ["cosim", f"{MODELS}:{layer}", "--engines", "vm,iss,rtl", "--device", device, *ways, "--report", str(tmp_path / "report")]
    )
    said = capsys.readouterr().out
    assert code == 0, said
    assert "PASS      rtl-vs-iss" in said
    assert "PASS      iss-vs-vm-rounded" in said
