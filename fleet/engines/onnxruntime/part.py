"""Extracts the part of an ONNX model that `--from` and `--to` select, for onnxruntime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fleet.ir.program import Argument


def cut(model: Any, inputs: Sequence[Argument], outputs: Sequence[str]) -> None:
    """Reduce the model, in place, to the nodes that lead from values and inputs of these names to the outputs.

    An output name that no node produces is left for onnxruntime to refuse.
    """
    from onnx import ValueInfoProto, helper

    graph = model.graph
    makers = {name: index for index, node in enumerate(graph.node) for name in node.output if name}
    own = {v.name for v in graph.input}
    first = [a for a in inputs if a.name not in own]
    known = {a.name for a in first}
    waiting, kept, used = list(outputs), set[int](), set[str]()
    while waiting:
        name = waiting.pop()
        if name in used:
            continue
        used.add(name)
        index = None if name in known else makers.get(name)
        if index is not None and index not in kept:
            kept.add(index)
            waiting += _names(graph.node[index])
    nodes = [node for index, node in enumerate(graph.node) if index in kept]
    ports = [v for v in graph.input if v.name in used]
    ports += [helper.make_tensor_value_info(a.name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for a in first]
    del graph.node[:], graph.input[:], graph.output[:]
    graph.node.extend(nodes)
    graph.input.extend(ports)
    graph.output.extend(ValueInfoProto(name=name) for name in outputs)


def _names(node: Any) -> list[str]:
    """Return the names that a node reads, its subgraphs included."""
    found = [name for name in node.input if name]
    for attribute in node.attribute:
        for graph in (attribute.g, *attribute.graphs):
            for inner in graph.node:
                found += _names(inner)
            found += [v.name for v in graph.output]
    return found
