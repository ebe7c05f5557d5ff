"""Faults of the functional model and of memory, put in for the time of a test; long programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from fleet.isa.conformance import joined, sources
from fleet.isa.registry import find_device
from fleet.sdk import Device, Draw, Memory, Write
from fleet.streams.case import StreamCase
from fleet.verify.conformance.programs import ProgramPlace


def wrong(patch: pytest.MonkeyPatch, device: str, instruction: str, spoil: Callable[[np.ndarray], None]) -> None:
    """`spoil` changes the 16-bit words that an instruction of the functional model writes first."""
    cls = find_device(device)[0].instructions[instruction]
    right = cls.execute

    def execute(_: type, chip: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        first, *others = right(chip, fields, memory)
        data = np.array(first.data).reshape(-1).view(np.uint8).copy()
        spoil(data[: data.size // 2 * 2].view("<u2"))
        return [replace(first, data=data), *others]

    patch.setattr(cls, "execute", classmethod(execute))


def program(device: str, seed: int, length: int) -> StreamCase:
    """At least `length` legal instructions of all kinds that read and overwrite what earlier ones wrote."""
    instruction_set, chip = find_device(device)
    rng = np.random.default_rng([seed, length])
    place, known = ProgramPlace(chip, rng, 0.6), list(sources(instruction_set).values())
    draws: list[Draw] = []
    while sum(len(d.calls) for d in draws) < length:
        draw = known[int(rng.integers(len(known)))].draw(chip, rng, place, small=True)
        units = [(instruction_set.instructions[c.instruction], c.fields) for c in draw.calls]
        if not any(unit.legal(chip, fields) for unit, fields in units):
            draws.append(draw)
            for unit, fields in units:
                place.done(unit.reads(chip, fields), unit.writes(chip, fields))
    calls = joined(instruction_set, chip, draws)
    parameters = {k: v for d in reversed(draws) for k, v in d.parameters.items()}
    blocks = tuple(b for d in draws for b in d.blocks)
    return StreamCase(f"{device}/test/{seed}", device, calls, blocks, (0,) * len(calls), parameters, seed)
