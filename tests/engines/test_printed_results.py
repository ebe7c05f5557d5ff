"""What is printed of a function of known values: on every engine the text of CPython."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.engines.base import Engine, RunOptions
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.engines.cvm import ENGINE as CVM
from fleet.engines.interp import ENGINE as INTERP
from fleet.engines.llvm_cpu import ENGINE as LLVM_CPU
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load

TEXT = """import numpy as np
S = np.array([[2.0, 1.0], [1.0, 3.0]])
print(f"det={np.linalg.det(S):.3f}")
print(f"{np.linalg.cond(S):.3f}")
"""


@pytest.mark.parametrize("engine", [CPYTHON, VM, INTERP, RISCV, LLVM_CPU, CVM], ids=lambda e: e.name)
def test_a_result_that_the_target_gets_from_the_host_is_printed(tmp_path: Path, engine: Engine) -> None:
    """Preparing a program for a target makes these results arguments."""
    path = tmp_path / "printed.py"
    path.write_text(TEXT)
    trace = engine.run(load(str(path), {}, {}), {}, RunOptions())
    assert trace.meta["stdout"] == "det=5.000\n2.618\n"
