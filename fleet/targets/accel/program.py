"""A program compiled for an accelerator, which engines run and listings show."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import BlockArgument, Operation, SSAValue

from fleet.core.records.address_map import AddressMap
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.isa.description import parameter_values
from fleet.isa.memory import MemoryImage
from fleet.isa.reading.cache import load
from fleet.sdk import Call, Device, InstructionSet
from fleet.targets.accel.memory.plan import AccelMemoryPlan
from fleet.targets.accel.stream import CallGroup, DeviceSegment, DeviceStream, segment_bytes


def value_key(program: Program, value: SSAValue) -> str:
    """Return the name of a value after compilation: its operation's id, or "%name" for a function argument."""
    if isinstance(value, BlockArgument):
        return "%" + program.arguments[value.index].name
    assert isinstance(value.owner, Operation)
    return op_id(value.owner)


@dataclass(frozen=True)
class HostStep:
    """An operation that the host runs."""

    op: FleetOp


@dataclass(frozen=True)
class AccelProgram:
    """The stream: instructions in order, with the memory images they run on.

    Attributes:
        model: the original program.
        program: the placed program: the model with the composite operations of the set's patterns raised.
        rounded: `program` with the weights as the device stores them; its golden is the rounded golden, and host steps
            use its weights.
        options: of the compile.
        description_hash: of description, semantics and device; an engine with another hash refuses the program.
        placement: operation id -> "device" or "host".
        missed: operation id -> why it runs on the host, for every operation that does.
        steps: in order.
        plan: the memory plan.
        parameters: parameter register -> value, for the whole run; the others keep their reset value.
    """

    model: Program
    program: Program
    rounded: Program
    instruction_set: InstructionSet
    device: Device
    options: LoweringOptions
    description_hash: str
    placement: Mapping[str, str]
    steps: tuple[DeviceSegment | HostStep, ...]
    plan: AccelMemoryPlan
    parameters: Mapping[str, int] = field(default_factory=dict[str, int])
    missed: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def device_loads(self) -> bool:
        """Whether the stream's own instructions fill the HBM (option "load" is "device"), so that its images start empty."""
        return self.options.load == "device"

    @property
    def groups(self) -> Iterator[CallGroup]:
        """All device groups in order."""
        return (g for s in self.steps if isinstance(s, DeviceSegment) for g in s.groups)

    @property
    def calls(self) -> Iterator[Call]:
        """All instructions in order."""
        return (call for group in self.groups for call in group.calls)

    @property
    def moments(self) -> tuple[str, ...]:
        """Ids of the operations at every position of the schedule, to which the lifetimes of the memory plan refer."""
        return tuple(
            name
            for step in self.steps
            for name in ([op_id(step.op)] if isinstance(step, HostStep) else [group.ops[-1] for group in step.groups])
        )

    @property
    def address_map(self) -> AddressMap:
        """Return the address map over time."""
        return self.plan.address_map(len(self.moments))

    @property
    def stream(self) -> DeviceStream:
        """The instructions, in the form of listings and files."""
        steps = tuple(
            f"{op_id(s.op)}  # {s.op.name}: {self.missed[op_id(s.op)]}" if isinstance(s, HostStep) else s for s in self.steps
        )
        return DeviceStream(
            self.program.source_name, self.instruction_set, self.device, self.description_hash, self.stream_hash, steps,
            self.parameters, tuple(self.plan.lines(self.moments)), self.images,
        )  # fmt: skip

    @property
    def registers(self) -> Mapping[int, int]:
        """The parameter registers by byte address."""
        return parameter_values(load(self.instruction_set.description), self.parameters)

    def images(self, *, hbm: bool | None = None) -> Iterator[MemoryImage]:
        """Return the contents of memory before the first instruction. hbm: include HBM; None: unless the stream fills it."""
        for constant in self.plan.constants.values():
            if constant.space != "hbm" or (hbm if hbm is not None else not self.device_loads):
                for bank, data in enumerate(constant.data):
                    yield MemoryImage(constant.space, bank, constant.offset, data)

    @cached_property
    def stream_hash(self) -> str:
        """SHA-256 (hex) over the description's hash, all instructions, constants and places of tensors."""
        h = hashlib.sha256(self.description_hash.encode())
        for step in self.steps:
            if isinstance(step, HostStep):
                h.update(f"host {op_id(step.op)}\n".encode())
                continue
            h.update(segment_bytes(step))
        h.update(json.dumps(sorted(self.parameters.items())).encode())
        for buffer in self.plan.buffers.values():
            h.update(f"{buffer.key} {buffer.offset} {buffer.size} {buffer.shape} {buffer.dtype}\n".encode())
        for area in self.plan.areas.values():
            h.update(f"{area.key} {area.space} {area.offset} {area.size}\n".encode())
        for constant in self.plan.constants.values():
            h.update(f"{constant.key} {constant.space} {constant.offset} {constant.size}\n".encode())
            for bank in constant.data:
                h.update(bank.tobytes())
        return h.hexdigest()
