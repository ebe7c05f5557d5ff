"""Models as C++ programs on the simulated hardware: every instruction as the functional model has it, outputs as engine `iss`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from model_programs import model_program
from onnx import TensorProto, helper, numpy_helper
from onnx_models import encoder_layer

from fleet.compiler import Compiled
from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.iss import ENGINE
from fleet.ir.lowering_options import LoweringOptions

DIGITS = Path(__file__).resolve().parents[2] / "examples/digits"


def digits(_: Path) -> Compiled:
    spec = f"{DIGITS / 'model.py'}:forward"
    model = load_model(spec, DIGITS / "weights.npz", DIGITS / "test.npz", 0, 5)
    return Compiled(spec, model.program, model.inputs)


def digits_onnx(folder: Path) -> Compiled:
    source = digits(folder)
    source.write("onnx", folder / "digits.onnx")
    model = load_model(str(folder / "digits.onnx"), None, None, 0, None)
    return Compiled("digits.onnx", model.program, source.inputs)


def encoder(folder: Path) -> Compiled:
    """Of MiniLM's kind."""
    (folder / "layer.onnx").write_bytes(encoder_layer(6, 64, 2, 128).SerializeToString())
    model = load_model(str(folder / "layer.onnx"), None, None, 5, None)
    inputs = {**model.inputs, "mask": np.ones((1, 6), np.int64)} if "mask" in model.inputs else model.inputs
    return Compiled("layer.onnx", model.program, inputs)


def classifier(folder: Path) -> Compiled:
    """Convolution, pooling and top-k between what the device computes."""
    rng = np.random.default_rng(0)

    def weight(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array((rng.standard_normal(shape) / 8).astype(np.float32), name)

    def node(kind: str, taken: str, made: str, **attributes: Any) -> onnx.NodeProto:
        return helper.make_node(kind, taken.split(), made.split(), **attributes)

    nodes = [
        node("Conv", "image cw cb", "c", kernel_shape=[3, 3], pads=[1, 1, 1, 1]), node("Relu", "c", "r"),
        node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]), node("Flatten", "p", "f"),
        node("Gemm", "f w1 b1", "g"), node("HardSwish", "g", "h"), node("Gemm", "h w2 b2", "l"),
        node("Softmax", "l", "probabilities/out", axis=-1), node("TopK", "l k", "values best", axis=-1),
    ]  # fmt: skip
    three = numpy_helper.from_array(np.array([3], np.int64), "k")
    shapes = {"cw": (8, 1, 3, 3), "cb": (8,), "w1": (128, 64), "b1": (64,), "w2": (64, 10), "b2": (10,)}
    weights = [weight(name, *shape) for name, shape in shapes.items()]
    made = [("probabilities/out", TensorProto.FLOAT, [4, 10]), ("best", TensorProto.INT64, [4, 3])]
    graph = helper.make_graph(
        nodes, "classifier", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [4, 1, 8, 8])],
        [helper.make_tensor_value_info(*m) for m in made], [*weights, three],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "classifier.onnx")
    model = load_model(str(folder / "classifier.onnx"), None, None, 1, None)
    return Compiled("classifier.onnx", model.program, model.inputs)


LOOP = """import numpy as np


def forward(x: "float32[4, 64]", w: "float32[64, 64]", n: "int64"):
    x = np.maximum(x @ w, 0)
    i = 0
    while i < n:
        x = x * 0.75 + 0.125
        if x.sum() > 0:
            x = x - 0.25
        i = i + 1
    return x @ w
"""


def loop(folder: Path) -> Compiled:
    """A loop between what the device computes: the run decides its rounds, on the host."""
    (source := folder / "loop.py").write_text(LOOP)
    rng = np.random.default_rng(0)
    np.savez(folder / "w.npz", w=(rng.standard_normal((64, 64)) / 8).astype(np.float32))
    np.savez(folder / "x.npz", x=rng.standard_normal((4, 64)).astype(np.float32), n=np.array(3))
    model = load_model(f"{source}:forward", folder / "w.npz", folder / "x.npz", 0, None)
    return Compiled(f"{source}:forward", model.program, model.inputs)


@pytest.mark.parametrize(
    ("model", "device", "lowering", "memory"),
    [
        (digits, "hbm_small", {}, "ideal"),
        (digits, "hbm_small", {"issue": "aux", "load": "device"}, "stall"),
        (digits_onnx, "vgemm_small", {}, "ideal"),
        (encoder, "hbm_small", {}, "timed"),
        (classifier, "hbm_small", {"issue": "aux"}, "ideal"),
        (classifier, "vgemm_small", {"issue": "aux"}, "ideal"),
        (loop, "hbm_small", {}, "ideal"),
    ],
)
def test_a_model_as_a_program(
    model: Callable[[Path], Compiled], device: str, lowering: Mapping[str, Any], memory: str, tmp_path: Path
) -> None:
    compiled = model(tmp_path)
    program = model_program(compiled, device, tmp_path, lowering)
    assert program.missing == {}
    done, found = program.run(RunOptions(device=device, memory=memory), engine="rtl", check=True)
    trace = ENGINE.run(compiled.program, compiled.inputs, RunOptions(device=device, lowering=LoweringOptions.of(lowering)))
    assert (done.exit_code, done.summary.compared) == (0, len(trace.commits))
    assert len(trace.commits) > 0
    assert found.keys() == trace.outputs.keys()
    for name, expected in trace.outputs.items():
        assert (found[name].dtype, found[name].shape) == (expected.dtype, expected.shape)
        # The host's kernels and NumPy round exponentials in their own ways.
        assert np.allclose(found[name], expected, rtol=1e-6, atol=1e-7), name
