"""Products whose attribute `accuracy_level` lets onnxruntime compute less exactly than the operator's definition.

At level 4 MatMulNBits quantises its activations to int8, at levels 2 and 3 it may round them to float16 and bfloat16. A comparison
would measure that choice, not the other engine: the model that runs here has level 0, which is float32 by codes and scales.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto

_LEVEL = "accuracy_level"


def compute_exactly(graph: GraphProto) -> list[str]:
    """Set, in place, the level of all products to 0; returns the outputs of the nodes that had another."""
    found: list[str] = []
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "MatMulNBits" and attribute.name == _LEVEL and attribute.i:
                attribute.i = 0
                found.append(node.output[0])
            for inner in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                found += compute_exactly(inner)
    return found
