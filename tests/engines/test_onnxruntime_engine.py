"""Engine `onnxruntime`: files with their intermediate values, exports of everything else, each operation within its bound."""

from __future__ import annotations

import math
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
sys.path.insert(0, str(Path(__file__).parents[1] / "frontend/onnx"))
from onnx import helper
from onnx_models import digits, model, node

from fleet.compiler import compile_model
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.engines import onnxruntime as package
from fleet.engines.base import RunOptions
from fleet.engines.onnxruntime.engine import FUNCTION_ABSOLUTE, FUNCTION_ULP, OnnxRuntimeEngine
from fleet.engines.onnxruntime.session import OnnxRuntimeSession
from fleet.engines.registry import GROUP
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.errors import ComparisonFailure, DeviceError, FleetError
from fleet.frontend.onnx.load import load
from fleet.ir.program import Program
from fleet.llm.models import build_model
from fleet.llm.tiny import tiny_model
from fleet.targets.bytecode.erf import erf
from fleet.transforms.conversion.emitter import MASK
from fleet.transforms.conversion.to_program import mask_of, to_program

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
ROOT = Path(__file__).parents[2]
ENGINE = package.ENGINE


def compared(program: Program, inputs: dict[str, np.ndarray], engine: Any = ENGINE) -> CosimResult:
    data = DataProvenance("random", 1, None, None, None)
    return cosim(
        program, inputs, None, ["vm", "onnxruntime"], CosimOptions("m", data, engines={"vm": VM, "onnxruntime": engine})
    )  # fmt: skip


def saved(made: Any, folder: Path) -> str:
    path = folder / "m.onnx"
    path.write_bytes(made.SerializeToString())
    return str(path)


EXAMPLES = {
    "add_sample": ("examples/add_sample.py", None),
    "digits": ("examples/digits/model.py:forward", "examples/digits/weights.npz"),
    "conv_int8": ("examples/digits/conv_int8.py:forward", "examples/digits/conv_int8_weights.npz"),
    "mvm4096": ("examples/mvm4096/model.py:forward", None),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_operation_of_the_examples_is_within_its_bound(name: str) -> None:
    """Those of GPT-2, which take longer, are in sim/onnx."""
    spec, weights = EXAMPLES[name]
    compiled = compile_model(str(ROOT / spec), weights=str(ROOT / weights) if weights else None, batch=2)
    result = compared(compiled.program, dict(compiled.inputs))
    (comparison,) = result.comparisons
    assert comparison.name == "onnxruntime-vs-vm"
    assert result.verdict == "pass", result.reasons
    trace = ENGINE.run(compiled.program, compiled.inputs, RunOptions())
    golden = compiled.run("vm")
    assert trace.meta["model"] == "export"
    assert trace.tensors.keys() == golden.tensors.keys()
    assert trace.meta["stdout"] == golden.meta["stdout"]


def test_a_file_runs_itself_with_its_values_exposed(tmp_path: Path) -> None:
    x = np.random.default_rng(0).uniform(0, 16, (5, 64)).astype(np.float32)
    spec = saved(digits(), tmp_path)
    program = load(spec, {}, {"x": x})
    trace = ENGINE.run(program, {"x": x}, RunOptions())
    assert trace.meta["model"] == "file"
    assert {"layer1.MatMul", "layer2.Gemm", "layer3.Gemm"} <= trace.tensors.keys()
    assert trace.meta["fates"]["layer2.Gemm.matmul"] == "fused into layer2.Gemm"
    result = compared(program, {"x": x})
    assert result.verdict == "pass", result.reasons
    alone = ENGINE.run(program, {"x": x}, RunOptions(keep_tensors=False))
    assert not alone.tensors
    for name, array in alone.outputs.items():
        np.testing.assert_array_equal(array, trace.outputs[name])


def test_the_first_operation_that_differs_is_named(tmp_path: Path) -> None:
    """A file whose second layer has been changed since it was read: all before it agrees, and the divergence names it."""
    made = digits()
    spec = saved(made, tmp_path)
    x = np.random.default_rng(0).uniform(0, 16, (5, 64)).astype(np.float32)
    program = load(spec, {}, {"x": x})
    changed = next(n for n in made.graph.node if n.name == "layer2/Gemm")
    changed.attribute.append(helper.make_attribute("alpha", 1.01))
    Path(spec).write_bytes(made.SerializeToString())
    result = compared(program, {"x": x})
    assert result.verdict == "fail"
    assert result.divergence is not None
    assert result.divergence.ops == ("layer2.Gemm",)


def test_nodes_with_several_results_and_parts(tmp_path: Path) -> None:
    """What two outputs of one node share has no value of its own in the file."""
    rng = np.random.default_rng(1)
    weights = {
        "w": rng.standard_normal((1, 16, 3)).astype(np.float32),
        "r": rng.standard_normal((1, 16, 4)).astype(np.float32),
        "b": rng.standard_normal((1, 32)).astype(np.float32),
    }
    made = model(
        [
            node("LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], "lstm", hidden_size=4),
            node("Add", ["h", "c"], ["s"], "sum"),
            node("Softmax", ["y"], ["p"], "soft"),
            node("Split", ["p"], ["first", "rest"], "split", axis=0, num_outputs=2),
        ],
        {"x": ("float32", 5, 2, 3)},
        ["s", "first", "rest"],
        weights,
    )
    x = rng.standard_normal((5, 2, 3)).astype(np.float32)
    result = compared(load(saved(made, tmp_path), {}, {"x": x}), {"x": x})
    assert result.verdict == "pass", result.reasons
    assert {row.op for row in result.comparisons[0].operations} >= {"lstm", "sum", "soft"}


def test_inputs_that_decide_shapes_are_given_to_the_file(tmp_path: Path) -> None:
    made = model([node("Reshape", ["x", "shape"], ["y"], "turn"), node("Exp", ["y"], ["z"], "e")],
                 {"x": ("float32", 2, 6), "shape": ("int64", 2)}, ["z"])  # fmt: skip
    x = {"x": np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 6), "shape": np.asarray([3, 4])}
    program = load(saved(made, tmp_path), {}, x)
    assert program.bound.keys() == {"shape"}
    trace = ENGINE.run(program, {"x": x["x"]}, RunOptions())
    assert trace.outputs["z"].shape == (3, 4)


def test_operators_whose_kernels_are_coarse_pass_by_what_is_stated(tmp_path: Path) -> None:
    x = np.linspace(-30, 30, 4001, dtype=np.float32)
    names = ("Sigmoid", "Tanh", "Erf", "Exp", "Softplus", "Gelu", "Elu", "Sin")
    made = model([node(op, ["x"], [op.lower()], op) for op in names], {"x": ("float32", 4001)}, [op.lower() for op in names])
    result = compared(load(saved(made, tmp_path), {}, {"x": x}), {"x": x})
    assert result.verdict == "pass", result.reasons


def test_float16_is_computed_in_float32_without_the_casts_between(tmp_path: Path) -> None:
    """Values that are shown are rounded copies of what the next operator takes; the bounds know it."""
    path = tmp_path / "m.py"
    lines = ["    h = np.maximum(x @ w + b, 0)", "    m = h.mean(axis=-1, keepdims=True)", "    y = (h - m) * 0.5 + h / 3"]
    path.write_text(
        "import numpy as np\n\n\n"
        'def f(x: "float16[4, 64]", w: "float16[64, 32]", b: "float16[32]"):\n' + "\n".join(lines) + "\n    return y - np.tanh(y)\n"
    )
    compiled = compile_model(f"{path}:f")
    result = compared(compiled.program, dict(compiled.inputs))
    assert result.verdict == "pass", result.reasons


@pytest.mark.parametrize("name", ["Exp", "Log", "Tanh", "Erf", "Sin", "Cos", "Sigmoid"])
def test_the_stated_errors_hold(name: str) -> None:
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.integers(0, 1 << 32, 1 << 19, np.uint32).view(np.float32), rng.uniform(-30, 30, 1 << 17)])
    x = x.astype(np.float32)
    x = np.abs(x[np.isfinite(x)]) if name == "Log" else x[np.isfinite(x)]
    if name in ("Sin", "Cos"):
        x = x[np.abs(x) < 1e4]
    made = model([node(name, ["x"], ["y"])], {"x": ("float32", x.size)}, ["y"])
    found = OnnxRuntimeSession(made.SerializeToString()).run(["y"], {"x": x})["y"].astype(np.float64)
    functions = {"Erf": erf, "Sigmoid": lambda v: 1 / (1 + np.exp(-v))}
    with np.errstate(all="ignore"):
        exact = functions.get(name, getattr(np, name.lower(), None))(x.astype(np.float64))
        error = np.abs(found - exact)
    normal = np.isfinite(exact.astype(np.float32)) & (np.abs(exact) > 1e-37)
    if name == "Sigmoid":
        assert error.max() <= FUNCTION_ABSOLUTE["sigmoid"]
    else:
        ulps = error[normal] / np.spacing(np.abs(exact[normal].astype(np.float32)))
        assert ulps.max() <= FUNCTION_ULP.get(name.lower(), 4.0)


def test_normalisations_that_it_computes_in_its_own_way(tmp_path: Path) -> None:
    """x * s + (b - mean * s), whose terms are large where the mean is."""
    rng = np.random.default_rng(6)
    weights = {
        "s": rng.uniform(0.5, 2, 8), "b": rng.standard_normal(8), "m": rng.uniform(90, 110, 8), "v": rng.uniform(0.5, 2, 8),
    }  # fmt: skip
    made = model(
        [
            node("BatchNormalization", ["x", "s", "b", "m", "v"], ["y"], "batch"),
            node("InstanceNormalization", ["y", "s", "b"], ["z"], "instance"),
        ],
        {"x": ("float32", 2, 8, 9, 9)},
        ["z"],
        {n: w.astype(np.float32) for n, w in weights.items()},
    )
    x = (rng.standard_normal((2, 8, 9, 9)) + 100).astype(np.float32)
    program = load(saved(made, tmp_path), {}, {"x": x})
    result = compared(program, {"x": x})
    assert result.verdict == "pass", result.reasons
    stated = ENGINE.run(program, {"x": x}, RunOptions()).meta["function_absolute"]
    assert 1e-5 < stated["batch"] < 2e-3


def test_optimisations_are_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    x = np.random.default_rng(0).uniform(0, 16, (5, 64)).astype(np.float32)
    program = load(saved(digits(), tmp_path), {}, {"x": x})
    plain = ENGINE.run(program, {"x": x}, RunOptions()).outputs
    best = OnnxRuntimeEngine("all").run(program, {"x": x}, RunOptions(keep_tensors=False)).outputs
    for name, array in plain.items():
        np.testing.assert_allclose(best[name], array, rtol=1e-5, atol=1e-5)
    monkeypatch.setenv("FLEET_ONNXRUNTIME_OPTIMISATIONS", "most")
    with pytest.raises(FleetError, match="levels are none, basic, extended, all"):
        ENGINE.run(program, {"x": x}, RunOptions())


def test_what_onnxruntime_refuses_or_fails_on_is_one_line(tmp_path: Path) -> None:
    made = model([node("Add", ["x", "x"], ["y"])], {"x": ("float32", 2)}, ["y"], opset=27)
    x = {"x": np.zeros(2, np.float32)}
    with pytest.raises(DeviceError, match=r"m\.onnx: onnxruntime does not take the model") as caught:
        ENGINE.run(load(saved(made, tmp_path), {}, x), x, RunOptions())
    assert "\n" not in str(caught.value)
    taken = model([node("Gather", ["x", "i"], ["y"])], {"x": ("float32", 2), "i": ("int64", 3)}, ["y"])
    given = {**x, "i": np.asarray([0, 1, 7])}
    with pytest.raises(ComparisonFailure, match="fails on these values"):
        ENGINE.run(load(saved(taken, tmp_path), {}, given), given, RunOptions())


def test_without_the_packages_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ENGINE.available() is None
    monkeypatch.setattr("fleet.engines.onnxruntime.engine.find_spec", lambda _name: None)
    assert ENGINE.available() == "the package onnxruntime is missing: pip install 'fleet-cosim[onnx]'"


def test_knowing_the_engine_needs_none_of_the_packages() -> None:
    """Every co-simulation loads all engines to list them."""
    code = "import sys; from fleet.engines.onnxruntime import ENGINE; print(sorted({'onnx', 'onnxruntime'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_is_registered() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"][GROUP]["onnxruntime"] == "fleet.engines.onnxruntime:ENGINE"


class Wrong:
    """The engine with one value of one operation changed."""

    name, target = "onnxruntime", "onnx"

    def available(self) -> None:
        return None

    def run(self, program: Program, inputs: Any, options: RunOptions) -> Trace:
        trace = ENGINE.run(program, inputs, options)
        trace.tensors["h1"] = np.array(trace.tensors["h1"])
        trace.tensors["h1"].flat[np.argmax(trace.tensors["h1"])] *= 1 + 2**-12
        return trace


def test_one_wrong_element_is_found() -> None:
    spec, weights = EXAMPLES["digits"]
    compiled = compile_model(str(ROOT / spec), weights=str(ROOT / weights), batch=2)
    result = compared(compiled.program, dict(compiled.inputs), Wrong())
    assert result.verdict == "fail"
    assert result.divergence is not None
    assert result.divergence.ops == ("h1",)
    assert math.isfinite(float(result.comparisons[0].elements))


@pytest.mark.parametrize("past", [0, 3])
def test_a_graph_of_the_accelerators_operators(past: int) -> None:
    """A step of the tiny language model, a block with cache, rotary tables and mask, as the graph builder gives it."""
    weights = tiny_model()
    step = to_program(build_model(replace(weights.config, blocks=1), weights).root, 4, past)
    rng = np.random.default_rng(3)
    inputs = {a.name: (rng.standard_normal(a.shape) * 0.05).astype(a.dtype) for a in step.program.inputs}
    inputs[MASK] = mask_of(4, past, past)
    for table in step.tables:
        inputs[table.cos], inputs[table.sin] = table.cosines[past : past + 4], table.sines[past : past + 4]
    result = compared(step.program, inputs)
    assert result.verdict == "pass", result.reasons
    assert {row.op for row in result.comparisons[0].operations} >= set(step.nodes) - {""}


def test_a_part_of_a_file_runs_as_that_part(tmp_path: Path) -> None:
    """Between two values of the file; what a branch reads from outside it belongs to the part."""
    branch = helper.make_graph([node("Add", ["b", "c"], ["t"])], "then", [], [helper.make_empty_tensor_value_info("t")])
    other = helper.make_graph([node("Mul", ["b", "b"], ["e"])], "else", [], [helper.make_empty_tensor_value_info("e")])
    made = model(
        [
            node("Exp", ["x"], ["a"], "first"),
            node("Tanh", ["a"], ["b"], "second"),
            node("Neg", ["a"], ["c"], "aside"),
            node("If", ["yes"], ["d"], "choice", then_branch=branch, else_branch=other),
            node("Sqrt", ["d"], ["y"], "last"),
        ],
        {"x": ("float32", 3)},
        ["y"],
        {"yes": np.asarray(True)},
    )
    spec = saved(made, tmp_path)
    a = np.linspace(0.5, 2, 3, dtype=np.float32)
    part = load(f"{spec}?from=a&to=d", {}, {"a": a})
    assert part.outputs == ("d",)
    trace = ENGINE.run(part, {"a": a}, RunOptions())
    assert trace.meta["model"] == "file"
    np.testing.assert_allclose(trace.outputs["d"], np.tanh(a) - a, rtol=1e-6)
    result = compared(part, {"a": a})
    assert result.verdict == "pass", result.reasons
