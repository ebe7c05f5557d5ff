"""The generated register block and its wrapper, simulated: pulses, interrupts, refused accesses."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from fleet.isa.export import export
from fleet.sdk import generated_files

HERE = Path(__file__).parent
TOY = HERE.parent / "fixtures" / "one_instruction_set" / "vector_add" / "vector_add.rdl"


def test_register_block_behaves(tmp_path: Path) -> None:
    verilator = shutil.which("verilator")
    assert verilator, "verilator is needed; run `fleet doctor`"
    export(TOY, tmp_path)
    files = [*(tmp_path / f for f in generated_files("vector_add")), HERE / "csr" / "csr_bench.sv"]
    command = [verilator, "--binary", "--timing", "--assert", "-Wno-fatal", "--quiet", "-CFLAGS", "-O0 -std=c++20"]
    command += ["--top-module", "csr_bench", "--Mdir", tmp_path / "obj", "-o", "bench", *files]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    ran = subprocess.run([tmp_path / "obj" / "bench"], capture_output=True, text=True, check=False, timeout=60)
    lines = [line for line in ran.stdout.splitlines() if line.startswith(("PASS", "FAIL"))]
    assert lines == ["PASS"], ran.stdout + ran.stderr
