"""Instructions in order with their memory, independent of their source: the form that is listed, stored and run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from fleet.isa.issue import Binary
from fleet.isa.memory import MemoryImage
from fleet.sdk import Call, Device, InstructionSet


@dataclass(frozen=True)
class CallGroup:
    """Operations that one pattern turned into calls.

    Attributes:
        ops: their ids in program order; the last one is the result of the group.
        calls: the instructions, in order.
        activations, results: keys of the tensors read from and written to device memory (`value_key`).
    """

    ops: tuple[str, ...]
    calls: tuple[Call, ...]
    activations: tuple[str, ...]
    results: tuple[str, ...]


@dataclass(frozen=True)
class DeviceSegment:
    """Groups that run without the host in between.

    uploads: keys of the tensors that the host writes to device memory before the first instruction.
    binaries: places of the calls' binary form in device memory, in order; calls in none are written to the
        registers. Empty for a stream issued by register writes.
    """

    groups: tuple[CallGroup, ...]
    uploads: tuple[str, ...] = ()
    binaries: tuple[Binary, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls in order."""
        return tuple(call for group in self.groups for call in group.calls)


@dataclass(frozen=True)
class DeviceStream:
    """A whole program, or one step of a graph.

    Attributes:
        title: the model, and the step.
        description_hash: of description, semantics and device. stream_hash: of everything that a run depends on.
        steps: in order; a text describes what the host does between two segments.
        parameters: parameter register -> value, for the whole run.
        memory: lines that describe the memory layout.
        images: returns the contents of memory before the first instruction.
    """

    title: str
    instruction_set: InstructionSet
    device: Device
    description_hash: str
    stream_hash: str
    steps: tuple[DeviceSegment | str, ...]
    parameters: Mapping[str, int]
    memory: tuple[str, ...]
    images: Callable[[], Iterator[MemoryImage]]

    @property
    def segments(self) -> tuple[DeviceSegment, ...]:
        """Segments that the device runs, in order."""
        return tuple(step for step in self.steps if isinstance(step, DeviceSegment))


def segment_bytes(segment: DeviceSegment) -> bytes:
    """Return the instructions of a segment and the places of their binaries, for a hash."""
    calls = (json.dumps([c.instruction, sorted(c.fields.items()), c.ops, c.token_range]).encode() for c in segment.calls)
    return b"".join(calls) + b"".join(f"{binary}\n".encode() for binary in segment.binaries)
