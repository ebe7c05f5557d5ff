"""Resolves SET or DEVICE on the command line: commands about an instruction set accept either."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from fleet.core.plugins import installed
from fleet.errors import DeviceError
from fleet.isa.installed import GROUP
from fleet.isa.registry import broken, find_device, find_instruction_set, instruction_sets
from fleet.sdk import Device, InstructionSet


def chosen_device(instruction_set: InstructionSet, name: str | None) -> Device:
    """Return the device of that name, or the smallest: fewest ports, then least memory. Raises DeviceError."""
    devices = instruction_set.devices
    if name is not None and name not in devices:
        raise DeviceError(f"has no device '{name}'", where=instruction_set.name, hint=f"it has {', '.join(devices) or 'none'}")
    if not devices:
        raise DeviceError("has no device", where=instruction_set.name)
    return (
        devices[name]
        if name
        else min(devices.values(), key=lambda d: (d.parameters.get("HbmPorts", 1), sum(d.memory.values()), d.name))
    )


def find_description(name: str) -> Path:
    """Return the description of a set or device, also of a set that cannot be loaded: NAME.rdl in its package."""
    for point in installed(GROUP, name) if name in broken() else ():
        spec = find_spec(point.value.partition(":")[0].partition(".")[0])  # of the top package: nothing is imported
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            for path in sorted(Path(folder).rglob(f"{name}.rdl")):
                return path
    return find_set(name)[0].description


def find_set(name: str) -> tuple[InstructionSet, Device | None]:
    """Return the instruction set of that name and None; or the set of the device of that name and the device. Sets come first.

    Raises DeviceError that lists both kinds, or reports what is wrong with a set of that name.
    """
    if name in broken():
        return find_instruction_set(name), None
    sets = instruction_sets()
    if name in sets:
        return sets[name], None
    devices = sorted(d for s in sets.values() for d in s.devices)
    if name in devices:
        return find_device(name)
    known = f"instruction sets: {', '.join(sorted((*sets, *broken()))) or 'none'}; devices: {', '.join(devices) or 'none'}"
    raise DeviceError(f"no instruction set and no device is called '{name}'", hint=known)


def find_target(name: str, device: str | None = None) -> tuple[InstructionSet, Device]:
    """Return the set and a device: the named one, else that of --device, else the smallest of the set.

    Raises DeviceError as `find_set` does, if the set has no devices, or if two different devices are named.
    """
    found, named = find_set(name)
    if named is not None and device is not None and device != named.name:
        raise DeviceError(
            f"is a device, --device names another one, '{device}'", where=name, hint=f"give {found.name} --device {device}"
        )
    return found, named or chosen_device(found, device)
