"""A module's CUDA text, compiled as C++ with `threads.h`, as a machine for `LoadedModule`."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from fleet.core.cache import cache_root
from fleet.targets.gpu.module import GpuKernel, GpuModule

FLAGS = ("-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv")
_HEAD = re.compile(
    r'extern "C" __global__ void __launch_bounds__\([\d, ]+\) (\w+)\(([^)]*)\) \{\n(.*?)^\}\n', re.DOTALL | re.MULTILINE
)


class CpuMachine:
    """Buffers are NumPy arrays; a launch is a call."""

    def __init__(self, module: GpuModule) -> None:
        launchers = "".join(_launcher(*found) for found in _HEAD.findall(module.text))
        header = Path(__file__).with_name("threads.h")
        source = f'#include "{header}"\n{module.text}\n{launchers}'
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
        self._code = ctypes.CDLL(str(library))

    def buffer(self, size: int) -> np.ndarray:
        return np.zeros(size, np.uint8)

    def write(self, buffer: np.ndarray, data: np.ndarray) -> None:
        buffer[: data.size] = data

    def read(self, buffer: np.ndarray, size: int) -> np.ndarray:
        return buffer[:size].copy()

    def launch(self, kernel: GpuKernel, buffers: list[Any]) -> None:
        pointers = (ctypes.c_void_p * len(buffers))(*(b.ctypes.data for b in buffers))
        getattr(self._code, f"launch_{kernel.name}")(kernel.groups, kernel.local, pointers)

    def finish(self) -> None:
        pass


def _launcher(name: str, parameters: str, body: str) -> str:
    types = [p.rpartition("*")[0] + "*" for p in parameters.split(", ")]
    given = ", ".join(f"({type_})p[{n}]" for n, type_ in enumerate(types))
    waits = "true" if "__syncthreads" in body else "false"
    return (
        f'extern "C" void launch_{name}(int groups, int local, void **p) {{\n'
        f"  run(groups, local, {waits}, [&] {{ {name}({given}); }});\n}}\n"
    )
