"""Exported models as a whole: names, files, and the way back through the front end."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
sys.path.insert(0, str(Path(__file__).parents[1] / "mlir"))
import onnx
from mlir_models import model
from onnx_out import exported, session
from xdsl.dialects.builtin import i64

from fleet.cli.main import main
from fleet.compiler import compile_model
from fleet.engines.base import RunOptions
from fleet.engines.onnxruntime import ENGINE
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError, FleetError, SetupError
from fleet.frontend.onnx.load import load, program_of
from fleet.frontend.onnx.reader import read_model
from fleet.ir.program import Program
from fleet.targets.onnx import write
from fleet.targets.onnx.export import IR_VERSION, OPSET, export_onnx
from fleet.targets.onnx.write import check, model_bytes, save_onnx

ROOT = Path(__file__).parents[3]
DIGITS = str(ROOT / "examples/digits/model.py:forward")
WEIGHTS = str(ROOT / "examples/digits/weights.npz")


def returned(program: Program, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return VM.run(program, inputs, RunOptions()).outputs


def again(program: Program, inputs: dict[str, np.ndarray]) -> Program:
    return program_of(read_model(model_bytes(export_onnx(program)), "again.onnx"), inputs)


def test_names_places_and_opset_are_kept() -> None:
    compiled = compile_model(DIGITS, weights=WEIGHTS)
    export = export_onnx(compiled.program)
    graph = export.model.graph
    assert (export.model.opset_import[0].version, export.model.ir_version) == (OPSET, IR_VERSION)
    nodes = {n.name: n for n in graph.node}
    assert {"matmul.0", "h1", "h2", "logits", "digit"} <= nodes.keys()
    assert list(nodes["h1"].output) == ["h1"]
    assert nodes["h1"].doc_string.startswith("model.py:")
    assert [t.name for t in graph.initializer] == ["w1", "b1", "w2", "b2", "w3", "b3"]
    assert [i.name for i in graph.input] == ["x"]
    assert [o.name for o in graph.output] == ["logits", "digit"]
    assert export.tensors["logits"] == "logits"


def test_the_newest_opset_that_onnxruntime_takes() -> None:
    for opset, taken in ((OPSET, True), (OPSET + 1, False)):
        made = export_onnx(model({"x": np.ones(2)}, lambda m, x: m("exp", x))).model
        made.opset_import[0].version = opset
        if taken:
            assert session(made.SerializeToString())
        else:
            with pytest.raises(Exception, match="Opset"):
                session(made.SerializeToString())


@pytest.mark.parametrize("spec", ["examples/digits/model.py:forward", "examples/digits/conv_int8.py:forward"])
def test_read_back_it_gives_the_same_bits(spec: str) -> None:
    weights = ROOT / "examples/digits" / ("weights.npz" if "model" in spec else "conv_int8_weights.npz")
    compiled = compile_model(str(ROOT / spec), weights=str(weights), batch=4)
    inputs = dict(compiled.inputs)
    want = returned(compiled.program, inputs)
    got = returned(again(compiled.program, inputs), inputs)
    assert got.keys() == want.keys()
    for name, array in want.items():
        np.testing.assert_array_equal(got[name], array)


def test_composites_come_back_as_themselves() -> None:
    x = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
    gamma, beta = np.linspace(0.5, 2, 8, dtype=np.float32), np.linspace(-1, 1, 8, dtype=np.float32)

    def body(m: Any, a: Any, g: Any, b: Any) -> Any:
        y = m("layer_norm", a, g, b, eps=1e-5)
        return m("softmax", m("gelu", m("sigmoid", y), approximate="erf"), axis=1)

    program = model({"x": x, "g": gamma, "b": beta}, body, weights=("g", "b"))
    found = again(program, {"x": x})
    kinds = [op.name for op in found.operations()]
    assert kinds == ["fleet.layer_norm", "fleet.sigmoid", "fleet.gelu", "fleet.softmax"]
    np.testing.assert_array_equal(*(returned(p, {"x": x})["out0"] for p in (program, found)))


def test_values_returned_twice_inputs_and_constants() -> None:
    x = np.arange(3.0)

    def body(m: Any, a: Any) -> Any:
        y = m("neg", a)
        return [y, y, a, m.constant(7, i64)]

    program = model({"x": x}, body)
    found = exported(program, {"x": x})
    np.testing.assert_array_equal(found["out0"], -x)
    np.testing.assert_array_equal(found["out1"], -x)
    np.testing.assert_array_equal(found["out2"], x)
    assert (found["out3"], found["out3"].dtype) == (7, np.int64)


def test_unknown_dimensions_keep_their_names(tmp_path: Path) -> None:
    compiled = compile_model(DIGITS, weights=WEIGHTS, dynamic=["N"])
    path = tmp_path / "digits.onnx"
    compiled.write("onnx", path)
    graph = onnx.load(path).graph
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "N"
    ran = session(path.read_bytes())
    for rows in (1, 5):
        x = np.random.default_rng(rows).uniform(0, 16, (rows, 64)).astype(np.float32)
        want = compiled.run("vm", {"x": x}).outputs
        got = ran.run(["digit"], {"x": x})[0]
        np.testing.assert_array_equal(got, want["digit"])


def test_weights_in_a_file_of_their_own(tmp_path: Path) -> None:
    compiled = compile_model(DIGITS, weights=WEIGHTS, batch=3)
    path, data = save_onnx(export_onnx(compiled.program), tmp_path / "d.onnx", external=True)
    assert path.stat().st_size < 4000
    assert data.stat().st_size >= sum(w.nbytes for w in compiled.program.weights.values())
    inputs = dict(compiled.inputs)
    found = load(str(path), {}, inputs)
    for name, array in returned(compiled.program, inputs).items():
        np.testing.assert_array_equal(returned(found, inputs)[name], array)
    assert ENGINE.run(found, inputs, RunOptions()).meta["model"] == "file"


def test_large_weights_go_beside_the_model_by_themselves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(write, "EXTERNAL_FROM", 1000)
    export = export_onnx(compile_model(DIGITS, weights=WEIGHTS).program)
    assert len(save_onnx(export, tmp_path / "d.onnx")) == 2
    with pytest.raises(DeviceError, match="external data"):
        model_bytes(export)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["compile", "--emit", "onnx", DIGITS, "--weights", WEIGHTS]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "# initializer w1: float32[64, 128]" in text
    assert "ArgMax" in text
    assert main([*arguments, "-o", str(tmp_path / "d.onnx"), "--external-data"]) == 0
    assert {p.name for p in tmp_path.iterdir()} == {"d.onnx", "d.onnx.data"}
    assert main([*arguments, "--external-data"]) == 2
    assert "only an ONNX file has external data" in capsys.readouterr().err
    monkeypatch.setattr(write, "find_spec", lambda _name: None)
    assert main(arguments) == 2
    assert "pip install 'fleet-cosim[onnx]'" in capsys.readouterr().err.splitlines()[-1]
    with pytest.raises(SetupError):
        write.needs("onnx")


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "blocked").write_text("")
    with pytest.raises(FleetError, match="cannot be written"):
        save_onnx(export_onnx(compile_model(DIGITS, weights=WEIGHTS).program), tmp_path / "blocked/d.onnx")


def test_the_checker_is_asked() -> None:
    export = export_onnx(model({"x": np.ones((2, 3))}, lambda m, a: m("transpose", a, permutation=[1, 0])))
    export.model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 5
    with pytest.raises(DeviceError, match="the checker refuses the model"):
        check(export.model)


def test_the_table_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.targets.onnx.listing import main as listing

    monkeypatch.chdir(ROOT)
    assert listing(["--check"]) == 0
