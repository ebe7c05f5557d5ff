"""Networks as exporters leave them (`tests/frontend/onnx/strangers_networks.py`), whole, on every engine and on devices."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/frontend/onnx"))
import strangers_networks
from strangers import FILES

from fleet.cli.main import main

pytestmark = pytest.mark.nightly

NETWORKS = [name for name, made in FILES.items() if made.__module__ == strangers_networks.__name__]
ENGINES = "vm,onnxruntime,riscv,iss"


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("device", ["vgemm_small", "hbm_small"])
def test_a_network_on_every_engine(name: str, device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = FILES[name](tmp_path)
    np.savez(tmp_path / "in.npz", **file.inputs)  # pyright: ignore[reportArgumentType]
    command = [str(file.path), "--input", str(tmp_path / "in.npz"), "--engines", ENGINES, "--device", device]
    code, shown = main(["cosim", *command, "--json"]), capsys.readouterr()
    assert code == 0, shown.err + shown.out[-2000:]
    verdicts = {c["name"]: c["verdict"] for c in json.loads(shown.out)["comparisons"]}
    assert {verdicts[f"{one}-vs-vm"] for one in ("onnxruntime", "riscv")} == {"pass"}
    assert verdicts["iss-vs-vm-rounded"] == "pass"
