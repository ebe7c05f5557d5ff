"""The map of a top's ports: groups of one protocol and role each, and ports that no group explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fleet.adopt.ports import PortLeaf
from fleet.sdk.ports import Protocol, Role, Signal

_SHOWN = 4


@dataclass(frozen=True)
class PortGroup:
    """Ports that are one port of a protocol.

    Attributes:
        name: unique in the map.
        protocol: name of the protocol.
        role: of the design.
        signals: canonical name of a signal -> paths of its leaves; one, but for what travels in a stream and for user signals.
        low: signals that are active low.
        lanes: how many ports of that kind lie side by side in these vectors and arrays.
        notes: what the names do not tell.
    """

    name: str
    protocol: str
    role: Role
    signals: Mapping[str, tuple[str, ...]]
    low: tuple[str, ...] = ()
    lanes: int = 1
    notes: tuple[str, ...] = ()

    def paths(self) -> Iterator[str]:
        """Iterate over the paths of all leaves."""
        for paths in self.signals.values():
            yield from paths


@dataclass(frozen=True)
class Unmapped:
    """A leaf that no group explains, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class PortMap:
    """All leaves of a top, each in one group or unmapped."""

    top: str
    groups: tuple[PortGroup, ...]
    unmapped: tuple[Unmapped, ...] = field(default_factory=tuple[Unmapped, ...])


def lanes_of(protocol: Protocol, assigned: Mapping[str, Sequence[PortLeaf]]) -> int:
    """Return the number of ports of one kind that the leaves hold side by side; 0 if they disagree."""
    if protocol.payload and all(leaf.count == leaf.width == 1 for lead in protocol.leads for leaf in assigned.get(lead, ())):
        assigned = {name: leaves for name, leaves in assigned.items() if name != "payload"}  # one word, of arrays too
    leaves = [leaf for found in assigned.values() for leaf in found]
    counts = {leaf.count for leaf in leaves}
    if len(counts) == 2 and min(counts) == 1:  # arrays beside vectors of as many: `valid[3:0]` and `address [4]`
        lanes = max(counts)
        vectors = (
            (leaf, _signal(protocol, name).widths == (1,)) for name, found in assigned.items() for leaf in found if leaf.count == 1
        )
        return (
            lanes if all((one_bit and leaf.width == lanes) or leaf.dimensions[:1] == (lanes,) for leaf, one_bit in vectors) else 0
        )
    if len(counts) != 1:
        return 0
    wires = [leaf.width for name, found in assigned.items() if _signal(protocol, name).widths == (1,) for leaf in found]
    lanes = wires[0] if len(set(wires)) == 1 else 1
    # A write enable alone may have a bit a byte.
    if protocol.single or lanes < 2 or not all(_is_shared(leaf, lanes, flat=len(wires) > 1) for leaf in leaves):
        lanes = 1
    return lanes * counts.pop()


def _is_shared(leaf: PortLeaf, lanes: int, *, flat: bool) -> bool:
    """Return whether a vector has a part for each lane. flat: it may be Verilog's, `tdata[N*W-1:0]` beside `tvalid[N-1:0]`."""
    return leaf.dimensions[:1] == (lanes,) or (flat and len(leaf.dimensions) < 2 and leaf.width % lanes == 0)


def left_out(protocol: Protocol, role: Role, assigned: Mapping[str, Sequence[PortLeaf]]) -> Iterator[tuple[str, str]]:
    """Yield (signal, why) for what is left out of a group with faults so that the others are a port; nothing if they are none.

    These are signals without which a transfer means the same, and inputs of a subordinate that have no effect: a write enable where
    nothing is written.
    """
    if next(problems(protocol, role, assigned), None) is None:
        return
    idle = {
        name
        for name, leaves in assigned.items()
        if leaves[0].direction == "in" and role == "subordinate" and _signal(protocol, name).needs not in ("", *assigned)
    }
    kept = {name: leaves for name, leaves in assigned.items() if not _signal(protocol, name).aside and name not in idle}
    if not kept or next(problems(protocol, role, kept), None) is not None:
        return
    for name, leaves in assigned.items():
        if name not in kept:
            fault = next(problems(protocol, role, {**kept, name: leaves}), None)
            if fault is None:
                kept[name] = leaves
            else:
                bits = leaves[0].width * leaves[0].count
                text = f"{leaves[0].path} has {bits} bit{'' if bits == 1 else 's'}, which the lanes do not share"
                yield name, fault if leaves[0].path in fault else text


def problems(protocol: Protocol, role: Role, assigned: Mapping[str, Sequence[PortLeaf]]) -> Iterator[str]:
    """Yield why leaves are not a port of a protocol: missing signals, wrong directions and widths. Nothing if they are."""
    lacks = sorted(protocol.form_of(assigned.keys()) - assigned.keys())
    if lacks:
        yield f"{', '.join(lacks[:_SHOWN])}{', ...' if len(lacks) > _SHOWN else ''} not there"
    for name, leaves in assigned.items():
        output = _signal(protocol, name).is_output(role)
        for leaf in leaves:
            if leaf.direction == "inout":
                yield f"{leaf.path} has no direction (an interface without a modport, or a tristate port)"
            elif output is not None and output != (leaf.direction == "out"):
                yield f"{leaf.path} is an {leaf.direction}put, {name} of a {role} is the other direction"
        if (needs := _signal(protocol, name).needs) and needs not in assigned:
            yield f"{leaves[0].path} needs {needs}, which is not there"
    lanes = lanes_of(protocol, assigned)
    if lanes == 0:
        yield "the arrays differ in their number of elements"
        return
    widths = {name: leaves[0].width * leaves[0].count // lanes for name, leaves in assigned.items()}
    for name, width in widths.items():
        signal, path = _signal(protocol, name), assigned[name][0].path
        if width == 0:
            yield f"{path} is not made of bits"
        elif len(assigned[name]) > 1:
            continue
        elif signal.widths and width not in signal.widths:
            yield f"{path} has {width} bits, {name} has {' or '.join(map(str, signal.widths))}"
        elif signal.same_as in widths and width != widths[signal.same_as]:
            yield f"{path} has {width} bits, {signal.same_as} has {widths[signal.same_as]}"
        elif signal.bytes_of in widths and width * 8 != widths[signal.bytes_of]:
            yield f"{path} has {width} bits, {signal.bytes_of} has {widths[signal.bytes_of]}: not a bit a byte"


def _signal(protocol: Protocol, name: str) -> Signal:
    found = protocol.signal(name)
    assert found is not None, name
    return found
