"""The bench of a design as SystemVerilog: one module with its clocks, its resets, its ports as plain vectors and the parts at them.

The design is an instance, so its interface ports, structures, parameters and unpacked arrays need no wrapper of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from fleet.adopt.bench.observe import InsideState, Observation, ObservedSignal
from fleet.adopt.bench.observers import observer_lines
from fleet.adopt.bench.plan import BenchPlan, BenchPort, ProtocolInstance
from fleet.adopt.names import tokens
from fleet.adopt.ports import PortLeaf, Top, TopPort
from fleet.adopt.workspace import AdoptWorkspace
from fleet.engines.linked.link import BenchLink

TOP = "fleet_adopt_bench"


@dataclass(frozen=True)
class Embedded:
    """A test that is written into the bench, in place of its files: items of `case` statements, and lines.

    ops: operation -> its fields; loads: image -> puts; answers: operation -> checks; dumps: check of memory -> checks; end:
    statements when the test is over; claim: declarations of the check of a model.
    """

    ops: tuple[str, ...]
    loads: tuple[str, ...]
    answers: tuple[str, ...]
    dumps: tuple[str, ...]
    end: tuple[str, ...]
    claim: tuple[str, ...]


def bench_text(
    work: AdoptWorkspace, plan: BenchPlan, observed: Observation | None = None, embedded: Embedded | None = None,
    link: BenchLink | None = None,
) -> str:  # fmt: skip
    """The module.

    observed: what the bench records beside the ports; embedded: the test that it runs, None: one of files; link: to a program that
    has the design, None: the bench has it.
    """
    return "\n".join(_Writer(work, plan, observed, embedded, link).lines()) + "\n"


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
        yield f"module {TOP};"
        yield "  import fleet_store_pkg::*;"
        yield "  import fleet_bench_pkg::*;"
        yield f"  localparam int OPW = {self._plan.op_bits};"
        yield f"  localparam int DRIVEN = {max(1, len(self._plan.driven))};"
        yield "  logic [DRIVEN-1:0] go = '0;"
        yield "  wire [DRIVEN-1:0] done, fin;"
        yield "  logic [OPW-1:0] op = '0;"
        yield "  wire [OPW-1:0] result [DRIVEN];"
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
        yield from observer_lines(self._plan, self._observed, self._value, self._clock, self._element, fetch)
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
        if not settings.clocks:
            yield "  logic c_none = 0; always #1 c_none = ~c_none;"
        for name, clock in settings.clocks.items():
            net, wait = self._clock(name), f"#{clock.phase} " if clock.phase else ""
            yield f"  logic {net} = 0; initial begin {wait}forever #{clock.period // 2} {net} = ~{net}; end"
        yield f"  wire reference = {self._clock(settings.reference)};"
        yield "  logic running = 0;"
        yield "  always @(posedge reference) cycle <= cycle + 1;"
        names: list[str] = []
        for name, reset in settings.resets.items():
            names.append(f"r_{_plain(name)}")
            # Alone, a simulator's `always @(*)` of a reset waits for a change of it.
            begun = (" = 1", "") if self._embedded is None else ("", f" #0 r_{_plain(name)} = 1;")
            before = 2 * (reset.pulses - 1)  # registers behind a clock gate or a synchroniser need an edge of the reset
            if before:
                yield (
                    f"  logic q_{_plain(name)} = 1; initial begin settling++; wait (running); repeat ({before}) begin repeat "
                    f"({reset.cycles}) @(posedge reference); q_{_plain(name)} <= ~q_{_plain(name)}; end "
                    f"repeat (4) @(posedge reference); settling--; end"
                )
            cycles, edge = reset.cycles * (before + 1), self._clock(reset.clock)
            yield (
                f"  logic r_{_plain(name)}{begun[0]}; initial begin{begun[1]} wait (running); "
                f"repeat ({cycles}) @(posedge reference); "
                f"@(posedge {edge}) r_{_plain(name)} <= 0; end"
            )
        if not names:
            names = ["r_none"]
            yield "  logic r_none = 1; initial begin wait (running); repeat (4) @(posedge reference); r_none <= 0; end"
        yield f"  wire rst = {' | '.join(names)};"

    def _clock(self, name: str) -> str:
        return f"c_{_plain(name)}" if name else "c_none"

    # The design and its ports as vectors.

    def _design(self, top: Top) -> Iterator[str]:
        for port in top.ports:
            name = f"p_{port.name}"
            array = "".join(f" [0:{n - 1}]" for n in port.array)
            if port.interface:
                inputs = ", ".join(f".{n}({self._interface_input(n)})" for n in port.interface_inputs)
                yield f"  {port.interface} {name}{array} ({inputs});"
            else:
                kind = "wire" if port.direction == "inout" else "logic"
                yield f"  {kind} [{max(1, port.width) - 1}:0] {name}{array};"
        for port in top.ports:
            for leaf in port.leaves:
                if leaf.width:
                    yield from self._leaf(port, leaf)
        values = ", ".join(f".{name}({value})" for name, value in self._work.parameters.items())
        connections = ",\n    ".join(f".{p.name}(p_{p.name})" for p in top.ports)
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
        clock = self._clock(port.settings.clock)
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
                "result": f"result[{i.index}]",
                "taken": f"taken{i.index}",
            }
        for name in sorted(part.inputs - wires.keys()):
            wires[name] = f"g{number}_{name}" if name in port.group.signals else port.absent(name)
        for name in sorted(part.outputs - wires.keys()):
            wires[name] = f"g{number}_{name}" if name in port.group.signals else ""
        used = part.inputs | part.outputs
        connections = ", ".join(f".{name}({wire})" for name, wire in wires.items() if name in used)
        yield f"  {part.name} #({parameters}) u{n} ({connections});"
        if i.index >= 0:
            if not part.is_driven:
                yield f"  assign done[{i.index}] = 0;"
            if "result" not in part.outputs:
                yield f"  assign result[{i.index}] = '0;"
            yield f"  longint edge{i.index} = 0;  // before this one, at which an operation that is taken was"
            yield (
                f"  always @(posedge {clock}) begin if (taken{i.index}) taken[{i.index}] = edge{i.index}; "
                f"edge{i.index} = $time; end"
            )
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
        watched = self._plan.watched
        yield "  function automatic bit [1023:0] watch(int k);"
        yield "    case (k)"
        for path, n in watched.items():
            yield f"      {n}: return 1024'({'~' if path in self._low else ''}{self._net[path]});"
        yield "      default: return '0;"
        yield "    endcase"
        yield "  endfunction"
        if not self._plan.driven:
            yield "  assign done = '0; assign fin = '0; assign result[0] = '0;"
        cases = "".join(f"        {n}: t{n} <= $bits(t{n})'(b);\n" for n in self._plan.ties.values())
        text = _SCRIPT.replace("@LOAD@", _LOAD).replace("@DUMP@", _DUMP)
        text = text.replace("@TIES@", cases or "        0: ;\n").replace("@TOP@", TOP).replace("@IMPORT@", _IMPORT)
        if self._embedded is not None:
            text = _with_test(text, self._embedded)
        yield text


_READ_LINE = "more = fleet_script_next(OPW, code, k, a, b, c, limit) != 0;"
_LOAD = '        9: fleet_store_load($sformatf("image%0d.bin", k), 8\'(b), a);\n'
_DUMP = "        10: fleet_store_dump($sformatf(\"dump%0d.txt\", k), 8'(b), a, 64'(c));\n"
_IMPORT = """  // Reads the next line of script.txt. Returns 0 at its end.
  import "DPI-C" function int unsigned fleet_script_next(
    input int bits, output int code, output int k, output bit [63:0] a, output bit [OPW-1:0] b, output bit [OPW-1:0] c,
    output bit [63:0] limit);
"""
_SCRIPT = """
@IMPORT@  int code, at = 0, k;
  bit more;
  bit [63:0] a, limit, last, position, told;
  bit [OPW-1:0] b, c;
  string file;
  bit over = 0, again, ended = 0;
  task automatic finish(string what);
    $fdisplay(results, "E|%0d|%s|%0d|%0d|%0d", cycle, what, at, violations, unwritten);
    $fclose(results);
    ended = 1;
    $finish;
  endtask
  task automatic answer(logic [OPW-1:0] value);
    told = code == 1 || code == 2 || code == 3 || code == 5 ? taken[k] : $time;
    if (value[OPW-1:64] == 0) $fdisplay(results, "R|%0d|%0d|%0h|%0d|%0d", at, cycle, value[63:0], $time, told);
    else $fdisplay(results, "R|%0d|%0d|%0h|%0d|%0d", at, cycle, value, $time, told);
    reads++;
  endtask
  // One operation of a part; it has not ended when the limit is over.
  task automatic drive(int unsigned n, logic [OPW-1:0] what);
    op <= what;
    go[n] <= 1;
    last = cycle + limit;
    while (!fin[n] && cycle < last) @(posedge reference);
    over = !fin[n];
    go[n] <= 0;
    if (!over) while (fin[n]) @(posedge reference);
  endtask
  initial begin
    results = $fopen("results.txt", "w");
    if ($test$plusargs("wave")) begin
      if ($value$plusargs("wave=%s", file)) $dumpfile(file);
      $dumpvars(0, @TOP@);
    end
    while (!ended) begin
      more = fleet_script_next(OPW, code, k, a, b, c, limit) != 0;
      if (!more) finish("script");
      else begin
      $fdisplay(results, "B|%0d|%0d", at, $time);
      case (code)
        0: finish("end");
        1: begin drive(k, (OPW'(1) << 1088) | (OPW'(a) << 1024) | b); answer(OPW'(result[k][1024]) << 1024); end
        2: begin drive(k, OPW'(a) << 1024); answer(OPW\'(result[k])); end
        3: begin
          last = cycle + limit;
          again = 1;
          position = last;
          while (again) begin
            limit = position > cycle ? position - cycle : 0;
            drive(k, OPW'(a) << 1024);
            again = !over && (result[k] & b) != c && cycle < position;
          end
          over = over || (result[k] & b) != c;
          answer(OPW\'(result[k]));
        end
        4: begin
          last = cycle + limit;
          while ((watch(k) & 1024'(b)) != 1024'(c) && cycle < last) @(posedge reference);
          over = (watch(k) & 1024'(b)) != 1024'(c);
          answer(OPW\'(watch(k)));
        end
        5: begin drive(k, (OPW'(c[0]) << (OPW - 1)) | b); answer('0); end
        6: begin
          last = cycle + limit;
          while (result[k][31:0] < a[31:0] && cycle < last) @(posedge reference);
          over = result[k][31:0] < a[31:0];
          answer(OPW\'(result[k]));
        end
        7: begin case (k)
@TIES@          default: ;
          endcase
          @(posedge reference); answer('0);
        end
        8: begin repeat (a[31:0]) @(posedge reference); answer('0); end
@LOAD@@DUMP@        11: begin
          observing = $test$plusargs("observe") != 0;
          running = 1; @(posedge reference); while (rst) @(posedge reference); repeat (2) @(posedge reference);
          snapshot();
        end
        12: begin
          last = cycle + limit;
          if (RESTS) while (rests <= REST && cycle < last) @(posedge reference);
          else repeat (REST) @(posedge reference);
          over = RESTS && rests <= REST;
          snapshot();
        end
        default: finish("script");
      endcase
      end
      if (over && !ended) finish("limit");
      at++;
    end
  end
  longint unsigned most = 64'd1000000000;
  initial if (!$value$plusargs("limit=%d", most)) most = 64'd1000000000;
  always @(posedge reference) if (cycle > most && !ended) finish("limit");"""


def _with_test(text: str, test: Embedded) -> str:
    """The script's text with a test in it."""

    def case(what: str, items: tuple[str, ...]) -> str:
        return "\n".join([f"case ({what})", *items, "default: ;", "endcase"])

    answer = "  task automatic answer(logic [OPW-1:0] value);\n"
    ended = [
        *test.end, 'if (what != "end") fail(what);', '$display("%s", fails == 0 ? "PASS" : "FAIL");',
        'if (fails != 0) $fatal(1, "it fails");', "$finish;",
    ]  # fmt: skip
    begin = "  initial begin\n    results"
    for old, new in (
        (_IMPORT, ""),
        (_READ_LINE, f"more = 1;\n{case('at', test.ops)}"),
        (answer, f"{answer}{case('at', test.answers)}\n"),
        (_LOAD, f"        9: {case('k', test.loads)}\n"),
        (_DUMP, f"        10: {case('k', test.dumps)}\n"),
        ('observing = $test$plusargs("observe") != 0;', "observing = 1;"),
        ("    $fclose(results);\n", ""),
        ("    ended = 1;\n    $finish;\n", "\n".join(["    ended = 1;", *ended, ""])),
        (begin, "\n".join(["  bit claimed = 0;", "  logic [2047:0] bytes_;", *test.claim, begin])),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)


def _indices(array: tuple[int, ...]) -> list[tuple[int, ...]]:
    return list(product(*(range(n) for n in array)))
