"""The places for `with fleet.device(...)`: an engine, or an accelerator and the engine that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fleet.errors import DeviceError
from fleet.ir.program import Program

PLACES: Mapping[str, str] = {
    "host": "llvm-cpu", "cpu": "llvm-cpu", "llvm-cpu": "llvm-cpu", "gpu": "opencl", "opencl": "opencl", "cuda": "cuda",
    "riscv": "riscv", "aarch64": "aarch64", "vm": "vm", "python": "vm", "interp": "interp",
}  # fmt: skip
"""Device of the source -> engine. If the device is the host, operations without machine code run on the VM."""

ACCELERATORS = ("iss", "rtl")
"""Engines of an accelerator: its functional model, which is the default, and the simulation of its hardware."""


@dataclass(frozen=True)
class PartPlace:
    """An engine. device: the accelerator that it runs, None for other engines."""

    engine: str
    device: str | None = None


def place_of(device: str, program: Program) -> PartPlace:
    """Return the place of a device of the source: a key of `PLACES`, "hbm_small", or "hbm_small/rtl".

    Raises DeviceError for another name.
    """
    if device in PLACES:
        return PartPlace(PLACES[device])
    from fleet.isa.registry import device_names

    name, _, engine = device.partition("/")
    if name in device_names() and engine in ("", *ACCELERATORS):
        return PartPlace(engine or ACCELERATORS[0], name)
    hint = f"devices are {', '.join((*PLACES, *device_names()))}, an accelerator with /rtl behind its name in simulation"
    raise DeviceError(f"the source places a part on {device}", where=program.source_name, hint=hint)
