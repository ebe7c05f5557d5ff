"""The port map as a file, `ports.toml`: written by a proposal, edited by a person, read again and checked against the top.

top = "npu"
closure = "5f0c..."                    # SHA-256 of what was read when the file was written

[parameters]                           # of the top, when the file was written: for `--diff`
W = "256"

[bits]                                 # of its ports
m_axi_awaddr = 40

[[group]]
name = "m_axi"
protocol = "axi4"                      # a protocol of fleet.adopt.protocols
role = "manager"                       # or "subordinate"
lanes = 1                              # ports side by side in vectors and arrays
active_low = []                        # signals
[group.signals]
awaddr = "m_axi_awaddr"                # signal = "leaf", or a list where a signal is several
...

[[unmapped]]
port = "scan_en"
reason = "held at 0"
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fleet.adopt.port_map import PortGroup, PortMap, Unmapped, lanes_of, problems
from fleet.adopt.ports import PortLeaf, Top
from fleet.adopt.protocols import PROTOCOLS
from fleet.core.toml_file import TomlTable, read_toml
from fleet.errors import DeviceError
from fleet.sdk.ports import Protocol, Role

_ROLES: Mapping[str, Role] = {"manager": "manager", "subordinate": "subordinate"}


@dataclass(frozen=True)
class Recorded:
    """A map as a file states it, held to no top. parameters: name -> value; bits: leaf -> width of all its elements."""

    top: str
    closure: str
    parameters: Mapping[str, str]
    bits: Mapping[str, int]
    groups: tuple[PortGroup, ...]
    unmapped: tuple[Unmapped, ...]


def map_text(ports: PortMap, closure: str, protocols: Mapping[str, Protocol] = PROTOCOLS, top: Top | None = None) -> str:
    """The file of a map. closure: of what the map was made of; top: its parameters and widths are recorded."""
    return "\n".join(_lines(ports, closure, protocols, top)) + "\n"


def _lines(ports: PortMap, closure: str, protocols: Mapping[str, Protocol], top: Top | None) -> Iterator[str]:
    yield "# What the ports mean. Edit it, then check it: fleet isa adopt FILELIST --map FILE"
    yield f"top = {json.dumps(ports.top)}"
    yield f"closure = {json.dumps(closure)}"
    if top is not None:
        if top.parameters:
            yield from (
                "",
                "[parameters]",
                *(f"{json.dumps(p.name) if '.' in p.name else p.name} = {json.dumps(p.value)}" for p in top.parameters),
            )
        yield from ("", "[bits]", *(f"{json.dumps(x.path)} = {x.width * x.count}" for x in top.leaves()))
    for g in ports.groups:
        yield from ("", "[[group]]", f"name = {json.dumps(g.name)}")
        yield from (f'protocol = "{g.protocol}"  # {protocols[g.protocol].title}', f'role = "{g.role}"')
        if g.lanes > 1:
            yield f"lanes = {g.lanes}"
        if g.low:
            yield f"active_low = {json.dumps(list(g.low))}"
        yield from (f"# {note}" for note in g.notes)
        yield "[group.signals]"
        for name, paths in g.signals.items():
            value = list(paths) if len(paths) > 1 else "".join(paths)
            yield f"{name} = {json.dumps(value)}"
    for u in ports.unmapped:
        yield from ("", "[[unmapped]]", f"port = {json.dumps(u.path)}", f"reason = {json.dumps(u.reason)}")


def read_map(path: Path, top: Top, protocols: Mapping[str, Protocol] = PROTOCOLS) -> PortMap:
    """The map of a file, checked against the top.

    Raises DeviceError with file:line: for keys, protocols, roles and signals that are not known, leaves that the top does not have
    or that stand twice, groups that are not their protocol, and leaves that are neither mapped nor named as unmapped.
    """
    table = read_toml(path, DeviceError)
    table.only("top", "closure", "parameters", "bits", "group", "unmapped")
    if table.text("top") != top.name:
        raise table.wrong("top", f"the map is of {table.text('top')}, the top is {top.name}")
    leaves = {leaf.path: leaf for leaf in top.leaves()}
    used: set[str] = set()
    groups: dict[str, PortGroup] = {}
    for t in table.tables("group"):
        group = _group(t, leaves, used, protocols)
        if group.name in groups:
            raise t.wrong("name", f"there are two groups {group.name}")
        groups[group.name] = group
    unmapped: list[Unmapped] = []
    for t in table.tables("unmapped"):
        t.only("port", "reason")
        unmapped.append(Unmapped(_leaf(t, "port", t.text("port"), leaves, used).path, t.text("reason")))
    for leaf in leaves.values():
        if leaf.path not in used:
            raise DeviceError(
                f"{leaf.path} of {top.name} is in no group", where=f"{path}:1",
                hint=f'add it to one, or [[unmapped]] with port = "{leaf.path}" and a reason',
            )  # fmt: skip
    return PortMap(top.name, tuple(groups.values()), tuple(unmapped))


def read_recorded(path: Path) -> Recorded:
    """Read a map from a file. Raises DeviceError with file:line for unknown keys and wrong types."""
    table = read_toml(path, DeviceError)
    table.only("top", "closure", "parameters", "bits", "group", "unmapped")
    parameters = table.table("parameters") if "parameters" in table else None
    bits = table.table("bits") if "bits" in table else None
    groups: list[PortGroup] = []
    for t in table.tables("group"):
        signals = t.table("signals")
        paths = {n: (signals.text(n),) if isinstance(v, str) else signals.texts(n) for n, v in signals.values.items()}
        low = t.texts("active_low") if t.values.get("active_low") else ()
        role = _ROLES[t.chosen("role", _ROLES, "manager")]
        lanes = t.integer("lanes", 1) if "lanes" in t else 1
        groups.append(PortGroup(t.text("name"), t.text("protocol"), role, paths, low, lanes))
    return Recorded(
        table.text("top"),
        table.optional_text("closure") or "",
        {} if parameters is None else {n: parameters.text(n) for n in parameters.values},
        {} if bits is None else {n: bits.integer(n, 0) for n in bits.values},
        tuple(groups),
        tuple(Unmapped(t.text("port"), t.text("reason")) for t in table.tables("unmapped")),
    )


def _group(t: TomlTable, leaves: Mapping[str, PortLeaf], used: set[str], protocols: Mapping[str, Protocol]) -> PortGroup:
    t.only("name", "protocol", "role", "lanes", "active_low", "signals")
    t.need("name", "protocol", "role", "signals")
    protocol = protocols[t.chosen("protocol", protocols, "")]
    role = _ROLES[t.chosen("role", _ROLES, "")]
    signals = _signals(t.table("signals"), protocol, leaves, used)
    low = t.texts("active_low") if t.values.get("active_low") else ()
    for name in low:
        if name not in signals:
            raise t.wrong("active_low", f"{name} is not a signal of this group", value=name)
    faults = list(problems(protocol, role, signals))
    if faults:
        raise t.wrong("protocol", f"{t.text('name')} is no {protocol.title} ({role}): {faults[0]}")
    lanes = t.integer("lanes", 1) if "lanes" in t else 1
    if lanes != lanes_of(protocol, signals):
        raise t.wrong("lanes", f"lanes is {lanes}, the widths and arrays say {lanes_of(protocol, signals)}")
    return PortGroup(
        t.text("name"), protocol.name, role, {n: tuple(x.path for x in found) for n, found in signals.items()}, low, lanes
    )


def _signals(t: TomlTable, protocol: Protocol, leaves: Mapping[str, PortLeaf], used: set[str]) -> dict[str, list[PortLeaf]]:
    found: dict[str, list[PortLeaf]] = {}
    for name, value in t.values.items():
        signal = protocol.signal(name)
        if signal is None:
            known = ", ".join(s.name for s in protocol.signals)
            raise t.wrong(name, f"{protocol.title} has no signal {name}", hint=f"it has {known}")
        paths = (t.text(name),) if isinstance(value, str) else t.texts(name)
        if len(paths) > 1 and not (signal.open or (protocol.payload and name == "payload")):
            raise t.wrong(name, f"{name} is one signal, not {len(paths)}")
        found[name] = [_leaf(t, name, path, leaves, used) for path in paths]
    return found


def _leaf(t: TomlTable, key: str, path: str, leaves: Mapping[str, PortLeaf], used: set[str]) -> PortLeaf:
    if path not in leaves:
        raise t.wrong(key, f"the top has no port {path}", value=path, hint="was it renamed? `fleet isa adopt` lists all")
    if path in used:
        raise t.wrong(key, f"{path} is used twice", value=path)
    used.add(path)
    return leaves[path]
