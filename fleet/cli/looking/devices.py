"""`fleet devices`: instruction sets, their instructions and devices, and plug-ins that cannot be used."""

from __future__ import annotations

import json
from typing import Any

import click

_EPILOG = """\b
Examples:
  fleet devices
  fleet devices --json

A description hash is that of one device: description, semantics and device file. Traces and the hardware's register carry it.
Exit code 0 also when a plug-in is broken; it is listed with its error.
"""


def _listing() -> dict[str, Any]:
    """Return the object that `--json` prints, from `fleet.isa.registry`."""
    from fleet.isa.reading.cache import load
    from fleet.isa.registry import broken, description_hash, instruction_sets

    sets: list[dict[str, Any]] = []
    for s in instruction_sets(tell=False).values():
        d = load(s.description)
        sets.append(
            {
                "name": s.name,
                "title": d.title,
                "description": str(s.description),
                "rtl": s.rtl.top if s.rtl else None,
                "instructions": [
                    {"name": i.name, "opcode": i.opcode, "unit": i.unit, "title": i.title} for i in d.instructions.values()
                ],
                "devices": [
                    {
                        "name": device.name,
                        "description_hash": description_hash(s, device),
                        "clock_mhz": device.clock_mhz,
                        "parameters": dict(device.parameters),
                        "memory": dict(device.memory),
                        "file": str(device.path),
                    }
                    for device in s.devices.values()
                ],
            }
        )
    return {"instruction_sets": sets, "broken": [{"name": name, "error": str(error)} for name, error in broken().items()]}


def _size(size: int) -> str:
    for shift, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def _memory(device: dict[str, Any]) -> str:
    ports = device["parameters"]["HbmPorts"]
    parts = [f"{space} {f'{ports} x ' if space == 'hbm' else ''}{_size(size)}" for space, size in device["memory"].items()]
    return ", ".join(parts)


def _print(listing: dict[str, Any]) -> None:
    if not listing["instruction_sets"] and not listing["broken"]:
        click.echo("no instruction set is installed")
    for s in listing["instruction_sets"]:
        click.echo(f"{s['name']}: {s['title']} ({'RTL ' + s['rtl'] if s['rtl'] else 'no RTL'})")
        click.echo("  instructions  " + ", ".join(f"{i['name']} {i['opcode']:#04x}" for i in s["instructions"]))
        for d in s["devices"]:
            click.echo(f"  {d['name']:<12}  description {d['description_hash'][:16]}, {d['clock_mhz']:g} MHz, {_memory(d)}")
    for b in listing["broken"]:
        click.echo(f"{b['name']}: BROKEN: {b['error']}")


@click.command(name="devices", epilog=_EPILOG)
@click.option("--json", "as_json", is_flag=True, help="Everything, with whole hashes, parameters and files, as JSON.")
def command(as_json: bool) -> int:
    """List installed instruction sets with their instructions and devices, and plug-ins that cannot be used."""
    listing = _listing()
    if as_json:
        click.echo(json.dumps(listing, indent=1))
    else:
        _print(listing)
    return 0
