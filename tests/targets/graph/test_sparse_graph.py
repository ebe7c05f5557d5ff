"""Sparse weights of a graph: layer by layer by their names, and what a device without them says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small import Machine, decoder, steps, wide
from test_meaning import with_weights

from fleet.errors import FleetError
from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.walk import constants
from fleet.isa.registry import find_device
from fleet.targets.accel.build import build
from fleet.transforms.quantise import QuantiseOptions, quantise

_, SPARSE = find_device("hbm_small_sparse")


def largest_of_eight(weights: np.ndarray, kept: int) -> np.ndarray:
    """Zero all but the largest `kept` of each 8 inputs."""
    blocks = weights.reshape(-1, 8, weights.shape[1])
    bound = np.sort(np.abs(blocks), axis=1)[:, -kept][:, None]
    return np.where(np.abs(blocks) >= bound, blocks, 0).reshape(weights.shape)


def test_layers_keep_what_a_table_says(tmp_path: Path) -> None:
    graph = decoder()
    names = [str(c.label) for c in constants(graph) if c.dtype.dtype == "int4"]
    strategy = {name: (4, 2, 1, 0)[i % 4] for i, name in enumerate(names)}
    module = build(graph, options={"group": 128, "sparse": {name: kept for name, kept in strategy.items() if kept}}, device=SPARSE)
    stored = [call.fields["mvm_sparse"] for call in module.calls(token=1, last_token=0) if "mvm_sparse" in call.fields]
    assert sorted(stored) == sorted(strategy.values())
    weights: dict[str, np.ndarray] = {}
    for c in constants(graph):
        if c.dtype.dtype == "int4":
            kept = strategy[str(c.label)]
            stays = largest_of_eight(np.asarray(c.data), kept) if kept else np.asarray(c.data)
            weights[str(c.label)] = quantise(stays, group=128, levels=7, options=QuantiseOptions()).values(np.float64)
    meaning, machine, state = with_weights(graph, weights), Machine(module, tmp_path), None
    for x, dims in steps((5, 1, 17)):
        found = machine.step({"x": x}, **dims)
        wanted = evaluate(meaning, {"x": x.astype(np.float64)}, dims, state=state)
        state, logits = wanted.state, wanted.result[0]
        assert np.abs(found["output"].astype(np.float64) - logits).max() / logits.std() < 0.05, dims


def test_fewer_weights_take_less_memory() -> None:
    built = {kept: build(wide(8), options={"sparse": kept}, device=SPARSE) for kept in (0, 4, 2, 1)}
    sizes = {kept: sum(image[3].size for image in module.images()) for kept, module in built.items()}
    assert sizes[0] > sizes[4] > sizes[2] > sizes[1]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"sparse": 3}, "sparse is 3, expected 4, 2 or 1 of each 8 weights"),
        ({"sparse": 2, "group": 64}, "sparse weights in groups of 64, it has groups of 128"),
    ],
)
def test_what_is_not_sparse_is_said(options: dict[str, int], says: str) -> None:
    with pytest.raises(FleetError, match=says):
        build(decoder(), options=options, device=SPARSE)


def test_a_device_without_says_so() -> None:
    with pytest.raises(FleetError, match="hbm_small: it has no sparse weights"):
        build(decoder(), options={"sparse": 2})
