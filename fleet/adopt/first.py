"""Writes the workspace of a design that is adopted: manifest, port map, registers, an empty description, a smoke test."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from fleet.adopt.bench.plan import REGISTER_OP
from fleet.adopt.map_file import map_text
from fleet.adopt.port_map import PortMap
from fleet.adopt.ports import Top
from fleet.adopt.registers import AdoptedRegister, registers_text
from fleet.adopt.workspace import MANIFEST, proposed, settings_text
from fleet.core.files import write_atomically
from fleet.errors import DeviceError
from fleet.sdk.ports import Protocol

_IDLE = 200
_SETTLE = 50
"""Cycles before the first access: a design may synchronise its reset, and lose what it is asked for meanwhile."""


def write_workspace(
    folder: Path, top: Top, ports: PortMap, closure: str, protocols: Mapping[str, Protocol], registers: Sequence[AdoptedRegister],
    *, sources: Sequence[Path], include_dirs: Sequence[Path], parameters: Mapping[str, str], defines: Mapping[str, str],
    own: Sequence[Path], described: str,
) -> tuple[Path, ...]:  # fmt: skip
    """The files that were written. described: what the registers were read from. Raises DeviceError if the folder is not empty."""
    if folder.exists() and any(folder.iterdir()):
        raise DeviceError("is there already", where=str(folder), hint="name an empty folder, or a .toml file for the map alone")

    def relative(paths: Sequence[Path]) -> tuple[str, ...]:
        return tuple(os.path.relpath(p.absolute(), folder.absolute()) for p in paths)

    texts = {
        MANIFEST: settings_text(
            top, relative(sources), proposed(top, ports, protocols), include_dirs=relative(include_dirs), parameters=parameters,
            defines=defines, protocols=relative(own), registers=bool(registers),
        ),
        "ports.toml": map_text(ports, closure, protocols, top),
        "description.rdl": _description(top, registers),
        "smoke.toml": _smoke(ports, registers),
    }  # fmt: skip
    if registers:
        texts["registers.toml"] = registers_text(registers, described)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    return tuple(folder / name for name in texts)


def _description(top: Top, registers: Sequence[AdoptedRegister]) -> str:
    """SystemRDL: the registers that are known, no instruction yet."""
    lines = [f"// The description of {top.name}: its registers. What makes an instruction of them is for you to say."]
    lines.append(f"addrmap {top.name} {{")
    for r in registers:
        name = re.sub(r"\W+", "_", r.name).strip("_")
        access = "sw = r; hw = w;" if r.access == "r" else f"sw = {r.access}; hw = r;"
        reset = f" = {r.bits}'h{r.reset:x}" if r.known == (1 << r.bits) - 1 else ""
        lines.append(f"  reg {{ regwidth = {r.bits}; field {{ {access} }} value[{r.bits - 1}:0]{reset}; }} {name} @ {r.offset:#x};")
    if not registers:
        lines.append("  // reg { field { sw = rw; hw = r; } value[31:0] = 0; } control @ 0x0;")
    return "\n".join([*lines, "};"]) + "\n"


def _smoke(ports: PortMap, registers: Sequence[AdoptedRegister]) -> str:
    """Reset, a register where there is one, idle cycles with quiet monitors."""
    lines = ["# Resets the design, reads a register, lets it idle; the monitors of its ports must be quiet.", "smoke = true"]
    group = next((g for g in ports.groups if g.role == "subordinate" and g.protocol in REGISTER_OP), None)
    if group is not None:
        name = group.name if group.lanes == 1 else f"{group.name}[0]"
        known = [r for r in registers if "r" in r.access]
        best = max(known, key=lambda r: (bin(r.known).count("1"), bin(r.reset).count("1")), default=None)
        lines += ["", "[[step]]", f"idle = {_SETTLE}", "", "[[step]]", f'read = "{name}"']
        if best is None:
            lines.append("address = 0x0")
        else:
            lines.append(f'register = "{best.name}"')
            lines += [f"expect = {best.reset:#x}", f"mask = {best.known:#x}"] if best.known else []
    return "\n".join([*lines, "", "[[step]]", f"idle = {_IDLE}"]) + "\n"
