"""What the instructions of a graph compute is what the graph means: functional model against NumPy, over steps with a cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from small import Machine, decoder, steps

from fleet.ir.accel.evaluate import evaluate
from fleet.ir.accel.nodes import ConstantNode, Node
from fleet.ir.accel.walk import constants, rewrite
from fleet.targets.accel.build import build
from fleet.transforms.quantise import QuantiseOptions, quantise


def as_stored(graph: Node, group: int) -> dict[str, np.ndarray]:
    """The weights as the device has them, by name."""
    rounded: dict[str, np.ndarray] = {}
    for c in constants(graph):
        if c.dtype.dtype == "int4":
            rounded[str(c.label)] = quantise(np.asarray(c.data), group=group, levels=7, options=QuantiseOptions()).values(
                np.float64
            )
    return rounded


def with_weights(graph: Node, weights: dict[str, np.ndarray]) -> Node:
    def change(node: Node, args: tuple[Node, ...]) -> Node:
        if isinstance(node, ConstantNode) and node.label in weights:
            return ConstantNode(
                str(node.label), weights[node.label], node.shape, node.dtype, node.device, node.prefix, node.checked_type
            )
        return node.with_arguments(args)

    return rewrite(graph, change)


@pytest.mark.parametrize("onchip", [False, True])
@pytest.mark.parametrize("group", [32, 128])
def test_steps_compute_what_the_graph_means(tmp_path: Path, group: int, onchip: bool) -> None:
    graph = decoder(onchip=onchip)
    module = build(graph, options={"group": group})
    machine = Machine(module, tmp_path)
    meaning = with_weights(graph, as_stored(graph, group))
    state = None
    for x, dims in steps((5, 1, 17, 1, 1)):
        found = machine.step({"x": x}, **dims)
        wanted = evaluate(meaning, {"x": x.astype(np.float64)}, dims, state=state)
        state = wanted.state
        logits, index = wanted.result
        # FP16 and a piecewise linear SiLU: a per cent or two of the logits' spread.
        error = np.abs(found["output"].astype(np.float64) - logits).max() / logits.std()
        assert error < 0.05, dims
        assert found["output_argmax"].shape == (1, 1)
        near = np.sort(logits[0, -1])[-2:]
        if near[1] - near[0] > 0.1 * logits.std():
            assert found["output_argmax"][0, 0] == index[0, -1]
