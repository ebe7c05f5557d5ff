"""Device files: one TOML a device, read and checked.

name = "small"                  # the file's name without .toml
instruction_set = "example"
clock_mhz = 280.0               # the domain in which cycles are counted
[parameters]                    # integers of at least 0, under the names of the hardware's parameters; HbmPorts always
[memory]                        # space -> bytes; ddr always; hbm is bytes a port
[limits]                        # macs_per_cycle, hbm_bytes_per_cycle, ddr_bytes_per_cycle: for the roofline
[timing.ddr]                    # and [timing.hbm]: DRAM behind the ports, for `--memory timed`; `fleet.sdk.dram` has the keys
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fleet.core.toml_file import read_toml
from fleet.errors import DeviceError
from fleet.sdk.device import Device
from fleet.sdk.dram import check_timing

__all__ = ["LIMITS", "load_device", "load_devices"]

LIMITS: tuple[str, ...] = ("macs_per_cycle", "hbm_bytes_per_cycle", "ddr_bytes_per_cycle")
"""Keys of `[limits]`."""

_TOP = ("name", "instruction_set", "clock_mhz", "parameters", "memory", "limits")


def load_devices(
    folder: Path, set_name: str, *, parameters: Iterable[str] = (), above_zero: Iterable[str] = ()
) -> dict[str, Device]:
    """All `*.toml` of a folder: name -> device, ascending by name.

    parameters: names that `[parameters]` must have; when given, no others but these and "HbmPorts" are accepted.
    above_zero: those of them that are not 0 either; the others may be.
    Raises DeviceError naming file and key for anything wrong; what sizes fit together is for the set to check.
    """
    names, positive = tuple(parameters), tuple(above_zero)
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise DeviceError("no device files (*.toml)", where=str(folder))
    return {d.name: d for d in (load_device(f, set_name, parameters=names, above_zero=positive) for f in files)}


def load_device(path: Path, set_name: str, *, parameters: Iterable[str] = (), above_zero: Iterable[str] = ()) -> Device:
    """One device file; see `load_devices`."""
    file = read_toml(path, DeviceError)
    file.need(*_TOP)
    file.only(*_TOP, "timing")
    name, owner = file.text("name"), file.text("instruction_set")
    if name != path.stem:
        raise file.wrong("name", f"name is '{name}', expected '{path.stem}' as the file is called")
    if owner != set_name:
        raise file.wrong("instruction_set", f"instruction_set is '{owner}', expected '{set_name}'")
    positive = {"HbmPorts", *above_zero}
    wanted = tuple(dict.fromkeys((*parameters, "HbmPorts")))
    limits, memory, values = file.table("limits"), file.table("memory"), file.table("parameters")
    limits.need(*LIMITS)
    limits.only(*LIMITS)
    memory.need("ddr")
    memory.only("ddr", "hbm")
    sizes = {k: memory.integer(k, 1) for k in memory.values}
    values.need(*wanted)
    if len(wanted) > 1:
        values.only(*wanted)
    return Device(
        name=name,
        instruction_set=owner,
        parameters={k: values.integer(k, int(k in positive)) for k in values.values},
        memory=sizes,
        clock_mhz=file.number("clock_mhz"),
        limits={k: limits.number(k, zero=k == "macs_per_cycle" or k.startswith("hbm")) for k in LIMITS},
        path=path,
        timing=check_timing(path, file.table("timing").values, sizes) if "timing" in file else {},
    )
