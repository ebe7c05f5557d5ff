"""Writing a model's source to a file and taking it through front end and VM."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fleet.frontend.source import load
from fleet.ir.dialect import WhileOp, all_operations
from fleet.ir.program import Program
from fleet.targets.bytecode import VM, ByteCodeConverter


def program_of(folder: Path, text: str, function: str | None = "forward", weights=None, **inputs: np.ndarray) -> Program:
    path = folder / "model.py"
    path.write_text(text, encoding="utf-8")
    return load(f"{path}:{function}" if function else str(path), weights or {}, inputs)


def rolled(folder: Path, text: str, **inputs: np.ndarray) -> int:
    """Number of loops of the run."""
    return sum(isinstance(op, WhileOp) for op in all_operations(program_of(folder, text, **inputs).function.body.block))


def run_vm(folder: Path, text: str, function: str | None = "forward", weights=None, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    program = program_of(folder, text, function, weights, **inputs)
    program.module.verify()
    return VM(ByteCodeConverter(program).convert()).run(inputs)


def run_python(text: str, **arguments: np.ndarray) -> list[np.ndarray]:
    """The same function by Python itself; only for texts that the tests write."""
    namespace: dict = {}
    exec(compile(text, "model.py", "exec"), namespace)
    with np.errstate(all="ignore"):
        value = namespace["forward"](**arguments)
    return [np.asarray(v) for v in (value if isinstance(value, tuple) else (value,))]
