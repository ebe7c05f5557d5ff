"""Whole models: digits beside its NumPy source, and graphs that node tests leave out beside onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_models import ROOT, digits, model, node, program, reference, run

from fleet.cli.main import main
from fleet.errors import ModelError
from fleet.frontend.onnx.load import load
from fleet.frontend.source import load as load_source
from fleet.ir.dialect import ConstantOp, kind_of, op_id
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.vm import VM

RNG = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def agree(made: onnx.ModelProto, inputs: dict[str, np.ndarray], rtol: float = 2e-5, atol: float = 2e-6) -> None:
    for got, want in zip(run(made, inputs), reference(made, inputs), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def test_digits_is_what_its_source_is(tmp_path: Path) -> None:
    path = tmp_path / "digits.onnx"
    path.write_bytes(digits().SerializeToString())
    with np.load(ROOT / "examples/digits/weights.npz") as w, np.load(ROOT / "examples/digits/test.npz") as t:
        weights, inputs = dict(w), {"x": t["x"]}
    found = load(str(path), {}, inputs)
    source = load_source(f"{ROOT}/examples/digits/model.py:forward", weights, inputs)
    ours, theirs = (VM(ByteCodeConverter(p).convert()).run(inputs) for p in (found, source))
    np.testing.assert_array_equal(ours["digit"], theirs["digit"])
    np.testing.assert_allclose(ours["logits"], theirs["logits"], rtol=1e-5, atol=1e-5)
    assert found.symbols == {"N": len(inputs["x"])}
    names = {op_id(op): op for op in found.operations() if not isinstance(op, ConstantOp)}
    assert list(names) == [
        *("layer1.MatMul", "layer1.Add", "layer1.Relu", "layer2.Gemm.matmul", "layer2.Gemm", "layer2.Add", "layer2.Relu"),
        *("layer3.Gemm.matmul", "layer3.Gemm", "ArgMax"),
    ]
    assert names["layer2.Gemm"].properties["at"].data.endswith("digits.onnx:node 3 (Gemm layer2/Gemm)")
    assert names["layer2.Gemm"].properties["var"].data == "g2"
    assert set(found.weights) == set(weights)


def test_the_program_is_the_same_every_time() -> None:
    x = {"x": floats(2, 64)}
    assert program(digits(), x).hash == program(digits(), x).hash


def test_an_input_that_decides_a_shape_is_bound() -> None:
    nodes = [node("Shape", ["x"], ["s"]), node("Concat", ["s", "more"], ["t"], axis=0), node("Expand", ["x", "t2"], ["y"])]
    nodes.insert(2, node("Add", ["t", "zero"], ["t2"]))
    made = model(nodes, {"x": (np.float32, "N", 3), "more": (np.int64, 0)}, ["y"], {"zero": np.array([0])})
    del made.graph.input[1]
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(0, np.int64), "more"))
    assert [a.name for a in program(made, {"x": floats(2, 3)}).inputs] == ["x"]
    tiled = model([node("Tile", ["x", "r"], ["y"])], {"x": (np.float32, 2), "r": (np.int64, 1)}, ["y"])
    inputs = {"x": floats(2), "r": np.array([3])}
    found = program(tiled, inputs)
    assert [a.name for a in found.inputs] == ["x"]
    agree(tiled, inputs)


def test_a_small_convolutional_network() -> None:
    weights = {
        "w1": floats(8, 3, 3, 3), "b1": floats(8), "scale": floats(8), "shift": floats(8), "mean": floats(8),
        "variance": np.abs(floats(8)) + 0.5, "depth": floats(8, 1, 3, 3), "w2": floats(4, 8, 1, 1), "up": floats(4, 2, 2, 2),
    }  # fmt: skip
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"]),
        node("HardSwish", ["n1"], ["a1"]),
        node("Conv", ["a1", "depth"], ["c2"], group=8, auto_pad="SAME_UPPER", dilations=[1, 1]),
        node("MaxPool", ["c2"], ["p1"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1),
        node("AveragePool", ["c2"], ["p2"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1),
        node("Add", ["p1", "p2"], ["s"]),
        node("Conv", ["s", "w2"], ["c3"]),
        node("ConvTranspose", ["c3", "up"], ["c4"], strides=[2, 2], output_padding=[1, 0]),
        node("GlobalAveragePool", ["c4"], ["g"]),
        node("Flatten", ["g"], ["y"]),
    ]
    made = model(nodes, {"x": (np.float32, "N", 3, 17, 20)}, ["y", "c4"], weights)
    agree(made, {"x": floats(2, 3, 17, 20)}, 2e-4, 2e-5)


def test_an_encoder_layer_as_exporters_write_it() -> None:
    """Shapes computed by Shape, Gather, Unsqueeze and Concat; a mask from integers; GELU of its parts; LayerNormalization."""
    heads, size = 2, 8
    weights = {
        **{f"w{i}": floats(16, 16) for i in range(4)}, "up": floats(16, 32), "down": floats(32, 16), "g": floats(16),
        "b": floats(16),
        "i0": np.array(0), "i1": np.array(1), "ax": np.array([0]), "h": np.array([heads]), "d": np.array([size]),
        "m1": np.array([-1]),
        "one": np.float32(1), "big": np.float32(-10000), "root": np.float32(size**0.5), "two": np.float32(2**0.5),
        "half": np.float32(0.5), "a1": np.array([1]), "a2": np.array([2]),
    }  # fmt: skip
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i0"], ["n"]), node("Gather", ["s", "i1"], ["t"])]
    nodes += [node("Unsqueeze", ["n", "ax"], ["n1"]), node("Unsqueeze", ["t", "ax"], ["t1"])]
    nodes += [node("Concat", ["n1", "t1", "h", "d"], ["split"], axis=0), node("Concat", ["n1", "t1", "m1"], ["join"], axis=0)]
    for i, (name, order) in enumerate((("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))):
        nodes += [node("MatMul", ["x", f"w{i}"], [f"{name}0"]), node("Reshape", [f"{name}0", "split"], [f"{name}1"])]
        nodes += [node("Transpose", [f"{name}1"], [name], perm=order)]
    nodes += [
        node("Unsqueeze", ["mask", "a1"], ["mask1"]), node("Unsqueeze", ["mask1", "a2"], ["mask2"]),
        node("Cast", ["mask2"], ["maskf"], to=TensorProto.FLOAT), node("Sub", ["one", "maskf"], ["hidden"]),
        node("Mul", ["hidden", "big"], ["bias"]),
        node("MatMul", ["q", "k"], ["scores"]), node("Div", ["scores", "root"], ["scaled"]),
        node("Add", ["scaled", "bias"], ["masked"]),
        node("Softmax", ["masked"], ["p"], axis=-1), node("MatMul", ["p", "v"], ["c0"]),
        node("Transpose", ["c0"], ["c1"], perm=[0, 2, 1, 3]),
        node("Reshape", ["c1", "join"], ["c"]), node("MatMul", ["c", "w3"], ["o"]), node("Add", ["o", "x"], ["r"]),
        node("LayerNormalization", ["r", "g", "b"], ["ln"], axis=-1, epsilon=1e-12),
        node("MatMul", ["ln", "up"], ["u"]), node("Div", ["u", "two"], ["u2"]), node("Erf", ["u2"], ["e"]),
        node("Add", ["e", "one"], ["e1"]),
        node("Mul", ["u", "e1"], ["ue"]), node("Mul", ["ue", "half"], ["act"]), node("MatMul", ["act", "down"], ["f"]),
        node("Add", ["f", "ln"], ["y"]),
    ]  # fmt: skip
    made = model(nodes, {"x": (np.float32, "B", "T", 16), "mask": (np.int64, "B", "T")}, ["y"], weights)
    mask = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0]])
    agree(made, {"x": floats(2, 5, 16), "mask": mask}, 1e-4, 1e-4)
    names = [op.name for op in program(made, {"x": floats(2, 5, 16), "mask": mask}).operations()]
    assert {"fleet.softmax", "fleet.layer_norm", "fleet.erf"} <= set(names)
    assert not [n for n in names if "dim" in n or n == "fleet.concat"], "shapes are known when the model has been read"


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(op: str, direction: str) -> None:
    gates, d = {"LSTM": 4, "GRU": 3, "RNN": 1}[op], 1 + (direction == "bidirectional")
    weights = {"w": floats(d, gates * 6, 5), "r": floats(d, gates * 6, 6), "b": floats(d, gates * 12)}
    lengths = np.array([4, 2, 3], np.int32)
    extra = {"linear_before_reset": 1} if op == "GRU" else {}
    names = ["x", "w", "r", "b", "n", "h", *(["c"] if op == "LSTM" else [])]
    outputs = ["y", "yh", *(["yc"] if op == "LSTM" else [])]
    made = model([node(op, names, outputs, hidden_size=6, direction=direction, **extra)],
        {"x": (np.float32, 4, 3, 5), "h": (np.float32, d, 3, 6), "c": (np.float32, d, 3, 6)}, outputs, {**weights, "n": lengths},
    )  # fmt: skip
    inputs = {"x": floats(4, 3, 5), "h": floats(d, 3, 6), "c": floats(d, 3, 6)}
    if op != "LSTM":
        del made.graph.input[2], inputs["c"]
    agree(made, inputs)


def test_a_cube_is_two_products() -> None:
    """As onnxruntime computes it, to the bit; other exponents, and types that are rounded in between, stay powers."""
    x = np.array([0.0, -0.0, 1e-20, -1e20, np.inf, -np.inf, np.nan, 1.1, -2.7], np.float32)
    made = model([node("Pow", ["x", "three"], ["y"], "cube")], {"x": (np.float32, 9)}, ["y"], {"three": np.float32([3])})
    assert [kind_of(op) for op in program(made, {"x": x}).operations()] == ["mul", "mul"]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(made, {"x": x})[0], reference(made, {"x": x})[0])


def test_quantised_convolution_and_product() -> None:
    """QDQ around a Conv, QLinearMatMul with a scale a column, and dynamic quantisation: integers are equal, not close."""
    weights = {
        "xs": np.float32(0.05), "xz": np.uint8(120), "w": RNG.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
        "ws": np.abs(floats(4)) * 0.01 + 0.01, "wz": np.zeros(4, np.int8), "ys": np.float32(0.3), "yz": np.uint8(100),
    }  # fmt: skip
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["c"], pads=[1, 1, 1, 1]),
        node("DequantizeLinear", ["c", "ys", "yz"], ["y"]),
        node("DynamicQuantizeLinear", ["y"], ["d", "ds", "dz"]),
        node("MatMulInteger", ["d", "d2", "dz"], ["m"]),
    ]
    weights["d2"] = RNG.integers(-128, 128, (6, 5)).astype(np.int8)
    made = model(nodes, {"x": (np.float32, 1, 3, 7, 6)}, ["y", "m"], weights)
    agree(made, {"x": floats(1, 3, 7, 6) * 3})


def test_if_takes_both_branches_where_it_must() -> None:
    def branch(op: str) -> onnx.GraphProto:
        return helper.make_graph([node(op, ["x"], ["z"])], op, [], [helper.make_empty_tensor_value_info("z")])

    made = model(
        [node("If", ["c"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs"))],
        {"x": (np.float32, 2, 3), "c": (np.bool_,)},
        ["y"],
    )
    x = floats(2, 3)
    for c in (True, False):
        inputs: dict[str, Any] = {"x": x, "c": np.array(c)}
        assert [a.name for a in program(made, inputs).inputs] == ["x", "c"]
        np.testing.assert_array_equal(run(made, inputs)[0], -x if c else np.abs(x))


def branches(then: list[onnx.NodeProto], other: list[onnx.NodeProto]) -> dict[str, onnx.GraphProto]:
    result = [helper.make_empty_tensor_value_info("z")]
    return {"then_branch": helper.make_graph(then, "t", [], result), "else_branch": helper.make_graph(other, "e", [], result)}


def test_a_branch_that_does_not_fit_is_left_out() -> None:
    """As voice detectors have it: one model of each sample rate, and an input that says which."""
    bodies = branches([node("MatMul", ["x", "w16"], ["z"])], [node("MatMul", ["x", "w8"], ["z"])])
    nodes = [node("Equal", ["rate", "r16"], ["c"]), node("If", ["c"], ["y"], "choice", **bodies)]
    weights = {"w16": floats(6, 2), "w8": floats(3, 2), "r16": np.array(16000)}
    made = model(nodes, {"x": (np.float32, 4, "samples"), "rate": (np.int64,)}, ["y"], weights)
    for size, rate in ((6, 16000), (3, 8000)):
        inputs = {"x": floats(4, size), "rate": np.array(rate)}
        found = program(made, inputs)
        assert ([a.name for a in found.inputs], found.bound["rate"]) == (["x"], rate)
        agree(made, inputs)
    with pytest.raises(ModelError, match=r"node 0 \(MatMul z\): matmul of shapes"):
        program(made, {"x": floats(4, 5), "rate": np.array(8000)})


def test_a_branch_in_a_loop_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    def info(name: str, code: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, code, [])

    bodies = branches([node("Neg", ["x"], ["z"])], [node("ReduceSum", ["x"], ["z"])])
    nodes = [
        node("ReduceSum", ["x"], ["s"], "sum", keepdims=0),
        node("Greater", ["s", "zero"], ["above"], "above"),
        node("If", ["above"], ["r"], "choice", **bodies),
        node("ReduceSum", ["r"], ["part"], keepdims=0),
        node("Add", ["carried", "part"], ["next"]),
        node("Identity", ["going"], ["goes"]),
    ]
    body = helper.make_graph(
        nodes, "body", [info("i", TensorProto.INT64), info("going", TensorProto.BOOL), info("carried", TensorProto.FLOAT)],
        [info("goes", TensorProto.BOOL), info("next", TensorProto.FLOAT)],
    )  # fmt: skip
    loop = node("Loop", ["rounds", "", "zero"], ["y"], "loop", body=body)
    made = model([loop], {"x": (np.float32, 8, 9)}, ["y"], {"zero": np.float32(0), "rounds": np.int64(5)})
    agree(made, {"x": np.abs(floats(8, 9))})
    assert capsys.readouterr().err.count("branch is taken") == 1


def test_data_decide_a_branch(capsys: pytest.CaptureFixture[str]) -> None:
    """Results of two shapes: the branch that fits the inputs, and a line that says so; else a chain and a remedy."""
    bodies = branches([node("Neg", ["x"], ["z"])], [node("ReduceSum", ["x"], ["z"])])
    nodes = [
        node("ReduceSum", ["x"], ["s"], "sum", keepdims=0),
        node("Greater", ["s", "zero"], ["c"], "above"),
        node("If", ["c"], ["y"], "choice", **bodies),
    ]
    made = model(nodes, {"x": (np.float32, 8, 9)}, ["y"], {"zero": np.float32(0)})
    x = np.abs(floats(8, 9))
    for inputs, branch in (({"x": x}, "then"), ({"x": -x}, "else")):
        agree(made, inputs)
        said = capsys.readouterr().err
        assert f"(If choice): its {branch} branch is taken, as the given inputs decide (x -> sum -> above)" in said
    nodes[0] = node("Gelu", ["x"], ["g"], "gelu")
    nodes[1:1] = [node("ReduceSum", ["g"], ["s"], "sum", keepdims=0)]
    with pytest.raises(ModelError, match="If choice") as caught:
        program(model(nodes, {"x": (np.float32, 8, 9)}, ["y"], {"zero": np.float32(0)}), {"x": x})
    assert "its condition is computed of data: x -> gelu -> sum -> above; leave it out with --from and --to" in str(caught.value)


def test_dimensions_as_exporters_write_them(capsys: pytest.CaptureFixture[str]) -> None:
    """-1 for a size that is not known, and one name for two sizes."""
    nodes = [node("ReduceMax", ["b"], ["m"], keepdims=0), node("Add", ["a", "m"], ["y"])]
    made = model(nodes, {"a": (np.float32, "n", 2), "b": (np.float32, "n", "k")}, ["y"])
    made.graph.input[1].type.tensor_type.shape.dim[1].dim_value = -1
    inputs = {"a": floats(3, 2), "b": floats(5, 4)}
    assert program(made, inputs).symbols == {"n": 3, "b.0": 5, "b.1": 4}
    assert 'dimension n is 3, and 5 as dimension 0 of "b": taken as two' in capsys.readouterr().err
    np.testing.assert_array_equal(run(made, inputs)[0], inputs["a"] + inputs["b"].max())


def test_functions_of_the_model_are_followed() -> None:
    alpha = helper.make_node("LeakyRelu", ["a"], ["l"])
    alpha.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    body = [alpha, node("Add", ["l", "a"], ["r"])]
    function = helper.make_function("mine", "Both", ["a"], ["r"], body, [helper.make_opsetid("", 21)], ["slope"])
    nodes = [
        node("Both", ["x"], ["h"], "one", domain="mine", slope=0.25),
        node("Both", ["h"], ["y"], "two", domain="mine", slope=0.5),
    ]
    made = model(nodes, {"x": (np.float32, 2, 3)}, ["y"], functions=[function], domains=("mine",))
    x = floats(2, 3)
    agree(made, {"x": x})
    assert any(op_id(op).startswith("two.") for op in program(made, {"x": x}).operations())


def test_sequences_of_known_length() -> None:
    nodes = [
        node("SplitToSequence", ["x", "sizes"], ["parts"], axis=1),
        node("SequenceAt", ["parts", "at"], ["last"]),
        node("SequenceInsert", ["parts", "last", "first"], ["more"]),
        node("ConcatFromSequence", ["more"], ["y"], axis=1),
    ]
    weights = {"sizes": np.array([2, 1, 3]), "at": np.array(-1), "first": np.array(0)}
    agree(model(nodes, {"x": (np.float32, 4, 6)}, ["y"], weights), {"x": floats(4, 6)})


def test_packed_and_wide_weights() -> None:
    """int4 weights with a scale a block, and bfloat16 weights: exact."""
    codes = RNG.integers(-8, 8, (4, 6))
    packed = helper.make_tensor("w", TensorProto.INT4, (4, 6), codes.reshape(-1).tolist())
    wide = helper.make_tensor("v", TensorProto.BFLOAT16, (2,), [1.5, -2.0])
    nodes = [node("DequantizeLinear", ["w", "s"], ["d"], axis=0, block_size=2), node("MatMul", ["x", "d"], ["y"])]
    nodes += [node("Cast", ["v"], ["vf"], to=TensorProto.FLOAT), node("Mul", ["y", "k"], ["z"])]
    scales = np.array([[0.5] * 6, [0.25] * 6], np.float32)
    made = model(nodes, {"x": (np.float32, 3, 4)}, ["z", "vf"], {"s": scales, "k": np.float32(2)})
    made.graph.initializer.extend([packed, wide])
    x = floats(3, 4)
    found = run(made, {"x": x})
    np.testing.assert_allclose(found[0], x @ (codes * np.repeat(scales, 2, 0)).astype(np.float32) * 2, rtol=1e-6)
    np.testing.assert_array_equal(found[1], [1.5, -2.0])


@pytest.mark.parametrize("mode", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("shape", [[13, 14], [12, 14], [12, 13], [14, 16]])
def test_a_transposed_convolution_of_a_wanted_shape(mode: str, shape: list[int]) -> None:
    """Of an odd number of elements to leave out, one more goes in front, but for SAME_UPPER; or too few are there."""
    rng = np.random.default_rng(1)
    one = node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_shape=shape, auto_pad=mode)
    made = model([one], {"x": (np.float32, 1, 2, 6, 7)}, ["y"], {"w": rng.standard_normal((2, 1, 3, 3)).astype(np.float32)})
    x = {"x": rng.standard_normal((1, 2, 6, 7)).astype(np.float32)}
    np.testing.assert_allclose(run(made, x)[0], reference(made, x)[0], rtol=1e-5, atol=1e-5)


def sparse(values: np.ndarray, places: np.ndarray, *dims: int) -> onnx.SparseTensorProto:
    made = helper.make_sparse_tensor(numpy_helper.from_array(values, "w"), numpy_helper.from_array(places, "w.places"), dims)
    assert isinstance(made, onnx.SparseTensorProto)
    return made


SPARSE = {
    "places in the flat array": (np.array([0, 4, 11]), (4, 3)),
    "places along each axis": (np.array([[0, 2], [1, 0], [3, 1]]), (4, 3)),
    "one axis": (np.array([1, 2, 3]), (4,)),
    "nothing": (np.zeros(0, np.int64), (4, 3)),
}


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("kind", ["Constant", "initializer"])
def test_sparse_tensors(name: str, kind: str) -> None:
    places, dims = SPARSE[name]
    tensor = sparse(np.arange(1, len(places) + 1).astype(np.float32), places, *dims)
    nodes = [node("Constant", [], ["w"], sparse_value=tensor)] if kind == "Constant" else []
    made = model([*nodes, node("MatMul", ["x", "w"], ["y"])], {"x": (np.float32, 2, 4)}, ["y"])
    if kind == "initializer":
        made.graph.sparse_initializer.append(tensor)
    dense = np.zeros(dims, np.float32)
    dense[np.unravel_index(places, dims) if places.ndim == 1 else tuple(places.T)] = np.arange(1, len(places) + 1)
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(run(made, {"x": x})[0], x @ dense)


@pytest.mark.parametrize(
    ("values", "places", "dims", "what"),
    [
        (2, np.array([0, 12]), (4, 3), "places outside"),
        (2, np.array([[0, 0], [0, -1]]), (4, 3), "places outside"),
        (2, np.array([0, 1, 2]), (4, 3), "of 2 values has places of"),
        (1, np.array([0]), (1 << 20, 1 << 20), "has the shape"),
    ],
)
def test_sparse_tensors_that_do_not_fit(values: int, places: np.ndarray, dims: tuple[int, ...], what: str) -> None:
    tensor = sparse(np.ones(values, np.float32), places, *dims)
    made = model(
        [node("Constant", [], ["w"], sparse_value=tensor), node("MatMul", ["x", "w"], ["y"])], {"x": (np.float32, 2, 4)}, ["y"]
    )
    with pytest.raises(ModelError, match=what):
        program(made, {"x": np.zeros((2, 4), np.float32)})


def test_an_output_that_is_a_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made = model([node("Add", ["x", "w"], ["y"])], {"x": (np.float32, 2, 3)}, ["y", "w"], {"w": np.ones(3, np.float32)})
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    monkeypatch.chdir(tmp_path)
    assert main(["cosim", "m.onnx", "--engines", "vm,onnxruntime"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("sizes", ["4", "k,4"])
@pytest.mark.parametrize("rounds", [0, 2])
def test_a_loop_of_no_round_gathers_nothing(sizes: str, rounds: int) -> None:
    """The shape of what it would gather is what its body declares; sizes that it leaves open are 0."""
    made = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
g (float[{sizes}] x, int64 n) => (float[{sizes}] y, float[r,{sizes}] ys) {{
  t = Constant<value = bool {{1}}>()
  y, ys = Loop(n, t, x)<body = b (int64 i, bool c, float[{sizes}] s) => (bool co, float[{sizes}] so, float[{sizes}] o) {{
    co = Identity(c) so = Neg(s) o = Identity(s)
  }}>
}}""")
    agree(made, {"x": floats(4) if sizes == "4" else floats(2, 4), "n": np.array(rounds, np.int64)})


def test_a_scan_over_nothing_gathers_nothing() -> None:
    made = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x, float[6,0] s) => (float[4] y, float[4,0] ys) {
  y, ys = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
    body = b (float[4] a, float[6] e) => (float[4] ao, float[4] o) { ao = Identity(a) o = Neg(a) }>(x, s)
}""")
    found = run(made, {"x": floats(4), "s": np.zeros((6, 0), np.float32)})
    assert [a.shape for a in found] == [(4,), (4, 0)]
