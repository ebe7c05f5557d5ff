"""Text in a model: every text is a number, its place among those that the model names; others have numbers below 0.

A model does with text mostly what it does with labels: it moves them, and asks which they are. So an input of text is one of int64,
and the program has an array of numbers. The same text has the same number wherever it stands. Where an operator needs the letters
(`SPELLED`), all texts of the model are those that are given: its inputs of text are bound, and what is made of them is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx

from fleet.frontend.onnx.graph import Graph, OnnxModel, OnnxNode
from fleet.frontend.onnx.problems import refuse

TEXT = onnx.TensorProto.STRING
"""The element type."""

SPELLED = frozenset({"StringConcat", "StringNormalizer", "StringSplit", "Tokenizer"})
"""Operators that need the letters of a text."""

_MOVES = frozenset(
    {
        *("ArrayFeatureExtractor", "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape"),
        *("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where"),
    }
)
_ASKS = frozenset({"Equal", "LabelEncoder", "OneHotEncoder", "Shape", "Size", "TfIdfVectorizer"})
_MADE = frozenset({"value", "value_string", "value_strings", "values_strings", "values_tensor"})
"""Attributes that may be the texts which a node gives."""
_NONE = -(1 << 63)


def text_values(graph: Graph, outer: frozenset[str] = frozenset()) -> frozenset[str]:
    """Names of the values of a graph that are text; outer: those around it."""
    found = {*outer, *graph.texts, *(p.name for p in graph.inputs if p.code == TEXT)}
    for node in graph.nodes:
        if node.op in SPELLED:
            found.add(node.outputs[0])  # StringSplit also counts
        elif _MADE.intersection(node.texts) or (node.op in _MOVES and found.intersection(node.inputs)):
            found.update(node.outputs)
        elif node.op == "If":
            for body in node.subgraphs():
                inner = text_values(body, frozenset(found))
                found.update(name for name, port in zip(node.outputs, body.outputs, strict=False) if port.name in inner)
    return frozenset(found)


def check_texts(model: OnnxModel) -> None:
    """Raises ModelError for an operator that needs more of a text than is known of it."""
    _check(model.graph, frozenset())


def _check(graph: Graph, outer: frozenset[str]) -> None:
    texts = text_values(graph, outer)
    for node in graph.nodes:
        if texts.intersection(node.inputs) and node.op not in _MOVES | _ASKS | SPELLED:
            hint = "give what it makes of the text with --from" if node.outputs else None
            known = ", ".join(sorted(SPELLED))
            refuse(node.where, f"{node.op} of text is not supported: text is moved and compared, and what {known} make of it", hint)
        for body in node.subgraphs():
            _check(body, texts)


def _nodes(graph: Graph) -> Iterator[OnnxNode]:
    for node in graph.nodes:
        yield node
        for body in node.subgraphs():
            yield from _nodes(body)


def spelled(model: OnnxModel) -> bool:
    """Return whether an operator of the model works on the letters of a text."""
    return any(node.op in SPELLED for node in _nodes(model.graph))


def encoded(model: OnnxModel, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inputs with numbers in place of text; arrays that are numbers already stay.

    Where a node of the model needs letters, text stays text (`<U`).
    """
    texts = {p.name for p in model.graph.inputs if p.code == TEXT}
    letters = spelled(model)
    numbers = dict(model.words)
    found: dict[str, np.ndarray] = {}
    for name, array in inputs.items():
        if name in texts and array.dtype.kind in "USO":
            words = [w.decode(errors="replace") if isinstance(w, bytes) else str(w) for w in array.reshape(-1).tolist()]
            if letters:
                found[name] = np.array(words, np.str_).reshape(array.shape)
                continue
            for word in words:
                numbers.setdefault(word, len(model.words) - len(numbers) - 1)
            found[name] = np.array([numbers[word] for word in words], np.int64).reshape(array.shape)
        else:
            found[name] = array
    return found


def decoded(words: Mapping[str, int], numbers: np.ndarray) -> np.ndarray:
    """Text (objects of str) for its numbers; for those of texts that the model does not name some that it does not name."""
    names = {number: word for word, number in words.items()}
    stem = _stem(words)
    flat: Sequence[int] = numbers.reshape(-1).tolist()
    return np.array([names.get(n, f"{stem}{n}") for n in flat], object).reshape(numbers.shape)


def recoded(words: Mapping[str, int], texts: np.ndarray) -> np.ndarray:
    """Return the numbers of texts: the inverse of `decoded`. An unknown text gets a number that no text has."""
    stem = _stem(words)

    def number(text: str) -> int:
        digits = text.removeprefix(stem)
        return words[text] if text in words else int(digits) if text != digits and digits[1:].isdecimal() else _NONE

    flat: Sequence[str] = texts.reshape(-1).tolist()
    return np.array([number(text) for text in flat], np.int64).reshape(texts.shape)


def _stem(words: Mapping[str, int]) -> str:
    """What no word begins with."""
    stem = "other"
    while any(word.startswith(stem) for word in words):
        stem += "_"
    return stem
