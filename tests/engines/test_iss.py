"""Engine iss: whole programs, digests, tiling, local errors, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import Graph, digits, one_matmul, rand

from fleet.engines.accel import run_compiled, run_groups_locally
from fleet.engines.base import RunOptions
from fleet.engines.execute import execute_calls
from fleet.engines.iss import ENGINE, IssBackend
from fleet.engines.trace import Trace
from fleet.errors import ComparisonFailure, DeviceError
from fleet.frontend.source import load
from fleet.ir import dialect as d
from fleet.ir.program import Program
from fleet.isa.digest import DDR, digest
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Call, Device, Memory, Write
from fleet.targets.accel.compile import compile_accel

SET, SMALL = find_device("hbm_small")


def run(program: Program, x: np.ndarray, device: str = "hbm_small", **options: Any) -> Trace:
    return ENGINE.run(program, {"x": x}, RunOptions(device=device, **options))


def reference(x: np.ndarray, w: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The digits model in float64, features rounded to FP16 where the device stores them."""
    half = lambda v: v.astype(np.float16).astype(np.float64)  # noqa: E731
    h1 = half(np.maximum(half(x) @ w["w1"] + w["b1"], 0))
    h2 = half(np.maximum(h1 @ w["w2"] + w["b2"] + h1, 0))
    return {"h1": h1, "h2": h2, "logits": h2 @ w["w3"] + w["b3"]}


@pytest.mark.parametrize("device", ["hbm_small", "hbm0923"])
def test_digits(device: str) -> None:
    program, x = digits(20), rand(9, 20, 64)
    trace = run(program, x, device)
    want = reference(x, compile_accel(program, *find_device(device)).rounded.weights)
    for name, value in want.items():
        assert trace.tensors[name].dtype == np.float16
        # One rounding to FP16 apart, and float32 steps: a few ULP of the largest magnitude.
        assert np.abs(trace.tensors[name] - value).max() <= 2**-9 * np.abs(value).max()
    assert trace.outputs["logits"].dtype == np.float32
    assert np.array_equal(trace.outputs["classes"], np.argmax(trace.outputs["logits"], axis=1))
    assert trace.outputs["classes"].dtype == np.int64
    assert trace.complete
    assert trace.counters["macs"] == 20 * (64 * 128 + 128 * 128 + 128 * 10)
    assert trace.counters["host_share"] == 0
    assert [c.seq for c in trace.commits] == [0, 1, 2]
    assert trace.commits[2].result == trace.outputs["classes"][-1]
    assert "a1" not in trace.tensors


def test_both_devices_agree_on_the_bits() -> None:
    """The array's width does not enter the arithmetic: the weights' groups do."""
    program, x = digits(7), rand(3, 7, 64)
    small, large = run(program, x), run(program, x, "hbm0923")
    for name in small.tensors:
        assert small.tensors[name].tobytes() == large.tensors[name].tobytes()


def test_digest_is_that_of_the_bytes_written() -> None:
    program, x = digits(5), rand(1, 5, 64)
    compiled = compile_accel(program, SET, SMALL)
    trace = run(program, x)
    logits, classes = compiled.plan.buffers["logits"], compiled.plan.buffers["classes"]
    features = SET.layout.pack(trace.tensors["logits"])
    indices = SET.layout.pack(trace.tensors["classes"])
    expected = digest(DDR, logits.offset, features) + digest(DDR, classes.offset, indices)
    assert trace.commits[-1].digest == expected % 2**64
    assert trace.commits[-1].bytes_written == features.size + indices.size == 5 * 64 + 20


def test_same_run_same_digests_other_input_others() -> None:
    program = digits(4)
    a, b, c = (run(program, rand(s, 4, 64)).commits for s in (1, 1, 2))
    assert a == b
    assert all(i.digest != j.digest for i, j in zip(a, c, strict=True))


def test_tiled_equals_untiled() -> None:
    """250 tokens of 640 inputs take three instructions on the small device and one on the large."""
    program, x = one_matmul(250, 640, 20), rand(5, 250, 640)
    small, large = run(program, x), run(program, x, "hbm0923")
    assert len(small.commits) == 3
    assert len(large.commits) == 1
    assert small.outputs["y"].tobytes() == large.outputs["y"].tobytes()
    single = [run(one_matmul(1, 640, 20), x[t : t + 1]).outputs["y"][0] for t in (0, 101, 102, 249)]
    assert np.array_equal(small.outputs["y"][[0, 101, 102, 249]], single)


def test_tiled_argmax_and_residual() -> None:
    weights = {"w": rand(0, 640, 640, scale=0.05), "b": rand(1, 640)}
    g = Graph({"x": (130, 640)}, weights)
    g.binary(d.MatmulOp, "m", "x", "w", (130, 640))
    g.binary(d.AddOp, "a", "m", "b", (130, 640))
    g.binary(d.AddOp, "r", "a", "x", (130, 640))
    g.argmax("y", "r", (130,))
    program, x = g.done("r", "y"), rand(2, 130, 640)
    small, large = run(program, x), run(program, x, "hbm0923")
    assert [c.token_range for c in small.commits] == [(0, 96), (96, 130)]
    assert small.outputs["r"].tobytes() == large.outputs["r"].tobytes()
    assert np.array_equal(small.outputs["y"], np.argmax(small.outputs["r"], axis=1))
    assert np.array_equal(small.outputs["y"], large.outputs["y"])


def test_local_results_on_the_goldens_own_inputs() -> None:
    program, x = digits(6), rand(4, 6, 64)
    compiled = compile_accel(program, SET, SMALL)
    golden = reference(x, compiled.rounded.weights)
    golden["h1"] = golden["h1"] + 1.0  # an upstream error must not show in the local one
    local = run_groups_locally(compiled, golden, {"x": x})
    w = compiled.rounded.weights
    h1 = golden["h1"].astype(np.float16).astype(np.float64)
    h2 = np.maximum(h1 @ w["w2"] + w["b2"] + h1, 0)
    assert np.abs(local["h2"] - h2).max() <= 2**-10 * np.abs(h2).max()
    assert set(local) == {"h1", "h2", "logits", "classes"}
    assert not np.array_equal(local["h2"], run(program, x).tensors["h2"])


def test_a_vector_input() -> None:
    g = Graph({"x": (64,)}, {"w": rand(0, 64, 10)})
    g.binary(d.MatmulOp, "m", "x", "w", (10,))
    g.argmax("y", "m", ())
    trace = run(g.done("m", "y"), rand(1, 64))
    assert trace.outputs["m"].shape == (10,)
    assert trace.outputs["y"].shape == ()
    assert int(trace.outputs["y"]) == int(np.argmax(trace.outputs["m"])) == trace.commits[0].result


def test_inputs_beyond_fp16_are_counted() -> None:
    x = rand(0, 2, 64)
    x[0, 0] = 1e6
    assert run(one_matmul(2, 64, 8), x).meta["inputs_saturated"] == 1


def test_workdir_holds_the_images_and_old_ones_do_not_show(tmp_path: Path) -> None:
    work = tmp_path / "a folder"
    program, x = digits(3), rand(1, 3, 64)
    first = run(program, x, workdir=work)
    (work / "memory" / "ddr.bin").write_bytes(b"\xff" * SMALL.memory["ddr"])
    assert run(program, x, workdir=work).commits == first.commits
    assert (work / "memory" / "hbm_7.bin").stat().st_size == SMALL.memory["hbm"]


def test_progress_ends_at_one() -> None:
    seen: list[float] = []
    run(digits(3), rand(1, 3, 64), progress=lambda fraction, _words: seen.append(fraction))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_another_description_is_refused() -> None:
    compiled = replace(compile_accel(digits(3), SET, SMALL), description_hash="0" * 64)
    with pytest.raises(DeviceError, match=r"compiled for description 0{16}, the installed one is [0-9a-f]{16}"):
        run_compiled(compiled, {"x": rand(1, 3, 64)}, RunOptions(), IssBackend())


def test_no_device_and_an_unknown_one() -> None:
    with pytest.raises(DeviceError, match="no device given"):
        ENGINE.run(digits(), {"x": rand(0, 5, 64)}, RunOptions())
    with pytest.raises(DeviceError, match="known devices"):
        ENGINE.run(digits(), {"x": rand(0, 5, 64)}, RunOptions(device="nothing"))


def one_call(tmp_path: Path) -> tuple[MappedMemory, Call]:
    compiled = compile_accel(one_matmul(2, 64, 8), SET, SMALL)
    return MappedMemory(SMALL, tmp_path), next(compiled.calls)


def test_an_illegal_instruction_is_named(tmp_path: Path) -> None:
    memory, call = one_call(tmp_path)
    bad = replace(call, fields={**call.fields, "mvm_win": 0})
    with pytest.raises(DeviceError, match=r"instruction 7 \(mvm, y\): illegal: mvm_win: 0, expected 1 to 512"):
        list(execute_calls(SET, SMALL, memory, [bad], 7))
    with pytest.raises(DeviceError, match="no such instruction"):
        list(execute_calls(SET, SMALL, memory, [replace(call, instruction="nop")], 0))


def test_a_write_outside_its_destination_is_named(tmp_path: Path) -> None:
    memory, call = one_call(tmp_path)
    real = SET.instructions["mvm"]

    class Stray(real):
        @classmethod
        def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
            (write,) = super().execute(device, fields, memory)
            return [replace(write, data=np.append(write.data, np.uint8(0)))]

    end = call.fields["mvm_out_addr"] + 128
    with pytest.raises(ComparisonFailure, match=rf"instruction 0 \(mvm, y\): writes bytes \[.*, {end + 1:#x}\) of ddr outside"):
        list(execute_calls(replace(SET, instructions={"mvm": Stray}), SMALL, memory, [call], 0))


SOURCE = """
import numpy as np

def forward(x: "float32[4, 64]", w: "float32[64, 40]", b: "float32[40]"):
    h = np.maximum(x @ w + b, 0)
    s = np.exp(h * -0.5)
    t = s @ s.T
    return h, t, np.argmax(h, axis=0)
"""


def test_host_operations_between_and_behind_the_device(tmp_path: Path) -> None:
    """What the device lacks runs on the host with the VM's operators, and the counters say what share that is."""
    (tmp_path / "m.py").write_text(SOURCE)
    weights, x = {"w": rand(0, 64, 40), "b": rand(1, 40)}, rand(2, 4, 64)
    program = load(f"{tmp_path / 'm.py'}:forward", weights, {"x": x})
    trace = run(program, x)
    h, t, first = (trace.outputs[name] for name in program.outputs)
    w = compile_accel(program, SET, SMALL).rounded.weights
    want = np.maximum(x.astype(np.float16).astype(np.float64) @ w["w"] + w["b"], 0)
    assert np.abs(h - want).max() <= 2**-10 * np.abs(want).max()
    s = np.exp(h * np.float32(-0.5))
    assert t.dtype == np.float32
    assert np.allclose(t, s @ s.T, rtol=1e-6)
    assert np.array_equal(first, np.argmax(h, axis=0))
    assert trace.counters["host_macs"] == 4 * 4 * 40
    assert trace.counters["host_share"] == 4 * 4 * 40 / (4 * 4 * 40 + 4 * 64 * 40)
    assert "host" in trace.placement.values()
    assert len(trace.meta["host_steps"]) == trace.counters["host_ops"]


def test_device_after_host(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "import numpy as np\n\n"
        'def forward(x: "float32[4, 64]", w: "float32[64, 40]"):\n'
        "    return np.exp(x) @ w\n"
    )  # fmt: skip
    x = rand(2, 4, 64)
    program = load(f"{tmp_path / 'm.py'}:forward", {"w": rand(0, 64, 40)}, {"x": x})
    (y,) = run(program, x).outputs.values()
    w = compile_accel(program, SET, SMALL).rounded.weights["w"]
    want = np.exp(x).astype(np.float16).astype(np.float64) @ w
    assert np.abs(y - want).max() <= 2**-10 * np.abs(want).max()
