"""What fleet writes, fleet runs: bytecode files and RISC-V executables with inputs; texts are refused by what they are."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.cli.seeds import main as seeds
from fleet.errors import FleetError, ModelError
from fleet.targets.riscv.elf import ElfImage, read_image, read_note, write_image
from fleet.targets.riscv.executable import SECTION, load_executable

MODEL = """import numpy as np
def forward(x: "float32[3, 4]", w: "float32[4, 2]", i: "int64[2]"):
    y = np.tanh(x @ w)
    print("sum", y.sum())
    return y[i], (x * 2).T
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    Path("m.py").write_text(MODEL)
    np.savez("w.npz", w=rng.standard_normal((4, 2)).astype(np.float32))
    np.savez("x.npz", x=rng.standard_normal((3, 4)).astype(np.float32), i=np.array([2, 0]))
    np.savez("bad.npz", x=np.ones((3, 4), np.float32), i=np.array([7, 0]))
    return tmp_path


def compiled(stage: str, name: str) -> None:
    assert main(["compile", "--emit", stage, "m.py:forward", "--weights", "w.npz", "--input", "x.npz", "-o", name]) == 0


def arrays(path: str) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    with np.load(path) as found:
        return {name: (a.dtype.name, a.shape, a.tobytes()) for name, a in found.items()}


def test_an_executable_runs_without_its_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled("riscv-asm", "m.elf")
    assert main(["run", "m.py:forward", "--weights", "w.npz", "--input", "x.npz", "--engines", "riscv", "-o", "model.npz"]) == 0
    printed = capsys.readouterr().out
    Path("m.py").unlink()
    Path("w.npz").unlink()
    assert main(["run", "m.elf", "--input", "x.npz", "-o", "file.npz"]) == 0
    assert arrays("file.npz") == arrays("model.npz")
    ran = capsys.readouterr().out
    assert ran == printed
    assert ran.startswith("sum ")
    assert "instructions" in ran
    assert seeds(["m.elf", "--only-compile"]) == 0


def test_other_inputs_are_the_programs_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compiled("riscv-asm", "m.elf")
    assert main(["run", "m.elf"]) == 2
    assert "input 'x' is missing" in capsys.readouterr().err
    assert main(["run", "m.elf", "--input", "bad.npz"]) == 2
    assert "index 7 is out of bounds for axis 0 with size 3" in capsys.readouterr().err
    for arguments, words in (
        (["--engines", "vm"], "engine vm does not run RISC-V executables; use --engines riscv"),
        (["--weights", "w.npz"], "has weights of its own"),
        (["--profile"], "has no profile of operations"),
    ):
        assert main(["run", "m.elf", "--input", "x.npz", *arguments]) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r["inputs"][0].update(address=0x1000), "lies outside the program's memory"),
        (lambda r: r["outputs"][0].update(shape=[1 << 40, 2]), "is larger than the program's memory"),
        (lambda r: r["outputs"][0].update(shape=[-1, 2]), "array"),
        (lambda r: r["outputs"][0].update(dtype="object"), "array"),
        (lambda r: r["regions"][0].update(size=17), "expected whole pages"),
        (lambda r: r["regions"][-1].update(size=1 << 50), "memory"),
        (lambda r: r.update(isa="rv64gcx"), "rv64gcx"),
        (lambda r: r.pop("stack"), "stack"),
    ],
)
def test_what_a_file_says_of_itself_is_not_believed(
    folder: Path, change: Callable[[Any], object], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled("riscv-asm", "m.elf")
    blob = Path("m.elf").read_bytes()
    record = json.loads(read_note(blob, SECTION) or b"")
    change(record)
    Path("m.elf").write_bytes(write_image(read_image(blob), {SECTION: json.dumps(record).encode()}))
    assert main(["run", "m.elf", "--input", "x.npz"]) == 2
    assert words in capsys.readouterr().err


def test_a_damaged_file_is_an_error_of_one_line(folder: Path) -> None:
    compiled("riscv-asm", "m.elf")
    blob = Path("m.elf").read_bytes()
    Path("m.elf").write_bytes(write_image(read_image(blob)))
    with pytest.raises(ModelError, match="does not say where its arrays lie"):
        load_executable(Path("m.elf"))
    image = read_image(blob)
    Path("m.elf").write_bytes(write_image(ElfImage(image.entry, image.segments, image.symbols), {SECTION: b"{"}))
    with pytest.raises(ModelError, match="no JSON"):
        load_executable(Path("m.elf"))
    for size in range(0, len(blob), 97):
        Path("m.elf").write_bytes(blob[:size])
        with pytest.raises(FleetError):
            load_executable(Path("m.elf"))


def test_binutils_agree_on_the_file(folder: Path) -> None:
    compiled("riscv-asm", "m.elf")
    tool = next((t for t in ("riscv64-linux-gnu-readelf", "readelf") if _there(t)), None)
    if tool is None:
        pytest.skip("no readelf here")
    said = subprocess.run([tool, "-SlW", "m.elf"], capture_output=True, text=True, check=True)
    assert SECTION in said.stdout
    assert ".weights" in said.stdout
    assert not said.stderr


def _there(tool: str) -> bool:
    from shutil import which

    return which(tool) is not None


@pytest.mark.parametrize(
    ("stage", "name", "words"),
    [
        ("bytecode", "m.bc", "is bytecode as text"),
        ("llvm", "m.ll", "is LLVM IR"),
        ("riscv-asm", "m.s", "is RISC-V assembler"),
    ],
)
def test_texts_are_refused_by_what_they_are(
    folder: Path, stage: str, name: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled(stage, name)
    capsys.readouterr()
    assert main(["run", name, "--input", "x.npz"]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "what runs is" in said
    assert said.count("\n") == 1


BACKENDS = {
    "python": set[str](), "llvm-cpu": {"loops.mlir", "llvm.ll"}, "opencl": {"loops.mlir", "opencl.cl"},
    "cuda": {"loops.mlir", "cuda.cu"}, "riscv": {"loops.mlir", "llvm.ll", "riscv.s", "riscv.elf"},
}  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_folder_of_stages_has_those_of_the_back_end(folder: Path, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = ["m.py:forward", "--weights", "w.npz", "--input", "x.npz"]
    assert main(["compile", *data, "--target-backend", backend, "--only-compile", "--dump-intermediates-to", "d"]) == 0
    shared = {"token.txt", "ast.txt", "ir.mlir", "mlir.mlir", "vm.txt", "bytecode.txt", "bytecode.fbc"}
    assert {p.name for p in Path("d").iterdir()} == shared | BACKENDS[backend]
    for file in ("bytecode.fbc", "riscv.elf"):
        if Path("d", file).exists():
            assert main(["run", f"d/{file}", "--input", "x.npz", "-o", f"{file}.npz"]) == 0
            assert {n: v[:2] for n, v in arrays(f"{file}.npz").items()} == {
                "out0": ("float32", (2, 2)),
                "out1": ("float32", (4, 3)),
            }


def test_the_seeds_program_runs_what_it_wrote(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("add.py").write_text("a = 3\nb = 40\nprint(a + b)\n")
    assert seeds(["-o", "add.fbc", "add.py"]) == 0
    assert seeds(["add.fbc"]) == 0
    assert capsys.readouterr().out == "43\n"
    assert seeds(["add.fbc", "--emitAST"]) == 2
    assert "is compiled already" in capsys.readouterr().err
