"""Engines `cvm`, `cvm-riscv` and `cvm-aarch64`: bytecode in `fleet-vm`, a separate process, with kernels compiled ahead of time.

Passes and kernels are those of `riscv` and `llvm-cpu`, so results equal theirs in every bit. Everything around them
differs: bytecode, the C VM's own views and copies, its print. The others are the same, cross-compiled, under qemu-user.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from fleet.core.processes import run
from fleet.core.scratch import Scratch
from fleet.engines.base import RunOptions
from fleet.engines.trace import Trace
from fleet.errors import FleetError, ModelError, SetupError
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.operations.regions import all_operations
from fleet.ir.program import Program
from fleet.targets.cvm.build import CrossToolchain, aarch64_toolchain, build_kernels, build_vm, host_toolchain, riscv_toolchain
from fleet.targets.cvm.compile import VmProgram, compile_vm

_PREFIX = "fleet-vm: "


class CvmEngine:
    """An engine that runs programs in `fleet-vm` on this machine, or on another one under an emulator."""

    target = "c-vm"

    def __init__(self, name: str, tools: Callable[[], CrossToolchain]) -> None:
        """name: the engine's; tools: what builds and runs programs."""
        self.name = name
        self._tools = tools

    def available(self) -> str | None:
        """Return None if the compiler (and for another machine the emulator) is installed, else what to install."""
        return self._tools().missing

    def load(self, program: Program) -> LoadedVmProgram:
        """Return a program after the passes that it needs, with its kernels, ready to run. Raises SetupError, DeviceError."""
        tools = self._tools()
        if tools.missing is not None:
            raise SetupError(tools.missing, where=f"engine {self.name}")
        compiled = compile_vm(program)
        return LoadedVmProgram(compiled, [*tools.launcher, str(build_vm(tools))], build_kernels(compiled, tools))

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        """Compile the program and its kernels, or take them from the cache, and run them once.

        Raises SetupError without a compiler, DeviceError for operations without code, ModelError for bad data.
        """
        from fleet.ir.operations.composite import entering
        from fleet.targets.riscv.prepare import prepared

        changed = prepared(program, "riscv")
        with self.load(changed) as loaded:
            compiled, tools = loaded.compiled, self._tools()
            trace = loaded.run(inputs, keep=options.keep_tensors)
        trace.engine, trace.program_hash = self.name, program.hash
        known = {op_id(op) for op in program.operations()}
        trace.tensors = {id_: tensor for id_, tensor in trace.tensors.items() if id_ in known}
        trace.meta |= {
            "processor": tools.machine.cpu,
            "numpy": np.__version__,
            "fates": dict(changed.fates),
            "composites": entering(changed.operations(), program.operations()),
        }
        if options.progress is not None:
            options.progress(1.0, f"{len(compiled.module.invokes)} operations")
        trace.complete = True
        return trace


class LoadedVmProgram:
    """A compiled program with its file of bytecode, run any number of times, each in a process of its own. A context manager."""

    def __init__(self, compiled: VmProgram, line: list[str], kernels: Path) -> None:
        """line: what starts `fleet-vm`; kernels: the shared object."""
        self.compiled, self._line, self._kernels = compiled, line, kernels
        self._scratch = Scratch("cvm")
        self._module = self._scratch.path / "model.fbc"
        compiled.module.save(self._module)

    def __enter__(self) -> LoadedVmProgram:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the program's files."""
        self._scratch.close()

    def run(self, inputs: Mapping[str, np.ndarray], *, keep: bool) -> Trace:
        """Run once; the trace has what the process tells. Raises ModelError for bad data."""
        with Scratch("run", self._scratch.path) as folder:
            return _run(self.compiled, [*self._line, str(self._module), str(self._kernels)], inputs, folder, keep=keep)


def _run(compiled: VmProgram, begun: list[str], inputs: Mapping[str, np.ndarray], folder: Path, *, keep: bool) -> Trace:
    outputs, tensors, stats = folder / "outputs", folder / "tensors", folder / "stats.json"
    tensors.mkdir()
    line = [*begun, "-o", str(outputs), "--stats", str(stats)]
    line += ["--tensors", str(tensors)] if keep else []
    for n, argument in enumerate(a for a in compiled.program.arguments if a.kind == "input"):
        if argument.name not in inputs:
            raise ModelError(f'no input "{argument.name}"', hint=f"given are {', '.join(inputs) or 'none'}")
        np.save(folder / f"{n}.npy", np.asarray(inputs[argument.name], order="C"))
        line.append(f"{argument.name}={folder / f'{n}.npy'}")
    done = run(line)
    if done.returncode:
        raise _failure(compiled.program, done.returncode, str(done.stderr))
    found = json.loads(stats.read_text())
    trace = Trace("", "", elapsed_s=float(found["seconds"]))
    for n, name in enumerate(compiled.program.outputs):
        (path,) = outputs.glob(f"{n}-*.npy")
        trace.outputs[name] = np.load(path, allow_pickle=False)
    for n, id_ in enumerate(compiled.module.invokes):
        path = tensors / f"{n}.npy"
        if path.exists():
            trace.tensors[id_] = np.load(path, allow_pickle=False)
    trace.counters = {"operations": float(len(compiled.module.invokes))}
    trace.meta = {"stdout": str(done.stdout), "kernels": compiled.kernel_count, "peak_bytes": int(found["peak_bytes"])}
    return trace


def _failure(program: Program, code: int, said: str) -> FleetError:
    """Return the VM's error, with the place of the operation that it names."""
    if code != 2:
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return FleetError(f"fleet-vm ended with {how}: {said.strip()[-300:] or 'without a word'}")
    words = next((line for line in said.splitlines() if line.startswith(_PREFIX)), said.strip()).removeprefix(_PREFIX)
    operations = (op for op in all_operations(program.function.body.block) if isinstance(op, FleetOp))
    for op in operations:
        if words.startswith(f"operation {op_id(op)}: "):
            at = op.properties.get("at")
            return ModelError(words, where=getattr(at, "data", None), hint="check the input data")
    return ModelError(words)


ENGINE = CvmEngine("cvm", host_toolchain)
RISCV = CvmEngine("cvm-riscv", riscv_toolchain)
AARCH64 = CvmEngine("cvm-aarch64", aarch64_toolchain)
