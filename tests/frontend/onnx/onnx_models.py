"""Small ONNX models for the tests, and what fleet and onnxruntime make of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

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
