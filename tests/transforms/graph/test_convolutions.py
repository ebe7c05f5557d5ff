"""Convolutions as products: the values, and what the device computes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from fleet.dlavm import adr, ne
from fleet.errors import FleetError
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.nodes import Node, OperatorCall, post_order
from fleet.ir.accel.types import Dim
from fleet.isa.registry import find_device
from fleet.llm.sessions.run_module import ModuleRunner
from fleet.targets.accel.build import build
from fleet.transforms.products.convolve import convolve_by_products
from fleet.transforms.simplify.infer_types import infer_type

hbm = adr.hbm
SMALL = find_device("hbm_small")[1]


def weights(*shape: int, name: str = "w") -> Node:
    """Codes of INT4 whose scale is 1/8: quantised as they are, whatever taps a group holds."""
    codes = np.random.default_rng(sum(shape)).integers(-6, 7, shape)
    codes[..., :1, :] = 7
    return hbm.const_hbm(name, (codes / 8).astype(np.float32), shape)


def convolution(height: int, width: int, kernel: tuple[int, int], strides: tuple[int, int], padding: tuple[int, int]) -> Node:
    x = hbm.var_ddr("x", (height, width, 32))
    return infer_type(hbm.conv2d(x, weights(*kernel, 32, 64), strides, padding), "hbm_small")


SHAPES = [
    (4, 6, (3, 3), (1, 1), (0, 0)),
    (4, 6, (3, 3), (1, 1), (1, 1)),
    (5, 5, (3, 2), (2, 1), (1, 0)),
    (5, 7, (2, 3), (1, 2), (0, 1)),
    (3, 4, (1, 1), (1, 1), (0, 0)),
    (1, 5, (1, 3), (1, 1), (0, 2)),
    (3, 3, (3, 3), (1, 1), (0, 0)),
    (6, 1, (3, 1), (1, 1), (2, 0)),
]


@pytest.mark.parametrize(("height", "width", "kernel", "strides", "padding"), SHAPES)
def test_the_device_computes_it(
    height: int, width: int, kernel: tuple[int, int], strides: tuple[int, int], padding: tuple[int, int]
) -> None:
    graph = convolution(height, width, kernel, strides, padding)
    text = str(graph)
    after = convolve_by_products(graph, SMALL)
    assert str(graph) == text
    assert len(after.made) == 1
    assert not any(n.name == "accel.hbm.conv2d" for n in post_order(after.graph))
    x = (np.random.default_rng(1).integers(-8, 9, (height, width, 32)) / 8).astype(np.float16)
    one, two = (evaluate(g, {"x": x}, {}).result for g in (graph, after.graph))
    assert isinstance(one, np.ndarray)
    np.testing.assert_array_equal(one, two)
    runner = ModuleRunner(build(graph))
    try:
        (found,) = runner.run({"x": x}).values()
    finally:
        runner.close()
    # The scales of groups are binary16: 7 of them are 7/8 but for a rounding.
    np.testing.assert_allclose(found, one, rtol=2e-3, atol=2e-3 * np.abs(one).max())


def test_convolutions_behind_one_another() -> None:
    x = hbm.var_ddr("x", (4, 5, 32))
    first = hbm.silu(hbm.conv2d(x, weights(3, 3, 32, 32, name="a"), (1, 1), (1, 1)))
    graph = infer_type(hbm.conv2d(first, weights(3, 3, 32, 64, name="b"), (1, 1), (1, 1)), "hbm_small")
    data = np.random.default_rng(2).standard_normal((4, 5, 32)).astype(np.float16)
    expected = evaluate(graph, {"x": data}, {}).result
    runner = ModuleRunner(build(graph))
    try:
        (found,) = runner.run({"x": data}).values()
    finally:
        runner.close()
    assert np.abs(found - expected).max() < 0.01 * np.abs(expected).max()


def test_products_are_few() -> None:
    """One a row of the result where nothing is padded; three with a column on either side."""

    def products(padding: tuple[int, int]) -> int:
        graph = convolve_by_products(convolution(6, 8, (3, 3), (1, 1), padding), SMALL).graph
        return sum(isinstance(n, OperatorCall) and n.name == "accel.hbm.mvm" for n in post_order(graph))

    assert [products((0, 0)), products((1, 0)), products((1, 1))] == [4, 6, 18]


def image(channels: int = 32, width: Dim = 4) -> Node:
    return hbm.var_ddr("x", (4, width, channels))


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (lambda: hbm.conv2d(image(48), weights(1, 1, 48, 32)), r"%0 \(accel.hbm.conv2d\): its input has 48 channels"),
        (lambda: hbm.conv2d(image(width=ne.Var("token", 8)), weights(1, 1, 32, 32)), "its size token is one that a step"),
        (lambda: hbm.conv2d(image(), hbm.const_hbm("w", "w.bin", (1, 1, 32, 32))), "its weights are a file"),
        (lambda: hbm.conv2d(image(), weights(1, 1, 32, 32), (1, 1), (1, 1)), "a window of it sees padding alone"),
    ],
)
def test_what_cannot_become_products(node: Callable[[], Node], words: str) -> None:
    with pytest.raises(FleetError, match=words):
        build(infer_type(node(), "hbm_small"))
