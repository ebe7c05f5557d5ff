"""Inspection of a model: its operations, and the share of each device. Nothing runs.

Example:
    >>> from fleet.compiler.inspection import inspect_program
    >>> facts = inspect_program(fleet.compile("model.py:forward").program)
    >>> facts.best.device, facts.best.share
    ('hbm_small', 1.0)
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fleet.core.codec import Json
from fleet.engines.accel_counters import matmul_macs, static_counters
from fleet.errors import FleetError
from fleet.ir.dialect import ConstantOp, op_id
from fleet.ir.lowering_options import USUAL
from fleet.isa.registry import find_device, instruction_sets
from fleet.targets.accel.compile import compile_accel, lowered_program
from fleet.transforms.place import Placement, place

if TYPE_CHECKING:
    from fleet.ir.program import Program
    from fleet.sdk import Device, InstructionSet

_COMPILED, _COMPILED_OPERATIONS = 1 << 20, 1 << 9
"""Limits of weight elements and operations up to which a program is compiled for every device; a larger one is only placed."""

_PLACED, _PLACED_S = 3000, 10.0
"""Operations up to which a program is placed on every device; seconds after which no further device is started."""

_KINDS = 6
"""Maximum number of kinds of operations in a reason."""

_LEAST_BITS = 4
"""Minimum bits of a weight on a device: a model that does not fit with these does not fit at all."""


@dataclass(frozen=True)
class Reason:
    """Reason for operations to stay on the host. operations: their ids; macs: their multiply-accumulates."""

    why: str
    operations: tuple[str, ...]
    macs: int


@dataclass(frozen=True)
class OnDevice:
    """Share of a model on one device.

    Attributes:
        device, instruction_set: names.
        room: bytes of the device's memories.
        operations, macs: of the program as the device's compiler sees it.
        placed, placed_macs: those that the device runs.
        reasons: for what the host keeps, the most work first.
        cycles: the cost model's estimate with ideal memory; None if the program was not compiled for the device.
        seconds: the same at the device's clock.
        refused: why the device cannot hold the model; None if it can, or if that was not tried (`compiled`).
        compiled: whether the program was compiled, not only placed.
    """

    device: str
    instruction_set: str
    room: int
    operations: int
    placed: int
    macs: int
    placed_macs: int
    reasons: tuple[Reason, ...]
    cycles: int | None = None
    seconds: float | None = None
    refused: str | None = None
    compiled: bool = False

    @property
    def share(self) -> float:
        """Fraction of the work that the device runs, 0 to 1: of multiply-accumulates, or of operations if there are none."""
        if self.refused is not None:
            return 0.0
        if self.macs:
            return self.placed_macs / self.macs
        return self.placed / self.operations if self.operations else 0.0


@dataclass(frozen=True)
class ProgramFacts:
    """A program and its devices.

    Attributes:
        operators: name -> count, the most frequent first; constants are not counted.
        macs: multiply-accumulates of its products, of a loop those of one round.
        weights, weight_numbers, weight_bytes: arrays, their elements, their bytes.
        symbols: the sizes of the free dimensions for which all this holds.
        devices: of every installed set.
    """

    operators: Mapping[str, int]
    macs: int
    weights: int
    weight_numbers: int
    weight_bytes: int
    symbols: Mapping[str, int]
    devices: tuple[OnDevice, ...]

    @property
    def best(self) -> OnDevice | None:
        """The device to start with; None if no device runs anything.

        Among the devices with the largest share: the set with the fastest one, and of that set the smallest device that is known to
        hold the model, because its hardware simulates fastest; the largest device if that is not known.
        """
        most = max(((d.share, d.placed) for d in self.devices), default=(0.0, 0))
        able = [d for d in self.devices if d.share > 0 and (d.share, d.placed) == most]
        if not able:
            return None
        family = min(able, key=lambda d: d.seconds or 0.0).instruction_set
        own = [d for d in able if d.instruction_set == family]
        return min((d for d in own if d.compiled), key=lambda d: d.room, default=max(own, key=lambda d: d.room))

    def to_json(self) -> dict[str, Json]:
        """Return JSON values; every device with its share."""
        devices = [{**asdict(d), "share": d.share} for d in self.devices]
        return {**asdict(self), "operators": dict(self.operators), "symbols": dict(self.symbols), "devices": devices}


def inspect_program(program: Program, device: str | None = None) -> ProgramFacts:
    """Return the facts. device: only this one. Raises DeviceError for an unknown device."""
    operators = Counter(op.name.partition(".")[2] for op in program.operations() if not isinstance(op, ConstantOp))
    shapes = [(a.shape, a.dtype) for a in program.arguments if a.kind == "weight"]
    numbers = sum(int(np.prod(shape, dtype=np.int64)) for shape, _ in shapes)
    if device is not None:
        chosen = [find_device(device)]
    else:
        chosen = [(s, d) for s in instruction_sets(tell=False).values() for d in s.devices.values()]
    return ProgramFacts(
        operators=dict(operators.most_common()),
        macs=sum(matmul_macs(op) for op in program.operations()),
        weights=len(shapes),
        weight_numbers=numbers,
        weight_bytes=sum(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize for shape, dtype in shapes),
        symbols=dict(program.symbols),
        devices=tuple(_placed(program, chosen, numbers, sum(operators.values()), every=device is None)),
    )


def _placed(
    program: Program, chosen: Sequence[tuple[InstructionSet, Device]], numbers: int, operations: int, *, every: bool
) -> Iterator[OnDevice]:
    lowered: dict[str, Program | FleetError] = {}
    begin = time.monotonic()
    for s, d in chosen:
        if every and (operations > _PLACED or time.monotonic() - begin > _PLACED_S):
            why = f"not looked at: {operations:,} operations take a while; --device {d.name} looks"
            yield OnDevice(d.name, s.name, _room(d), operations, 0, 0, 0, (), refused=why)
            continue
        if s.name not in lowered:
            try:
                lowered[s.name] = lowered_program(program, s)
            except FleetError as error:
                lowered[s.name] = error
        found = lowered[s.name]
        if isinstance(found, FleetError):
            yield OnDevice(d.name, s.name, _room(d), 0, 0, 0, 0, (), refused=found.what)
        else:
            large = numbers > _COMPILED or operations > _COMPILED_OPERATIONS
            yield _on_device(program, found, s, d, numbers if large else None)


def _room(device: Device) -> int:
    ports = device.parameters.get("HbmPorts", 1)
    return sum(size * (ports if space == "hbm" else 1) for space, size in device.memory.items())


def _on_device(
    program: Program, lowered: Program, instruction_set: InstructionSet, device: Device, numbers: int | None
) -> OnDevice:
    """numbers: of weights, if the program is too large to be compiled; else None."""
    name, family, room = device.name, instruction_set.name, _room(device)
    try:
        placement = place(lowered, instruction_set.patterns, device, USUAL)
    except FleetError as error:
        return OnDevice(name, family, room, 0, 0, 0, 0, (), refused=error.what)
    operations = [op for op in lowered.operations() if not isinstance(op, ConstantOp)]
    work = {op_id(op): matmul_macs(op) for op in operations}
    found = OnDevice(
        name, family, room, len(operations), len(operations) - len(placement.missed), sum(work.values()),
        sum(n for op, n in work.items() if op not in placement.missed), _reasons(placement, work),
    )  # fmt: skip
    if not found.placed:
        return found
    if numbers is not None:
        return replace(found, refused=_too_small(room, numbers))
    try:
        compiled = compile_accel(program, instruction_set, device)
    except FleetError as error:
        return replace(found, refused=error.what)
    cycles = round(static_counters(compiled)["cycles_estimate"])
    return replace(found, cycles=cycles, seconds=cycles / device.clock_mhz / 1e6, compiled=True)


def _reasons(placement: Placement, work: Mapping[str, int]) -> tuple[Reason, ...]:
    """Return the reasons by text. Operations for which the device has no instruction share one reason, which names their kinds."""
    by_reason: dict[str, list[str]] = {}
    kinds: dict[str, Counter[str]] = {}
    for operation, why in placement.missed.items():
        alike, lacks, kind = why.partition(" no instruction for ")
        if lacks and " " not in kind:
            kinds.setdefault(why := alike + lacks, Counter())[kind] += 1
        by_reason.setdefault(why, []).append(operation)
    reasons = [
        Reason(why + _kinds(kinds.get(why, Counter())), tuple(ops), sum(work.get(op, 0) for op in ops))
        for why, ops in by_reason.items()
    ]
    return tuple(sorted(reasons, key=lambda r: (-r.macs, -len(r.operations))))


def _kinds(counted: Counter[str]) -> str:
    names = [kind for kind, _ in counted.most_common()]
    return ", ".join(names[:_KINDS]) + (f" and {len(names) - _KINDS} more kinds" if len(names) > _KINDS else "")


def _too_small(room: int, numbers: int) -> str | None:
    least = numbers * _LEAST_BITS // 8
    return f"{numbers:,} weights need {least:,} bytes or more, it has {room:,}" if least > room else None
