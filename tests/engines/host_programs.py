"""C++ host programs in the form of a generated header, written here from register values, and what they must leave in memory."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fleet.engines.execute import execute_calls
from fleet.engines.trace import Commit
from fleet.isa.codec import register_writes
from fleet.isa.codec_binary import encode_binary
from fleet.isa.description import parameter_values
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.sdk import Call, Write
from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.mvm_operands import MvmFields
from fleet.sets.hbm0923.weights import pack_weights
from fleet.streams.case import StreamCase
from fleet.targets.driver import include_dir

DDR_BASE = 0x2_0000_0000
GROUP = 128
"""Inputs that share a scale."""


@dataclass(frozen=True)
class Model:
    """Calls and memory blocks, as one generated header has them.

    binary: DDR offset of its binary: the aux unit runs it; None: every call by its registers.
    """

    name: str
    calls: tuple[Call, ...]
    blocks: tuple[Write, ...]
    binary: int | None = None


def model_of(case: StreamCase, name: str, binary: int | None = None) -> Model:
    return Model(name, case.calls, case.blocks, binary)


def polled(device: str, call: Call) -> list[str]:
    """Register writes of one call, and the loop that waits for it."""
    d = load(find_device(device)[0].description)
    lines = [f"  CSB_Write(device, {address // 4}, {value}u);" for address, value in register_writes(d, call)]
    status = d.units[d.instructions[call.instruction].unit].status
    assert status is not None
    return [*lines, f"  while (CSB_Read(device, {status.number}) != 1) {{}}"]


def _aux(device: str, address: int, tasks: int) -> list[str]:
    d = load(find_device(device)[0].description)
    fetch = d.fetch
    assert fetch is not None
    assert fetch.unit.status is not None
    values = (
        (fetch.address, address),
        (fetch.beats, 65 * -(-tasks // 32)),
        (fetch.tasks, tasks),
        (fetch.unit.start, fetch.word.start),
    )
    lines = [f"  CSB_Write(device, {register.number}, {value}u);" for register, value in values]
    return [*lines, f"  while (CSB_Read(device, {fetch.unit.status.number}) != 1) {{}}"]


def header(device: str, model: Model, folder: Path, *, namespace: bool = False) -> str:
    """The model's header; its constants are written to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"namespace {model.name}_space {{"] if namespace else []
    load_lines: list[str] = []
    for n, block in enumerate(model.blocks):
        file = f"const{n}_{block.bank:02}.bin"
        (folder / file).write_bytes(block.data.tobytes())
        function, base = ("DDR", DDR_BASE) if block.space == "ddr" else ("HBM", block.bank << 28)
        lines.append(f"uint64_t storage{n} = {block.offset:#011x};")
        path = f'(std::string(prefix) + "/{file}").c_str()'
        load_lines.append(f"  {function}_Write_bin(h2cx, {path}, (storage{n} + {base}), {block.data.size});")
    body = [line for call in model.calls for line in polled(device, call)]
    if model.binary is not None:
        data = encode_binary(find_device(device)[0], model.calls)
        (folder / "inst.bin").write_bytes(data)
        path = '(std::string(prefix) + "/inst.bin").c_str()'
        load_lines.append(f"  DDR_Write_bin(h2cx, {path}, {model.binary + DDR_BASE}, {len(data)});")
        body = _aux(device, model.binary, len(model.calls))
    lines += [f"void {model.name}_load_params(HANDLE& device, HANDLE& h2cx, char* prefix) {{", "  (void)device;", *load_lines, "}"]
    lines += [f"void {model.name}(HANDLE& device) {{", *body, "}"]
    return "\n".join([*lines, *(["}"] if namespace else [])]) + "\n"


def compiled(source: str, folder: Path, *options: str) -> Path:
    """The program, compiled with every warning an error."""
    compiler = shutil.which("g++")
    assert compiler is not None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.cpp").write_text(source)
    warnings = ["-Wall", "-Wextra", "-Werror"]
    files = [str(folder / "main.cpp"), "-o", str(folder / "program")]
    line = [compiler, "-std=c++17", *warnings, *options, f"-I{include_dir()}", *files]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "program"


def main_of(models: Sequence[str], *, spaces: bool = False, after: str = "") -> str:
    """A main that loads all models, then runs them in order; argument 1 + n is the folder of model n."""
    names = [f"{m}_space::{m}" if spaces else m for m in models]
    loads = [f"  {name}_load_params(device, h2cx, argv[{n}]);" for n, name in enumerate(names, 1)]
    runs = [f"  {name}(device);" for name in names]
    begin = [
        "int main(int argc, char** argv) {",
        "  (void)argc;",
        "  (void)argv;",
        "  HANDLE device = open_device();",
        "  HANDLE h2cx = open_h2cx();",
    ]
    return "\n".join([*begin, *loads, *runs, after, "  return 0;", "}"]) + "\n"


def interrupt_main(model: str, writes: str, after: str) -> str:
    """A program that writes registers itself and waits for the interrupt's cause; after: statements behind it, all in C++."""
    return f"""
int main(int, char** argv) {{
  HANDLE device = open_device();
  HANDLE h2cx = open_h2cx();
  {model}_load_params(device, h2cx, argv[1]);
  std::printf("%u %u\\n", CSB_Read(device, 1), CSB_Read(device, 228));
  CSB_Write(device, 227, 1);
{writes}
  while ((CSB_Read(device, 228) & 1) == 0) {{}}
  CSB_Write(device, 228, 1);{after}
}}
"""


def reference(
    device: str, models: Sequence[Model], folder: Path, parameters: Mapping[int, int] | None = None
) -> tuple[list[Commit], MappedMemory]:
    """What the functional model makes of the models: commits and memory. parameters: byte address -> value."""
    instruction_set, chip = find_device(device)
    memory = MappedMemory(chip, folder)
    memory.set_registers(parameter_values(load(instruction_set.description)) | dict(parameters or {}))
    for model in models:
        for block in model.blocks:
            memory.view(block.space, block.offset, block.data.size, block.bank)[:] = block.data
    commits: list[Commit] = []
    for model in models:
        commits += execute_calls(instruction_set, chip, memory, model.calls, len(commits))
    return commits, memory


def destinations(device: str, models: Sequence[Model]) -> list[tuple[str, int, int, int]]:
    """(space, bank, offset, size) of every range in DDR or HBM that the models write."""
    instruction_set, chip = find_device(device)
    found: list[tuple[str, int, int, int]] = []
    for model in models:
        for call in model.calls:
            ranges = instruction_set.instructions[call.instruction].writes(chip, call.fields)
            found += [(r.space, r.bank, r.offset, r.size) for r in ranges if r.space in {"ddr", "hbm"}]
    return found


def small_mvm(device: str, name: str, *, chin: int, chout: int, ddr: int, hbm: int, seed: int) -> tuple[Model, int, np.ndarray]:
    """A matrix product of one token, its input at `ddr`, its weights at `hbm` of every bank.

    Returns:
        The model, the DDR offset of its output (FP16 [chout]), and what NumPy makes of the same numbers in binary64.
    """
    _, chip = find_device(device)
    rng = np.random.default_rng(seed)
    codes = rng.integers(-7, 8, (chin, chout), dtype=np.int8)
    scales = rng.uniform(0.001, 0.01, (-(-chin // GROUP), chout)).astype(np.float16)
    x = rng.standard_normal((1, chin)).astype(np.float16)
    output = ddr + 0x1_0000
    operands = MvmFields(chin, chout, 1, GROUP, ddr, hbm, output, 64, 64, 64, 64)
    blocks = [Write("ddr", ddr, FeatureLayout().pack(x))]
    blocks += [Write("hbm", hbm, data, bank) for bank, data in enumerate(pack_weights(chip, codes, scales, GROUP))]
    weights = codes * np.repeat(scales.astype(np.float64), GROUP, axis=0)[:chin]
    return Model(name, (Call("mvm", operands.encode(chip)),), tuple(blocks)), output, (x.astype(np.float64) @ weights)[0]
