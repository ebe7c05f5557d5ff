"""Keys that a config.json leaves out, and older names of keys, against what transformers takes them for."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, cast

import pytest

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig
from fleet.llm.files.families import FAMILIES
from fleet.llm.files.hugging_face import hugging_face_config
from fleet.llm.files.missing_keys import MISSING_KEYS
from fleet.llm.files.safetensors import TensorFolder

HERE = Path(__file__).parent / "families"
HELD: dict[str, Any] = json.loads((HERE / "missing_keys.json").read_text())
MODELS: dict[str, Any] = json.loads((HERE / "models.json").read_text())["models"]
SIZES = {
    "hidden_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 32, "vocab_size": 64, "n_embd": 2048, "n_layer": 12,
    "n_head": 32, "num_layers": 12, "num_heads": 32,
}  # fmt: skip
ALIKE: dict[str, dict[str, Any]] = {
    "gpt_neo": {"attention_types": [[["global", "local"], 6]]},
    "helium": {"num_attention_heads": 20},
}
"""What the sizes above contradict."""
NOT_CAPPED = {"attn_logit_softcapping": None, "final_logit_softcapping": None}


class Shapes:
    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self.shapes = dict.fromkeys(names, (1,))


def read(content: dict[str, Any], folder: Path, names: tuple[str, ...] = ()) -> ModelConfig:
    path = folder / "config.json"
    path.write_text(json.dumps(content))
    return hugging_face_config(path, cast("TensorFolder", Shapes(names)))[0]


def model(name: str, *gone: str, **more: Any) -> dict[str, Any]:
    return {key: value for key, value in MODELS[name]["config"].items() if key not in gone} | more


def test_the_table_is_transformers_own() -> None:
    assert HELD["transformers"] == "5.24.0"
    own = {kind: {**keys} for kind, keys in HELD["keys"].items()}
    for kind in ("cohere2", "gemma3_text"):  # read beside the fields; held by the kinds of blocks below
        own[kind]["sliding_window_pattern"] = MISSING_KEYS[kind]["sliding_window_pattern"]
    assert own == {kind: dict(keys) for kind, keys in MISSING_KEYS.items() if kind != "chatglm"}
    assert MISSING_KEYS.keys() == FAMILIES.keys()


@pytest.mark.parametrize("kind", HELD["keys"])
def test_a_missing_key_is_the_same_as_its_default(kind: str, tmp_path: Path) -> None:
    least = {"model_type": kind, **SIZES, **(ALIKE.get(kind, {})), **(NOT_CAPPED if kind == "gemma2" else {})}
    whole = {**HELD["keys"][kind], **least}
    assert read(least, tmp_path) == read(whole, tmp_path)


@pytest.mark.parametrize(("kind", "given"), [(kind, given) for kind, found in HELD["sliding"].items() for given in found])
def test_blocks_slide_where_transformers_has_them_slide(kind: str, given: str, tmp_path: Path) -> None:
    """Seen by giving `layer_types` as transformers derives them."""
    least = {"model_type": kind, **SIZES, **HELD["given"][given], **(NOT_CAPPED if kind == "gemma2" else {})}
    kinds = HELD["sliding"][kind][given]
    names = {"s": "sliding_attention", "f": "full_attention"}
    if given == "no window" and kinds is not None and "s" in kinds:
        with pytest.raises(ModelError, match="sliding_window is None"):
            read(least, tmp_path)
    else:
        stated = least | {"layer_types": [names[letter] for letter in kinds or "f" * 12]}
        assert read(least, tmp_path) == read(stated, tmp_path)


def test_older_files_state_the_blocks_that_see_everything_by_a_pattern(tmp_path: Path) -> None:
    """As c4ai-command-r7b is published: every n-th block is not rotated."""
    for pattern, turns in ((2, (0, -1, 0)), (3, (0, 0, -1))):
        c = read(model("cohere2", "layer_types", sliding_window_pattern=pattern), tmp_path)
        assert (c.block_ropes, c.context) == (turns, 64)
    c = read(model("gemma3_text", "layer_types", sliding_window_pattern=3), tmp_path)
    assert c == read(model("gemma3_text"), tmp_path)
    with pytest.raises(ModelError, match="sliding_window_pattern is 'LLLG', expected a positive integer"):
        read(model("exaone4", "layer_types", sliding_window_pattern="LLLG"), tmp_path)


def test_smollm3_rotates_all_but_every_nth_block(tmp_path: Path) -> None:
    assert read(model("smollm3", "no_rope_layers"), tmp_path).block_ropes == (0, 0, 0)
    assert read(model("smollm3", "no_rope_layers", no_rope_layer_interval=2), tmp_path).block_ropes == (0, -1, 0)
    with pytest.raises(ModelError, match="no_rope_layers is"):
        read(model("smollm3", no_rope_layers=[1]), tmp_path)


YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 16}


def test_olmo3_stretches_the_blocks_that_see_everything(tmp_path: Path) -> None:
    older = read(model("olmo3", "rope_parameters", rope_scaling=YARN, rope_theta=500000), tmp_path)
    plain = {"rope_type": "default", "rope_theta": 500000.0}
    nested = {"full_attention": YARN | {"rope_theta": 500000.0}, "sliding_attention": plain}
    assert older == read(model("olmo3", rope_parameters=nested), tmp_path)
    assert older.rope_of(0) != older.rope_of(1)
    with pytest.raises(ModelError, match="rope_parameters names no kind of attention"):
        read(model("olmo3", rope_parameters=YARN), tmp_path)


def test_exaone4_rotates_no_block_that_sees_everything_beside_a_window(tmp_path: Path) -> None:
    full = ["full_attention"] * 3
    assert read(model("exaone4", "sliding_window", layer_types=full), tmp_path).block_ropes == (-1, -1, -1)
    assert read(model("exaone4", layer_types=full, sliding_window=None), tmp_path).block_ropes == ()


@pytest.mark.parametrize(
    ("kind", "key", "share"), [("phi", "partial_rotary_factor", 0.25), ("gpt_neox", "rotary_pct", 0.5), ("glm", "", 0.5)]
)
def test_a_share_of_a_head_is_rotated(kind: str, key: str, share: float, tmp_path: Path) -> None:
    c = read(model(kind, "rope_parameters", **({key: share} if key else {})), tmp_path)
    assert c.rotary == share * c.head_channels
    assert read(model(kind, rope_parameters={"partial_rotary_factor": share}), tmp_path).rotary == c.rotary


def test_llama_rotates_whole_heads(tmp_path: Path) -> None:
    """Its code reads no share; with a stretch it fails on one."""
    half = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
    assert read(model("llama", rope_parameters=half), tmp_path) == read(model("llama"), tmp_path)
    with pytest.raises(ModelError, match=r"with partial_rotary_factor 0\.5, but a llama rotates whole heads"):
        read(model("llama", rope_parameters=half | {"rope_type": "linear", "factor": 2}), tmp_path)


def test_caps_that_a_file_leaves_out_are_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"attn_logit_softcapping is missing, which means 50\.0, expected None"):
        read(model("gemma2", "attn_logit_softcapping"), tmp_path)


def test_gpt_neos_kinds_of_blocks_are_stated_in_two_ways(tmp_path: Path) -> None:
    assert read(model("gpt_neo", "attention_layers"), tmp_path).context == 64
    assert read(model("gpt_neo", attention_layers=["global"] * 2), tmp_path).context == 256
    with pytest.raises(ModelError, match="expected global or local for each of 2 blocks"):
        read(model("gpt_neo", "attention_layers", "attention_types"), tmp_path)


def test_an_older_name_of_longrope(tmp_path: Path) -> None:
    factors = {"short_factor": [1.0 + 0.1 * i for i in range(16)], "long_factor": [2.0] * 16}
    made = [
        read(
            model("phi3", "rope_parameters", rope_scaling={"type": kind, **factors}, original_max_position_embeddings=64), tmp_path
        )
        for kind in ("su", "longrope")
    ]
    assert made[0] == made[1]
    assert made[0].ropes


def test_a_head_that_is_stored_is_read_where_the_file_does_not_say(tmp_path: Path) -> None:
    assert read(model("gemma", "tie_word_embeddings"), tmp_path).tied
    assert not read(model("gemma", "tie_word_embeddings"), tmp_path, ("lm_head.weight",)).tied
    assert not read(model("llama", "tie_word_embeddings"), tmp_path).tied


def test_the_configurations_of_tests_hold_what_they_say(tmp_path: Path) -> None:
    """`read` tells two configurations apart that differ in one rotated block."""
    c = read(model("cohere2"), tmp_path)
    assert c != dataclasses.replace(c, block_ropes=(0, 0, -1))
