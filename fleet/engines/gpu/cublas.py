"""cuBLAS, by its C interface: the library lies beside CuPy, in a wheel of NVIDIA's, or on the system."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from fleet.errors import SetupError
from fleet.targets.gpu.library import GemmCall

_NAMES = ("libcublas.so.13", "libcublas.so.12", "libcublas.so")
_WHEELS = ("cu13/lib", "cublas/lib")
"""Folders of the wheels nvidia-cublas and nvidia-cublas-cu12, in the package nvidia."""
_NUMBERS = {
    "CUBLAS_OP_N": 0, "CUBLAS_OP_T": 1, "CUDA_R_16F": 2, "CUDA_R_32F": 0, "CUDA_R_64F": 1,
    "CUBLAS_COMPUTE_32F": 68, "CUBLAS_COMPUTE_64F": 70, "CUBLAS_GEMM_DEFAULT": -1,
}  # fmt: skip
"""Of cublas_api.h and library_types.h."""
_P, _I, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong
_ARGUMENTS = (_P, _I, _I, _I, _I, _I, _P, _P, _I, _I, _L, _P, _I, _I, _L, _P, _P, _I, _I, _L, _I, _I, _I)
"""Types of cublasGemmStridedBatchedEx's arguments."""


@lru_cache(maxsize=1)
def find_cublas() -> ctypes.CDLL:
    """Return the library. Raises SetupError if there is none that can be loaded."""
    spec = find_spec("nvidia")
    folders = [] if spec is None else [Path(f) for f in spec.submodule_search_locations or ()]
    places = [str(folder / part / name) for folder in folders for part in _WHEELS for name in _NAMES]
    for place in (*(p for p in places if Path(p).exists()), *_NAMES):
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    hint = "install the package nvidia-cublas (nvidia-cublas-cu12 for CUDA 12), or leave out matmul=cublas"
    raise SetupError("cuBLAS is not installed: no libcublas.so can be loaded", hint=hint)


class Cublas:
    """cuBLAS on the current device. Raises SetupError without the library or if it refuses to begin."""

    def __init__(self) -> None:
        self._library = find_cublas()
        self._handle = ctypes.c_void_p()
        self._check("cublasCreate_v2", self._library.cublasCreate_v2(ctypes.byref(self._handle)))
        self._gemm = self._library.cublasGemmStridedBatchedEx
        self._gemm.argtypes = _ARGUMENTS

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.cublasDestroy_v2(self._handle)

    def multiply(self, call: GemmCall, addresses: Sequence[int], stream: int) -> None:
        """Begin a product. addresses: of result and operands; stream: CUDA's, 0 for the default one. Raises SetupError."""
        out, lhs, rhs = addresses
        self._check("cublasSetStream_v2", self._library.cublasSetStream_v2(self._handle, ctypes.c_void_p(stream)))
        type_, sums = (_NUMBERS[word] for word in call.types)
        scale = np.float64 if call.dtype == np.float64 else np.float32
        one, zero = np.ones(1, scale), np.zeros(1, scale)
        given: list[Any] = []
        for address, operand in ((rhs, call.rhs), (lhs, call.lhs)):
            given += [address, type_, operand.pitch, operand.step]
        turned = [_NUMBERS["CUBLAS_OP_T" if operand.turned else "CUBLAS_OP_N"] for operand in (call.rhs, call.lhs)]
        status = self._gemm(
            self._handle, *turned, call.columns, call.rows, call.depth, one.ctypes.data, *given, zero.ctypes.data,
            out, type_, call.columns, call.rows * call.columns, call.count, sums, _NUMBERS["CUBLAS_GEMM_DEFAULT"],
        )  # fmt: skip
        self._check("cublasGemmStridedBatchedEx", status)

    def _check(self, function: str, status: int) -> None:
        if status:
            raise SetupError(f"cuBLAS: {function} returns status {status}", hint="check nvidia-smi, or leave out matmul=cublas")
