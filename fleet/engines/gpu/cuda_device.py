"""A GPU that runs kernels in CUDA C++: compiled by NVRTC, launched by CuPy."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fleet.core.cache import cache_root
from fleet.core.files import write_atomically
from fleet.engines.gpu.cublas import Cublas
from fleet.errors import ModelError, SetupError
from fleet.targets.gpu.library import GemmCall
from fleet.targets.gpu.module import GemmStep, GpuArray, GpuKernel, GpuModule
from fleet.targets.gpu.run import TensorOnGpu
from fleet.targets.gpu.surface import CUDA, Surface

_EXTRA = "install fleet-cosim[cuda], or cupy-cuda12x for CUDA 12"
_OPENCL = "check nvidia-smi; engine opencl runs the same kernels on any processor"
_OPTIONS = ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
"""No contraction, and numbers below the normal ones; `cupy.RawModule` compiles with --ftz=true, so it is given code."""


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
        """Build the kernels. Raises SetupError if NVRTC is missing or refuses them, or cuBLAS is missing and needed."""
        have = int(self._cupy.cuda.Device().compute_capability)
        if have < module.capability:
            what = f"matmul={module.program.matmul} needs a GPU of compute capability {_words(module.capability)}"
            raise SetupError(f"{what}; this one has {_words(have)}", hint="leave out matmul")
        return CudaMachine(module, self._cupy, self._compiled(module.text) if module.kernels else None)

    def _compiled(self, text: str) -> Path:
        """Return the file of a text's code for this GPU; compiled once."""
        cupy = self._cupy
        options = [*_OPTIONS, f"--gpu-architecture=sm_{cupy.cuda.Device().compute_capability}"]
        try:
            nvrtc = cupy.cuda.nvrtc
            content = hashlib.sha256(repr((text, options, nvrtc.getVersion())).encode()).hexdigest()
            path = cache_root() / "cuda" / f"{content}.cubin"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, _by_nvrtc(nvrtc, text, options))
        except (RuntimeError, OSError) as error:  # there is no NVRTC, or it does not know this GPU
            raise SetupError(f"NVRTC compiles no kernels: {str(error).strip()[:500]}", hint=_EXTRA) from error
        return path


def _words(capability: int) -> str:
    return f"{capability // 10}.{capability % 10}"


def _by_nvrtc(nvrtc: Any, text: str, options: Sequence[str]) -> bytes:
    """Return a text's machine code. Raises RuntimeError with the compiler's words."""
    program = nvrtc.createProgram(text, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(program, options)
        return nvrtc.getCUBIN(program)
    except nvrtc.NVRTCError as error:
        raise RuntimeError(f"{error} {nvrtc.getProgramLog(program)}") from error
    finally:
        nvrtc.destroyProgram(program)


class CudaMachine:
    """A GPU with the kernels of a module; see `fleet.targets.gpu.run.GpuMachine`."""

    def __init__(self, module: GpuModule, cupy: Any, code: Path | None) -> None:
        """code: the kernels' machine code, None if there are none."""
        self._cupy = cupy
        self._kernels: dict[str, Any] = {}
        self._cublas = Cublas() if any(isinstance(step, GemmStep) for step in module.steps) else None
        if code is not None:
            loaded = cupy.RawModule(path=str(code))
            self._kernels = {kernel.name: loaded.get_function(kernel.name) for kernel in module.kernels}

    def buffer(self, size: int) -> Any:
        """Return memory of the device."""
        return self._cupy.empty(size, np.uint8)

    def write(self, buffer: Any, data: np.ndarray) -> None:
        """Copy bytes to the device."""
        buffer[: data.size].set(data)

    def read(self, buffer: Any, size: int) -> np.ndarray:
        """Copy bytes from the device, after everything before."""
        return buffer[:size].get()

    def taken(self, tensor: TensorOnGpu, where: str) -> Any:
        """Return a tensor's own memory if its elements lie in C order, else a copy on the device. Raises ModelError."""
        here = self._cupy.cuda.Device().id
        if tensor.device != here:
            hint = "move it there, or choose the device with cupy.cuda.Device"
            raise ModelError(f"{where} lies on GPU {tensor.device}, this runs on GPU {here}", hint=hint)
        try:
            array = self._cupy.ascontiguousarray(self._cupy.from_dlpack(tensor.value))
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise ModelError(f"{where} cannot be shared with CuPy ({error})", hint="detach it, or give an array of CuPy") from None
        return array.reshape(-1).view(np.uint8)

    def given_out(self, buffer: Any, array: GpuArray) -> Any:
        """Return a copy as an array of CuPy, on the device."""
        size, strides = array.dtype.itemsize, array.strides
        if 0 in array.shape:
            return self._cupy.empty(array.shape, array.dtype)
        last = array.offset + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True) if s > 0)
        flat = buffer[: (last + 1) * size].view(array.dtype)[array.offset :]
        steps = [s * size for s in strides]
        return self._cupy.lib.stride_tricks.as_strided(flat, array.shape, steps).copy()

    def launch(self, kernel: GpuKernel, buffers: list[Any]) -> None:
        """Begin a launch."""
        self._kernels[kernel.name]((kernel.groups,), (kernel.local,), tuple(buffers))

    def multiply(self, call: GemmCall, places: Sequence[tuple[Any, int]]) -> None:
        """Begin a product of cuBLAS on the current stream."""
        assert self._cublas is not None
        size = call.dtype.itemsize
        addresses = [buffer.__cuda_array_interface__["data"][0] + offset * size for buffer, offset in places]
        self._cublas.multiply(call, addresses, self._cupy.cuda.get_current_stream().ptr)

    def finish(self) -> None:
        """Wait for everything."""
        self._cupy.cuda.get_current_stream().synchronize()
