"""fleet-opt and fleet bisect-pass on the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fleet.cli.main import main as fleet
from fleet.cli.opt import main as fleet_opt

ROOT = Path(__file__).parents[2]
MODELS = ["examples/add_sample.py", "examples/digits/model.py:forward", "examples/mvm4096/model.py:forward"]


def ir_of(model: str, path: Path) -> str:
    assert fleet(["compile", "--emit", "ir", str(ROOT / model), "-o", str(path)]) == 0
    return path.read_text()


@pytest.mark.parametrize("model", MODELS)
def test_what_was_printed_is_printed_again(model: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = ir_of(model, tmp_path / "a.mlir")
    capfd.readouterr()
    assert fleet_opt([str(tmp_path / "a.mlir")]) == 0
    assert capfd.readouterr().out == text
    for name in ("vm", "raise", "riscv", "accel"):
        once = tmp_path / f"{name}.mlir"
        assert fleet_opt([str(tmp_path / "a.mlir"), "--pipeline", name, "--verify-each", "-o", str(once)]) == 0
        again = tmp_path / f"{name}.again.mlir"
        assert fleet_opt([str(once), "-o", str(again)]) == 0
        assert again.read_text() == once.read_text()


def test_standard_input_and_the_table(tmp_path: Path) -> None:
    text = ir_of(MODELS[1], tmp_path / "a.mlir")
    command = [sys.executable, "-m", "fleet.cli.opt", "--pass", "canonicalise,cse", "--timing", "--print-after-all"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == text
    assert done.stderr.count("// ----- after ") == 2
    assert "canonicalise" in done.stderr.splitlines()[-3]
    assert done.stderr.splitlines()[-1].startswith("all")


def test_weights_make_linear_layers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ir_of(MODELS[1], tmp_path / "a.mlir")
    capfd.readouterr()
    arguments = ["--pipeline", "riscv", "--weights", str(ROOT / "examples/digits/weights.npz"), "--dump", str(tmp_path / "d")]
    assert fleet_opt([str(tmp_path / "a.mlir"), *arguments]) == 0
    assert capfd.readouterr().out.count("fleet.linear") == 3
    assert (tmp_path / "d" / "01-canonicalise-before.mlir").is_file()


def test_the_list_has_everything(capfd: pytest.CaptureFixture[str]) -> None:
    assert fleet_opt(["--list"]) == 0
    out = capfd.readouterr().out
    assert "raise-attention" in out
    assert "riscv: canonicalise,fold-constants" in out


def test_explanations(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = 'import numpy as np\ndef f(x: "f32[4, 8]"):\n    return x / (np.sqrt((x * x).mean(-1, keepdims=True)) + 1e-5)\n'
    (tmp_path / "m.py").write_text(source)
    ir_of(str(tmp_path / "m.py:f"), tmp_path / "a.mlir")
    capfd.readouterr()
    assert fleet_opt([str(tmp_path / "a.mlir"), "--explain"]) == 0
    assert capfd.readouterr().out.startswith("rms_norm at div.0 (m.py:3:12): eps is added to the square root")


BAD = {
    "no IR": ("hello", [], "<stdin>:1: not IR of this project"),
    "half of it": ("builtin.module {", [], "not IR of this project"),
    "an unknown operation": ('builtin.module { "fleet.nonsense"() : () -> () }', [], "not IR of this project"),
    "types that do not fit": (
        'func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {\n'
        '%y = "fleet.exp"(%x) <{id = "y"}> : (tensor<2xf32>) -> tensor<3xf32>\nfunc.return %y : tensor<3xf32>\n}',
        [], "does not verify",
    ),
    "an unknown pass": ("builtin.module {}", ["--pass", "nope"], "no pass is called nope"),
    "an unknown pipeline": ("builtin.module {}", ["--pipeline", "sycl"], "no pipeline is called sycl"),
    "both": ("builtin.module {}", ["--pipeline", "vm", "--pass", "cse"], "exclude each other"),
    "an empty module": ("builtin.module {}", ["--pass", "cse"], "one function that no other calls, found none"),
    "not text": (b"\xff\xfe\x00", [], "is not text"),
    "an unknown option": ("builtin.module {}", ["--frobnicate"], "No such option"),
    "no file of weights": ("builtin.module {}", ["--pass", "cse", "--weights", "nowhere.npz"], "nowhere.npz"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_code_2(name: str) -> None:
    text, arguments, message = BAD[name]
    data = text if isinstance(text, bytes) else text.encode()
    command = [sys.executable, "-m", "fleet.cli.opt", *arguments]
    done = subprocess.run(command, input=data, capture_output=True, check=False, cwd=ROOT)
    error = done.stderr.decode()
    assert done.returncode == 2, error
    assert message in error
    assert error.startswith("fleet-opt: ")
    assert error.count("\n") == 1
    assert not done.stdout


def test_a_file_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    assert fleet_opt(["nowhere.mlir"]) == 2
    assert capfd.readouterr().err == "fleet-opt: nowhere.mlir: cannot be read (No such file or directory)\n"


def test_bisect_pass_on_an_example(capfd: pytest.CaptureFixture[str]) -> None:
    weights = str(ROOT / "examples/digits/weights.npz")
    assert fleet(["bisect-pass", str(ROOT / MODELS[1]), "--weights", weights]) == 0
    out = capfd.readouterr().out
    assert "no pass changes a result" in out
    assert "every bit" in out
    assert "of its limit" in out
    assert fleet(["bisect-pass", str(ROOT / MODELS[1]), "--pipeline", "nope"]) == 2
    assert fleet(["bisect-pass", str(ROOT / MODELS[1]), "--pipeline", "vm", "--passes", "cse"]) == 2


def test_bisect_pass_names_a_planted_pass(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from fleet.transforms import passes
    from fleet.transforms.edit import Edit

    def planted(edit: Edit) -> None:
        (op, *_) = [op for op in edit.operations() if op.name == "fleet.maximum"]
        edit.replace(op, op.operands[0], "not needed")

    known = passes._factory
    bad = passes.plain("planted", "drops a ReLU", "bits", planted)
    monkeypatch.setattr(passes, "_factory", lambda name: bad if name == "planted" else known(name))
    assert fleet(["bisect-pass", str(ROOT / MODELS[1]), "--passes", "canonicalise,planted,dce"]) == 1
    out = capfd.readouterr().out
    assert "planted       FIRST DIFFERENCE" in out
    assert "dce" not in out
