"""Models: cuts keep what they compute, sizes follow, and a model that fails on the functional model becomes one operation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from faulty import wrong

from fleet.cosim.models.bundle_runs import renew_model_bundle, run_model_bundle
from fleet.cosim.models.loaded import load_model
from fleet.cosim.models.model_bundle import ModelBundle, load_model_bundle, save_model_bundle
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE
from fleet.errors import ModelError
from fleet.ir.dialect import op_id
from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.shrink.judge import judge
from fleet.verify.shrink.model import shrink_model, stream_of
from fleet.verify.shrink.model_cuts import CutModel, beginnings, resized, some_operations

SOURCE = """
import numpy as np

def forward(x: "float32[N, 64]", w1: "float32[64, 96]", b1: "float32[96]", w2: "float32[96, 32]"):
    h = np.maximum(x @ w1 + b1, 0)
    return h @ w2
"""
OPTIONS = CosimOptions("m.py:forward", DataProvenance("random", 6, None, None, None), "hbm_small")


@pytest.fixture
def model(tmp_path: Path) -> CutModel:
    (tmp_path / "m.py").write_text(SOURCE)
    loaded = load_model(f"{tmp_path / 'm.py'}:forward", None, None, 3, 6)
    return CutModel(loaded.program, loaded.inputs)


def values(model: CutModel) -> dict[str, np.ndarray]:
    return ENGINE.run(model.program, model.inputs, RunOptions()).tensors


def test_a_cut_computes_what_the_whole_computed(model: CutModel) -> None:
    golden = values(model)
    names = [op_id(op) for op in model.program.operations()]
    for last in (n for n in names if n in golden):
        counts: list[int] = []
        for kept in beginnings(model.program, [last]):
            cut = some_operations(model, kept, golden, last)
            assert cut is not None
            cut.program.module.verify()
            counts.append(sum(1 for _ in cut.program.operations()))
            assert np.array_equal(values(cut)[last], golden[last])
            assert cut.program.outputs == (last,)
            assert set(cut.inputs) == {a.name for a in cut.program.inputs}
        assert counts == sorted(counts)
        assert counts[0] <= 2, "the operation, and a number that it takes"


def test_sizes_follow_through_the_program(model: CutModel) -> None:
    small = resized(model, 96, 5, first=False)
    assert small is not None
    assert small.program.weights["w1"].shape == (64, 5)
    x, w1, b1, w2 = (model.inputs["x"], *(np.asarray(model.program.weights[n]) for n in ("w1", "b1", "w2")))
    expected = np.maximum(x @ w1[:, :5] + b1[:5], 0) @ w2[:5]
    (found,) = ENGINE.run(small.program, small.inputs, RunOptions()).outputs.values()
    assert np.allclose(found, expected, rtol=1e-5)
    one = resized(model, 6, 1, first=True)
    assert one is not None
    assert one.inputs["x"].shape == (1, 64)


def test_a_wrong_operation_is_left_alone_and_its_stream_fails_too(
    model: CutModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Functional model against hardware; the first product with bias is wrong where it is large."""
    wrong(monkeypatch, "hbm_small", "mvm_bn", lambda words: words.__ixor__(((words & 0x7FFF) > 0x3C00).astype("<u2")))
    found = shrink_model(model, ("vm", "iss", "rtl"), OPTIONS, seconds=60)
    assert str(found.signature) == "rtl-vs-iss: commit at mvm_bn, values"
    assert found.after.operations < found.before.operations
    assert "w2" not in found.model.program.weights, "what comes after is gone"
    assert found.model.inputs["x"].shape[0] == 1, "one row is enough"
    case = stream_of(found.model, OPTIONS)
    assert case is not None
    with StreamRunner("hbm_small") as runner:
        assert judge(runner, case, Setting()).signature == found.signature
    bundle = ModelBundle("m", found.engines, "hbm_small", "ideal", 0, {}, (), (), (), "", "diverges", found.signature, "a test")
    path = save_model_bundle(tmp_path / "bundles" / "m", bundle, found.model.program, found.model.inputs)
    assert not run_model_bundle(path)
    loaded = load_model(str(path), None, None, 0, None)
    assert loaded.program.outputs == found.model.program.outputs
    monkeypatch.undo()
    assert "expected to fail" in run_model_bundle(path), "mended"
    assert "expected to fail" in renew_model_bundle(path)


def test_a_model_that_passes_is_refused(model: CutModel) -> None:
    with pytest.raises(ModelError, match="does not fail"):
        shrink_model(model, ("vm", "cpython"), OPTIONS)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda p: (p.parent / "model.mlir").unlink(), "the IR cannot be read"),
        (lambda p: (p.parent / "model.mlir").write_text("module {"), "not IR of this project"),
        (lambda p: p.write_text(p.read_text().replace('"weights": [', '"weights": ["other",')), "is missing"),
        (lambda p: p.write_text(p.read_text().replace('"kind": "model"', '"kind": "x"')), "model has kind 'x'"),
        (lambda p: p.write_text("{"), "not JSON"),
    ],
)
def test_damaged_models_are_refused(model: CutModel, tmp_path: Path, edit, words: str) -> None:
    bundle = ModelBundle("m", ("vm",), None, "ideal", 0, {}, (), (), (), "", "passes", None, "")
    path = save_model_bundle(tmp_path / "b", bundle, model.program, model.inputs)
    again, program, inputs = load_model_bundle(path)
    assert (again.description_hash, program.outputs) == ("", model.program.outputs)
    assert np.array_equal(inputs["x"], model.inputs["x"])
    edit(path)
    with pytest.raises(ModelError, match=words):
        load_model_bundle(path)


def test_nothing_of_a_bundle_is_executed(model: CutModel, tmp_path: Path) -> None:
    """The IR is text: what looks like Python in it is not run."""
    bundle = ModelBundle("m", ("vm",), None, "ideal", 0, {}, (), (), (), "", "passes", None, "")
    path = save_model_bundle(tmp_path / "b", bundle, model.program, model.inputs)
    (path.parent / "model.mlir").write_text("import os; os.abort()")
    with pytest.raises(ModelError):
        load_model_bundle(path)
