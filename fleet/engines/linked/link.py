"""A bench whose design is simulated by another program: the bench is Verilator's as always, and asks it at each change of an input.

Two vectors travel: all inputs, and all outputs with the signals inside that are observed. State inside is a third one, asked for
when it is looked at. The host is a module in plain Verilog around the design: it reads a line, lets the design settle and writes
its outputs, with x where a bit has no value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LINK = Path(__file__).with_name("link.cpp")
"""The bench's end."""
CXXRTL_HOST = Path(__file__).with_name("cxxrtl.cpp")
"""The other end, around a design that yosys wrote as C++."""
HOST = "fleet_host"
"""The module around the design that reads lines itself."""
SHELL = "fleet_shell"
"""The module around the design for a program that sets its ports."""
BROKEN = 70
"""Exit code of a bench whose other simulator failed (link.cpp)."""


@dataclass(frozen=True)
class BenchLink:
    """The bits that travel between a bench and its design.

    Attributes:
        inputs, outputs: leaf of the top -> (lowest bit, width) in its vector.
        probes: path of a variable inside -> the same, behind the outputs.
        states: path of an array or variable inside -> (lowest bit, bits of an element, elements, index of the first; 0: no array).
    """

    inputs: Mapping[str, tuple[int, int]]
    outputs: Mapping[str, tuple[int, int]]
    probes: Mapping[str, tuple[int, int]]
    states: Mapping[str, tuple[int, int, int, int]]

    @property
    def bits_in(self) -> int:
        """Bits of all inputs."""
        return max(1, sum(width for _, width in self.inputs.values()))

    @property
    def bits_out(self) -> int:
        """Bits of all outputs and probes."""
        return max(1, sum(width for _, width in (*self.outputs.values(), *self.probes.values())))

    @property
    def bits_state(self) -> int:
        """Bits of all states."""
        return max(1, sum(bits * max(1, count) for _, bits, count, _ in self.states.values()))

    def named(self, bit: int) -> str:
        """Return the output, or the signal inside, to which a bit belongs."""
        return next(p for p, (low, width) in {**self.outputs, **self.probes}.items() if low <= bit < low + width)

    def probe(self, path: str) -> str:
        """Return the expression by which the bench reads a signal inside."""
        low, width = self.probes[path]
        return f"link_out[{low} +: {width}]"

    def element(self, path: str, index: str, lsb: int, bits: int) -> str:
        """Return the expression for bits of element `index`, counted from 0, of a state."""
        low, width, _, _ = self.states[path]
        return f"{bits}'(link_bits({low + lsb} + {index} * {width}, {bits}))"

    def bench_lines(self, nets: Mapping[str, str]) -> Iterator[str]:
        """The design's place in the bench. nets: leaf -> its net."""
        step = f"longint now, cycles, input bit [{self.bits_in - 1}:0] i, input int n, output bit [{self.bits_out - 1}:0] o"
        yield '  import "DPI-C" function void fleet_link_open(input string runner, image, options, input int outputs, value);'
        yield f'  import "DPI-C" function void fleet_link_step(input {step}, input int m);'
        widest = max((bits for _, bits, _, _ in self.states.values()), default=1)
        yield '  import "DPI-C" function void fleet_link_look(input longint now, input int bits);'
        found = f"output bit [{widest - 1}:0] found"
        yield f'  import "DPI-C" function void fleet_link_bits(input int low, bits, {found});'
        yield f"  function automatic bit [{widest - 1}:0] link_bits(int low, int bits);"
        yield f"    bit [{widest - 1}:0] found;"
        yield "    fleet_link_bits(low, bits, found);"
        yield "    return found;"
        yield "  endfunction"
        yield f"  wire [{self.bits_in - 1}:0] link_in;"
        yield f"  bit [{self.bits_out - 1}:0] link_out, link_got;"
        yield "  bit link_open = 0;"
        yield "  string link_program, link_image, link_options;"
        yield "  int link_unknown;"
        for path, (low, width) in self.inputs.items():
            yield f"  logic [{width - 1}:0] {nets[path]};  // {path}"
            yield f"  assign link_in[{low} +: {width}] = {nets[path]};"
        for path, (low, width) in self.outputs.items():
            yield f"  logic [{width - 1}:0] {nets[path]};  // {path}"
            yield f"  assign {nets[path]} = link_out[{low} +: {width}];"
        yield _STEP.replace("@IN@", str(self.bits_in)).replace("@OUT@", str(self.bits_out))

    def host_lines(self, design: Iterator[str], nets: Mapping[str, str]) -> Iterator[str]:
        """The host. design: the lines of the design's instance `dut` and of its leaves; nets: leaf -> its net."""
        yield "`timescale 1ns/1ps"
        yield f"module {HOST};"
        yield f"  reg [{self.bits_in - 1}:0] link_in, link_next;"
        yield f"  wire [{self.bits_out - 1}:0] link_out;"
        yield f"  wire [{self.bits_state - 1}:0] link_state;"
        yield from design
        for path, (low, width) in self.inputs.items():
            yield f"  assign {nets[path]} = link_in[{low} +: {width}];"
        for path, (low, width) in self.outputs.items():
            yield f"  assign link_out[{low} +: {width}] = {nets[path]};"
        for path, (low, width) in self.probes.items():
            yield f"  assign link_out[{low} +: {width}] = dut.{path};"
        for path, (low, width, count, first) in self.states.items():
            for n in range(max(1, count)):
                index = f"[{first + n}]" if count else ""
                yield f"  assign link_state[{low + n * width} +: {width}] = dut.{path}{index};"
        yield _HOST
        yield "endmodule"

    def shell_lines(self, design: Iterator[str], nets: Mapping[str, str]) -> Iterator[str]:
        """A module whose ports are the leaves of the design's ports; as `host_lines`."""
        ports = [f"  input [{width - 1}:0] {nets[path]}" for path, (_, width) in self.inputs.items()]
        ports += [f"  output [{width - 1}:0] {nets[path]}" for path, (_, width) in self.outputs.items()]
        yield f"module {SHELL} ("
        yield ",\n".join(ports)
        yield ");"
        declared = tuple(f"] {net};" for net in nets.values())
        yield from (line for line in design if not line.partition("  //")[0].endswith(declared))
        yield "endmodule"

    def tables(self, nets: Mapping[str, str]) -> Iterator[str]:
        """Return a table for a host in C++: name below the shell, lowest bit, bits of an element, elements, index of the first."""
        outputs = [(nets[p], *place, 0, 0) for p, place in self.outputs.items()]
        outputs += [(f"dut.{p}", *place, 0, 0) for p, place in self.probes.items()]
        for name, rows in (
            ("INPUTS", [(nets[p], *place, 0, 0) for p, place in self.inputs.items()]),
            ("OUTPUTS", outputs),
            ("STATES", [(f"dut.{p}", *place) for p, place in self.states.items()]),
        ):
            listed = ", ".join(f'{{"{path}", {", ".join(map(str, numbers))}}}' for path, *numbers in rows)
            yield f"const std::vector<Named> {name} = {{{listed}}};"
        yield f"constexpr int BITS_OUT = {self.bits_out}, BITS_STATE = {self.bits_state};"


_STEP = """
  task automatic link_step();
    if (!link_open) begin
      link_open = 1;
      if (!$value$plusargs("link_program=%s", link_program)) link_program = "";
      if (!$value$plusargs("link_image=%s", link_image)) link_image = "";
      if (!$value$plusargs("link_options=%s", link_options)) link_options = "";
      if (!$value$plusargs("link_unknown=%d", link_unknown)) link_unknown = 0;
      fleet_link_open(link_program, link_image, link_options, @OUT@, link_unknown);
    end
    fleet_link_step(64'($time), rst ? -64'd1 : cycle, link_in, @IN@, link_got, @OUT@);
    link_out <= link_got;
  endtask
  initial link_step();
  always @(link_in) link_step();"""
_HOST = """
  integer from_bench, to_bench, fields, what;
  reg [63:0] now;
  reg waiting = 0, late = 0;
  always @(link_out) if (waiting) late = 1;
  initial begin
    from_bench = $fopen("/dev/fd/110", "r");
    to_bench = $fopen("/dev/fd/111", "w");
    if ($test$plusargs("inside")) begin $dumpfile("inside.vcd"); $dumpvars(0, dut); end
    #0.001;  // what is constant gets its value
    fields = $fscanf(from_bench, "%d %d %h", what, now, link_next);
    while (fields == 3) begin
      if (what == 0) begin
        // The time of the design is that of the bench; each exchange at one time takes a picosecond in which it settles.
        waiting = 1;
        if (now > $realtime) #(now - $realtime);
        waiting = 0;
        link_in = link_next;
        #0.001;
        if (late) $fdisplay(to_bench, "!"); else $fdisplay(to_bench, "%b", link_out);
      end else $fdisplay(to_bench, "%b", link_state);
      $fflush(to_bench);
      fields = $fscanf(from_bench, "%d %d %h", what, now, link_next);
    end
    $finish;
  end"""
