"""Perplexity: how well a model foretells a text, and what its quantisation costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig
from fleet.llm.reference import forward, log_softmax
from fleet.llm.weights import WeightArray

__all__ = ["Score", "bundled_text", "score", "score_logits"]


@dataclass(frozen=True)
class Score:
    """How a model did on a text.

    Attributes:
        losses: -log probability (natural) of each token but the first, float64 [tokens - 1].
    """

    losses: npt.NDArray[np.float64]

    @property
    def perplexity(self) -> float:
        """exp of the mean loss: among how many tokens, all alike, it seemed to choose."""
        return math.exp(min(float(self.losses.mean()), 700.0))

    def ratio(self, base: Score) -> tuple[float, float]:
        """(perplexity / base's, standard error of that), token by token on the same text."""
        differences = self.losses - base.losses
        ratio = math.exp(min(float(differences.mean()), 700.0))
        return ratio, ratio * float(differences.std()) / math.sqrt(len(differences))


def score_logits(logits: npt.NDArray[np.floating], tokens: Sequence[int]) -> Score:
    """From logits [tokens, vocabulary] or [tokens - 1, vocabulary] of any engine."""
    following = np.asarray(tokens)[1:]
    return Score(-log_softmax(logits[: len(following)])[np.arange(len(following)), following])


def score(config: ModelConfig, weights: Mapping[str, WeightArray], tokens: Sequence[int]) -> Score:
    """By the reference. Raises ModelError for fewer than two tokens or more than the context."""
    if len(tokens) < 2:
        raise ModelError(f"{len(tokens)} tokens, expected at least 2", where="perplexity")
    return score_logits(forward(config, weights, tokens), tokens)


def bundled_text(name: str) -> str:
    """A text in the public domain: "evaluation" or "calibration" (fleet/llm/data/README.md)."""
    return files("fleet.llm").joinpath("data", f"{name}.txt").read_text(encoding="utf-8")
