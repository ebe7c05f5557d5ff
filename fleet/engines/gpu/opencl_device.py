"""A device that runs kernels in OpenCL C, through pyopencl."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from fleet.errors import ModelError, SetupError
from fleet.targets.gpu.library import GemmCall
from fleet.targets.gpu.module import GpuArray, GpuKernel, GpuModule
from fleet.targets.gpu.run import TensorOnGpu
from fleet.targets.gpu.surface import OPENCL, Surface, approximate

_EXTRA = "install fleet-cosim[opencl], which brings pyopencl and pocl, an OpenCL for processors"
_POCL = "Portable Computing Language"
_ROUNDED = "-cl-fp32-correctly-rounded-divide-sqrt"
_PROBE = "__kernel void probe(__global float *x) { x[get_global_id(0)] += 1; }"
_HAS_ROUNDED = 0x80
"""CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT."""


def _pyopencl() -> Any:
    """Return the package, which an extra brings. Raises ImportError."""
    return importlib.import_module("pyopencl")


@lru_cache(maxsize=1)
def find_opencl() -> OpenClDevice:
    """Return the device: a GPU that has float64, else another device that has it, whose compiler works. Raises SetupError."""
    try:
        cl = _pyopencl()
    except ImportError as error:
        raise SetupError("the package pyopencl is not installed", hint=_EXTRA) from error
    try:
        found = [device for platform in cl.get_platforms() for device in platform.get_devices()]
    except cl.Error as error:
        raise SetupError(f"no OpenCL platform answers ({error})", hint=_EXTRA) from error
    able = [device for device in found if device.double_fp_config]
    if not able:
        have = ", ".join(device.name.strip() for device in found) or "none"
        raise SetupError(f"no OpenCL device computes in float64; devices are {have}", hint=_EXTRA)
    refused = ""
    for best in sorted(map(OpenClDevice, able), key=lambda device: not device.is_gpu):
        if best.device.platform.name == _POCL and shutil.which("ld") is None:
            raise SetupError("pocl links its kernels with ld, which is not installed", hint="install the package binutils")
        try:
            cl.Program(cl.Context([best.device]), _PROBE).build(["-w"])
        except cl.RuntimeError as error:
            refused = refused or f"{best.name} compiles nothing: {_first_error(str(error))}"
        else:
            return best
    raise SetupError(refused, hint="an OpenCL that knows this processor: apt-get install pocl-opencl-icd, or a GPU's")


def _first_error(text: str) -> str:
    """Return the line of a compiler's log that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error")), lines[0] if lines else "no log")[:200]


class OpenClDevice:
    """A device of pyopencl; see `fleet.engines.gpu.engine.KernelDevice`."""

    def __init__(self, device: Any) -> None:
        self.device = device

    @property
    def name(self) -> str:
        """Name and version, for reports."""
        return f"{self.device.name.strip()}, {self.device.version.strip()}"

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        return bool(self.device.type & _pyopencl().device_type.GPU)

    @property
    def surface(self) -> Surface:
        """OpenCL C, with float64 where the device rounds divisions of float32 badly."""
        return OPENCL if self.device.single_fp_config & _HAS_ROUNDED else approximate(OPENCL)

    def load(self, module: GpuModule) -> OpenClMachine:
        """Build the kernels. Raises SetupError if the device's compiler refuses them."""
        return OpenClMachine(module, self.device)


class OpenClMachine:
    """A device with the kernels of a module; see `fleet.targets.gpu.run.GpuMachine`."""

    def __init__(self, module: GpuModule, device: Any) -> None:
        """Build the kernels. Raises SetupError if the device's compiler refuses them."""
        self._cl = cl = _pyopencl()
        self._context = cl.Context([device])
        self._queue = cl.CommandQueue(self._context)
        self._kernels: dict[str, Any] = {}
        if not module.kernels:
            return
        options = ["-w", *([_ROUNDED] if module.surface.exact else [])]
        try:
            program = cl.Program(self._context, module.text).build(options)
        except cl.RuntimeError as error:
            raise SetupError(f"{device.name.strip()} refuses the kernels: {str(error).strip()[:500]}") from error
        self._kernels = {kernel.name: cl.Kernel(program, kernel.name) for kernel in module.kernels}

    def buffer(self, size: int) -> Any:
        """Return memory of the device."""
        return self._cl.Buffer(self._context, self._cl.mem_flags.READ_WRITE, size)

    def write(self, buffer: Any, data: np.ndarray) -> None:
        """Copy bytes to the device."""
        self._cl.enqueue_copy(self._queue, buffer, data)

    def read(self, buffer: Any, size: int) -> np.ndarray:
        """Copy bytes from the device, after everything before."""
        found = np.empty(size, np.uint8)
        self._cl.enqueue_copy(self._queue, found, buffer)
        return found

    def taken(self, tensor: TensorOnGpu, where: str) -> Any:
        """Raise ModelError: OpenCL has no access to the memory of CUDA."""
        hint = "targets cuda and gpu take it; or move it to the CPU"
        raise ModelError(f"{where} lies on GPU {tensor.device}, whose memory OpenCL cannot read", hint=hint)

    def given_out(self, buffer: Any, array: GpuArray) -> Any:
        """Raise ModelError: results of OpenCL are arrays of NumPy."""
        raise ModelError(f"{array.memory.removeprefix('%')} is no array of another library", hint="read it with NumPy")

    def launch(self, kernel: GpuKernel, buffers: list[Any]) -> None:
        """Begin a launch."""
        self._kernels[kernel.name](self._queue, (kernel.groups * kernel.local,), (kernel.local,), *buffers)

    def multiply(self, call: GemmCall, places: Sequence[tuple[Any, int]]) -> None:
        """Never called: `generate_gpu` makes calls of cuBLAS for CUDA alone."""
        raise AssertionError(call)

    def finish(self) -> None:
        """Wait for everything."""
        self._queue.finish()
