"""The C++ host program of a model: built with g++ and run on the functional model, its outputs are those of engine `iss`."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fleet.compiler import Compiled
from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.iss import ENGINE
from fleet.errors import DeviceError
from fleet.ir.lowering_options import LoweringOptions
from fleet.isa.registry import find_device
from fleet.isa.resolved import resolved
from fleet.sdk import Device, Layout, StateRegister
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.driver import host_source
from fleet.targets.accel.stream import DeviceSegment
from fleet.targets.driver import include_dir
from fleet.targets.riscv.faults import RuntimeFault

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "engines"))
from model_programs import model_program

ODD = """
import numpy as np

def forward(x: "float32[5, 33]", flag: "bool[5, 40]", half: "float64[40]", counts: "int32[5]",
            w: "float32[33, 40]", int: "float32[40, 7]"):
    y = np.maximum(x @ w, 0)
    z = np.where(flag, y, half)
    print(np.sum(z))
    q = z @ int
    return x, z.T, q, np.sum(q), np.argsort(q, axis=1), w[:2], np.take(counts, counts % 5), 3.5, q
"""
"""Host operations between segments of the device; an input, a weight and a number among the results; one result twice."""
PRODUCT = """
import numpy as np

def forward(x: "int8[3, 20]", w: "int8[20, 18]", b: "int32[18]"):
    h = np.clip((x.astype(np.int32) @ w.astype(np.int32) + b) >> 4, -128, 127).astype(np.int8)
    return h, np.max(h, axis=1)
"""


def loaded(folder: Path, source: str) -> Compiled:
    (folder / "m.py").write_text(source)
    model = load_model(f"{folder / 'm.py'}:forward", None, None, 1, None)
    return Compiled("m.py:forward", model.program, model.inputs)


@pytest.mark.parametrize(
    ("source", "device", "lowering"), [(ODD, "hbm_small", {"load": "device"}), (PRODUCT, "vgemm_small", {"issue": "aux"})]
)
def test_a_program_leaves_what_the_engine_leaves(tmp_path: Path, source: str, device: str, lowering: Mapping[str, Any]) -> None:
    compiled = loaded(tmp_path, source)
    program = model_program(compiled, device, tmp_path, lowering)
    assert program.missing == {}
    done, found = program.run()
    assert done.exit_code == 0
    trace = ENGINE.run(compiled.program, compiled.inputs, RunOptions(device=device, lowering=LoweringOptions.of(lowering)))
    assert len(done.summary.commits) == len(trace.commits) > 0
    assert found.keys() == trace.outputs.keys()
    for name, expected in trace.outputs.items():
        assert found[name].dtype == expected.dtype
        assert found[name].shape == expected.shape
        assert found[name].tobytes() == np.asarray(expected).tobytes(), name


def test_a_fault_of_the_data_ends_the_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    compiled = loaded(
        tmp_path,
        'import numpy as np\n\ndef forward(x: "float32[4, 32]", w: "float32[32, 32]", i: "int64[4]"):\n'
        "    return np.take(x @ w, i, axis=0)\n",
    )
    inputs = {**compiled.inputs, "i": np.array([0, 1, 7, 2])}
    done, found = model_program(replace(compiled, inputs=inputs), "hbm_small", tmp_path).run()
    assert (done.exit_code, found) == (2, {})
    assert "model_host_2 (gather.0): an index out of bounds" in capfd.readouterr().err


def test_what_no_kernel_is_made_for_is_the_users_to_define(tmp_path: Path) -> None:
    compiled = loaded(
        tmp_path,
        'import numpy as np\n\ndef forward(x: "float32[2, 32]", w: "float32[32, 32]"):\n'
        "    return np.linalg.inv(np.maximum(x @ w, 0)[:, :2])\n",
    )
    own = tmp_path / "own.cpp"
    own.write_text(
        "#include <cstdint>\n"
        'extern "C" int64_t model_host_2(const float*, float* inverse) {\n'
        "  for (int i = 0; i < 4; ++i) inverse[i] = static_cast<float>(i);\n  return 0;\n}\n"
    )
    program = model_program(compiled, "hbm_small", tmp_path, sources=(own,))
    assert list(program.missing) == ["model_host_2"]
    assert "numpy.linalg.inv" in program.missing["model_host_2"]
    done, found = program.run()
    assert done.exit_code == 0
    assert np.array_equal(found["out0"].reshape(-1), np.arange(4))


def test_halves_on_the_host_are_numpys(tmp_path: Path) -> None:
    compiled = loaded(
        tmp_path,
        'import numpy as np\n\ndef forward(x: "float32[2, 32]", w: "float32[32, 32]"):\n'
        "    h = np.maximum(x @ w, 0).astype(np.float16)\n"
        "    return h, (h * np.float16(1.1) + np.float16(0.3)).astype(np.float32)\n",
    )
    program = model_program(compiled, "hbm_small", tmp_path)
    assert not program.missing
    done, found = program.run()
    assert done.exit_code == 0
    half, computed = (found[name] for name in found)
    assert half.dtype == np.float16
    assert np.array_equal(computed, (half * np.float16(1.1) + np.float16(0.3)).astype(np.float32))


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("short.npy", "must be <f4 (5,33), row-major"),
        ("model.h", "is not an .npy file"),
        ("nothing", "is not an .npy file"),
    ],
)
def test_inputs_of_another_form_are_refused(tmp_path: Path, file: str, words: str, built: Path) -> None:
    np.save(built / "short.npy", np.zeros((5, 32), np.float32))
    command = [built / "program", built / "model.params", built / file, tmp_path]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert words in ran.stderr
    few = subprocess.run([built / "program"], capture_output=True, text=True, check=False)
    assert few.returncode == 2
    assert few.stderr.endswith("program PARAMS x.npy OUTPUTS\n")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    model_program(loaded(folder, ODD), "hbm_small", folder)
    return folder


def test_the_same_model_gives_the_same_text(tmp_path: Path) -> None:
    compiled = loaded(tmp_path, ODD)
    texts = [compiled.text("hpp", device="hbm_small") for _ in range(2)]
    assert texts[0] == texts[1]
    assert re.match(r"// generated by fleet, content [0-9a-f]{32}, device hbm_small\n\n#pragma once\n", texts[0])


def test_a_layout_that_says_no_places_is_refused(tmp_path: Path) -> None:
    instruction_set, device = find_device("hbm_small")
    compiled = compile_accel(loaded(tmp_path, ODD).program, instruction_set, device)
    with pytest.raises(DeviceError, match="Layout does not say where the elements of a tensor stand"):
        host_source(replace(compiled, instruction_set=replace(instruction_set, layout=Layout())))


def test_what_only_a_reset_makes_right_is_refused(tmp_path: Path) -> None:
    """The one instruction leaves a register that a second run would find."""
    instruction_set, device = find_device("hbm_small")
    source = 'def forward(x: "float32[5, 32]", w: "float32[32, 32]"):\n    return x @ w\n'
    compiled = compile_accel(loaded(tmp_path, source).program, instruction_set, device)
    (last,) = {call.instruction for call in compiled.calls}

    class Sticky(instruction_set.instructions[last]):
        uses = ("mode",)

        @classmethod
        def configures(cls, device: Device, fields: Mapping[str, int]) -> Mapping[str, int]:
            return {"mode": 1}

    instruction_set = replace(instruction_set, instructions={**instruction_set.instructions, last: Sticky})
    device = replace(device, state=replace(device.state, registers=(StateRegister("mode"),)))
    steps = [
        replace(s, groups=tuple(replace(g, calls=resolved(instruction_set, device, g.calls)) for g in s.groups))
        if isinstance(s, DeviceSegment)
        else s
        for s in compiled.steps
    ]
    assert host_source(compiled)
    with pytest.raises(DeviceError, match=f"{last} needs registers as reset leaves them"):
        host_source(replace(compiled, instruction_set=instruction_set, device=device, steps=tuple(steps)))


def test_ports_that_are_one_name_in_cpp_are_numbered(tmp_path: Path) -> None:
    made = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5, 32]) for name in ("a.b", "a_b", "o.1", "o_1")]
    nodes = [helper.make_node("Add", ["a.b", "a_b"], ["o.1"]), helper.make_node("Relu", ["a_b"], ["o_1"])]
    model = helper.make_model(helper.make_graph(nodes, "g", made[:2], made[2:]), opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, tmp_path / "m.onnx")
    text = load_model(str(tmp_path / "m.onnx"), None, None, 1, None)
    text = Compiled("m.onnx", text.program, text.inputs).text("hpp", device="hbm_small")
    assert sorted(re.findall(r'"(\w+)"', text[text.index("input_ports") :])) == ["a_b", "a_b_1", "o_1", "o_1_1"]


SINGLES = [("single", "<u4"), ("widened", "<u4"), ("narrowed", "<u2"), ("loaded", "<f8")]
CONVERSIONS = """
#include "fleet_host.h"
#include "fleet_tensors.h"

int main() {
  double value = 0;
  while (std::fread(&value, sizeof value, 1, stdin) == 1) {
    const uint16_t half = fleet_tensors::to_half(value).bits;
    const double back = fleet_tensors::from_half({half});
    const int32_t fixed = fleet_tensors::stored<int32_t>(value, 16);
    const float single = fleet_tensors::stored<float>(value, -1);
    const float widened = fleet_tensors::stored<float>(half, -1);
    const uint16_t narrowed = fleet_tensors::loaded<uint16_t>(single, -1);
    const double loaded = fleet_tensors::loaded<double>(single, -1);
    std::fwrite(&half, sizeof half, 1, stdout);
    std::fwrite(&back, sizeof back, 1, stdout);
    std::fwrite(&fixed, sizeof fixed, 1, stdout);
    std::fwrite(&single, sizeof single, 1, stdout);
    std::fwrite(&widened, sizeof widened, 1, stdout);
    std::fwrite(&narrowed, sizeof narrowed, 1, stdout);
    std::fwrite(&loaded, sizeof loaded, 1, stdout);
  }
}
"""


def _one_nan(values: np.ndarray) -> np.ndarray:
    """float32 as a device stores it: one NaN."""
    return np.where(np.isnan(values), np.array(0x7FC00000, np.uint32).view(np.float32), values)


def test_numbers_become_what_numpy_makes_of_them(tmp_path: Path) -> None:
    """Every FP16, everything half-way between two, their neighbours, and numbers around the ends of fixed point."""
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float64)
    finite = np.sort(every[np.isfinite(every)])
    middles = (finite[1:] + finite[:-1]) / 2
    ends = np.array([2.0**15, -(2.0**15), 2.0**15 - 2.0**-17, 65519.9999, 65520.0, 1e300, 5e-324, np.inf, -np.inf, np.nan, -0.0])
    values = np.concatenate([every, middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf), ends])
    source = tmp_path / "numbers.cpp"
    source.write_text(CONVERSIONS)
    subprocess.run(["g++", "-std=c++17", f"-I{include_dir()}", source, "-o", tmp_path / "numbers"], check=True)
    done = subprocess.run([tmp_path / "numbers"], input=values.tobytes(), capture_output=True, check=True)
    found = np.frombuffer(done.stdout, np.dtype([("half", "<u2"), ("back", "<f8"), ("fixed", "<i4"), *SINGLES]))
    layout = find_device("hbm_small")[0].layout
    halves = layout.pack(values.reshape(-1, 1)).view(np.uint16).reshape(-1, 32)[:, 0]
    assert np.array_equal(found["half"], halves)
    assert np.array_equal(found["back"], halves.view(np.float16).astype(np.float64), equal_nan=True)
    vgemm = find_device("vgemm_small")[0].layout
    with np.errstate(over="ignore", invalid="ignore"):
        singles = _one_nan(values.astype(np.float32))
    assert np.array_equal(found["single"], singles.view(np.uint32))
    assert np.array_equal(found["widened"], _one_nan(halves.view(np.float16).astype(np.float32)).view(np.uint32))
    assert np.array_equal(found["narrowed"], layout.pack(singles.reshape(-1, 1)).view(np.uint16).reshape(-1, 32)[:, 0])
    assert np.array_equal(found["loaded"], singles.astype(np.float64), equal_nan=True)
    assert np.array_equal(found["fixed"], vgemm.pack(values.reshape(-1, 1)).view(np.int32).reshape(-1, 16)[:, 0])


FAULTS = """
#include "fleet_host.h"
#include "fleet_tensors.h"

int main(int, char** words) { fleet_tensors::check(std::atoi(words[1]), "k0", "sin"); }
"""


def test_every_fault_of_a_kernel_has_its_words(tmp_path: Path) -> None:
    source = tmp_path / "faults.cpp"
    source.write_text(FAULTS)
    subprocess.run(["g++", "-std=c++17", f"-I{include_dir()}", source, "-o", tmp_path / "faults"], check=True)
    ran = [subprocess.run([tmp_path / "faults", str(int(f))], capture_output=True, text=True, check=False) for f in RuntimeFault]
    assert [r.returncode != 0 for r in ran] == [f is not RuntimeFault.NONE for f in RuntimeFault]
    said = [r.stderr for r in ran if r.returncode]
    assert len(set(said)) == len(RuntimeFault) - 1
    assert not any(re.search(r": fault \d", line) for line in said)
