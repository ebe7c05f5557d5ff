"""Products on tensor cores: the text run as C++ with a header that has fragments, beside NumPy; machine code by NVRTC."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "engines"))
from cuda_on_cpu import cuda_device
from nvrtc import machine_code, ptx
from riscv_models import model

import fleet
from fleet.cosim.comparisons import ComparisonSession
from fleet.engines.base import RunOptions
from fleet.engines.gpu.engine import KernelEngine
from fleet.engines.vm import ENGINE as VM
from fleet.errors import FleetError, SetupError
from fleet.ir.schedule import MatmulChoice
from fleet.targets.gpu import products, tensor_tiles
from fleet.targets.gpu.module import GpuModule, generate_gpu
from fleet.targets.gpu.run import LoadedModule
from fleet.targets.gpu.surface import CUDA
from fleet.targets.riscv.prepare import prepared_for_cuda

NEEDS_GCC = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
SOURCE = """
import numpy as np

def f(h: "float16[70, 41]", g: "float16[41, 100]", many: "float16[2, 1, 5, 64]", other: "float16[3, 64, 7]",
      x: "float32[70, 41]", w: "float32[41, 100]", b: "float32[100]"):
    return h @ g, (g.T @ h.T)[1:, ::-1], many @ other, np.maximum(h @ g + h[:, :1], 0), np.maximum(x @ w + b, 0), x @ x.T
"""


def arrays(seed: int = 0) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    shapes = {"h": (70, 41), "g": (41, 100), "many": (2, 1, 5, 64), "other": (3, 64, 7), "x": (70, 41), "w": (41, 100), "b": (100,)}
    halves = ("h", "g", "many", "other")
    return {n: draw.standard_normal(s).astype(np.float16 if n in halves else np.float32) for n, s in shapes.items()}


def module_of(folder: Path, matmul: MatmulChoice, source: str = SOURCE) -> GpuModule:
    path = folder / "m.py"
    path.write_text(source)
    compiled = fleet.compile(f"{path}:f", inputs=arrays(), matmul=matmul)
    return generate_gpu(prepared_for_cuda(compiled.program), CUDA, keep=False)


def ran(module: GpuModule, given: dict[str, np.ndarray]) -> list[np.ndarray]:
    return list(LoadedModule(module, cuda_device().load(module)).run(given).outputs().values())


def wanted(given: dict[str, np.ndarray]) -> list[np.ndarray]:
    h, g, many, other, x, w, b = given.values()
    return [h @ g, (g.T @ h.T)[1:, ::-1], many @ other, np.maximum(h @ g + h[:, :1], 0), np.maximum(x @ w + b, 0), x @ x.T]


def bfloat16(x: np.ndarray) -> np.ndarray:
    """The nearest bfloat16, the even one between two; as float32."""
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


@NEEDS_GCC
@pytest.mark.parametrize("side", [64, 128])
def test_products_of_halves_are_those_of_numpy(tmp_path: Path, side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy sums products of float16 in float32 in ascending order, as the header does. Edges, turned operands, leading axes."""
    monkeypatch.setattr(products, "tensor_tile_of", lambda *_: tensor_tiles.TensorTile(side))
    given = arrays()
    found = ran(module_of(tmp_path, "tensor-cores"), given)
    for n, (one, expected) in enumerate(zip(found, wanted(given), strict=True)):
        assert one.dtype == expected.dtype
        if n < 4:
            np.testing.assert_array_equal(one, expected)
        else:
            np.testing.assert_allclose(one, expected, rtol=1e-5, atol=1e-5)


@NEEDS_GCC
def test_products_of_float32_are_exact_unless_bfloat16_is_asked_for(tmp_path: Path) -> None:
    given = arrays()
    exact = ran(module_of(tmp_path, "exact"), given)
    halves = ran(module_of(tmp_path, "tensor-cores"), given)
    rounded = ran(module_of(tmp_path, "bfloat16"), given)
    for n in (4, 5):
        np.testing.assert_array_equal(exact[n], halves[n])
    x, w, b = (given[n] for n in ("x", "w", "b"))
    np.testing.assert_allclose(rounded[4], np.maximum(bfloat16(x) @ bfloat16(w) + b, 0), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(rounded[5], bfloat16(x) @ bfloat16(x).T, rtol=1e-5, atol=1e-5)
    assert np.abs(rounded[5] - exact[5]).max() > 1e-3
    np.testing.assert_array_equal(rounded[0], halves[0])


@NEEDS_GCC
def test_infinities_nan_and_the_ends_of_the_range(tmp_path: Path) -> None:
    given = arrays()
    given["h"][0, :3] = np.inf, 65504, 6e-8
    given["h"][3, 5] = np.nan
    given["x"][1, :4] = np.nan, np.inf, 3.4e38, 1e-40
    with np.errstate(all="ignore"):
        expected = wanted(given)
        found = ran(module_of(tmp_path, "bfloat16"), given)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(np.isnan(found[5]), np.isnan(bfloat16(given["x"]) @ bfloat16(given["x"]).T))


@NEEDS_GCC
@pytest.mark.parametrize("heads", [1, 4])
def test_attention_in_bfloat16(heads: int) -> None:
    draw = np.random.default_rng(3)
    rows = {"q": 37, "k": 41, "v": 41}
    given = {name: draw.standard_normal((2, count, 8 * heads)).astype(np.float32) for name, count in rows.items()}
    program = model(given, lambda m, q, k, v: m("attention", q, k, v, heads=heads, kv_heads=heads, scale=0.3, causal=True))
    module = generate_gpu(prepared_for_cuda(replace(program, matmul="bfloat16")), CUDA)
    assert module.text.count("multiply(sums[") == 3  # scores of depth 8; values of depth 41: a whole tile and a part
    (found,) = ran(module, given)
    (expected,) = VM.run(program, given, RunOptions()).outputs.values()
    np.testing.assert_allclose(found, expected, atol=0.05)


@NEEDS_GCC
def test_halves_on_tensor_cores_lie_within_the_derived_bounds(tmp_path: Path) -> None:
    given = {n: a for n, a in arrays().items() if n in ("h", "g")}
    program = replace(model(given, lambda m, h, g: m("matmul", h, g, id="product")), matmul="tensor-cores")
    found = KernelEngine("cuda", cuda_device).run(program, given, RunOptions())
    golden = VM.run(program, given, RunOptions())
    comparison, _ = ComparisonSession(program, given, golden, {}, tmp_path).against_golden(golden, found)
    assert comparison.verdict == "pass"


def test_the_text_names_its_instructions_and_no_header(tmp_path: Path) -> None:
    text = module_of(tmp_path, "bfloat16").text
    assert "#include" not in text
    for words in ("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16", "wmma.load.b.sync.aligned.row.m16n16k16.shared.bf16",
                  "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32", "wmma.mma.sync.aligned.row.row.m16n16k16.f32.bf16.bf16.f32",
                  "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32"):  # fmt: skip
        assert text.count(words) == 1, words
    assert "wmma" not in module_of(tmp_path, "exact").text
    assert "bf16" not in module_of(tmp_path, "tensor-cores").text


def test_shared_memory_of_the_largest_tile_fits(tmp_path: Path) -> None:
    """48 KiB are what every GPU gives a group without being asked."""
    source = 'def f(a: "float16[2048, 2048]"):\n    return a @ a\n'
    path = tmp_path / "m.py"
    path.write_text(source)
    text = fleet.compile(f"{path}:f", matmul="tensor-cores").text("cuda")
    sizes = {"left": 2, "right": 2, "staged": 4}
    counts = {n: int(text.partition(f" {n}[")[2].partition("]")[0]) for n in sizes}
    assert "* 128)" in text
    assert sum(counts[n] * size for n, size in sizes.items()) <= 48 * 1024


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
def test_every_kernel_compiles_to_machine_code(tmp_path: Path, architecture: str) -> None:
    module = module_of(tmp_path, "bfloat16")
    code = machine_code(module.text, architecture)
    assert [k.name for k in module.kernels if k.name.encode() not in code] == []


def test_halves_compile_for_the_first_tensor_cores(tmp_path: Path) -> None:
    assert machine_code(module_of(tmp_path, "tensor-cores").text, "sm_70")


def test_ptx_of_tensor_cores_contracts_nothing_else(tmp_path: Path) -> None:
    source = 'def f(a: "float16[64, 64]", b: "float32[64, 64]", c: "float32[64, 64]"):\n    return a @ a, b * c + b\n'
    path = tmp_path / "m.py"
    path.write_text(source)
    text = fleet.compile(f"{path}:f", matmul="tensor-cores").text("cuda")
    assert "fma.rn.f32" not in ptx(text)


def test_an_older_gpu_is_refused_in_one_line(tmp_path: Path) -> None:
    device = cuda_device(capability="75")
    device.load(module_of(tmp_path, "exact"))
    with pytest.raises(SetupError, match=r"matmul=bfloat16 needs a GPU of compute capability 8\.0; this one has 7\.5"):
        device.load(module_of(tmp_path, "bfloat16"))


def test_other_targets_refuse_the_choice(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(SOURCE)
    compiled = fleet.compile(f"{path}:f", matmul="tensor-cores")
    with pytest.raises(FleetError, match="matmul=tensor-cores is a choice of target cuda; this is opencl"):
        compiled.text("opencl")
    with pytest.raises(FleetError, match="matmul=cublas is a choice of target cuda; this is cpu"):
        fleet.jit(matmul="cublas")
    with pytest.raises(FleetError, match="matmul is 'fast'"):
        fleet.jit(target="cuda", matmul="fast")  # pyright: ignore[reportCallIssue, reportArgumentType]
