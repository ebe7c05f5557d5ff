"""CUDA text compiled as C++ with `threads.h`, behind the functions of CuPy that engine `cuda` calls."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from fleet.core.cache import cache_root
from fleet.engines.gpu.cuda_device import CudaDevice

FLAGS = ("-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv")
_HEAD = re.compile(
    r'extern "C" __global__ void __launch_bounds__\([\d, ]+\) (\w+)\(([^)]*)\) \{\n(.*?)^\}\n', re.DOTALL | re.MULTILINE
)


def compiled(text: str) -> ctypes.CDLL:
    """Return CUDA text as a library with a function `launch_NAME(groups, local, pointers)` for every kernel."""
    launchers = "".join(_launcher(*found) for found in _HEAD.findall(text))
    header = Path(__file__).with_name("threads.h")
    source = f'#include "{header}"\n{text}\n{launchers}'
    content = hashlib.sha256((source + header.read_text() + " ".join(FLAGS)).encode()).hexdigest()
    folder = cache_root() / "cuda-on-cpu"
    library = folder / f"{content}.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / f"{content}.{os.getpid()}"
        made.with_suffix(".cpp").write_text(source)
        line = ["g++", *FLAGS, str(made.with_suffix(".cpp")), "-o", str(made)]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert not done.returncode, f"{done.stderr[:3000]}\n{source}"
        made.with_suffix(".cpp").unlink()
        made.rename(library)
    return ctypes.CDLL(str(library))


class Memory(np.ndarray):
    """Memory of the device."""

    def set(self, data: np.ndarray) -> None:
        self[...] = data

    def get(self) -> np.ndarray:
        return np.array(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.__array_interface__


class TorchTensor:
    """A tensor as torch has it, on a CUDA device: what DLPack says of it, its memory being the processor's."""

    def __init__(self, array: np.ndarray, device: int = 0) -> None:
        self._memory, self._device = array.view(Memory), device
        self.shape, self.dtype = array.shape, f"torch.{array.dtype}"

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._device

    def __dlpack__(self, **_: Any) -> np.ndarray:
        return self._memory


class RawModule:
    """`cupy.RawModule`."""

    def __init__(self, path: str) -> None:
        self._code = compiled(Path(path).read_text())

    def get_function(self, name: str) -> Callable[[tuple[int], tuple[int], tuple[Any, ...]], None]:
        launch = getattr(self._code, f"launch_{name}")

        def run(groups: tuple[int], local: tuple[int], buffers: tuple[Any, ...]) -> None:
            launch(*groups, *local, (ctypes.c_void_p * len(buffers))(*(b.ctypes.data for b in buffers)))

        return run


class Nvrtc:
    """`cupy.cuda.nvrtc`: the code of a program is its text."""

    NVRTCError = type("NVRTCError", (RuntimeError,), {})

    def getVersion(self) -> tuple[int, int]:
        return 0, 0

    def createProgram(self, text: str, name: str, headers: tuple[str, ...], names: tuple[str, ...]) -> str:
        return text

    def compileProgram(self, program: str, options: list[str]) -> None:
        """CuPy's own way to compile flushes numbers below the normal ones to zero, NVRTC's contracts products and sums."""
        assert {"--fmad=false", "--ftz=false"} <= set(options)
        assert any(option.startswith("--gpu-architecture=sm_") for option in options)
        if "error" in program:
            raise self.NVRTCError("NVRTC_ERROR_COMPILATION")

    def getCUBIN(self, program: str) -> bytes:
        return program.encode()

    def getProgramLog(self, program: str) -> str:
        return 'kernels.cu(1): error: "error" is undefined'

    def destroyProgram(self, program: str) -> None:
        pass


def cupy_on_cpu(devices: int = 1, capability: str = "90") -> ModuleType:
    """Return a module with what engine `cuda` takes from CuPy; kernels run as C++."""
    module = ModuleType("cupy")
    runtime = SimpleNamespace(
        getDeviceCount=lambda: devices, CUDARuntimeError=type("CUDARuntimeError", (RuntimeError,), {}),
        getDeviceProperties=lambda _: {"name": b"C++"}, driverGetVersion=lambda: 13000,
    )  # fmt: skip
    cuda = SimpleNamespace(
        runtime=runtime, nvrtc=Nvrtc(), Device=lambda: SimpleNamespace(id=0, compute_capability=capability),
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None, ptr=0),
    )  # fmt: skip
    empty: Any = lambda size, dtype: np.zeros(size, dtype).view(Memory)  # noqa: E731
    tricks = SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=partial(np.lib.stride_tricks.as_strided, subok=True)))
    module.__dict__.update(
        RawModule=RawModule, empty=empty, cuda=cuda, lib=tricks, asnumpy=np.array,
        from_dlpack=lambda tensor: tensor.__dlpack__(), ascontiguousarray=lambda a: np.array(a, order="C", copy=None, subok=True),
    )  # fmt: skip
    return module


def cuda_device(capability: str = "90") -> CudaDevice:
    """Return a device of engine `cuda` without a GPU."""
    return CudaDevice(cupy_on_cpu(capability=capability))


def _launcher(name: str, parameters: str, body: str) -> str:
    types = [p.rpartition("*")[0] + "*" for p in parameters.split(", ")]
    given = ", ".join(f"({type_})p[{n}]" for n, type_ in enumerate(types))
    waits = "true" if "__syncthreads" in body else "false"
    return (
        f'extern "C" void launch_{name}(int groups, int local, void **p) {{\n'
        f"  run(groups, local, {waits}, [&] {{ {name}({given}); }});\n}}\n"
    )
