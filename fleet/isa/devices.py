"""Device files: one TOML a device, read and checked.

name = "small"                  # the file's name without .toml
instruction_set = "example"
clock_mhz = 280.0               # the domain in which cycles are counted
[parameters]                    # integers of at least 0, under the names of the hardware's parameters; HbmPorts always
[memory]                        # space -> bytes; ddr always; hbm is bytes a port
[limits]                        # macs_per_cycle, hbm_bytes_per_cycle, ddr_bytes_per_cycle: for the roofline
[timing.ddr]                    # and [timing.hbm]: DRAM behind the ports, for `--memory timed`; `fleet.isa.dram` has the keys
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fleet.errors import DeviceError
from fleet.isa.contract import Device
from fleet.isa.dram import check_timing
from fleet.isa.toml_places import place

__all__ = ["LIMITS", "load_device", "load_devices"]

LIMITS: tuple[str, ...] = ("macs_per_cycle", "hbm_bytes_per_cycle", "ddr_bytes_per_cycle")
"""Keys of `[limits]`."""

_LINE = re.compile(r"at line (\d+)")
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
    table = _read(path)
    _keys(path, "", table, required=_TOP, optional=("timing",))
    name, owner = _string(path, table, "name"), _string(path, table, "instruction_set")
    if name != path.stem:
        raise DeviceError(f"name is '{name}', expected '{path.stem}' as the file is called", where=place(path, "name"))
    if owner != set_name:
        raise DeviceError(f"instruction_set is '{owner}', expected '{set_name}'", where=place(path, "instruction_set"))
    positive = {"HbmPorts", *above_zero}
    wanted = tuple(dict.fromkeys((*parameters, "HbmPorts")))
    limits = _table(path, table, "limits")
    _keys(path, "limits.", limits, required=LIMITS)
    memory = _table(path, table, "memory")
    if "ddr" not in memory:
        raise DeviceError("memory.ddr is missing", where=place(path, "memory.ddr"))
    _keys(path, "memory.", memory, required=("ddr",), optional=("hbm",))
    sizes = {k: _positive_int(path, f"memory.{k}", v) for k, v in memory.items()}
    values = _table(path, table, "parameters")
    _keys(path, "parameters.", values, required=wanted, more=len(wanted) == 1)
    return Device(
        name=name,
        instruction_set=owner,
        parameters={k: _positive_int(path, f"parameters.{k}", v, zero=k not in positive) for k, v in values.items()},
        memory=sizes,
        clock_mhz=_positive(path, "clock_mhz", table["clock_mhz"]),
        limits={k: _positive(path, f"limits.{k}", v, zero=k == "macs_per_cycle" or k.startswith("hbm")) for k, v in limits.items()},
        path=path,
        timing=check_timing(path, _table(path, table, "timing"), sizes) if "timing" in table else {},
    )


def _read(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as f:
            return tomllib.load(f)
    except OSError as error:
        raise DeviceError(f"the device file cannot be read ({error.strerror})", where=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        line = _LINE.search(str(error))
        raise DeviceError(f"no TOML: {error}", where=f"{path}:{line[1] if line else 1}") from error


def _keys(
    path: Path,
    prefix: str,
    table: Mapping[str, Any],
    *,
    required: tuple[str, ...],
    optional: tuple[str, ...] = (),
    more: bool = False,
) -> None:
    for key in required:
        if key not in table:
            raise DeviceError(f"{prefix}{key} is missing", where=place(path, f"{prefix}{key}"))
    for key in table:
        if key not in (*required, *optional) and not more:
            known = ", ".join((*required, *optional))
            raise DeviceError(f"unknown key {prefix}{key}", where=place(path, f"{prefix}{key}"), hint=f"known are {known}")


def _table(path: Path, table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value: Any = table[key]
    if not isinstance(value, dict):
        raise DeviceError(f"[{key}] must be a table", where=place(path, key))
    return value


def _string(path: Path, table: Mapping[str, Any], key: str) -> str:
    value: Any = table[key]
    if not isinstance(value, str):
        raise DeviceError(f"{key} must be a string", where=place(path, key))
    return value


def _positive_int(path: Path, key: str, value: Any, *, zero: bool = False) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < (0 if zero else 1):
        expected = "an integer of at least 0" if zero else "an integer above 0"
        raise DeviceError(f"{key} is {value!r}, expected {expected}", where=place(path, key))
    return value


def _positive(path: Path, key: str, value: Any, *, zero: bool = False) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not (0 < value < float("inf") or (zero and value == 0)):
        raise DeviceError(f"{key} is {value!r}, expected a number above 0", where=place(path, key))
    return float(value)
