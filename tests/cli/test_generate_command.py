"""`fleet generate`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet.cli.main import main

ASK = ["generate", "--model", "tiny", "--prompt", "abcabcab", "--tokens", "3", "--positions", "64", "--chunk", "8"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main([*ASK, *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_tokens_stream_and_engines_agree(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "--engines", "vm,iss", "--device", "hbm_small", "--report", str(tmp_path))
    assert code == 0
    assert "prompt, iss: 8 tokens behind 0" in out
    assert [line.split()[0] for line in out.splitlines() if line.startswith("'")] == ["'c'", "'a'", "'b'"]
    assert "verdict: PASS" in out
    assert (tmp_path / "index.html").exists()
    assert json.loads((tmp_path / "generation.json").read_text())["text"] == "cab"
    page = (tmp_path / "index.html").read_text()
    (tmp_path / "index.html").unlink()
    assert main(["report", str(tmp_path)]) == 0
    assert (tmp_path / "index.html").read_text() == page


def test_json_is_all_of_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--engines", "vm,iss", "--device", "hbm_small", "--json")
    assert code == 0
    assert json.loads(out)["verdict"] == "pass"


def test_one_engine_alone_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--engines", "vm")
    assert code == 4
    assert "verdict: NOTHING COMPARED" in out


def test_the_host_program_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "--engines", "vm,iss", "--device", "hbm_small", "--emit-host", str(tmp_path / "host"))
    assert code == 0
    assert "fleet host build" in out
    assert {p.name for p in (tmp_path / "host").iterdir()} >= {"answer.cpp", "model.inc.h", "embedding.bin", "weights", "sizes.h"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--engines", "vm,iss"), "no device given"),
        (("--engines", "vm,abacus"), "no engine 'abacus'"),
        (("--engines", "vm,iss", "--device", "hbm_nothing"), "hbm_nothing"),
        (("--engines", "vm,iss", "--device", "hbm_small", "--positions", "6"), "the prompt has 8 tokens, the plan has 6 positions"),
        (("--engines", "vm,iss", "--device", "hbm_small", "--temperature", "-1"), "temperature -1"),
        (("--engines", "vm,iss", "--device", "hbm_small", "--memory", "odd"), "odd"),
        (("--engines", "vm", "--model", "smollm2"), "fleet models fetch smollm2"),
        (("--engines", "vm", "--model", "no/such.gguf"), "no such model"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    if "smollm2" in arguments:
        monkeypatch.setenv("FLEET_CACHE", str(tmp_path))
    code, _, err = run(capsys, *arguments)
    last = err.strip().splitlines()[-1]
    assert code == 2, err
    assert words in last
    assert "Traceback" not in err


@pytest.mark.parametrize("option", ["--report", "--emit-host"])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_quantised(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    (tmp_path / "file").write_text("")
    code, _, err = run(capsys, "--engines", "iss", "--device", "hbm_small", option, str(tmp_path / "file" / "inside"))
    assert code == 2
    assert "cannot be written" in err
    assert "quantising" not in err
