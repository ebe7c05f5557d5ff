"""The workspace of an adopted design: `adopt.toml` beside its port map, its registers and its tests.

top = "npu"
sources = ["../rtl/npu.f"]             # file lists, files, waivers: relative to this folder
include_dirs = []
data_dirs = []                         # optional: folders with files that the design reads when it starts ($readmemh)
substitutes = ["models/clock_gate.sv"] # in place of technology cells and black boxes; sources are never edited
protocols = []                         # Python files with protocols of your own
map = "ports.toml"
registers = "registers.toml"           # optional
observe = "observe.toml"               # optional: commits, state inside, a functional model (fleet.adopt.bench.observe)
reference = "clk_i"                    # the clock that cycles are counted in

[parameters]
W = "256"
[defines]
[clocks.clk_i]
period = 4                             # in ns; even
phase = 0                              # when the first edge comes, 0 or more
[resets.rst_ni]
cycles = 16                            # of the reference clock
clock = "clk_i"                        # with whose edge it ends
pulses = 1                             # 2: asserted again, for asynchronous registers behind clock gates and synchronisers
[ties]
scan_en_i = 0                          # inputs that no protocol drives; a test may set them
[ports.m_axi]
clock = "clk_i"
latency = 2                            # cycles of a memory, 1 or more; of reads that nothing answers, of a FIFO's words, 0 or more
pause = 0                              # of so many cycles one is refused; 0: none
memory = "fixed:8"                     # of AXI4, instead of both: answers as fleet's own memory does, ideal or fixed:<cycles>
space = 0                              # ports of one space see the same memory
shift = 0                              # addresses count 2**shift bytes
stable = true                          # a valid that waits may not change
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet.adopt.filelist import Sources, read_sources
from fleet.adopt.map_file import read_map
from fleet.adopt.own_protocols import known_protocols
from fleet.adopt.port_map import PortGroup, PortMap
from fleet.adopt.ports import Top
from fleet.adopt.registers import AdoptedRegister, registers_file
from fleet.adopt.vhdl import with_verilog
from fleet.core.toml_file import TomlTable, read_toml
from fleet.errors import DeviceError
from fleet.sdk.ports import Protocol

MANIFEST = "adopt.toml"
_GUESS = "# a guess"
"""Stands behind the clock of a port until a person has looked at it."""


@dataclass(frozen=True)
class Clock:
    """period, phase: in ns."""

    period: int = 2
    phase: int = 0


@dataclass(frozen=True)
class Reset:
    """cycles: of the reference clock, each pulse; clock: with whose edge it ends; pulses: how often it is asserted."""

    clock: str
    cycles: int = 16
    pulses: int = 1


@dataclass(frozen=True)
class PortSettings:
    """Settings of a port in the bench; the module's docstring says what the values mean.

    fixed: cycles of `memory`, 1 if it is ideal; 0: latency and pause hold.
    """

    clock: str
    latency: int = 1
    pause: int = 0
    fixed: int = 0
    space: int = 0
    shift: int = 0
    stable: bool = True


@dataclass(frozen=True)
class Settings:
    """The settings that a person may edit, by names of the map's groups; `ties` by names of leaves.

    guessed: ports of a design of several clocks whose names say nothing about theirs, as long as adopt.toml calls the choice a
    guess.
    """

    reference: str
    clocks: Mapping[str, Clock]
    resets: Mapping[str, Reset]
    ties: Mapping[str, int]
    ports: Mapping[str, PortSettings]
    guessed: tuple[str, ...] = ()


@dataclass(frozen=True)
class AdoptWorkspace:
    """A workspace that was read, and its design as it is now. substitutes: files that are not the design's own."""

    folder: Path
    top: Top
    sources: Sources
    parameters: Mapping[str, str]
    protocols: Mapping[str, Protocol]
    ports: PortMap
    settings: Settings
    registers: tuple[AdoptedRegister, ...]
    observe: Path | None = None
    substitutes: frozenset[Path] = frozenset()

    def group(self, name: str) -> PortGroup | None:
        """Return the group of ports of a name, or None."""
        return next((g for g in self.ports.groups if g.name == name), None)


def tied(ports: PortMap, top: Top, protocols: Mapping[str, Protocol]) -> Iterator[tuple[str, int]]:
    """(leaf, value) of the inputs that no part drives: what a design needs to work normally."""
    leaves = {leaf.path: leaf for leaf in top.leaves()}
    for g in ports.groups:
        if g.protocol in ("clock", "reset") or not (protocols[g.protocol].single or g.protocol == "done"):
            continue
        for name, paths in g.signals.items():
            active = (g.protocol == "clock_enable") != (name in g.low)
            for leaf in (leaves[p] for p in paths if leaves[p].direction == "in"):
                yield leaf.path, (1 << leaf.width * leaf.count) - 1 if active else 0
    yield from ((u.path, 0) for u in ports.unmapped if leaves[u.path].direction == "in")


def proposed(top: Top, ports: PortMap, protocols: Mapping[str, Protocol]) -> Settings:
    """Settings for a map: the clock of a port is the one whose name has most in common with it."""
    wires = [g.name for g in ports.groups if g.protocol == "clock" and g.role == "subordinate"]
    clocks = [name for name in wires if _other_end(name) not in wires]
    resets = [g.name for g in ports.groups if g.protocol == "reset" and g.role == "subordinate"]
    found: dict[str, PortSettings] = {}
    guessed: list[str] = []
    space = 1
    for g in ports.groups:
        if protocols[g.protocol].single or g.protocol == "done":
            continue
        clock, likeness = _nearest(f"{g.name}_{_STANDARD_CLOCKS.get(g.protocol, '')}", clocks)
        guessed += [g.name] if len(clocks) > 1 and likeness == 0 else []
        settings = PortSettings(
            clock, shift=_shift(g, top), latency=0 if (is_sampled(g) and "waitrequest" in g.signals) or pops(g) else 1
        )
        own = g.protocol in ("sram", "channel_memory") or (g.protocol == "strobe_memory" and not _waits(g))
        if own and g.role == "manager":  # addresses of a memory of its own
            settings = replace(settings, space=space)
            space += g.lanes if g.protocol == "sram" else 1
        found[g.name] = settings
    return Settings(
        clocks[0] if clocks else "",
        {name: Clock() if name in clocks else Clock(phase=Clock().period // 2) for name in wires},
        {name: Reset(_nearest(name, clocks)[0]) for name in resets},
        dict(tied(ports, top, protocols)),
        found,
        tuple(guessed),
    )


def _other_end(name: str) -> str:
    """Return the name of the clock whose inverse this one is if it is the second of a pair (`clk_p`, `clk_n`); else ""."""
    found = re.fullmatch(r"(.*)(n)(_i)?", name, re.I)
    return "" if found is None else f"{found[1]}{'p' if found[2] == 'n' else 'P'}{found[3] or ''}"


_STANDARD_CLOCKS = {
    "apb": "pclk_apb", "ahb_lite": "hclk_ahb", "axi4": "aclk_axi", "axi4_lite": "aclk_axi", "axi4_stream": "aclk_axis",
    "wishbone": "wb", "csb": "csb", "fifo_write": "wr", "fifo_read": "rd",
}  # fmt: skip
"""Protocol -> words by which its clock goes."""


_BETWEEN = r"_|(?<=[a-z]{3})2(?=[a-z]{3})"  # csb2nvdla


def _nearest(name: str, clocks: Sequence[str]) -> tuple[str, int]:
    """(the clock whose words a name shares most, how much); of two alike the one with fewer other words, then by first letters."""
    words = {c: set(re.split(rf"{_BETWEEN}|(?<=clk)|(?=clk)", c.lower())) - {"clk", "clock", "i", ""} | {c.lower()} for c in clocks}
    shared = set[str].intersection(*words.values()) if len(clocks) > 1 else set[str]()
    mine = {re.sub(r"(?<=[a-z])re?se?tn?$", "clk", word) for word in re.split(_BETWEEN, name.lower())}  # PRESETn goes with PCLK
    likeness = {c: len(mine & found - shared) for c, found in words.items()}
    others = {c: len(found - mine - {c.lower()}) for c, found in words.items()}
    best = max(clocks, key=lambda c: (likeness[c], -others[c], name.lower()[:2] == c.lower()[:2], -clocks.index(c)), default="")
    return best, likeness.get(best, 0)


def _waits(g: PortGroup) -> bool:
    """Return whether a read or write strobe of a group is held until an acknowledge."""
    return not {"ready", "read_done", "write_done"}.isdisjoint(g.signals)


_TELLS = {
    "sram": frozenset[str](), "two_port_sram": frozenset[str](), "csr_bus": frozenset[str](),
    "avalon_mm": frozenset({"readdatavalid"}), "strobe_memory": frozenset({"ready", "read_done", "rvalid"}),
}  # fmt: skip
"""Protocol -> signals of which each says when the data of a read are there."""


def is_sampled(g: PortGroup) -> bool:
    """Return whether only `latency` says when the data of a read by the bench are there; 0: in the cycle that asks for them."""
    return g.role == "subordinate" and g.protocol in _TELLS and _TELLS[g.protocol].isdisjoint(g.signals)


def pops(g: PortGroup) -> bool:
    """Return whether a design reads a FIFO of the bench; its `latency`: from the read to the word, 0: it shows beside empty."""
    return g.role == "manager" and g.protocol == "fifo_read"


def _shift(g: PortGroup, top: Top) -> int:
    """Log 2 of the bytes that an address counts, as makers of that protocol do it."""
    bits = {leaf.path: leaf.width * leaf.count // g.lanes for leaf in top.leaves()}
    names = ("dat_r", "readdata", "rdata", "r_data", "read_data", "write_data", "wdat")
    data = max((bits[g.signals[n][0]] for n in names if n in g.signals), default=8)
    words = (max(8, data) // 8).bit_length() - 1
    if g.protocol == "wishbone":
        return words if bits[g.signals["adr"][0]] + words in (30, 32, 48, 64) and bits[g.signals["adr"][0]] % 4 else 0
    if g.protocol == "avalon_mm":
        return words if g.role == "subordinate" else 0
    if g.protocol == "strobe_memory":  # a bus counts bytes, a memory and registers words
        return 0 if g.role == "manager" and _waits(g) else words
    return words if g.protocol in ("csr_bus", "csb", "sram", "channel_memory") else 0


def settings_text(
    top: Top, sources: tuple[str, ...], given: Settings, *, include_dirs: tuple[str, ...] = (), parameters: Mapping[str, str],
    defines: Mapping[str, str], protocols: tuple[str, ...] = (), registers: bool,
) -> str:  # fmt: skip
    """`adopt.toml`. sources, include_dirs, protocols: paths relative to its folder."""
    lines = ["# How fleet drives this design: `fleet help adopting`. Nothing of the design is changed."]
    lines += [f"top = {json.dumps(top.name)}", f"sources = {json.dumps(list(sources))}"]
    lines += [f"include_dirs = {json.dumps(list(include_dirs))}"] if include_dirs else []
    missing = ", ".join(m.name for m in top.missing)
    lines += [f"substitutes = []  # files with models of {missing}"] if missing else ["substitutes = []"]
    lines += [f"protocols = {json.dumps(list(protocols))}"] if protocols else []
    lines += ['map = "ports.toml"'] + (['registers = "registers.toml"'] if registers else [])
    lines += [f"reference = {json.dumps(given.reference)}", "", "[parameters]"]
    lines += [f"{json.dumps(name) if '.' in name else name} = {json.dumps(value)}" for name, value in parameters.items()]
    lines += ["", "[defines]", *(f"{name} = {json.dumps(value)}" for name, value in defines.items())]
    for name, clock in given.clocks.items():
        lines += ["", f"[clocks.{name}]", f"period = {clock.period}", f"phase = {clock.phase}"]
    for name, reset in given.resets.items():
        lines += ["", f"[resets.{name}]", f"clock = {json.dumps(reset.clock)}", f"cycles = {reset.cycles}"]
    lines += ["", "[ties]", *(f"{json.dumps(path)} = {value:#x}" for path, value in given.ties.items())]
    for name, p in given.ports.items():
        guess = f"  {_GUESS}: no clock is named like this port" if name in given.guessed else ""
        lines += ["", f"[ports.{name}]", f"clock = {json.dumps(p.clock)}{guess}", f"latency = {p.latency}", f"pause = {p.pause}"]
        lines += [f"space = {p.space}", f"shift = {p.shift}", f"stable = {str(p.stable).lower()}"]
    return "\n".join(lines) + "\n"


def open_workspace(folder: Path) -> AdoptWorkspace:
    """Read a workspace, and its design as it is now.

    Raises DeviceError with file:line for what is wrong in a file of it, or in the design.
    """
    from fleet.adopt.top import read_top

    table = read_toml(folder / MANIFEST, DeviceError)
    table.only(
        "top", "sources", "include_dirs", "data_dirs", "substitutes", "protocols", "map", "registers", "observe", "reference",
        "parameters", "defines", "clocks", "resets", "ties", "ports",
    )  # fmt: skip

    def paths(key: str) -> list[Path]:
        return [Path(os.path.normpath(folder / p)) for p in (table.texts(key) if table.values.get(key) else ())]

    sources = read_sources([*paths("sources"), *paths("substitutes")], include_dirs=paths("include_dirs"))
    defines = _texts(table, "defines")
    data_dirs = tuple(p.absolute() for p in paths("data_dirs"))
    sources = replace(sources, defines=tuple({**dict(sources.defines), **defines}.items()), data_dirs=data_dirs)
    sources, parameters = with_verilog(sources, table.text("top"), _texts(table, "parameters"))
    protocols = known_protocols(paths("protocols"))
    top = read_top(sources, table.text("top"), parameters)
    ports = read_map(folder / table.text("map"), top, protocols)
    registers = registers_file(folder / table.text("registers")) if "registers" in table else ()
    observe = folder / table.text("observe") if "observe" in table else None
    settings = _settings(table, top, ports, protocols)
    substitutes = frozenset(p.absolute() for p in paths("substitutes"))
    return AdoptWorkspace(folder, top, sources, parameters, protocols, ports, settings, registers, observe, substitutes)


def _texts(table: TomlTable, key: str) -> dict[str, str]:
    found = table.table(key) if key in table else None
    texts: dict[str, str] = {}
    for name, value in found.values.items() if found is not None else ():
        if isinstance(value, dict):  # in.T without quotes
            texts |= {f"{name}.{inner}": str(text) for inner, text in value.items()}
        else:
            texts[name] = str(value)
    return texts


def _settings(table: TomlTable, top: Top, ports: PortMap, protocols: Mapping[str, Protocol]) -> Settings:
    base = proposed(top, ports, protocols)
    reference = table.chosen("reference", tuple(base.clocks), base.reference) if base.clocks else ""
    clocks, resets, settings = dict(base.clocks), dict(base.resets), dict(base.ports)
    guessed = list(base.guessed)
    for name, t in _named(table, "clocks", clocks):
        t.only("period", "phase")
        period = t.integer("period", 2) if "period" in t else 2
        if period % 2:
            raise t.wrong("period", f"a period is even, not {period}")
        clocks[name] = Clock(period, t.integer("phase", 0) if "phase" in t else 0)
    for name, t in _named(table, "resets", resets):
        t.only("clock", "cycles", "pulses")
        clock = t.chosen("clock", tuple(clocks), resets[name].clock) if clocks else ""
        cycles, pulses = (t.integer(key, 1) if key in t else default for key, default in (("cycles", 16), ("pulses", 1)))
        resets[name] = Reset(clock, cycles, pulses)
    at_once = {g.name for g in ports.groups if is_sampled(g) or pops(g)}
    for name, t in _named(table, "ports", settings):
        t.only("clock", "latency", "pause", "memory", "space", "shift", "stable")
        old = settings[name]
        if name in guessed and "clock" in t and _GUESS not in _line(t, "clock"):
            guessed.remove(name)
        settings[name] = PortSettings(
            t.chosen("clock", tuple(clocks), old.clock) if clocks else "",
            t.integer("latency", 0 if name in at_once else 1) if "latency" in t else old.latency,
            t.integer("pause", 0) if "pause" in t else old.pause,
            _fixed(t, ports, name) if "memory" in t else 0,
            *(t.integer(k, 0) if k in t else v for k, v in (("space", old.space), ("shift", old.shift))),
            stable=t.boolean("stable", old.stable),
        )
    ties = dict(base.ties)
    if "ties" in table:
        t = table.table("ties")
        for path in t.values:
            if path not in ties:
                raise t.wrong(path, f"{path} is not an input that is tied", hint=f"these are: {', '.join(ties) or 'none'}")
            ties[path] = t.integer(path, 0)
            bits = next(leaf.width * leaf.count for leaf in top.leaves() if leaf.path == path)
            if ties[path] >> bits:
                raise t.wrong(path, f"{ties[path]:#x} does not fit into {path}, which has {bits} bit{'' if bits == 1 else 's'}")
    return Settings(reference, clocks, resets, ties, settings, tuple(guessed))


def _line(t: TomlTable, key: str) -> str:
    """Return the text of a key's line."""
    number = int(t.at(key).rpartition(":")[2])
    return t.path.read_text(encoding="utf-8").splitlines()[number - 1]


def guesses(settings: Settings) -> Iterator[str]:
    """Return what was guessed of ports, one line each."""
    for name in settings.guessed:
        yield f"the clock of {name} is a guess: {settings.ports[name].clock}, no clock is named like this port"


def _fixed(t: TomlTable, ports: PortMap, name: str) -> int:
    """The cycles of `memory`."""
    text = t.text("memory")
    found = re.fullmatch(r"ideal|fixed:([1-9]\d{0,4})", text)
    if found is None:
        raise t.wrong("memory", f"expected ideal or fixed:<cycles 1 to 99999>, not {text}")
    group = next(g for g in ports.groups if g.name == name)
    if (group.protocol, group.role) != ("axi4", "manager"):
        raise t.wrong("memory", f"{name} is no AXI4 port that the design masters", hint="use latency and pause")
    for key in ("latency", "pause"):
        if key in t:
            raise t.wrong(key, f"memory = {text} says when this port is answered", hint=f"leave out {key}")
    return int(found[1] or 1)


def _named(table: TomlTable, key: str, known: Mapping[str, object]) -> Iterator[tuple[str, TomlTable]]:
    if key not in table:
        return
    found = table.table(key)
    for name in found.values:
        if name not in known:
            what = f"the port map has no {name} among its {key}"
            raise found.wrong(name, what, hint=f"choose among {', '.join(known) or 'none'}")
        yield name, found.table(name)
