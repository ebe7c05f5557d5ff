"""Every installed device with HBM, by its name in capital letters."""

from __future__ import annotations

from fleet.dlavm.device.base_accel import Accel
from fleet.errors import DeviceError
from fleet.isa.registry import find_device, instruction_sets


class UnknownAccelerator(DeviceError, AttributeError):
    """The device does not exist. Also an AttributeError, because `hasattr` expects that."""


def __getattr__(name: str) -> Accel:
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        found = find_device(name.lower())[1]
    except DeviceError as error:
        raise UnknownAccelerator(error.what, where=error.where, hint=error.hint) from None
    if "hbm" not in found.memory:
        raise UnknownAccelerator("it has no HBM", where=f"device {found.name}")
    return globals().setdefault(name, Accel(found))  # a script's assignment persists


def __dir__() -> list[str]:
    return sorted(d.name.upper() for s in instruction_sets().values() for d in s.devices.values() if "hbm" in d.memory)
