"""Observation of an adopted design beside its ports: commits, rest, and the state inside it.

model = "model.py"                 # a file with one `fleet.sdk.functional.FunctionalModel`
posted = ["m"]                     # AXI4 ports whose writes count when their data are accepted, not when their response is

[[commit]]                         # an event that ends a job, of each one of these
name = "done"
signal = "irq_o"                   # an output, or the path of a variable below the top: "ctrl.done_q"
edge = "rise"                      # "high": each cycle is an event
value = 1                          # of (signal & mask)
clock = "clk_i"                    # default: the reference
tag = "done_id_o"                  # an output or a path: the tag of the job, read with the event
order = "any"                      # of jobs with tags; "program": in the order of the test
[[commit]]
name = "polled"
read = "apb"                       # a read of the test that shows (value & mask) == value while a job is under way
register = "status"                # or address = 4
value = 2
mask = 2
tag = 0xff00                       # bits of what was read
[[commit]]
name = "answer"
response = "io"                    # a word that leaves through a port
tag = "resp_rd"                    # a signal of it
when = {tlast = 1}                 # words that count
[[commit]]
name = "stored"
write_responses = "m"              # of an AXI4 port; a job states how many it takes
tag = "bid"

[[state]]                          # a memory or a register inside: at a commit what the job wrote there, at rest all of it
name = "scratch"
path = "bank[{bank}].u_ram{lane}.mem"
lanes = [{name = "bank", count = 4, size = 16}, {name = "lane", count = 4, size = 1}]   # byte n: (n // size) % count
lsb = 0                            # of each element these bits: ECC is left out
bits = 32
compare = "rest"                   # default "commit": what a job wrote there is compared when it commits, too

[quiescent]
signal = "busy_o"                  # at rest while (signal & mask) == value
value = 0
cycles = 16                        # for so many of the reference clock
limit = 10000                      # of the wait at the end
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Literal

from fleet.adopt.bench.plan import REGISTER_OP, BenchPlan, BenchPort, spaces_of
from fleet.adopt.bench.script import fields_of
from fleet.adopt.top import InsideVariable, read_inside
from fleet.adopt.workspace import AdoptWorkspace
from fleet.core.toml_file import TomlTable, read_toml
from fleet.engines.rtl_sim.arrays import Keeper, array_names
from fleet.errors import DeviceError

_KINDS = ("signal", "read", "response", "write_responses")
_CYCLES, _LIMIT = 16, 10_000
_INDEX = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class ObservedSignal:
    """A value that the bench reads. path: of a leaf of the top, or below it if inside."""

    path: str
    inside: bool
    bits: int


@dataclass(frozen=True)
class SignalCommit:
    """A signal that takes a value. edge: whether each cycle is an event, or each time that it begins."""

    name: str
    where: str
    probe: ObservedSignal
    value: int
    mask: int
    edge: Literal["rise", "high"]
    clock: str
    tag: ObservedSignal | None
    in_program_order: bool

    @property
    def tagged(self) -> bool:
        """Whether events have tags."""
        return self.tag is not None


@dataclass(frozen=True)
class ReadCommit:
    """A read of the test that shows a value. tag: mask of its bits, 0: none."""

    name: str
    where: str
    port: str
    address: int
    value: int
    mask: int
    tag: int
    in_program_order: bool

    @property
    def tagged(self) -> bool:
        """Whether events have tags."""
        return self.tag != 0


@dataclass(frozen=True)
class ResponseCommit:
    """A word that leaves through a port. when, tag: (lsb, bits, value) and (lsb, bits) in the word."""

    name: str
    where: str
    port: str
    when: tuple[tuple[int, int, int], ...]
    tag: tuple[int, int] | None
    in_program_order: bool

    @property
    def tagged(self) -> bool:
        """Whether events have tags."""
        return self.tag is not None


@dataclass(frozen=True)
class WriteCommit:
    """A response of an AXI4 port to a write."""

    name: str
    where: str
    port: BenchPort
    tagged: bool
    in_program_order: bool


CommitRule = SignalCommit | ReadCommit | ResponseCommit | WriteCommit


@dataclass(frozen=True)
class InsideState:
    """Arrays or a register inside.

    element: bytes of one; keeper: names of the arrays and the order of their bytes; at_commits: what a job wrote must be there when
    it commits, not only at rest.
    """

    name: str
    where: str
    keeper: Keeper
    variable: InsideVariable
    lsb: int
    bits: int
    at_commits: bool = True

    @property
    def element(self) -> int:
        """Bytes of an element."""
        return (self.bits + 7) // 8


@dataclass(frozen=True)
class Quiescence:
    """Condition for rest. probe: the signal that shows it; None: a pause of `cycles` at the end."""

    probe: ObservedSignal | None = None
    value: int = 0
    mask: int = 1
    cycles: int = _CYCLES
    limit: int = _LIMIT


@dataclass(frozen=True)
class Observation:
    """A file of observations. model: the file of the functional model, None if there is none."""

    path: Path
    model: Path | None
    commits: tuple[CommitRule, ...]
    states: tuple[InsideState, ...]
    quiescent: Quiescence
    posted: tuple[str, ...] = ()

    def commit(self, name: str) -> int | None:
        """Number of the commit of a name."""
        return next((n for n, c in enumerate(self.commits) if c.name == name), None)


def read_observation(path: Path, work: AdoptWorkspace, plan: BenchPlan) -> Observation:
    """Read a file. Raises DeviceError with file:line for what this design does not have."""
    table = read_toml(path, DeviceError)
    table.only("model", "posted", "commit", "state", "quiescent")
    return _Reader(table, work, plan).read()


class _Reader:
    def __init__(self, table: TomlTable, work: AdoptWorkspace, plan: BenchPlan) -> None:
        self._table, self._work, self._plan = table, work, plan
        self._outputs = {leaf.path: leaf.width * leaf.count for leaf in work.top.leaves() if leaf.direction == "out"}
        self._inside = self._look_inside()

    def read(self) -> Observation:
        table = self._table
        model = table.optional_text("model")
        path = None if model is None else self._work.folder / model
        if path is not None and not path.is_file():
            raise table.wrong("model", f"there is no file {path}")
        commits = tuple(self._commit(t) for t in table.tables("commit"))
        states = tuple(self._state(t) for t in table.tables("state"))
        for kind, names in (("commit", [c.name for c in commits]), ("state", [s.name for s in states])):
            for n, t in enumerate(table.tables(kind)):
                if names[n] in names[:n]:
                    raise t.wrong("name", f"there is a {kind} {names[n]} already")
        posted = table.texts("posted")
        for name in posted:
            if not spaces_of(self._plan, name):
                raise table.wrong("posted", f"{name} is not a memory port of the design", value=name)
        return Observation(table.path, path, commits, states, self._quiescent(), posted)

    # Signals.

    def _look_inside(self) -> Mapping[str, InsideVariable | str]:
        """Return the variable of every path, from one elaboration; empty without paths."""
        wanted: list[str] = []
        for t in (*self._table.tables("commit"), *([self._table.table("quiescent")] if "quiescent" in self._table else [])):
            wanted += [v for k in ("signal", "tag") if isinstance(v := t.values.get(k), str)]
        names = [n for n in dict.fromkeys(wanted) if n not in self._outputs]
        for t in self._table.tables("state"):
            names += array_names(t.text("path"), {n: c for n, (c, _) in self._lanes(t).items()})
        names = [n for n in names if re.fullmatch(r"[A-Za-z_][\w$]*(\[\d+\])*(\.[A-Za-z_][\w$]*(\[\d+\])*)*", n)]
        if not names:
            return {}
        return read_inside(self._work.sources, self._work.top, self._work.parameters, names)

    def _variable(self, t: TomlTable, key: str, path: str) -> InsideVariable:
        found = self._inside.get(path, f"{path} is not the path of a variable below the top")
        if isinstance(found, str):
            raise t.wrong(key, found, hint=f"outputs are {', '.join(self._outputs)}" if key != "path" else None)
        return found

    def _probe(self, t: TomlTable, key: str) -> ObservedSignal:
        path = t.text(key)
        if path in self._outputs:
            return ObservedSignal(path, inside=False, bits=self._outputs[path])
        found = self._variable(t, key, path)
        if found.elements:
            raise t.wrong(key, f"{path} is an array of {found.elements}; name one element")
        return ObservedSignal(path, inside=True, bits=found.bits)

    # Commits.

    def _commit(self, t: TomlTable) -> CommitRule:
        kinds = [k for k in _KINDS if k in t]
        if len(kinds) != 1:
            raise t.wrong(kinds[1] if kinds else "", f"a commit has one of {', '.join(_KINDS)}, this one {len(kinds)}")
        rule = self._of_kind(kinds[0], t)
        if "order" in t and not rule.tagged:
            raise t.wrong("order", "jobs without tags commit in the order of the program")
        return rule

    def _of_kind(self, kind: str, t: TomlTable) -> CommitRule:
        name, where = t.text("name"), t.at()
        program = t.chosen("order", ("program", "any"), "any") == "program" or "tag" not in t
        if kind == "signal":
            t.only("name", "signal", "edge", "value", "mask", "clock", "tag", "order")
            probe = self._probe(t, "signal")
            value, mask = self._value(t, 1, probe.bits)
            edge = t.chosen("edge", ("rise", "high"), "rise")
            clocks = tuple(self._work.settings.clocks)
            clock = t.chosen("clock", clocks, self._work.settings.reference) if clocks else ""
            tag = self._probe(t, "tag") if "tag" in t else None
            if tag is not None and tag.bits > 64:
                raise t.wrong("tag", f"a tag has 64 bits at most, {tag.path} has {tag.bits}")
            return SignalCommit(name, where, probe, value, mask, "high" if edge == "high" else "rise", clock, tag, program)
        if kind == "read":
            t.only("name", "read", "register", "address", "value", "mask", "tag", "order")
            driver = self._plan.driver(t.text("read"))
            if driver is None or driver.port.protocol.name not in REGISTER_OP:
                raise t.wrong("read", f"{t.text('read')} is not a port that a test reads")
            value = t.integer("value", 0) if "value" in t else 1
            mask = t.integer("mask", 1) if "mask" in t else value or 1
            tag = t.integer("tag", 1) if "tag" in t else 0
            return ReadCommit(name, where, driver.port.name, self._address(t), value & mask, mask, tag, program)
        if kind == "response":
            t.only("name", "response", "tag", "when", "order")
            return self._response(t, name, where, program=program)
        t.only("name", "write_responses", "tag", "order")
        port = next((p for p in self._plan.ports if p.name == t.text("write_responses")), None)
        if port is None or port.protocol.name not in ("axi4", "axi4_lite") or port.group.role != "manager":
            raise t.wrong("write_responses", f"{t.text('write_responses')} is not an AXI4 port of which the design is the manager")
        if "tag" in t and (t.text("tag") != "bid" or "bid" not in port.group.signals):
            raise t.wrong("tag", f"the tag of a response is bid{'' if 'bid' in port.group.signals else ', which the port lacks'}")
        return WriteCommit(name, where, port, "tag" in t, program)

    def _value(self, t: TomlTable, default: int, bits: int) -> tuple[int, int]:
        every = (1 << bits) - 1
        mask = t.integer("mask", 1) if "mask" in t else every
        value = t.integer("value", 0) if "value" in t else default
        for key, given in (("mask", mask), ("value", value)):
            if given > every:
                raise t.wrong(key, f"{given:#x} does not fit into {bits} bits")
        return value & mask, mask

    def _address(self, t: TomlTable) -> int:
        if "register" not in t:
            return t.integer("address", 0)
        found = next((r for r in self._work.registers if r.name == t.text("register")), None)
        if found is None:
            known = ", ".join(r.name for r in self._work.registers) or "none"
            raise t.wrong("register", f"there is no register {t.text('register')}", hint=f"registers are {known}")
        return found.offset

    def _response(self, t: TomlTable, name: str, where: str, *, program: bool) -> ResponseCommit:
        driver = self._plan.driver(t.text("response"))
        fields = fields_of(driver, sent=False) if driver is not None else ()
        if driver is None or not fields or "result" not in driver.part.outputs:
            raise t.wrong("response", f"{t.text('response')} is not a port that gives words")
        places: dict[str, tuple[int, int]] = {}
        at = sum(bits for _, bits in fields)
        for field_name, bits in fields:
            at -= bits
            places[field_name] = at, bits
        when: list[tuple[int, int, int]] = []
        given = t.table("when") if "when" in t else None
        for field_name in given.values if given is not None else ():
            assert given is not None
            if field_name not in places:
                raise t.wrong("when", f"{field_name} is not a field", hint=f"fields are {', '.join(places)}")
            when.append((*places[field_name], given.integer(field_name, 0)))
        if "tag" in t and t.text("tag") not in places:
            raise t.wrong("tag", f"{t.text('tag')} is not a field", hint=f"fields are {', '.join(places)}")
        tag = places[t.text("tag")] if "tag" in t else None
        return ResponseCommit(name, where, driver.port.name, tuple(when), tag, program)

    # State inside, and rest.

    def _lanes(self, t: TomlTable) -> Mapping[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for lane in t.tables("lanes"):
            lane.only("name", "count", "size")
            found[lane.text("name")] = lane.integer("count", 1), lane.integer("size", 1)
        used = dict.fromkeys(_INDEX.findall(t.text("path")))
        for name in used:
            if name not in found:
                raise t.wrong("path", f"nothing says what {{{name}}} is", hint="add it to lanes: name, count, size")
        for name in found:
            if name not in used:
                raise t.wrong("lanes", f"the path has no {{{name}}}")
        return {name: found[name] for name in used}

    def _state(self, t: TomlTable) -> InsideState:
        t.only("name", "path", "lanes", "lsb", "bits", "compare")
        name, path, lanes = t.text("name"), t.text("path"), self._lanes(t)
        if any(p.name == name for p in self._plan.ports):
            raise t.wrong("name", f"{name} is a port; name the state otherwise")
        names = array_names(path, {n: c for n, (c, _) in lanes.items()})
        variables = [self._variable(t, "path", n) for n in names]
        for other, variable in zip(names, variables, strict=True):
            if variable != variables[0]:
                raise t.wrong("path", f"{other} differs from {names[0]} in its shape")
        variable = variables[0]
        lsb = t.integer("lsb", 0) if "lsb" in t else 0
        bits = t.integer("bits", 1) if "bits" in t else variable.bits - lsb
        if bits < 1 or lsb + bits > variable.bits:
            raise t.wrong("bits" if "bits" in t else "lsb", f"{names[0]} has {variable.bits} bits")
        size = max(1, variable.elements) * ((bits + 7) // 8) * len(names)
        for count, step in lanes.values():
            if size % (count * step):
                raise t.wrong("lanes", f"{count} arrays of {step} bytes in turn do not share {size} bytes evenly")
        if prod(c for c, _ in lanes.values()) != len(names):
            raise t.wrong("lanes", "the lanes do not count the arrays")
        keeper = Keeper(f"state {name}", name, 0, size, "", path, names, tuple(lanes.values()))
        at_commits = t.chosen("compare", ("commit", "rest"), "commit") == "commit"
        return InsideState(name, t.at(), keeper, variable, lsb, bits, at_commits)

    def _quiescent(self) -> Quiescence:
        if "quiescent" not in self._table:
            return Quiescence()
        t = self._table.table("quiescent")
        t.only("signal", "value", "mask", "cycles", "limit")
        probe = self._probe(t, "signal") if "signal" in t else None
        if probe is None and ("value" in t or "mask" in t):
            raise t.wrong("value" if "value" in t else "mask", "there is no signal whose value it is")
        value, mask = self._value(t, 0, probe.bits) if probe is not None else (0, 1)
        cycles = t.integer("cycles", 1) if "cycles" in t else _CYCLES
        return Quiescence(probe, value, mask, cycles, t.integer("limit", 1) if "limit" in t else _LIMIT)
