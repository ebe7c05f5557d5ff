"""`@jit`: a Python function of NumPy that is compiled when it is called.

Example:
    >>> import numpy as np
    >>> from fleet import jit
    >>> @jit
    ... def double(x):
    ...     return x + x
    >>> double(np.ones(3))
    array([2., 2., 2.])
"""

from __future__ import annotations

import inspect
import textwrap
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import update_wrapper
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from fleet.compiler.executables import Executable, executable, find_target, tuned
from fleet.compiler.model import SOURCE_STAGES, Compiled, text_stage
from fleet.compiler.tuning import TunedSchedule, schedules_of
from fleet.errors import FleetError
from fleet.frontend.function import Traced, trace
from fleet.frontend.live.given import Given, given
from fleet.frontend.live.located import locate
from fleet.frontend.live.watch import Traceable
from fleet.ir.schedule import USUAL_SCHEDULE, MatmulChoice, Schedule, check_matmul, check_schedule

if TYPE_CHECKING:
    from fleet.core.codec import Json
    from fleet.ir.lowering_options import LoweringOptions
    from fleet.ir.program import Program

_SIGNATURES = 128
"""Compiled signatures kept per function; the oldest are dropped first."""
_VERSIONS = 4
"""Compiled programs kept per signature, for globals that change and change back."""


@dataclass(frozen=True)
class Lowered(Compiled):
    """The compilation of a function. Stages and files are those of `Compiled`; those of the source cover the function alone.

    Attributes:
        source: the function's text, dedented.
        engine: the engine of `@jit`.
    """

    source: str = ""
    engine: str = "vm"

    def text(self, stage: str, *, device: str | None = None, lowering: LoweringOptions | Mapping[str, Json] | None = None) -> str:
        """Return a stage as text, as `Compiled.text` does."""
        if stage in SOURCE_STAGES:
            return text_stage(stage, self.source, self.program.source_name)
        return super().text(stage, device=device, lowering=lowering)


@dataclass(frozen=True, eq=False)
class _Version:
    traced: Traced
    code: Executable
    choice: TunedSchedule | None = None


class JitFunction(Traceable):
    """A function decorated with `jit`. A call compiles it once for such arguments and runs the code.

    Attributes:
        target, dynamic, engine, schedule, matmul: as given to `jit`.
    """

    def __init__(
        self,
        python: FunctionType,
        target: str,
        dynamic: Collection[str] | bool = (),
        engine: str | None = None,
        tune: bool | Sequence[Schedule] = False,
        schedule: Schedule = USUAL_SCHEDULE,
        matmul: MatmulChoice = "exact",
    ) -> None:
        super().__init__(python)
        self.target = target
        self.dynamic = dynamic
        self._unknown: Mapping[int, Collection[int]] = {}
        """Position of an argument -> its axes of unknown size; known after the first compilation."""
        self.engine = engine
        self._schedules = schedules_of(tune, target)
        self.schedule = schedule
        self.matmul: MatmulChoice = matmul
        self._engine = find_target(target, engine)
        update_wrapper(self, python)
        self._signature = inspect.signature(python)
        self._names = tuple(self._signature.parameters)
        self._plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in self._signature.parameters.values())
        self._where = f"{python.__code__.co_filename}:{python.__code__.co_firstlineno}"
        self._versions: OrderedDict[Hashable, tuple[_Version, ...]] = OrderedDict()
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run compiled code; returns what Python would return, as new arrays; of CuPy if an argument lies on a GPU.

        Raises TypeError, as Python does, if the arguments do not match the function; SourceError if the source is not supported;
        ModelError if arguments and data do not fit; DeviceError if the target cannot hold the program.
        """
        call = self._given(args, kwargs)
        version = self._version(call)
        if call.on_gpu:
            return version.traced.result.build(version.code.run_on_gpu(call.inputs, call.on_gpu))
        return version.traced.result.build(version.code.run(call.inputs))

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """Bind as a method, if it is an attribute of a class."""
        return self if owner is None else MethodType(self, owner)

    def __repr__(self) -> str:
        return f"<fleet.jit {self.python.__qualname__} for {self.target}>"

    @property
    def programs(self) -> tuple[Program, ...]:
        """The compiled programs that are kept, in the order in which their signatures were last compiled."""
        with self._lock:
            return tuple(v.traced.program for versions in self._versions.values() for v in versions)

    def tuning(self, *args: Any, **kwargs: Any) -> TunedSchedule | None:
        """Return what `tune` chose for these arguments; None where there was no choice. Raises as a call does."""
        return self._version(self._given(args, kwargs)).choice

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Compile for these arguments without running: IR, MLIR, bytecode, RISC-V assembler.

        Raises as a call does.
        """
        call = self._given(args, kwargs)
        version = self._version(call)
        program = version.traced.program
        if version.choice is not None:
            program = replace(program, schedule=version.choice.best)
        file, node = locate(self.python)
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        source = textwrap.dedent("\n".join(file.source.lines[first - 1 : node.end_lineno]) + "\n")
        spec = f"{program.source_name}:{self.python.__qualname__}"
        given = call.inputs | {name: tensor.fetched() for name, tensor in call.on_gpu.items()}
        inputs = {name: np.asarray(array, order="C") for name, array in given.items()}
        return Lowered(spec, program, inputs, source=source, engine=version.code.engine)

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        if self._plain and not kwargs and len(args) == len(self._names):
            return given(self._where, self._names, args)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return given(self._where, tuple(bound.arguments), tuple(bound.arguments.values()))

    def _made(self, traced: Traced, call: Given) -> _Version:
        if not self._schedules:
            return _Version(traced, executable(traced.program, self._engine))
        inputs = call.inputs | {name: tensor.fetched() for name, tensor in call.on_gpu.items()}
        return _Version(traced, *tuned(traced.program, self._engine, self._schedules, inputs))

    def _key(self, call: Given) -> Hashable:
        """Return the call's key without sizes that the program does not know."""
        if not self._unknown:
            return call.key
        parts = list(cast("tuple[Any, ...]", call.key))
        for n, axes in self._unknown.items():
            shape, dtype = parts[n]
            parts[n] = (tuple(-1 if i in axes else d for i, d in enumerate(shape)), dtype)
        return tuple(parts)

    def _version(self, call: Given) -> _Version:
        key = self._key(call)
        for version in self._versions.get(key, ()):
            if version.traced.watched.hold():
                return version
        with self._lock:
            kept = self._versions.get(key, ())
            for version in kept:  # another thread may have compiled it meanwhile
                if version.traced.watched.hold():
                    return version
            traced = trace(self.python, call, self.dynamic)
            traced = replace(traced, program=replace(traced.program, schedule=self.schedule, matmul=self.matmul))
            version = self._made(traced, call)
            if self.dynamic:
                axes = {a.name: [i for i, d in enumerate(a.shape) if d < 0] for a in traced.program.inputs}
                self._unknown = {i: axes[name] for i, name in enumerate(self._names) if axes.get(name)}
                key = self._key(call)
            self._versions[key] = (version, *kept)[:_VERSIONS]
            self._versions.move_to_end(key)
            while len(self._versions) > _SIGNATURES:
                self._versions.popitem(last=False)
            return version


@overload
def jit(function: Callable[..., Any], /) -> JitFunction: ...
@overload
def jit(
    function: str | None = None,
    /,
    *,
    target: str = "cpu",
    dynamic: Collection[str] | bool = (),
    engine: str | None = None,
    tune: bool | Sequence[Schedule] = False,
    schedule: Schedule = USUAL_SCHEDULE,
    matmul: MatmulChoice = "exact",
) -> Callable[[Callable[..., Any]], JitFunction]: ...
def jit(
    function: Callable[..., Any] | str | None = None,
    /,
    *,
    target: str = "cpu",
    dynamic: Collection[str] | bool = (),
    engine: str | None = None,
    tune: bool | Sequence[Schedule] = False,
    schedule: Schedule = USUAL_SCHEDULE,
    matmul: MatmulChoice = "exact",
) -> Any:
    """Compile a function of NumPy code when it is called: `@jit`, or `@jit(target="vm")`.

    fleet's front end parses the function's source; the function itself never runs. It is compiled once for every combination of its
    arrays' shapes and dtypes and its other arguments' values.

    Args:
        function: the function, if `jit` is used without parentheses; a target's name is accepted too (`@jit("vm")`).
        target: a key of `fleet.compiler.executables.TARGETS`. "cpu": this processor's machine code, or the VM if an operation has
            none; "vm": NumPy, equal to Python in every bit; "riscv": RISC-V code in an emulator; "gpu": kernels of a GPU,
            with CUDA, else with OpenCL, on this processor if no GPU answers; or an installed device, as "hbm_small".
        engine: of a device: "iss", its functional model, which is the default, or "rtl", the simulation of its hardware.
        dynamic: names of annotated dimensions ("float32[N, 64]") that one program leaves open; True: all, and those that
            `Tensor` leaves open. "vm" and "interp" run such programs, and "cpu", on the VM.
        tune: compile with each of these schedules (True: a handful) at the first call, and keep the cheapest: on "riscv" by its
            instructions, on "cpu", "llvm-cpu", "opencl" and "cuda" by its time. No schedule changes a bit.
        schedule: how the loops of kernels run. Functions on the VM, on `interp` and on accelerators have no such loops: they refuse
            one, and so does a target that lacks a choice for a named kernel.
        matmul: what computes matrix products on "cuda" and "gpu" (`fleet.ir.schedule.MatmulChoice`): "exact", "tensor-cores",
            "bfloat16" or "cublas". All but "exact" may change bits.

    Raises:
        FleetError: fleet has no code for the target or choice, or the decorated object is not a function defined with `def`.
    """
    if isinstance(function, str):
        function, target = None, function
    find_target(target, engine)
    schedules_of(tune, target)
    check_matmul(matmul, target, "@jit")
    for one in (schedule, *(() if isinstance(tune, bool) else tune)):
        check_schedule(one, target)

    def taken_over(python: Callable[..., Any]) -> JitFunction:
        if isinstance(python, JitFunction):
            return JitFunction(python.python, target, dynamic, engine, tune, schedule, matmul)
        if not isinstance(python, FunctionType) or python.__name__ == "<lambda>":
            kind = "a lambda" if isinstance(python, FunctionType) else f"an object of type {type(python).__name__}"
            code = getattr(python, "__code__", None)
            where = "@jit" if code is None else f"{code.co_filename}:{code.co_firstlineno}"
            raise FleetError(f"{kind} cannot be compiled", where=where, hint="jit takes a function written with def")
        return JitFunction(python, target, dynamic, engine, tune, schedule, matmul)

    return taken_over if function is None else taken_over(function)
