"""`fleet try` on files of ten kinds: a verdict or a remedy, and what to type next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import ten_files
from command_line import Fleet

from fleet.compiler import compile_model

EXPECTED = {
    "python": (0, "verdict: PASS"), "script": (0, "verdict: PASS (vm and cpython print the same)"),
    "onnx_model": (0, "verdict: PASS"), "gguf": (0, "verdict: PASS"), "hugging_face": (0, "verdict: PASS"),
    "bytecode": (4, "a second engine needs the model's source"), "case": (0, "verdict: PASS"),
    "instruction_set": (0, "PASS 0 findings"), "arrays": (4, "nothing in it runs by itself"),
    "pytorch": (2, 'torch.onnx.export(model, (example_input,), "net.onnx"'),
}  # fmt: skip
"""Exit code, and what is said."""


@pytest.mark.parametrize("name", ten_files.FILES)
def test_every_kind_ends_with_a_verdict_or_a_remedy(name: str, tmp_path: Path, fleet: Fleet) -> None:
    ran = fleet("try", ten_files.FILES[name](tmp_path))
    code, words = EXPECTED[name]
    assert (ran.code, words in ran.out + ran.err) == (code, True), (ran.out, ran.err)
    if code != 2:
        _, _, commands = ran.out.rpartition("\nnext   ")
        lines = [line.strip() for line in commands.strip().splitlines()]
        assert len(lines) == 3, commands
        assert all(line.startswith("fleet ") for line in lines)


@pytest.mark.parametrize("name", ["python", "bytecode", "instruction_set", "pytorch"])
def test_json_stands_alone_on_standard_output(name: str, tmp_path: Path, fleet: Fleet) -> None:
    ran = fleet("try", ten_files.FILES[name](tmp_path), "--json")
    assert ran.code == EXPECTED[name][0]
    found = json.loads(ran.out)
    if name == "pytorch":
        assert found["kind"] == "pytorch"
        assert len(found["remedy"]) == 2
        assert found["problem"] in ran.err
    else:
        assert found["exit_code"] == ran.code
        assert found["tried"]["verdict"] == {0: "pass", 4: "nothing compared"}[ran.code]


def test_a_print_of_bytecode_stays_off_standard_output_of_json(tmp_path: Path, fleet: Fleet) -> None:
    source = 'import numpy as np\n\ndef forward(x: "float32[3]"):\n    print(f"sum {x.sum():.3f}", end="")\n    return x + 1\n'
    (tmp_path / "model.py").write_text(source)
    compile_model(f"{tmp_path}/model.py:forward").write("bytecode", tmp_path / "m.fbc")
    ran = fleet("try", "m.fbc", "--json")
    assert ran.code == 4
    assert list(json.loads(ran.out)["tried"]["outputs"]) == ["out0"]


def test_given_data_are_used(dense: Path, fleet: Fleet) -> None:
    ran = fleet("try", "model.py", "--weights", "w.npz", "--input", "x.npz")
    assert ran.code == 0
    assert "drawn" not in ran.out
    assert "fleet cosim model.py:forward --weights w.npz --input x.npz --engines vm,iss,rtl,riscv" in ran.out


def test_what_would_take_too_long_is_not_begun(tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / "m.py").write_text('def f(x: "float32[9000, 9000]", w: "float32[9000, 9000]"):\n    return x @ w\n')
    ran = fleet("try", "m.py")
    assert ran.code == 4
    assert "would take longer than a minute" in ran.out
    assert "next   fleet cosim m.py:f " in ran.out


def test_the_last_run_is_kept(dense: Path, fleet: Fleet) -> None:
    assert "nothing ran in this folder yet" in fleet("report", "--last").err
    fleet("cosim", "model.py:forward", "--engines", "vm,iss", "--device", "hbm_small")
    assert fleet("report", "--last").out == "report: reports/last/index.html\n"
    assert (dense / "reports/last/index.html").is_file()
    assert "needs RESULT or --last" in fleet("report").err
    assert "no comparison failed" in fleet("why").err
    assert fleet("cosim", "model.py:forward", "--engines", "vm").code == 4
    explained = fleet("why")
    assert (explained.code, "nothing compared" in explained.out or "only vm ran" in explained.out) == (1, True), explained.out
    assert "nothing was compared yet" in fleet("why", "--reports", "elsewhere").err
