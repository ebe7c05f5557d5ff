"""Dimensions that stay unknown: one program for every size, beside the program for each."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import onnx
import pytest
from onnx_models import digits, encoder_layer, model, node, reference, run

from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.errors import ModelError
from fleet.frontend.onnx.choice import ModelChoice
from fleet.frontend.onnx.load import general_program
from fleet.frontend.onnx.reader import read_model
from fleet.ir.program import Program
from fleet.transforms.simplify.infer_shapes import bound

RNG = np.random.default_rng(8)
Arrays = dict[str, np.ndarray]


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def general(made: onnx.ModelProto, inputs: Arrays, dynamic: Collection[str] | bool = True) -> Program:
    return general_program(read_model(made.SerializeToString(), "m.onnx"), inputs, ModelChoice("m.onnx"), dynamic)


def every_size(made: onnx.ModelProto, cases: list[Arrays], dynamic: Collection[str] | bool = True, atol: float = 1e-5) -> Program:
    """One program on all of the inputs, as it is on the VM and with the sizes put in on riscv, beside onnxruntime."""
    found = general(made, cases[0], dynamic)
    for inputs in cases:
        fed = {a.name: inputs[a.name] for a in found.inputs}
        ours = find_engine("vm").engine.run(found, fed, RunOptions(keep_tensors=False)).outputs
        theirs = find_engine("riscv").engine.run(bound(found, fed), fed, RunOptions(keep_tensors=False)).outputs
        for name, own, want in zip(found.outputs, run(made, inputs), reference(made, inputs), strict=True):
            assert (ours[name].dtype, ours[name].shape) == (want.dtype, want.shape)
            np.testing.assert_allclose(ours[name], own, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(ours[name], want, rtol=1e-4, atol=atol)
            np.testing.assert_allclose(theirs[name], want, rtol=1e-4, atol=atol)
    return found


def test_a_batch() -> None:
    found = every_size(digits(), [{"x": floats(n, 64)} for n in (5, 1, 64)])
    assert (found.inputs[0].shape, found.inputs[0].dims, found.unknown) == ((-1, 64), ("N", ""), ("N",))


def test_an_encoder_layer_of_any_batch_and_length() -> None:
    """Reshapes to [batch, tokens, heads, width] by Shape, Gather and Concat; a mask; positions that are a slice of a table."""
    weights = {
        "w": floats(8, 8), "table": floats(40, 8), "i0": np.array(0), "i1": np.array(1), "ax": np.array([0]), "zero": np.array([0]),
        "h": np.array([2]), "d": np.array([4]), "m1": np.array([-1]), "a1": np.array([1, 2]), "big": np.float32(-1e4),
        "one": np.float32(1), "root": np.float32(2),
    }  # fmt: skip
    nodes = [
        node("Shape", ["x"], ["s"]), node("Gather", ["s", "i0"], ["b"]), node("Gather", ["s", "i1"], ["t"]),
        node("Unsqueeze", ["b", "ax"], ["b1"]), node("Unsqueeze", ["t", "ax"], ["t1"]),
        node("Slice", ["table", "zero", "t1", "zero"], ["where"]), node("Add", ["x", "where"], ["p"]),
        node("Concat", ["b1", "t1", "h", "d"], ["split"], axis=0), node("Concat", ["b1", "t1", "m1"], ["join"], axis=0),
        node("MatMul", ["p", "w"], ["q0"]), node("Reshape", ["q0", "split"], ["q1"]),
        node("Transpose", ["q1"], ["q"], perm=[0, 2, 1, 3]), node("Transpose", ["q1"], ["k"], perm=[0, 2, 3, 1]),
        node("Unsqueeze", ["mask", "a1"], ["m0"]), node("Cast", ["m0"], ["mf"], to=1), node("Sub", ["one", "mf"], ["mi"]),
        node("Mul", ["mi", "big"], ["bias"]),
        node("MatMul", ["q", "k"], ["s0"]), node("Div", ["s0", "root"], ["s1"]), node("Add", ["s1", "bias"], ["s2"]),
        node("Softmax", ["s2"], ["pr"], axis=-1), node("MatMul", ["pr", "q"], ["c0"]),
        node("Transpose", ["c0"], ["c1"], perm=[0, 2, 1, 3]), node("Reshape", ["c1", "join"], ["y"]),
    ]  # fmt: skip
    made = model(nodes, {"x": (np.float32, "B", "T", 8), "mask": (np.int64, "B", "T")}, ["y"], weights)
    cases = [{"x": floats(b, t, 8), "mask": np.tril(np.ones((b, t), np.int64))} for b, t in ((2, 5), (3, 1), (1, 40))]
    assert every_size(made, cases).unknown == ("B", "T")
    assert every_size(made, cases[:1], {"T"}).symbols == {"B": 2}


def test_bert_as_exporters_write_it() -> None:
    made = encoder_layer(6, 16, 2, 32, batch=3, mask=None)
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    with pytest.raises(ModelError, match="reshape"):  # its shapes are written in it
        general(made, {"x": floats(3, 6, 16)})


def test_causal_masks_and_numbers_in_a_row() -> None:
    nodes = [
        node("Shape", ["x"], ["s"]), node("Gather", ["s", "i1"], ["t"]), node("Range", ["c0", "t", "c1"], ["r"]),
        node("Unsqueeze", ["r", "ax"], ["row"]), node("Concat", ["t1", "t1"], ["tt"], axis=0),
        node("ConstantOfShape", ["tt"], ["ones"], value=onnx.numpy_helper.from_array(np.ones(1, np.float32))),
        node("Trilu", ["ones"], ["low"], upper=0), node("Unsqueeze", ["t", "ax"], ["t1"]),
        node("Cast", ["row"], ["rf"], to=1), node("MatMul", ["x", "low"], ["m"]), node("Add", ["m", "rf"], ["y"]),
        node("ReduceMean", ["y"], ["z"], axes=[1]),
    ]  # fmt: skip
    nodes.insert(4, nodes.pop(7))
    weights = {"i1": np.array(1), "c0": np.array(0), "c1": np.array(1), "ax": np.array([0])}
    made = model(nodes, {"x": (np.float32, "B", "T")}, ["y", "z"], weights, 17)
    every_size(made, [{"x": floats(3, 5)}, {"x": floats(1, 1)}, {"x": floats(2, 50)}])


def test_convolutions_and_recurrent_layers_of_any_batch() -> None:
    weights = {"w": floats(4, 3, 3, 3), "f": floats(4, 5)}
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]),
        node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("GlobalAveragePool", ["p"], ["g"]),
        node("Flatten", ["g"], ["l"]), node("MatMul", ["l", "f"], ["y"]),
    ]  # fmt: skip
    made = model(nodes, {"x": (np.float32, "N", 3, 6, 6)}, ["y"], weights)
    every_size(made, [{"x": floats(n, 3, 6, 6)} for n in (2, 1, 9)])
    weights = {"w": floats(1, 16, 3), "r": floats(1, 16, 4), "b": floats(1, 32)}
    made = model([node("LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=4)], {"x": (np.float32, 5, "N", 3)}, ["y"], weights)
    every_size(made, [{"x": floats(5, n, 3)} for n in (2, 1, 9)])


def test_what_one_program_cannot_be() -> None:
    weights = {"w": floats(1, 16, 3), "r": floats(1, 16, 4)}
    made = model([node("LSTM", ["x", "w", "r"], ["y"], "lstm", hidden_size=4)], {"x": (np.float32, "T", 2, 3)}, ["y"], weights)
    with pytest.raises(
        ModelError, match="the number of its operations depends on its sizes, as one program cannot; leave T out of"
    ):
        general(made, {"x": floats(5, 2, 3)})
    weights = {"k": floats(2, 3, 3, 3)}
    made = model([node("Conv", ["x", "k"], ["y"], "conv")], {"x": (np.float32, 1, 3, "H", "W")}, ["y"], weights)
    with pytest.raises(ModelError, match=r"conv.*depends on the size of H, W"):
        general(made, {"x": floats(1, 3, 8, 8)})
    with pytest.raises(ModelError, match="no dimension of an input is called 'Q'; there are H, W"):
        general(made, {"x": floats(1, 3, 8, 8)}, {"Q"})
    made = model([node("Tile", ["x", "r"], ["y"])], {"x": (np.float32, 4), "r": (np.int64, "K")}, ["y"])
    with pytest.raises(ModelError, match="values of r decide a shape, and its size is unknown"):
        general(made, {"x": floats(4), "r": np.array([2])})


def test_a_choice_by_a_size_of_one() -> None:
    """As exporters write a squeeze: another branch where the size is 1, which no program of all sizes has."""

    def branch(name: str, nodes: list[onnx.NodeProto]) -> onnx.GraphProto:
        return onnx.helper.make_graph(nodes, name, [], [onnx.helper.make_empty_tensor_value_info("z")])

    bodies = {
        "then_branch": branch("t", [node("Squeeze", ["x", "zero"], ["z"])]),
        "else_branch": branch("e", [node("Identity", ["x"], ["z"])]),
    }
    nodes = [
        node("Shape", ["x"], ["s"]), node("Gather", ["s", "i0"], ["n"]), node("Equal", ["n", "one"], ["c"]),
        node("If", ["c"], ["y"], "squeeze", **bodies),
    ]  # fmt: skip
    weights = {"i0": np.array(0), "one": np.array(1), "zero": np.array([0])}
    made = model(nodes, {"x": (np.float32, "N", 3)}, ["y"], weights)
    with pytest.raises(ModelError, match=r"\(If squeeze\): chooses otherwise where N is 1, as one program cannot; leave N out"):
        general(made, {"x": floats(4, 3)})
