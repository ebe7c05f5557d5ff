"""Kinds of instructions, by their ranges and registers; `fleet isa add --kind` takes the first of a kind."""

from __future__ import annotations

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.resolved import resolved_draw
from fleet.sdk import InstructionSet

KINDS = ("arithmetic", "dma", "configuration")
"""configuration writes state registers and no memory; dma moves between memory and an on-chip memory; the rest is arithmetic."""


def exemplar(found: InstructionSet, kind: str) -> str:
    """The first instruction of a kind. Raises DeviceError if the set has none, or if no kind is given."""
    kinds = {name: _kind(found, name) for name in found.instructions} if kind else {}
    names = [f"{name} ({kinds[name]})" if kind else name for name in found.instructions]
    first = next((name for name, its in kinds.items() if its == kind), None)
    if first is None:
        none = f"it has no {kind} instruction, so " if kind else ""
        raise DeviceError(f"{none}say what the new one is like: --like and one of {', '.join(names)}", where=found.name)
    return first


def _kind(found: InstructionSet, name: str) -> str:
    """Of an instruction that the conformance suite draws, in its first directed call; else "unknown"."""
    source, device = found.conformance.get(name), next(iter(found.devices.values()), None)
    if source is None or device is None:
        return "unknown"
    cls, draw = found.instructions[name], source.draw_directed(device, 0, np.random.default_rng(0))
    fields = resolved_draw(found, device, draw).call.fields
    written = {r.space for r in cls.writes(device, fields)}
    touched = written | {r.space for r in cls.reads(device, fields)}
    if not written and cls.configures(device, fields):
        return "configuration"
    return "dma" if touched & device.memory.keys() and touched & device.arrays.keys() else "arithmetic"
