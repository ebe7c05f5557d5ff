"""Chooses the next token from logits: greedily, or with a seeded generator at a temperature among the likeliest tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fleet.errors import FleetError


@dataclass(frozen=True)
class Sampling:
    """Choice of the next token.

    Attributes:
        temperature: divides the logits; 0 takes the largest logit (the lowest id among equals, as `numpy.argmax`).
        top_k: keep only this many of the likeliest tokens; 0 for all.
        top_p: keep only the likeliest tokens that together reach this probability; 1 for all.
        seed: of the generator.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises FleetError if a number is out of range."""
        if not 0 <= self.temperature < 1e6:
            raise FleetError(f"temperature {self.temperature:g}, expected 0 (greedy) or more", where="sampling")
        if self.top_k < 0:
            raise FleetError(f"top-k {self.top_k}, expected 0 (all tokens) or more", where="sampling")
        if not 0 < self.top_p <= 1:
            raise FleetError(f"top-p {self.top_p:g}, expected more than 0 and at most 1", where="sampling")

    @property
    def greedy(self) -> bool:
        """True if the largest logit is taken without a draw."""
        return self.temperature == 0


def probabilities(logits: npt.NDArray[np.floating], sampling: Sampling) -> npt.NDArray[np.float64]:
    """Return the probability of every token, [vocabulary]; the sum is 1.

    Tokens with equal logits are ranked by id, so equal logits always give the same candidates.

    Args:
        logits: [vocabulary], at least one finite.
        sampling: its temperature must not be 0.

    Raises:
        FleetError: no logit is finite.
    """
    scaled = _known(logits) / sampling.temperature
    order = np.argsort(-scaled, kind="stable")
    if sampling.top_k:
        order = order[: sampling.top_k]
    chosen = np.exp(scaled[order] - scaled[order[0]])
    chosen /= chosen.sum()
    # Keep a token if the likelier ones together do not reach top_p; the likeliest always stays.
    kept = np.concatenate([[True], np.cumsum(chosen)[:-1] < sampling.top_p])
    result = np.zeros(scaled.shape)
    result[order[kept]] = chosen[kept] / chosen[kept].sum()
    return result


def _known(logits: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the logits; a NaN is never chosen. Raises FleetError if the largest is not finite."""
    known = np.where(np.isnan(logits), -np.inf, logits.astype(np.float64))
    if not np.isfinite(known.max()):
        raise FleetError("no finite logit to choose from", where="sampling", hint="the model's weights overflow on this engine")
    return known


class Sampler:
    """Draws tokens one by one: equal logits and seeds give equal tokens."""

    def __init__(self, sampling: Sampling) -> None:
        self.sampling = sampling
        self._random = np.random.default_rng(sampling.seed)

    def __call__(self, logits: npt.NDArray[np.floating]) -> int:
        """Return the next token. logits: [vocabulary]. Raises FleetError if none is finite."""
        if self.sampling.greedy:
            return int(np.argmax(_known(logits)))
        chances = np.cumsum(probabilities(logits, self.sampling))
        return int(np.searchsorted(chances, self._random.random() * chances[-1], side="right"))
