"""The bench of a design as SystemVerilog: one module with its clocks, its resets, its ports as plain vectors and the parts at them.

The design is an instance, so its interface ports, structures, parameters and unpacked arrays need no wrapper of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import prod

from peakrdl_regblock.identifier_filter import SV_KEYWORDS

from fleet.adopt.bench.library import SIGNAL
from fleet.adopt.bench.observe import InsideState, Observation, ObservedSignal
from fleet.adopt.bench.observers import observer_lines
from fleet.adopt.bench.plan import BenchPlan, BenchPort, ProtocolInstance
from fleet.adopt.bench.sequencer import Embedded, sequencer_text
from fleet.adopt.names import tokens
from fleet.adopt.ports import PortLeaf, Top, TopPort, interface_values
from fleet.adopt.workspace import AdoptWorkspace, Clock, Reset
from fleet.engines.linked.link import BenchLink

TOP = "fleet_adopt_bench"


def bench_text(
    work: AdoptWorkspace, plan: BenchPlan, observed: Observation | None = None, embedded: Embedded | None = None,
    link: BenchLink | None = None,
) -> str:  # fmt: skip
    """The module.

    observed: what the bench records beside the ports; embedded: the test that it runs, None: one of files, and clocks that are
    driven from outside (`clock_table`); link: to a program that has the design, None: the bench has it.
    """
    return "\n".join(_Writer(work, plan, observed, embedded, link).lines()) + "\n"


def clock_table(work: AdoptWorkspace) -> str:
    """The clocks of the bench, in C++, for what drives them."""
    clocks = work.settings.clocks or {"": Clock()}
    rows = "".join(f"    {{&top.{clock_net(name)}, {c.phase + c.period // 2}, {c.period // 2}}},\n" for name, c in clocks.items())
    return _CLOCK_TABLE.replace("@ROWS@", rows)


_CLOCK_TABLE = """// The clocks of the bench, made from adopt.toml: the input, the time of its first edge and half a period in ns.
inline std::vector<Clock> clocks_of(Vtop& top) {
  return {
@ROWS@  };
}
"""


def host_text(work: AdoptWorkspace, plan: BenchPlan, link: BenchLink) -> str:
    """The module around the design at the other end of a link, in Verilog that more than one simulator reads."""
    writer = _Writer(work, plan, None, None, link)
    return "\n".join(writer.around(link.host_lines)) + "\n"


def shell_text(work: AdoptWorkspace, plan: BenchPlan, link: BenchLink) -> str:
    """The module around the design for a host in C++."""
    writer = _Writer(work, plan, None, None, link)
    return "\n".join(writer.around(link.shell_lines)) + "\n"


def table_text(work: AdoptWorkspace, plan: BenchPlan, link: BenchLink) -> str:
    """Return the table of bits between the bench and such a host, in C++."""
    return "\n".join(link.tables(_Writer(work, plan, None, None, link).nets)) + "\n"


class _Writer:
    def __init__(
        self, work: AdoptWorkspace, plan: BenchPlan, observed: Observation | None, embedded: Embedded | None, link: BenchLink | None
    ) -> None:
        self._work, self._plan, self._observed, self._embedded, self._link = work, plan, observed, embedded, link
        self._leaves = list(work.top.leaves())
        self._net = {leaf.path: f"l{n}" for n, leaf in enumerate(self._leaves)}
        self._low = {p for g in work.ports.groups for name in g.low for p in g.signals.get(name, ())}

    def lines(self) -> Iterator[str]:
        top = self._work.top
        yield f"// The bench of {top.name}. Made from its port map; do not edit."
        if self._embedded is None:
            yield "`timescale 1ns/1ps"  # a design's own must not reach it
        clocks = ", ".join(clock_net(name) for name in self._work.settings.clocks or ("",))
        yield f"module {TOP};" if self._embedded is not None else f"module {TOP} (input bit {clocks});"
        yield "  import fleet_store_pkg::*;"
        yield "  import fleet_bench_pkg::*;"
        yield f"  localparam int OPW = {self._plan.op_bits};"
        yield f"  localparam int DRIVEN = {max(1, len(self._plan.driven))};"
        yield "  logic [DRIVEN-1:0] go = '0;"
        yield "  wire [DRIVEN-1:0] done, fin;"
        yield "  logic [OPW-1:0] op = '0;"
        yield from (f"  wire [OPW-1:0] result{n};" for n in range(len(self._plan.driven)))
        yield "  longint taken [DRIVEN];  // when the design took an operation last: of AXI before its response"
        yield "  int unsigned reads = 0;  // operations of the script that have read"
        yield from self._clocks()
        yield from self._link.bench_lines(self._net) if self._link is not None else self._design(top)
        yield from self._single_lines()
        for n, port in enumerate(self._plan.ports):
            yield from self._port(n, port)
        for n, instance in enumerate(self._plan.instances):
            yield from self._instance(n, instance)
        fetch = f"fleet_link_look(64'($time), {self._link.bits_state});" if self._link is not None else ""
        yield from observer_lines(self._plan, self._observed, self._value, clock_net, self._element, fetch)
        yield from self._script()
        yield "endmodule"

    @property
    def nets(self) -> Mapping[str, str]:
        """Leaf -> its net."""
        return self._net

    def around(self, module: Callable[[Iterator[str], Mapping[str, str]], Iterator[str]]) -> Iterator[str]:
        """A module around the design's instance; it gets the lines of the instance, and the nets."""
        design = (line.replace("  logic [", "  wire [") for line in self._design(self._work.top))
        yield f"// {self._work.top.name} as another simulator sees it. Made from its ports; do not edit."
        yield from module(design, self._net)

    # Clocks and resets.

    def _clocks(self) -> Iterator[str]:
        settings = self._work.settings
        if self._embedded is not None:
            for name, clock in (settings.clocks or {"": Clock()}).items():
                net, wait = clock_net(name), f"#{clock.phase} " if clock.phase else ""
                yield f"  logic {net} = 0; initial begin {wait}forever #{clock.period // 2} {net} = ~{net}; end"
        yield f"  wire reference = {clock_net(settings.reference)};"
        yield "  logic running = 0;"
        yield "  always @(posedge reference) cycle <= cycle + 1;"
        for name, reset in settings.resets.items():
            yield from self._reset(_plain(name), reset)
        if not settings.resets:
            yield from self._reset("none", Reset(settings.reference, cycles=3))
        names = [f"r_{_plain(name)}" for name in settings.resets] or ["r_none"]
        yield f"  wire rst = {' | '.join(names)};"

    def _reset(self, name: str, reset: Reset) -> Iterator[str]:
        """A reset that is asserted for so many cycles; behind its pulses, if it has more than one."""
        # Alone, a simulator's `always @(*)` of a reset waits for a change of it.
        yield f"  logic r_{name}{' = 1;' if self._embedded is None else f'; initial #0 r_{name} = 1;'}"
        before = 2 * (reset.pulses - 1)  # registers behind a clock gate or a synchroniser need an edge of the reset
        each = reset.cycles
        cycles, settled = each * (before + 1), each * before + 4
        yield f"  int unsigned n_{name} = 0;  // edges since the test runs"
        yield f"  always @(posedge reference) if (running && n_{name} != {max(cycles, settled)}) n_{name} <= n_{name} + 1;"
        yield f"  always @(posedge {clock_net(reset.clock)}) if (n_{name} >= {cycles}) r_{name} <= 0;"
        if before:
            yield f"  logic q_{name} = 1; initial settling++;"
            yield f"  always @(posedge reference) if (running && n_{name} < {settled}) begin"
            yield f"    if (n_{name} < {each * before} && n_{name} % {each} == {each - 1}) q_{name} <= ~q_{name};"
            yield f"    if (n_{name} == {settled - 1}) settling--;"
            yield "  end"

    # The design and its ports as vectors.

    def _design(self, top: Top) -> Iterator[str]:
        for port in top.ports:
            name = f"p_{port.name}"
            array = "".join(f" [0:{n - 1}]" for n in port.array)
            if port.interface:
                inputs = ", ".join(f".{n}({self._interface_input(n)})" for n in port.interface_inputs)
                yield f"  {port.interface}{interface_values(self._work.parameters, port.name)} {name}{array} ({inputs});"
            else:
                kind = "wire" if port.direction == "inout" else "logic"
                yield f"  {kind} [{max(1, port.width) - 1}:0] {name}{array};"
        for port in top.ports:
            for leaf in port.leaves:
                if leaf.width:
                    yield from self._leaf(port, leaf)
        values = ", ".join(f".{name}({value})" for name, value in self._work.parameters.items() if "." not in name)
        # `do` is a name in Verilog, and a word of the language of the bench.
        names = {p.name: f"\\{p.name} " if p.name in SV_KEYWORDS else p.name for p in top.ports}
        connections = ",\n    ".join(f".{names[p.name]}(p_{p.name})" for p in top.ports)
        yield f"  {top.name}{f' #({values})' if values else ''} dut (\n    {connections});"

    def _interface_input(self, name: str) -> str:
        """Return the driver of an interface's own input: by its name a clock or a reset, else 0."""
        found = tokens(PortLeaf(name, (), "in", 1))
        for protocol, source in (("clock", "reference"), ("reset", "rst")):
            pattern = self._work.protocols[protocol].signals[0]
            for word in found.words:
                if re.fullmatch(pattern.pattern, word):
                    low = found.low or (pattern.low and re.fullmatch(pattern.low, word))
                    return f"{'~' if protocol == 'reset' and low else ''}{source}"
        return "'0"

    def _leaf(self, port: TopPort, leaf: PortLeaf) -> Iterator[str]:
        """The net of a leaf, all its elements side by side, the first one lowest."""
        net = self._net[leaf.path]
        yield f"  logic [{leaf.width * leaf.count - 1}:0] {net};  // {leaf.path}"
        if leaf.direction == "inout":
            return
        for n, (indices, places) in enumerate(product(_indices(port.array), product(*(range(c) for c, _ in leaf.strides)))):
            offset = leaf.offset + sum(i * s for i, (_, s) in zip(places, leaf.strides, strict=True))
            base = f"p_{port.name}" + "".join(f"[{i}]" for i in indices)
            whole = leaf.width
            if port.interface:
                base += "." + leaf.fields[0]
                whole = self._member_width(port, leaf)
            else:
                whole = port.width
            place = base if leaf.width == whole else f"{base}[{offset} +: {leaf.width}]"
            part = f"{net}[{n * leaf.width} +: {leaf.width}]"
            yield f"  assign {part} = {place};" if leaf.direction == "out" else f"  assign {place} = {part};"

    def _member_width(self, port: TopPort, leaf: PortLeaf) -> int:
        return sum(x.width * prod(c for c, _ in x.strides) for x in port.leaves if x.fields[:1] == leaf.fields[:1])

    def _single_lines(self) -> Iterator[str]:
        work = self._work
        for g in work.ports.groups:
            if g.role != "subordinate" or g.protocol not in ("clock", "reset"):
                continue
            (path,) = g.paths()
            source = f"c_{_plain(g.name)}" if g.protocol == "clock" else f"r_{_plain(g.name)}"
            if g.protocol == "reset" and work.settings.resets[g.name].pulses > 1:
                source = f"({source} & q_{_plain(g.name)})"
            yield f"  assign {self._net[path]} = {'~' if path in self._low else ''}{source};"
        for path, n in self._plan.ties.items():
            leaf = next(x for x in self._leaves if x.path == path)
            width = leaf.width * leaf.count
            yield f"  logic [{width - 1}:0] t{n} = {width}'h{work.settings.ties[path]:x};"
            yield f"  assign {self._net[path]} = t{n};"

    # Protocols.

    def _port(self, n: int, port: BenchPort) -> Iterator[str]:
        for name, paths in port.group.signals.items():
            wire, width = f"g{n}_{name}", port.widths[name]
            invert = "~" if name in port.group.low else ""
            yield f"  wire [{width - 1}:0] {wire};"
            slices: list[str] = []
            for path in paths:
                leaf = next(x for x in self._leaves if x.path == path)
                w = leaf.width * leaf.count // port.group.lanes
                slices.append(f"{self._net[path]}[{port.lane * w} +: {w}]")
            joined = "{" + ", ".join(slices) + "}"
            yield f"  assign {wire} = {invert}{joined};" if name in port.drives else f"  assign {joined} = {invert}{wire};"
        player = next((i for i in self._plan.instances if i.port is port and not i.part.name.endswith("_monitor")), None)
        outputs = player.part.outputs if player is not None else frozenset[str]()
        for name in port.group.signals:
            if name not in port.drives and name not in outputs:
                yield f"  assign g{n}_{name} = '0;"

    def _instance(self, n: int, i: ProtocolInstance) -> Iterator[str]:
        port, part = i.port, i.part
        number = next(k for k, p in enumerate(self._plan.ports) if p is port)
        clock = clock_net(port.settings.clock)
        mine = port.group.role == "manager"
        texts = {
            "PORT": f'"{port.name}"', "OPW": "OPW", "LATENCY": str(port.settings.latency), "PAUSE": str(port.settings.pause),
            "FIXED": str(port.settings.fixed),
            "SPACE": str(port.space),
            "SHIFT": str(port.settings.shift), "STABLE": str(int(port.settings.stable)),
            "IS_LITE": str(int(port.protocol.name == "axi4_lite")),
            "MANAGER": '"design"' if mine else '"bench"', "SUBORDINATE": '"bench"' if mine else '"design"',
        }  # fmt: skip
        for name in part.parameters:
            if name.startswith("W_"):
                texts[name] = str(port.width(name[2:]))
            elif name.startswith("HAS_"):
                texts[name] = str(int(name[4:].lower() in port.group.signals))
        parameters = ", ".join(f".{name}({texts[name]})" for name in sorted(part.parameters))
        wires = {"clk": clock, "rst": "rst"}
        if i.index >= 0:
            yield f"  wire taken{i.index};" if "taken" in part.outputs else f"  wire taken{i.index} = done[{i.index}];"
            wires |= {
                "go": f"go[{i.index}] && !fin[{i.index}]",
                "op": "op",
                "done": f"done[{i.index}]",
                "result": f"result{i.index}",
                "taken": f"taken{i.index}",
            }
        for name in sorted(part.inputs - wires.keys()):
            signal = name.removesuffix(SIGNAL)
            wires[name] = f"g{number}_{signal}" if signal in port.group.signals else port.absent(signal)
        for name in sorted(part.outputs - wires.keys()):
            wires[name] = f"g{number}_{name}" if name in port.group.signals else ""
        used = part.inputs | part.outputs
        connections = ", ".join(f".{name}({wire})" for name, wire in wires.items() if name in used)
        yield f"  {part.name} #({parameters}) u{n} ({connections});"
        if i.index >= 0:
            if not part.is_driven:
                yield f"  assign done[{i.index}] = 0;"
            if "result" not in part.outputs:
                yield f"  assign result{i.index} = '0;"
            before = self._work.settings.clocks.get(port.settings.clock, Clock()).period  # an operation is taken at the edge before
            yield f"  always @(posedge {clock}) if (taken{i.index}) taken[{i.index}] = $time - {before};"
            yield (
                f"  logic fin{i.index} = 0; always @(posedge {clock}) fin{i.index} <= !rst && (fin{i.index} ? go[{i.index}] "
                f": done[{i.index}]); assign fin[{i.index}] = fin{i.index};"
            )

    def _value(self, probe: ObservedSignal) -> str:
        """Return the expression by which the bench reads a probe."""
        if probe.inside:
            return f"dut.{probe.path}" if self._link is None else self._link.probe(probe.path)
        return f"{'~' if probe.path in self._low else ''}{self._net[probe.path]}"

    def _element(self, state: InsideState, name: str) -> str:
        """Return the expression for element `i` of an array inside, counted from 0."""
        v = state.variable
        if self._link is not None:
            return self._link.element(name, "i", state.lsb, state.bits)
        part = f"[{state.lsb} +: {state.bits}]" if (state.lsb, state.bits) != (0, v.bits) else ""
        return f"dut.{name}[i + {v.first}]{part}" if v.elements else f"dut.{name}{part}"

    # The script.

    def _script(self) -> Iterator[str]:
        widths = {leaf.path: leaf.width * leaf.count for leaf in self._leaves}
        watched = [(f"{'~' if p in self._low else ''}{self._net[p]}", min(1024, widths[p])) for p in self._plan.watched]
        if not self._plan.driven:
            yield "  assign done = '0; assign fin = '0;"
        yield sequencer_text(TOP, tuple(self._plan.ties.values()), watched, len(self._plan.driven), self._embedded)


def clock_net(name: str) -> str:
    """Return the net of a clock in the bench; "": where a design has none."""
    return f"c_{_plain(name)}" if name else "c_none"


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)


def _indices(array: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(product(*(range(n) for n in array)))
