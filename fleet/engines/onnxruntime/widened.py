"""Values of an ONNX model whose element type onnxruntime cannot hand to NumPy, such as bfloat16: cast before they are returned."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto


def widen(model: ModelProto, names: Collection[str]) -> dict[str, str]:
    """Add, in place, a cast of each of these values that has a narrow type; returns value -> its cast, an output of the model.

    A cast gives what a program carries of the type: floats as float32, integers as int8 or uint8, all of them exact.
    """
    from onnx import ValueInfoProto, helper, shape_inference

    from fleet.frontend.onnx.narrow import BY_CODE

    if not _has_narrow(model.graph, BY_CODE):
        return {}
    graph = shape_inference.infer_shapes(model).graph
    types = {v.name: v.type.tensor_type.elem_type for v in (*graph.value_info, *graph.output, *graph.input)}
    taken = {name for node in model.graph.node for name in node.output}
    found: dict[str, str] = {}
    for name in names:
        narrow = BY_CODE.get(types.get(name, 0))
        if narrow is None:
            continue
        cast = next(n for i in range(len(taken) + 1) if (n := f"{name}.wide{i or ''}") not in taken)
        taken.add(cast)
        to = helper.np_dtype_to_tensor_dtype(narrow.carried)
        model.graph.node.append(helper.make_node("Cast", [name], [cast], to=to))
        model.graph.output.append(ValueInfoProto(name=cast))
        found[name] = cast
    for index in reversed(range(len(model.graph.output))):
        if model.graph.output[index].name in found:
            del model.graph.output[index]
    return found


def _has_narrow(graph: GraphProto, codes: Collection[int]) -> bool:
    """Return whether a weight, an input, an output or an attribute such as `to` of a graph has a narrow type."""
    ports = (*graph.input, *graph.output, *graph.value_info)
    if any(w.data_type in codes for w in graph.initializer) or any(p.type.tensor_type.elem_type in codes for p in ports):
        return True
    attributes = [a for node in graph.node for a in node.attribute]
    return any(a.name in ("to", "output_dtype", "dtype") and a.i in codes for a in attributes) or any(
        a.t.data_type in codes or _has_narrow(a.g, codes) for a in attributes
    )
