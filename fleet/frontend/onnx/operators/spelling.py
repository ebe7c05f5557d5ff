"""What is made of the letters of texts: computed while the model is read, as all of them are known."""

from __future__ import annotations

import re

import numpy as np

from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.registry import MICROSOFT, operator


def _objects(texts: list[str], shape: tuple[int, ...]) -> np.ndarray:
    return np.array(texts, object).reshape(shape)


@operator("StringConcat")
def _join(n: NodeCall) -> OnnxArray:
    first, second = np.broadcast_arrays(n.texts(0), n.texts(1))
    n.bounded(*first.shape)
    pairs = zip(first.reshape(-1).tolist(), second.reshape(-1).tolist(), strict=True)
    return n.written(_objects([a + b for a, b in pairs], first.shape))


@operator("StringSplit")
def _split(n: NodeCall) -> tuple[OnnxArray, OnnxArray]:
    """Parts of each text, filled up with empty ones, and how many there are; blanks are between them where it says nothing."""
    x, most = n.texts(0), n.attribute("maxsplit", -1)
    parts = [text.split(n.attribute("delimiter", "") or None, most) for text in x.reshape(-1).tolist()]
    widest = max(map(len, parts), default=0)
    n.bounded(x.size, widest)
    filled = [word for own in parts for word in [*own, *[""] * (widest - len(own))]]
    counts = np.array([len(own) for own in parts], np.int64).reshape(x.shape)
    return n.written(_objects(filled, (*x.shape, widest))), n.constant(counts)


_PIECE = r"(?:\[(?:\\.|[^\[\]\\])+\]|\\[wWdDsSb.?*+!|()\[\]{}^$\\/-]|[^\[\]\\.^$*+?{}()|])(?:[+*?]|\{\d{1,3}(?:,\d{0,3})?\})?"
_PATTERN = re.compile(rf"{_PIECE}(?:{_PIECE}){{0,3}}", re.DOTALL)
"""Regular expressions that are read: up to four classes or letters, each with a number of times. Others may take very long."""


def _expression(n: NodeCall, pattern: str) -> re.Pattern[str]:
    if len(pattern) > 256 or not _PATTERN.fullmatch(pattern):
        n.refuse(f"the expression {pattern!r:.80} is not supported", "up to four classes and letters are, such as [a-zA-Z0-9_]+")
    try:
        return re.compile(pattern, re.ASCII)
    except re.error as error:
        n.refuse(f"the expression {pattern!r:.80} ({error})")


@operator("Tokenizer", domain=MICROSOFT)
def _tokenise(n: NodeCall) -> OnnxArray:
    """The tokens of each text, filled up with `pad_value`: what an expression matches, or what lies between separators."""
    x, least, none = n.texts(0), n.attribute("mincharnum", 1), list[str]()
    separators = n.attribute("separators", none)
    if x.ndim not in (1, 2):
        n.refuse(f"texts of shape {list(x.shape)}, expected [texts] or [rows, texts]")
    if n.has("tokenexp"):
        token = _expression(n, n.attribute("tokenexp", ""))

        def tokens(text: str) -> list[str]:
            return [found[0] for found in token.finditer(text)]

    elif separators == [""]:

        def tokens(text: str) -> list[str]:
            return list(text)

    else:
        between = [_expression(n, s) for s in separators]
        if any(one.match("") for one in between):
            n.refuse("a separator that may be empty is not supported")

        def tokens(text: str) -> list[str]:
            parts = [text]
            for one in between:
                parts = [p for part in parts for p in one.split(part)]
            return parts

    found = [[t for t in tokens(text) if len(t) >= max(least, 1)] for text in x.reshape(-1).tolist()]
    if n.attribute("mark", 0):
        found = [["\x02", *own, "\x03"] for own in found]
    widest = max(map(len, found), default=0)
    n.bounded(x.size, widest)
    pad = n.attribute("pad_value", "")
    return n.written(_objects([word for own in found for word in [*own, *[pad] * (widest - len(own))]], (*x.shape, widest)))


@operator("StringNormalizer")
def _normalise(n: NodeCall) -> OnnxArray:
    """[words] or [1, words] without the stop words, in capitals or small letters; one empty text where nothing is left."""
    x, change, exact = n.texts(0), n.attribute("case_change_action", "NONE"), n.attribute("is_case_sensitive", 0)
    if change not in ("NONE", "LOWER", "UPPER"):
        n.refuse(f"its case_change_action is {change}", "it may be NONE, LOWER or UPPER")
    if x.ndim not in (1, 2) or (x.ndim == 2 and x.shape[0] != 1):
        n.refuse(f"texts of shape {list(x.shape)}, expected [words] or [1, words]")
    none: list[str] = []
    stop = n.attribute("stopwords", none)
    compared = (lambda text: text) if exact else _smaller
    stops = {compared(word) for word in stop}
    kept = [word for word in x.reshape(-1).tolist() if compared(word) not in stops]
    if change != "NONE":
        kept = [(_smaller if change == "LOWER" else _larger)(word) for word in kept]
    kept = kept or [""]
    return n.written(_objects(kept, (1, len(kept))[-x.ndim :]))


def _smaller(text: str) -> str:
    """In small letters, each by its own: C has no letter that becomes two."""
    return "".join(small if len(small := c.lower()) == 1 else c for c in text)


def _larger(text: str) -> str:
    return "".join(large if len(large := c.upper()) == 1 else c for c in text)
