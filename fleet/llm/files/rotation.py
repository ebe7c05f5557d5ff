"""Reads from a config.json which blocks see a window of the last positions, and how each rotates queries and keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fleet.core.codec import is_list, is_table
from fleet.errors import ModelError
from fleet.llm.config import Rope, check_sizes
from fleet.llm.files.families import Draft, Family
from fleet.llm.files.missing_keys import MISSING_KEYS
from fleet.llm.files.rope import scaled

_STATED = ("rope_scaling", "rope_parameters")
"""Keys of the parameters; the older one wins, as in transformers."""
_KINDS = ("full_attention", "sliding_attention")


def read_positions(draft: Draft, family: Family) -> None:
    """Add to a draft how heads are rotated, and limit its context to what its blocks and its rotary embedding see.

    Raises:
        ModelError: naming the key that is wrong.
    """
    kinds = _kinds(draft, family)
    window = draft.content.get("sliding_window")
    if "sliding_attention" in kinds or (window is not None if family.sliding is None else not family.sliding.optional):
        window = draft.count("sliding_window")
    if draft.config.get("rotary") != 0:
        _rotate(draft, family, kinds)
    if window is not None and (family.sliding is None or "sliding_attention" in kinds):
        draft.config["context"] = min(draft.config["context"], window)


def _kinds(draft: Draft, family: Family) -> list[str]:
    """Return the kind of every block's attention; [] in a family whose blocks are all alike."""
    content, blocks, sliding = draft.content, draft.config["blocks"], family.sliding
    stated: Any = content.get("layer_types")
    if stated is not None and not is_list(stated):
        raise ModelError(f"layer_types is {stated!r:.40}, expected a list")
    if other := [kind for kind in stated or () if kind not in _KINDS]:
        raise ModelError(f"layer_types has {other[0]!r:.40}, expected full_attention or sliding_attention")
    if sliding is None:
        return []
    if stated is not None:
        if len(stated) != blocks:
            raise ModelError(f"layer_types has {len(stated)} entries, expected {blocks}, one a block")
        return [str(kind) for kind in stated]
    if sliding.optional and (content.get("sliding_window") is None or not content.get("use_sliding_window", True)):
        return ["full_attention"] * blocks
    every = draft.count(sliding.every) if isinstance(sliding.every, str) else sliding.every
    first = content.get(sliding.after, 0)
    if type(first) is not int:
        raise ModelError(f"{sliding.after} is {first!r:.40}, expected an integer")
    return [_KINDS[i >= first and not (every and (i + 1) % every == 0)] for i in range(blocks)]


def _rotate(draft: Draft, family: Family, kinds: list[str]) -> None:
    """Add the rotary embedding of heads."""
    content, c, stated = draft.content, draft.config, family.rotation
    name = next((key for key in _STATED if content.get(key)), _STATED[1])
    parameters: Any = content.get(name) or {}
    if not is_table(parameters):
        raise ModelError(f"{name} is {parameters!r:.80}, expected a table")
    sets = _sets(family, parameters, kinds, name)
    first = sets.get("full_attention", next(iter(sets.values())))
    c["rotary"] = c.get("rotary", _width(draft, family, first, name))
    check_sizes(c)
    context = c["context"]
    made: list[tuple[Rope | None, float]] = []
    for kind, one in sets.items():
        base = _base(draft, family, one, kind)
        if not (1 < base <= 1e12) or c["rotary"] <= 0:
            c["rope_base"] = base
            return  # `ModelConfig` refuses it by name
        rope, reach = scaled(_given(draft, family, one), base, c["rotary"], c["context"], name=name)
        context = min(context, reach)
        made.append((rope, base))
    c["context"], c["rope_base"] = context, made[0][1]
    plain = all(rope is None for rope, _ in made) and len({base for _, base in made}) == 1
    if not plain:
        c["ropes"] = tuple(rope or Rope.of_base(base, c["rotary"]) for rope, base in made)
    ways = list(sets)
    turns = [ways.index(kind) if kind in ways and not plain else 0 for kind in kinds]
    if stated.unrotated and content.get("sliding_window") is not None:
        turns = [-1 if kind == stated.unrotated else turn for kind, turn in zip(kinds, turns, strict=True)]
    if any(turns):
        c["block_ropes"] = tuple(turns)


def _sets(family: Family, parameters: Mapping[str, Any], kinds: list[str], name: str) -> dict[str, Mapping[str, Any]]:
    """Return the parameters by the kind of attention; by "" if all blocks have the same."""
    nested = {kind: value for kind, value in parameters.items() if kind in _KINDS and is_table(value)}
    named = family.rotation.kinds
    if not named:
        return {kind: value for kind, value in nested.items() if kind in kinds} or {"": parameters}
    if nested or not parameters:
        return {kind: nested.get(kind, {}) for kind in named}
    if name == _STATED[1]:  # transformers ignores parameters here that are of no kind, and publishes no such file
        raise ModelError(f"{name} names no kind of attention, expected parameters of {' and of '.join(named)}")
    return {kind: parameters if kind == "full_attention" else {} for kind in named}


def _base(draft: Draft, family: Family, parameters: Mapping[str, Any], kind: str) -> float:
    """Return the base of the frequencies."""
    content, stated = draft.content, family.rotation
    key = stated.kinds.get(kind, stated.base)
    known = MISSING_KEYS.get(str(content.get("model_type")), {})
    value = parameters.get("rope_theta")
    value = content.get(key) if value is None else value
    value = known.get(stated.base, 10000.0) if value is None else value
    return _number(key or "rope_theta", value)


def _width(draft: Draft, family: Family, parameters: Mapping[str, Any], name: str) -> int:
    """Return the number of rotated channels of a head."""
    content, stated, channels = draft.content, family.rotation, draft.config["head_channels"]
    if stated.channels:
        return draft.count(stated.channels)
    value = parameters.get("partial_rotary_factor")
    value = content.get(stated.part or "partial_rotary_factor") if value is None else value
    part = 1.0 if value is None else _number("partial_rotary_factor", value)
    if not 0 < part <= 1:
        raise ModelError(f"partial_rotary_factor is {part}, expected more than 0 and at most 1")
    if stated.part or part == 1:
        return int(channels * part)
    if _kind(parameters) not in ("default", "none"):
        kind = content.get("model_type")
        raise ModelError(
            f"{name} stretches positions as {_kind(parameters)!r:.40} with partial_rotary_factor {part}, but a {kind} rotates "
            "whole heads: what is meant is unknown"
        )
    return int(channels)  # the family's code does not read the part


def _kind(parameters: Mapping[str, Any]) -> Any:
    return parameters.get("rope_type", parameters.get("type", "default"))


def _given(draft: Draft, family: Family, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters with the name that a way to stretch has now, and the original context."""
    kind, key = _kind(parameters), "original_max_position_embeddings"
    given = {**parameters, "rope_type": family.rotation.older.get(kind, kind) if isinstance(kind, str) else kind}
    known = key in MISSING_KEYS.get(str(draft.content.get("model_type")), {})
    if known or given.get(key) is None:
        given[key] = draft.content.get(key)
    return given


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"{key} is {value!r:.40}, expected a number")
    return float(value)
