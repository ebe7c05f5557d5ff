"""Writes missing_keys.json: what transformers' configuration classes take a missing key for.

    pip install transformers==5.24.0
    python tests/llm/families/make_missing_keys.py

"keys" has the defaults of fields, and of keys that the classes read beside them; "sliding" the kinds of 12 blocks that have no
`layer_types` (s: sliding, f: full attention), with some keys given; null where the class itself fails.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from fleet.llm.files.missing_keys import MISSING_KEYS

HERE = Path(__file__).parent
GIVEN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a pattern": {"sliding_window_pattern": 3},
    "no window": {"sliding_window": None},
    "use": {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 5},
}
BASES = {"gpt_neox": ("rotary_emb_base", "rotary_pct")}


def main() -> None:
    """Write the file."""
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    keys: dict[str, dict[str, Any]] = {}
    sliding: dict[str, dict[str, str | None]] = {}
    for kind, held in MISSING_KEYS.items():
        if kind == "chatglm":
            continue
        cls = CONFIG_MAPPING[kind]
        config = cls()
        found = {f.name: f.default for f in dataclasses.fields(cls) if f.name in held and f.default is not None}
        parameters = getattr(config, "rope_parameters", None)
        if parameters:
            base, part = BASES.get(kind, ("rope_theta", "partial_rotary_factor"))
            whole = parameters.get("full_attention", parameters)
            found[base] = whole["rope_theta"]
            if "rope_local_base_freq" in held:
                found["rope_local_base_freq"] = parameters["sliding_attention"]["rope_theta"]
            if "partial_rotary_factor" in whole:
                found[part] = whole["partial_rotary_factor"]
        if "attention_types" in held:
            found["attention_types"] = config.attention_types
        keys[kind] = dict(sorted(found.items()))
        if getattr(config, "layer_types", None) is not None:
            sliding[kind] = {name: _kinds(cls, given) for name, given in GIVEN.items()}
    made = {"transformers": transformers.__version__, "given": GIVEN, "keys": keys, "sliding": sliding}
    (HERE / "missing_keys.json").write_text(json.dumps(made, indent=1) + "\n")


def _kinds(cls: Any, given: dict[str, Any]) -> str | None:
    try:
        return "".join(kind[0] for kind in cls(num_hidden_layers=12, **given).layer_types)
    except ZeroDivisionError:
        return None


if __name__ == "__main__":
    main()
