"""A GPU that runs kernels in CUDA C++: compiled by NVRTC, launched by CuPy."""

from __future__ import annotations

import importlib
from functools import lru_cache
from typing import Any

import numpy as np

from fleet.errors import SetupError
from fleet.targets.gpu.module import GpuKernel, GpuModule
from fleet.targets.gpu.surface import CUDA, Surface

_EXTRA = "install fleet-cosim[cuda], or cupy-cuda12x for CUDA 12"
_OPENCL = "check nvidia-smi; engine opencl runs the same kernels on any processor"
_OPTIONS = ("--fmad=false",)
"""NVRTC contracts products and sums by default."""


@lru_cache(maxsize=1)
def find_cuda() -> CudaDevice:
    """Return the current CUDA device. Raises SetupError."""
    try:
        cupy: Any = importlib.import_module("cupy")
    except ImportError as error:
        raise SetupError("the package cupy is not installed", hint=_EXTRA) from error
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
    except runtime.CUDARuntimeError as error:
        raise SetupError(f"no CUDA device answers ({error})", hint=_OPENCL) from error
    if not count:
        raise SetupError("no CUDA device answers", hint=_OPENCL)
    return CudaDevice(cupy)


class CudaDevice:
    """The current device of CuPy; see `fleet.engines.gpu.engine.KernelDevice`."""

    is_gpu = True
    surface: Surface = CUDA

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy

    @property
    def name(self) -> str:
        """Name and version, for reports."""
        runtime = self._cupy.cuda.runtime
        name = runtime.getDeviceProperties(self._cupy.cuda.Device().id)["name"].decode()
        major, minor = divmod(runtime.driverGetVersion() // 10, 100)
        return f"{name}, CUDA {major}.{minor}"

    def load(self, module: GpuModule) -> CudaMachine:
        """Build the kernels. Raises SetupError if NVRTC is missing or refuses them."""
        return CudaMachine(module, self._cupy)


class CudaMachine:
    """A GPU with the kernels of a module; see `fleet.targets.gpu.run.GpuMachine`."""

    def __init__(self, module: GpuModule, cupy: Any) -> None:
        self._cupy = cupy
        self._kernels: dict[str, Any] = {}
        if not module.kernels:
            return
        try:
            code = cupy.RawModule(code=module.text, options=_OPTIONS)
            self._kernels = {kernel.name: code.get_function(kernel.name) for kernel in module.kernels}
        except (cupy.cuda.compiler.CompileException, RuntimeError, OSError) as error:  # OSError, RuntimeError: no NVRTC
            raise SetupError(f"NVRTC compiles no kernels: {str(error).strip()[:500]}", hint=_EXTRA) from error

    def buffer(self, size: int) -> Any:
        """Return memory of the device."""
        return self._cupy.empty(size, np.uint8)

    def write(self, buffer: Any, data: np.ndarray) -> None:
        """Copy bytes to the device."""
        buffer[: data.size].set(data)

    def read(self, buffer: Any, size: int) -> np.ndarray:
        """Copy bytes from the device, after everything before."""
        return buffer[:size].get()

    def launch(self, kernel: GpuKernel, buffers: list[Any]) -> None:
        """Begin a launch."""
        self._kernels[kernel.name]((kernel.groups,), (kernel.local,), tuple(buffers))

    def finish(self) -> None:
        """Wait for everything."""
        self._cupy.cuda.get_current_stream().synchronize()
