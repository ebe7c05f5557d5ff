"""Two convolutional networks of about 20 convolutions on images of 96 x 96, with random weights, as PyTorch exports them.

`mobile`: depthwise separable blocks, ReLU6 and residuals, as MobileNet has them; `residual`: two convolutions a block, batch
normalisation folded, as ResNet has them; its end resizes and joins features of two sizes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = ["IMAGE", "mobile", "residual", "write"]

IMAGE = (1, 3, 96, 96)


class _Network:
    """A graph in the making; weights keep the magnitude of activations."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.convolutions = 0

    def weight(self, array: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, inputs: list[str], out: str = "", **how: Any) -> str:
        out = out or f"{kind}.{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], f"/{out}", **how))
        return out

    def convolution(self, x: str, inputs: int, outputs: int, size: int, stride: int = 1, group: int = 1) -> str:
        self.convolutions += 1
        fan = inputs // group * size * size
        w = (self.rng.standard_normal((outputs, inputs // group, size, size)) * math.sqrt(1.5 / fan)).astype(np.float32)
        b = (self.rng.standard_normal(outputs) * 0.1).astype(np.float32)
        pads = [size // 2] * 4
        how = {"kernel_shape": [size, size], "strides": [stride, stride], "pads": pads, "group": group}
        return self.node("Conv", [x, self.weight(w), self.weight(b)], **how)

    def relu6(self, x: str) -> str:
        return self.node("Clip", [x, self.weight(np.array(0, np.float32)), self.weight(np.array(6, np.float32))])

    def model(self, outputs: int) -> onnx.ModelProto:
        ports = [helper.make_tensor_value_info("image", TensorProto.FLOAT, IMAGE)]
        results = [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, outputs])]
        graph = helper.make_graph(self.nodes, "network", ports, results, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def ended(self, x: str, width: int, outputs: int) -> onnx.ModelProto:
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x])])
        w = (self.rng.standard_normal((outputs, width)) / math.sqrt(width)).astype(np.float32)
        self.node("Gemm", [x, self.weight(w), self.weight(np.zeros(outputs, np.float32))], "scores", transB=1)
        return self.model(outputs)


def mobile() -> onnx.ModelProto:
    """19 convolutions: a first one, six blocks of expansion, depthwise and projection."""
    f, width = _Network(1), 16
    x = f.relu6(f.convolution("image", 3, 16, 3, 2))
    for outputs, stride in ((24, 2), (24, 1), (32, 2), (32, 1), (48, 2), (48, 1)):
        y = f.relu6(f.convolution(x, width, 2 * width, 1))
        y = f.relu6(f.convolution(y, 2 * width, 2 * width, 3, stride, 2 * width))
        y = f.convolution(y, 2 * width, outputs, 1)
        x, width = (f.node("Add", [x, y]) if (width, stride) == (outputs, 1) else y), outputs
    return f.ended(x, width, 10)


def residual() -> onnx.ModelProto:
    """20 convolutions: a first one, eight blocks of two, three of stride 2 with a projection; features of two sizes joined."""
    f, width = _Network(2), 16
    x = f.node("Relu", [f.convolution("image", 3, 16, 3, 2)])
    x = f.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    fine = ""
    for outputs, stride in ((16, 1), (16, 1), (32, 2), (32, 1), (48, 2), (48, 1), (64, 2), (64, 1)):
        y = f.node("Relu", [f.convolution(x, width, outputs, 3, stride)])
        y = f.convolution(y, outputs, outputs, 3)
        if stride == 2:
            x = f.convolution(x, width, outputs, 1, 2)
        x, width = f.node("Relu", [f.node("Add", [y, x])]), outputs
        fine = x if outputs == 48 else fine
    scales = f.weight(np.array([1, 1, 2, 2], np.float32))
    x = f.node("Concat", [f.node("Resize", [x, "", scales], mode="nearest"), fine], axis=1)
    return f.ended(x, 112, 10)


def write(folder: Path) -> None:
    """Both networks as files, and an image for them."""
    for name, made in (("mobile", mobile()), ("residual", residual())):
        onnx.save(made, folder / f"{name}.onnx")
    image = np.random.default_rng(0).standard_normal(IMAGE).astype(np.float32)
    np.savez(folder / "image.npz", image=image)


if __name__ == "__main__":
    import sys

    write(Path(sys.argv[1]))
