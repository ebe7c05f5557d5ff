"""Layers beyond the scratchpads, on the hardware: every commit, and the result against NumPy."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.cli.main import main

MODELS = Path(__file__).parent / "models" / "large.py"


@pytest.mark.parametrize("layer", ["same", "strided", "deep", "dense"])
@pytest.mark.parametrize("device", ["vgemm_small", "vgemm16"])
def test_a_large_layer_on_the_hardware(
    layer: str, device: str, tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    if device != "vgemm_small" and not request.config.getoption("--nightly"):
        pytest.skip("the small device has the smaller scratchpads; --nightly runs both")
    ways = ["--issue", "aux", "--memory", "timed:3"]
    code = main(
        ["cosim", f"{MODELS}:{layer}", "--engines", "vm,iss,rtl", "--device", device, *ways, "--report", str(tmp_path / "report")]
    )
    said = capsys.readouterr().out
    assert code == 0, said
    assert "PASS      rtl-vs-iss" in said
    assert "PASS      iss-vs-vm-rounded" in said
