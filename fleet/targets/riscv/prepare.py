"""The passes before code generation."""

from __future__ import annotations

from fleet.ir.program import Program
from fleet.transforms.passes import find_pass
from fleet.transforms.pipeline import Pipeline, pipeline

_NOT_FOR_LIBRARIES = ("fuse-linear", "raise-attention")
"""Passes that join products with what stands around them."""


def prepared_for_cuda(program: Program) -> Program:
    """Return the program after the pipeline "riscv", with products as `Program.matmul` wants them: in float16, or alone."""
    if program.matmul == "exact":
        return prepared(program)
    without = _NOT_FOR_LIBRARIES if program.matmul == "cublas" else ()
    kept = find_pass("widen-halves{products=kept}")
    passes = (kept if p.name == kept.name else p for p in _pipeline(program, "riscv").passes if p.name not in without)
    return Pipeline("riscv", tuple(passes)).run(program)[0]


def prepared(program: Program, name: str = "riscv") -> Program:
    """Return the program after a pipeline; "none" only replaces operations without code.

    A program without inputs depends on weights alone. Folding them would leave nothing to run, so its weights stay. Raises
    FleetError if the pipeline does not exist.
    """
    if name == "none":
        return Pipeline(name, (find_pass("expand-functions"), find_pass("widen-halves"))).run(program)[0]
    return _pipeline(program, name).run(program)[0]


def _pipeline(program: Program, name: str) -> Pipeline:
    chosen = pipeline(name)
    return chosen if program.inputs else Pipeline(name, tuple(p for p in chosen.passes if p.name != "fold-weights"))
