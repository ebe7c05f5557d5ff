"""The C++ host program of a compiled model: a header that loads its parameters and runs it, and the files beside the header.

The device's segments become register writes; operations of the host become functions in another object file: kernels of the
LLVM back end, or the user's own functions of the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path

import numpy as np
from xdsl.ir import SSAValue

from fleet.errors import DeviceError
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.isa.description import Description
from fleet.isa.reading.cache import load
from fleet.isa.resolved import reset_state, resolved, state_after
from fleet.targets.accel.program import AccelProgram, HostStep, value_key
from fleet.targets.accel.stream import DeviceSegment
from fleet.targets.bytecode.evaluate import apply
from fleet.targets.driver import DDR_BASE, HBM_BANK_STEP, HBM_BASE
from fleet.targets.driver import statements as st
from fleet.targets.driver.cpp import print_cpp, titled
from fleet.targets.driver.names import Names, identifier
from fleet.targets.driver.pieces import DEVICE, FOLDER, MEMORY, issue_calls, parameter_writes
from fleet.targets.host.compile import host_object
from fleet.transforms.part import part_of

_TAKEN = ("device", "h2cx", "prefix", "from", "to", "i", "load_params", "run", "run_ports", "input_ports", "output_ports")
"""Names that the header always uses, whatever the names of the model's tensors."""


@dataclass(frozen=True)
class HostSource:
    """Sources of a model's C++ program.

    Attributes:
        name: of the model, and of the header's namespace.
        header: the text of the header.
        params: name of a file -> its bytes, read by `load_params`.
        functions: name -> program of every function that the host computes.
    """

    name: str
    header: str
    params: Mapping[str, bytes]
    functions: Mapping[str, Program]

    @cached_property
    def kernels(self) -> tuple[bytes, Mapping[str, str]]:
        """Return an object file with the functions, and name -> reason for those that the user must write."""
        return host_object(self.functions)

    def files(self, header: Path) -> Mapping[Path, bytes]:
        """Return files by name: the header, the files of folder `NAME.params`, and `NAME_host.o` if it has a function."""
        found = {header: self.header.encode()}
        found |= {header.with_suffix(".params") / name: data for name, data in self.params.items()}
        if len(self.kernels[1]) < len(self.functions):
            found[header.with_name(f"{header.stem}_host.o")] = self.kernels[0]
        return found


def host_source(compiled: AccelProgram, name: str = "model") -> HostSource:
    """The host program of a model.

    Args:
        compiled: the model for a device.
        name: becomes the namespace, made a valid C++ name.

    Raises:
        DeviceError: a layout does not state the positions of elements, an instruction is correct only after a reset, a unit has no
            status register, a bank has too little HBM.
    """
    return _Driver(compiled, name).source()


class _Driver:
    def __init__(self, compiled: AccelProgram, name: str) -> None:
        self.c, self.name = compiled, identifier(name)
        self.program = compiled.rounded
        self.description: Description = load(compiled.instruction_set.description)
        self.names = Names(_TAKEN)
        self.values: dict[str, SSAValue] = {}
        for argument, value in zip(self.program.arguments, self.program.function.body.block.args, strict=True):
            self.values["%" + argument.name] = value
        self.operations = {op_id(op): op for op in self.program.operations() if op.results}
        self.values |= {key: op.results[0] for key, op in self.operations.items()}
        self.inputs = {"%" + a.name: self._array("%" + a.name) for a in self.program.inputs}
        returned = [value_key(self.program, v) for v in self.program.returned()]
        self.outputs = [
            (key, replace(self._array(key, name), written=True)) for key, name in zip(returned, self.program.outputs, strict=True)
        ]
        self.places = dict(reversed(self.outputs))
        self.lasting: dict[str, st.ArrayName] = {}
        self.params: dict[str, bytes] = {}
        self.functions: dict[str, Program] = {}

    def source(self) -> HostSource:
        _check_reset(self.c)
        running = self._running()
        outputs = zip(self.program.outputs, (array for _, array in self.outputs), strict=True)
        body = st.Block()
        for line in self._title():
            body.add(st.Annotation(line))
        body.add(st.Annotation(""))
        body.add(*(st.DefineArray(array) for array in self.lasting.values()), st.Annotation(""))
        body.add(self._loading(), running)
        body.add(st.Ports("run", _ports((key[1:], a) for key, a in self.inputs.items()), _ports(outputs)))
        text = print_cpp(st.DriverProgram(body, self.name, tensors=True))
        header = titled(text, self.c.device.name, self.c.stream_hash.encode())
        return HostSource(self.name, header, self.params, self.functions)

    def _title(self) -> Iterator[str]:
        host = sum(isinstance(s, HostStep) and not isinstance(s.op, PrintOp) for s in self.c.steps)
        yield f"{self.program.source_name}: {sum(1 for _ in self.c.calls):,} instructions, {host:,} operations on the host"
        yield f"description {self.c.description_hash}"
        yield f"stream {self.c.stream_hash}"

    # ---- values

    def _array(self, key: str, name: str | None = None) -> st.ArrayName:
        type_ = self.values[key].type
        called = self.names.unique_identifier(name or key.removeprefix("%"))
        return st.ArrayName(called, numpy_dtype(type_), shape_of(type_))

    def _lasting(self, key: str) -> st.ArrayName:
        """Add a weight or constant of the host; its bytes become a file."""
        if key not in self.lasting:
            self.lasting[key] = made = self._array(key)
            op = self.operations.get(key)
            data = apply(op, []) if isinstance(op, ConstantOp) else self.program.weights[key.removeprefix("%")]
            self.params[f"{made.name}.bin"] = np.ascontiguousarray(np.asarray(data, made.dtype)).tobytes()
        return self.lasting[key]

    def _is_constant(self, key: str) -> bool:
        return isinstance(self.operations.get(key), ConstantOp) or (key.removeprefix("%") in self.program.weights and key[0] == "%")

    # ---- parameters

    def _loading(self) -> st.Block:
        body = st.Block()
        for constant in self.c.plan.constants.values():
            hbm = constant.space == "hbm"
            if hbm and self.c.device_loads:
                continue
            if hbm and constant.offset + constant.size > HBM_BANK_STEP:
                raise DeviceError("it reaches beyond one bank of HBM as hosts see them", where=f"constant '{constant.key}'")
            for bank, data in enumerate(constant.data):
                file = f"{self.names.unique_identifier(constant.key)}.bin"
                self.params[file] = data.tobytes()
                base = HBM_BASE + bank * HBM_BANK_STEP if hbm else DDR_BASE
                body.add(st.CopyFile(constant.space, file, base + constant.offset, data.size))
        body.add(*(st.ReadArray(array, f"{array.name}.bin") for array in self.lasting.values()))
        return st.Block([st.DriverFunction("load_params", [DEVICE, MEMORY, FOLDER], body)])

    # ---- the run

    def _running(self) -> st.Block:
        before, body = st.Block(), st.Block()
        body.add(*parameter_writes(self.description, self.c.parameters))
        there: dict[str, st.ArrayName] = dict(self.inputs)
        """Return the values that the host has."""
        steps = [list(group) for _, group in groupby(self.c.steps, key=lambda s: isinstance(s, HostStep))]
        parts = [part for group in steps for part in ([group] if isinstance(group[0], HostStep) else [[s] for s in group])]
        for n, part in enumerate(parts, 1):
            first = part[0]
            if isinstance(first, DeviceSegment):
                self._uploads(first, there, body)
                calls = st.Block(list(issue_calls(self.description, first.calls, first.binaries, annotate=True)))
                function = st.DriverFunction(self.names.unique(f"segment_{n}"), [DEVICE], calls)
                before.add(function)
                body.add(st.CallFunction(function.name, [DEVICE]))
            else:
                ops = [s.op for s in part if isinstance(s, HostStep) and not isinstance(s.op, PrintOp)]
                if ops:
                    self._host(n, ops, there, before, body)
        for key, array in self.outputs:
            found = self._given(key, there, body)
            if found is not array:
                body.add(st.CopyArray(array, found))
        arrays = [*self.inputs.values(), *(array for _, array in self.outputs)]
        before.add(st.DriverFunction("run", [DEVICE, MEMORY, *arrays], body))
        return before

    def _given(self, key: str, there: dict[str, st.ArrayName], body: st.Block) -> st.ArrayName:
        """Return the value on the host; download it if only the device has it."""
        if self._is_constant(key):
            return self._lasting(key)
        if key not in there:
            body.add(self._transfer(st.LoadTensor, key, self._room(key, there, body)))
        return there[key]

    def _room(self, key: str, there: dict[str, st.ArrayName], body: st.Block) -> st.ArrayName:
        """Return the array for a value that the host now keeps: an output, or a local one."""
        there[key] = array = self.places.get(key) or self._array(key)
        if key not in self.places:
            body.add(st.DefineArray(array))
        return array

    def _transfer(self, way: type[st.StoreTensor | st.LoadTensor], key: str, array: st.ArrayName) -> st.Node:
        buffer = self.c.plan.buffers[key]
        arrangement = self.c.instruction_set.layout.arrangement(buffer.shape, buffer.dtype)
        return way(array, DDR_BASE + buffer.offset, arrangement)

    def _uploads(self, segment: DeviceSegment, there: dict[str, st.ArrayName], body: st.Block) -> None:
        for key in segment.uploads:
            body.add(self._transfer(st.StoreTensor, key, self._given(key, there, body)))

    def _host(self, n: int, ops: Sequence[FleetOp], there: dict[str, st.ArrayName], before: st.Block, body: st.Block) -> None:
        """Create a function for the host's operations between two device segments."""
        inside = {op_id(op) for op in ops}
        returned = {value_key(self.program, v) for v in self.program.returned()}
        made = [op_id(op) for op in ops if op_id(op) in returned or not _only_in(self.operations[op_id(op)], inside)]
        part = part_of(self.program, inside, made)
        sources = {**{a.name: "%" + a.name for a in part.program.arguments}, **part.sources}
        given = [self._given(sources[a.name], there, body) for a in part.program.arguments]
        results = [self._room(key, there, body) for key in made]
        name = self.names.unique(f"{self.name}_host_{n}")
        self.functions[name] = part.program
        declared = [replace(a, name=f"{a.name}_") for a in given]
        declared += [replace(a, name=f"{a.name}_", written=True) for a in results]
        kernel = st.HostKernel(name, declared, ", ".join(op_id(op) for op in ops))
        before.add(kernel)
        body.add(st.CallKernel(kernel, [*given, *results]))


def _ports(named: Iterable[tuple[str, st.ArrayName]]) -> dict[str, st.ArrayName]:
    """Return file names -> arrays; names that collide in C++ get numbers."""
    names = Names(())
    return {names.unique_identifier(name): array for name, array in named}


def _only_in(op: FleetOp, inside: set[str]) -> bool:
    """Return whether nothing outside uses its result; a value that is only printed counts as unused."""
    users = [use.operation for use in op.results[0].uses]
    return all(isinstance(user, PrintOp) or (isinstance(user, FleetOp) and op_id(user) in inside) for user in users)


def _check_reset(compiled: AccelProgram) -> None:
    """Raises DeviceError if calls have another meaning without a reset before a segment, or before a second run."""
    instruction_set, device = compiled.instruction_set, compiled.device
    state = reset_state(device)
    for step in (*compiled.steps, *compiled.steps):
        if isinstance(step, DeviceSegment):
            for call, meant in zip(resolved(instruction_set, device, step.calls, state), step.calls, strict=True):
                if call != meant:
                    raise DeviceError(
                        f"{call.instruction} needs registers as reset leaves them, which earlier instructions have changed",
                        where=f"{device.name}, operation {call.ops[-1] if call.ops else '?'}",
                        hint="write the registers before each instruction that needs them",
                    )
            state = state_after(instruction_set, device, step.calls, state)
