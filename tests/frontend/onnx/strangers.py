"""ONNX files in the manner of the exporters that strangers use: the frame that the generators share, and their table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = ["FILES", "FileOf", "StrangerFile", "at", "scores_of", "stranger"]


@dataclass(frozen=True)
class StrangerFile:
    """A file on the disk, and arrays for its inputs."""

    path: Path
    inputs: Mapping[str, np.ndarray]


Generator = Callable[[Path], StrangerFile]

FILES: dict[str, Generator] = {}
"""Every kind of file by name; each writes itself into a folder."""


def stranger(function: Generator) -> Generator:
    """Enter a generator into the table, under its own name."""
    FILES[function.__name__] = function
    return function


class FileOf:
    """A graph in the making: nodes get the names that their exporter would give, weights are drawn from one seed.

    Args:
        opset: of ai.onnx. producer: the exporter that the file names. style: how a node's output is called, of its kind and number.
    """

    def __init__(self, opset: int, producer: str, *, seed: int = 0, style: str = "/{kind}_{n}_output_0", ir: int = 8) -> None:
        self.opset, self.producer, self.style, self.ir = opset, producer, style, ir
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.domains: dict[str, int] = {}
        self.count = 0

    def floats(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        """Drawn float32."""
        return (self.rng.standard_normal(shape) * scale).astype(np.float32)

    def weight(self, array: np.ndarray, name: str = "") -> str:
        """An initializer; returns its name."""
        self.count += 1
        name = name or f"onnx::W_{self.count}"
        self.weights.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def integers(self, *values: int) -> str:
        """An initializer of int64 [n]."""
        return self.weight(np.array(values, np.int64))

    def constant(self, value: np.ndarray) -> str:
        """A node Constant, as TorchScript writes them; returns its output."""
        return self.node("Constant", [], value=numpy_helper.from_array(value))

    def node(self, kind: str, inputs: Sequence[str], *, out: str | Sequence[str] = "", domain: str = "", **attributes: Any) -> str:
        """A node; returns its first output. out: names, else made by the style."""
        self.count += 1
        outputs = [out] if isinstance(out, str) else list(out)
        if not outputs[0]:
            outputs[0] = self.style.format(kind=kind, n=self.count)
        self.nodes.append(
            helper.make_node(kind, inputs, outputs, outputs[0].removesuffix("_output_0"), domain=domain, **attributes)
        )
        if domain:
            self.domains.setdefault(domain, 1)
        return outputs[0]

    def graph(
        self, inputs: Mapping[str, tuple[Any, ...]], outputs: Mapping[str, tuple[Any, ...]], *, weights_are_inputs: bool = False
    ) -> onnx.GraphProto:
        """The graph. inputs, outputs: name -> (dtype, dim, ...); a dtype is NumPy's, "string", or the type itself."""
        ports = [self._port(n, *how) for n, how in inputs.items()]
        if weights_are_inputs:
            ports += [helper.make_tensor_value_info(w.name, w.data_type, list(w.dims)) for w in self.weights]
        return helper.make_graph(self.nodes, "main_graph", ports, [self._port(n, *how) for n, how in outputs.items()], self.weights)

    def model(
        self, inputs: Mapping[str, tuple[Any, ...]], outputs: Mapping[str, tuple[Any, ...]], *, weights_are_inputs: bool = False
    ) -> onnx.ModelProto:
        """The model."""
        imports = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(d, v) for d, v in self.domains.items())]
        graph = self.graph(inputs, outputs, weights_are_inputs=weights_are_inputs)
        return helper.make_model(graph, opset_imports=imports, ir_version=self.ir, producer_name=self.producer)

    @staticmethod
    def _port(name: str, dtype: Any, *dims: Any) -> onnx.ValueInfoProto:
        if isinstance(dtype, onnx.TypeProto):
            return helper.make_value_info(name, dtype)
        kind = TensorProto.STRING if dtype == "string" else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return helper.make_tensor_value_info(name, kind, list(dims))


def scores_of(keys: int) -> onnx.TypeProto:
    """The type that ZipMap gives: a dictionary for each row, of keys of this element type."""
    return helper.make_sequence_type_proto(helper.make_map_type_proto(keys, helper.make_tensor_type_proto(TensorProto.FLOAT, [])))


def at(folder: Path, name: str, made: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> StrangerFile:
    """The model as a file in the folder."""
    path = folder / f"{name}.onnx"
    onnx.save(made, path)
    return StrangerFile(path, dict(inputs))
