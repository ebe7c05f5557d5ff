"""Language models step by step on the VM and on RISC-V: against a forward pass without graph, IR or cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.cvm import ENGINE as CVM
from fleet.errors import ModelError
from fleet.llm.config import ARCHITECTURES, preset
from fleet.llm.models import CLASSIC, SHORT, ModelOptions, build_model
from fleet.llm.reference import forward
from fleet.llm.sessions.program_session import CvmSession, RiscvSession, VmSession
from fleet.llm.sessions.session import Embedding, GenerationSession, TokenStep
from fleet.llm.tiny import tiny_model
from fleet.transforms.conversion.weights import GraphWeights

TOKENS = [5, 9, 31, 7, 5, 9, 31, 7, 5, 9, 2]
SEQUENCES = {"classic": CLASSIC, "short": SHORT, "fused": ModelOptions(join_rope=False)}


def session(architecture: str = "llama", options: ModelOptions = SHORT, engine: str = "vm") -> GenerationSession:
    weights = tiny_model(architecture)
    model, embedding = build_model(weights.config, weights, options), Embedding(weights)
    kinds = {"vm": VmSession, "riscv": RiscvSession, "cvm": CvmSession}
    return kinds[engine](model, embedding, GraphWeights(label=weights.digest))


def steps(found: GenerationSession, sizes: Sequence[int]) -> Iterator[TokenStep]:
    at = 0
    for n in sizes:
        yield found.step(TOKENS[at : at + n])
        at += n


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_prefill_and_decode_are_the_full_computation(architecture: str, sequence: str) -> None:
    weights = tiny_model(architecture)
    expected = forward(weights.config, weights, TOKENS)
    for step in steps(session(architecture, SEQUENCES[sequence]), (4, 1, 1, 3, 1, 1)):
        row = expected[step.position + len(step.tokens) - 1]
        np.testing.assert_allclose(step.logits, row, rtol=1e-4, atol=2e-5)
        assert step.argmax == row.argmax()


def test_riscv_computes_the_same_model() -> None:
    weights = tiny_model()
    expected = forward(weights.config, weights, TOKENS)
    with session(engine="riscv") as found:
        for step in steps(found, (4, 1, 1, 3)):
            np.testing.assert_allclose(step.logits, expected[step.position + len(step.tokens) - 1], rtol=1e-4, atol=2e-5)
            assert step.ran.counters["instructions"] > 10_000


def test_the_c_vm_computes_the_same_model() -> None:
    if CVM.available() is not None:
        pytest.skip(str(CVM.available()))
    expected = forward(tiny_model().config, tiny_model(), TOKENS)
    with session(engine="cvm") as found, session(engine="riscv") as other:
        for step, same in zip(steps(found, (4, 1, 1, 3)), steps(other, (4, 1, 1, 3)), strict=True):
            np.testing.assert_allclose(step.logits, expected[step.position + len(step.tokens) - 1], rtol=1e-4, atol=2e-5)
            np.testing.assert_array_equal(step.logits, same.logits)


def test_riscv_past_one_lot_of_slots() -> None:
    options = ModelOptions(tokens=32, positions=96)
    tokens = [5 + i % 40 for i in range(70)]
    weights = tiny_model()
    expected = forward(weights.config, weights, tokens)
    with session(options=options, engine="riscv") as found:
        for step in found.prefill(tokens[:66]):
            np.testing.assert_allclose(step.logits, expected[step.position + len(step.tokens) - 1], rtol=1e-4, atol=2e-5)
        np.testing.assert_allclose(found.step([tokens[66]]).logits, expected[66], rtol=1e-4, atol=2e-5)


def test_a_cache_filled_to_its_last_slot_works_and_one_more_token_is_refused() -> None:
    found = session(options=ModelOptions(tokens=4, positions=11))
    expected = forward(tiny_model().config, tiny_model(), TOKENS)
    *_, last = found.prefill(TOKENS)
    np.testing.assert_allclose(last.logits, expected[-1], rtol=1e-4, atol=2e-5)
    assert found.position == found.capacity
    with pytest.raises(ModelError, match="the KV cache is full: 11 of 11 positions; one more token does not fit"):
        found.step([3])
    assert found.position == 11
    found.rewind(10)
    np.testing.assert_allclose(found.step([TOKENS[10]]).logits, expected[-1], rtol=1e-4, atol=2e-5)


def test_what_does_not_fit_is_refused_before_anything_is_read() -> None:
    found = session(options=ModelOptions(tokens=4, positions=8))
    with pytest.raises(ModelError, match="9 more tokens do not fit"):
        list(found.prefill(TOKENS[:9]))
    with pytest.raises(ModelError, match="an empty prompt"):
        list(found.prefill([]))
    with pytest.raises(ModelError, match="5 tokens, the plan takes 1 to 4 a step"):
        found.step(TOKENS[:5])
    with pytest.raises(ModelError, match="token 320, expected 0 to 319"):
        found.step([320])
    assert found.position == 0


def test_after_a_rewind_nothing_of_the_forgotten_tokens_is_seen() -> None:
    found = session()
    list(found.prefill(TOKENS[:6]))
    first = found.step([TOKENS[6]])
    found.step([300])
    found.rewind(6)
    np.testing.assert_array_equal(found.step([TOKENS[6]]).logits, first.logits)
    found.reset()
    assert found.position == 0
    with pytest.raises(ModelError, match="rewound to 3"):
        found.rewind(3)


def test_tensors_on_demand_have_the_nodes_names() -> None:
    found = session()
    list(found.prefill(TOKENS[:3]))
    step = found.step([TOKENS[3]], ["blocks.0.down", "blocks.1.softmax", "logits"])
    assert {name: t.shape for name, t in step.ran.tensors.items()} == {
        "blocks.0.down": (1, 128), "blocks.1.softmax": (2, 1, 4), "logits": (1, 320),
    }  # fmt: skip
    np.testing.assert_array_equal(step.ran.tensors["logits"][0], step.logits)
    np.testing.assert_allclose(step.ran.tensors["blocks.1.softmax"].sum(axis=2), 1, rtol=1e-6)


def test_the_tiny_model_continues_what_repeats() -> None:
    found = session()
    *_, step = found.prefill([40, 41, 42, 43, 40, 41])
    said: list[int] = []
    for _ in range(5):
        said.append(step.argmax)
        step = found.step([step.argmax])
    assert said == [42, 43, 40, 41, 42]


def test_counts_of_operations_are_those_of_the_published_graphs() -> None:
    # The facts' counts: 28, 32 and 28 blocks of 17 operations, a norm and the head.
    for name, count in (("chatglm2-6b", 478), ("llama2-7b", 546), ("qwen2-7b", 478)):
        assert build_model(preset(name), options=CLASSIC).counts().total() == count
    assert build_model(preset("smollm2-135m"), options=SHORT).counts().total() == 30 * 14 + 2


def test_riscv_says_which_emulator_is_not_known() -> None:
    weights = tiny_model()
    found = RiscvSession(
        build_model(weights.config, weights), Embedding(weights), GraphWeights(), RunOptions(riscv={"emulator": "nothing"})
    )
    with pytest.raises(Exception, match="nothing"):
        found.step([1])
