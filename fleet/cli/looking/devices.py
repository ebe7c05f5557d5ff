"""`fleet devices`: instruction sets, their instructions and devices, and plug-ins that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import click

from fleet.core.codec import encode_record

_EPILOG = """\b
Examples:
  fleet devices
  fleet devices --json

A description hash is that of one device: description, semantics and device file. Traces and the hardware's register carry it.
Exit code 0 also when a plug-in is broken; it is listed with its error.
"""


@dataclass(frozen=True)
class _ListedInstruction:
    name: str
    opcode: int
    unit: str
    title: str


@dataclass(frozen=True)
class _ListedDevice:
    name: str
    description_hash: str
    clock_mhz: float
    estimated_mhz: float | None
    parameters: Mapping[str, int]
    memory: Mapping[str, int]
    file: str


@dataclass(frozen=True)
class _ListedSet:
    name: str
    title: str
    description: str
    rtl: str | None
    instructions: tuple[_ListedInstruction, ...]
    devices: tuple[_ListedDevice, ...]


@dataclass(frozen=True)
class _BrokenSet:
    name: str
    error: str


@dataclass(frozen=True)
class _Listing:
    """The JSON document of `--json`."""

    instruction_sets: tuple[_ListedSet, ...]
    broken: tuple[_BrokenSet, ...]


def _listing() -> _Listing:
    from fleet.isa.reading.cache import load
    from fleet.isa.registry import broken, description_hash, instruction_sets

    sets: list[_ListedSet] = []
    for s in instruction_sets(tell=False).values():
        d = load(s.description)
        instructions = tuple(_ListedInstruction(i.name, i.opcode, i.unit, i.title) for i in d.instructions.values())
        devices = tuple(
            _ListedDevice(
                v.name,
                description_hash(s, v),
                v.clock_mhz,
                v.clock_estimate and v.clock_estimate.mhz,
                v.parameters,
                v.memory,
                str(v.path),
            )
            for v in s.devices.values()
        )
        sets.append(_ListedSet(s.name, d.title, str(s.description), s.rtl.top if s.rtl else None, instructions, devices))
    return _Listing(tuple(sets), tuple(_BrokenSet(name, str(error)) for name, error in broken().items()))


def _size(size: int) -> str:
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def _memory(device: _ListedDevice) -> str:
    ports = device.parameters["HbmPorts"]
    parts = [f"{space} {f'{ports} x ' if space == 'hbm' else ''}{_size(size)}" for space, size in device.memory.items()]
    return ", ".join(parts)


def _print(listing: _Listing) -> None:
    if not listing.instruction_sets and not listing.broken:
        click.echo("no instruction set is installed")
    for s in listing.instruction_sets:
        click.echo(f"{s.name}: {s.title} ({f'RTL {s.rtl}' if s.rtl else 'no RTL'})")
        click.echo("  instructions  " + ", ".join(f"{i.name} {i.opcode:#04x}" for i in s.instructions))
        for d in s.devices:
            own = f" (RTL: estimated {d.estimated_mhz:g} MHz at most)" if d.estimated_mhz else ""
            click.echo(f"  {d.name:<12}  description {d.description_hash[:16]}, {d.clock_mhz:g} MHz{own}, {_memory(d)}")
    for b in listing.broken:
        click.echo(f"{b.name}: BROKEN: {b.error}")


@click.command(name="devices", epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Everything, with whole hashes, parameters and files, as JSON.")
def command(as_json: bool) -> int:
    """List installed instruction sets with their instructions and devices, and plug-ins that cannot be used."""
    listing = _listing()
    if as_json:
        click.echo(json.dumps(encode_record(listing), indent=1))
    else:
        _print(listing)
    return 0
