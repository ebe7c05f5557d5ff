"""Models as C++ host programs: the generated header in the library's own program, built and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fleet.compiler import Compiled
from fleet.engines.base import RunOptions
from fleet.engines.host_port.run import HostRun, run_program
from fleet.targets.driver import run_model_program
from fleet.targets.driver.build import build_program
from fleet.targets.driver.names import identifier


@dataclass(frozen=True)
class ModelProgram:
    """A built program. missing: what `Compiled.write` said."""

    path: Path
    compiled: Compiled
    device: str
    missing: Mapping[str, str]

    def run(self, options: RunOptions | None = None, **how: Any) -> tuple[HostRun, dict[str, np.ndarray]]:
        """One run on the compiled model's inputs, and its outputs by name."""
        folder, given = self.path.parent, []
        for argument in self.compiled.program.inputs:
            file = folder / f"{identifier(argument.name)}.npy"
            np.save(file, np.ascontiguousarray(self.compiled.inputs[argument.name]).reshape(argument.shape))
            given.append(str(file))
        made = folder / "made"
        made.mkdir(exist_ok=True)
        arguments = [str(folder / "model.params"), *given, str(made)]
        done = run_program(self.path, arguments, options or RunOptions(device=self.device), timeout=300, **how)
        names = self.compiled.program.outputs
        found = {n: made / f"{identifier(n)}.npy" for n in names}
        return done, {n: np.load(file) for n, file in found.items() if file.is_file()}


def model_program(
    compiled: Compiled, device: str, folder: Path, lowering: Mapping[str, Any] | None = None, sources: tuple[Path, ...] = ()
) -> ModelProgram:
    """Writes the header and builds the program in a folder; sources: with the user's own functions."""
    missing = compiled.write("hpp", folder / "model.h", device=device, lowering=lowering)
    objects = [f for f in [folder / "model_host.o"] if f.is_file()]
    macros = ['FLEET_HEADER="model.h"', "FLEET_MODEL=model"]
    program = build_program(
        [run_model_program(), *sources, *objects], folder / "program", folders=[folder], macros=macros, debug=True
    )  # fmt: skip
    return ModelProgram(program, compiled, device, missing)
