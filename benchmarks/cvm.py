"""The C VM: start-up, what a step costs beside kernels and memory, memory and time of models beside the NumPy VM and llvm-cpu.

    python benchmarks/cvm.py [--model MODEL [--weights W.npz] [--input I.npz]] [--rounds 7]

A step is measured on loops of numbers: `k = k + 1` calls two kernels a round; the same loop with views calls a view besides. The
smallest of the rounds counts; both sides of a ratio are measured in one run, in turn. Steps are in processor time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fleet.cosim.models.loaded import load_model
from fleet.targets.bytecode import ByteCodeConverter, ByteCodeModule
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.opcodes import OpCode as Op
from fleet.targets.cvm.build import build_kernels, build_vm, host_toolchain
from fleet.targets.cvm.compile import TARGET, compile_vm
from fleet.targets.riscv.prepare import prepared
from fleet.transforms.pipeline import run_pipeline

ROUNDS = 1_000_000
COUNT = """
def forward(n: "int64[]"):
    k = 0
    while k < n:
        k = k + 1
    return k
"""
_PEAK = """
import resource, subprocess
subprocess.run({line!r}, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
_NUMPY_VM = """
import sys, tracemalloc
import numpy as np
from fleet.targets.bytecode import VM, ByteCodeModule
module = ByteCodeModule.load(sys.argv[1])
inputs = {a.partition("=")[0]: np.load(a.partition("=")[2]) for a in sys.argv[3:]}
vm = VM(module)
if sys.argv[2] == "values":
    tracemalloc.start()
vm.run(inputs)
print(tracemalloc.get_traced_memory()[1])
"""
VIEW = "device_transpose_sig_r_r_ins_3x4xf32_outs_4x3xf32_permutation_1_0"
BACK = "device_transpose_sig_r_r_ins_4x3xf32_outs_3x4xf32_permutation_1_0"


def ran(line: list[str], stats: Path) -> dict[str, float]:
    """What the run says of itself, and "processor": seconds of user and system time of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*line, "--stats", str(stats), "--max-steps", str(10**12)], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(stats.read_text()) | {"processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def best(rounds: int, measured: Callable[[], float]) -> float:
    return min(measured() for _ in range(rounds))


def steps(folder: Path, vm: str, rounds: int) -> None:
    """Loads, stores, jumps and views without kernels; a loop of kernels on numbers."""
    source = folder / "count.py"
    source.write_text(COUNT)
    np.save(folder / "n.npy", np.array(ROUNDS))
    np.savez(folder / "n.npz", n=np.array(ROUNDS))
    compiled = compile_vm(prepared(load_model(f"{source}:forward", None, folder / "n.npz", 0, None).program, "riscv"))
    kernels = str(build_kernels(compiled, host_toolchain()))
    compiled.module.save(folder / "count.fbc")
    line = [vm, str(folder / "count.fbc"), kernels, f"n={folder / 'n.npy'}", "-o", str(folder / "out")]
    found = min((ran(line, folder / "stats") for _ in range(rounds)), key=lambda s: s["processor"])
    print("| loop | steps a round | ns a round | ns a step |\n|---|---|---|---|")
    told("k = k + 1: two kernels on numbers and their results", found["steps"] / ROUNDS, found["processor"] / ROUNDS)
    np.save(folder / "n.npy", np.array(1))
    start_up = min(ran(line, folder / "stats")["processor"] for _ in range(3 * rounds))

    weights = {"x": np.zeros((3, 4), np.float32)}
    slots = (ArgumentSlot("x", "weight", (3, 4), "float32"),), (OutputSlot("y", 1, "3x4xf32"),)
    blocks = {
        "loads and stores": [Op.aload_0, Op.astore_1] * 16,
        "views": [Op.aload_0, *[Op.invokestatic, 0, Op.invokestatic, 1] * 16],
    }
    for name, code in blocks.items():  # without an end: the VM stops it, and a run of few steps is taken off
        whole = [*code, *([Op.astore_1] if name == "views" else []), Op.goto, 0]
        ByteCodeModule([VIEW, BACK], whole, TARGET, 2, (), *slots, weights).save(folder / "steps.fbc")
        line = [vm, str(folder / "steps.fbc"), kernels, "-o", str(folder / "out"), "--max-steps"]

        def took(count: int, line: list[str] = line) -> float:
            start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([*line, str(count)], capture_output=True, check=False)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start

        seconds = best(rounds, lambda took=took: took(20 * ROUNDS)) - best(rounds, lambda took=took: took(10))
        told(name, 1, seconds / (20 * ROUNDS))
    print(f"\na whole process with one round, processor time: {start_up * 1e3:.2f} ms")


def told(name: str, count: float, seconds: float) -> None:
    print(f"| {name} | {count:.0f} | {seconds * 1e9:,.0f} | {seconds * 1e9 / count:.1f} |")


def model(options: argparse.Namespace, folder: Path, vm: str) -> None:
    from fleet.engines.base import RunOptions
    from fleet.engines.llvm_cpu import ENGINE as LLVM
    from fleet.engines.vm import ENGINE as VM

    loaded = load_model(options.model, options.weights, options.input, 0, None)
    compiled = compile_vm(prepared(loaded.program, "riscv"))
    kernels = str(build_kernels(compiled, host_toolchain()))
    compiled.module.save(folder / "model.fbc")
    line = [vm, str(folder / "model.fbc"), kernels, "-o", str(folder / "out")]
    for name, array in loaded.inputs.items():
        np.save(folder / f"in_{name}.npy", array)
        line.append(f"{name}={folder / f'in_{name}.npy'}")

    keep = RunOptions(keep_tensors=False)
    times: dict[str, list[float]] = {"vm": [], "llvm-cpu": [], "cvm": [], "load": [], "process": []}
    for _ in range(options.rounds):
        times["vm"].append(VM.run(loaded.program, loaded.inputs, keep).elapsed_s)
        times["llvm-cpu"].append(LLVM.run(loaded.program, loaded.inputs, keep).elapsed_s)
        found = ran(line, folder / "stats")
        times["process"].append(found["processor"])
        times["cvm"].append(found["seconds"])
        times["load"].append(found["load_seconds"])
    shortest = {name: min(values) * 1e3 for name, values in times.items()}
    print("\n| model | vm, ms | llvm-cpu, ms | cvm, ms | cvm loads, ms | its process, processor ms |\n|---|---|---|---|---|---|")
    print(f"| {options.model} | " + " | ".join(f"{shortest[n]:.2f}" for n in ("vm", "llvm-cpu", "cvm", "load", "process")) + " |")
    ByteCodeConverter(run_pipeline(loaded.program, "vm")).convert().save(folder / "numpy.fbc")
    numpy_vm = [sys.executable, "-c", _NUMPY_VM, str(folder / "numpy.fbc")]
    given = [f"{name}={folder / f'in_{name}.npy'}" for name in loaded.inputs]
    values = subprocess.run([*numpy_vm, "values", *given], capture_output=True, text=True, check=True).stdout
    print("\n| peak memory, MiB | cvm | the NumPy VM |\n|---|---|---|")
    print(f"| of the process | {peak_of(line):.1f} | {peak_of([*numpy_vm, 'process', *given]):.1f} |")
    print(f"| of values in it | {found['peak_bytes'] / (1 << 20):.2f} | {int(values.split()[-1]) / (1 << 20):.2f} |")


def peak_of(line: list[str]) -> float:
    """Return the peak memory of a process in MiB."""
    done = subprocess.run([sys.executable, "-c", _PEAK.format(line=line)], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="examples/digits/model.py:forward")
    parser.add_argument("--weights", type=Path, default=Path("examples/digits/weights.npz"))
    parser.add_argument("--input", type=Path, default=Path("examples/digits/test.npz"))
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    vm = str(build_vm(host_toolchain()))
    with tempfile.TemporaryDirectory() as home:
        steps(Path(home), vm, options.rounds)
        model(options, Path(home), vm)


if __name__ == "__main__":
    main()
