"""Rotary positions as stated in files: a base, and its scaling for long contexts.

Formulas: `ROPE_INIT_FUNCTIONS` of transformers (linear, llama3, yarn, longrope), with which tests compare them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from fleet.errors import ModelError
from fleet.llm.config import Rope

KINDS = ("default", "linear", "dynamic", "llama3", "yarn", "longrope")
_Parameters = Mapping[str, Any]


class _Number(Protocol):
    """Returns a positive parameter, or the default."""

    def __call__(self, key: str, default: float | None = None) -> float: ...


def scaled(parameters: _Parameters, base: float, rotary: int, context: int, *, name: str) -> tuple[Rope | None, int]:
    """Return the rotary embedding, None for the plain one, and the positions up to which it is valid.

    Args:
        parameters: of `rope_scaling` or `rope_parameters`, with "rope_type" (or "type") among `KINDS`.
        base: of the frequencies.
        rotary: rotated channels of a head.
        context: positions of the model.
        name: of the parameters in the file, for messages.

    Raises:
        ModelError: the kind is unknown, or parameters are missing or out of range; without a place.
    """
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    plain = Rope.of_base(base, rotary).frequencies

    def number(key: str, default: float | None = None) -> float:
        value = parameters.get(key)
        value = default if value is None else value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            raise ModelError(f"{name}.{key} is {value!r:.40}, expected a positive number")
        return float(value)

    if kind in ("default", "none", "dynamic"):  # "dynamic" scales only beyond the context
        return None, context
    if kind == "yarn" and parameters.get("original_max_position_embeddings") is None:
        number("factor")
    original = int(number("original_max_position_embeddings", context))
    if original < 1:
        raise ModelError(f"{name}.original_max_position_embeddings is below 1, expected a number of positions")
    match kind:
        case "linear":
            return Rope(tuple(f / number("factor") for f in plain)), context
        case "llama3":
            return Rope(_llama3(plain, number("factor"), number("low_freq_factor"), number("high_freq_factor"), original)), context
        case "yarn":
            return _yarn(plain, base, rotary, original, number, parameters, context), context
        case "longrope":
            return _longrope(plain, parameters, original, context, name), min(original, context)
        case _:
            raise ModelError(f"{name} is {kind!r:.40}, expected {', '.join(KINDS)}")


def divided(plain: Rope, factors: tuple[float, ...], *, name: str) -> Rope:
    """Return the frequencies, each divided by its factor. Raises ModelError if the numbers of both differ."""
    if len(factors) != len(plain.frequencies):
        raise ModelError(f"{name} has {len(factors)} numbers, expected {len(plain.frequencies)}, one a pair")
    return Rope(tuple(f / d for f, d in zip(plain.frequencies, factors, strict=True)), plain.magnitude)


def _llama3(plain: tuple[float, ...], factor: float, low: float, high: float, original: int) -> tuple[float, ...]:
    """Scale the frequencies of slow pairs, keep those of fast ones, and interpolate between."""
    if high <= low:
        raise ModelError(f"high_freq_factor is {high:g}, expected more than low_freq_factor ({low:g})")

    def stays(frequency: float) -> float:
        return min(1.0, max(0.0, (original * frequency / (2 * math.pi) - low) / (high - low)))

    return tuple((1 - stays(f)) * f / factor + stays(f) * f for f in plain)


def _yarn(
    plain: tuple[float, ...], base: float, rotary: int, original: int, number: _Number, parameters: _Parameters, context: int
) -> Rope:
    """Classify pairs by their number of turns within the original context."""
    factor = number("factor", context / original)

    def pair_of(turns: float) -> float:
        return rotary * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_of(number("beta_fast", 32)), pair_of(number("beta_slow", 1))
    if parameters.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, rotary - 1)
    high += 0.001 if low == high else 0
    ramps = (min(1.0, max(0.0, (i - low) / (high - low))) for i in range(len(plain)))
    frequencies = tuple(f / factor * ramp + f * (1 - ramp) for f, ramp in zip(plain, ramps, strict=True))

    def magnitude(scale: float) -> float:
        return 0.1 * scale * math.log(factor) + 1 if factor > 1 else 1.0

    usual = magnitude(1)
    if parameters.get("mscale") and parameters.get("mscale_all_dim"):
        usual = magnitude(number("mscale")) / magnitude(number("mscale_all_dim"))
    return Rope(frequencies, number("attention_factor", usual))


def _longrope(plain: tuple[float, ...], parameters: _Parameters, original: int, context: int, name: str) -> Rope:
    """The short factors; the long ones are for positions beyond the original context."""
    short = parameters.get("short_factor")
    if not isinstance(short, list) or not all(isinstance(s, int | float) and not isinstance(s, bool) and s > 0 for s in short):
        raise ModelError(f"{name}.short_factor is {short!r:.40}, expected positive numbers, one a pair")
    given = parameters.get("attention_factor")
    factor = parameters.get("factor") or context / original
    usual = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 else 1.0
    magnitude = float(given) if isinstance(given, int | float) else usual
    return divided(Rope(plain, magnitude), tuple(float(s) for s in short), name=f"{name}.short_factor")
