"""A program compiled for an accelerator: what the engines run and the listing shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from xdsl.ir import BlockArgument, Operation, SSAValue

from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.isa.issue import Binary
from fleet.sdk import Call, Device, InstructionSet
from fleet.targets.accel.plan import AccelMemoryPlan

__all__ = ["AccelProgram", "CallGroup", "DeviceSegment", "HostStep", "value_key"]


def value_key(program: Program, value: SSAValue) -> str:
    """The name of a value everywhere behind the compiler: its operation's id, or "%name" for a function argument."""
    if isinstance(value, BlockArgument):
        return "%" + program.arguments[value.index].name
    assert isinstance(value.owner, Operation)
    return op_id(value.owner)


@dataclass(frozen=True)
class CallGroup:
    """Operations that one pattern turned into calls.

    Attributes:
        ops: their ids in program order, the last one is what the group computes.
        calls: the instructions, in order.
        activations, results: keys of the tensors read and left in device memory (`value_key`).
    """

    ops: tuple[str, ...]
    calls: tuple[Call, ...]
    activations: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class DeviceSegment:
    """Groups that run without the host in between.

    uploads: keys of the tensors that the host has and puts into device memory before the first instruction.
    binaries: where the binary form of the calls stands in device memory, in order; calls in none are written to the
        registers. Empty for a stream that is issued by register writes.
    """

    groups: tuple[CallGroup, ...]
    uploads: tuple[str, ...] = ()
    binaries: tuple[Binary, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls in order."""
        return tuple(call for group in self.groups for call in group.calls)


@dataclass(frozen=True)
class HostStep:
    """One operation that the host runs."""

    op: FleetOp


@dataclass(frozen=True)
class AccelProgram:
    """The stream: instructions in order, with the memory images they run on.

    Attributes:
        model: the program as it came.
        program: what was placed: the model, with the composite operations that the set's patterns ask for raised in it.
        rounded: `program` with the weights as the device stores them; its golden is the rounded golden, and host steps
            use its weights.
        options: of the compile ("group", "clip", "rounding", "issue", "load").
        description_hash: of description, semantics and device; whatever has another one refuses to run this.
        placement: operation id -> "device" or "host".
        missed: operation id -> why it runs on the host, for every operation that does.
        steps: in order.
        plan: where everything stands.
        parameters: parameter register -> value, for the whole run; the others keep their value after reset.
    """

    model: Program
    program: Program
    rounded: Program
    instruction_set: InstructionSet
    device: Device
    options: Mapping[str, Any]
    description_hash: str
    placement: Mapping[str, str]
    steps: tuple[DeviceSegment | HostStep, ...]
    plan: AccelMemoryPlan
    parameters: Mapping[str, int] = field(default_factory=dict[str, int])
    missed: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def device_loads(self) -> bool:
        """Whether the stream's own instructions fill the HBM (option "load" is "device"), so that its images start empty."""
        return self.options.get("load", "host") == "device"

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
        """What runs at every position of the schedule, in which lives of the memory plan count: an operation's id."""
        return tuple(
            name
            for step in self.steps
            for name in ([op_id(step.op)] if isinstance(step, HostStep) else [group.ops[-1] for group in step.groups])
        )

    def memory_picture(self) -> dict[str, object]:
        """What stands where and when, as plain data for `fleet.report.run.address_map`: JSON values."""
        plan, steps = self.plan, len(self.moments)
        lasting = [("constants", c.key, c.space, c.offset, c.size) for c in plan.constants.values()]
        lasting += [("areas", a.key, a.space, a.offset, a.size) for a in plan.areas.values()]
        shared = [("tensors", key, plan.buffers[key], life) for key, life in plan.lives.items()]
        return {
            "steps": steps,
            "tenants": [
                *({"key": k, "block": block, "space": space, "address": at, "size": size, "first": -1, "last": steps}
                  for block, k, space, at, size in lasting),
                *({"key": k, "block": block, "space": "ddr", "address": b.offset, "size": b.size, "first": life.first,
                   "last": min(life.last, steps)} for block, k, b, life in shared),
            ],
        }  # fmt: skip

    @cached_property
    def stream_hash(self) -> str:
        """SHA-256 (hex) over the description's hash, all instructions, constants and places of tensors."""
        h = hashlib.sha256(self.description_hash.encode())
        for step in self.steps:
            if isinstance(step, HostStep):
                h.update(f"host {op_id(step.op)}\n".encode())
                continue
            for call in step.calls:
                record = [call.instruction, sorted(call.fields.items()), call.ops, call.token_range]
                h.update(json.dumps(record).encode())
            for binary in step.binaries:
                h.update(f"{binary}\n".encode())
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
