"""Files that are damaged, or made to do harm: an error of fleet with the place and the cause, in little time and memory."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from onnx_models import digits, model, node, program

from fleet.errors import FleetError, ModelError
from fleet.frontend.onnx.load import load, program_of, sample_inputs, signature
from fleet.frontend.onnx.reader import read_model

X = {"x": np.ones((2, 3), np.float32)}
DECLARED = {"x": (np.float32, 2, 3)}


def refused(made: onnx.ModelProto, inputs: dict[str, np.ndarray] | None = None) -> str:
    with pytest.raises(ModelError) as caught:
        program(made, X if inputs is None else inputs)
    return str(caught.value)


def test_random_bytes_are_no_model() -> None:
    rng = random.Random(7)
    for size in (0, 1, 10, 1000, 100_000):
        with pytest.raises(ModelError, match=r"m\.onnx: is no ONNX model"):
            read_model(rng.randbytes(size), "m.onnx")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(part: float, tmp_path: Path) -> None:
    data = digits().SerializeToString()
    path = tmp_path / "cut.onnx"
    path.write_bytes(data[: int(len(data) * part)])
    with pytest.raises(ModelError, match=r"cut\.onnx"):
        load(str(path), {}, {"x": np.ones((2, 64), np.float32)})


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_changed_bytes_end_in_a_program_or_in_an_error_of_fleet(data: st.DataObject) -> None:
    """A loader that survives what a cosmic ray, or somebody, does to a file."""
    made = model(
        [
            node("Reshape", ["x", "s"], ["r"]),
            node("Gemm", ["r", "w"], ["g"], "g", transB=1),
            node("Softmax", ["g"], ["y"], axis=-1),
        ],
        DECLARED,
        ["y"],
        {"s": np.array([3, 2]), "w": np.ones((4, 2), np.float32)},
    )
    raw = bytearray(made.SerializeToString())
    for _ in range(data.draw(st.integers(1, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with suppress(FleetError):
        program_of(read_model(bytes(raw), "m.onnx"), X)


@pytest.mark.parametrize("name", [b"Softmax", b"axis", b"hidden", b"transB"])
def test_names_that_are_not_utf8(name: bytes) -> None:
    """Found by changing bytes of the node tests' models: protobuf hands such names on as bytes."""
    nodes = [node("Gemm", ["x", "w"], ["hidden"], "g", transB=1), node("Softmax", ["hidden"], ["y"], axis=-1)]
    made = model(nodes, DECLARED, ["y"], {"w": np.ones((4, 3), np.float32)}).SerializeToString()
    with pytest.raises(ModelError, match="UTF-8"):
        program_of(read_model(made.replace(name, b"\x97" + name[1:]), "m.onnx"), X)


def test_attributes_that_no_operator_takes() -> None:
    """Found in the same way: no elements, or a kind that is not read, where ONNX's definition is asked."""
    loss = node("SoftmaxCrossEntropyLoss", ["x", "t"], ["y"], "loss", reduction="mean")
    inputs = {"x": np.ones((2, 3), np.float32), "t": np.array([0, 2])}
    declared = {"x": (np.float32, 2, 3), "t": (np.int64, 2)}
    assert program(model([loss], declared, ["y"]), inputs).outputs == ("y",)
    for kind in (onnx.AttributeProto.INTS, onnx.AttributeProto.SPARSE_TENSOR, onnx.AttributeProto.FLOAT):
        loss.attribute[0].type = kind
        with pytest.raises(ModelError, match="Loss loss"):
            program(model([loss], declared, ["y"]), inputs)


def test_a_tensor_that_claims_more_than_it_has() -> None:
    for dims, what in (([1 << 60], "needs 4611686018427387904 bytes"), ([1 << 31, 1 << 31], "bytes"), ([-1], "has the shape")):
        weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims, raw_data=b"1234")
        made = model([node("Add", ["x", "w"], ["y"])], DECLARED, ["y"])
        made.graph.initializer.append(weight)
        tracemalloc.start()
        assert f"m.onnx:initializer w: {what}" in refused(made) or what in refused(made)
        assert tracemalloc.get_traced_memory()[1] < 50e6
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("op", "shape", "attributes"),
    [
        ("ConstantOfShape", [1 << 40, 1 << 20], {}),
        ("Expand", [1 << 40, 2, 3], {}),
        ("Tile", [1 << 30, 1 << 30], {}),
    ],
)
def test_a_shape_of_a_whole_universe(op: str, shape: list[int], attributes: dict[str, int]) -> None:
    inputs = ["s"] if op == "ConstantOfShape" else ["x", "s"]
    made = model([node(op, inputs, ["y"], **attributes)], DECLARED, ["y"], {"s": np.array(shape)})
    assert "elements are possible" in refused(made)


def test_pads_ranges_and_loops_are_bounded() -> None:
    pads = model([node("Pad", ["x", "p"], ["y"])], DECLARED, ["y"], {"p": np.array([0, 1 << 50, 0, 0])})
    assert "elements are possible" in refused(pads)
    steps = {"a": np.array(0), "b": np.array(1 << 50), "c": np.array(1)}
    assert "elements" in refused(model([node("Range", ["a", "b", "c"], ["y"])], DECLARED, ["y"], steps))
    body = helper.make_graph(
        [node("Identity", ["c"], ["d"]), node("Add", ["v", "v"], ["w"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [2, 3]),
        ],
        [helper.make_empty_tensor_value_info("d"), helper.make_empty_tensor_value_info("w")],
    )
    endless = model([node("Loop", ["", "", "x"], ["y"], "forever", body=body)], DECLARED, ["y"])
    assert "(Loop forever): more than 4096 rounds" in refused(endless)


def test_what_a_translation_makes_is_bounded() -> None:
    """Indices, masks and weights of operators on a tensor that takes no memory itself."""
    big = {"s": np.array([40_000, 50_000]), "k": np.array([0]), "d": np.array(1 << 40), "v": np.ones(2, np.float32)}
    wide = node("Expand", ["one", "s"], ["x"])
    for inner in (
        node("Trilu", ["x"], ["y"], "t"), node("EyeLike", ["x"], ["y"], "t"), node("OneHot", ["k", "d", "v"], ["y"], "t"),
        node("MaxPool", ["x4"], ["y"], "t", kernel_shape=[200, 200]),
    ):  # fmt: skip
        nodes = [wide, inner]
        if "x4" in inner.input:
            nodes.insert(1, node("Unsqueeze", ["x", "axes"], ["x4"]))
        made = model(nodes, {"one": (np.float32, 1)}, ["y"], {**big, "axes": np.array([0, 1])})
        message = refused(made, {"one": np.ones(1, np.float32)})
        assert f"({inner.op_type} t): " in message


def test_loops_in_loops_end() -> None:
    """Bodies of known values leave no operation behind, so the nodes that are followed are counted."""
    graph = helper.make_graph([node("Add", ["i", "i"], ["o"])], "g", [], [helper.make_empty_tensor_value_info("o")])
    for depth in range(3):
        loop = node("Loop", ["many", ""], [f"r{depth}"], f"loop{depth}", body=_counted(graph))
        last = node("Identity", ["many"], ["o"])
        graph = helper.make_graph([loop, last], "g", [], [helper.make_empty_tensor_value_info("o")])
    made = model(list(graph.node), DECLARED, ["o"], {"many": np.array(4000), "i": np.array(1)})
    assert "nodes of bodies and functions, counted each time" in refused(made)


def _counted(graph: onnx.GraphProto) -> onnx.GraphProto:
    """A body of a Loop that does what a graph does, and gathers its result."""
    body = onnx.GraphProto()
    body.CopyFrom(graph)
    body.input.append(helper.make_tensor_value_info("turn", TensorProto.INT64, []))
    body.input.append(helper.make_tensor_value_info("go", TensorProto.BOOL, []))
    body.node.append(node("Identity", ["go"], ["going"]))
    body.output.insert(0, helper.make_empty_tensor_value_info("going"))
    return body


def test_graphs_in_graphs_without_end() -> None:
    graph = helper.make_graph([node("Identity", ["x"], ["y"])], "g", [], [helper.make_empty_tensor_value_info("y")])
    for _ in range(30):
        inner = node("If", ["c"], ["y"], then_branch=graph, else_branch=graph) if _ < 3 else None
        inner = inner or node("If", ["c"], ["y"], then_branch=graph)
        graph = helper.make_graph([inner], "g", [], [helper.make_empty_tensor_value_info("y")])
    made = model(list(graph.node), DECLARED, ["y"], {"c": np.array(True)})
    with pytest.raises(ModelError, match=r"nested deeper than 16|cannot read"):
        program(made, X)


def test_cycles_and_names() -> None:
    cycle = model([node("Add", ["x", "b"], ["a"], "first"), node("Neg", ["a"], ["b"])], DECLARED, ["b"])
    assert "m.onnx:node 0 (Add first): its nodes form a cycle" in refused(cycle)
    assert "takes 'z', which nothing defines" in refused(model([node("Add", ["x", "z"], ["y"])], DECLARED, ["y"]))
    twice = model([node("Neg", ["x"], ["y"]), node("Abs", ["x"], ["y"])], DECLARED, ["y"])
    assert "'y' is defined twice" in refused(twice)
    assert "the output 'nothing' is not defined" in refused(model([node("Neg", ["x"], ["y"])], DECLARED, ["nothing"]))
    assert "name of 5000 characters" in refused(model([node("Neg", ["x"], ["y" * 5000])], DECLARED, ["y" * 5000]))


def test_nodes_in_another_order_are_put_in_order() -> None:
    made = model([node("Neg", ["a"], ["y"]), node("Abs", ["x"], ["a"])], DECLARED, ["y"])
    assert [op.name for op in program(made, X).operations()] == ["fleet.abs", "fleet.neg"]


def test_opsets_and_domains() -> None:
    for opset in (0, -1, 200):
        assert f"its opset ai.onnx {opset} is not supported" in refused(
            model([node("Neg", ["x"], ["y"])], DECLARED, ["y"], opset=opset)
        )
    foreign = model([node("Fancy", ["x"], ["y"], "f", domain="com.example")], DECLARED, ["y"], domains=("com.example",))
    assert "com.example.Fancy: f" in refused(foreign)
    empty = model([node("Neg", ["x"], ["y"])], DECLARED, ["y"])
    del empty.opset_import[:]
    assert "is no ONNX model" in refused(empty)


def test_all_unsupported_operators_are_named_at_once() -> None:
    nodes = [
        node("Multinomial", ["x"], ["a"], "dice"),
        node("Neg", ["a"], ["b"], "fine"),
        node("RandomNormal", [], ["c"], "noise1", shape=[2]),
        node("RandomNormal", [], ["d"], "noise2", shape=[2]),
    ]
    message = refused(model(nodes, DECLARED, ["b", "c", "d"]))
    assert "2 operators are not supported" in message
    assert "Multinomial: dice" in message
    assert "RandomNormal: noise1, noise2" in message
    assert "fine" not in message


@pytest.fixture
def beside(tmp_path: Path) -> Callable[..., str]:
    """Writes a model whose weight [2, 3] lies in another file."""

    def make(location: str, offset: str | None = None, length: str | None = None) -> str:
        weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2, 3], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", location), ("offset", offset), ("length", length)):
            if value is not None:
                weight.external_data.add(key=key, value=value)
        made = model([node("Add", ["x", "w"], ["y"])], DECLARED, ["y"])
        made.graph.initializer.append(weight)
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        (folder / "w.bin").write_bytes(np.arange(8, dtype=np.float32).tobytes())
        (tmp_path / "secret").write_bytes(bytes(24))
        (folder / "m.onnx").write_bytes(made.SerializeToString())
        return str(folder / "m.onnx")

    return make


def test_external_data_are_read(beside: Callable[..., str]) -> None:
    found = load(beside("w.bin", "8", "24"), {}, X)
    np.testing.assert_array_equal(found.weights["w"], np.arange(2, 8, dtype=np.float32).reshape(2, 3))


@pytest.mark.parametrize(
    "location", ["../secret", "/etc/passwd", "w.bin/../../secret", "link", "", ".", "\0", "no.bin", "a" * 5000]
)
def test_external_data_outside_of_the_folder_are_refused(location: str, beside: Callable[..., str], tmp_path: Path) -> None:
    path = beside(location)
    (tmp_path / "model/link").symlink_to(tmp_path / "secret")
    with pytest.raises(ModelError, match="initializer w"):
        load(path, {}, X)


@pytest.mark.parametrize(
    ("offset", "length"), [("16", "24"), ("0", "20"), ("-8", "24"), ("x", "24"), ("9" * 30, "24"), ("0", "1_0")]
)
def test_external_data_of_a_wrong_size(offset: str, length: str, beside: Callable[..., str]) -> None:
    with pytest.raises(ModelError, match="initializer w"):
        load(beside("w.bin", offset, length), {}, X)


def test_shapes_that_do_not_fit_name_the_node() -> None:
    weights = {"w": np.ones((4, 5), np.float32)}
    message = refused(model([node("MatMul", ["x", "w"], ["y"], "head")], DECLARED, ["y"], weights))
    assert "m.onnx:node 0 (MatMul head): matmul of shapes (2, 3) and (4, 5)" in message
    mixed = model([node("Add", ["x", "w"], ["y"], "sum")], DECLARED, ["y"], {"w": np.ones(3, np.float64)})
    assert "(Add sum): add of float32 and float64, which must be one type" in refused(mixed)
    attribute = model([node("Softmax", ["x"], ["y"], "s", axis=9)], DECLARED, ["y"])
    assert "(Softmax s): the axis 9 of a tensor of rank 2" in refused(attribute)
    kind = model([node("Softmax", ["x"], ["y"], "s", axis="last")], DECLARED, ["y"])
    assert "Softmax has no attribute 'axes'; it has axis" in refused(
        model([node("Softmax", ["x"], ["y"], axes=1)], DECLARED, ["y"])
    )
    assert "its attribute axis must be INT, found STRING" in refused(kind)


def test_a_shape_that_data_decide_is_refused() -> None:
    made = model([node("Cast", ["x"], ["s"], to=TensorProto.INT64), node("Reshape", ["x", "s"], ["y"])], DECLARED, ["y"])
    assert "must be known before the model runs" in refused(made)


def test_inputs_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "d.onnx"
    path.write_bytes(digits().SerializeToString())
    assert [str(a) for a in signature(str(path))] == ["float32[N, 64]"]
    assert sample_inputs(str(path), batch=3)["x"].shape == (3, 64)
    for inputs, what in (
        ({}, r"no input for x \(float32\[N, 64\]\)"),
        ({"x": np.ones((2, 64))}, "the given array is float64"),
        ({"x": np.ones((2, 63), np.float32)}, "dimension 1 must be 64, found 63"),
        ({"x": np.ones(64, np.float32)}, "rank 1"),
    ):
        with pytest.raises(ModelError, match=what):
            load(str(path), {}, inputs)
    with pytest.raises(ModelError, match="weights in it"):
        load(str(path), {"w": np.ones(1)}, {"x": np.ones((2, 64), np.float32)})
    with pytest.raises(ModelError, match="cannot be read"):
        signature(str(tmp_path / "none.onnx"))


def test_many_nodes() -> None:
    nodes = [node("Neg", [f"v{i}" if i else "x"], [f"v{i + 1}"]) for i in range(3000)]
    made = model(nodes, DECLARED, ["v3000"])
    made.graph.initializer.append(numpy_helper.from_array(np.zeros(2), "unused"))
    assert not program(made, X).weights


def test_names_that_are_not_utf_8_in_an_old_model_and_before_a_dictionary() -> None:
    old = model([node("Add", ["x", "weight"], ["y"])], {"x": (np.float32, 2)}, ["y"], {"weight": np.ones(2, np.float32)}, 7)
    table = node("ZipMap", ["weight"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[0, 1])
    for made in (old, model([node("Relu", ["x"], ["weight"]), table], {"x": (np.float32, 1, 2)}, ["y"], domains=("ai.onnx.ml",))):
        raw = made.SerializeToString().replace(b"weight", b"weig\xdet")
        with pytest.raises(ModelError, match="not UTF-8"):
            read_model(raw, "m.onnx")
