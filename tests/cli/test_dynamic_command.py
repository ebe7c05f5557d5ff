"""`fleet compile --dynamic`, and runs of what it wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet
from fleet.cli.main import main
from fleet.targets.bytecode.text import parse_vm, print_vm

MODEL = """import numpy as np


def forward(x: "float64[N, 4]", y: "float64[N]"):
    mask = np.tri(x.shape[0])
    return mask @ x + y[:, None]
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "m.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return "m.py:forward"


def expected(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.tri(x.shape[0]) @ x + y[:, None]


@pytest.mark.parametrize("names", [["--dynamic", "N"], ["--dynamic", "all"]])
def test_one_file_runs_on_every_size(model, names, capsys) -> None:
    assert main(["compile", "--emit", "bytecode", *names, model, "-o", "m.fbc"]) == 0
    for n in (1, 2, 7, 64):
        rng = np.random.default_rng(n)
        x, y = rng.standard_normal((n, 4)), rng.standard_normal(n)
        np.savez("x.npz", x=x, y=y)
        assert main(["run", "m.fbc", "--input", "x.npz", "-o", "out.npz"]) == 0
        with np.load("out.npz") as found:
            np.testing.assert_array_equal(found["out0"], expected(x, y))
    np.savez("x.npz", x=np.ones((3, 4)), y=np.ones(2))
    capsys.readouterr()
    assert main(["run", "m.fbc", "--input", "x.npz"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert 'N is 3 by dimension 0 of "x", but 2 by dimension 0 of "y"' in said


def test_an_unknown_name_is_bad_input(model, capsys) -> None:
    assert main(["compile", "--dynamic", "K", model]) == 2
    assert "no dimension K is declared; declared are N" in capsys.readouterr().err


def test_a_backend_that_needs_sizes_gets_them_from_the_inputs_or_refuses(model, capsys) -> None:
    assert main(["compile", "--emit", "riscv-asm", "--dynamic", "N", model]) == 2
    assert "the size N is unknown, and code on riscv needs all sizes" in capsys.readouterr().err
    compiled = fleet.compile(model, dynamic={"N"}, batch=5)
    assert compiled.program.unknown == ("N",)
    wanted = expected(compiled.inputs["x"], compiled.inputs["y"])
    for engine in ("vm", "interp", "llvm-cpu"):
        np.testing.assert_allclose(compiled.run(engine).outputs["out0"], wanted, rtol=1e-12)
    np.testing.assert_array_equal(compiled.run("cpython").outputs["out0"], wanted)


def test_arrays_need_not_be_complete(model) -> None:
    compiled = fleet.compile(model, weights={}, inputs={}, dynamic=True)
    x, y = np.ones((2, 4)), np.ones(2)
    np.testing.assert_array_equal(compiled.run("vm", {"x": x, "y": y}).outputs["out0"], expected(x, y))


def test_the_vm_text_carries_the_names(model) -> None:
    text = fleet.compile(model, dynamic=True).text("vm")
    assert 'vm.argument 0 input "x" : ?x4xf64 dims ["N", ""]' in text
    assert print_vm(parse_vm(text)) == text
    assert [a.dims for a in parse_vm(text).arguments] == [("N", ""), ("N",)]


def test_fleet_opt_binds_the_text(model, capsys, tmp_path) -> None:
    from fleet.cli.opt import main as opt

    (tmp_path / "m.mlir").write_text(fleet.compile(model, dynamic=True).text("ir"))
    passes = "infer-shapes{x=6x4,y=6},canonicalise,cse,dce"
    assert opt(["--pass", passes, str(tmp_path / "m.mlir")]) == 0
    text = capsys.readouterr().out
    assert "?" not in text
    assert "tensor<6x6xf64>" in text


def test_mlir_refuses_what_it_has_no_operation_for(model, capsys) -> None:
    assert main(["compile", "--emit", "mlir", "--dynamic", "N", model]) == 2
    said = capsys.readouterr().err.splitlines()
    assert "infer-shapes" in said[-1]
