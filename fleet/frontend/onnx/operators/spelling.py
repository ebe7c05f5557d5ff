"""What is made of the letters of texts: computed while the model is read, as all of them are known."""

from __future__ import annotations

import numpy as np

from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.registry import operator


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
