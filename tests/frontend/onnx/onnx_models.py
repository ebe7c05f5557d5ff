"""Small ONNX models for the tests, and what fleet and onnxruntime make of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fleet.engines.onnxruntime.exact_sums import make_sums_exact
from fleet.frontend.onnx.load import program_of
from fleet.frontend.onnx.reader import read_model
from fleet.ir.program import Program
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.vm import VM

ROOT = Path(__file__).parents[3]
node = helper.make_node


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, tuple[Any, ...]],
    outputs: list[str],
    weights: dict[str, np.ndarray] | None = None,
    opset: int = 21,
    functions: list[onnx.FunctionProto] | None = None,
    domains: tuple[str, ...] = (),
) -> onnx.ModelProto:
    """inputs: name -> (dtype, dim, dim ...)."""
    declared = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(d)), list(dims))
        for n, (d, *dims) in inputs.items()
    ]
    results = [helper.make_empty_tensor_value_info(o) for o in outputs]
    graph = helper.make_graph(nodes, "g", declared, results, [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()])
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=imports, functions=functions or [], ir_version=10)


def program(made: onnx.ModelProto, inputs: dict[str, np.ndarray], name: str = "m.onnx") -> Program:
    return program_of(read_model(made.SerializeToString(), name), inputs)


def run(made: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """On fleet's VM."""
    found = program(made, inputs)
    return list(VM(ByteCodeConverter(found).convert()).run({a.name: inputs[a.name] for a in found.inputs}).values())


def reference(made: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """By onnxruntime, on one thread and without its optimisations."""
    import onnxruntime

    typed = onnx.shape_inference.infer_shapes(made)
    make_sums_exact(typed)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(typed.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def digits() -> onnx.ModelProto:
    """examples/digits as ONNX: MatMul and Gemm, Relu, a residual, ArgMax."""
    with np.load(ROOT / "examples/digits/weights.npz") as found:
        weights = {n: found[n] for n in ("w1", "b1", "w2", "b2", "w3", "b3")}
    nodes = [
        node("MatMul", ["x", "w1"], ["m1"], "layer1/MatMul"),
        node("Add", ["m1", "b1"], ["a1"], "layer1/Add"),
        node("Relu", ["a1"], ["h1"], "layer1/Relu"),
        node("Gemm", ["h1", "w2", "b2"], ["g2"], "layer2/Gemm"),
        node("Add", ["g2", "h1"], ["a2"], "layer2/Add"),
        node("Relu", ["a2"], ["h2"], "layer2/Relu"),
        node("Gemm", ["h2", "w3", "b3"], ["logits"], "layer3/Gemm"),
        node("ArgMax", ["logits"], ["digit"], "ArgMax", axis=-1, keepdims=0),
    ]
    made = model(nodes, {"x": (np.float32, "N", 64)}, [], weights, opset=17)
    made.graph.output.extend(
        [
            helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 10]),
            helper.make_tensor_value_info("digit", TensorProto.INT64, ["N"]),
        ]
    )
    return made


def encoder_layer(
    tokens: int, channels: int, heads: int, hidden: int, *, batch: int = 1, mask: str | None = "input", seed: int = 0
) -> onnx.ModelProto:
    """An encoder layer as exporters of BERT write it: [batch, tokens, channels], heads by Reshape and Transpose, an additive mask.

    mask: "input" (1 for what is seen, [batch, tokens], made additive in the graph) or None.
    """
    rng = np.random.default_rng(seed)
    width = channels // heads
    weights: dict[str, np.ndarray] = {}

    def drawn(name: str, *shape: int, scale: float) -> str:
        weights[name] = rng.normal(0, scale, shape).astype(np.float32)
        return name

    def linear(name: str, source: str, rows: int, columns: int) -> list[onnx.NodeProto]:
        drawn(f"{name}.w", rows, columns, scale=rows**-0.5)
        drawn(f"{name}.b", columns, scale=0.1)
        return [
            node("MatMul", [source, f"{name}.w"], [f"{name}.m"], f"{name}/MatMul"),
            node("Add", [f"{name}.b", f"{name}.m"], [name], f"{name}/Add"),
        ]

    def norm(name: str, source: str, target: str) -> onnx.NodeProto:
        weights[f"{name}.g"] = rng.normal(1, 0.1, channels).astype(np.float32)
        drawn(f"{name}.b", channels, scale=0.1)
        return node("LayerNormalization", [source, f"{name}.g", f"{name}.b"], [target], name, epsilon=1e-12)

    weights["split"] = np.array([batch, tokens, heads, width], np.int64)
    weights["joined"] = np.array([batch, tokens, channels], np.int64)
    weights["root"] = np.float32(width**0.5)
    weights["two"], weights["one"], weights["half"] = np.float32(2**0.5), np.float32(1), np.float32(0.5)
    nodes = [*linear("q", "x", channels, channels), *linear("k", "x", channels, channels), *linear("v", "x", channels, channels)]
    for name, order in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes.append(node("Reshape", [name, "split"], [f"{name}.r"], f"{name}/Reshape"))
        nodes.append(node("Transpose", [f"{name}.r"], [f"{name}.t"], f"{name}/Transpose", perm=order))
    nodes.append(node("MatMul", ["q.t", "k.t"], ["scores"], "scores"))
    nodes.append(node("Div", ["scores", "root"], ["scaled"], "scaled"))
    if mask is not None:
        weights["axes"], weights["never"] = np.array([1, 2], np.int64), np.float32(-1e4)
        nodes.append(node("Unsqueeze", ["mask", "axes"], ["mask.u"], "mask/Unsqueeze"))
        nodes.append(node("Cast", ["mask.u"], ["mask.f"], "mask/Cast", to=TensorProto.FLOAT))
        nodes.append(node("Sub", ["one", "mask.f"], ["hidden"], "mask/Sub"))
        nodes.append(node("Mul", ["hidden", "never"], ["added"], "mask/Mul"))
        nodes.append(node("Add", ["scaled", "added"], ["masked"], "masked"))
    nodes.append(node("Softmax", ["masked" if mask is not None else "scaled"], ["p"], "softmax", axis=-1))
    nodes.append(node("MatMul", ["p", "v.t"], ["mixed"], "mixed"))
    nodes.append(node("Transpose", ["mixed"], ["mixed.t"], "mixed/Transpose", perm=[0, 2, 1, 3]))
    nodes.append(node("Reshape", ["mixed.t", "joined"], ["heads"], "heads"))
    nodes += linear("out", "heads", channels, channels)
    nodes += [node("Add", ["out", "x"], ["res1"], "res1"), norm("norm1", "res1", "n1")]
    nodes += linear("up", "n1", channels, hidden)
    nodes += [
        node("Div", ["up", "two"], ["g1"], "gelu/Div"),
        node("Erf", ["g1"], ["g2"], "gelu/Erf"),
        node("Add", ["g2", "one"], ["g3"], "gelu/Add"),
        node("Mul", ["up", "g3"], ["g4"], "gelu/Mul"),
        node("Mul", ["g4", "half"], ["g5"], "gelu/Mul_1"),
    ]
    nodes += linear("down", "g5", hidden, channels)
    nodes += [node("Add", ["down", "n1"], ["res2"], "res2"), norm("norm2", "res2", "y")]
    inputs: dict[str, tuple[Any, ...]] = {"x": (np.float32, batch, tokens, channels)}
    if mask is not None:
        inputs["mask"] = (np.int64, batch, tokens)
    return model(nodes, inputs, ["y"], weights, opset=17)


def quantised_digits(*, convolution: bool = False) -> onnx.ModelProto:
    """Handwritten digits with QuantizeLinear and DequantizeLinear around every product: per-channel INT8 weights, real scales.

    convolution: of digits as images by the INT8 network's weights (examples/digits/conv_int8.py), its shifts as scales; else the
    dense network, its weights quantised here. The input is "x", [N, 64], 0 to 1.
    """
    nodes: list[onnx.NodeProto] = []
    weights: dict[str, np.ndarray] = {"zero": np.int8(0)}

    def activation(source: str, name: str, scale: float) -> str:
        weights[f"{name}.s"] = np.float32(scale)
        nodes.append(node("QuantizeLinear", [source, f"{name}.s", "zero"], [f"{name}.q"], f"{name}/Q"))
        nodes.append(node("DequantizeLinear", [f"{name}.q", f"{name}.s", "zero"], [name], f"{name}/DQ"))
        return name

    def weight(name: str, codes: np.ndarray, scales: np.ndarray, axis: int) -> str:
        weights[f"{name}.q"], weights[f"{name}.s"] = codes, scales.astype(np.float32)
        weights[f"{name}.z"] = np.zeros(scales.shape, np.int8)
        nodes.append(node("DequantizeLinear", [f"{name}.q", f"{name}.s", f"{name}.z"], [name], f"{name}/DQ", axis=axis))
        return name

    if convolution:
        with np.load(ROOT / "examples/digits/conv_int8_weights.npz") as found:
            w = {n: found[n] for n in found.files}
        weights["image"], weights["rows"] = np.array([-1, 1, 8, 8], np.int64), np.array([-1, 512], np.int64)
        weights["sixteen"] = np.float32(16)
        nodes.append(node("Mul", ["x", "sixteen"], ["pixels"], "pixels"))
        nodes.append(node("Reshape", ["pixels", "image"], ["image.x"], "image"))
        h, scale = "image.x", 1.0
        for i, (channels, stride, shift) in enumerate([(1, 1, 5), (16, 2, 6)], 1):
            codes = w[f"w{i}"].reshape(3, 3, channels, -1).transpose(3, 2, 0, 1).copy()
            each = np.full(codes.shape[0], 2.0**-shift)
            weights[f"bias{i}"] = (w[f"b{i}"] * scale * each).astype(np.float32)
            inputs = [activation(h, f"a{i}", scale), weight(f"w{i}", codes, each, 0), f"bias{i}"]
            nodes.append(node("Conv", inputs, [f"c{i}"], f"conv{i}", pads=[1, 1, 1, 1], strides=[stride, stride]))
            nodes.append(node("Relu", [f"c{i}"], [f"r{i}"], f"relu{i}"))
            h = f"r{i}"
        nodes.append(node("Transpose", [h], ["last"], "channels_last", perm=[0, 2, 3, 1]))
        nodes.append(node("Reshape", ["last", "rows"], ["flat"], "flat"))
        weights["bias3"] = w["b3"].astype(np.float32)
        inputs = [activation("flat", "a3", 1.0), weight("w3", w["w3"], np.ones(10), 1)]
        nodes += [node("MatMul", inputs, ["m3"], "layer3"), node("Add", ["m3", "bias3"], ["logits"], "bias3")]
    else:
        with np.load(ROOT / "examples/digits/weights.npz") as found:
            w = {n: found[n] for n in found.files}
        h = "x"
        for i, scale in enumerate([1 / 127, 4 / 127, 12 / 127], 1):
            each = np.abs(w[f"w{i}"]).max(axis=0) / 127
            codes = np.rint(w[f"w{i}"] / each).astype(np.int8)
            weights[f"b{i}"] = w[f"b{i}"]
            a = activation(h, f"a{i}", scale)
            nodes.append(node("MatMul", [a, weight(f"w{i}", codes, each, 1)], [f"m{i}"], f"layer{i}"))
            nodes.append(node("Add", [f"m{i}", f"b{i}"], [f"s{i}" if i < 3 else "logits"], f"bias{i}"))
            if i == 2:
                nodes.append(node("Add", ["s2", h], ["t2"], "residual"))
            if i < 3:
                nodes.append(node("Relu", ["t2" if i == 2 else "s1"], [f"h{i}"], f"relu{i}"))
            h = f"h{i}"
    nodes.append(node("ArgMax", ["logits"], ["digit"], "ArgMax", axis=-1, keepdims=0))
    return model(nodes, {"x": (np.float32, "N", 64)}, ["logits", "digit"], weights)
