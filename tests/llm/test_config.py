"""Shapes of models: the published ones, and sizes that cannot be."""

from __future__ import annotations

import dataclasses
import math

import pytest

from fleet.errors import ModelError
from fleet.llm.config import PRESETS, preset
from fleet.llm.tiny import tiny_config
from fleet.llm.weights import linear_names, weight_shapes


@pytest.mark.parametrize(
    ("name", "parameters"),
    # Published counts; a tied head is no parameter of its own.
    [
        ("smollm2-135m", 134_515_008),
        ("llama2-7b", 6_738_415_616),
        ("qwen2-7b", 7_615_616_512),
        ("chatglm2-6b", 6_243_584_000),
        ("gpt2", 124_439_808),
    ],
)
def test_presets_have_the_published_number_of_parameters(name: str, parameters: int) -> None:
    config = preset(name)
    shapes = weight_shapes(config)
    counted = sum(math.prod(shape) for key, shape in shapes.items() if not (config.tied and key == "head"))
    assert counted == parameters


def test_linear_layers_come_in_the_order_of_a_forward_pass() -> None:
    names = linear_names(preset("smollm2-135m"))
    assert len(names) == 30 * 7 + 1
    assert names[:7] == [
        f"blocks.0.{n}" for n in ("attention.q", "attention.k", "attention.v", "attention.o", "ffn.gate", "ffn.up", "ffn.down")
    ]
    assert names[-1] == "head"
    assert not any("gate" in name for name in linear_names(preset("gpt2")))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("blocks", 0), ("blocks", 10**9), ("blocks", 2.0), ("channels", -1), ("heads", 0),
        ("kv_heads", 3), ("head_channels", 1 << 40), ("ffn", 0), ("vocabulary", 1 << 60), ("context", True), ("rotary", 3),
        ("rotary", 66), ("rope_base", math.nan), ("rope_base", 0.5), ("norm_eps", 0.0), ("norm_eps", math.inf), ("norm", "batch"),
        ("bos", 320),
        ("eos", (-1,)), ("eos", ("2",)), ("activation", "tanh"), ("norm_place", "between"),
        ("qk_norm", "each"), ("parallel", "three"), ("chat", "jinja"),
    ],
)  # fmt: skip
def test_a_field_that_cannot_be_is_named(field: str, value: object) -> None:
    with pytest.raises(ModelError, match=field) as caught:
        dataclasses.replace(tiny_config(), **{field: value})
    assert "\n" not in str(caught.value)


def test_an_unknown_preset_names_those_that_there_are() -> None:
    with pytest.raises(ModelError, match=", ".join(PRESETS)):
        preset("gpt5")
