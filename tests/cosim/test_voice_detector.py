"""A voice detector in ONNX, made as they are exported: a short-time Fourier transform by convolution, its magnitude by Sqrt,
convolutions, all of it in the branches of an If. onnxruntime shows nothing of what is inside a branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.cosim.result import CosimResult
from fleet.engines.onnxruntime.session import OnnxRuntimeSession

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402

FRAME, HOP, BINS, SAMPLES = 32, 16, 17, 256
FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def branch(name: str, reflections: int) -> list[onnx.NodeProto]:
    """Signal [1, 1, SAMPLES] to probabilities [1, 8]; values are named after the branch.

    The reflections keep errors as they are, but bounds grow with each; from the division on no bound is finite.
    """
    node, at = helper.make_node, name.__add__
    steps, x = [], "signal"
    for n in range(reflections):
        steps += [node("MatMul", [x, "q"], [at(f"m{n}")]), node("Abs", [at(f"m{n}")], [at(f"a{n}")])]
        x = at(f"a{n}")
    return [
        *steps,
        node("Conv", [x, "basis"], [at("spectrum")], strides=[HOP]),
        node("Slice", [at("spectrum"), "zero", "bins", "one"], [at("re")]),
        node("Slice", [at("spectrum"), "bins", "both", "one"], [at("im")]),
        node("Mul", [at("re"), at("re")], [at("re2")]),
        node("Mul", [at("im"), at("im")], [at("im2")]),
        node("Add", [at("re2"), at("im2")], [at("power")]),
        node("Sqrt", [at("power")], [at("size")]),
        node("ReduceMax", [at("size")], [at("high")], axes=[1]),
        node("ReduceMin", [at("size")], [at("low")], axes=[1]),
        node("Sub", [at("high"), at("low")], [at("range")]),
        node("Div", [at("size"), at("range")], [at("level")]),
        node("Conv", [at("level"), at("kernel")], [at("features")], pads=[1, 1]),
        node("Relu", [at("features")], [at("positive")]),
        node("ReduceMean", [at("positive")], [at("mean")], axes=[2], keepdims=0),
        node("Sigmoid", [at("mean")], [at("p")]),
    ]


def detector(path: Path, *, loud: bool, reflections: int) -> None:
    """loud: the condition is computed of the signal; else it is the input "rate"."""
    rng = np.random.default_rng(0)
    angles = 2 * np.pi * np.outer(np.arange(BINS), np.arange(FRAME)) / FRAME
    basis = np.concatenate([np.cos(angles), -np.sin(angles)]) * np.hanning(FRAME)
    arrays = {
        "basis": basis.astype(np.float32)[:, None, :],
        "zero": np.array([0]), "bins": np.array([BINS]), "both": np.array([2 * BINS]),
        "one": np.array([1]), "q": np.linalg.qr(rng.normal(size=(SAMPLES, SAMPLES)))[0].astype(np.float32),
    }  # fmt: skip
    arrays |= {f"{name}kernel": (rng.normal(size=(8, BINS, 3)) * 0.2).astype(np.float32) for name in ("then", "else")}
    value = helper.make_tensor_value_info
    inputs = [value("signal", FLOAT, [1, 1, SAMPLES])]
    if loud:
        arrays["threshold"] = np.float32(0.1)
        nodes = [
            helper.make_node("Abs", ["signal"], ["strength"]),
            helper.make_node("ReduceMean", ["strength"], ["loudness"], keepdims=0),
            helper.make_node("Greater", ["loudness", "threshold"], ["condition"]),
        ]
    else:
        inputs.append(value("rate", INT64, []))
        arrays["wanted"] = np.int64(16000)
        nodes = [helper.make_node("Equal", ["rate", "wanted"], ["condition"])]
    graphs = {
        f"{name}_branch": helper.make_graph(branch(name, reflections), name, [], [value(f"{name}p", FLOAT, None)])
        for name in ("then", "else")
    }
    nodes.append(helper.make_node("If", ["condition"], ["p"], **graphs))
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "detector", inputs, [value("p", FLOAT, [1, 8])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def compared(folder: Path, *, loud: bool, taken: bool) -> tuple[int, CosimResult]:
    """Exit code and result of the golden against onnxruntime. taken: the condition holds."""
    detector(folder / "m.onnx", loud=loud, reflections=24)
    signal = np.random.default_rng(5).normal(size=(1, 1, SAMPLES)).astype(np.float32) * np.float32(1 if taken else 0.05)
    rate = {} if loud else {"rate": np.array(16000 if taken else 8000)}
    np.savez(folder / "x.npz", signal=signal, **rate)
    given = [str(folder / "m.onnx"), "--input", str(folder / "x.npz"), "--report", str(folder / "r")]
    code = main(["cosim", *given, "--engines", "vm,onnxruntime"])
    return code, CosimResult.load(folder / "r")


@pytest.mark.parametrize(("loud", "taken"), [(True, True), (False, False)])
def test_a_branch_without_a_finite_bound_is_held_to_higher_precision(tmp_path: Path, loud: bool, taken: bool) -> None:
    code, result = compared(tmp_path, loud=loud, taken=taken)
    assert (code, result.verdict) == (0, "pass"), result.reasons
    comparison = result.comparison("onnxruntime-vs-vm")
    assert comparison is not None
    (row,) = [row for row in comparison.operations if row.op == "p"]
    assert row.ways is not None
    assert row.ways.higher > 0
    assert row.ways.equal + row.ways.higher == 8


def test_a_wrong_probability_is_not_excused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = OnnxRuntimeSession.run

    def wrong(self: OnnxRuntimeSession, names: Sequence[str], inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        found = run(self, names, inputs)
        return {n: a * np.float32(1 + 1e-5) if n == "p" else a for n, a in found.items()}

    monkeypatch.setattr(OnnxRuntimeSession, "run", wrong)
    code, result = compared(tmp_path, loud=True, taken=True)
    assert (code, result.verdict) == (1, "fail")
