"""Which operators there are: by domain, name and the first opset that has this meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TypeAlias

from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.call import NodeCall, NodeValue

Result: TypeAlias = "OnnxArray | Sequence[NodeValue] | None"
Translation: TypeAlias = Callable[[NodeCall], Result]

MICROSOFT = "com.microsoft"
"""Domain of the operators that onnxruntime's optimiser and quantiser write."""

LEARNING = "ai.onnx.ml"
"""Domain of ONNX's operators of classical learning."""

_TABLE: dict[tuple[str, str], dict[int, Translation]] = {}
_FAMILIES = (
    *("control", "convolution", "elementwise", "indexing", "movement", "normalisation", "pooling", "products"),
    *("quantisation", "recurrent", "reductions", "resizing", "sampling", "sequences", "shapes", "sorting", "spectra", "spelling"),
    *("counted", "learning.classical", "learning.trees", "learning.vectors", "learning.words"),
    *("onnxruntime.microsoft", "onnxruntime.attention", "onnxruntime.quantised"),
)


def operator(*names: str, since: int = 1, domain: str = "") -> Callable[[Translation], Translation]:
    """Registers a function for operators; `since`: the first opset that it is right for."""

    def register(function: Translation) -> Translation:
        for name in names:
            _TABLE.setdefault((domain, name), {})[since] = function
        return function

    return register


def operators() -> Mapping[tuple[str, str], Mapping[int, Translation]]:
    """All of them; the families are imported on the first call."""
    for family in _FAMILIES:
        import_module(f"fleet.frontend.onnx.operators.{family}")
    return _TABLE


def translation(domain: str, name: str, opset: int) -> Translation | None:
    """The newest one that is not newer than the opset, or None."""
    versions = operators().get((domain, name), {})
    fit = [v for v in versions if v <= opset]
    return versions[max(fit)] if fit else None
