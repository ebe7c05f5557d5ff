"""TfIdfVectorizer: how often each of a pool of sequences of words stands in a row, of words by their numbers."""

from __future__ import annotations

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, binary, concat
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.learning.classical import floats, integers
from fleet.frontend.onnx.registry import operator

_MODES = ("TF", "IDF", "TFIDF")


@operator("TfIdfVectorizer")
def _tf_idf_vectorizer(n: NodeCall) -> OnnxArray:
    """[rows, words] or [words] -> [rows, columns]: counts, whether there are any, or either by the node's weights."""
    mode, weights = n.attribute("mode", "TF"), floats(n, "weights")
    if mode not in _MODES:
        n.refuse(f"its mode {mode} is not supported", f"supported are {', '.join(_MODES)}")
    pool = np.concatenate([integers(n, "pool_int64s"), n.words("pool_strings")])
    starts, columns = integers(n, "ngram_counts"), integers(n, "ngram_indexes")
    low, high, skips = n.attribute("min_gram_length", 1), n.attribute("max_gram_length", 1), n.attribute("max_skip_count", 0)
    if not columns.size or columns.min() < 0 or not 1 <= low <= high or skips < 0 or starts.size < high:
        n.refuse(f"sequences of {low} to {high} words in {columns.size} columns, {starts.size} places where lengths begin")
    rows = n.x if n.x.rank == 2 else n.x.unsqueeze(0)
    if n.x.rank not in (1, 2) or rows.dtype.kind != "i":
        n.refuse(f"words of {n.x.dtype} and rank {n.x.rank}, expected integers or text of rank 1 or 2")
    counts: list[OnnxArray] = []
    ends = [*starts[1:].tolist(), pool.size]
    for length in range(1, starts.size + 1):
        begin, end = int(starts[length - 1]), int(ends[length - 1])
        if not 0 <= begin <= end <= pool.size or (end - begin) % length:
            n.refuse(f"{end - begin} words of its pool are sequences of {length}")
        if sought := (end - begin) // length:
            part = pool[begin:end].reshape(sought, length)
            used = low <= length <= high
            counts.append(_counts(n, rows, part, skips) if used else n.constant(np.zeros((rows.shape[0], sought), np.float32)))
    found = concat([*counts, n.constant(np.zeros((rows.shape[0], 1), np.float32))], 1)
    if found.shape[1] - 1 != columns.size:
        n.refuse(f"{found.shape[1] - 1} sequences in its pool, {columns.size} columns for them")
    place = np.full(int(columns.max()) + 1, columns.size, np.int64)  # a column of none is 0
    place[columns] = np.arange(columns.size)
    by = np.ones(columns.size + 1, np.float32)
    if mode != "TF" and weights.size:
        if weights.size != columns.size:
            n.refuse(f"{weights.size} weights for {columns.size} sequences")
        by[:-1] = weights
    if mode == "IDF":
        found = (found > 0.0).astype(np.float32)
    found = (found if mode == "TF" else found * n.constant(by)).take(n.constant(place), 1)
    return found if n.x.rank == 2 else found.squeeze(0)


def _counts(n: NodeCall, rows: OnnxArray, sought: np.ndarray, skips: int) -> OnnxArray:
    """How often each sequence [sought, length] stands in each row, float32; up to `skips` words may stand between each two."""
    words, length = rows.shape[1], sought.shape[1]
    found = n.constant(np.zeros((rows.shape[0], len(sought)), np.int64))
    for step in range(1, (skips if length > 1 else 0) + 2):
        places = words - (length - 1) * step
        if places < 1:
            break
        n.bounded(rows.shape[0], places, len(sought))
        same: OnnxArray | None = None
        for i in range(length):
            here = rows.part(1, i * step, places).unsqueeze(2).equal(n.constant(sought[:, i].astype(rows.dtype)))
            same = here if same is None else binary("logical_and", same, here)
        assert same is not None
        found = found + same.astype(np.int64).sum([1])
    return found.astype(np.float32)
