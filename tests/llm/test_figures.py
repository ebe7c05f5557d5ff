"""Figures of a generation: against numbers counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.engines.trace import Commit
from fleet.isa.registry import find_device
from fleet.llm import figures
from fleet.llm.config import preset
from fleet.llm.contestants import CompiledContestant, compile_model
from fleet.llm.load import load_model
from fleet.llm.models import ModelOptions, build_model
from fleet.llm.quantisation import Quantisation, quantise_model
from fleet.llm.reference import forward
from fleet.llm.sessions.program_session import VmSession
from fleet.llm.sessions.session import Embedding, RanStep, TokenStep

PLAN = ModelOptions(tokens=4, positions=16)


@pytest.fixture(scope="module")
def compiled() -> CompiledContestant:
    return compile_model(load_model("tiny"), PLAN, find_device("hbm_small")[1], Quantisation(64, "search"), aux=False)


def test_names_of_nodes() -> None:
    assert figures.kind_of("blocks.17.down") == (17, "down")
    assert figures.kind_of("logits") == (-1, "logits")
    assert figures.kind_of("other.1.down") == (-1, "other.1.down")


def test_parameters_and_bits_of_published_models() -> None:
    assert figures.parameters(preset("smollm2-135m")) == 134_515_008
    assert figures.parameters(preset("gpt2")) == 124_439_808
    assert figures.parameters(preset("llama2-7b")) == 6_738_415_616
    # 576 inputs are nine groups of 64, five of 128; every scale has 16 bits.
    one = preset("smollm2-135m").shortened(1)
    block = 576 * (576 + 2 * 192) + 576 * 576 + 3 * 576 * 1536
    head = 576 * 49152
    scales = 9 * (960 + 576 + 3072 + 49152) + 24 * 576
    assert Quantisation(64).stored_bits(one) == 4 * (block + head) + 16 * scales
    assert Quantisation(64, host=("head",)).stored_bits(one) == 4 * block + 16 * (scales - 9 * 49152)


def test_every_cycle_of_a_step_is_counted_once(compiled: CompiledContestant) -> None:
    calls = compiled.module.calls(token=1, last_token=3)
    ends = np.cumsum(np.random.default_rng(0).integers(1, 50, len(calls)))
    # Every instruction begins while the one before still runs.
    starts = [max(0, int(e) - 60) for e in ends]
    commits = [
        Commit(i, c.instruction, c.ops, 0, 0, start=100 + s, end=100 + int(e), cycles={"compute": int(e) - s})
        for i, (c, s, e) in enumerate(zip(calls, starts, ends, strict=True))
    ]
    found = figures.kind_costs(compiled.module.instruction_set, compiled.module.device, calls, commits)
    assert sum(c.own for c in found) == ends[-1]
    assert sum(c.commits for c in found) == len(calls)
    assert {c.kind: c.commits for c in found}["down"] == 2
    assert {c.kind: c.macs for c in found}["down"] == 2 * 256 * 128
    assert {c.kind: c.macs for c in found}["logits"] == 128 * 320
    line = figures.timeline(compiled.module.instruction_set, commits)
    assert (line[0].start, line[-1].end, sum(t.own for t in line)) == (0, ends[-1], ends[-1])
    assert {t.unit for t in line} == {"mvm", "sfu", "attention"}
    assert figures.kind_costs(compiled.module.instruction_set, compiled.module.device, calls, [Commit(0, "mvm", (), 0, 0)]) == ()


def test_traffic_of_a_step(compiled: CompiledContestant) -> None:
    module, config = compiled.module, load_model("tiny").weights.config
    calls = module.calls(token=1, last_token=3)
    step = TokenStep(3, (5,), RanStep(np.zeros(320, np.float32), 0, counters={"hbm_read_bytes": 1e6}), 0.0, 0.0)
    rows = {t.memory: t for t in figures.traffic(module.instruction_set, module.device, calls, step, config, Quantisation(64))}
    # Two blocks, keys and values of one head of 64 channels in FP16.
    assert rows["HBM, written"].unpadded == rows["HBM, written"].least == 2 * 2 * 64 * 2
    assert rows["HBM, read"].unpadded == Quantisation(64).stored_bits(config) // 8 + 4 * 2 * 2 * 64 * 2
    assert rows["HBM, read"].least >= rows["HBM, read"].unpadded
    assert (rows["HBM, read"].moved, rows["DDR, read"].moved) == (1_000_000, None)
    assert rows["DDR, written"].least >= 2 * 320 + 4
    expected = figures.estimate(module.instruction_set, module.device, calls, "ideal")
    assert expected is not None
    assert 1000 < expected < 10_000


def test_the_rounded_golden_is_the_model_with_the_stored_weights(compiled: CompiledContestant) -> None:
    loaded = load_model("tiny")
    stored = quantise_model(loaded.weights, Quantisation(64, "search"), []).rounded
    tokens = [80, 90, 99, 80]
    with VmSession(compiled.program, Embedding(loaded.weights), compiled.rounded, "vm-rounded") as session:
        found = session.step(tokens).logits
    expected = forward(stored.config, {**dict(stored), "embedding": loaded.weights["embedding"]}, tokens)[-1]
    given = forward(loaded.weights.config, loaded.weights, tokens)[-1]
    # What is no matrix is in FP16, which the reference does not round.
    assert np.abs(found - expected).max() < 0.02 < np.abs(given - expected).max()


def test_layers_are_compared_node_by_node() -> None:
    one = {"blocks.0.wo": np.ones(4), "norm": np.ones(4), "only here": np.ones(1)}
    rounded = {"blocks.0.wo": np.full(4, 1.1), "norm": np.ones(4)}
    golden = {"blocks.0.wo": np.full(4, 2.0), "norm": np.ones(4)}
    first, second = figures.layer_errors(one, rounded, golden)
    assert (first.node, first.block, first.kind) == ("blocks.0.wo", 0, "wo")
    assert first.rounded_db == pytest.approx(20 * np.log10(11))
    assert first.golden_db == pytest.approx(20 * np.log10(2))
    assert first.quantisation_db == pytest.approx(20 * np.log10(2 / 0.9))
    assert second.rounded_db == float("inf")


def test_a_plan_without_weights_has_a_shape() -> None:
    model = build_model(preset("smollm2-135m"))
    made = figures.model_figures("smollm2", model, Quantisation(64), 5)
    assert (made.parameters, made.host_bytes, made.tokens) == (134_515_008, 5, 32)
    assert sum(made.instructions.values()) == 422
