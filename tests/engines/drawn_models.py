"""Models for tests of several engines: of a few lines of text, and random ones."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from fleet.engines.base import Engine, RunOptions
from fleet.engines.trace import Trace
from fleet.errors import FleetError
from fleet.frontend.source import load
from fleet.ir.program import Program
from fleet.verify.programs.drawing import FUNCTION, draw_program


def program_of(folder: Path, text: str, inputs: Mapping[str, np.ndarray]) -> Program:
    """A function whose body is `text`, of arguments with the names of the inputs."""
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    path = folder / "m.py"
    path.write_text(f"import numpy as np\n\ndef main({', '.join(inputs)}):\n{lines}")
    return load(f"{path}:main", {}, inputs)


def random_runs(
    folder: Path, seed: int, count: int, engine: Engine
) -> Iterator[tuple[str, Program, Mapping[str, np.ndarray], Trace]]:
    """Source, program, inputs and trace of random programs, without those that the front end or the engine refuses."""
    path = folder / "model.py"
    for number in range(count):
        drawn = draw_program((seed, number), ())
        path.write_text(drawn.source)
        inputs = dict(drawn.arrays)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program = load(f"{path}:{FUNCTION}", {}, inputs)
                trace = engine.run(program, inputs, RunOptions())
        except FleetError:
            continue
        yield drawn.source, program, inputs, trace
