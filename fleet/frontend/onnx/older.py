"""Models of opsets before the oldest that the front end reads, rewritten by onnx's own version converter.

The converter is C++ that trusts what it is given, so nodes are held against ONNX's definitions before. Weights are taken out while
it works: it would copy them, and drops data that lie beside the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx import checker, defs, helper, shape_inference, version_converter

from fleet.core.notice import notice
from fleet.frontend.onnx.limits import MAX_DEPTH, OLDEST_OPSET
from fleet.frontend.onnx.problems import refuse

OLDER = "fleet.older"
"""Domain of operators with the meaning of an old opset: those of `_KEPT`. The converter leaves it as it is."""

BROADCAST = ("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less")
"""Operators of two operands that have the attributes broadcast and axis before opset 7."""

_KEPT = {
    **dict.fromkeys(("PRelu", "Gemm", "LSTM", "GRU", "RNN", *BROADCAST), 7),
    **{"Cast": 6, "Pad": 2},
}
"""Operator -> the opset before which the front end translates it itself: the converter gets it wrong, or does not know it."""

_SMALL = 64
"""Elements of an initializer that the converter sees: shapes, scales and axes, which become attributes or the other way round."""

_RESIZED = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "simple"}
"""What Upsample and the first Resize meant; the converter leaves the defaults of later opsets."""

_NO_ADAPTER = re.compile(r"No Adapter (?:From Version \$?\d+ )?[Ff]or (\w+)")

_INFERRED = re.compile(r"\[(?:Shape|Type)InferenceError\] (.*)")

_CAUSES: tuple[type[Exception], ...] = (
    *(version_converter.ConvertError, shape_inference.InferenceError, checker.ValidationError, DecodeError),
    *(RuntimeError, ValueError, TypeError, LookupError),
)
"""What the converter's C++ raises."""


def modernised(proto: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The model in an opset that is read; itself where it has one. Says so in one line. Raises ModelError."""
    version = next((e.version for e in proto.opset_import if e.domain in ("", "ai.onnx")), OLDEST_OPSET)
    if not 1 <= version < OLDEST_OPSET:
        return proto
    if proto.functions:
        refuse(name, f"has functions, and is of opset {version}, where there were none", "export it again")
    for node in _nodes(proto.graph, name, 0):
        _check(node, version, name)
    bare = onnx.ModelProto()
    bare.CopyFrom(proto)
    named = {port.name for port in bare.graph.input}
    for tensor in bare.graph.initializer:  # the converter looks for them among the inputs, where the oldest files have them
        if not isinstance(tensor.name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            refuse(name, "a name that is not UTF-8")
        if tensor.name not in named:
            bare.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    taken: dict[str, onnx.TensorProto] = {}
    for tensor in bare.graph.initializer:
        if tensor.ByteSize() > 16 * _SMALL:
            whole = onnx.TensorProto()
            whole.CopyFrom(tensor)
            taken[tensor.name] = whole
            tensor.CopyFrom(onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims, raw_data=b""))
    for node in _nodes(bare.graph, name, 0):
        if node.domain in ("", "ai.onnx") and version < _KEPT.get(node.op_type, 0):
            node.domain = OLDER
    bare.opset_import.append(helper.make_opsetid(OLDER, 1))
    try:
        made = version_converter.convert_version(bare, OLDEST_OPSET)
    except _CAUSES as error:
        refuse(
            name,
            f"is of opset {version}, which onnx cannot convert to {OLDEST_OPSET}{_reason(str(error))}",
            f"export it with an opset of {OLDEST_OPSET} or more",
        )
    for tensor in made.graph.initializer:
        if tensor.name in taken:
            tensor.CopyFrom(taken[tensor.name])
    for node in _nodes(made.graph, name, 0):
        if node.domain in ("", "ai.onnx") and node.op_type == "Resize":
            node.attribute.extend(helper.make_attribute(key, value) for key, value in _RESIZED.items())
    notice(f"{name}: opset {version} was converted to {OLDEST_OPSET} by onnx's version converter; nodes are numbered as converted")
    return made


def _reason(words: str) -> str:
    """What the converter's words say, without the places and assertions of its C++: ": no rule for Tile", or "" for other words."""
    if operator := _NO_ADAPTER.search(words):
        return f": it has no rule for the operator {operator[1]}"
    inferred = _INFERRED.search(" ".join(words.split()))
    return f" ({inferred[1][:200]})" if inferred else ""


def _nodes(graph: onnx.GraphProto, name: str, depth: int) -> Iterator[onnx.NodeProto]:
    if depth > MAX_DEPTH:
        refuse(name, f"graphs nested deeper than {MAX_DEPTH}")
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from _nodes(attribute.g, name, depth + 1)


def _check(node: onnx.NodeProto, version: int, name: str) -> None:
    """Refuses a node whose inputs or attributes are not those of its definition: the converter would look for them anyway."""
    if node.domain not in ("", "ai.onnx"):
        return
    where = f"{name}:{node.op_type} {node.name or next(iter(node.output), '')}"
    if not isinstance(node.op_type, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        refuse(name, "a name that is not UTF-8")
    if not defs.has(node.op_type, version, ""):
        refuse(where, f"is no operator of opset {version}", "`fleet help onnx-operators` lists what is supported")
    schema: Any = defs.get_schema(node.op_type, version, "")
    inputs, outputs = len(node.input), len(node.output)
    if not schema.min_input <= inputs <= schema.max_input or not schema.min_output <= outputs <= schema.max_output:
        refuse(where, f"has {inputs} inputs and {outputs} outputs, which opset {version} does not allow")
    kinds = {a.name: a.type for a in node.attribute}
    for key, attribute in schema.attributes.items():
        if key in kinds and kinds[key] != attribute.type.value:
            refuse(where, f"its attribute {key} is of another kind than opset {version} says")
        if attribute.required and key not in kinds:
            refuse(where, f"has no attribute {key}, which opset {version} wants")
    if node.op_type == "Scan" and version < 9:
        refuse(where, "scans a batch of sequences, as only opset 8 has it", "export the model again")
    if node.op_type == "BatchNormalization" and any(a.name == "spatial" and a.i == 0 for a in node.attribute):
        refuse(where, "normalises each element by itself (spatial=0), which no later opset can", "export the model again")
