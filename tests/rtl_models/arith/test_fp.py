"""fp_pkg against the host's IEEE arithmetic: FP16 exhaustively, binary32 on special and random pairs (fp_main.cpp)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from verilated import verilated

HERE = Path(__file__).parent
PACKAGE = HERE.parents[2] / "rtl_models" / "arith" / "fp_pkg.sv"


def build(folder: Path, package: Path) -> Path:
    """The driver around a copy of the package; built from copies, since make cannot stand blanks in paths."""
    for name in ("fp_probe.sv", "fp_main.cpp"):
        shutil.copy(HERE / name, folder / name)
    if not (folder / "fp_pkg.sv").exists():
        shutil.copy(package, folder / "fp_pkg.sv")
    arguments = ["-O3", "-Wall", "--top-module", "fp_probe"]
    return verilated([*arguments, "fp_pkg.sv", "fp_probe.sv", "fp_main.cpp"], folder, "Vfp_probe")


@pytest.mark.parametrize("pairs", [1_000_000, pytest.param(100_000_000, marks=pytest.mark.nightly)])
def test_functions_equal_the_host(tmp_path: Path, pairs: int) -> None:
    """So many random pairs beside the grids."""
    run = subprocess.run([build(tmp_path, PACKAGE), str(pairs), "3"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    done, rest = run.stdout.split(" ", 1)
    assert int(done) >= pairs
    assert "0 mistakes" in rest


@pytest.mark.parametrize(("right", "wrong"), [("low == 64'h8000_0000 && kept[0]", "low == 64'h8000_0000 && !kept[0]")])
def test_the_driver_finds_a_wrong_rounding(tmp_path: Path, right: str, wrong: str) -> None:
    text = PACKAGE.read_text()
    assert right in text
    broken = tmp_path / "fp_pkg.sv"
    broken.write_text(text.replace(right, wrong))
    run = subprocess.run([build(tmp_path, broken), "1000", "3"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
