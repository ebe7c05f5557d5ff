"""`fleet fuzz`: what it prints, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.targets.bytecode import operators
from fleet.verify.programs.oracle import ComparedProgram
from fleet.verify.programs.stored import save_program

SOURCE = "import numpy as np\n\n\ndef forward(a: 'float32[2, 2]'):\n    v0 = np.cumsum(a, axis=1)\n    return v0\n"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return save_program(
        tmp_path / "kept", ComparedProgram(SOURCE, {"a": np.arange(4, dtype=np.float32).reshape(2, 2)}), "a story", name="one"
    )


def test_a_stored_program_is_run_again(stored: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", str(stored)]) == 0
    assert main(["fuzz", str(stored.parent)]) == 0
    monkeypatch.setitem(operators.OPERATORS, "cumsum", lambda _info: lambda x: np.cumsum(x, axis=0))
    assert main(["fuzz", str(stored)]) == 1
    assert "v0[0, 1]: expected np.float32(1.0), found np.float32(1.0)" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--engines", "vm,tpu"], "no engine 'vm'; choose among interp, riscv, aarch64"),
        (["--budget", "nan"], "nan is not a duration"),
        (["absent.py"], "not a stored program"),
        (["--programs", "0"], "--programs"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.strip().split("\n")) == 1


def test_an_engine_that_is_not_there_compares_nothing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("fleet.engines.gpu.engine.KernelEngine.available", lambda self: f"no device for {self.name}")
    assert main(["fuzz", "--engines", "interp,opencl", "--programs", "1"]) == 2
    assert "no device for opencl" in capsys.readouterr().err


def test_a_run_that_ends_before_what_was_asked_for_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("fleet.verify.programs.fuzz._SHRINK_SECONDS", 0.0)
    code = main(["fuzz", "--programs", "100000", "--budget", "0.2", "--jobs", "1", "--engines", "none", "--report", str(tmp_path)])
    assert code in (1, 4)
    assert "ENDED EARLY, 100,000 were asked for" in capsys.readouterr().out
