"""One ONNX model on fleet's engines and on onnxruntime.

What is held against a bound derived from the model's own numbers, operation by operation, is `fleet cosim`'s (docs/onnx-models.md);
here whole outputs are compared, and what they are used for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import fleet
from fleet.errors import ModelError
from fleet.frontend.onnx.choice import ModelChoice
from fleet.llm.files.cache import model_file

TOLERANCE = 5e-5
"""Of the largest number of an output: some 400 roundings of binary32, for about 100 operations that sum in other orders."""


def fetched(name: str) -> Path:
    """The model's file. Raises ModelError where it was not fetched."""
    path = model_file(name, ".onnx")
    if not path.is_file():
        raise ModelError("is not here", where=f"model {name}", hint=f"fetch it: fleet models fetch {name}")
    return path


def run(path: Path, output: str, inputs: Mapping[str, np.ndarray], engines: Sequence[str]) -> dict[str, np.ndarray]:
    """One output of the model by engine: "vm" always, fleet's others and "onnxruntime" (on one thread) as named."""
    compiled = fleet.compile(ModelChoice(str(path), last=(output,)).spec, inputs=inputs)
    found = {"vm": compiled.run("vm", keep_tensors=False).outputs[output]}
    for name in engines:
        if name == "onnxruntime":
            found[name] = _onnxruntime(path, output, inputs)
        elif name != "vm":
            found[name] = compiled.run(name, keep_tensors=False).outputs[output]
    return found


def difference(outputs: Mapping[str, np.ndarray], engine: str) -> float:
    """Largest difference from vm, of vm's largest number."""
    golden = outputs["vm"].astype(np.float64)
    return float(np.abs(outputs[engine] - golden).max() / np.abs(golden).max())


def _onnxruntime(path: Path, output: str, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run([output], dict(inputs))[0]
