"""Axes as a user writes them ("Tin=64,128"), and the points that they span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from fleet.engines.rtl import memory_model, memory_timing
from fleet.errors import DeviceError, FleetError, ModelError
from fleet.isa.variants import sweepable, variant
from fleet.sdk import Device
from fleet.sweep.records import LeftOut, SweepAxis, SweepPoint

MEMORY = "memory"
"""The axis of memory models; its default is "ideal"."""
_MOST = 100_000


def read_axes(texts: Sequence[str], device: Device) -> tuple[SweepAxis, ...]:
    """Read axes of a device; another name of a parameter becomes the parameter's own.

    Raises FleetError for an axis that the device does not have, given twice, or without values.
    """
    space = sweepable(device)
    known = {other: name for name, others in space.parameters.items() for other in (name, *others)}
    known |= {name: name for name in (*space.options, MEMORY)}
    found: dict[str, SweepAxis] = {}
    for text in texts:
        given, equals, rest = text.partition("=")
        values = tuple(rest.split(","))
        if not equals or not all(values):
            raise FleetError(f"'{text}' is no axis", where="--over", hint="write NAME=VALUE,VALUE: Tin=64,128")
        if given not in known:
            hint = f"axes of {device.name} are {', '.join(known)}"
            raise FleetError(f"{device.name} has no axis '{given}'", where="--over", hint=hint)
        name = known[given]
        if name in found:
            raise FleetError(f"axis {name} is given twice", where="--over", hint="give all its values at once")
        if len(set(values)) != len(values):
            raise FleetError(f"axis {name} has a value twice", where="--over")
        for value in values:
            _check(value, name, device, space.options)
        found[name] = SweepAxis(name, values)
    if not found:
        raise FleetError("no axis was given", where="--over", hint=f"axes of {device.name} are {', '.join(known)}")
    return tuple(found.values())


def _check(value: str, name: str, device: Device, options: Mapping[str, tuple[int, ...]]) -> None:
    if name == MEMORY:
        memory_timing(memory_model(value, 0), device)
    elif not (value.isascii() and value.isdecimal()):
        raise FleetError(f"{name}={value}: expected an integer", where="--over")
    elif name in options and int(value) not in options[name]:
        expected = ", ".join(map(str, options[name]))
        raise ModelError(f"{name}={value}: {device.instruction_set} has {expected}", where="--over")


def spanned(device: Device, axes: Sequence[SweepAxis]) -> tuple[tuple[SweepPoint, ...], tuple[LeftOut, ...]]:
    """Return the points, and the combinations that the hardware cannot have.

    Raises:
        DeviceError: the hardware cannot have a value in any combination; names value and rule.
        FleetError: there are more than 100,000 combinations.
    """
    parameters = [axis for axis in axes if axis.name in device.parameters]
    options = [axis for axis in axes if axis.name != MEMORY and axis not in parameters]
    memories = next((axis.values for axis in axes if axis.name == MEMORY), ("ideal",))
    count = len(memories)
    for axis in (*parameters, *options):
        count *= len(axis.values)
    if count > _MOST:
        raise FleetError(f"{count:,} combinations, expected at most {_MOST:,}", where="--over", hint="give fewer values")
    points: list[SweepPoint] = []
    left_out: list[LeftOut] = []
    refusals: dict[tuple[str, str], DeviceError] = {}
    possible: set[tuple[str, str]] = set()
    for chosen in product(*(axis.values for axis in parameters)):
        hardware = dict(zip((axis.name for axis in parameters), chosen, strict=True))
        try:
            name = variant(device, {key: int(value) for key, value in hardware.items()}).name
        except DeviceError as error:
            left_out.append(LeftOut(hardware, error.what))
            for pair in hardware.items():
                refusals.setdefault(pair, error)
            continue
        possible |= set(hardware.items())
        for compiled in product(*(axis.values for axis in options)):
            lowering = {axis.name: int(value) for axis, value in zip(options, compiled, strict=True)}
            points += (_point(axes, hardware, lowering, memory, name) for memory in memories)
    for (name, value), error in refusals.items():
        if (name, value) not in possible:
            raise DeviceError(f"{name}={value}: {error.what}", where="--over", hint=error.hint)
    return tuple(points), tuple(left_out)


def _point(
    axes: Sequence[SweepAxis], hardware: Mapping[str, str], options: Mapping[str, int], memory: str, device: str
) -> SweepPoint:
    every = {**hardware, **{name: str(value) for name, value in options.items()}, MEMORY: memory}
    return SweepPoint({axis.name: every[axis.name] for axis in axes}, device, memory, options)
