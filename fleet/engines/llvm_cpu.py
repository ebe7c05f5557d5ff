"""Engine `llvm-cpu`: the RISC-V target's code compiled for this machine. A fast oracle without any external tool."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
from xdsl.ir import SSAValue

from fleet.engines.base import RunOptions
from fleet.engines.trace import Trace
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.targets.printed import printed


class LlvmCpuEngine:
    """Engine `llvm-cpu`. The passes are those of `riscv` too, so results equal its results in every bit."""

    name = "llvm-cpu"
    target = "host"

    def available(self) -> str | None:
        """Return None: llvmlite is a dependency."""
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile or take from the cache, run, return a complete trace.

        Raises DeviceError if the target cannot hold the program, ModelError for errors caused by the data.
        """
        from fleet.ir.operations.composite import entering
        from fleet.targets.host.compile import compile_host
        from fleet.targets.riscv.prepare import prepared

        changed = prepared(program, "riscv")
        compiled = compile_host(changed, keep=options.keep_tensors)
        start = time.perf_counter()
        compiled.run(inputs)
        elapsed = time.perf_counter() - start
        plan = compiled.plan
        names: dict[SSAValue, str] = {
            value: a.name for value, a in zip(changed.function.body.block.args, changed.arguments, strict=True)
        }

        def value(source: SSAValue) -> np.ndarray:
            if isinstance(source.owner, FleetOp):
                return compiled.fetch(plan.results[op_id(source.owner)])
            name = names[source]
            return compiled.fetch(plan.weights.get(name) or plan.inputs[name])

        trace = Trace(self.name, program.hash, elapsed_s=elapsed)
        if options.keep_tensors:
            known = {op_id(op) for op in program.operations()}
            trace.tensors = {id_: compiled.fetch(buffer) for id_, buffer in plan.tensors.items() if id_ in known}
        trace.outputs = {name: compiled.fetch(buffer) for name, buffer in plan.outputs}
        trace.counters = {"operations": float(len(compiled.operations))}
        trace.meta = {
            "processor": compiled.processor,
            "numpy": np.__version__,
            "stdout": printed(changed, value),
            "fates": dict(changed.fates),
            "composites": entering(changed.operations(), program.operations()),
        }
        if options.progress is not None:
            options.progress(1.0, f"{len(compiled.operations)} operations")
        trace.complete = True
        return trace


ENGINE = LlvmCpuEngine()
