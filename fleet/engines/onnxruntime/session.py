"""Sessions of onnxruntime: one thread, the same result every time, no graph optimisations unless asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from fleet.errors import ComparisonFailure, DeviceError, FleetError

LEVELS: Mapping[str, str] = {
    "none": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL",
}  # fmt: skip
"""Names of onnxruntime's levels of graph optimisation."""
_ERRORS = (
    *("Fail", "InvalidArgument", "NoSuchFile", "NoModel", "EngineError", "RuntimeException", "InvalidProtobuf", "InvalidGraph"),
    *("NotImplemented", "ModelLoaded", "EPFail"),
)
_OWN_PLACE = re.compile(r"^[0-9]+ : [A-Z_]+ : |/onnxruntime_src/\S+ .*?\([^()]*(?:\([^()]*\)[^()]*)*\) ")
_VARIABLE = "FLEET_ONNXRUNTIME_OPTIMISATIONS"


def level_of(chosen: str | None) -> str:
    """Return the level: the given one, else that of the environment, else none. Raises FleetError if it is unknown."""
    level = chosen or os.environ.get(_VARIABLE) or "none"
    if level not in LEVELS:
        raise FleetError(f"no level of optimisation is called {level}", where=_VARIABLE, hint=f"levels are {', '.join(LEVELS)}")
    return level


class OnnxRuntimeSession:
    """A model that onnxruntime has loaded.

    Args:
        model: the serialised model. folder: where its external data lie. level: of `LEVELS`. where: for messages.

    Raises DeviceError if onnxruntime refuses the model.
    """

    def __init__(self, model: bytes, *, folder: Path | None = None, level: str = "none", where: str = "onnxruntime") -> None:
        import onnxruntime as ort

        ort.disable_telemetry_events()
        options: Any = ort.SessionOptions()
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, LEVELS[level])
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.use_deterministic_compute = True
        options.add_session_config_entry("session.x64quantprecision", "1")  # products that an optimisation makes
        options.log_severity_level = 4  # errors are raised as exceptions
        if folder is not None:
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder.resolve()))
        self.where = where
        try:
            self._session: Any = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except _causes() as error:
            hint = "`fleet compile --emit onnx` writes one that it takes"
            raise DeviceError(f"onnxruntime does not take the model: {_line(error)}", where=where, hint=hint) from error

    @property
    def inputs(self) -> list[str]:
        """Names of the inputs."""
        return [str(i.name) for i in self._session.get_inputs()]

    @property
    def texts(self) -> frozenset[str]:
        """Names of the inputs that are text."""
        return frozenset(str(i.name) for i in self._session.get_inputs() if i.type == "tensor(string)")

    def run(self, names: Sequence[str], inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the outputs of these names. Raises ComparisonFailure if a node fails on these values."""
        try:
            found: list[Any] = self._session.run(list(names), dict(inputs))
        except _causes() as error:
            raise ComparisonFailure(f"onnxruntime fails on these values: {_line(error)}", where=self.where) from error
        return {name: np.asarray(array) for name, array in zip(names, found, strict=True)}


def _causes() -> tuple[type[Exception], ...]:
    """Return the exceptions of onnxruntime."""
    state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    return (*(getattr(state, name) for name in _ERRORS if hasattr(state, name)), RuntimeError, ValueError)


def _line(error: Exception) -> str:
    """Return the message in one line, without the place in onnxruntime's own source."""
    text = " ".join(str(error).split()).rpartition("[ONNXRuntimeError] : ")[2]
    kept = _OWN_PLACE.sub("", text) or text
    return kept[:300]
