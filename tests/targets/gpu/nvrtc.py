"""CUDA text compiled by NVRTC, which needs no GPU, or by nvcc."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest


def _nvrtc() -> ctypes.CDLL | None:
    """NVRTC of a wheel, of CUDA 13 or 12."""
    found = find_spec("nvidia")
    folders = [] if found is None else [Path(f) for f in found.submodule_search_locations or ()]
    libraries = [p for f in folders for part in ("cu13", "cuda_nvrtc") for p in sorted((f / part / "lib").glob("libnvrtc.so.*"))]
    return ctypes.CDLL(str(libraries[0])) if libraries else None


def ptx(text: str) -> str:
    """PTX by NVRTC's wheel, else by nvcc; the test is skipped without either."""
    nvrtc = _nvrtc()
    if nvrtc is not None:
        return _by_nvrtc(nvrtc, text, "PTX", ["--fmad=false"]).rstrip(b"\0").decode()
    if shutil.which("nvcc") is None:
        pytest.skip("neither the wheel nvidia-cuda-nvrtc (or nvidia-cuda-nvrtc-cu12) nor nvcc is installed")
    line = ["nvcc", "--fmad=false", "-ptx", "-x", "cu", "-", "-o", "-"]
    done = subprocess.run(line, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    return done.stdout


def machine_code(text: str, architecture: str) -> bytes:
    """Machine code of a GPU ("sm_80"), which takes PTX's own assembler; the test is skipped without NVRTC's wheel."""
    nvrtc = _nvrtc()
    if nvrtc is None:
        pytest.skip("the wheel nvidia-cuda-nvrtc (or nvidia-cuda-nvrtc-cu12) is not installed")
    return _by_nvrtc(nvrtc, text, "CUBIN", ["--fmad=false", "--ftz=false", f"--gpu-architecture={architecture}"])


def _by_nvrtc(nvrtc: ctypes.CDLL, text: str, kind: str, options: list[str]) -> bytes:
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None) == 0
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*(o.encode() for o in options)))
    what = "ProgramLog" if failed else kind
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    said = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, said)
    assert not failed, said.value.decode()[:3000]
    return said.raw
