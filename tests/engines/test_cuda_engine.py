"""Engine `cuda` without a GPU: CuPy's functions stand in, kernels run as C++; on a GPU the same programs run there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "targets" / "gpu"))
from cuda_on_cpu import Memory, TorchTensor, cupy_on_cpu
from riscv_models import model

import fleet
from fleet.compiler import executables
from fleet.engines.base import RunOptions
from fleet.engines.gpu import cuda_device
from fleet.engines.gpu.cuda import ENGINE
from fleet.engines.gpu.cuda_device import CudaMachine
from fleet.engines.llvm_cpu import ENGINE as LLVM
from fleet.errors import DeviceError, ModelError, SetupError

NEEDS_GCC = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def given(monkeypatch: pytest.MonkeyPatch, cupy: ModuleType) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for cached in (cuda_device.find_cuda, executables._gpu):
        cached.cache_clear()
    yield
    for cached in (cuda_device.find_cuda, executables._gpu):
        cached.cache_clear()


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One device."""
    yield from given(monkeypatch, cupy_on_cpu())


@pytest.fixture
def no_device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """CuPy, and no device."""
    yield from given(monkeypatch, cupy_on_cpu(0))


def numbers() -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    return {"x": draw.standard_normal((5, 70), np.float32), "w": draw.standard_normal((70, 9), np.float32)}


@NEEDS_GCC
@pytest.mark.usefixtures("device")
def test_a_run_leaves_a_complete_trace_with_the_bits_of_llvm() -> None:
    arrays = numbers()
    program = model(arrays, lambda m, x, w: m("softmax", m("matmul", x, w, id="product"), axis=1, id="soft"), weights=("w",))
    found, expected = ENGINE.run(program, arrays, RunOptions()), LLVM.run(program, arrays, RunOptions())
    assert found.complete
    assert found.engine == "cuda"
    assert found.meta["processor"] == "C++, CUDA 13.0"
    assert found.counters == {"launches": 2.0, "kernels": 2.0}
    for id_ in ("product", "soft"):
        np.testing.assert_array_equal(found.tensors[id_], expected.tensors[id_])


@NEEDS_GCC
@pytest.mark.usefixtures("device")
def test_numbers_below_the_normal_ones_stay() -> None:
    """What CuPy's own way to compile flushes to zero."""
    arrays = {"x": np.array([1e-40, -1e-45, 1e-38], np.float32)}
    found = ENGINE.run(model(arrays, lambda m, x: m("add", x, x)), arrays, RunOptions())
    np.testing.assert_array_equal(found.outputs["out0"], arrays["x"] * 2)


@NEEDS_GCC
@pytest.mark.usefixtures("device")
def test_inputs_in_place_run_again() -> None:
    arrays = numbers()
    loaded = ENGINE.load(model(arrays, lambda m, x, w: m("matmul", x, w)), keep=False)
    first = loaded.run(arrays).outputs()
    again = loaded.again().outputs()
    loaded.finish()
    np.testing.assert_array_equal(first["out0"], again["out0"])


@NEEDS_GCC
@pytest.mark.usefixtures("device")
def test_a_bad_index_is_told(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text('def f(x: "float32[5]", i: "int64[2]"):\n    return x[i] * 2\n')
    inputs = {"x": np.ones(5, np.float32), "i": np.array([1, 7])}
    with pytest.raises(ModelError, match=r"operation gather\.0: index 7 is out of bounds for axis 0 with size 5"):
        ENGINE.run(fleet.compile(f"{path}:f", inputs=inputs).program, inputs, RunOptions())


@pytest.mark.usefixtures("device")
def test_a_program_of_the_host_alone_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text('import numpy as np\ndef f(a: "float64[3, 3]"):\n    return np.linalg.inv(a)\n')
    program = fleet.compile(f"{path}:f").program
    with pytest.raises(DeviceError, match=r"on cuda: numpy\.linalg\.inv of these arrays has no kernel"):
        ENGINE.run(program, {"a": np.eye(3)}, RunOptions())


@pytest.mark.usefixtures("device")
def test_what_nvrtc_refuses_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {"error": np.ones(3, np.float32)}
    with pytest.raises(SetupError, match="NVRTC compiles no kernels: NVRTC_ERROR_COMPILATION") as caught:
        ENGINE.run(model(arrays, lambda m, x: m("add", x, x)), arrays, RunOptions())
    assert "\n" not in str(caught.value)


@NEEDS_GCC
@pytest.mark.usefixtures("device")
@pytest.mark.filterwarnings("error")
def test_target_gpu_takes_the_cuda_device() -> None:
    @fleet.jit(target="gpu")
    def twice(x: np.ndarray) -> np.ndarray:
        return x + x

    ones = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(twice(ones), ones * 2)
    assert twice.lower(ones).engine == "cuda"


def layer(x: np.ndarray, w: np.ndarray) -> dict[str, object]:
    y = np.maximum(x @ w, 0)
    return {"y": y, "turned": y.T, "back": y[:, ::-1], "same": x, "rows": len(x), "largest": y.max()}


@NEEDS_GCC
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("target", ["cuda", "gpu"])
def test_tensors_on_the_gpu_are_read_where_they_lie_and_results_stay_there(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = numbers()
    compiled = fleet.jit(target=target)(layer)
    expected = compiled(arrays["x"], arrays["w"])
    written: list[int] = []
    write = CudaMachine.write
    monkeypatch.setattr(CudaMachine, "write", lambda self, buffer, data: (written.append(data.size), write(self, buffer, data))[1])
    monkeypatch.setattr(CudaMachine, "read", lambda *_: pytest.fail("an array was copied to the processor"))
    found = compiled(TorchTensor(arrays["x"]), TorchTensor(arrays["w"]))
    assert written == []
    assert len(compiled.programs) == 1
    assert found["rows"] == 5
    for name in ("y", "turned", "back", "same", "largest"):
        assert isinstance(found[name], Memory) or name == "largest", name
        np.testing.assert_array_equal(np.asarray(found[name]), np.asarray(expected[name]))
    again = compiled(TorchTensor(arrays["x"] * 2), TorchTensor(arrays["w"]))
    np.testing.assert_array_equal(np.asarray(found["y"]), np.asarray(expected["y"]))  # not the memory of the next run
    np.testing.assert_array_equal(np.asarray(again["y"]), np.asarray(expected["y"]) * 2)


@NEEDS_GCC
@pytest.mark.usefixtures("device")
def test_arrays_here_and_there_take_part_in_one_call() -> None:
    arrays = numbers()
    compiled = fleet.jit(target="cuda")(layer)
    expected = compiled(arrays["x"], arrays["w"])
    apart = np.asfortranarray(arrays["x"])  # is copied on the device: kernels were made for C order
    mixed = compiled(TorchTensor(apart), arrays["w"])
    np.testing.assert_array_equal(np.asarray(mixed["y"]), expected["y"])
    assert isinstance(compiled(arrays["x"], arrays["w"])["y"], np.ndarray)
    assert not isinstance(compiled(arrays["x"], arrays["w"])["y"], Memory)
    tensor = fleet.Tensor((5, 70), "float32")
    tensor.data = TorchTensor(arrays["x"])
    np.testing.assert_array_equal(np.asarray(compiled(tensor, arrays["w"])["y"]), expected["y"])
    np.testing.assert_array_equal(tensor.data, arrays["x"])
    np.testing.assert_array_equal(compiled.lower(tensor, arrays["w"]).inputs["x"], arrays["x"])


@pytest.mark.usefixtures("device")
def test_tensors_that_cannot_be_read_are_refused_by_name() -> None:
    arrays = numbers()
    there = TorchTensor(arrays["x"])
    with pytest.raises(ModelError, match='argument "x" lies on GPU 0; targets cuda and gpu take it; or move it to the CPU'):
        fleet.jit(target="vm")(layer)(there, arrays["w"])
    with pytest.raises(ModelError, match='input "x" lies on GPU 1, this runs on GPU 0'):
        fleet.jit(target="cuda")(layer)(TorchTensor(arrays["x"], device=1), arrays["w"])
    odd = TorchTensor(arrays["x"])
    odd.dtype = "torch.bfloat16"
    with pytest.raises(ModelError, match="a tensor of dtype bfloat16; cast it to a dtype of NumPy"):
        fleet.jit(target="cuda")(layer)(odd, arrays["w"])
    with pytest.raises(ValueError, match=r"declared float32\[2, 2\], the data are float32\[5, 70\]"):
        fleet.Tensor((2, 2)).data = there


@pytest.mark.usefixtures("no_device")
def test_without_a_device_one_line_says_so() -> None:
    said = "no CUDA device answers; check nvidia-smi; engine opencl runs the same kernels on any processor"
    assert str(ENGINE.available()).startswith(said)

    @fleet.jit(target="cuda")
    def twice(x: np.ndarray) -> np.ndarray:
        return x + x

    with pytest.raises(SetupError, match="@jit, target cuda: no CUDA device answers"):
        twice(np.ones(3, np.float32))


def test_without_the_package_one_line_says_what_to_install() -> None:
    code = "import sys; sys.modules['cupy'] = None\nfrom fleet.engines.gpu.cuda import ENGINE; print(ENGINE.available())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("the package cupy is not installed; install fleet-cosim[cuda], or cupy-cuda12x for CUDA 12")
    assert done.stdout.count("\n") == 1
