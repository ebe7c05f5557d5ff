"""The passes before code is made."""

from __future__ import annotations

from fleet.ir.program import Program
from fleet.transforms.passes import find_pass
from fleet.transforms.pipeline import Pipeline, pipeline

__all__ = ["prepared"]


def prepared(program: Program, name: str = "riscv") -> Program:
    """The program after a pipeline; "none" only expands what has no code here.

    A program without inputs is computed of weights alone. Folding them would leave nothing to run, so its weights stay.
    Raises FleetError for a name that no pipeline has.
    """
    if name == "none":
        return find_pass("expand-functions").run(program)
    chosen = pipeline(name)
    if not program.inputs:
        chosen = Pipeline(name, tuple(p for p in chosen.passes if p.name != "fold-weights"))
    return chosen.run(program)[0]
