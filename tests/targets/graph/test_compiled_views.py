"""Views: where they stand, against NumPy on the functional model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import Machine

from fleet.dlavm import adr, ne, transform
from fleet.errors import FleetError, ModelError
from fleet.ir.accel.nodes import Node
from fleet.targets.accel.build import build

hbm = adr.hbm
TOKENS = 5


def given(channels: int, heads: int = 1, name: str = "x") -> Node:
    return hbm.var_ddr(name, (heads, ne.Var("token", 9), channels))


def computed(folder: Path, *nodes: Node, tokens: int = TOKENS) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    graph = transform.infer_type(adr.tuple(nodes), "hbm_small")
    module = build(graph)
    machine, rng = Machine(module, folder), np.random.default_rng(0)
    inputs = {n: rng.normal(size=module.shape_of(n, token=tokens)).astype(np.float16) for n in module.inputs}
    found = machine.step(inputs, token=tokens)
    return inputs, [found[f"output{i}"] for i in range(len(nodes))]


def twice(node: Node) -> Node:
    return hbm.add(node, node)


def test_heads_and_channels(tmp_path: Path) -> None:
    heads = adr.reshape(given(128), (4, -1, 32))
    inputs, (a, b) = computed(tmp_path, twice(heads), twice(adr.reshape(twice(heads), (1, -1, 128))))
    x = inputs["x"]
    np.testing.assert_array_equal(a, 2 * x.reshape(TOKENS, 4, 32).transpose(1, 0, 2))
    np.testing.assert_array_equal(b, 4 * x)


@pytest.mark.parametrize(("axis", "sizes"), [(2, (64, 32, 40)), (-1, (96, 40)), (0, (1, 3))])
def test_split(tmp_path: Path, axis: int, sizes: tuple[int, ...]) -> None:
    heads = 4 if axis == 0 else 1
    parts = adr.split(given(136, heads), axis, sizes)
    inputs, found = computed(tmp_path, *(twice(parts[i]) for i in range(len(sizes))))
    for wanted, part in zip(np.split(inputs["x"], np.cumsum(sizes)[:-1], axis=axis), found, strict=True):
        np.testing.assert_array_equal(part, 2 * wanted)


def test_split_of_tokens_and_gather(tmp_path: Path) -> None:
    token = ne.Var("token", 9, 3)  # fewer tokens cannot be split so
    x = hbm.var_ddr("x", (2, token, 64))
    parts = adr.split(x, 1, (2, token - 2))
    inputs, (a, b, c, d) = computed(tmp_path, *(twice(n) for n in (parts[0], parts[1], adr.gather(x), adr.gather(x, 1))))
    x_ = inputs["x"]
    for found, wanted in ((a, x_[:, :2]), (b, x_[:, 2:]), (c, x_[:, -1:]), (d, x_[:, 1:2])):
        np.testing.assert_array_equal(found, 2 * wanted)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_concat_is_written_into_one_storage(tmp_path: Path, axis: int) -> None:
    x, y = given(64, 2), given(64, 2, "y")
    parts = [hbm.add(x, y), hbm.mul(x, y), hbm.sub(x, y)]
    joined = adr.concat(parts, dim=axis)
    # A part is used by itself, before and after the others are made.
    graph = adr.tuple([twice(joined), hbm.add(parts[0], parts[0])])
    assert isinstance(graph.fields[1], Node)
    inputs, (whole, one) = computed(tmp_path, *graph.fields)
    a, b = inputs["x"], inputs["y"]
    np.testing.assert_array_equal(whole, 2 * np.concatenate([a + b, a * b, a - b], axis=axis))
    np.testing.assert_array_equal(one, 2 * (a + b))


def test_concat_of_parts_of_one_tensor(tmp_path: Path) -> None:
    parts = adr.split(given(128), 2, (32, 64, 32))
    inputs, (found,) = computed(tmp_path, twice(adr.concat([parts[0], parts[1]], dim=2)))
    np.testing.assert_array_equal(found, 2 * inputs["x"][..., :96])


def realloc(x: Node) -> Node:
    return adr.realloc(x, (1, 9, 256))


def test_realloc(tmp_path: Path) -> None:
    inputs, (found,) = computed(tmp_path, twice(realloc(given(64))))
    np.testing.assert_array_equal(found, 2 * inputs["x"])


def test_realloc_reserves_room() -> None:
    y = twice(given(64))
    plans = [build(transform.infer_type(twice(n), "hbm_small")).storage for n in (y, realloc(y))]
    assert [t.life.size for plan in plans for t in plan.tenants if t.key == "add_0"] == [9 * 64 * 2, 9 * 256 * 2]


def test_an_input_and_results_of_one_name(tmp_path: Path) -> None:
    x = given(64, name="a.1")
    a = hbm.add(x, x, name="a.1")
    b = hbm.add(hbm.add(a, a, name="a"), x)
    inputs, (found,) = computed(tmp_path, hbm.add(b, a))
    a_ = inputs["a.1"]
    np.testing.assert_array_equal(found, (4 * a_ + a_) + 2 * a_)


def wrong_order(x: Node) -> Node:
    parts = adr.split(x, 2, (64, 64))
    return adr.concat([parts[1], parts[0]], dim=2)


def two_tensors(x: Node) -> Node:
    return adr.concat([x, given(128, name="y")], dim=2)


def twice_the_same(x: Node) -> Node:
    y = twice(x)
    return adr.concat([y, y], dim=2)


def heads_apart(x: Node) -> Node:
    token = ne.Var("token", 9)
    first = adr.split(adr.reshape(x, (4, -1, 32)), 1, (1, token - 1))[0]
    return adr.reshape(adr.split(first, 0, (2, 2))[0], (1, -1, 64))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (wrong_order, lambda x, _: np.concatenate([x[..., 64:], x[..., :64]], 2)),
        (two_tensors, lambda x, y: np.concatenate([x, y], 2)),
        (twice_the_same, lambda x, _: np.concatenate([2 * x, 2 * x], 2)),
    ],
)
def test_what_takes_copies(make: Callable[[Node], Node], expected: Callable[[Any, Any], Any], tmp_path: Path) -> None:
    inputs, (found,) = computed(tmp_path, twice(make(given(128))))
    np.testing.assert_array_equal(found, 2 * expected(inputs["x"], inputs.get("y")))


def test_heads_of_some_tokens(tmp_path: Path) -> None:
    """Strides stay those of the whole tensor."""
    inputs, (found,) = computed(tmp_path, twice(heads_apart(given(128))))
    np.testing.assert_array_equal(found, 2 * inputs["x"][:, :1, :64])


def test_a_step_that_a_view_cannot_have_is_refused() -> None:
    token = ne.Var("token", 9)
    parts = adr.split(given(64), 1, (2, token - 2))
    module = build(transform.infer_type(twice(parts[0]), "hbm_small"))
    assert module.calls(token=2)  # the other part is empty, and nothing uses it
    with pytest.raises(ModelError, match=r"step token=1: 1 too few for 'split_view_0' \(accel.split\)"):
        module.calls(token=1)


def test_a_constant_has_no_views() -> None:
    table = hbm.const_ddr("table", None, (1, 9, 64))
    with pytest.raises(FleetError, match="the constant 'table', views are of computed tensors"):
        build(transform.infer_type(twice(adr.gather(table, 0)), "hbm_small"))


@pytest.mark.parametrize(
    ("view", "least"),
    [
        (lambda x, _: adr.gather(x, 5), 6),
        (lambda x, t: adr.gather(x, t - 3), 3),
        (lambda x, t: adr.split(x, 1, (t - 2, 2))[0], 3),
        (lambda x, t: adr.split(x, 1, (t - 2, 2))[1], 2),
    ],
)
def test_a_step_that_is_too_small_for_a_view(view: Callable[[Node, ne.Var], Node], least: int) -> None:
    token = ne.Var("token", max_data=9)
    x = adr.hbm.var_ddr("x", (1, token, 64))
    module = build(transform.infer_type(view(adr.hbm.add(x, x), token), "hbm_small"), aux=True)
    module.bind({"token": least})
    assert module.first_step["token"] == least
    with pytest.raises(ModelError, match=r"1 too few for .*(gather|split)"):
        module.calls(token=least - 1)


@pytest.mark.parametrize("index", [-1, 9, 1 << 40, 1 << 70])
def test_a_token_that_no_step_has(index: int) -> None:
    x = adr.hbm.var_ddr("x", (1, ne.Var("token", max_data=9), 64))
    with pytest.raises(FleetError, match=rf"accel.gather\(x\): index is {index}, expected a token of \(1, token, 64\)"):
        transform.infer_type(adr.gather(x, index), "hbm_small")
