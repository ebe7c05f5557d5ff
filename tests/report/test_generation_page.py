"""The page of a generation: whole, escaped, honest about what did not run."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.cosim.generation import GenerationResult
from fleet.errors import ModelError
from fleet.llm.contestants import GenerateRequest, generate
from fleet.llm.load import load_model
from fleet.llm.models import ModelOptions
from fleet.report.run.generation import engine_row, store_generation, summary, write_generation

PLAN = ModelOptions(tokens=8, positions=64)


@pytest.fixture(scope="module")
def result() -> GenerationResult:
    request = GenerateRequest(
        "tiny", "abcabcab", 3, ("vm", "iss"), "hbm_small", plan=PLAN, command="fleet generate <x>", date="2026-01-02"
    )
    return generate(load_model("tiny"), request)


def test_result_and_page_are_written_together(result: GenerationResult, tmp_path: Path) -> None:
    stored, page = store_generation(result, tmp_path)
    assert GenerationResult.load(stored) == result
    text = page.read_text()
    assert "cab" in text
    assert "✔ pass" in text
    assert "fleet generate &lt;x&gt;" in text
    assert "http://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", text)
    for heading in ("Engines", "Tokens side by side", "After every block", "Cycles of a token", "Memory", "Quantisation"):
        assert f">{heading}<" in text, heading
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    before = page.read_bytes()
    assert write_generation(tmp_path, tmp_path).read_bytes() == before


def test_what_did_not_run_is_said(result: GenerationResult, tmp_path: Path) -> None:
    bare = replace(
        result, engines=result.engines[:1], comparisons=(), layers=(), costs=(), timeline=(), traffic=(), memory_plan={},
        verdict="nothing compared", reasons=("no two engines",),
    )  # fmt: skip
    text = store_generation(bare, tmp_path)[1].read_text()
    for sentence in ("No two engines", "No engine with a clock ran.", "No device was used.", "nothing compared", "no two engines"):
        assert sentence in text, sentence


def test_an_answer_cannot_become_markup(result: GenerationResult, tmp_path: Path) -> None:
    evil = replace(result, text="<script>x</script>", engines=tuple(replace(e, own_text="<b>") for e in result.engines))
    text = store_generation(evil, tmp_path)[1].read_text()
    assert "<script>x" not in text
    assert "<b> <small" not in text


def test_rows_and_summary(result: GenerationResult) -> None:
    rows = {e.name: engine_row(result, e) for e in result.engines}
    assert rows["iss"].agreed == rows["iss"].compared == 3
    assert rows["vm"].token_cycles is None
    iss = rows["iss"]
    assert iss.token_cycles is not None
    assert iss.estimate
    assert iss.token_ms == pytest.approx(iss.token_cycles / 280e3)
    lines = summary(result).splitlines()
    assert lines[0] == "# ✔ pass: tiny"
    assert any(line.startswith("- iss-vs-vm-rounded: ✔ pass") for line in lines)


def test_a_damaged_result_is_refused(result: GenerationResult, tmp_path: Path) -> None:
    result.save(tmp_path)
    path = tmp_path / "generation.json"
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 2'))
    with pytest.raises(ModelError, match="schema 2, this fleet reads 1"):
        write_generation(tmp_path, tmp_path)
