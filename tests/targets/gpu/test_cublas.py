"""Products as calls of cuBLAS: their text, and what a library with its C interface gets and gives."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from cuda_on_cpu import cuda_device, cupy_on_cpu

import fleet
from fleet.compiler import executables
from fleet.engines.gpu import cublas
from fleet.engines.gpu import cuda_device as cuda_devices
from fleet.errors import SetupError
from fleet.targets.gpu.library import gemm_of
from fleet.targets.gpu.module import GemmStep, GpuModule, generate_gpu
from fleet.targets.gpu.run import LoadedModule
from fleet.targets.gpu.surface import CUDA
from fleet.targets.riscv.kernels.kernel import ArrayOperand
from fleet.targets.riscv.prepare import prepared_for_cuda

NEEDS_GCC = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
SOURCE = """
import numpy as np

def f(x: "float32[5, 70]", w: "float32[70, 9]", b: "float32[9]", h: "float16[6, 33]", d: "float64[2, 3, 4, 8]",
      e: "float64[3, 8, 5]", n: "int32[4, 4]", t: "float32[3, 5, 70]"):
    return (np.maximum(x @ w + b, 0), w.T @ x.T, h @ h.T, d @ e, d[1, :, ::-1] @ e, n @ n, t @ w, x[1:, 8:20] @ w[3:15, 2:7],
            x[:1] @ w[:, :1], d[:, 0] @ d[:, 0].swapaxes(1, 2), h[:, ::2] @ h[:, ::2].T)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    made = tmp_path_factory.mktemp("cublas") / "libcublas.so"
    source = Path(__file__).with_name("fake_cublas.cpp")
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-ffp-contract=off", str(source), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


@pytest.fixture
def with_cublas(library: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> ctypes.CDLL:
    monkeypatch.setattr(cublas, "find_cublas", lambda: library)
    return library


@pytest.fixture
def no_cublas(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(path: str) -> ctypes.CDLL:
        raise OSError(path)

    monkeypatch.setattr(cublas.ctypes, "CDLL", refuse)
    cublas.find_cublas.cache_clear()
    yield
    cublas.find_cublas.cache_clear()


def given() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(1)
    shapes = {"x": (5, 70), "w": (70, 9), "b": (9,), "h": (6, 33), "d": (2, 3, 4, 8), "e": (3, 8, 5), "n": (4, 4), "t": (3, 5, 70)}
    dtypes = {"h": np.float16, "d": np.float64, "e": np.float64, "n": np.int32}
    return {n: (draw.standard_normal(s) * 3).astype(dtypes.get(n, np.float32)) for n, s in shapes.items()}


def module_of(folder: Path, source: str = SOURCE) -> GpuModule:
    path = folder / "m.py"
    path.write_text(source)
    compiled = fleet.compile(f"{path}:f", inputs=given(), matmul="cublas")
    return generate_gpu(prepared_for_cuda(compiled.program), CUDA, keep=False)


@NEEDS_GCC
def test_calls_compute_what_numpy_computes(tmp_path: Path, with_cublas: ctypes.CDLL) -> None:
    """Layers, turned operands, parts of arrays, leading dimensions; what the library cannot take has kernels."""
    module, arrays = module_of(tmp_path), given()
    calls = [step for step in module.steps if isinstance(step, GemmStep)]
    before = with_cublas.fake_calls()
    found = LoadedModule(module, cuda_device().load(module)).run(arrays).outputs()
    assert with_cublas.fake_calls() - before == len(calls) == 7
    x, w, b, h, d, e, n, t = arrays.values()
    expected = [
        np.maximum(x @ w + b, 0), w.T @ x.T, h @ h.T, d @ e, d[1, :, ::-1] @ e, n @ n, t @ w, x[1:, 8:20] @ w[3:15, 2:7],
        x[:1] @ w[:, :1], d[:, 0] @ d[:, 0].swapaxes(1, 2), h[:, ::2] @ h[:, ::2].T,
    ]  # fmt: skip
    for one, wanted in zip(found.values(), expected, strict=True):
        assert (one.dtype, one.shape) == (wanted.dtype, wanted.shape)
        if wanted.dtype.name in ("float16", "int32"):
            np.testing.assert_array_equal(one, wanted)
        else:
            np.testing.assert_allclose(one, wanted, rtol=3e-6, atol=3e-5 if wanted.dtype == np.float32 else 1e-12)


def test_the_call_stands_in_the_text(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text('def f(x: "float16[5, 70]", w: "float16[9, 70]"):\n    return x @ w.T\n')
    inputs = {"x": np.ones((5, 70), np.float16), "w": np.ones((9, 70), np.float16)}
    text = fleet.compile(f"{path}:f", inputs=inputs, matmul="cublas").text("cuda")
    call = (
        "// matmul.0: cublasGemmStridedBatchedEx(cublas, CUBLAS_OP_T, CUBLAS_OP_N, 9, 5, 70, &one, w, CUDA_R_16F, 70, 0, "
        "x, CUDA_R_16F, 70, 0, &zero, matmul, CUDA_R_16F, 9, 45, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);"
    )
    assert call in text
    assert "matmul_kernel" not in text


@NEEDS_GCC
@pytest.mark.usefixtures("with_cublas")
def test_jit_calls_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy_on_cpu())
    caches = (cuda_devices.find_cuda, executables._gpu)  # pyright: ignore[reportPrivateUsage]
    for cached in caches:
        cached.cache_clear()

    def layer(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        return np.tanh(x @ w)

    x, w = given()["x"], given()["w"]
    for target in ("cuda", "gpu"):
        compiled = fleet.jit(target=target, matmul="cublas")(layer)
        np.testing.assert_allclose(compiled(x, w), layer(x, w), atol=1e-5)
        assert "cublasGemm" in compiled.lower(x, w).text("cuda")
        assert "cublasGemm" not in fleet.jit(target=target)(layer).lower(x, w).text("cuda")
    for cached in caches:
        cached.cache_clear()


@pytest.mark.usefixtures("no_cublas")
def test_without_the_library_one_line_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text('def f(x: "float32[5, 70]", w: "float32[70, 9]"):\n    return x @ w\n')
    module = generate_gpu(prepared_for_cuda(fleet.compile(f"{path}:f", matmul="cublas").program), CUDA)
    with pytest.raises(SetupError) as caught:
        cuda_device().load(module)
    assert caught.value.what == "cuBLAS is not installed: no libcublas.so can be loaded"
    assert str(caught.value.hint).startswith("install the package nvidia-cublas (nvidia-cublas-cu12 for CUDA 12), or leave out")


@NEEDS_GCC
@pytest.mark.usefixtures("with_cublas")
def test_a_status_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.py"
    path.write_text('def f(x: "float32[5, 70]", w: "float32[70, 9]"):\n    return x @ w\n')
    arrays = {n: given()[n] for n in ("x", "w")}
    module = generate_gpu(prepared_for_cuda(fleet.compile(f"{path}:f", inputs=arrays, matmul="cublas").program), CUDA)
    loaded = LoadedModule(module, cuda_device().load(module))
    monkeypatch.setitem(cublas._NUMBERS, "CUBLAS_COMPUTE_32F", 99)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(SetupError, match="cuBLAS: cublasGemmStridedBatchedEx returns status 7"):
        loaded.run(arrays)


def array(shape: tuple[int, ...], strides: tuple[int, ...] | None = None, dtype: type = np.float32) -> ArrayOperand:
    return ArrayOperand(None, np.dtype(dtype), shape, strides)


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        (array((4, 6), (12, 2)), array((6, 5))),  # every second element
        (array((4, 6), (-6, 1)), array((6, 5))),  # backwards
        (array((4, 6), (0, 1)), array((6, 5))),  # one row for all
        (array((2, 3, 4, 6), (72, 0, 6, 1)), array((2, 3, 6, 5))),  # leading dimensions without one step
        (array((4, 6), dtype=np.int32), array((6, 5), dtype=np.int32)),
        (array((4, 6), dtype=np.float64), array((6, 5))),
        (array((4, 0)), array((0, 5))),
    ],
)
def test_what_the_library_cannot_take_has_no_call(lhs: ArrayOperand, rhs: ArrayOperand) -> None:
    lead = np.broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2])
    dtype = np.result_type(lhs.dtype, rhs.dtype)
    assert gemm_of(ArrayOperand(None, dtype, (*lead, lhs.shape[-2], rhs.shape[-1])), lhs, rhs) is None


def test_one_matrix_for_many_is_one_product_of_more_rows() -> None:
    call = gemm_of(array((3, 5, 9)), array((3, 5, 70)), array((70, 9)))
    assert call is not None
    assert (call.count, call.rows) == (1, 15)
