"""Runs a module's steps on a machine: launches, and the host's own computations in between."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects.builtin import TupleType
from xdsl.ir import SSAValue

from fleet.core.room import check_room
from fleet.errors import ModelError
from fleet.ir.dialect import PrintOp, op_id
from fleet.targets.bytecode.evaluate import apply
from fleet.targets.gpu.library import GemmCall
from fleet.targets.gpu.module import FAULT, SCRATCH, STOPPED, GemmStep, GpuArray, GpuKernel, GpuModule, HostComputation, KernelStep
from fleet.targets.printed import show
from fleet.targets.riscv.faults import RuntimeFault, checks_of
from fleet.targets.riscv.plan import HELD
from fleet.transforms.edit import text_of

_NOBODY = np.iinfo(np.int32).max


class TensorOnGpu(Protocol):
    """A tensor that lies on a device; `value` has DLPack's methods."""

    @property
    def value(self) -> Any:
        """The tensor of its library."""
        ...

    @property
    def device(self) -> int:
        """Number of its device."""
        ...


class GpuMachine(Protocol):
    """What runs kernels: a device, or an emulation."""

    def buffer(self, size: int) -> Any:
        """Return new memory of so many bytes."""
        ...

    def write(self, buffer: Any, data: np.ndarray) -> None:
        """Copy bytes (uint8) to the beginning of memory."""
        ...

    def read(self, buffer: Any, size: int) -> np.ndarray:
        """Return so many bytes (uint8) from the beginning of memory."""
        ...

    def taken(self, tensor: TensorOnGpu, where: str) -> Any:
        """Return the memory of a tensor that lies on the device. Raises ModelError if the device cannot read it."""
        ...

    def given_out(self, buffer: Any, array: GpuArray) -> Any:
        """Return a copy of an array in memory, as an array of the device's library."""
        ...

    def launch(self, kernel: GpuKernel, buffers: list[Any]) -> None:
        """Run a kernel after everything before."""
        ...

    def multiply(self, call: GemmCall, places: Sequence[tuple[Any, int]]) -> None:
        """Run a call of cuBLAS after everything before. places: memory and the elements before the first: result, operands."""
        ...

    def finish(self) -> None:
        """Wait for everything."""
        ...


class LoadedModule:
    """A module on a machine, with weights and constants in place; runs any number of times, one at a time."""

    def __init__(self, module: GpuModule, machine: GpuMachine) -> None:
        self.module, self._machine = module, machine
        program = module.program
        check_room(sum(module.sizes.values()) + module.scratch, "the memory of the program", where=program.source_name)
        self._held: dict[SSAValue, Any] = {}
        self._buffers = {name: machine.buffer(max(size, 1)) for name, size in module.sizes.items()}
        self._buffers |= {SCRATCH: machine.buffer(max(module.scratch, 1)), STOPPED: machine.buffer(4), FAULT: machine.buffer(24)}
        for name, array in module.constants.items():
            self._put(name, array)
        self._inputs: list[tuple[str, SSAValue]] = []
        for argument, value in zip(program.arguments, program.function.body.block.args, strict=True):
            if argument.kind == "input":
                self._inputs.append((argument.name, value))
            else:
                self._set(value, program.weights[argument.name])

    def run(self, inputs: Mapping[str, np.ndarray], on_gpu: Mapping[str, TensorOnGpu] = MappingProxyType({})) -> GpuRun:
        """Run once.

        on_gpu: inputs that lie on the device. Kernels read them where they are, if their elements lie in C order; of these `inputs`
        has shape and dtype.

        Raises ModelError for a missing input, a bad index or exponent, naming operation and place.
        """
        own = dict(self._buffers)
        try:
            for name, value in self._inputs:
                if name not in inputs:
                    raise ModelError(f'no input "{name}"', hint=f"given are {', '.join(inputs) or 'none'}")
                (array,) = self.module.arrays[value]
                if name in on_gpu:
                    _check_form(array, inputs[name])
                    self._buffers[array.memory] = self._machine.taken(on_gpu[name], f'input "{name}"')
                else:
                    self._set(value, inputs[name])
            run = self.again()
            if on_gpu:
                run.keep_there()
            return run
        finally:
            self._buffers = own

    def again(self) -> GpuRun:
        """Run once on the inputs that are in place."""
        if any(kernel.stops for kernel in self.module.kernels):
            self._put(STOPPED, np.array([_NOBODY], np.int32))
        run = GpuRun(self)
        for step in self.module.steps:
            if isinstance(step, KernelStep):
                self.launch(step)
            elif isinstance(step, GemmStep):
                places = [(self._buffers[name], offset) for name, offset in step.arguments]
                self._machine.multiply(step.call, places)
            else:
                self._host(step, run)
        return run

    def finish(self) -> None:
        """Wait for everything."""
        self._machine.finish()

    def launch(self, step: KernelStep) -> None:
        """Begin a launch. Raises ModelError for a bad index or exponent, after waiting for it, if the kernel may meet one."""
        buffers = [self._buffers[name] for name in step.arguments]
        self._machine.launch(step.kernel, buffers)
        if not step.kernel.stops or self._get(STOPPED, 4).view(np.int32)[0] == _NOBODY:
            return
        self._machine.launch(step.kernel, buffers)  # now the first item with a fault says which
        fault, value, bound = (int(word) for word in self._get(FAULT, 24).view(np.int64))
        said = RuntimeFault(fault).message(value, bound, checks_of(self.module.program))
        raise ModelError(f"operation {op_id(step.op)}: {said}", where=text_of(step.op, "at"), hint="check the input data")

    def _host(self, step: HostComputation, run: GpuRun) -> None:
        values = [self.value(v) for v in step.op.operands]
        if isinstance(step.op, PrintOp):
            show(step.op, values, run.echo)
            return
        id_ = op_id(step.op)
        run.calls[id_] += 1
        try:
            result = apply(step.op, values, partial(show, echo=run.echo))
        except ModelError as error:
            at = text_of(step.op, "at") or self.module.program.source_name
            raise ModelError(f"operation {id_}: {error.what}", where=at, hint=error.hint) from error
        self._set(step.op.results[0], result)

    # ---- values

    def value(self, value: SSAValue) -> Any:
        """Return a copy of a value as it is in memory; of a tuple its parts, of one that the host keeps the value."""
        arrays = self.module.arrays[value]
        if arrays[0].dtype == HELD:
            return self._held[value]
        found = [self._array(array) for array in arrays]
        return found[0] if found[0].dtype != HELD and not _is_tuple(value) else tuple(found)

    def _set(self, value: SSAValue, what: Any) -> None:
        arrays = self.module.arrays[value]
        if arrays[0].dtype == HELD:
            self._held[value] = what
            return
        for array, part in zip(arrays, what if _is_tuple(value) else (what,), strict=True):
            data = np.asarray(part)
            _check_form(array, data)
            self._put(array.memory, data)

    def there(self, value: SSAValue) -> Any:
        """Return a copy of a value as an array of the device's library; of one that the host keeps the value."""
        array = self.module.arrays[value][0]
        if array.dtype == HELD:
            return self._held[value]
        return self._machine.given_out(self._buffers[array.memory], array)

    def _put(self, name: str, array: np.ndarray) -> None:
        if array.size:
            self._machine.write(self._buffers[name], np.ascontiguousarray(array).reshape(-1).view(np.uint8))

    def _get(self, name: str, size: int) -> np.ndarray:
        return self._machine.read(self._buffers[name], size)

    def _array(self, array: GpuArray) -> np.ndarray:
        size = self.module.sizes[array.memory]
        if not size or 0 in array.shape:
            return np.empty(array.shape, array.dtype)
        flat = self._get(array.memory, size).view(array.dtype)[array.offset :]
        return as_strided(flat, array.shape, [s * array.dtype.itemsize for s in array.strides]).copy()


class GpuRun:
    """What a run left besides values. calls: operation id -> how often the host computed it."""

    def __init__(self, loaded: LoadedModule) -> None:
        self._loaded = loaded
        self._text = io.StringIO()
        self.echo = partial(print, file=self._text)
        self.calls: Counter[str] = Counter()
        self._there: dict[str, Any] = {}

    @property
    def printed(self) -> str:
        """The text of the program's prints."""
        return self._text.getvalue()

    def outputs(self) -> dict[str, np.ndarray]:
        """Return copies of the program's outputs."""
        program = self._loaded.module.program
        return {n: np.asarray(self._loaded.value(v)) for n, v in zip(program.outputs, program.returned(), strict=True)}

    def keep_there(self) -> None:
        """Copy the outputs on the device, before another run writes to their memory."""
        program = self._loaded.module.program
        self._there = {n: self._loaded.there(v) for n, v in zip(program.outputs, program.returned(), strict=True)}

    def outputs_there(self) -> dict[str, Any]:
        """Return the outputs of a run with inputs on the device, as arrays of its library."""
        return self._there

    def tensors(self) -> dict[str, np.ndarray]:
        """Return operation id -> a copy of its result, of all results that are arrays."""
        found = {op_id(op): self._loaded.value(op.results[0]) for op in self._loaded.module.program.operations() if op.results}
        return {id_: value for id_, value in found.items() if isinstance(value, np.ndarray)}


def _check_form(array: GpuArray, data: np.ndarray) -> None:
    if data.shape != array.shape or data.dtype != array.dtype:
        have, want = f"{data.dtype}{list(data.shape)}", f"{array.dtype}{list(array.shape)}"
        raise ModelError(f"{array.memory.removeprefix('%')} is {have}; expected {want}")


def _is_tuple(value: SSAValue) -> bool:
    return isinstance(value.type, TupleType)
