"""The polynomials of the RISC-V target are what their script writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "scripts" / "riscv_coefficients.py"


def test_coefficients_are_current() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_documented_errors_are_the_stated_ones() -> None:
    script = SCRIPT.with_name("riscv_tables.py")
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
