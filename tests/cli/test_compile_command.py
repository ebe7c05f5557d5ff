"""`fleet compile` and the seeds' commands: every stage, dumps, backends, runners, validation, and what is refused."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import warm
from command_line import DENSE, ROOT, Fleet, Refused, environment

from fleet.compiler import STAGES

SAMPLE = "examples/add_sample.py"
SEEDS_ENTRY = "import sys; from fleet.cli.seeds import main; sys.exit(main())"
MODULE_OF_SEED_001 = """
ByteCodeModule(
consts=[40, 'device_add_sig_ii_i_ins_i32_i32_outs_i32', 'python_print_sig_i_ins_i32'],
code=[<OpCode.iconst_3: 5>, <OpCode.ldc: 11>, <TypeCode.scalar: 1>, 0,
<OpCode.invokestatic: 12>, 1, <OpCode.istore_2: 21>,
<OpCode.iload_2: 16>, <OpCode.invokestatic: 12>, 2],
target='python',
variable_size=3)
"""
"""As the seed prints it; where its lines end is not part of it."""


def seeds(*arguments: str, cwd: Path | None = None) -> tuple[int, str, str]:
    done = warm.run([sys.executable, "-c", SEEDS_ENTRY, *arguments], cwd=cwd or ROOT, env=environment())
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def words(text: str) -> list[str]:
    return text.split()


def test_the_command_of_seed_001_prints_its_module_and_runs() -> None:
    code, out, err = seeds("--emitByteCode", "--opt", "--vm", SAMPLE)
    assert (code, err) == (0, "")
    module, result = out.rsplit("\n", 2)[0], out.rsplit("\n", 2)[1]
    assert words(module) == words(MODULE_OF_SEED_001)
    assert result == "43"


def test_without_a_flag_a_file_is_compiled_and_run() -> None:
    assert seeds(SAMPLE) == (0, "43\n", "")
    assert seeds("--runner", "interpreter", SAMPLE) == (0, "43\n", "")
    assert seeds("--target-backend", "llvm-cpu", SAMPLE) == (0, "43\n", "")
    assert seeds("--only-compile", SAMPLE) == (0, "", "")


@pytest.mark.parametrize(
    ("new", "old", "shown"),
    [
        ("token", "--emitToken", "NAME 'print'"),
        ("ast", "--emitAST", "Name(id='print')"),
        ("mlir", "--emitMLIR", "func.func"),
        ("bc", "--emitByteCode", "ByteCodeModule("),
        ("ir", None, "fleet.add"),
    ],
)
def test_both_spellings_show_the_same_stage_and_stop(new: str, old: str | None, shown: str) -> None:
    code, out, _ = seeds("--compile-to", new, SAMPLE)
    assert code == 0
    assert shown in out
    assert not out.endswith("\n43\n")
    if old is not None:
        assert seeds(old, SAMPLE) == (0, out, "")


def test_seeds_write_and_dump(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text((ROOT / SAMPLE).read_text())
    assert seeds("--compile-to", "bc", "-o", "add.fbc", "add.py", cwd=tmp_path)[0] == 0
    assert (tmp_path / "add.fbc").read_bytes()
    assert seeds("--dump-intermediates-to", "d", "--opt", "--dump-ir-after-pass", "add.py", cwd=tmp_path)[:2] == (0, "43\n")
    names = {str(p.relative_to(tmp_path / "d")) for p in (tmp_path / "d").rglob("*") if p.is_file()}
    assert {"token.txt", "ast.txt", "ir.mlir", "ir-vm.mlir", "mlir.mlir", "bytecode.txt"} <= names
    after = sorted(n for n in names if n.startswith("passes/"))
    assert len(after) >= 3
    assert all(n.endswith("-after.mlir") for n in after)


def test_seeds_refuse_in_one_line() -> None:
    for backend in ("sycl", "llvm-gpu"):
        code, out, err = seeds("--target-backend", backend, SAMPLE)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert f"no code is made for {backend}" in err
    for wrong in (("--nonsense", SAMPLE), ("missing.py",), ("--compile-to", "ir", "--emitAST", SAMPLE), ()):
        code, _, err = seeds(*wrong)
        assert code == 2
        assert "Traceback" not in err


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_is_shown_or_refused_in_one_line(stage: str, fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(DENSE)
    device = ["--device", "hbm_small"] if stage.startswith(("accel", "memory", "hpp")) else []
    ran = fleet("compile", "--emit", stage, "model.py:forward", *device)
    if ran.code:
        pytest.fail(f"{stage}: {ran.err}")
    else:
        assert ran.out.strip()


def test_a_memory_map_is_drawn_as_a_picture_that_opens(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(DENSE)
    ran = fleet("compile", "--emit", "memory-map", "model.py:forward", "--device", "hbm_small", "-o", "map.svg")
    assert (ran.code, ran.out) == (0, "")
    assert ElementTree.parse(tmp_path / "map.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_stages_after_passes_differ_where_passes_do_something(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text('def f(x: "float32[4]"):\n    return x * (2.0 * 3.0) + (x - x * 1.0) + (x - x * 1.0)\n')
    plain, better = (fleet("compile", "--emit", "ir", *opt, "m.py:f").out for opt in ((), ("--opt", "--verify-each")))
    assert plain.count("fleet.") > better.count("fleet.") > 0


def test_dumps_go_to_standard_error_without_a_folder(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(DENSE)
    ran = fleet("compile", "--emit", "bytecode", "--dump-ir-before-pass", "--dump-ir-after-pass", "model.py:forward")
    assert ran.code == 0
    assert "IR before" not in ran.out
    heads = re.findall(r"^// IR (before|after) (\S+)$", ran.err, re.MULTILINE)
    assert heads[:2] == [("before", "canonicalise"), ("after", "canonicalise")]
    assert len(heads) % 2 == 0


@pytest.mark.parametrize("backend", ["python", "llvm-cpu", "riscv"])
def test_backends_run_and_agree(backend: str, fleet: Fleet, tmp_path: Path) -> None:
    if backend == "riscv":
        pytest.importorskip("unicorn")
    (tmp_path / "model.py").write_text(DENSE)
    ran = fleet("compile", "--target-backend", backend, "model.py:forward", "--batch", "2")
    assert ran.code == 0
    same = fleet("compile", "--vm", "model.py:forward", "--batch", "2")
    assert ran.out.splitlines()[0] == same.out.splitlines()[0] == "y float32[2, 32]"
    assert ran.out.splitlines()[-1] == same.out.splitlines()[-1]  # the classes


def test_validation_compares_and_can_fail(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(DENSE)
    ran = fleet("compile", "--validation", "--target-backend", "llvm-cpu", "model.py:forward")
    assert ran.code == 0
    assert "vm-vs-cpython" in ran.out
    assert "llvm-cpu-vs-vm" in ran.out
    (tmp_path / "none.py").write_text("x = 3\n")
    assert fleet("compile", "--validation", "none.py").code == 1  # nothing that could be compared


def test_contradictions_are_refused(fleet: Fleet, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(DENSE)
    for wrong in (
        ("--only-compile", "--vm"),
        ("--only-compile", "--validation"),
        ("--runner", "interpreter", "--target-backend", "llvm-cpu"),
        ("--vm", "-o", "x.txt"),
        ("--target-backend", "sycl"),
        ("--emit", "accel-regs"),
    ):
        ran = fleet("compile", "model.py:forward", *wrong)
        assert ran.code == 2, wrong
        assert "Traceback" not in ran.err


def test_only_compile_says_what_a_backend_lacks(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text('def f(x: "float16[4]"):\n    return x + x\n')
    assert fleet("compile", "--only-compile", "m.py:f").code == 0
    ran = fleet("compile", "--only-compile", "--target-backend", "llvm-cpu", "m.py:f")
    assert ran.code == 2
    assert "on llvm-cpu" in ran.err


def test_products_of_cuda_are_a_choice(fleet: Fleet, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(DENSE)
    done = fleet("compile", "--emit", "cuda", "--matmul", "bfloat16", "model.py:forward")
    assert done.code == 0
    assert "wmma.mma.sync" in done.out
    ran = refused("compile", "--emit", "opencl", "--matmul", "bfloat16", "model.py:forward")
    assert "matmul=bfloat16 is a choice of target cuda; this is opencl" in ran.err
