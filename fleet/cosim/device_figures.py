"""The device that a co-simulation ran on: its figures for pictures, and the hash of its hardware."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from fleet.cosim.identity import text_hash
from fleet.cosim.what_ran import DeviceFigures
from fleet.engines.rtl_sim.top_parameters import top_parameters
from fleet.isa.hardware import hardware_of
from fleet.isa.registry import find_device
from fleet.sdk import Device, InstructionSet


def device_figures(name: str) -> DeviceFigures:
    """Return clock, sizes and limits of a device. Raises FleetError if the name is unknown."""
    return figures_of(find_device(name)[1])


def figures_of(device: Device) -> DeviceFigures:
    """Return clock, sizes and limits of a device."""
    limits, own = {k: float(v) for k, v in device.limits.items()}, device.clock_estimate
    return DeviceFigures(
        device.name, device.instruction_set, float(device.clock_mhz), dict(device.parameters), limits,
        None if own is None else own.mhz, "" if own is None else own.source,
    )  # fmt: skip


def device_hash(device: Device) -> str:
    """Return the SHA-256 (hex) of a device's parameters; the path of its file and the estimate of its clock do not count."""
    return text_hash(replace(device, path=Path(), clock_estimate=None))


def hardware_hash(instruction_set: InstructionSet, device: Device) -> str | None:
    """Return the SHA-256 (hex) of the hardware's sources, top and parameters; None if the set has no hardware."""
    rtl = hardware_of(instruction_set)
    if rtl is None:
        return None
    h = hashlib.sha256(json.dumps([rtl.top, sorted(top_parameters(rtl, device).items())]).encode())
    for path in rtl.files:
        h.update(f"\n{path.name} {path.stat().st_size}\n".encode())
        h.update(path.read_bytes())
    return h.hexdigest()
