from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.interp import ENGINE, interpret
from fleet.engines.registry import GROUP
from fleet.engines.vm import ENGINE as VM
from fleet.errors import ModelError
from fleet.frontend.source import load
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program

SOURCE = """import numpy as np
def forward(x: "f32[4, 6]", w: "f32[6, 6]"):
    h = np.exp(x @ w)
    k = 2.5
    print(h.sum(), k)
    p = h / h.sum(-1, keepdims=True)
    return p, p.argmax(-1), k
"""


@pytest.fixture
def model(tmp_path: Path) -> Program:
    (tmp_path / "m.py").write_text(SOURCE)
    rng = np.random.default_rng(0)
    w = rng.standard_normal((6, 6)).astype("f4")
    return load(f"{tmp_path / 'm.py'}:forward", {"w": w}, {"x": np.zeros((4, 6), "f4")})


X = {"x": np.random.default_rng(1).standard_normal((4, 6)).astype("f4")}


def test_it_gives_what_the_vm_gives_bit_for_bit(model: Program) -> None:
    ours, golden = (engine.run(model, X, RunOptions()) for engine in (ENGINE, VM))
    assert ours.complete
    assert ours.program_hash == golden.program_hash == model.hash
    assert ours.tensors.keys() == golden.tensors.keys()
    for name, value in golden.tensors.items():
        assert np.asarray(value).tobytes() == np.asarray(ours.tensors[name]).tobytes(), name
    for name, value in golden.outputs.items():
        assert np.asarray(value).dtype == ours.outputs[name].dtype
        assert np.asarray(value).tobytes() == ours.outputs[name].tobytes()
    assert ours.meta["stdout"] == golden.meta["stdout"] != ""


def test_it_runs_what_a_pipeline_leaves_and_says_what_was_fused(model: Program) -> None:
    trace = ENGINE.run(model, X, RunOptions(lowering=LoweringOptions(pipeline="raise")))
    assert "p" in trace.tensors
    assert "div.0" not in trace.tensors
    plain = ENGINE.run(model, X, RunOptions())
    np.testing.assert_allclose(trace.outputs["p"], plain.outputs["p"], rtol=1e-5)
    assert trace.program_hash == plain.program_hash
    assert trace.meta["composites"].keys() == {"p"}
    assert ENGINE.run(model, X, RunOptions(lowering=LoweringOptions(passes="cse,dce"))).complete


def test_without_tensors_values_go_with_their_last_use(model: Program) -> None:
    outputs, tensors = interpret(model, X, keep=False, echo=lambda *_: None)
    assert not tensors
    kept, _ = interpret(model, X, echo=lambda *_: None)
    assert all(np.array_equal(outputs[n], kept[n]) for n in kept)


def test_what_is_missing_is_named(model: Program) -> None:
    with pytest.raises(ModelError, match='no input "x"'):
        interpret(model, {})


def test_it_is_registered() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["entry-points"][GROUP]["interp"] == "fleet.engines.interp:ENGINE"
    assert project["scripts"]["fleet-opt"] == "fleet.cli.opt:main"
