"""A prompt answered on several engines: what is compared, what is refused, what a wrong engine looks like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.cosim.generation import GenerationResult
from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.errors import FleetError, ModelError
from fleet.isa.digest import digest
from fleet.isa.registry import find_device
from fleet.llm.contestants import CompiledContestant, GenerateRequest, compile_model, generate
from fleet.llm.generate import Contest, ContestOutcome, GenerationWatch, sqnr_db
from fleet.llm.load import LoadedLanguageModel, load_model
from fleet.llm.models import ModelOptions, build_model
from fleet.llm.perplexity import bundled_text, score
from fleet.llm.quantisation import Quantisation
from fleet.llm.reference import forward
from fleet.llm.sampling import Sampling
from fleet.llm.sessions.device_session import DeviceSession
from fleet.llm.sessions.program_session import VmSession
from fleet.llm.sessions.session import F32, Embedding, GenerationSession, RanStep, TokenStep
from fleet.transforms.conversion.weights import GraphWeights

PLAIN = Quantisation(128, "search")
PLAN = ModelOptions(tokens=8, positions=64)
TOKENS = [70, 81, 95, 70, 81, 95, 70, 81]


@pytest.fixture(scope="module")
def loaded() -> LoadedLanguageModel:
    return load_model("tiny")


def request(**changes: object) -> GenerateRequest:
    base = GenerateRequest("tiny", "abcabcab", 4, ("vm", "iss"), "hbm_small", plan=PLAN)
    return replace(base, **changes)  # pyright: ignore[reportArgumentType]


# ---- the device, step by step


def compiled(loaded: LoadedLanguageModel, *, aux: bool = True, plan: ModelOptions = PLAN) -> CompiledContestant:
    return compile_model(loaded, plan, find_device("hbm_small")[1], PLAIN, aux=aux)


def opened(loaded: LoadedLanguageModel, made: CompiledContestant, folder: Path) -> DeviceSession:
    return DeviceSession(made.model, Embedding(loaded.weights), made.module, IssBackend(), folder, RunOptions(), made.images)


def device_session(
    loaded: LoadedLanguageModel, folder: Path, *, aux: bool, plan: ModelOptions = PLAN
) -> tuple[DeviceSession, GraphWeights]:
    made = compiled(loaded, aux=aux, plan=plan)
    return opened(loaded, made, folder), made.rounded


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "chatglm2", "gpt2"])
def test_every_architecture_computes_on_the_device_what_its_rounded_weights_mean(architecture: str, tmp_path: Path) -> None:
    loaded = load_model(f"tiny-{architecture}")
    session, rounded = device_session(loaded, tmp_path, aux=True)
    golden = VmSession(session.model, Embedding(loaded.weights), rounded, "vm-rounded")
    at = 0
    with session:
        for n in (4, 1, 3):
            mine, device = golden.step(TOKENS[at : at + n]), session.step(TOKENS[at : at + n])
            # FP16 between operations and a table for the activation: a quantisation that went wrong gives 10 dB.
            assert sqnr_db(mine.logits, device.logits) > 30
            assert device.argmax == int(np.argmax(device.logits))
            at += n


def test_prefill_and_decode_agree_with_a_prefill_of_everything(loaded: LoadedLanguageModel, tmp_path: Path) -> None:
    session, _ = device_session(loaded, tmp_path, aux=False)
    with session:
        whole = session.step(TOKENS)
        session.reset()
        *_, step = [session.step([token]) for token in TOKENS]
    # Bit for bit: every token's sums have the same order whatever stands beside it.
    np.testing.assert_array_equal(step.logits, whole.logits)
    assert step.argmax == whole.argmax


def test_a_full_cache_works_on_the_device_and_one_more_token_is_refused(loaded: LoadedLanguageModel, tmp_path: Path) -> None:
    session, _ = device_session(loaded, tmp_path, aux=True, plan=ModelOptions(tokens=4, positions=8))
    expected = forward(loaded.weights.config, loaded.weights, TOKENS)
    with session:
        *_, last = session.prefill(TOKENS)
        assert session.position == session.capacity == 8
        assert last.argmax == expected[-1].argmax()
        with pytest.raises(ModelError, match="the KV cache is full: 8 of 8 positions; one more token does not fit"):
            session.step([70])


def test_values_inside_are_those_of_the_step(loaded: LoadedLanguageModel, tmp_path: Path) -> None:
    session, rounded = device_session(loaded, tmp_path, aux=True)
    golden = VmSession(session.model, Embedding(loaded.weights), rounded)
    names = ["blocks.0.norm1", "blocks.0.scores", "blocks.1.down", "logits"]
    with session:
        list(session.prefill(TOKENS[:5]))
        list(golden.prefill(TOKENS[:5]))
        watched = session.step([TOKENS[5]], names)
        expected = golden.step([TOKENS[5]], names)
        session.rewind(5)
        plain = session.step([TOKENS[5]])
    assert list(watched.ran.tensors) == names
    for name in names:
        assert watched.ran.tensors[name].shape == expected.ran.tensors[name].shape
        assert sqnr_db(expected.ran.tensors[name], watched.ran.tensors[name]) > 30
    np.testing.assert_array_equal(watched.logits, plain.logits)
    assert [c.digest for c in watched.ran.commits] == [c.digest for c in plain.ran.commits]


# ---- the contest


def test_engines_that_agree_pass_and_everything_is_stored(loaded: LoadedLanguageModel, tmp_path: Path) -> None:
    told: list[str] = []
    watch = GenerationWatch(token=lambda row, _steps: told.append(row.text))
    result = generate(loaded, request(engines=("vm", "iss", "riscv")), watch)
    assert (result.verdict, result.reasons) == ("pass", ())
    assert result.text == "cabc" == "".join(told)
    assert [c.name for c in result.comparisons] == ["iss-vs-vm-rounded", "riscv-vs-vm", "vm-rounded-vs-vm", "iss-vs-vm"]
    assert all(len(c.steps) == 4 for c in result.comparisons)
    assert [e.name for e in result.engines] == ["vm", "vm-rounded", "iss", "riscv"]
    assert {e.name: e.own_text for e in result.engines} == dict.fromkeys(("vm", "vm-rounded", "iss", "riscv"), "cabc")
    assert result.model.parameters == sum(int(np.prod(s)) for name, s in loaded.weights.shapes.items() if name != "head")
    assert {layer.kind for layer in result.layers} >= {"norm1", "qkv", "rope", "scores", "softmax", "mix", "wo", "up", "down"}
    assert min(layer.rounded_db for layer in result.layers) > 25
    result.save(tmp_path)
    again = GenerationResult.load(tmp_path)
    assert again == result
    np.testing.assert_array_equal(again.arrays["logits/iss"], result.arrays["logits/iss"])


def test_logits_of_the_result_are_those_of_the_reference_forward(loaded: LoadedLanguageModel) -> None:
    result = generate(loaded, request(engines=("vm", "riscv"), device=None))
    tokens = [*result.identity.prompt_tokens, *(row.token for row in result.tokens)]
    expected = forward(loaded.weights.config, loaded.weights, tokens)
    first = len(result.identity.prompt_tokens) - 1
    for name in ("vm", "riscv"):
        np.testing.assert_allclose(result.arrays[f"logits/{name}"], expected[first : first + 4], rtol=1e-4, atol=2e-5)
    assert [row.token for row in result.tokens] == expected[first : first + 4].argmax(axis=1).tolist()


def test_one_engine_alone_compares_nothing(loaded: LoadedLanguageModel) -> None:
    result = generate(loaded, request(engines=("vm",), device=None))
    assert result.verdict == "nothing compared"
    assert result.text == "cabc"


def test_sampling_draws_and_all_engines_follow(loaded: LoadedLanguageModel) -> None:
    sampling = Sampling(temperature=8.0, seed=3)
    results = [generate(loaded, request(engines=("vm", "riscv"), device=None, tokens=6, sampling=sampling)) for _ in range(2)]
    assert results[0].text == results[1].text != "cabcab"
    assert results[0].verdict == "pass"
    greedy = generate(loaded, request(engines=("vm", "riscv"), device=None, tokens=6))
    assert greedy.text == "cabcab"


def test_the_cache_ends_an_answer(loaded: LoadedLanguageModel) -> None:
    plan = ModelOptions(tokens=8, positions=10)
    result = generate(loaded, request(engines=("vm", "iss"), tokens=40, plan=plan))
    assert (result.stop, len(result.tokens), result.verdict) == ("the cache is full", 3, "pass")


def test_a_prompt_may_fill_the_cache(loaded: LoadedLanguageModel) -> None:
    result = generate(loaded, request(prompt="abcabcab", tokens=5, plan=ModelOptions(tokens=8, positions=8)))
    assert (result.text, result.stop, result.verdict) == ("c", "the cache is full", "pass")
    assert result.layers


def test_learned_positions_end_an_answer_as_a_full_cache_does() -> None:
    gpt = load_model("tiny-gpt2")
    short = {"embedding": gpt.weights["embedding"], "position_embedding": gpt.weights["position_embedding"][:10]}
    like = VmSession(build_model(gpt.weights.config, gpt.weights, PLAN), Embedding(short), GraphWeights())
    outcome = Contest([like], ["vm"], [], gpt.tokenizer, Sampling()).run(TOKENS, 40)
    assert (outcome.stop, len(outcome.tokens)) == ("the cache is full", 3)
    with pytest.raises(ModelError, match=r"10 of 10 positions.*the model's context is no longer"):
        like.step([70])
    context = gpt.weights.config.context
    plan = ModelOptions(tokens=8, positions=context + 100)
    with pytest.raises(FleetError, match=f"the prompt has {context + 1} tokens, the model has {context} positions"):
        generate(gpt, request(prompt="x" * (context + 1), engines=("vm",), plan=plan))


def test_an_empty_prompt_is_refused_before_weights_are_quantised(loaded: LoadedLanguageModel) -> None:
    told: list[str] = []
    with pytest.raises(FleetError, match="an empty prompt"):
        generate(loaded, request(prompt=""), announce=told.append)
    assert not told


def test_the_engine_that_was_named_chooses_the_tokens(loaded: LoadedLanguageModel) -> None:
    result = generate(loaded, request(engines=("iss",)))
    assert (result.reference, result.verdict) == ("iss", "pass")
    assert {e.name for e in result.engines if e.required} == {"iss"}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prompt": "x" * 65}, "the prompt has 65 tokens, the plan has 64 positions"),
        ({"prompt": ""}, "an empty prompt"),
        ({"device": "no_such"}, "no_such"),
    ],
)
def test_bad_requests_are_refused(loaded: LoadedLanguageModel, changes: dict[str, object], words: str) -> None:
    with pytest.raises(FleetError, match=words):
        generate(loaded, request(**changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"engines": ()}, "no engine was named"),
        ({"engines": ("vm", "abacus")}, "no engine 'abacus' for language models"),
        ({"engines": ("vm", "vm")}, "named twice"),
        ({"engines": ("vm", "rtl"), "device": None}, "engine rtl: no device given"),
        ({"engines": ("vm", "riscv"), "perplexity": 8}, "perplexity of the device's weights needs an engine"),
    ],
)
def test_bad_engines_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(FleetError, match=words):
        request(**changes)


# ---- engines that are wrong


class Scripted(GenerationSession):
    """Gives logits out of a list."""

    def __init__(self, like: GenerationSession, name: str, logits: Sequence[F32], fail_at: int = -1) -> None:
        super().__init__(like.model, like._embedding)  # pyright: ignore[reportPrivateUsage]
        self.name, self._logits, self._fail, self._at = name, logits, fail_at, 0

    def _run(self, x: F32, tensors: tuple[str, ...]) -> RanStep:
        if self._at == self._fail:
            raise ModelError("it broke", where=self.name)
        logits = self._logits[self._at]
        self._at += 1
        return RanStep(logits, int(logits.argmax()))


def answer(loaded: LoadedLanguageModel, other: str, change: float, fail_at: int = -1) -> ContestOutcome:
    like = VmSession(build_model(loaded.weights.config, loaded.weights, PLAN), Embedding(loaded.weights), GraphWeights())
    rows = [np.eye(320, dtype=np.float32)[i] * 9 for i in (70, 71, 72, 73)]
    wrong = [row + change * (n == 2) * np.eye(320, dtype=np.float32)[0] for n, row in enumerate(rows)]
    sessions = [Scripted(like, "vm", rows), Scripted(like, other, wrong, fail_at)]
    contest = Contest(sessions, ["vm", other], [2], loaded.tokenizer, Sampling())
    return contest.run([70, 71], 4)


def test_a_step_beyond_its_bound_fails(loaded: LoadedLanguageModel) -> None:
    good, bad = answer(loaded, "riscv", 0.0), answer(loaded, "riscv", 1.0)
    assert good.verdict == "pass"
    assert bad.verdict == "fail"
    assert "riscv-vs-vm: step 2: SQNR" in bad.reasons[0]


def test_what_is_common_to_all_logits_is_no_error(loaded: LoadedLanguageModel) -> None:
    rows = [np.eye(320, dtype=np.float32)[i] * 9 for i in (70, 71)]
    like = VmSession(build_model(loaded.weights.config, loaded.weights, PLAN), Embedding(loaded.weights), GraphWeights())
    sessions = [Scripted(like, "vm", rows), Scripted(like, "riscv", [row + 4 for row in rows])]
    outcome = Contest(sessions, ["vm", "riscv"], [2], loaded.tokenizer, Sampling()).run([70, 71], 2)
    assert outcome.verdict == "pass"
    assert outcome.comparisons[0].steps[0].sqnr_db > 100


def test_a_wrong_layer_that_the_logits_hardly_show_fails_at_its_node(loaded: LoadedLanguageModel, tmp_path: Path) -> None:
    name = "blocks.0.norm1.gamma"
    gamma = loaded.weights[name].copy()
    gamma[5] = 0
    damaged = replace(loaded, weights=loaded.weights.replaced({name: lambda: gamma}, "damaged"))
    good, bad = compiled(loaded), compiled(damaged)
    golden = VmSession(good.program, Embedding(loaded.weights), good.rounded, "vm-rounded")
    names = [call.label for call in good.model.calls() if call.label and not call.op.endswith("dat_hbm")]
    with opened(loaded, bad, tmp_path) as session:
        contest = Contest([session, golden], ["iss"], [2], loaded.tokenizer, Sampling())
        outcome = contest.run(loaded.tokenizer.chat("abcabcab"), 2, names)
    comparison = next(c for c in outcome.comparisons if c.name == "iss-vs-vm-rounded")
    assert min(step.sqnr_db for step in comparison.steps) > 25
    assert outcome.verdict == "fail"
    assert outcome.reasons[0].startswith("iss-vs-vm-rounded: node blocks.0.")


def test_an_engine_that_stops_is_a_failure_and_the_others_go_on(loaded: LoadedLanguageModel) -> None:
    outcome = answer(loaded, "riscv", 0.0, fail_at=1)
    assert outcome.verdict == "fail"
    assert outcome.reasons[0] == "riscv: riscv: it broke"
    assert len(outcome.tokens) == 4


def test_a_commit_that_differs_is_the_divergence(loaded: LoadedLanguageModel, tmp_path: Path) -> None:
    made = compiled(loaded)
    one, other = opened(loaded, made, tmp_path / "a"), opened(loaded, made, tmp_path / "b")

    def broken_run(x: F32, tensors: tuple[str, ...]) -> RanStep:
        ran = DeviceSession._run(other, x, tensors)  # pyright: ignore[reportPrivateUsage]
        commits = list(ran.commits)
        if other.position > len(TOKENS) - 1:
            # The last instruction writes the logits and their index into DDR: one bit of both is wrong.
            port = made.module.bound_port("output0", token=1, last_token=other.position)
            bad = other.memory.view("ddr", int(str(port.address)) + 6, 1)
            bad[0] ^= 1
            before = digest(0, int(str(port.address)) + 6, bad ^ 1)
            wrong = (commits[-1].digest - before + digest(0, int(str(port.address)) + 6, bad)) % (1 << 64)
            commits[-1] = replace(commits[-1], digest=wrong)
        return replace(ran, commits=tuple(commits))

    other.name = "rtl"
    other._run = broken_run  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
    with one, other:
        outcome = Contest([one, other], ["iss", "rtl"], [2], loaded.tokenizer, Sampling()).run(TOKENS, 3)
    assert outcome.verdict == "fail"
    found = outcome.divergence
    assert found is not None
    assert (found.seq, found.instruction, found.ops) == (59, "mvm_bn", ("logits",))
    assert any("step 1, commit 59" in reason for reason in outcome.reasons)
    # Which element, of which address, and both values.
    (element,) = found.differences
    assert (element.space, found.total_differences) == ("ddr", 1)
    assert int(element.expected.split()[0], 16) ^ int(element.found.split()[0], 16) == 1
    assert found.disassembly
    assert found.registers_named["mvm_start"] == 2847
    (bits,) = outcome.comparisons
    assert (bits.kind, bits.verdict) == ("bits", "fail")


def test_perplexity_is_that_of_the_reference(loaded: LoadedLanguageModel) -> None:
    result = generate(loaded, request(perplexity=40))
    tokens = loaded.tokenizer.encode(bundled_text("evaluation"))[:40]
    as_given, chosen = result.quantisation
    assert as_given.perplexity == pytest.approx(score(loaded.weights.config, loaded.weights, tokens).perplexity, rel=1e-4)
    assert chosen.chosen
    assert (chosen.iss_tokens, chosen.bits) == (40, 4.25)
    assert chosen.iss_perplexity == pytest.approx(chosen.perplexity, rel=0.02)
    assert chosen.perplexity != pytest.approx(as_given.perplexity, rel=1e-6)
    with pytest.raises(FleetError, match="perplexity of 65 tokens, expected 2 to 64"):
        request(perplexity=65)


def test_the_head_may_stay_on_the_host(loaded: LoadedLanguageModel) -> None:
    result = generate(loaded, request(quantisation=Quantisation(64, "search", ("head",))))
    assert (result.verdict, result.text) == ("pass", "cabc")
    assert "logits" not in {layer.node for layer in result.layers}
    usual = generate(loaded, request(quantisation=Quantisation(64, "search")))
    head = 128 * 320
    assert result.model.host_bytes - usual.model.host_bytes == 2 * head
    assert usual.model.weight_bytes - result.model.weight_bytes == head * 4.25 / 8
    assert sum(result.model.instructions.values()) == sum(usual.model.instructions.values()) - 1
    with pytest.raises(FleetError, match="only the head can"):
        generate(loaded, request(quantisation=Quantisation(64, "search", ("blocks.0.ffn.up",))))


def test_sqnr() -> None:
    a = np.array([3.0, 4.0])
    assert sqnr_db(a, a) == float("inf")
    assert sqnr_db(a, a + np.array([0.5, 0])) == pytest.approx(20)
    assert sqnr_db(a, np.array([np.nan, 1])) == float("-inf")


def steps_of(found: Sequence[TokenStep]) -> list[int]:
    return [len(s.tokens) for s in found]


def test_prompts_are_read_in_chunks_of_the_plan(loaded: LoadedLanguageModel) -> None:
    session = VmSession(build_model(loaded.weights.config, loaded.weights, PLAN), Embedding(loaded.weights), GraphWeights())
    assert steps_of(list(session.prefill([70] * 19))) == [8, 8, 3]
