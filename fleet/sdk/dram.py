"""The memory behind a port: the tables `[timing.<space>]` of a device file, checked, in clocks of the memory.

A device with these tables can be simulated with `--memory timed`: banks with open rows, refresh, the memory's own clock
(rtl_models/memory/dram.h has the rules, timed.h the controller's queues). Every number is the file's; nothing has a default.
Keys, in clocks of `clock_mhz` where the name says no other unit:

clock_mhz                  command clock
map                        address bits, highest first: R row, G bank group, B bank in it, C column, each with its bits; what is
                           left below is the offset in a beat
burst                      clocks of the data bus a beat (an AXI beat is one column access)
cl, cwl                    read, write command to first data
turn                       idle clocks of the bus between read and write data
t_rcd, t_rp, t_ras, t_rtp, t_wr, t_ccd_s, t_ccd_l, t_rrd_s, t_rrd_l, t_faw, t_wtr_s, t_wtr_l    as JEDEC calls them
t_rfc_ns, t_refi_ns        an all-bank refresh; between two
request_ns                 the controller and the port, both ways together
queue_bursts               read bursts that the controller sees ahead
return_beats               beats that wait between the memory's clock and the core's
write_beats, write_batch, write_wait    beats of writes that wait; how many go together; clocks after which they go anyway
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fleet.core.toml_places import place
from fleet.errors import DeviceError

if TYPE_CHECKING:
    from fleet.sdk.hardware.device import Device

__all__ = ["BEAT_BYTES", "Dram", "check_timing", "dram", "timing_keys"]

BEAT_BYTES: Mapping[str, int] = {"hbm": 32, "ddr": 64}
"""Bytes of a beat on the ports of a space (rtl_models/README.md); the spaces that can have a timing table."""

_CLOCKS = (
    "cl", "cwl", "burst", "turn", "t_rcd", "t_rp", "t_ras", "t_rtp", "t_wr", "t_ccd_s", "t_ccd_l", "t_rrd_s", "t_rrd_l", "t_faw",
    "t_wtr_s", "t_wtr_l", "queue_bursts", "return_beats", "write_beats", "write_batch", "write_wait",
)  # fmt: skip
_REAL = ("clock_mhz", "request_ns", "t_rfc_ns", "t_refi_ns")
_FIELD = re.compile(r"([RGBC])([1-9][0-9]?)")


@dataclass(frozen=True)
class Dram:
    """A timing table; times in clocks of the memory. `clock_khz`: that clock. The other names are those of the file."""

    clock_khz: int
    map: str
    cl: int
    cwl: int
    burst: int
    turn: int
    t_rcd: int
    t_rp: int
    t_ras: int
    t_rtp: int
    t_wr: int
    t_ccd_s: int
    t_ccd_l: int
    t_rrd_s: int
    t_rrd_l: int
    t_faw: int
    t_wtr_s: int
    t_wtr_l: int
    t_rfc: int
    t_refi: int
    request: int
    queue_bursts: int
    return_beats: int
    write_beats: int
    write_batch: int
    write_wait: int


def dram(device: Device, space: str) -> Dram:
    """Return the memory behind the ports of a space ("hbm" or "ddr"). Raises DeviceError if the device file has no such table."""
    table = device.timing.get(space)
    if table is None:
        raise DeviceError(
            f"the device has no table [timing.{space}]: it cannot be simulated with timed memory",
            where=str(device.path),
            hint="use ideal, fixed or stall, or state the memory's timing in the device file",
        )
    clocks = {name: int(table[name]) for name in _CLOCKS}
    mhz = float(table["clock_mhz"])
    times = {name: math.ceil(float(table[f"{name}_ns"]) * mhz / 1000 - 1e-6) for name in ("request", "t_rfc", "t_refi")}
    return Dram(clock_khz=round(1000 * mhz), map=str(table["map"]), **clocks, **times)


def timing_keys(device: Device) -> dict[str, str]:
    """The job's keys "timing.<key>" (without that prefix) for a device: key -> value. Raises DeviceError like `dram`."""
    keys = {"core_khz": str(round(1000 * device.clock_mhz))}
    for space in BEAT_BYTES:
        if space == "ddr" or space in device.memory:
            keys |= {f"{space}.{name}": str(value) for name, value in asdict(dram(device, space)).items()}
    return keys


_Table = Mapping[str, Any]
"""Parameters of a TOML file, before its values are checked."""


def check_timing(path: Path, timing: Mapping[str, object], memory: Mapping[str, int]) -> Mapping[str, Mapping[str, float | str]]:
    """The tables of a device file's `[timing]`, as they are. Raises DeviceError naming file and key for anything wrong."""
    checked: dict[str, Mapping[str, float | str]] = {}
    for space, table in timing.items():
        where = f"timing.{space}"
        if space not in BEAT_BYTES or space not in memory:
            known = [name for name in BEAT_BYTES if name in memory]
            raise DeviceError(f"unknown key {where}", where=place(path, where), hint=f"known are {', '.join(known)}")
        if not isinstance(table, dict):
            raise DeviceError(f"[{where}] must be a table", where=place(path, where))
        checked[space] = _check(path, where, cast("_Table", table), memory[space], BEAT_BYTES[space])
    return checked


def _check(path: Path, where: str, table: _Table, size: int, beat: int) -> Mapping[str, float | str]:
    names = (*_CLOCKS, *_REAL, "map")
    for name in names:
        if name not in table:
            raise DeviceError(f"{where}.{name} is missing", where=place(path, f"{where}.{name}"))
    for name, value in table.items():
        if name not in names:
            raise DeviceError(
                f"unknown key {where}.{name}", where=place(path, f"{where}.{name}"), hint=f"known are {', '.join(names)}"
            )
        whole = isinstance(value, int) and not isinstance(value, bool)
        if name in _CLOCKS and not (whole and 0 < value < 1 << 30):
            raise DeviceError(f"{where}.{name} is {value!r}, expected an integer above 0", where=place(path, f"{where}.{name}"))
        if name in _REAL and not ((whole or isinstance(value, float)) and 0 < value < 1e9):
            raise DeviceError(f"{where}.{name} is {value!r}, expected a number above 0", where=place(path, f"{where}.{name}"))
    clock = float(table["clock_mhz"]) / 1000
    closed = float(table["t_rfc_ns"]) + (table["t_rp"] + table["t_rcd"]) / clock
    if closed + 2 / clock >= table["t_refi_ns"]:
        raise DeviceError(
            f"{where}.t_refi_ns is {table['t_refi_ns']!r}, expected more than a refresh takes ({closed:.1f})",
            where=place(path, f"{where}.t_refi_ns"),
        )
    _check_map(path, f"{where}.map", table["map"], size, beat)
    return dict(table)


def _check_map(path: Path, where: str, text: object, size: int, beat: int) -> None:
    fields = [_FIELD.fullmatch(word) for word in text.split()] if isinstance(text, str) else []
    bits = {kind: sum(int(f[2]) for f in fields if f is not None and f[1] == kind) for kind in "RGBC"}
    if not fields or None in fields or not bits["R"] or bits["G"] > 3 or bits["B"] > 4:
        raise DeviceError(
            f"{where} is {text!r}, expected fields R (a row at least), G (up to 3 bits), B (up to 4) and C, highest first",
            where=place(path, where),
            hint="like 'R14 G1 B2 C5 G1'",
        )
    reach = beat << sum(bits.values())
    if reach < size:
        raise DeviceError(f"{where} reaches {reach} bytes, the memory has {size}", where=place(path, where))
