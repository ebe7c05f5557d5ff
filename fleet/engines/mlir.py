"""Engine `mlir`: the export to upstream dialects, lowered by mlir-opt and compiled for this machine.

It checks the export: code generated from it by upstream passes must give the golden's results.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.trace import Trace
from fleet.ir.program import Program
from fleet.targets.mlir.lower import missing


class MlirEngine:
    """Engine `mlir`."""

    name = "mlir"
    target = "mlir"

    def available(self) -> str | None:
        """Return None if mlir-opt and mlir-translate 22 are installed, else how to get them."""
        return missing()

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile or take from the cache, run, return a complete trace.

        Raises SetupError without the tools, DeviceError for operations that the export lacks.
        """
        from fleet.targets.mlir.run import compile_mlir

        compiled = compile_mlir(program, every_result=options.keep_tensors)
        assert compiled.address, "compiled before the clock starts"
        start = time.perf_counter()
        run = compiled.run(inputs)
        elapsed = time.perf_counter() - start
        trace = Trace(self.name, program.hash, dict(run.outputs), dict(run.tensors), elapsed_s=elapsed)
        trace.counters = {"operations": float(sum(1 for _ in program.operations()))}
        trace.meta = {"numpy": np.__version__, "stdout": run.stdout}
        if options.progress is not None:
            options.progress(1.0, "mlir")
        trace.complete = True
        return trace


ENGINE = MlirEngine()
