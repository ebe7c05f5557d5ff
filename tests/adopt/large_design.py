"""A design of any number of lines in the style of generators: one file, a module a stage, a name for every value."""

from __future__ import annotations

import random
from pathlib import Path

_OPERATORS = ("&", "|", "^", "+", "-")
_STAGE_LINES = 250
_HEAD = """module Stage{n}(
  input         clock,
  input         reset,
  input         io_in_valid,
  input  [31:0] io_in_bits,
  output        io_out_valid,
  output [31:0] io_out_bits
);
  reg         valid;
  reg  [31:0] bits;
  reg  [31:0] held_0;
  reg  [31:0] held_1;
"""
_TAIL = """  assign io_out_valid = valid;
  assign io_out_bits = bits;
  always @(posedge clock) begin
    if (reset) begin
      valid <= 1'h0;
      bits <= 32'h0;
      held_0 <= 32'h0;
      held_1 <= 32'h0;
    end else begin
      valid <= io_in_valid;
      if (io_in_valid) begin
        bits <= {last};
        held_0 <= _GEN_{a};
        held_1 <= _GEN_{b};
      end
    end
  end
endmodule
"""
_TOP = """module LargeTop(
  input         clock,
  input         reset,
  input         psel,
  input         penable,
  input         pwrite,
  input  [11:0] paddr,
  input  [31:0] pwdata,
  output [31:0] prdata,
  output        pready,
  output        io_out_valid,
  input         io_out_ready,
  output [31:0] io_out_bits
);
  reg         begun;
  reg  [31:0] first;
  reg  [31:0] count;
  reg         full;
  reg  [31:0] word;
  wire        valid_0 = begun;
  wire [31:0] bits_0 = first;
  assign pready = 1'h1;
  assign prdata = paddr == 12'h0 ? 32'h1a26e001 : paddr == 12'h4 ? first : count;
  assign io_out_valid = full;
  assign io_out_bits = word;
"""
_TOP_TAIL = """  always @(posedge clock) begin
    if (reset) begin
      begun <= 1'h0;
      first <= 32'h0;
      count <= 32'h0;
      full <= 1'h0;
      word <= 32'h0;
    end else begin
      begun <= psel & penable & pwrite & paddr == 12'h4;
      if (psel & penable & pwrite & paddr == 12'h4) first <= pwdata;
      if (valid_{n}) begin
        count <= count + 32'h1;
        word <= bits_{n};
        full <= 1'h1;
      end else if (io_out_ready) full <= 1'h0;
    end
  end
endmodule
"""


def _stage(n: int, rng: random.Random) -> str:
    names = ["io_in_bits", "held_0", "held_1", "bits"]
    lines: list[str] = []
    while len(lines) < _STAGE_LINES - 40:
        a, b, c = (rng.choice(names[-24:]) for _ in range(3))
        name = f"_GEN_{len(lines)}"
        kind = rng.randrange(4)
        if kind == 0:
            value = f"{a}[{rng.randrange(32)}] ? {b} : {c}"
        elif kind == 1:
            at = rng.randrange(1, 31)
            value = f"{{{a}[{at - 1}:0], {b}[31:{at}]}}"
        else:
            value = f"{a} {rng.choice(_OPERATORS)} {b}"
        lines.append(f"  wire [31:0] {name} = {value};")
        names.append(name)
    last = len(lines)
    text = _TAIL.replace("{last}", f"_GEN_{last - 1}").replace("{a}", str(last - 2)).replace("{b}", str(last - 3))
    return _HEAD.replace("{n}", str(n)) + "\n".join(lines) + "\n" + text


def write_large_design(folder: Path, lines: int, seed: int = 0) -> Path:
    """Write `LargeTop.v` of at least so many lines, all of them in the design; returns its path."""
    rng = random.Random(seed)
    parts: list[str] = []
    top = [_TOP]
    written = _TOP.count("\n") + _TOP_TAIL.count("\n")
    n = 0
    while written < lines:
        parts.append(_stage(n, rng))
        top.append(
            f"  wire        valid_{n + 1};\n  wire [31:0] bits_{n + 1};\n  Stage{n} stage_{n} (\n    .clock(clock),\n"
            f"    .reset(reset),\n    .io_in_valid(valid_{n}),\n    .io_in_bits(bits_{n}),\n"
            f"    .io_out_valid(valid_{n + 1}),\n    .io_out_bits(bits_{n + 1})\n  );\n"
        )
        written += parts[-1].count("\n") + top[-1].count("\n")
        n += 1
    top.append(_TOP_TAIL.replace("{n}", str(n)))
    path = folder / "LargeTop.v"
    path.write_text("".join((*parts, *top)))
    return path
