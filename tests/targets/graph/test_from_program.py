"""Programs as graphs: built and run they give what the other compiler's stream gives, and what has no operator is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.cosim.models.loaded import load_model
from fleet.dlavm import backend, frontend, ne, transform
from fleet.engines.base import RunOptions
from fleet.engines.iss import ENGINE
from fleet.engines.vm import ENGINE as GOLDEN
from fleet.errors import ModelError
from fleet.isa.registry import find_device
from fleet.transforms.conversion.from_program import from_program
from fleet.transforms.conversion.to_program import to_program

ROOT = Path(__file__).resolve().parents[3]
BLOCKS = {"global": 0, "weight": "global", "runtime": "weight", "insts": "runtime", "hbm": 0, "hbm_cache": "hbm"}
CHIP = "hbm_small"
FEED_FORWARD = """
import numpy as np

def forward(x: "float32[6, 64]", g: "float32[64]", b: "float32[64]", w1: "float32[64, 128]", b1: "float32[128]",
            w2: "float32[128, 64]"):
    m = x.mean(axis=-1, keepdims=True)
    v = ((x - m) ** 2).mean(axis=-1, keepdims=True)
    n = (x - m) / np.sqrt(v + 1e-5) * g + b
    h = n @ w1 + b1
    h = h / (1 + np.exp(-h))
    y = h @ w2 + x
    e = np.exp(y - y.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True), np.argmax(y, axis=1)
"""


def forward(folder: Path, body: str, declared: str = 'x: "float32[4, 32]", w: "float32[32, 32]"') -> str:
    (folder / "m.py").write_text(f"import numpy as np\n\ndef forward({declared}):\n    {body}\n")
    return f"{folder / 'm.py'}:forward"


def test_the_digits_run_as_a_graph() -> None:
    spec, weights = f"{ROOT / 'examples/digits/model.py'}:forward", ROOT / "examples/digits/weights.npz"
    model = load_model(spec, weights, ROOT / "examples/digits/test.npz", 0, 8)
    typed = transform.infer_type(frontend.from_numpy(spec, CHIP, weights=weights), CHIP)
    fused = transform.FusedOps().visit(typed)
    module = backend.build(fused, BLOCKS, "digits", device=find_device(CHIP)[1])
    (x,) = model.inputs.values()
    found = module.run({"x": x[None]})
    expected = ENGINE.run(model.program, model.inputs, RunOptions(device=CHIP))
    assert len(expected.commits) == len(module.calls())
    device_logits = expected.tensors["logits"]
    assert np.array_equal(found["output0"][0].astype(np.float16), device_logits.astype(np.float16))
    assert np.array_equal(found["output1"][0], expected.outputs["digit"])


def test_norms_activations_and_softmax_are_operators_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(FEED_FORWARD)
    model = load_model(f"{tmp_path / 'm.py'}:forward", None, None, 0, None)
    weights = tmp_path / "w.npz"
    np.savez(weights, **{n: np.asarray(w) for n, w in model.program.weights.items()})
    graph = frontend.from_numpy(f"{tmp_path / 'm.py'}:forward", CHIP, weights=weights)
    step = to_program(transform.infer_type(graph, CHIP), 6, 0, masked=False)
    back = GOLDEN.run(step.program, model.inputs, RunOptions()).outputs
    golden = GOLDEN.run(model.program, model.inputs, RunOptions()).outputs
    (found, index), (expected, place) = back.values(), golden.values()
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert np.array_equal(index, place)


def test_onnx_and_a_dimension_that_a_step_decides(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    weight = onnx.numpy_helper.from_array(np.eye(32, dtype=np.float32), "w")
    info = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1, 4, 32]) for n in ("x", "y")]
    nodes = [onnx.helper.make_node("MatMul", ["x", "w"], ["h"]), onnx.helper.make_node("Relu", ["h"], ["y"])]
    made = onnx.helper.make_graph(nodes, "g", info[:1], info[1:], [weight])
    onnx.save(onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    token = ne.Var("token", max_data=64)
    graph = transform.infer_type(frontend.from_onnx(tmp_path / "m.onnx", token=token), CHIP)
    module = backend.build(transform.FusedOps().visit(graph), BLOCKS, "relu", device=find_device(CHIP)[1])
    for tokens in (1, 5):
        x = np.linspace(-1, 1, tokens * 32, dtype=np.float16).reshape(1, tokens, 32)
        (found,) = module.run({"x": x}, token=tokens).values()
        assert np.allclose(found, np.maximum(x, 0), atol=1e-2)


def test_free_dimensions_of_onnx_are_sizes_of_the_graph(tmp_path: Path) -> None:
    """Batch times length rows: one plan for the largest, and every step as its own program computes it."""
    onnx = pytest.importorskip("onnx")
    rng = np.random.default_rng(3)
    arrays = {n: rng.standard_normal(s).astype(np.float32) / 8 for n, s in {"w1": (32, 64), "b1": (64,), "w2": (64, 32)}.items()}
    calls = (("MatMul", "x w1", "a"), ("Add", "a b1", "h"), ("Relu", "h", "r"), ("MatMul", "r w2", "p"), ("Add", "p x", "y"))
    nodes = [onnx.helper.make_node(kind, taken.split(), [made]) for kind, taken, made in calls]
    info = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["batch", "length", 32]) for n in ("x", "y")]
    weights = [onnx.numpy_helper.from_array(a, n) for n, a in arrays.items()]
    made = onnx.helper.make_graph(nodes, "g", info[:1], info[1:], weights)
    onnx.save(onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    batch, length = ne.Var("batch", max_data=4), ne.Var("length", max_data=10)
    graph = transform.infer_type(frontend.from_onnx(tmp_path / "m.onnx", CHIP, dims=[batch, length]), CHIP)
    module = backend.build(transform.FusedOps().visit(graph), BLOCKS, "mlp", device=find_device(CHIP)[1])
    assert module.dims == {"batch": 4, "length": 10}
    assert "int batch, int length" in module.get_source()
    for rows, columns in ((1, 1), (2, 3), (4, 10)):
        x = rng.standard_normal((rows, columns, 32)).astype(np.float32)
        (found,) = module.run({"x": x.reshape(1, -1, 32)}, batch=rows, length=columns).values()
        np.savez(tmp_path / "x.npz", x=x)
        model = load_model(str(tmp_path / "m.onnx"), None, tmp_path / "x.npz", 0, None)
        (expected,) = ENGINE.run(model.program, model.inputs, RunOptions(device=CHIP)).outputs.values()
        assert np.array_equal(found.reshape(expected.shape), expected.astype(np.float16))
    module.reset()
    program = load_model(str(tmp_path / "m.onnx"), None, None, 0, None, ["batch", "length"]).program
    with pytest.raises(ModelError, match="dimension 'length' of input 'x' is unknown; name it in dims"):
        from_program(program, dims=[batch])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return np.sort(x @ w)", r"operation \S+: a graph has no operator for"),
        ("return (x @ w) @ x.T", r"operation \S+: "),
        ("return np.argmax(x @ w, axis=0)", "along axis 0, a graph has the last one alone"),
        ("return np.maximum(x @ w, 1)", "a maximum of other numbers than 0"),
        ("return (x @ w).reshape(8, 16)", r"a reshape of \[4, 32\] to \[8, 16\]: channels stay channels in a graph"),
        ("y = x @ w\n    return y + y[:1]", r"operation \S+: "),
        ("return 3 - x @ w", "its operands are neither of one shape nor a tensor and one number a channel"),
    ],
)
def test_what_no_operator_computes_is_named(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        frontend.from_numpy(forward(tmp_path, body), CHIP)
    assert "m.py:" in str(caught.value)
