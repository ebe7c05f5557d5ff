"""Sizes of unknown dimensions that a model's weights demand.

A model with pixels [batch, num_channels, height, width] whose first convolution has 3 channels demands num_channels = 3. ONNX's own
shape inference carries the names through the graph; what a node's operands say of a name is collected here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx import defs, helper, shape_inference

from fleet.frontend.onnx.graph import OnnxModel, OnnxNode
from fleet.frontend.onnx.registry import MICROSOFT

_Dim: TypeAlias = "int | str"
_Shape: TypeAlias = Sequence[_Dim]

_SMALL = 64
"""Elements of a weight that the shape inference sees: shapes and axes."""


def demanded_sizes(model: OnnxModel) -> dict[str, int]:
    """Sizes of the inputs' unknown dimensions that nodes demand: channels of a convolution, rows of a product's weight.

    A dimension without a name is called "INPUT.PLACE". Empty if nothing is unknown, or if onnx cannot infer shapes.
    """
    graph = model.graph
    ports = {p.name: [d if d != "" else f"{p.name}.{i}" for i, d in enumerate(p.dims)] for p in graph.inputs if p.dims is not None}
    names = {d for dims in ports.values() for d in dims if isinstance(d, str)}
    if not names:
        return {}
    shapes: dict[str, _Shape] = {
        **_inferred(model, ports),
        **{name: list(array.shape) for name, array in graph.weights.items()},
        **ports,
    }
    found: dict[str, int] = {}
    for node in graph.nodes:
        operands = [shapes.get(name) if name else None for name in node.inputs]
        for one, other in _pairs(node, operands):
            for a, b in ((one, other), (other, one)):
                if isinstance(a, str) and a in names and isinstance(b, int) and b > 0:
                    found.setdefault(a, b)
    return found


def _inferred(model: OnnxModel, ports: Mapping[str, _Shape]) -> dict[str, _Shape]:
    """Shapes of the graph's values, as far as onnx infers them without the large weights."""
    graph = model.graph
    types = {p.name: p.code or 0 for p in graph.inputs}
    inputs = [helper.make_tensor_value_info(name, types[name], list(dims)) for name, dims in ports.items()]
    small: list[onnx.TensorProto] = []
    for name, array in graph.weights.items():
        try:
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
        except (KeyError, ValueError):
            continue
        inputs.append(helper.make_tensor_value_info(name, code, array.shape))
        if array.size <= _SMALL and array.dtype.kind in "iub" and name not in graph.texts:
            small.append(onnx.numpy_helper.from_array(np.asarray(array), name))
    nodes = [node.raw for node in graph.nodes if _as_defined(node, model.opsets.get(node.domain, 0))]
    made = helper.make_graph(nodes, "g", inputs, [], small)
    opsets = [helper.make_opsetid(domain, version) for domain, version in model.opsets.items()]
    try:
        inferred = shape_inference.infer_shapes(helper.make_model(made, opset_imports=opsets), data_prop=True)
    except (shape_inference.InferenceError, RuntimeError, ValueError, TypeError):
        return {}
    return {v.name: _shape(v) for v in inferred.graph.value_info if v.type.tensor_type.HasField("shape")}


def _as_defined(node: OnnxNode, opset: int) -> bool:
    """Whether a node has the inputs and attributes of its definition, and no bodies: onnx's inference is C++ that trusts them."""
    if node.raw is None or node.subgraphs() or not defs.has(node.op, opset, node.domain):
        return False
    schema: Any = defs.get_schema(node.op, opset, node.domain)
    if (
        not schema.min_input <= len(node.inputs) <= schema.max_input
        or not schema.min_output <= len(node.outputs) <= schema.max_output
    ):
        return False
    kinds = {a.name: a.type for a in node.raw.attribute}
    known = {key: a.type.value for key, a in schema.attributes.items()}
    needed = {key for key, a in schema.attributes.items() if a.required}
    return needed <= kinds.keys() and all(known.get(key) == kind for key, kind in kinds.items())


def _shape(value: onnx.ValueInfoProto) -> list[_Dim]:
    return [d.dim_value if d.HasField("dim_value") else d.dim_param for d in value.type.tensor_type.shape.dim]


_Pairs: TypeAlias = Iterator[tuple[_Dim, _Dim]]
_Operands: TypeAlias = Sequence["_Shape | None"]


def _pairs(node: OnnxNode, operands: _Operands) -> _Pairs:
    """Dimensions of a node's operands that must be equal."""
    rule = _RULES.get(node.op) if node.domain in ("", MICROSOFT) else None
    if rule is not None and operands and operands[0] is not None:
        try:
            yield from rule(node, operands)
        except (IndexError, TypeError):  # ranks or attributes that the operator does not allow: reading the node says so
            return


def _dims(operands: _Operands, index: int) -> _Shape:
    found = operands[index] if index < len(operands) else None
    return [] if found is None else found


def _convolution(node: OnnxNode, operands: _Operands) -> _Pairs:
    weight = _dims(operands, 3 if node.op == "QLinearConv" else 1)
    if weight and isinstance(weight[1], int):
        yield _dims(operands, 0)[1], weight[1] * node.attributes.get("group", 1)


def _transposed(_: OnnxNode, operands: _Operands) -> _Pairs:
    if weight := _dims(operands, 1):
        yield _dims(operands, 0)[1], weight[0]


def _product(node: OnnxNode, operands: _Operands) -> _Pairs:
    a, b = _dims(operands, 0), _dims(operands, 3 if node.op == "QLinearMatMul" else 1)
    if a and b:
        yield a[-1], b[-2] if len(b) > 1 else b[0]
        yield from _aligned(node, [a[:-2], b[:-2]])


def _gemm(node: OnnxNode, operands: _Operands) -> _Pairs:
    a, b, c = (_dims(operands, i) for i in range(3))
    if a and b:
        a, b = a[::-1] if node.attributes.get("transA") else a, b[::-1] if node.attributes.get("transB") else b
        yield a[1], b[0]
        yield from _aligned(node, [[a[0], b[1]], c])


def _blocks(node: OnnxNode, operands: _Operands) -> _Pairs:
    yield _dims(operands, 0)[-1], node.attributes.get("K", 0)


def _channels(_: OnnxNode, operands: _Operands) -> _Pairs:
    if scale := _dims(operands, 1):
        yield _dims(operands, 0)[1], scale[0]


def _last(_: OnnxNode, operands: _Operands) -> _Pairs:
    if scale := _dims(operands, 1):
        yield _dims(operands, 0)[-1], scale[-1]


def _recurrent(_: OnnxNode, operands: _Operands) -> _Pairs:
    if weight := _dims(operands, 1):
        yield _dims(operands, 0)[2], weight[2]


def _aligned(_: OnnxNode, operands: _Operands) -> _Pairs:
    """Of operands that are broadcast: a size other than 1 is that of all. A number of 1 demands nothing."""
    known = [shape for shape in operands if shape is not None]
    for i, one in enumerate(known):
        for other in known[i + 1 :]:
            for a, b in zip(reversed(one), reversed(other), strict=False):
                if 1 not in (a, b):
                    yield a, b


def _joined(node: OnnxNode, operands: _Operands) -> _Pairs:
    known = [shape for shape in operands if shape]
    axis = node.attributes.get("axis", 0) % max(1, len(known[0])) if known else 0
    for i, one in enumerate(known):
        for other in known[i + 1 :]:
            yield from ((a, b) for place, (a, b) in enumerate(zip(one, other, strict=False)) if place != axis)


_RULES: Mapping[str, Callable[[OnnxNode, _Operands], _Pairs]] = {
    **dict.fromkeys(("Conv", "ConvInteger", "QLinearConv", "FusedConv", "NhwcConv"), _convolution),
    **dict.fromkeys(("MatMul", "MatMulInteger", "QLinearMatMul", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"), _product),
    **dict.fromkeys(("Gemm", "FusedGemm"), _gemm),
    **dict.fromkeys(("BatchNormalization", "InstanceNormalization"), _channels),
    **dict.fromkeys(("LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization"), _last),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), _recurrent),
    **dict.fromkeys(
        ("Add", "Sub", "Mul", "Div", "Pow", "Where", "Max", "Min", "Sum", "Mean", "Less", "Greater", "Equal", "And"), _aligned
    ),
    **{"ConvTranspose": _transposed, "MatMulNBits": _blocks, "Concat": _joined},
}
