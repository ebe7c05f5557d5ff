"""The reference forward pass: what the tiny model must say, and properties that hold for every decoder."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.llm.config import ARCHITECTURES, ModelConfig
from fleet.llm.reference import forward
from fleet.llm.tiny import VOCABULARY, tiny_config, tiny_model
from fleet.llm.weights import ModelWeights, interleaved_order, weight_shapes

MODEL = tiny_model()
ARRAYS = dict(MODEL)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_the_tiny_model_continues_what_repeats(data: st.DataObject) -> None:
    """Positions, rotary angles, causal attention over grouped heads, norms and residuals all have to be right for it."""
    word = data.draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=3, max_size=40, unique=True))
    start = data.draw(st.integers(len(word) + 1, 2 * len(word)))
    tokens = (word * 3)[:start]
    logits = forward(MODEL.config, ARRAYS, tokens)
    assert int(logits[-1].argmax()) == (word * 3)[start]
    assert float(np.sort(logits[-1])[-1] - np.sort(logits[-1])[-2]) > 2


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_later_tokens_change_nothing_before_them(architecture: str) -> None:
    model = tiny_model(architecture)
    arrays = dict(model)
    tokens = [5, 7, 300, 7, 11, 12]
    np.testing.assert_allclose(
        forward(model.config, arrays, tokens)[:4], forward(model.config, arrays, tokens[:4]), rtol=1e-4, atol=1e-4
    )
    assert forward(model.config, arrays, tokens).std() > 0.3


def test_half_split_pairs_give_the_same_as_permuted_interleaved_ones() -> None:
    model = tiny_model("qwen2")
    split = dataclasses.replace(model.config, rope_interleaved=False)
    arrays = dict(model)
    permuted = dict(arrays)
    for name in arrays:
        if (kind := name.split(".")[2:4]) and kind[0] == "attention" and kind[1] in "qk":
            heads = split.heads if kind[1] == "q" else split.kv_heads
            permuted[name] = arrays[name][..., interleaved_order(heads, split.head_channels, split.rotary)]
    tokens = [3, 1, 4, 1, 5, 9, 2, 6]
    expected = forward(split, arrays, tokens)
    np.testing.assert_allclose(forward(model.config, permuted, tokens), expected, rtol=1e-4, atol=1e-4)
    assert np.abs(forward(model.config, arrays, tokens) - expected).max() > 0.01  # the order does matter


def test_one_block_by_hand() -> None:
    """One head, two tokens, float64 scalars, written from the definition."""
    config = ModelConfig(
        "llama",
        blocks=1,
        channels=2,
        heads=1,
        kv_heads=1,
        head_channels=2,
        ffn=1,
        vocabulary=3,
        context=4,
        rotary=2,
        rope_base=100.0,
    )
    rng = np.random.default_rng(5)
    w = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in weight_shapes(config).items()}
    tokens = [2, 0]

    def norm(x: list[float], gamma: np.ndarray) -> list[float]:
        r = math.sqrt(sum(v * v for v in x) / 2 + config.norm_eps)
        return [float(v / r * g) for v, g in zip(x, gamma, strict=True)]

    def times(x: list[float], m: np.ndarray) -> list[float]:
        return [sum(x[i] * float(m[i, j]) for i in range(len(x))) for j in range(m.shape[1])]

    def turn(x: list[float], t: int) -> list[float]:
        return [x[0] * math.cos(t) - x[1] * math.sin(t), x[0] * math.sin(t) + x[1] * math.cos(t)]

    xs = [[float(v) for v in w["embedding"][t]] for t in tokens]
    ys = [norm(x, w["blocks.0.norm1.gamma"]) for x in xs]
    q = turn(times(ys[1], w["blocks.0.attention.q"]), 1)
    ks = [turn(times(y, w["blocks.0.attention.k"]), t) for t, y in enumerate(ys)]
    vs = [times(y, w["blocks.0.attention.v"]) for y in ys]
    e = [math.exp((q[0] * k[0] + q[1] * k[1]) / math.sqrt(2)) for k in ks]
    mixed = [sum(e[t] / sum(e) * vs[t][j] for t in range(2)) for j in range(2)]
    x = [a + b for a, b in zip(xs[1], times(mixed, w["blocks.0.attention.o"]), strict=True)]
    y = norm(x, w["blocks.0.norm2.gamma"])
    gate, up = times(y, w["blocks.0.ffn.gate"])[0], times(y, w["blocks.0.ffn.up"])[0]
    x = [a + b for a, b in zip(x, times([gate / (1 + math.exp(-gate)) * up], w["blocks.0.ffn.down"]), strict=True)]
    np.testing.assert_allclose(forward(config, w, tokens)[1], times(norm(x, w["norm.gamma"]), w["head"]), rtol=2e-5)


@pytest.mark.parametrize("tokens", [[], [320], [-1], [1] * 513])
def test_tokens_that_cannot_be_are_refused(tokens: list[int]) -> None:
    with pytest.raises(ModelError, match="token"):
        forward(MODEL.config, ARRAYS, tokens)


def test_weights_are_checked_where_they_are_asked_for() -> None:
    arrays = dict(ARRAYS)
    with pytest.raises(ModelError, match=r"blocks.1.norm2.gamma.* missing"):
        ModelWeights.of(MODEL.config, {k: v for k, v in arrays.items() if k != "blocks.1.norm2.gamma"})
    bad = arrays["blocks.0.ffn.up"].copy()
    bad[3, 4] = np.nan
    with pytest.raises(ModelError, match=r"blocks.0.ffn.up holds nan at \[3, 4\]"):
        ModelWeights.of(MODEL.config, arrays | {"blocks.0.ffn.up": bad})
    with pytest.raises(ModelError, match=r"norm.gamma has shape \[64\], expected \[128\]"):
        ModelWeights.of(MODEL.config, arrays | {"norm.gamma": np.ones(64, np.float32)})


def test_equal_weights_have_equal_digests_and_others_do_not() -> None:
    assert tiny_model().digest == MODEL.digest
    assert tiny_model(seed=1).digest != MODEL.digest
    changed = MODEL.replaced({"norm.gamma": lambda: np.zeros(128, np.float32)}, "nothing")
    assert changed.digest != MODEL.digest
    assert not changed["norm.gamma"].any()
    assert tiny_config() == MODEL.config
