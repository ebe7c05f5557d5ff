"""Perplexity: how well a model predicts a text, and how much quantisation costs."""

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


@dataclass(frozen=True)
class Score:
    """A model's score on a text.

    Attributes:
        losses: -log probability (natural) of each token except the first, float64 [tokens - 1].
    """

    losses: npt.NDArray[np.float64]

    @property
    def perplexity(self) -> float:
        """exp of the mean loss: the model is as uncertain as a uniform choice among this many tokens."""
        return math.exp(min(float(self.losses.mean()), 700.0))

    def ratio(self, base: Score) -> tuple[float, float]:
        """Return (perplexity / base's, its standard error), computed token by token on the same text."""
        differences = self.losses - base.losses
        ratio = math.exp(min(float(differences.mean()), 700.0))
        return ratio, ratio * float(differences.std()) / math.sqrt(len(differences))


def score_logits(logits: npt.NDArray[np.floating], tokens: Sequence[int]) -> Score:
    """Score logits [tokens, vocabulary] or [tokens - 1, vocabulary] of any engine."""
    following = np.asarray(tokens)[1:]
    return Score(-log_softmax(logits[: len(following)])[np.arange(len(following)), following])


def score(config: ModelConfig, weights: Mapping[str, WeightArray], tokens: Sequence[int]) -> Score:
    """Score with the reference. Raises ModelError if there are fewer than two tokens or more than the context."""
    if len(tokens) < 2:
        raise ModelError(f"{len(tokens)} tokens, expected at least 2", where="perplexity")
    return score_logits(forward(config, weights, tokens), tokens)


def bundled_text(*names: str) -> str:
    """Return public-domain texts of fleet/llm/data one after the other: "evaluation", "calibration", "calibration_more"."""
    folder = files("fleet.llm").joinpath("data")
    return "\n".join(folder.joinpath(f"{name}.txt").read_text(encoding="utf-8") for name in names)
