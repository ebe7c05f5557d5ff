"""Perplexity of quantisation choices, measured by the reference with rounded weights. Scores are cached."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.core.codec import Json
from fleet.llm.files.cache import models_folder, store
from fleet.llm.load import LoadedLanguageModel
from fleet.llm.perplexity import Score, bundled_text, score
from fleet.llm.quantisation import Quantisation, quantise_model
from fleet.llm.weights import ModelWeights


@dataclass(frozen=True)
class PerplexityRow:
    """choice: None for the original weights. ratio: to those; error: its standard error; tokens: scored; bits: a weight."""

    choice: Quantisation | None
    perplexity: float
    ratio: float
    error: float
    tokens: int
    bits: float = 32.0

    def to_json(self) -> dict[str, Json]:
        """Return the row as JSON."""
        c = self.choice
        chosen: dict[str, Json] = {}
        if c is not None:
            chosen = {"group": c.group, "rounding": c.rounding, "host": list(c.host), "sparse": str(c.sparse), "bits": self.bits}
        return {**chosen, "perplexity": self.perplexity, "ratio": self.ratio, "ratio_error": self.error, "tokens": self.tokens}


def table(
    model: LoadedLanguageModel,
    choices: Sequence[Quantisation],
    *,
    tokens: Sequence[int] | None = None,
    calibration: Sequence[int] | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> list[PerplexityRow]:
    """Measure the original weights, then each choice.

    Args:
        model: weights and tokenizer.
        choices: what to measure.
        tokens: the text to predict; None: the bundled one, as much as the context holds.
        calibration: text for calibrated roundings; None: the bundled one of each.
        progress: called with the finished fraction (0 to 1) and a text.

    Raises:
        ModelError: too few or too many tokens, or weights that cannot be rounded.
    """
    config = model.weights.config
    if tokens is None:
        tokens = model.tokenizer.encode(bundled_text("evaluation"))[: config.context]
    texts = {choice.texts for choice in choices if choice.texts and calibration is None}
    learnt = {names: model.tokenizer.encode(bundled_text(*names)) for names in sorted(texts)}
    parts = len(choices) + 1

    def report(at: int) -> Callable[[float, str], None]:
        return lambda fraction, words: progress((at + fraction) / parts, words) if progress is not None else None

    report(0)(0, "as they are")
    base = _score(model.weights, model.weights.digest, tokens)
    rows = [PerplexityRow(None, base.perplexity, 1.0, 0.0, len(base.losses))]
    for at, choice in enumerate(choices, start=1):
        quantised = quantise_model(model.weights, choice, learnt.get(choice.texts, calibration or ()), progress=report(at))
        found = _score(quantised.rounded, quantised.key, tokens)
        rows.append(PerplexityRow(choice, found.perplexity, *found.ratio(base), len(found.losses), choice.mean_bits(config)))
    return rows


def _score(weights: ModelWeights, key: str, tokens: Sequence[int]) -> Score:
    text = hashlib.sha256(np.asarray(tokens, np.int64).tobytes()).hexdigest()
    path = models_folder() / "scores" / f"{hashlib.sha256(f'{key} {text} 1'.encode()).hexdigest()}.npy"
    try:
        losses = np.load(path, allow_pickle=False)
        if losses.shape == (len(tokens) - 1,) and losses.dtype == np.float64:
            return Score(losses)
    except (OSError, ValueError, EOFError):
        pass  # missing or damaged: measure again
    found = score(weights.config, weights, tokens)
    store(path, lambda file: np.save(file, found.losses))
    return found


def print_table(rows: Sequence[PerplexityRow]) -> Iterator[str]:
    """Yield the table's lines for people."""
    yield f"perplexity over {rows[0].tokens} tokens; times: against the weights as they are, with the standard error"
    width = max(10, *(len(str(row.choice.sparse)) for row in rows if row.choice is not None)) if len(rows) > 1 else 10
    yield f"{'head':7} {'group':>5} {'rounding':12} {'sparse':{width}} {'bits':>6} {'perplexity':>11} {'times':>7} {'+-':>6}"
    for row in rows:
        c = row.choice
        if c is None:
            yield f"{'-':7} {'-':>5} {'none':12} {'-':{width}} {'-':>6} {row.perplexity:11.2f} {row.ratio:7.3f} {'-':>6}"
        else:
            head, sparse = "host" if "head" in c.host else "device", str(c.sparse) or "dense"
            chosen = f"{head:7} {c.group:5} {c.rounding:12} {sparse:{width}} {row.bits:6.3f}"
            yield f"{chosen} {row.perplexity:11.2f} {row.ratio:7.3f} {row.error:6.3f}"
