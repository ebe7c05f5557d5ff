"""`fleet doctor`: what the demo and the tests need decides the exit code; what is optional is named."""

from __future__ import annotations

import importlib.metadata
import json

import pytest

from fleet.cli.looking import doctor


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    found = importlib.metadata.version

    def version(name: str) -> str:
        if name in names:
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)

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
    monkeypatch.setattr(doctor, "_mlir", lambda: doctor.Finding("mlir-opt-22", "22", True, "engine mlir"))
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
