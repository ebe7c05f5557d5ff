"""The passes before code generation."""

from __future__ import annotations

from fleet.ir.program import Program
from fleet.transforms.passes import find_pass
from fleet.transforms.pipeline import Pipeline, pipeline


def prepared(program: Program, name: str = "riscv") -> Program:
    """Return the program after a pipeline; "none" only replaces operations without code.

    A program without inputs depends on weights alone. Folding them would leave nothing to run, so its weights stay. Raises
    FleetError if the pipeline does not exist.
    """
    if name == "none":
        return Pipeline(name, (find_pass("expand-functions"), find_pass("widen-halves"))).run(program)[0]
    chosen = pipeline(name)
    if not program.inputs:
        chosen = Pipeline(name, tuple(p for p in chosen.passes if p.name != "fold-weights"))
    return chosen.run(program)[0]
