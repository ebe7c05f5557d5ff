"""Heads that no device takes, and whose groups of inputs would be cut: zeros fill them before weights are rounded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers_drawn import drawn

from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.errors import ModelError
from fleet.isa.registry import find_device
from fleet.llm.config import ModelConfig
from fleet.llm.contestants import compile_model
from fleet.llm.generate import sqnr_db
from fleet.llm.load import LoadedLanguageModel, TinyTokenizer
from fleet.llm.models import ModelOptions, build_model
from fleet.llm.models.wider_heads import widened
from fleet.llm.quantisation import Quantisation
from fleet.llm.reference import forward
from fleet.llm.sessions.device_session import DeviceSession
from fleet.llm.sessions.program_session import VmSession
from fleet.llm.sessions.session import Embedding
from fleet.llm.weights import ModelWeights, weight_shapes
from fleet.transforms.conversion.weights import GraphWeights

TOKENS = [5, 9, 31, 7, 5, 9, 31, 7, 2]
PHI = ModelConfig(
    "phi", 2, 160, 4, 2, 40, 192, 160, 64, rotary=16, norm="layer", parallel="one", qkv_bias=True, o_bias=True, ffn_bias=True,
    head_bias=True, activation="gelu_tanh", gated=False,
)  # fmt: skip
"""Phi-2's heads of 80 channels, halved."""


def made(config: ModelConfig) -> ModelWeights:
    return ModelWeights.of(config, {name: drawn(name, shape) for name, shape in weight_shapes(config).items()})


@pytest.mark.parametrize(("channels", "rotary", "wide"), [(40, 16, 64), (40, 40, 64), (80, 32, 128), (48, 48, 128)])
def test_wider_heads_mean_the_same(channels: int, rotary: int, wide: int) -> None:
    weights = made(replace(PHI, channels=4 * channels, head_channels=channels, rotary=rotary))
    wider = widened(weights, wide)
    assert wider.config.head_channels == wide
    assert wider.digest != weights.digest
    expected = forward(weights.config, weights, TOKENS)
    np.testing.assert_allclose(forward(wider.config, wider, TOKENS), expected, rtol=0, atol=1e-5 * float(np.abs(expected).max()))


def test_normalised_heads_stay() -> None:
    with pytest.raises(ModelError, match="heads of 40 channels are normalised"):
        widened(made(replace(PHI, qk_norm="head")), 64)


QUICK = [(16, 128, 64), (40, 128, 64), (96, 128, 128), (96, 32, 96)]
NIGHTLY = [(32, 128, 32), (32, 64, 32), (48, 64, 64), (80, 128, 128)]


@pytest.mark.parametrize(
    ("channels", "group", "wide"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.nightly) for case in NIGHTLY)]
)
def test_a_device_computes_heads_of_any_width(channels: int, group: int, wide: int, tmp_path: Path) -> None:
    """Heads whose groups stay whole are filled later, when the graph is built."""
    weights = made(replace(PHI, blocks=1, channels=128, heads=2, kv_heads=1, head_channels=channels))
    loaded = LoadedLanguageModel("heads", weights, TinyTokenizer())
    plan = ModelOptions(tokens=16, positions=32)
    found = compile_model(loaded, plan, find_device("hbm_small")[1], Quantisation(group, "search"), aux=True)
    assert found.exact.config.head_channels == wide
    exact = VmSession(
        build_model(found.exact.config, found.exact, found.model.options),
        Embedding(weights),
        GraphWeights(label=found.exact.digest),
    )
    golden = VmSession(found.model, Embedding(weights), found.rounded, "vm-rounded")
    with DeviceSession(
        found.model, Embedding(weights), found.module, IssBackend(), tmp_path, RunOptions(), found.images, inside=True
    ) as device:
        names = tuple(call.label for call in found.model.calls() if call.label and not call.op.endswith("dat_hbm"))
        for part in (TOKENS[:6], TOKENS[6:7]):
            true, theirs, mine = (session.step(part, names).ran for session in (exact, golden, device))
            assert sqnr_db(theirs.logits, mine.logits) > 35
            assert sqnr_db(true.logits, theirs.logits) > 8
            assert {name: t.shape for name, t in mine.tensors.items()} == {name: t.shape for name, t in theirs.tensors.items()}
