"""`@jit(target="gpu")`: chapters 11 to 13 of seed 003 as scripts, with the import changed and NumPy's arrays for torch's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fleet import jit
from fleet.engines.gpu.opencl import ENGINE

NEEDS_DEVICE = pytest.mark.skipif(
    ENGINE.available() is not None and os.environ.get("FLEET_REQUIRE_OPENCL") != "1", reason=str(ENGINE.available())
)

CHAPTER_11 = """\
import numpy as np
from fleet import Tensor, jit

@jit(target="gpu")
def add(a: Tensor(shape=(2, 3), dtype="float32"), b: Tensor(shape=(2, 3), dtype="float32")):
    out = a + b
    return out

a = Tensor(shape=(2, 3), dtype="float32")
b = Tensor(shape=(2, 3), dtype="float32")
a.data = np.ones((2, 3), np.float32)
b.data = np.ones((2, 3), np.float32)
print(add(a, b))
"""
CHAPTER_12 = f'{CHAPTER_11}print(add.lower(a, b).text("cuda"))\n'
CHAPTER_13 = CHAPTER_12.replace("    return out\n", "    out = out + a\n    return out\n")
HEAD = (
    'extern "C" __global__ void __launch_bounds__(256) {name}(float *__restrict__ out, const float *__restrict__ a, '
    "const float *__restrict__ b) {{"
)


def script(text: str, folder: Path) -> tuple[str, str]:
    path = folder / "chapter.py"
    path.write_text(text)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@NEEDS_DEVICE
def test_chapter_11_runs_and_says_where(tmp_path: Path) -> None:
    out, err = script(CHAPTER_11, tmp_path)
    assert out == "[[2. 2. 2.]\n [2. 2. 2.]]\n"
    assert "target gpu: no GPU answers; OpenCL runs on " in err or not err


@NEEDS_DEVICE
def test_chapter_12_prints_its_cuda_text(tmp_path: Path) -> None:
    out, _ = script(CHAPTER_12, tmp_path)
    assert HEAD.format(name="add_kernel") in out
    assert "    out[i] = a[i] + b[i];\n" in out


@NEEDS_DEVICE
def test_chapter_13_is_one_kernel_with_two_additions(tmp_path: Path) -> None:
    out, _ = script(CHAPTER_13, tmp_path)
    assert out.startswith("[[3. 3. 3.]\n [3. 3. 3.]]\n")
    assert out.count("__global__") == 1
    assert HEAD.format(name="fused_add_add_kernel") in out
    assert "    out[i] = (v0 + b[i]) + v0;\n" in out


@NEEDS_DEVICE
@pytest.mark.filterwarnings("ignore:target gpu")
def test_a_function_runs_again_on_other_data() -> None:
    w = np.eye(3, dtype=np.float32) * 2

    @jit(target="gpu")
    def layer(x: np.ndarray, times: int = 1) -> np.ndarray:
        for _ in range(times):
            x = np.maximum(x @ w + 0.5, 0)
        return x

    for n in (1, 2):
        x = np.full((1, 3), n, np.float32)
        np.testing.assert_array_equal(layer(x, 2), layer.python(x, 2))


def test_without_a_device_one_line_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['pyopencl'] = None\n"
        "import numpy as np, fleet\n"
        "exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'))"
    )
    source = Path(__file__).with_name("gpu_script.py")
    done = subprocess.run([sys.executable, "-c", code, str(source)], capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()[-1]
    assert "@jit, target gpu: the package pyopencl is not installed; install fleet-cosim[opencl]" in said
