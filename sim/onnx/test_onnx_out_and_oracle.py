"""ONNX out and the engine `onnxruntime` on what takes longer: models of GPT-2's size, and all node tests of ONNX."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("onnxruntime")
from fleet.cli.main import main
from fleet.engines.onnxruntime import ENGINE
from fleet.engines.vm import ENGINE as VM
from fleet.verify import onnx_nodes

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.nightly
@pytest.mark.parametrize("model", ["gpt2_block/model.py:forward", "gpt2_attention.py"])
def test_every_operation_of_gpt2_is_within_its_bound(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cosim", str(ROOT / "examples" / model), "--engines", "vm,onnxruntime", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "pass"


def test_a_sample_of_the_node_tests_comes_through_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read, written as ONNX again, run by onnxruntime, and held against the results that the tests have."""
    engines = {"vm": VM, "onnxruntime": ENGINE}
    monkeypatch.setattr("fleet.engines.registry.find_engine", lambda name: SimpleNamespace(engine=engines[name]))
    tried = 0
    for case in list(onnx_nodes.node_cases())[7::36]:
        if onnx_nodes.run_case(case).verdict in ("passed", "bound"):
            outcome = onnx_nodes.run_case(case, "onnxruntime")
            assert outcome.verdict in ("passed", "bound"), (case.name, outcome.reason)
            tried += 1
    assert tried > 30


@pytest.mark.nightly
def test_node_tests_come_through_again(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert onnx_nodes.main(["--out", "--check"]) == 0, capsys.readouterr().err
