"""Exported programs, run by onnxruntime as they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fleet.ir.program import Program
from fleet.targets.onnx.export import export_onnx
from fleet.targets.onnx.write import model_bytes


def session(model: bytes):
    """A session without optimisations, on one thread."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def exported(program: Program, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of a program's export, under the program's names."""
    export = export_onnx(program)
    found = session(model_bytes(export)).run(list(export.outputs.values()), dict(inputs))
    return dict(zip(export.outputs, found, strict=True))
