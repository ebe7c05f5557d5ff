"""Text in a model: every text is a number, its place among those that the model names; others have numbers below 0.

A model does with text what it does with labels: it moves them, and asks which they are. So an input of text is one of int64, and
the program has an array of numbers. The same text has the same number wherever it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from fleet.frontend.onnx.graph import Graph, OnnxModel, OnnxNode
from fleet.frontend.onnx.problems import refuse

TEXT = onnx.TensorProto.STRING
"""The element type."""

_MOVES = frozenset(
    {
        *("ArrayFeatureExtractor", "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape"),
        *("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where"),
    }
)
_ASKS = frozenset({"Equal", "LabelEncoder", "OneHotEncoder", "Shape", "Size", "TfIdfVectorizer"})


def text_values(graph: Graph) -> frozenset[str]:
    """Names of the values of a graph that are text."""
    found = {p.name for p in graph.inputs if p.code == TEXT}
    for node in graph.nodes:
        if _gives_text(node) or (node.op in _MOVES and found.intersection(node.inputs)):
            found.update(node.outputs)
    return frozenset(found)


def _gives_text(node: OnnxNode) -> bool:
    return bool(node.attributes.get("values_strings"))


def check_texts(model: OnnxModel) -> None:
    """Raises ModelError for an operator that needs the letters of a text."""
    texts = text_values(model.graph)
    for node in model.graph.nodes:
        if texts.intersection(node.inputs) and node.op not in _MOVES | _ASKS:
            hint = "give what it makes of the text with --from" if node.outputs else None
            refuse(node.where, f"{node.op} of text is not supported: text is moved and compared, and nothing else", hint)


def encoded(model: OnnxModel, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inputs with numbers in place of text; arrays that are numbers already stay."""
    texts = {p.name for p in model.graph.inputs if p.code == TEXT}
    numbers = dict(model.words)
    found: dict[str, np.ndarray] = {}
    for name, array in inputs.items():
        if name in texts and array.dtype.kind in "USO":
            words = [w.decode(errors="replace") if isinstance(w, bytes) else str(w) for w in array.reshape(-1).tolist()]
            for word in words:
                numbers.setdefault(word, len(model.words) - len(numbers) - 1)
            found[name] = np.array([numbers[word] for word in words], np.int64).reshape(array.shape)
        else:
            found[name] = array
    return found


def decoded(words: Mapping[str, int], numbers: np.ndarray) -> np.ndarray:
    """Text (objects of str) for its numbers; for those of texts that the model does not name some that it does not name."""
    names = {number: word for word, number in words.items()}
    stem = "other"
    while any(word.startswith(stem) for word in words):
        stem += "_"
    flat: Sequence[int] = numbers.reshape(-1).tolist()
    return np.array([names.get(n, f"{stem}{n}") for n in flat], object).reshape(numbers.shape)
