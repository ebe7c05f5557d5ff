"""Products of uint8 by int8 have the standard's integers on every processor, also where onnxruntime's own sums saturate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "frontend/onnx"))
import onnx
from onnx import helper
from onnx_models import model, node

from fleet.engines.base import RunOptions
from fleet.engines.onnxruntime import ENGINE
from fleet.engines.onnxruntime.exact_sums import make_sums_exact
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.onnx.load import load

ROWS = np.full((4, 16), 255, np.uint8)
COLUMNS = np.random.default_rng(4).choice(np.array([-128, 127], np.int8), (16, 5))
IMAGE = np.full((1, 3, 5, 5), 255, np.uint8)
FILTERS = np.random.default_rng(5).choice(np.array([-128, 127], np.int8), (2, 3, 3, 3))
"""Sums of any two products of these leave int16 or come to its ends."""
SCALES = {
    "xs": np.float32(0.05), "ws": np.float32(0.001), "ys": np.float32(0.5),
    "xz": np.uint8(3), "wz": np.int8(-7), "yz": np.uint8(100), "fz": np.int8(0),
}  # fmt: skip


def saved(nodes: list[onnx.NodeProto], x: np.ndarray, weights: dict[str, Any], folder: Path) -> str:
    path = folder / "m.onnx"
    path.write_bytes(model(nodes, {"x": (x.dtype, *x.shape)}, ["y"], SCALES | weights).SerializeToString())
    return str(path)


def both_agree(path: str, x: np.ndarray) -> np.ndarray:
    program = load(path, {}, {"x": x})
    one, other = (engine.run(program, {"x": x}, RunOptions()).outputs["y"] for engine in (VM, ENGINE))
    np.testing.assert_array_equal(one, other)
    return one


PRODUCTS = {
    "MatMulInteger": (node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"]), ROWS, COLUMNS),
    "MatMulInteger without zero points": (node("MatMulInteger", ["x", "w"], ["y"]), ROWS, COLUMNS),
    "MatMulInteger, zero points of columns": (node("MatMulInteger", ["x", "w", "", "cz"], ["y"]), ROWS, COLUMNS),
    "ConvInteger": (node("ConvInteger", ["x", "w", "xz"], ["y"]), IMAGE, FILTERS),
    "QLinearMatMul": (node("QLinearMatMul", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"]), ROWS, COLUMNS),
    "QLinearConv": (node("QLinearConv", ["x", "xs", "xz", "w", "ws", "fz", "ys", "yz"], ["y"]), IMAGE, FILTERS),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product(name: str, tmp_path: Path) -> None:
    made, x, weight = PRODUCTS[name]
    both_agree(saved([made], x, {"w": weight, "cz": np.arange(-2, 3, dtype=np.int8)}, tmp_path), x)


def test_integers_are_those_of_wide_sums(tmp_path: Path) -> None:
    found = both_agree(saved([node("MatMulInteger", ["x", "w"], ["y"])], ROWS, {"w": COLUMNS}, tmp_path), ROWS)
    np.testing.assert_array_equal(found, ROWS.astype(np.int64) @ COLUMNS)


def test_weights_that_a_node_makes_and_two_products_share(tmp_path: Path) -> None:
    nodes = [
        node("Cast", ["wide"], ["w"], to=onnx.TensorProto.INT8),
        node("MatMulInteger", ["x", "w"], ["a"]),
        node("MatMulInteger", ["x", "w", "xz"], ["b"]),
        node("Add", ["a", "b"], ["y"]),
    ]
    both_agree(saved(nodes, ROWS, {"wide": COLUMNS.astype(np.int32)}, tmp_path), ROWS)


def test_a_product_inside_a_branch(tmp_path: Path) -> None:
    def branch(product: list[str]) -> onnx.GraphProto:
        return helper.make_graph([node("MatMulInteger", product, ["z"])], "b", [], [helper.make_empty_tensor_value_info("z")])

    nodes = [
        node("Cast", ["x"], ["f"], to=onnx.TensorProto.FLOAT),
        node("ReduceMax", ["f"], ["top"], keepdims=0),
        node("Greater", ["top", "ws"], ["c"]),
        node("If", ["c"], ["y"], then_branch=branch(["x", "w"]), else_branch=branch(["x", "w", "xz", "wz"])),
    ]
    both_agree(saved(nodes, ROWS, {"w": COLUMNS}, tmp_path), ROWS)


@pytest.mark.parametrize("activation", [np.int8, np.uint8])
def test_only_products_of_uint8_by_int8_are_changed(activation: Any) -> None:
    """Also on a processor whose sums are exact, this holds what is given to onnxruntime."""
    made = model([node("MatMulInteger", ["x", "w"], ["y"])], {"x": (activation, 4, 16)}, ["y"], {"w": COLUMNS})
    before = made.SerializeToString()
    make_sums_exact(made)
    kinds = [n.op_type for n in made.graph.node]
    assert kinds == (["Constant", "Cast", "Add", "Cast", "MatMulInteger"] if activation is np.uint8 else ["MatMulInteger"])
    assert activation is np.uint8 or made.SerializeToString() == before
