"""A module whose AXI ports are structures (rtl_models/axi) as one with a port for each signal, for benches in C++."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "rtl_models" / "axi" / "fleet_axi_pkg.sv"

_STRUCTURE = re.compile(r"typedef struct packed \{(.*?)\} (\w+);", re.S)
_MEMBER = re.compile(r"^\s*(?:logic|(\w+_t)) *(\[\S+\])? +(\w+);", re.M)
_HEADER = re.compile(r"^module (\w+)\s((?:  import [^\n]*\n)*)(?:#\(\n(.*?)\n\) )?\(\n(.*?)\n\);", re.S | re.M)
_PORT = re.compile(r"^  (input|output) +(\S+)(?: +(\[\S+\]))? +(\w*?)((?:rd_|wr_)?(?:req|rsp))_([io]),?$")


def flattened(source: str) -> str:
    """A module `flat_<name>` around the module <name> of a source file, with the same parameters.

    `ddr_req_o` and `ddr_rd_req_o` become `ddr_arvalid_o`, `ddr_araddr_o` and so on, a bit or an element a port where they are
    arrays; other ports stay as they are.
    """
    header = _HEADER.search(source)
    assert header is not None, "no module with a header of one port a line"
    name, imports, parameters, ports = header.groups()
    structures = {name: _MEMBER.findall(body) for body, name in _STRUCTURE.findall(PACKAGE.read_text())}
    flat: list[str] = []
    body: list[str] = []
    for line in ports.splitlines():
        declared = line.split("//")[0].rstrip()
        port = _PORT.match(declared)
        if port is None or port[2] not in structures:
            flat += [declared.rstrip(",")] if declared else []
            continue
        direction, type_, array, prefix, channels, way = port.groups(default="")
        whole = f"{prefix}{channels}_{way}"
        body.append(f"  {type_} {array} {whole};")
        for field, width in _leaves(structures, type_):
            signal = f"{prefix}{field.replace('.', '').replace('_', '')}_{way}"
            flat.append(f"  {direction} logic {array}{width} {signal}")
            sides = [f"{whole}{'[i]' if array else ''}.{field}", f"{signal}{'[i]' if array else ''}"]
            left, right = sides if direction == "input" else reversed(sides)
            loop = f"for (genvar i = 0; i <= {array[1:-3]}; i++) " if array else ""
            body.append(f"  {loop}assign {left} = {right};")
    values = ", ".join(f".{p}({p})" for p in re.findall(r"^  parameter [^=]*?(\w+) *=", parameters or "", re.M))
    return "\n".join(
        [f"module flat_{name}", f"{imports}#(", parameters or "", ") (", ",\n".join(flat), ");", *body,
         f"  {name} #({values}) u_{name} (.*);", "endmodule", ""]
    )  # fmt: skip


def _leaves(structures: dict[str, list[tuple[str, str, str]]], type_: str) -> list[tuple[str, str]]:
    """Fields that are no structures, "ar.addr", and their dimension."""
    found: list[tuple[str, str]] = []
    for inner, width, name in structures[type_]:
        found += [(f"{name}.{f}", w) for f, w in _leaves(structures, inner)] if inner else [(name, width)]
    return found
