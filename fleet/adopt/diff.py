"""Differences between the design that a port map describes and the design of today: ports, parameters, registers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from fleet.adopt.map_file import Recorded
from fleet.adopt.port_map import PortGroup, PortMap, Unmapped, lanes_of, problems
from fleet.adopt.ports import PortLeaf, Top
from fleet.adopt.registers import AdoptedRegister
from fleet.sdk.ports import Protocol


@dataclass(frozen=True)
class MovedItem:
    """The differences, one line each, and the new map, which keeps edited groups of the old one that still fit."""

    lines: tuple[str, ...]
    ports: PortMap


def moved(old: Recorded, top: Top, now: PortMap, protocols: Mapping[str, Protocol]) -> MovedItem:
    """Compare a recorded map with a top and what its ports mean today."""
    leaves = {leaf.path: leaf for leaf in top.leaves()}
    known = {path for g in old.groups for path in g.paths()} | {u.path for u in old.unmapped}
    lines = [*_ports(old, leaves, known), *_parameters(old, top)]
    kept: list[PortGroup] = []
    for g in old.groups:
        reason = _broken(g, leaves, protocols)
        if reason:
            lines.append(f"group {g.name} ({g.protocol} {g.role}) no longer holds: {reason}")
        else:
            kept.append(g)
    taken = {path for g in kept for path in g.paths()}
    names = {g.name for g in kept}
    for g in now.groups:
        if taken.isdisjoint(g.paths()):
            name = next(n for n in (g.name, *(f"{g.name}_{i}" for i in range(2, len(now.groups) + 3))) if n not in names)
            names.add(name)
            kept.append(replace(g, name=name))
            if known.isdisjoint(g.paths()):
                lines.append(f"group {name} is new: {g.protocol} {g.role}, {', '.join(g.paths())}")
        elif not taken.issuperset(g.paths()):
            more = [p for p in g.paths() if p not in taken]
            lines.append(f"{', '.join(more)}: with ports of an old group it would be {g.protocol} {g.role} {g.name}")
    mapped = {path for g in kept for path in g.paths()}
    reasons = {u.path: u.reason for u in (*now.unmapped, *old.unmapped)}
    order = {path: n for n, path in enumerate(leaves)}
    unmapped = tuple(Unmapped(p, reasons.get(p, "its group was mapped otherwise before")) for p in leaves if p not in mapped)
    kept.sort(key=lambda g: min(order[p] for p in g.paths()))
    return MovedItem(tuple(lines), PortMap(top.name, tuple(kept), unmapped))


def _ports(old: Recorded, leaves: Mapping[str, PortLeaf], known: set[str]) -> Iterator[str]:
    gone = [p for p in sorted(known) if p not in leaves]
    new = [p for p in leaves if p not in known]
    for path in gone:
        bits = old.bits.get(path)
        like = [p for p in new if bits is not None and leaves[p].width * leaves[p].count == bits and _alike(p, path)]
        yield f"port {path} is gone" + (f"; renamed to {like[0]}?" if len(like) == 1 else "")
    for path in new:
        leaf = leaves[path]
        side = {"in": "an input of", "out": "an output of", "inout": "inout,"}[leaf.direction]
        yield f"port {path} is new: {side} {leaf.width * leaf.count} bits"
    for path, bits in old.bits.items():
        if path in leaves and (now := leaves[path].width * leaves[path].count) != bits:
            yield f"port {path} has {now} bits, it had {bits}"


def _alike(one: str, other: str) -> bool:
    """True if the names share a prefix or suffix of at least half the longer one."""
    half = max(len(one), len(other)) // 2
    return one[:half] == other[:half] or one[-half:] == other[-half:]


def _parameters(old: Recorded, top: Top) -> Iterator[str]:
    now = {p.name: p.value for p in top.parameters}
    for name, value in old.parameters.items():
        if name not in now:
            yield f"parameter {name} is gone (it was {value})"
        elif now[name] != value:
            yield f"parameter {name} is {now[name]}, it was {value}"
    if old.parameters or old.bits:
        yield from (f"parameter {name} is new: {value}" for name, value in now.items() if name not in old.parameters)


def _broken(g: PortGroup, leaves: Mapping[str, PortLeaf], protocols: Mapping[str, Protocol]) -> str:
    """Return why a recorded group does not fit the top; "" if it does."""
    protocol = protocols.get(g.protocol)
    if protocol is None:
        return f"no protocol is called {g.protocol}"
    gone = [p for p in g.paths() if p not in leaves]
    if gone:
        return f"{', '.join(gone)} gone"
    unknown = [name for name in g.signals if protocol.signal(name) is None]
    if unknown:
        return f"{protocol.title} has no signal {unknown[0]}"
    assigned = {name: [leaves[p] for p in paths] for name, paths in g.signals.items()}
    faults = list(problems(protocol, g.role, assigned))
    if faults:
        return faults[0]
    lanes = lanes_of(protocol, assigned)
    return "" if lanes == g.lanes else f"it has {lanes} ports side by side, it had {g.lanes}"


def moved_registers(old: Iterable[AdoptedRegister], now: Iterable[AdoptedRegister]) -> Iterator[str]:
    """Yield the differences between two sets of registers, by name."""
    before, after = {r.name: r for r in old}, {r.name: r for r in now}
    for name, r in before.items():
        other = after.get(name)
        if other is None:
            yield f"register {name} at {r.offset:#x} is gone"
            continue
        if other.offset != r.offset:
            yield f"register {name} is at {other.offset:#x}, it was at {r.offset:#x}"
        if other.bits != r.bits:
            yield f"register {name} has {other.bits} bits, it had {r.bits}"
        if (other.reset, other.known) != (r.reset, r.known):
            yield f"register {name} resets to {other.reset:#x}, it was {r.reset:#x}"
        if other.access != r.access:
            yield f"register {name} can be accessed {other.access}, it was {r.access}"
    yield from (f"register {name} is new at {r.offset:#x}" for name, r in after.items() if name not in before)
