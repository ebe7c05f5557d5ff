"""Operators whose attributes interact, drawn at random, beside onnxruntime: softmax before opset 13, pooling windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx_models import model, node, reference, run

DRAWS = 40
Drawn = tuple[str, int, tuple[int, ...], dict[str, Any]]


def softmaxes(rng: np.random.Generator) -> Drawn:
    """Opsets 11 and 12: everything from the axis on is one dimension. 13: one axis."""
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 5))))
    attributes = {} if len(shape) > 1 and rng.random() < 0.2 else {"axis": int(rng.integers(-len(shape), len(shape)))}
    return str(rng.choice(["Softmax", "LogSoftmax", "Hardmax"])), int(rng.integers(11, 14)), shape, attributes


def pools(rng: np.random.Generator) -> Drawn:
    rank = int(rng.integers(1, 4))
    op = str(rng.choice(["AveragePool", "MaxPool"]))
    kernel = [int(n) for n in rng.integers(1, 4, rank)]
    attributes: dict[str, Any] = {"kernel_shape": kernel, "ceil_mode": int(rng.integers(2))}
    if rng.random() < 0.7:
        attributes["strides"] = [int(n) for n in rng.integers(1, 4, rank)]
    if rng.random() < 0.6:
        attributes["pads"] = [int(rng.integers(0, k)) for k in kernel * 2]
    if op == "AveragePool":
        attributes["count_include_pad"] = int(rng.integers(2))
    return op, 19, (2, 3, *(int(n) for n in rng.integers(5, 9, rank))), attributes


@pytest.mark.parametrize("draw", [softmaxes, pools])
def test_drawn_attributes_give_what_onnxruntime_gives(draw: Callable[[np.random.Generator], Drawn]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(DRAWS):
        op, opset, shape, attributes = draw(rng)
        made = model([node(op, ["x"], ["y"], **attributes)], {"x": (np.float32, *shape)}, ["y"], opset=opset)
        x = {"x": rng.standard_normal(shape).astype(np.float32)}
        expected, got = reference(made, x)[0], run(made, x)[0]
        said = f"{op} {opset} {shape} {attributes}"
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape), said
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=said)
