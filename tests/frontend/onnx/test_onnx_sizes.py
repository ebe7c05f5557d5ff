"""Drawn inputs have the sizes that a model states: channels and rows of its weights, and names that are sums of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import model, node, program

from fleet.cosim.models.loaded import load_model
from fleet.errors import ModelError
from fleet.frontend.onnx.load import sample_inputs
from fleet.frontend.onnx.reader import read_model
from fleet.frontend.onnx.sizes.demanded import demanded_sizes
from fleet.frontend.onnx.sizes.names import size_of


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def demanded(nodes: list[onnx.NodeProto], weights: dict[str, np.ndarray], **inputs: tuple[Any, ...]) -> dict[str, int]:
    made = model(nodes, {n: (np.float32, *dims) for n, dims in inputs.items()}, ["y"], weights, domains=("com.microsoft",))
    return demanded_sizes(read_model(made.SerializeToString(), "m.onnx"))


IMAGE = ("N", "C", "H", "W")
DEMANDS: dict[str, tuple[list[onnx.NodeProto], dict[str, np.ndarray], dict[str, tuple[Any, ...]], dict[str, int]]] = {
    "convolution": ([node("Conv", ["x", "w"], ["y"], group=2)], {"w": zeros(4, 3, 3, 3)}, {"x": IMAGE}, {"C": 6}),
    "transposed convolution": ([node("ConvTranspose", ["x", "w"], ["y"])], {"w": zeros(5, 4, 3, 3)}, {"x": IMAGE}, {"C": 5}),
    "product": ([node("MatMul", ["x", "w"], ["y"])], {"w": zeros(7, 4)}, {"x": ("N", "T", "D")}, {"D": 7}),
    "weight on the left": ([node("MatMul", ["w", "x"], ["y"])], {"w": zeros(4, 7)}, {"x": ("N", "D", "T")}, {"D": 7}),
    "Gemm": ([node("Gemm", ["x", "w"], ["y"], transB=1)], {"w": zeros(4, 7)}, {"x": ("N", "D")}, {"D": 7}),
    "transposed Gemm": ([node("Gemm", ["x", "w"], ["y"], transA=1)], {"w": zeros(7, 4)}, {"x": ("D", "N")}, {"D": 7}),
    "sum": ([node("Add", ["x", "w"], ["y"])], {"w": zeros(5, 1, 3)}, {"x": ("A", "B", "C")}, {"A": 5, "C": 3}),
    "scale": ([node("LayerNormalization", ["x", "w"], ["y"])], {"w": zeros(6)}, {"x": ("N", "D")}, {"D": 6}),
    "recurrent": (
        [node("LSTM", ["x", "w", "r"], ["y"], hidden_size=2)], {"w": zeros(1, 8, 3), "r": zeros(1, 8, 2)},
        {"x": ("T", "N", "D")}, {"D": 3},
    ),
    "joined": ([node("Concat", ["x", "w"], ["y"], axis=1)], {"w": zeros(2, 3, 5)}, {"x": ("N", "T", "D")}, {"N": 2, "D": 5}),
    "blocks": (
        [node("MatMulNBits", ["x", "b", "s"], ["y"], domain="com.microsoft", K=32, N=2, bits=4, block_size=32)],
        {"b": np.zeros((2, 1, 16), np.uint8), "s": zeros(2)}, {"x": ("N", "D")}, {"D": 32},
    ),
    "through other nodes": (
        [node("Relu", ["x"], ["a"]), node("Transpose", ["a"], ["b"], perm=[0, 2, 1]), node("MatMul", ["b", "w"], ["y"])],
        {"w": zeros(9, 4)}, {"x": ("N", "D", "T")}, {"D": 9},
    ),
    "of another input": ([node("Add", ["x", "z"], ["y"])], {}, {"x": ("N", "D"), "z": ("N", 6)}, {"D": 6}),
    "without a name": ([node("MatMul", ["x", "w"], ["y"])], {"w": zeros(7, 4)}, {"x": ("N", None)}, {"x.1": 7}),
    "nothing": ([node("Relu", ["x"], ["y"])], {}, {"x": ("N", "D")}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", DEMANDS)
def test_what_a_node_demands(name: str) -> None:
    nodes, weights, inputs, want = DEMANDS[name]
    assert demanded(nodes, weights, **inputs) == want


def written(folder: Path, made: onnx.ModelProto) -> str:
    path = folder / "m.onnx"
    path.write_bytes(made.SerializeToString())
    return str(path)


def test_an_image_of_unknown_channels_is_drawn(tmp_path: Path) -> None:
    """As Hugging Face's Optimum exports: pixel_values [batch_size, num_channels, height, width]."""
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Conv", ["c", "v"], ["y"], strides=[40, 40])]
    weights = {"w": zeros(8, 3, 3, 3), "v": zeros(2, 8, 40, 40)}
    spec = written(tmp_path, model(nodes, {"x": (np.float32, "batch_size", "num_channels", "height", "width")}, ["y"], weights))
    loaded = load_model(spec, None, None, 0, None)
    assert loaded.inputs["x"].shape == (8, 3, 64, 64)
    assert loaded.spec.endswith("?dim=height:64&dim=width:64")
    given = load_model(f"{spec}?dim=height:50&dim=width:45", None, None, 0, 2)
    assert given.inputs["x"].shape == (2, 3, 50, 45)


@pytest.mark.parametrize(
    ("dim", "size"),
    [
        ("past + 1", 6), ("past+seq", 8), ("2*past - seq", 7), ("(past + seq)//2", 4), ("seq - past", None), ("past", 5),
        ("other + 1", None), ("past-key", None), ("past + ", None), ("past // 0", None), ("floor(past)", None),
    ],
)  # fmt: skip
def test_a_name_that_is_a_sum(dim: str, size: int | None) -> None:
    assert size_of(dim, {"past": 5, "seq": 3}) == size


def test_sums_are_honoured_where_inputs_are_drawn(tmp_path: Path) -> None:
    nodes = [node("Concat", ["past", "x"], ["present"], axis=1), node("Add", ["present", "mask"], ["y"])]
    inputs = {
        "past": (np.float32, "batch", "past_length", 4),
        "x": (np.float32, "batch", "length", 4),
        "mask": (np.float32, "batch", "past_length + length", 1),
    }
    spec = written(tmp_path, model(nodes, inputs, ["y"]))
    assert sample_inputs(spec)["mask"].shape == (8, 16, 1)
    assert load_model(f"{spec}?dim=past_length:0", None, None, 0, None).inputs["mask"].shape == (8, 8, 1)
    both = load_model(f"{spec}?dim=past_length:5&dim=length:1", None, None, 0, 2)
    assert [both.inputs[name].shape[1] for name in inputs] == [5, 1, 6]


def test_a_decoder_of_one_token(tmp_path: Path) -> None:
    """The mask has one place more than the past: only a sequence of one token fits, which is tried."""
    nodes = [node("Concat", ["past", "x"], ["present"], axis=1), node("Add", ["present", "mask"], ["y"])]
    inputs = {
        "past": (np.float32, "batch", "past_length", 4),
        "x": (np.float32, "batch", "length", 4),
        "mask": (np.float32, "batch", "past_length + 1", 1),
    }
    loaded = load_model(written(tmp_path, model(nodes, inputs, ["y"])), None, None, 0, None)
    assert loaded.inputs["x"].shape == (8, 1, 4)
    assert loaded.spec.endswith("?dim=length:1")


def test_sizes_that_are_given_are_held_to_what_the_nodes_demand() -> None:
    made = model([node("MatMul", ["x", "w"], ["y"])], {"x": (np.float32, "N", "D")}, ["y"], {"w": zeros(7, 4)})
    with pytest.raises(ModelError, match="MatMul"):
        program(made, {"x": zeros(2, 6)})
