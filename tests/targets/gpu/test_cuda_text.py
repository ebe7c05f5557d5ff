"""CUDA C++ as text: chapters 12 and 13 of seed 003; what the text does, compiled as C++; that NVRTC or nvcc takes it."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "engines"))
from cuda_on_cpu import cuda_device
from nvrtc import ptx
from riscv_models import model
from test_cvm_all_operations import arguments, body

import fleet
from fleet.compiler import Schedule
from fleet.engines.base import RunOptions
from fleet.engines.llvm_cpu import ENGINE as LLVM
from fleet.errors import DeviceError, FleetError, ModelError
from fleet.frontend.source import load
from fleet.ir.program import Program
from fleet.targets.gpu import products, teams
from fleet.targets.gpu.module import GpuModule, HostComputation, KernelStep, generate_gpu
from fleet.targets.gpu.run import LoadedModule
from fleet.targets.gpu.surface import CUDA
from fleet.targets.riscv.prepare import prepared
from fleet.verify.programs.drawing import FUNCTION, draw_program

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
Result = TypeVar("Result")
NEEDS_GCC = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

ADD = """\
def add(a: "float32[2, 3]", b: "float32[2, 3]"):
    out = a + b
    return out
"""
ADD_KERNEL = """\
// compile with --fmad=false

extern "C" __global__ void __launch_bounds__(256) add_kernel(float *__restrict__ out, const float *__restrict__ a, \
const float *__restrict__ b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 6) {
    out[i] = a[i] + b[i];
  }
}
"""
FUSED_KERNEL = """\
extern "C" __global__ void __launch_bounds__(256) fused_add_add_kernel(float *__restrict__ out, const float *__restrict__ a, \
const float *__restrict__ b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 6) {
    const float v0 = a[i];
    out[i] = (v0 + b[i]) + v0;
  }
}
"""


def module_of(folder: Path, source: str, *, keep: bool = True) -> GpuModule:
    path = folder / "m.py"
    path.write_text(source)
    name = source[source.rindex("def ") + 4 :].partition("(")[0]
    return generate_gpu(prepared(fleet.compile(f"{path}:{name}").program), CUDA, keep=keep)


def test_chapter_12_prints_one_kernel(tmp_path: Path) -> None:
    assert module_of(tmp_path, ADD).text.rstrip() == ADD_KERNEL.rstrip()


def test_chapter_13_prints_one_kernel_with_both_additions(tmp_path: Path) -> None:
    text = module_of(tmp_path, ADD.replace("    return", "    out = out + a\n    return"), keep=False).text
    assert text.endswith(FUSED_KERNEL)


def test_what_is_kept_is_stored_by_the_same_kernel(tmp_path: Path) -> None:
    module = module_of(tmp_path, ADD.replace("    return", "    out = out + a\n    return"), keep=True)
    assert len(module.kernels) == 1
    assert "out_0[i] = " in module.text
    assert "out_1[i] = " in module.text


def test_words_of_the_language_are_no_parameters(tmp_path: Path) -> None:
    names = ("float_", "i", "v0", "NAN", "straße", "kernel", "linux", "scratch")
    declared = ", ".join(f"{n}: 'float32[3]'" for n in names)
    source = f"def f({declared}):\n    return {' + '.join(names)}\n"
    head = module_of(tmp_path, source, keep=False).text.splitlines()[2]
    expected = ("float_", "x_i", "x_v0", "x_NAN", "stra_e", "x_kernel", "x_linux", "x_scratch")
    assert [p.rpartition("__ ")[2].rstrip(") {") for p in head.partition("(256) ")[2].split(", ")][1:] == list(expected)


def test_an_array_beyond_32_bits_is_refused() -> None:
    arrays = {"x": np.zeros((65536, 1), np.int8), "y": np.zeros((1, 32768), np.int8)}
    program = model(arrays, lambda m, x, y: m("add", x, y))
    with pytest.raises(DeviceError, match=r"add\.0 has 2,147,483,648 elements on cuda; expected at most 2,147,482,624"):
        generate_gpu(prepared(program), CUDA)


def test_equal_operations_share_a_kernel(tmp_path: Path) -> None:
    source = 'def f(a: "float32[4, 4]", b: "float32[4, 4]"):\n    return (a @ b) @ (b @ a)\n'
    module = module_of(tmp_path, source)
    assert len(module.kernels) == 1
    assert sum(isinstance(step, KernelStep) for step in module.steps) == 3


def test_the_host_computes_what_has_no_kernel_and_says_why(tmp_path: Path) -> None:
    source = 'import numpy as np\ndef f(a: "float64[3, 3]", b: "float64[3]"):\n    return np.linalg.solve(a, b) * 2\n'
    host = [step for step in module_of(tmp_path, source).steps if isinstance(step, HostComputation)]
    assert [step.reason for step in host] == ["numpy.linalg.solve of these arrays has no kernel"]


def test_a_program_of_the_host_alone_is_refused(tmp_path: Path) -> None:
    source = 'import numpy as np\ndef f(a: "float64[3, 3]"):\n    return np.linalg.inv(a)\n'
    with pytest.raises(DeviceError, match=r"on cuda: numpy\.linalg\.inv of these arrays has no kernel"):
        module_of(tmp_path, source)


def same_bits(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
    if found.tobytes() != expected.tobytes():
        np.testing.assert_array_equal(found, expected, err_msg=what)  # all NaNs are equal


def outcome(run: Callable[[], Result]) -> tuple[Result | None, str]:
    """Return a run's result, or what is wrong with the data."""
    try:
        return run(), ""
    except ModelError as error:
        return None, str(error)


def as_llvm(program: Program, arrays: dict[str, np.ndarray], *, keep: bool = True) -> int:
    """Compare every kept tensor with llvm-cpu, bit for bit, errors too; return how many launches there were."""
    module = generate_gpu(prepared(program), CUDA, keep=keep)
    expected, said = outcome(lambda: LLVM.run(program, arrays, RunOptions(keep_tensors=keep)))
    run, wrong = outcome(lambda: LoadedModule(module, cuda_device().load(module)).run(arrays))
    assert wrong == said
    if run is None or expected is None:
        return 0
    tensors = run.tensors() if keep else {}
    for id_, tensor in (expected.tensors if keep else {}).items():
        same_bits(tensors[id_], tensor, id_)
    for name, output in run.outputs().items():
        same_bits(output, expected.outputs[name], name)
    return sum(isinstance(step, KernelStep) for step in module.steps)


@NEEDS_GCC
@pytest.mark.parametrize("turned", [False, True], ids=["as they are", "as views"])
def test_every_operation_has_the_bits_of_llvm(turned: bool) -> None:
    arrays = arguments(turned=turned)
    assert as_llvm(model(arrays, lambda m, *values: body(m, values, turned=turned)), arrays) > 100


@NEEDS_GCC
def test_random_programs_have_the_bits_of_llvm(tmp_path: Path) -> None:
    launches = 0
    for number in range(24):
        drawn = draw_program((22, number), ())
        path = tmp_path / "model.py"
        path.write_text(drawn.source)
        try:
            program = load(f"{path}:{FUNCTION}", {}, dict(drawn.arrays))
            generate_gpu(prepared(program), CUDA)
        except FleetError:
            continue  # refused as a whole: planted errors, sizes of the run
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                launches += as_llvm(program, dict(drawn.arrays), keep=number % 2 == 0)
            except DeviceError:
                continue  # the host's part is more than llvm-cpu takes
    assert launches > 30


SIZES = """
import numpy as np

def f(x: "float32[37, 50]", w: "float32[50, 41]", h: "float16[37, 41]", b: "float32[41]",
      many: "float64[3, 17, 16]", other: "float64[3, 16, 33]", n: "int32[20, 20]"):
    y = np.maximum(x @ w + b, 0) + h
    s = np.exp(y - y.max(1, keepdims=True))
    s = s / s.sum(1, keepdims=True)
    return y, s, many @ other, n @ n.T, h * h + h, (x - x.mean(0)).std(0)
"""


@NEEDS_GCC
def test_tiles_that_reach_beyond_the_matrix_and_halves(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(SIZES)
    compiled = fleet.compile(f"{path}:f")
    assert as_llvm(compiled.program, dict(compiled.inputs)) >= 6


ROWS = """
import numpy as np

def f(x: "float32[18, 308]", long: "float32[3, 9000]", d: "float64[4, 5, 6, 64]", n: "int32[9, 100]", s: "float32[18, 308]"):
    e = np.exp(s - np.max(s, axis=1, keepdims=True))
    soft = e / np.sum(e, axis=1, keepdims=True)
    norm = (x - np.mean(x, axis=1, keepdims=True)) / np.sqrt(np.var(x, axis=1, keepdims=True) + 1e-5) * x[0] + x[1]
    scaled = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)
    return (soft, norm, scaled, long.sum(1), np.exp(long - long.max(1, keepdims=True)).sum(1), d.sum((1, 3)), d.mean((0, 1, 2)),
            n.sum(1), n.max(0), (n > 3).any(1), x.sum(0), (x * 2 + 1).max(0), x.var(0), np.abs(x).max(), x.min(1))
"""


@NEEDS_GCC
@pytest.mark.parametrize("busy", [1, 264], ids=["rows share a group", "a group a row"])
def test_teams_have_the_bits_of_one_item(tmp_path: Path, busy: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows longer than a tile, rows of which some leave the range of the fast exponential, several axes, columns."""
    monkeypatch.setattr(teams, "_BUSY", busy)
    path = tmp_path / "m.py"
    path.write_text(ROWS)
    draw = np.random.default_rng(4)
    shapes = {"x": (18, 308), "long": (3, 9000), "d": (4, 5, 6, 64), "n": (9, 100), "s": (18, 308)}
    dtypes = {"d": np.float64, "n": np.int32}
    inputs = {name: (draw.standard_normal(shape) * 3).astype(dtypes.get(name, np.float32)) for name, shape in shapes.items()}
    compiled = fleet.compile(f"{path}:f", inputs=inputs)
    inputs["s"][3, 5:9] = -1e30
    inputs["s"][5, 7], inputs["s"][11, 2], inputs["s"][12, 3] = np.nan, np.inf, -np.inf
    inputs["x"][2] *= np.float32(1e-38)
    assert as_llvm(compiled.program, inputs) >= 15
    text = generate_gpu(prepared(compiled.program), CUDA).text
    assert text.count("lane = inside %") >= 8
    assert "__syncthreads_or(" in text
    assert "row = inside % 8, lane = inside / 8;" in text
    assert ("row = inside / 32" in text) == (busy == 1)
    assert ("const bool real" in text) == (busy == 1)


@NEEDS_GCC
@pytest.mark.parametrize("per", [8, 4, 2])
def test_large_tiles_have_the_bits_of_small_ones(tmp_path: Path, per: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles that reach beyond the matrix, depths that are no multiple of a tile's, transposed operands, an epilogue."""
    monkeypatch.setattr(products, "tile_of", lambda lead, rows, columns, dtype: products.ProductTile(per, 8 if per == 8 else 16))
    path = tmp_path / "m.py"
    path.write_text(SIZES)
    compiled = fleet.compile(f"{path}:f")
    assert as_llvm(compiled.program, dict(compiled.inputs)) >= 6
    arrays = {"x": np.random.default_rng(0).standard_normal((130, 21), np.float32)}
    assert as_llvm(model(arrays, lambda m, x: m("matmul", x, m("transpose", x, permutation=[1, 0]))), arrays)
    assert as_llvm(model(arrays, lambda m, x: m("matmul", m("transpose", x, permutation=[1, 0]), x)), arrays)


@NEEDS_GCC
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2)])
def test_attention_has_the_bits_of_llvm(heads: int, kv_heads: int) -> None:
    draw = np.random.default_rng(3)
    arrays = {name: draw.standard_normal((2, rows, 8 * count)).astype(np.float32)
              for name, rows, count in (("q", 37, heads), ("k", 41, kv_heads), ("v", 41, kv_heads))}  # fmt: skip
    arrays["mask"] = draw.standard_normal((2, 37, 41)).astype(np.float32)
    options = {"heads": heads, "kv_heads": kv_heads, "scale": 0.3, "causal": True}
    program = model(arrays, lambda m, q, k, v, mask: m("attention", q, k, v, mask, **options))
    assert as_llvm(program, arrays) == 3


@NEEDS_GCC
def test_an_index_out_of_bounds_is_told_as_on_other_engines(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text('def f(x: "float32[5]", i: "int64[4]"):\n    return x[i] * 2\n')
    inputs = {"x": np.ones(5, np.float32), "i": np.array([1, 7, 9, -8])}
    module = generate_gpu(prepared(fleet.compile(f"{path}:f", inputs=inputs).program), CUDA)
    loaded = LoadedModule(module, cuda_device().load(module))
    for _ in range(2):
        with pytest.raises(ModelError, match=r"operation gather\.0: index 7 is out of bounds for axis 0 with size 5"):
            loaded.run(inputs)
    loaded.run({**inputs, "i": np.array([0, -1, 2, 3])})


def test_every_kernel_compiles_to_ptx() -> None:
    arrays = arguments(turned=False)
    module = generate_gpu(prepared(model(arrays, lambda m, *values: body(m, values, turned=False))), CUDA)
    text = ptx(module.text)
    assert [kernel.name for kernel in module.kernels if f".visible .entry {kernel.name}(" not in text] == []


@pytest.mark.nightly
def test_scheduled_kernels_compile_to_ptx(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    body = "    y = a.T * 2 + 1\n    return y, a @ b, y - y.max(axis=1, keepdims=True)\n"
    path.write_text(f'def f(a: "float32[96, 80]", b: "float32[80, 70]"):\n{body}')
    for schedule in (Schedule().every(tile=(64, 64), unroll=8), Schedule().every(tile=(16, 16), order=(1, 0), unroll=2)):
        module = generate_gpu(prepared(fleet.compile(f"{path}:f", schedule=schedule).program), CUDA)
        text = ptx(module.text)
        assert [kernel.name for kernel in module.kernels if f".visible .entry {kernel.name}(" not in text] == []


def test_ptx_contracts_nothing(tmp_path: Path) -> None:
    source = 'def f(a: "float32[99]", b: "float32[99]", c: "float32[99]"):\n    return a * b + c\n'
    assert "fma." not in ptx(module_of(tmp_path, source, keep=False).text)
