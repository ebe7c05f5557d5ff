"""The tiny language model on simulated hardware: tokens, every commit, and the same from a C++ host program."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.engines.base import RunOptions
from fleet.engines.host_port.run import run_program
from fleet.isa.registry import find_device
from fleet.llm.contestants import GenerateRequest, compile_model, generate
from fleet.llm.host_program import emit_host
from fleet.llm.load import load_model
from fleet.llm.models import CLASSIC, SHORT, ModelOptions
from fleet.llm.quantisation import Quantisation
from fleet.llm.sparsity import Sparsity
from fleet.targets.driver.build import build_program

PLAIN = Quantisation(128, "search")
PLAN = ModelOptions(tokens=8, positions=64)
PROMPT = "abcabcabca"


@pytest.mark.parametrize(("memory", "issue"), [("ideal", "regs"), ("timed", "aux"), ("stall", "aux")])
def test_hardware_says_what_the_functional_model_says(memory: str, issue: str) -> None:
    request = GenerateRequest(
        "tiny", PROMPT, 3, ("vm", "iss", "rtl", "riscv"), "hbm_small", memory=memory, seed=5, issue=issue, plan=PLAN
    )
    result = generate(load_model("tiny"), request)
    assert (result.verdict, result.reasons) == ("pass", ())
    assert result.text == "bca"
    assert {e.name: e.own_text for e in result.engines} == dict.fromkeys(("vm", "vm-rounded", "iss", "rtl", "riscv"), "bca")
    (bits,) = [c for c in result.comparisons if c.kind == "bits"]
    # Two chunks of the prompt and two decode steps; the last token is not read.
    assert bits.commits == 4 * 30
    rtl = result.engine("rtl")
    assert rtl is not None
    assert all(step.cycles for step in (*rtl.prefill, *rtl.decode))
    assert sum(c.own for c in result.costs) <= (rtl.decode[-1].cycles or 0)
    assert sum(c.own for c in result.costs) > 0.8 * (rtl.decode[-1].cycles or 0)
    assert sum(t.moved or 0 for t in result.traffic) >= sum(t.least for t in result.traffic)


@pytest.mark.parametrize("architecture", ["qwen2", "chatglm2", "gpt2"])
def test_every_architecture_on_hardware(architecture: str) -> None:
    plan = ModelOptions(tokens=8, positions=64, fuse_qkv=False, join_rope=False, onchip=False)
    request = GenerateRequest(architecture, PROMPT, 2, ("iss", "rtl"), "hbm_small", plan=plan)
    result = generate(load_model(f"tiny-{architecture}"), request)
    bits = result.comparison("rtl-vs-iss")
    assert bits is not None
    assert (bits.verdict, bits.reasons) == ("pass", ())


@pytest.mark.parametrize("sequence", [CLASSIC, SHORT], ids=["classic", "short"])
def test_the_host_program_prints_the_same_tokens(sequence: ModelOptions, tmp_path: Path) -> None:
    loaded = load_model("tiny")
    plan = ModelOptions(8, 64, sequence.fuse_qkv, sequence.join_rope, sequence.onchip)
    compiled = compile_model(loaded, plan, find_device("hbm_small")[1], PLAIN, aux=True)
    emit_host(loaded, compiled.module, compiled.model.options, loaded.tokenizer.chat(PROMPT), tmp_path)
    build_program([tmp_path / "answer.cpp"], tmp_path / "answer", folders=[tmp_path])
    run = run_program(
        tmp_path / "answer", [str(tmp_path), "3"], RunOptions(device="hbm_small", memory="timed"), engine="rtl", check=True,
        timeout=300, capture=True,
    )  # fmt: skip
    assert run.exit_code == 0
    assert run.output.decode().splitlines() == ["bca", "tokens: 162 163 161"]
    assert len(run.summary.commits) == 4 * (30 if sequence is SHORT else 36)


@pytest.mark.nightly
@pytest.mark.parametrize("rounding", ["search", "compensated"])
def test_sparse_weights_by_strategy(rounding: str) -> None:
    choice = Quantisation(128, rounding, sparse=Sparsity.of("attention=4,mlp=2,down=1"))
    request = GenerateRequest(
        "tiny-qwen2", PROMPT, 2, ("vm", "iss", "rtl"), "hbm_small_sparse", memory="timed", plan=PLAN, quantisation=choice
    )
    result = generate(load_model("tiny-qwen2"), request)
    assert (result.verdict, result.reasons) == ("pass", ())
    bits = result.comparison("rtl-vs-iss")
    assert bits is not None
    assert bits.commits == 3 * 30
