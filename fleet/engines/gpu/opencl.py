"""Engine `opencl`: kernels in OpenCL C on a device of this machine, a processor's cores too (pocl).

Kernels are the loop level's, as on riscv, so results equal riscv's in every bit; the host computes what has no kernel, with NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.trace import Trace
from fleet.errors import SetupError
from fleet.ir.dialect import op_id
from fleet.ir.program import Program
from fleet.targets.riscv.arithmetic import MAX_ULP


class OpenClEngine:
    """Engine `opencl`."""

    name = "opencl"
    target = "opencl"

    def available(self) -> str | None:
        """None if a device that computes in float64 answers, else what is missing."""
        from fleet.engines.gpu.opencl_device import find_opencl

        try:
            find_opencl()
        except SetupError as error:
            return f"{error.what}; {error.hint}"
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile, run, return a complete trace.

        Raises SetupError without a device, DeviceError if no operation has a kernel, ModelError for errors that the data cause.
        """
        from fleet.engines.gpu.opencl_device import find_opencl, load_opencl
        from fleet.ir.operations.composite import entering
        from fleet.targets.gpu.module import HostComputation, KernelStep
        from fleet.targets.riscv.prepare import prepared

        changed = prepared(program, "riscv")
        loaded, machine = load_opencl(changed, keep=options.keep_tensors)
        start = time.perf_counter()
        run = loaded.run(inputs)
        machine.finish()
        elapsed = time.perf_counter() - start
        trace = Trace(self.name, program.hash, elapsed_s=elapsed)
        known = {op_id(op) for op in program.operations()}
        if options.keep_tensors:
            trace.tensors = {id_: tensor for id_, tensor in run.tensors().items() if id_ in known}
        trace.outputs = run.outputs()
        steps = loaded.module.steps
        launches = [step for step in steps if isinstance(step, KernelStep)]
        reasons = {op_id(step.op): step.reason for step in steps if isinstance(step, HostComputation) and step.reason}
        trace.counters = {"launches": float(len(launches)), "kernels": float(len(loaded.module.kernels))}
        device = find_opencl()
        trace.meta = {
            "processor": f"{device.name.strip()}, {device.version.strip()}",
            "numpy": np.__version__,
            "stdout": run.printed,
            "fates": dict(changed.fates),
            "composites": entering(changed.operations(), program.operations()),
            "function_ulp": {name: max(t.get(name, 0.0) for t in MAX_ULP.values()) for t in MAX_ULP.values() for name in t},
        }
        if run.calls:
            trace.meta |= {"host_calls": dict(run.calls), "host_reasons": reasons}
            trace.placement = {op_id(step.op): self.name for step in launches} | dict.fromkeys(run.calls, "host")
        if options.progress is not None:
            options.progress(1.0, f"{len(launches)} launches")
        trace.complete = True
        return trace


ENGINE = OpenClEngine()
