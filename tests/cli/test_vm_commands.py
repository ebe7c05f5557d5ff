"""`fleet compile --emit vm` and `fleet run --profile`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.targets.bytecode.text import parse_vm, print_vm

MODEL = """import numpy as np
def forward(x: "float32[3, 4]", w: "float32[4, 2]"):
    y = np.tanh(x @ w)
    print(y.sum())
    return y + y
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    (tmp_path / "m.py").write_text(MODEL)
    np.savez(tmp_path / "w.npz", w=np.ones((4, 2), np.float32))
    np.savez(tmp_path / "x.npz", x=np.ones((3, 4), np.float32))
    monkeypatch.chdir(tmp_path)
    return ["m.py:forward", "--weights", "w.npz", "--input", "x.npz"]


def test_the_vm_text_is_printed_and_reads_back(model, capsys) -> None:
    assert main(["compile", "--emit", "vm", *model]) == 0
    text = capsys.readouterr().out
    assert "vm.invokestatic" in text
    assert print_vm(parse_vm(text)) == text


def test_the_profile_goes_to_standard_error(model, capsys) -> None:
    assert main(["run", "--engines", "vm", *model]) == 0
    plain = capsys.readouterr()
    assert main(["run", "--profile", *model]) == 0
    told = capsys.readouterr()
    assert told.out == plain.out
    rows = [line.split()[:2] for line in told.err.splitlines()]
    assert rows[0] == ["operation", "calls"]
    assert {"matmul", "tanh", "add", "reduce_sum", "print"} == {r[0] for r in rows[1:-1]}
    assert rows[-1] == ["all", "5"]


def test_the_profile_of_a_file_beside_json(model, capsys) -> None:
    assert main(["compile", "--emit", "bytecode", *model, "-o", "m.fbc"]) == 0
    assert main(["run", "--profile", "--json", "m.fbc", "--input", "x.npz"]) == 0
    found = capsys.readouterr()
    assert list(json.loads(found.out)["outputs"].values()) == [{"shape": [3, 2], "dtype": "float32"}]
    assert "matmul" in found.err


def test_other_engines_have_no_profile(model, capsys) -> None:
    assert main(["run", "--profile", "--engines", "cpython", *model]) == 2
    assert "engine cpython has no profile of operations; use --engines vm" in capsys.readouterr().err
