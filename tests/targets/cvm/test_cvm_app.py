"""`fleet export-app`: the folder builds with `make` alone, and the program gives the engine's bits."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fleet.cli.running.export_app import command
from fleet.core.processes import run
from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.cvm import ENGINE, RISCV
from fleet.errors import FleetError
from fleet.targets.cvm.app import export_app, machine_named
from fleet.targets.cvm.build import FLAGS, WARNINGS, build_vm, host_toolchain, sources, vm_folder
from fleet.targets.riscv.prepare import prepared

pytestmark = pytest.mark.skipif(
    ENGINE.available() is not None or shutil.which("make") is None, reason=str(ENGINE.available() or "make is not installed")
)
DIGITS = ("examples/digits/model.py:forward", Path("examples/digits/weights.npz"), Path("examples/digits/test.npz"))


def exported(folder: Path, model: str, *options: str) -> str:
    done = CliRunner().invoke(command, [model, "-o", str(folder), *options])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_digits_as_a_program(tmp_path: Path) -> None:
    folder = tmp_path / "app"
    said = exported(folder, DIGITS[0], "--weights", str(DIGITS[1]), "--input", str(DIGITS[2]))
    assert "x=FILE.npy: float32[360, 64]" in said
    assert "input x: float32[360, 64]" in (folder / "kernels.txt").read_text()
    built = run(["make", "-C", str(folder)])
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""  # no warning
    loaded = load_model(*DIGITS, 0, None)
    (x,) = loaded.inputs.values()
    np.save(tmp_path / "x.npy", x)
    done = run([str(folder / "model"), f"x={tmp_path / 'x.npy'}", "-o", str(tmp_path / "out")])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    reference = ENGINE.run(loaded.program, loaded.inputs, RunOptions(keep_tensors=False))
    for n, (name, output) in enumerate(reference.outputs.items()):
        np.testing.assert_array_equal(np.load(tmp_path / "out" / f"{n}-{name}.npy"), output, strict=True)
    shown = run([str(folder / "model"), f"x={tmp_path / 'x.npy'}"]).stdout
    assert shown == "".join(f"{name}: {a.dtype}{list(a.shape)}\n{a}\n" for name, a in reference.outputs.items())
    refused = run([str(folder / "model"), "y=1.npy"])
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == 'fleet-vm: no input "x" (float32[360, 64]): give x=FILE.npy\n'


@pytest.mark.skipif(RISCV.available() is not None and os.environ.get("FLEET_REQUIRE_CROSS") != "1", reason=str(RISCV.available()))
def test_a_script_as_a_program_for_riscv(tmp_path: Path) -> None:
    exported(tmp_path, "examples/add_sample.py", "--machine", "riscv64")
    built = run(["make", "-C", str(tmp_path), "CC=riscv64-linux-gnu-gcc", "LDFLAGS=-static"])
    assert built.returncode == 0, built.stderr
    assert run(["qemu-riscv64", str(tmp_path / "model")]).stdout == "43\n"


def test_kernels_for_other_machines_are_made_here(tmp_path: Path) -> None:
    program = prepared(load_model(*DIGITS, 0, None).program, "riscv")
    machines = {"x86-64": 62, "aarch64": 183, "riscv64": 243}
    for name, number in machines.items():
        export_app(program, tmp_path / name, machine_named(name))
        made = (tmp_path / name / "kernels.o").read_bytes()
        assert made[:4] == b"\x7fELF"
        assert int.from_bytes(made[18:20], "little") == number
    with pytest.raises(FleetError, match="no machine is called vax; choose among x86-64, aarch64, riscv64, native"):
        machine_named("vax")


def test_the_sources_compile_without_a_warning() -> None:
    build_vm(host_toolchain(), (*WARNINGS, "-Werror"))


@pytest.mark.nightly
def test_gcc_finds_no_path_to_a_fault() -> None:
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is not installed")
    for file in sources():
        done = run([gcc, *FLAGS, "-fanalyzer", "-Werror", "-c", str(file), "-o", "/dev/null"])
        assert done.returncode == 0, done.stderr


def test_checksums_are_those_of_the_standard(tmp_path: Path) -> None:
    main = "int main(void) { uint8_t in[1001], out[32]; sha256(in, fread(in, 1, sizeof in, stdin), out);"
    (tmp_path / "main.c").write_text(f'#include "vm.h"\n{main} fwrite(out, 1, 32, stdout); return 0; }}\n')
    line = [host_toolchain().compiler, *FLAGS, f"-I{vm_folder()}", str(tmp_path / "main.c"), str(vm_folder() / "sha256.c")]
    assert run([*line, "-o", str(tmp_path / "sha")]).returncode == 0
    for size in (0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 1000):
        data = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
        found = subprocess.run([tmp_path / "sha"], input=data, capture_output=True, check=True).stdout
        assert found == hashlib.sha256(data).digest(), size
