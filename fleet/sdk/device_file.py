"""Device files: one TOML a device, read and checked.

name = "small"                  # the file's name without .toml
instruction_set = "example"
clock_mhz = 280.0               # the domain in which cycles are counted
[parameters]                    # integers of at least 0, under the names of the hardware's parameters; HbmPorts always
[memory]                        # space -> bytes; ddr always; hbm is bytes a port
[memories]                      # on-chip memory -> rows (of a bank), where the set has any; "<Name>Depth" of the hardware
[limits]                        # macs_per_cycle, hbm_bytes_per_cycle, ddr_bytes_per_cycle: for the roofline
[clock_estimate]                # mhz and source: what the RTL is estimated to reach; may be left out
[timing.ddr]                    # and [timing.hbm]: DRAM behind the ports, for `--memory timed`; `fleet.sdk.dram` has the keys

`sweep = "../sweep.toml"`, above the tables, names what `fleet sweep` may change (`fleet.sdk.hardware.sweepable`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from fleet.core.toml_file import TomlTable, read_toml
from fleet.errors import DeviceError
from fleet.sdk.dram import check_timing
from fleet.sdk.hardware.device import ClockEstimate, Device
from fleet.sdk.hardware.state import ARRAY_0, MemoryArray, State, depth_parameter, evaluated
from fleet.sdk.hardware.sweepable import sweepable_of

__all__ = ["LIMITS", "load_device", "load_devices"]

LIMITS: tuple[str, ...] = ("macs_per_cycle", "hbm_bytes_per_cycle", "ddr_bytes_per_cycle")
"""Keys of `[limits]`."""

_NO_STATE = State()

_TOP = ("name", "instruction_set", "clock_mhz", "parameters", "memory", "limits")


def load_devices(
    folder: Path, set_name: str, *, parameters: Iterable[str] = (), above_zero: Iterable[str] = (), state: State = _NO_STATE
) -> dict[str, Device]:
    """All `*.toml` of a folder: name -> device, ascending by name.

    parameters: names that `[parameters]` must have; when given, no others but these and "HbmPorts" are accepted.
    above_zero: those of them that are not 0 either; the others may be.
    state: the set's, as `fleet isa generate` writes it; `[memories]` gives the depth of each of its memories.
    Raises DeviceError naming file and key for anything wrong; what sizes fit together is for the set to check.
    """
    names, positive = tuple(parameters), tuple(above_zero)
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise DeviceError("no device files (*.toml)", where=str(folder))
    found = (load_device(f, set_name, parameters=names, above_zero=positive, state=state) for f in files)
    return {d.name: d for d in found}


def load_device(
    path: Path, set_name: str, *, parameters: Iterable[str] = (), above_zero: Iterable[str] = (), state: State = _NO_STATE
) -> Device:
    """Load one device file, as `load_devices` does."""
    file = read_toml(path, DeviceError)
    file.need(*_TOP)
    file.only(*_TOP, "timing", "clock_estimate", "sweep", *(["memories"] if state.memories else []))
    if state.memories:
        file.need("memories")
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
    given = {k: values.integer(k, int(k in positive)) for k in values.values}
    arrays = _arrays(file.table("memories"), state, given) if state.memories else {}
    parameters = given | {depth_parameter(a.name): a.depth for a in arrays.values()}
    _check_rules(path, parameters)
    return Device(
        name=name,
        instruction_set=owner,
        parameters=parameters,
        memory=sizes,
        clock_mhz=file.number("clock_mhz"),
        limits={k: limits.number(k, zero=k == "macs_per_cycle" or k.startswith("hbm")) for k in LIMITS},
        path=path,
        timing=check_timing(path, file.table("timing").values, sizes) if "timing" in file else {},
        state=state,
        arrays=arrays,
        clock_estimate=_clock_estimate(file.table("clock_estimate")) if "clock_estimate" in file else None,
    )


def _clock_estimate(table: TomlTable) -> ClockEstimate:
    table.need("mhz", "source")
    table.only("mhz", "source")
    return ClockEstimate(table.number("mhz"), table.text("source"))


def _check_rules(path: Path, parameters: Mapping[str, int]) -> None:
    sweepable = sweepable_of(path)
    if sweepable is None:
        return
    if unknown := [name for name in sweepable.parameters if name not in parameters]:
        raise DeviceError(f"parameters.{unknown[0]} is no parameter of {path.name}", where=str(sweepable.path))
    if (rule := sweepable.broken_rule(parameters)) is not None:
        raise DeviceError(f"breaks '{rule.condition}': {rule.why}", where=str(path), hint=f"the rule is in {sweepable.path.name}")


def _arrays(table: TomlTable, state: State, parameters: Mapping[str, int]) -> dict[str, MemoryArray]:
    table.need(*(m.name for m in state.memories))
    table.only(*(m.name for m in state.memories))
    found: dict[str, MemoryArray] = {}
    for number, m in enumerate(state.memories, ARRAY_0):
        try:
            columns = evaluated(m.columns, parameters)
        except DeviceError as error:
            raise table.wrong(m.name, f"a row of {m.name} is '{m.columns}' elements: {error.what}") from error
        if columns < 1:
            raise table.wrong(m.name, f"a row of {m.name} is '{m.columns}' = {columns} elements, expected at least 1")
        found[m.name] = MemoryArray(m.name, number, m.dtype, columns, table.integer(m.name, 1), m.banks, m.undefined)
    return found
