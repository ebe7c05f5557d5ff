"""An engine that runs kernels of `fleet.targets.gpu` on a device; what differs between OpenCL and CUDA is the device alone.

Kernels are the loop level's, as on riscv, so results equal riscv's in every bit; the host computes what has no kernel, with NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.trace import Trace
from fleet.errors import SetupError
from fleet.ir.dialect import op_id
from fleet.ir.program import Program
from fleet.ir.schedule import check_matmul
from fleet.targets.riscv.arithmetic import MAX_ULP

if TYPE_CHECKING:  # finding out that nothing is installed must not load the compiler
    from fleet.targets.gpu.module import GpuModule
    from fleet.targets.gpu.run import GpuMachine, LoadedModule
    from fleet.targets.gpu.surface import Surface


class KernelDevice(Protocol):
    """A device: the language that it takes, and how to load kernels."""

    @property
    def name(self) -> str:
        """Name and version, for reports."""
        ...

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        ...

    @property
    def surface(self) -> Surface:
        """The language of its kernels."""
        ...

    def load(self, module: GpuModule) -> GpuMachine:
        """Build the kernels of a module. Raises SetupError if the device's compiler refuses them."""
        ...


class KernelEngine:
    """An engine on the device that `find` returns; `find` raises SetupError without one."""

    def __init__(self, name: str, find: Callable[[], KernelDevice]) -> None:
        self.name = self.target = name
        self._find = find

    def available(self) -> str | None:
        """None if a device answers, else what is missing."""
        try:
            self._find()
        except SetupError as error:
            return f"{error.what}; {error.hint}"
        return None

    def device(self) -> KernelDevice:
        """Return the device. Raises SetupError without one."""
        return self._find()

    def load(self, program: Program, *, keep: bool) -> LoadedModule:
        """Return a program with its kernels built and its weights on the device; `keep`: every result can be read.

        Raises SetupError without a device, DeviceError if no operation has a kernel.
        """
        from fleet.targets.gpu.module import generate_gpu
        from fleet.targets.gpu.run import LoadedModule
        from fleet.targets.riscv.prepare import prepared_for_cuda

        device = self._find()
        check_matmul(program.matmul, device.surface.name, program.source_name)
        module = generate_gpu(prepared_for_cuda(program), device.surface, keep=keep)
        return LoadedModule(module, device.load(module))

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile, run, return a complete trace.

        Raises as `load`, and ModelError for errors that the data cause.
        """
        from fleet.ir.operations.composite import entering
        from fleet.targets.gpu.module import GemmStep, HostComputation, KernelStep

        loaded = self.load(program, keep=options.keep_tensors)
        start = time.perf_counter()
        run = loaded.run(inputs)
        loaded.finish()
        trace = Trace(self.name, program.hash, elapsed_s=time.perf_counter() - start)
        known = {op_id(op) for op in program.operations()}
        if options.keep_tensors:
            trace.tensors = {id_: tensor for id_, tensor in run.tensors().items() if id_ in known}
        trace.outputs = run.outputs()
        module = loaded.module
        launches = [step for step in module.steps if isinstance(step, KernelStep | GemmStep)]
        reasons = {op_id(step.op): step.reason for step in module.steps if isinstance(step, HostComputation) and step.reason}
        trace.counters = {"launches": float(len(launches)), "kernels": float(len(module.kernels))}
        trace.meta = {
            "processor": self._find().name,
            "numpy": np.__version__,
            "stdout": run.printed,
            "fates": dict(module.prepared.fates),
            "composites": entering(module.prepared.operations(), program.operations()),
            "function_ulp": {name: max(t.get(name, 0.0) for t in MAX_ULP.values()) for t in MAX_ULP.values() for name in t},
        }
        if run.calls:
            trace.meta |= {"host_calls": dict(run.calls), "host_reasons": reasons}
            trace.placement = {op_id(step.op): self.name for step in launches} | dict.fromkeys(run.calls, "host")
        if options.progress is not None:
            options.progress(1.0, f"{len(launches)} launches")
        trace.complete = True
        return trace
