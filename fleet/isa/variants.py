"""Variants of a device: the same device with other hardware parameters, named "hbm_small@Tin=128".

>>> find_device("hbm_small@Tin=128")[1].parameters["Tin"]
128
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fleet.errors import DeviceError
from fleet.sdk import Device
from fleet.sdk.hardware.state import depth_parameter, evaluated
from fleet.sdk.hardware.sweepable import Sweepable, sweepable_of

MARK = "@"
"""Between a device's name and the changes."""


def sweepable(device: Device) -> Sweepable:
    """Return what may be changed in a device. Raises DeviceError if its file says nothing of it."""
    found = sweepable_of(device.path)
    if found is None:
        hint = 'name a file of what may be changed in it: sweep = "sweep.toml" (fleet help sweep)'
        raise DeviceError(f"device '{device.name}' has no parameters to change", where=str(device.path), hint=hint)
    return found


def changes_of(text: str, where: str) -> dict[str, int]:
    """Read "Tin=128,Tout=16". Raises DeviceError, with `where`."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, equals, value = part.partition("=")
        if not (name and equals and value.isdecimal()) or name in found:
            raise DeviceError(f"'{part}' is no change of a parameter", where=where, hint="write Tin=128,Tout=16, each name once")
        found[name] = int(value)
    return found


def variant(device: Device, changes: Mapping[str, int]) -> Device:
    """Return the device with other parameters; its name lists those that differ, in the order of the file of `sweepable`.

    changes: parameter, or another name of it -> value. Limits that follow from parameters and rows of on-chip memories follow.
    Raises DeviceError if a parameter may not be changed, or for values that the hardware cannot have, with the rule.
    """
    space = sweepable(device)
    known = {other: name for name, others in space.parameters.items() for other in (name, *others)}
    if unknown := [name for name in changes if name not in known]:
        hint = f"of {device.name} may be changed: {', '.join(space.parameters)}"
        raise DeviceError(f"no parameter '{unknown[0]}' to change", where=device.name, hint=hint)
    wanted = {known[name]: value for name, value in changes.items()}
    parameters = {**device.parameters, **wanted}
    different = {name: parameters[name] for name in space.parameters if parameters[name] != device.parameters[name]}
    if not different:
        return device
    said = ",".join(f"{name}={value}" for name, value in different.items())
    if low := [name for name, value in different.items() if value < 1]:
        raise DeviceError(f"{low[0]} is {different[low[0]]}, expected at least 1", where=device.name)
    if (rule := space.broken_rule(parameters)) is not None:
        hint = f"the rule of {space.path.name} is: {rule.condition}"
        raise DeviceError(f"the hardware cannot have {said}: {rule.why}", where=device.name, hint=hint)
    arrays = {
        m.name: replace(
            device.arrays[m.name], columns=evaluated(m.columns, parameters), depth=parameters[depth_parameter(m.name)]
        )
        for m in device.state.memories
    }  # fmt: skip
    limits = {**device.limits, **{name: float(evaluated(text, parameters)) for name, text in space.limits.items()}}
    return replace(device, name=f"{device.name}{MARK}{said}", parameters=parameters, limits=limits, arrays=arrays)
