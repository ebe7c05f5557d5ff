"""Compiled code that is cached and called repeatedly: what `fleet.jit` runs on a target."""

from __future__ import annotations

import sys
import threading
import time
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from fleet.errors import DeviceError, FleetError, ModelError, SetupError
from fleet.ir.dialect import PrintOp
from fleet.ir.schedule import USUAL_SCHEDULE, MatmulChoice, Schedule
from fleet.ir.weights import Weights

if TYPE_CHECKING:
    from fleet.compiler.tuning import TunedSchedule
    from fleet.engines.gpu.engine import KernelEngine
    from fleet.engines.trace import Trace
    from fleet.frontend.gpu_tensor import GpuTensor
    from fleet.ir.program import Program
    from fleet.targets.host.ready import ReadyHost
    from fleet.targets.riscv.compile import RiscvProgram

TARGETS: Mapping[str, str | None] = {
    "cpu": "cpu", "vm": "vm", "python": "vm", "llvm-cpu": "llvm-cpu", "riscv": "riscv", "aarch64": "aarch64", "interp": "interp",
    "cvm": "cvm", "cvm-riscv": "cvm-riscv", "cvm-aarch64": "cvm-aarch64",
    "gpu": "gpu", "opencl": "opencl", "cuda": "cuda", "llvm-gpu": None, "sycl": None,
}  # fmt: skip
"""Target of `@jit` -> what runs it; None if fleet launches no code for it."""


ACCELERATORS = ("iss", "rtl")
"""Engines of an accelerator: its functional model, and the simulation of its hardware."""


def find_target(name: str, engine: str | None = None) -> str:
    """Return what runs a target: a value of `TARGETS`, or "iss hbm_small" for an installed device.

    engine: of a device, one of `ACCELERATORS`. Raises FleetError if fleet does not have the target.
    """
    if name not in TARGETS and name in _devices():
        if engine not in (None, *ACCELERATORS):
            raise FleetError(f"no engine {engine} runs a device", where="@jit", hint=f"choose among {', '.join(ACCELERATORS)}")
        return f"{engine or ACCELERATORS[0]} {name}"
    if engine is not None:
        hint = f"devices are {', '.join(_devices())}"
        raise FleetError(f"target {name} is no device whose engine could be chosen", where="@jit", hint=hint)
    found = TARGETS.get(name)
    if found is None:
        have = ", ".join([*(t for t, engine in TARGETS.items() if engine), *_devices()])
        what = f"no code is made for {name}" if name in TARGETS else f"no target is called {name}"
        raise FleetError(what, where="@jit", hint=f"choose among {have}")
    return found


@lru_cache(maxsize=1)
def _devices() -> tuple[str, ...]:
    from fleet.isa.registry import device_names

    return device_names()


class Executable(ABC):
    """A program on an engine. `run` may be called by several threads."""

    engine: str

    def run_on_gpu(self, inputs: Mapping[str, np.ndarray], on_gpu: Mapping[str, GpuTensor]) -> Mapping[str, Any]:
        """Return output name -> array of CuPy. on_gpu: the inputs that lie on a GPU; of these `inputs` has the form.

        Raises ModelError if the target cannot read them.
        """
        name, tensor = next(iter(on_gpu.items()))
        hint = "targets cuda and gpu take it; or move it to the CPU"
        raise ModelError(f'argument "{name}" lies on GPU {tensor.device}', where=f"@jit, engine {self.engine}", hint=hint)

    def cost(self, inputs: Mapping[str, np.ndarray]) -> float:
        """Run for what it costs alone: seconds, or instructions where these are known."""
        return _seconds(lambda: self.run(inputs))

    @abstractmethod
    def run(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """Return output name -> array without shared memory. Prints go to sys.stdout. Raises what the engine raises."""


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


class _Vm(Executable):
    engine = "vm"

    def __init__(self, program: Program) -> None:
        from fleet.targets.bytecode.convert import ByteCodeConverter
        from fleet.targets.bytecode.vm import VM
        from fleet.transforms.pipeline import run_pipeline

        self._vm = VM(ByteCodeConverter(run_pipeline(program, "vm")).convert())

    def run(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        outputs = self._vm.run(inputs)
        theirs = {id(_owner(array)) for array in inputs.values()} | self._weights
        return {
            name: array if array.flags.writeable and id(_owner(array)) not in theirs else array.copy()
            for name, array in outputs.items()
        }

    @cached_property
    def _weights(self) -> set[int]:
        """Identities of the program's arrays, which no result may share. Access it after the first run, which makes them."""
        weights = self._vm.bc.weights
        made = weights.made if isinstance(weights, Weights) else weights.__contains__
        return {id(_owner(weights[name])) for name in weights if made(name)}


def _owner(array: np.ndarray) -> np.ndarray:
    """Return the array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class _LlvmCpu(Executable):
    engine = "llvm-cpu"

    def __init__(self, program: Program) -> None:
        from fleet.targets.host.ready import ready_host

        self._ready: ReadyHost = ready_host(program)
        self._lock = threading.Lock()  # one run at a time: its memory is planned once

    def cost(self, inputs: Mapping[str, np.ndarray]) -> float:
        with self._lock:
            return _seconds(lambda: self._ready.code.run(inputs))

    def run(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        code = self._ready.code
        with self._lock:
            code.run(inputs)
            outputs = {name: code.fetch(buffer) for name, buffer in code.outputs}
            text = self._ready.printed() if self._ready.prints else ""
        sys.stdout.write(text)
        return outputs


class _Riscv(Executable):
    engine = "riscv"

    def __init__(self, program: Program) -> None:
        from fleet.targets.riscv.compile import compile_riscv
        from fleet.targets.riscv.prepare import prepared

        _require("riscv")
        self._compiled: RiscvProgram = compile_riscv(prepared(program, "riscv"), keep_tensors=False, host=True)

    def run(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        trace = self._traced(inputs)
        sys.stdout.write(str(trace.meta["stdout"]))
        return trace.outputs

    def cost(self, inputs: Mapping[str, np.ndarray]) -> float:
        return self._traced(inputs).counters["instructions"]

    def _traced(self, inputs: Mapping[str, np.ndarray]) -> Trace:
        from fleet.engines.base import RunOptions
        from fleet.engines.riscv import run_image

        return run_image(self._compiled, self._compiled.elf, inputs, RunOptions(keep_tensors=False))


class _Kernels(Executable):
    """Kernels on a GPU. engine: "cuda" or "opencl"."""

    def __init__(self, program: Program, engine: str) -> None:
        self.engine = engine
        self._loaded = _kernels_need(engine, engine).load(program, keep=False)
        self._lock = threading.Lock()  # one run at a time: its memory is allocated once

    def run(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        with self._lock:
            run = self._loaded.run(inputs)
            outputs = run.outputs()
        sys.stdout.write(run.printed)
        return outputs

    def run_on_gpu(self, inputs: Mapping[str, np.ndarray], on_gpu: Mapping[str, GpuTensor]) -> Mapping[str, Any]:
        with self._lock:
            run = self._loaded.run(inputs, on_gpu)
            outputs = run.outputs_there()
        sys.stdout.write(run.printed)
        return outputs

    def cost(self, inputs: Mapping[str, np.ndarray]) -> float:
        with self._lock:
            return _seconds(lambda: self._loaded.run(inputs).outputs())


def _kernel_engine(name: str) -> KernelEngine:
    from fleet.engines.gpu import cuda, opencl

    return cuda.ENGINE if name == "cuda" else opencl.ENGINE


def _place(device: str) -> str:
    """Return what runs a device of the source; "hbm_small/rtl" names the engine of an accelerator, too."""
    name, slash, engine = device.partition("/")
    return find_target(name, engine if slash else None)


class _Mixed(Executable):
    """A program whose source places parts of it (`fleet.device`); the rest is on the function's own target."""

    engine = "mixed"

    def __init__(self, program: Program, target: str) -> None:
        from fleet.transforms.sections import HOST, sections_of

        self._divided = sections_of(program)
        self._codes = [executable(s.part.program, target if s.device == HOST else _place(s.device)) for s in self._divided.sections]
        self._prints = any(isinstance(op, PrintOp) for op in program.operations())

    def run(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        from fleet.targets.printed import printed

        outputs, values = self._divided.run(inputs, lambda n, given: self._codes[n].run(given))
        if self._prints:
            sys.stdout.write(printed(self._divided.program, lambda value: self._divided.value(value, inputs, values)))
        return {name: np.array(array) for name, array in outputs.items()}


class _Engine(Executable):
    """An engine that compiles for every run. device: of an accelerator's engine."""

    def __init__(self, program: Program, engine: str, device: str | None = None) -> None:
        self.engine = engine
        self._program = program
        self._device = device
        _require(engine)

    def run(self, inputs: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        from fleet.engines.base import RunOptions
        from fleet.engines.registry import find_engine

        trace = find_engine(self.engine).engine.run(self._program, inputs, RunOptions(device=self._device, keep_tensors=False))
        sys.stdout.write(str(trace.meta.get("stdout", "")))
        return {name: np.array(array) for name, array in trace.outputs.items()}


def _kernels_need(name: str, target: str) -> KernelEngine:
    """Return an engine. Raises SetupError if it has no device."""
    engine = _kernel_engine(name)
    missing = engine.available()
    if missing:
        raise SetupError(missing, where=f"@jit, target {target}")
    return engine


@lru_cache(maxsize=1)
def _gpu() -> str:
    """Return the engine of target "gpu": cuda if a CUDA device answers, else opencl; say once if that is no GPU."""
    if _kernel_engine("cuda").available() is None:
        return "cuda"
    device = _kernels_need("opencl", "gpu").device()
    if not device.is_gpu:
        warnings.warn(f"target gpu: no GPU answers; OpenCL runs on {device.name.partition(',')[0]}", stacklevel=2)
    return "opencl"


def _require(engine: str) -> None:
    from fleet.engines.registry import find_engine

    missing = find_engine(engine).engine.available()
    if missing:
        raise SetupError(missing, where=f"@jit, target {engine}")


_Key: TypeAlias = tuple[str, str, Schedule, MatmulChoice, tuple[str, ...]]
"""What runs a program, its content, its schedule, what multiplies matrices, and its outputs' names."""
_KEPT: weakref.WeakValueDictionary[_Key, Executable] = weakref.WeakValueDictionary()
"""Functions with the same program share the code."""
_LOCK = threading.Lock()


def executable(program: Program, engine: str) -> Executable:
    """Return the program's code for the result of `find_target`; compiled once as long as someone holds it.

    "cpu" is machine code of this processor if every operation compiles, else the VM. Raises DeviceError if the target cannot hold
    the program, SetupError if a tool is missing.
    """
    key = (engine, program.hash, program.schedule, program.matmul, (*program.outputs, *(a.name for a in program.arguments)))
    with _LOCK:
        found = _KEPT.get(key)
    if found is None:
        made = _compiled(program, engine)
        with _LOCK:
            found = _KEPT.setdefault(key, made)
    return found


def tuned(
    program: Program, engine: str, schedules: Sequence[Schedule], inputs: Mapping[str, np.ndarray]
) -> tuple[Executable, TunedSchedule | None]:
    """Return code made with the cheapest of these schedules on these inputs, and the choice; None where nothing can be chosen.

    engine: one of `fleet.compiler.tuning.TUNED`. Raises as `executable` does.
    """
    from fleet.compiler.tuning import choose
    from fleet.transforms.sections import is_placed

    if is_placed(program):
        return executable(program, engine), None
    made: dict[Schedule, Executable] = {}
    name = "llvm-cpu" if engine == "cpu" else engine

    def compiled(schedule: Schedule) -> Executable:
        if schedule not in made:
            made[schedule] = executable(replace(program, schedule=schedule), name)
        return made[schedule]

    def cost(schedule: Schedule) -> Callable[[], float]:
        code = compiled(schedule)
        code.cost(inputs)  # a first run finds its memory, and may compile
        return lambda: code.cost(inputs)

    try:
        choice = choose(program, name, schedules, cost)
        return compiled(choice.best), choice
    except DeviceError:
        if engine != "cpu":
            raise
        return executable(program, "vm"), None


def _compiled(program: Program, engine: str) -> Executable:
    from fleet.transforms.sections import is_placed

    if is_placed(program) and engine not in ("vm", "interp"):  # these two are the golden: they compute all of it
        if program.schedule != USUAL_SCHEDULE:
            what = "parts on devices have no schedule"
            raise FleetError(what, where=program.source_name, hint="leave out schedule= or fleet.device")
        if program.matmul != "exact":
            what = f"parts on devices have no matmul={program.matmul}"
            raise FleetError(what, where=program.source_name, hint="leave out matmul= or fleet.device")
        return _Mixed(program, engine)
    name, _, device = engine.partition(" ")
    if device:
        return _Engine(program, name, device)
    match engine:
        case "vm":
            return _Vm(program)
        case "llvm-cpu":
            return _LlvmCpu(program)
        case "riscv":
            return _Riscv(program)
        case "opencl" | "cuda":
            return _Kernels(program, engine)
        case "gpu":
            return executable(program, _gpu())
        case "cpu":
            try:
                return executable(program, "llvm-cpu")
            except DeviceError:
                return executable(program, "vm")
        case _:
            return _Engine(program, engine)
