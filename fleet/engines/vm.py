"""Engine `vm`: the golden. NumPy itself, driven by the bytecode."""

from __future__ import annotations

import io
import platform
import time
from collections.abc import Mapping

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.trace import Trace
from fleet.ir.program import Program
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.targets.bytecode.vm import VM


class VmEngine:
    """Compiles to bytecode and runs it. Tensors are the operations' results in NumPy 2's dtypes."""

    name = "vm"
    target = "bytecode"

    def available(self) -> str | None:
        """Return None: it needs nothing."""
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile or take from the cache, run, return a complete trace.

        The program's printed text is in `meta["stdout"]`; it does not reach the terminal.
        """
        printed = io.StringIO()
        bytecode = ByteCodeConverter(program).convert()
        vm = VM(bytecode, echo=lambda *values, end="\n": print(*values, end=end, file=printed))
        tensors: dict[str, np.ndarray] = {}
        start = time.perf_counter()
        outputs = vm.run(inputs, tensors=tensors if options.keep_tensors else None)
        elapsed = time.perf_counter() - start
        if options.progress is not None:
            options.progress(1.0, f"{len(bytecode.invokes)} operations")
        trace = Trace("vm", bytecode.program_hash, outputs, tensors, elapsed_s=elapsed)
        trace.counters = {"operations": float(len(bytecode.invokes))}
        trace.meta = {
            "numpy": np.__version__,
            "python": platform.python_version(),
            "seed": options.seed,
            "dtypes": {name: str(t.dtype) for name, t in tensors.items()},
            "stdout": printed.getvalue(),
        }
        trace.complete = True
        return trace


ENGINE = VmEngine()
