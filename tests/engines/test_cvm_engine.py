"""Engines `cvm`, `cvm-riscv` and `cvm-aarch64`: models in a process of their own, beside the engines that have the same kernels."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from riscv_models import model

from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.cvm import AARCH64, ENGINE, RISCV, CvmEngine
from fleet.engines.llvm_cpu import ENGINE as LLVM
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError, ModelError, SetupError
from fleet.targets.cvm.build import CrossToolchain, host_toolchain

NEEDS_COMPILER = pytest.mark.skipif(ENGINE.available() is not None, reason=str(ENGINE.available()))
pytestmark = NEEDS_COMPILER
DIGITS = ("examples/digits/model.py:forward", Path("examples/digits/weights.npz"), Path("examples/digits/test.npz"))

LOOPS = """
import numpy as np

def forward(x: "float32[5,4]", n: "int64[]", i: "int64[3]"):
    total = np.zeros((4,), np.float32)
    k = 0
    while k < n:
        if np.sum(total) < 3:
            total = total + x[k % 5]
        else:
            total = total - x[:, 1][:4] * 0.25
        k = k + 1
    turned = x.T[::-1][i]
    print("rounds", k, total)
    print(f"{np.max(total):.4f} {turned!r}")
    return total, turned.reshape(5, 3), np.concatenate([x.T, x.T], 1)[1:3], k
"""


def run_all(source: str, folder: Path, *engines: CvmEngine, **inputs: np.ndarray) -> tuple[Trace, Trace, list[Trace]]:
    """On vm, on llvm-cpu without its prints, and on the others."""
    path, data = folder / "model.py", folder / "inputs.npz"
    path.write_text(source)
    np.savez(data, **inputs)
    loaded = load_model(f"{path}:forward", None, data, 0, None)
    quiet = folder / "quiet.py"
    quiet.write_text("\n".join(line for line in source.splitlines() if "print" not in line))
    silent = load_model(f"{quiet}:forward", None, data, 0, None)
    others = [e.run(loaded.program, loaded.inputs, RunOptions()) for e in engines]
    return VM.run(loaded.program, loaded.inputs, RunOptions()), LLVM.run(silent.program, silent.inputs, RunOptions()), others


@pytest.mark.parametrize("n", [0, 7])
def test_loops_decisions_views_and_prints(n: int, tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)
    vm, llvm, (got,) = run_all(LOOPS, tmp_path, ENGINE, x=x, n=np.array(n), i=np.array([3, 0, 0]))
    assert got.complete
    assert got.meta["stdout"] == vm.meta["stdout"]
    assert list(got.outputs) == list(vm.outputs)
    for name, output in llvm.outputs.items():
        np.testing.assert_array_equal(got.outputs[name], output, strict=True)
        np.testing.assert_allclose(got.outputs[name], vm.outputs[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("other", [RISCV, AARCH64], ids=lambda engine: engine.name)
def test_the_same_under_qemu(other: CvmEngine, tmp_path: Path) -> None:
    if other.available() is not None and os.environ.get("FLEET_REQUIRE_CROSS") != "1":
        pytest.skip(str(other.available()))
    x = np.random.default_rng(2).standard_normal((5, 4)).astype(np.float32)
    _, _, (here, there) = run_all(LOOPS, tmp_path, ENGINE, other, x=x, n=np.array(4), i=np.array([1, 2, 3]))
    assert there.engine == other.name
    assert there.meta["stdout"] == here.meta["stdout"]
    for name, output in here.outputs.items():
        np.testing.assert_array_equal(there.outputs[name], output, strict=True)
    assert set(there.tensors) == set(here.tensors)


def test_the_digits_give_the_bits_of_llvm_cpu() -> None:
    loaded = load_model(*DIGITS, 0, None)
    got, reference = (engine.run(loaded.program, loaded.inputs, RunOptions()) for engine in (ENGINE, LLVM))
    assert got.program_hash == reference.program_hash
    assert len(got.tensors) > 4
    for name, tensor in got.tensors.items():
        np.testing.assert_array_equal(tensor, reference.tensors[name])
    for name, tensor in reference.outputs.items():
        np.testing.assert_array_equal(got.outputs[name], tensor)
    assert ENGINE.run(loaded.program, loaded.inputs, RunOptions(keep_tensors=False)).tensors == {}


def test_memory_is_free_after_the_last_use() -> None:
    x = np.ones((256, 256), np.float32)

    def chain(m, value):
        for _ in range(20):
            value = m("add", value, value)
        return value

    trace = ENGINE.run(model({"x": x}, chain), {"x": x}, RunOptions(keep_tensors=False))
    assert trace.meta["peak_bytes"] < 4 * x.nbytes


def test_a_script_prints() -> None:
    loaded = load_model("examples/add_sample.py", None, None, 0, None)
    assert ENGINE.run(loaded.program, {}, RunOptions()).meta["stdout"] == "43\n"


def test_a_bad_index_names_the_operation_and_its_place() -> None:
    table, places = np.zeros((5, 2), np.float32), np.array([1, 9], np.int64)
    program = model({"x": table, "i": places}, lambda m, x, i: m("gather", x, i, id="the.gather"))
    with pytest.raises(ModelError, match=r"model\.py:1:4: operation the\.gather: index 9 is out of bounds") as caught:
        ENGINE.run(program, {"x": table, "i": places}, RunOptions())
    assert caught.value.exit_code == 2


def test_a_raise_of_the_source_is_told(tmp_path: Path) -> None:
    source = 'def forward(x: "float32[3]"):\n    if x[0] > 0:\n        raise ValueError("too large")\n    return x\n'
    path = tmp_path / "m.py"
    path.write_text(source)
    program = load_model(f"{path}:forward", None, None, 0, None).program
    assert ENGINE.run(program, {"x": np.zeros(3, np.float32)}, RunOptions()).complete
    with pytest.raises(ModelError, match="the source raises ValueError"):
        ENGINE.run(program, {"x": np.ones(3, np.float32)}, RunOptions())


def test_what_the_kernels_lack_is_refused_in_its_own_name() -> None:
    x = np.zeros((2,), np.float16)
    with pytest.raises(DeviceError, match="on cvm"):
        ENGINE.run(model({"x": x}, lambda m, v: m("add", v, v)), {"x": x}, RunOptions())


def test_inputs_that_do_not_fit() -> None:
    x = np.zeros((2, 3), np.float32)
    program = model({"x": x}, lambda m, v: m("add", v, v))
    with pytest.raises(ModelError, match='no input "x"'):
        ENGINE.run(program, {}, RunOptions())
    with pytest.raises(ModelError, match=r'input "x" must be float32\[2, 3\], found float64\[2, 3\]'):
        ENGINE.run(program, {"x": x.astype(np.float64)}, RunOptions())


def test_without_a_compiler_it_says_what_to_install() -> None:
    engine = CvmEngine("cvm", lambda: replace(host_toolchain(), missing="no C compiler is installed; install the package gcc"))
    assert engine.available() == "no C compiler is installed; install the package gcc"
    with pytest.raises(SetupError, match="install the package gcc"):
        engine.run(model({}, lambda m: []), {}, RunOptions())


def test_a_crash_is_told(tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.write_text("#!/bin/sh\nkill -SEGV $$\n")
    killed.chmod(0o755)
    tools = host_toolchain()
    engine = CvmEngine("cvm", lambda: CrossToolchain(tools.compiler, (str(killed),), tools.machine))
    with pytest.raises(Exception, match="fleet-vm ended with SIGSEGV"):
        engine.run(model({"x": np.ones(1)}, lambda m, v: m("add", v, v)), {"x": np.ones(1)}, RunOptions())
    assert json.dumps(engine.name) == '"cvm"'
