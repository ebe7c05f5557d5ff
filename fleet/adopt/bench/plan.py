"""The plan of a bench: the parts that drive, answer and watch each port of a design, and their numbers in a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fleet.adopt.bench.library import LibraryPart, parts
from fleet.adopt.port_map import PortGroup, PortMap
from fleet.adopt.ports import PortLeaf, Top
from fleet.adopt.workspace import AdoptWorkspace, Clock, PortSettings
from fleet.errors import DeviceError
from fleet.sdk.ports import Protocol

OP_BITS = 1280
REGISTER_OP = frozenset({
    "apb", "axi4", "axi4_lite", "wishbone", "ahb_lite", "avalon_mm", "csb", "csr_bus", "sram", "native_memory", "obi", "hci",
    "strobe_memory", "tilelink", "two_port_sram",
})  # fmt: skip
"""Protocols whose manager reads and writes addresses; that of any other sends what it is given."""

_PARTS = {"axi4_lite": "axi4"}
_ONES = ("ready", "rdy", "byteenable", "be", "strb", "mask", "keep", "last")
"""Ends of signals that are all ones where a design does not have them: it is always ready, takes all bytes, a beat is the last."""
_ACTIVE = frozenset({"gnt", "sel", "cyc", "stb", "en", "psel", "penable", "hreadyout"})

_WAITS = {
    ("stream", "manager"): ("ready",), ("axi4_stream", "manager"): ("tready",), ("fifo_write", "manager"): ("full",),
    ("avalon_mm", "manager"): ("waitrequest", "readdatavalid"), ("strobe_memory", "manager"): ("ready", "read_done", "write_done"),
    ("ahb_lite", "manager"): ("hready",), ("apb", "manager"): ("pready",), ("wishbone", "subordinate"): ("stb",),
}  # fmt: skip
"""(Protocol, role of the design) -> the signals of which the bench needs one to keep the design waiting."""

_BITS = ("'0", "'1")
_ADDRESSES = ("paddr", "haddr", "adr", "address", "addr", "add", "a_address", "req_addr")
_WRITE_ADDRESSES, _READ_ADDRESSES = ("awaddr", "waddr", "write_addr"), ("araddr", "raddr", "read_addr")
_WRITTEN = ("pwdata", "hwdata", "wdata", "dat_w", "writedata", "wdat", "w_data", "data", "a_data", "write_data", "req_data")
_READ = ("prdata", "hrdata", "rdata", "dat_r", "readdata", "rsp_data", "r_data", "d_data", "read_data", "resp_data")


@dataclass(frozen=True)
class BenchPort:
    """One lane of a group. widths: signal -> bits; drives: signals that the design drives."""

    group: PortGroup
    lane: int
    name: str
    protocol: Protocol
    settings: PortSettings
    widths: Mapping[str, int]
    drives: frozenset[str]

    @property
    def space(self) -> int:
        """Number of the memory behind it: each lane of a plain SRAM has its own."""
        return self.settings.space + (self.lane if self.protocol.name == "sram" else 0)

    def width(self, name: str) -> int:
        """Bits of a signal; if the design lacks it, the width that its relations give, else 1."""
        return self._width(name.lower(), ())

    def _width(self, name: str, seen: tuple[str, ...]) -> int:
        if name in self.widths:
            return self.widths[name]
        signal = self.protocol.signal(name)
        if signal is None or name in seen:
            return 1
        if signal.bytes_of:
            return max(1, self._width(signal.bytes_of, (*seen, name)) // 8)
        same = [signal.same_as] if signal.same_as else []
        same += [s.name for s in self.protocol.signals if s.same_as == name]
        return max((self._width(n, (*seen, name)) for n in same), default=signal.widths[0] if len(signal.widths) == 1 else 1)

    def address_bits(self, *, write: bool) -> int | None:
        """Return the width of its address, None where its protocol has none of the usual names."""
        names = (*_WRITE_ADDRESSES, *_READ_ADDRESSES) if write else (*_READ_ADDRESSES, *_WRITE_ADDRESSES)
        return next((self.widths[n] for n in (*names, *_ADDRESSES) if n in self.widths), None)

    def data_bits(self, *, write: bool) -> int | None:
        """Return the width of the data of a write or a read, None where it has none of the usual names."""
        names = (*_WRITTEN, *_READ) if write else (*_READ, *_WRITTEN)
        return next((self.widths[n] for n in names if n in self.widths), None)

    def absent(self, name: str) -> str:
        """Return the constant that a part reads instead of a signal that the design lacks."""
        if name in ("awsize", "arsize"):
            return f"3'd{(max(1, self.width('wdata') // 8)).bit_length() - 1}"
        if name in ("awburst", "arburst"):
            return "2'd1"
        return f"{self.width(name)}'({_BITS[name.endswith(_ONES) or name in _ACTIVE]})"


@dataclass(frozen=True)
class ProtocolInstance:
    """A part at a port. index: what a script names it by, -1 for a monitor or a memory."""

    part: LibraryPart
    port: BenchPort
    index: int = -1


@dataclass(frozen=True)
class BenchPlan:
    """A bench.

    Attributes:
        ports: every lane of every group but clocks, resets and single lines.
        instances: the parts.
        driven: name of a port -> number of the part that a script drives or whose count it reads.
        watched: leaf -> number, of outputs that a script may wait for.
        ties: leaf -> number, of inputs that a script may set.
        undriven: what no part plays, one line each.
        unpaused: ports whose `pause` does nothing, and why, one line each.
    """

    ports: tuple[BenchPort, ...]
    instances: tuple[ProtocolInstance, ...]
    driven: Mapping[str, int]
    watched: Mapping[str, int]
    ties: Mapping[str, int]
    op_bits: int = OP_BITS
    undriven: tuple[str, ...] = field(default_factory=tuple[str, ...])
    unpaused: tuple[str, ...] = field(default_factory=tuple[str, ...])

    def driver(self, name: str) -> ProtocolInstance | None:
        """The part of that number's port."""
        return next((i for i in self.instances if i.port.name == name and i.index >= 0), None)

    def memories(self) -> tuple[BenchPort, ...]:
        """Ports that the bench answers from memory."""
        return tuple(i.port for i in self.instances if "SPACE" in i.part.parameters)

    def monitors(self) -> int:
        """Return the number of monitors."""
        return sum(i.part.name.endswith("_monitor") for i in self.instances)


def spaces_of(plan: BenchPlan, name: str) -> Sequence[int]:
    """Numbers of the memories behind a port, or behind all lanes of a group; empty if it has none."""
    return list(dict.fromkeys(p.space for p in plan.memories() if name in (p.name, p.group.name)))


def make_plan(work: AdoptWorkspace) -> BenchPlan:
    """The plan for a workspace. Raises DeviceError for ports that no bench can have."""
    leaves = {leaf.path: leaf for leaf in work.top.leaves()}
    for port in work.top.ports:
        if not port.packed and not port.interface:
            raise DeviceError(f"the port {port.name} is an unpacked structure, which no bench drives yet", where=port.where)
    known = parts(work.protocols.values())
    ports: list[BenchPort] = []
    instances: list[ProtocolInstance] = []
    driven: dict[str, int] = {}
    undriven: list[str] = []
    unpaused: list[str] = []
    for group in work.ports.groups:
        protocol = work.protocols[group.protocol]
        if protocol.single or protocol.name == "done" or group.name not in work.settings.ports:
            continue
        for port in _lanes(group, protocol, work.settings.ports[group.name], leaves):
            ports.append(port)
            player = known.get(_player(group, protocol, leaves))
            if player is None:
                undriven.append(f"{port.name} ({protocol.title}, {group.role}): its inputs are 0")
            else:
                counted = player.is_driven or "result" in player.outputs
                index = len(driven) if counted else -1
                if counted:
                    driven[port.name] = index
                instances.append(ProtocolInstance(player, port, index))
                if port.settings.pause and (why := _never_waits(port, player)):
                    unpaused.append(f"{port.name}: {why}")
            monitor = known.get(f"{_base(protocol)}_monitor")
            if monitor is not None:
                instances.append(ProtocolInstance(monitor, port))
    widest = max((port.width("payload") + 64 for port in ports), default=0)
    ties = {path: n for n, path in enumerate(work.settings.ties)}
    watched = {path: n for n, path in enumerate(_watched(work, leaves))}
    return BenchPlan(tuple(ports), tuple(instances), driven, watched, ties, max(OP_BITS, widest), tuple(undriven), tuple(unpaused))


def _never_waits(port: BenchPort, player: LibraryPart) -> str:
    """Return why `pause` of a port does nothing; "" where it does."""
    if "PAUSE" not in player.parameters:
        other = "subordinate" if port.group.role == "manager" else "manager"
        return f"a {other} of {port.protocol.title} has nothing to wait with"
    waits = _WAITS.get((port.protocol.name, port.group.role), ())
    return f"it has no {' and no '.join(waits)}" if waits and not any(name in port.widths for name in waits) else ""


def not_driven(ports: PortMap, top: Top, protocols: Mapping[str, Protocol]) -> Iterator[str]:
    """Return the groups that no part of the bench plays, one line each."""
    leaves = {leaf.path: leaf for leaf in top.leaves()}
    known = parts(protocols.values())
    for group in ports.groups:
        protocol = protocols[group.protocol]
        if not protocol.single and protocol.name != "done" and _player(group, protocol, leaves) not in known:
            yield f"{group.name} ({protocol.title}, {group.role}): the bench has no part for it, so its inputs are 0"


def _base(protocol: Protocol) -> str:
    return f"fleet_{_PARTS.get(protocol.name, protocol.name)}"


def _player(group: PortGroup, protocol: Protocol, leaves: Mapping[str, PortLeaf]) -> str:
    """Return the name of the part at the other end of a group, whether or not there is one."""
    other = "subordinate" if group.role == "manager" else "manager"
    if protocol.name == "bluespec_method":  # arguments are given to it, a value is taken from it
        ways = {leaves[p].direction for p in group.signals.get("payload", ())}
        other = (
            "none" if group.role == "manager" or len(ways) > 1 or "en" not in group.signals else "taker" if "out" in ways else other
        )
    return f"{_base(protocol)}_{other}"


def untried(plan: BenchPlan, clocks: Mapping[str, Clock]) -> str:
    """Return what no test of these settings tries, in one line; "" where it tries all."""
    able = {i.port.group.name: i.port.settings for i in plan.instances if not _never_waits(i.port, i.part)}
    still = [name for name, s in able.items() if not s.pause and not s.fixed]
    found = [f"no pauses on {', '.join(still)} (pause = 0)"] if still else []
    if len(clocks) > 1 and len(set(clocks.values())) == 1:
        found.append(f"{'both' if len(clocks) == 2 else f'all {len(clocks)}'} clocks have the same period and phase")
    return "; ".join(found)


def _lanes(group: PortGroup, protocol: Protocol, settings: PortSettings, leaves: Mapping[str, PortLeaf]) -> Iterator[BenchPort]:
    widths = {name: sum(leaves[p].width * leaves[p].count // group.lanes for p in paths) for name, paths in group.signals.items()}
    drives = frozenset(name for name, paths in group.signals.items() if leaves[paths[0]].direction == "out")
    for lane in range(group.lanes):
        name = group.name if group.lanes == 1 else f"{group.name}[{lane}]"
        yield BenchPort(group, lane, name, protocol, settings, widths, drives)


def _watched(work: AdoptWorkspace, leaves: Mapping[str, PortLeaf]) -> Iterator[str]:
    for g in work.ports.groups:
        if work.protocols[g.protocol].single or g.protocol == "done":
            yield from (p for p in g.paths() if leaves[p].direction == "out")
    yield from (u.path for u in work.ports.unmapped if leaves[u.path].direction == "out" and leaves[u.path].width)
