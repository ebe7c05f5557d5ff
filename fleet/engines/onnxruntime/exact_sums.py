"""Products of uint8 activations by int8 weights, whose sums onnxruntime saturates on x86 processors without VNNI.

Its kernels add two products of 8 bits in one int16 there (instruction VPMADDUBSW; onnxruntime's pull request 12088). The same
weights as uint8 with their zero points moved by 128 take its exact kernels and give the same integers on every processor. Its own
mend, the option `session.x64quantprecision`, is an optimisation of the graph and does nothing where those are off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto


class _Product(NamedTuple):
    """Places of a product's inputs.

    activation: None where the operator itself makes codes of uint8. weights: with their zero points.
    """

    activation: int | None
    activation_zero: int | None
    weights: tuple[tuple[int, int], ...]


_PRODUCTS: Mapping[str, _Product] = {
    "ConvInteger": _Product(0, 2, ((1, 3),)),
    "MatMulInteger": _Product(0, 2, ((1, 3),)),
    "QLinearConv": _Product(0, 2, ((3, 5),)),
    "QLinearMatMul": _Product(0, 2, ((3, 5),)),
    "QGemm": _Product(0, 2, ((3, 5),)),
    "MatMulIntegerToFloat": _Product(0, 4, ((1, 5),)),
    "QAttention": _Product(0, 6, ((1, 7),)),
    "DynamicQuantizeMatMul": _Product(None, None, ((1, 3),)),
    "DynamicQuantizeLSTM": _Product(None, None, ((1, 9), (2, 11))),
}


def make_sums_exact(model: ModelProto) -> None:
    """Recode, in place, int8 weights of products with uint8 activations as uint8. The model's results are the same integers."""
    from onnx import shape_inference

    if any(n.op_type in _PRODUCTS for g in _graphs(model.graph) for n in g.node):
        types = _types(shape_inference.infer_shapes(model).graph)
        for number, graph in enumerate(_graphs(model.graph)):
            _recode(graph, types, f"exact_sums.{number}")


def _graphs(graph: GraphProto) -> list[GraphProto]:
    """The graph and those of its nodes' attributes."""
    inner = [g for n in graph.node for a in n.attribute for g in (*([a.g] if a.HasField("g") else []), *a.graphs)]
    return [graph, *(found for g in inner for found in _graphs(g))]


def _types(graph: GraphProto) -> dict[str, int]:
    """Value -> code of its element type, of the graph and those inside."""
    found: dict[str, int] = {}
    for one in _graphs(graph):
        found |= {v.name: v.type.tensor_type.elem_type for v in (*one.input, *one.value_info, *one.output)}
        found |= {w.name: w.data_type for w in one.initializer}
    return found


def _recode(graph: GraphProto, types: Mapping[str, int], prefix: str) -> None:
    from onnx import TensorProto, helper

    recoded: dict[str, str] = {}
    nodes: list[NodeProto] = []

    def unsigned(name: str) -> str:
        """The value plus 128, as uint8; of a zero point that is not given, 128."""
        if name not in recoded:
            made = f"{prefix}.{len(recoded)}"
            if not name:
                graph.initializer.append(helper.make_tensor(made, TensorProto.UINT8, (), [128]))
            else:
                step = helper.make_tensor(f"{made}.step", TensorProto.INT32, (), [128])
                nodes.append(helper.make_node("Constant", [], [step.name], value=step))
                nodes.append(helper.make_node("Cast", [name], [f"{made}.wide"], to=TensorProto.INT32))
                nodes.append(helper.make_node("Add", [f"{made}.wide", step.name], [f"{made}.moved"]))
                nodes.append(helper.make_node("Cast", [f"{made}.moved"], [made], to=TensorProto.UINT8))
            recoded[name] = made
        return recoded[name]

    for node in graph.node:
        product = _PRODUCTS.get(node.op_type)
        if product is not None and _unsigned(node, product, types):
            for weight, zero in product.weights:
                if types.get(node.input[weight]) == TensorProto.INT8:
                    node.input.extend([""] * (zero + 1 - len(node.input)))
                    node.input[weight], node.input[zero] = unsigned(node.input[weight]), unsigned(node.input[zero])
        nodes.append(node)
    if recoded:
        del graph.node[:]
        graph.node.extend(nodes)


def _unsigned(node: NodeProto, product: _Product, types: Mapping[str, int]) -> bool:
    """Return whether the activation is known to be uint8, from its own type or from its zero point's."""
    from onnx import TensorProto

    if product.activation is None:
        return True
    places = (product.activation, product.activation_zero)
    return any(p is not None and p < len(node.input) and types.get(node.input[p]) == TensorProto.UINT8 for p in places)
