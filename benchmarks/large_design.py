"""An accelerator of any number of lines, as generators of hardware write them: a file a module, each module another one.

APB registers start a job: words are read over AXI4, go through a chain of clusters, and are written back. A cluster has a queue and
a scratch memory, a table, a state machine, a shuffle network, a tile of processing elements, and stages of arithmetic in single
assignments with registers between them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

TOP = "LargeTop"
_ENDS = Path(__file__).with_suffix(".v")
_MODULE = re.compile(r"^module (\w+).*?^endmodule\n", re.S | re.M)
_TILE = 4
_OPERATORS = ("&", "|", "^", "+", "-")

_QUEUE = """module Queue_{k}(
  input         clock,
  input         reset,
  input         io_in_valid,
  output        io_in_ready,
  input  [63:0] io_in_bits,
  output        io_out_valid,
  input         io_out_ready,
  output [63:0] io_out_bits
);
  reg  [63:0] ram [0:{last}];
  reg  [{top}:0] head;
  reg  [{top}:0] tail;
  reg         maybe_full;
  wire        same = head == tail;
  wire        empty = same & ~maybe_full;
  wire        full = same & maybe_full;
  wire        do_enq = io_in_valid & ~full;
  wire        do_deq = ~empty & io_out_ready;
  assign io_in_ready = ~full;
  assign io_out_valid = ~empty;
  assign io_out_bits = ram[tail];
  always @(posedge clock) begin
    if (do_enq) ram[head] <= io_in_bits;
    if (reset) begin
      head <= {bits}'h0;
      tail <= {bits}'h0;
      maybe_full <= 1'h0;
    end else begin
      if (do_enq) head <= head + {bits}'h1;
      if (do_deq) tail <= tail + {bits}'h1;
      if (do_enq != do_deq) maybe_full <= do_enq;
    end
  end
endmodule
"""
_SCRATCH = """module Scratch_{k}(
  input         clock,
  input         io_write_en,
  input  [{top}:0] io_write_addr,
  input  [7:0]  io_write_mask,
  input  [63:0] io_write_data,
  input         io_read_en,
  input  [{top}:0] io_read_addr,
  output [63:0] io_read_data
);
  reg  [63:0] mem [0:{last}];
  reg  [63:0] read;
  assign io_read_data = read;
  always @(posedge clock) begin
    if (io_read_en) read <= mem[io_read_addr];
{writes}
  end
endmodule
"""
_PE = """module Pe_{k}(
  input         clock,
  input         reset,
  input         io_en,
  input         io_load,
  input  [7:0]  io_weight,
  input  [7:0]  io_a,
  input  [{top}:0] io_sum,
  output [7:0]  io_a_out,
  output [{top}:0] io_sum_out
);
  reg  signed [7:0] weight;
  reg  [7:0]  a;
  reg  [{top}:0] sum;
  wire signed [15:0] product = $signed(io_a) * weight;
  assign io_a_out = a;
  assign io_sum_out = sum;
  always @(posedge clock) begin
    if (reset) begin
      weight <= 8'sh{start:02x};
      a <= 8'h0;
      sum <= {bits}'h0;
    end else begin
      if (io_load) weight <= io_weight ^ 8'h{mask:02x};
      if (io_en) begin
        a <= io_a;
        sum <= io_sum + {{{{{sign}{{product[15]}}}}, product}};
      end
    end
  end
endmodule
"""


def _named(head: str, ports: str, lines: list[str], tail: str = "endmodule\n") -> str:
    return f"module {head}(\n{ports});\n" + "\n".join(lines) + "\n" + tail


_STAGE_PORTS = """  input         clock,
  input         io_en,
  input  [63:0] io_in,
  input  [63:0] io_side,
  output [63:0] io_out
"""


def _stage(name: str, count: int, rng: random.Random) -> str:
    """Arithmetic in single assignments, with registers that hold values of the cycle before."""
    lines: list[str] = []
    names = [(f"io_in[{8 * n + 7}:{8 * n}]", 8) for n in range(0, 8, 2)] + [("lower", 32), ("upper", 32), ("side", 32)]
    lines += ["  wire [31:0] lower = io_in[31:0];", "  wire [31:0] upper = io_in[63:32];", "  wire [31:0] side = io_side[31:0];"]
    held: list[tuple[str, str]] = []

    def wide(value: tuple[str, int]) -> str:
        return value[0] if value[1] == 32 else f"{{24'h0, {value[0]}}}"

    def whole() -> str:
        return rng.choice([n for n, w in names[-32:] if w == 32] or ["lower"])

    while len(lines) < count:
        n = len(lines)
        kind = rng.randrange(10)
        a, b = wide(rng.choice(names[-24:])), wide(rng.choice(names[-24:]))
        width = 32
        if kind == 0:
            value = f"{whole()}[{rng.randrange(32)}] ? {a} : {b}"
        elif kind == 1:
            at = rng.randrange(1, 31)
            value = f"{{{whole()}[{at - 1}:0], {whole()}[31:{at}]}}"
        elif kind == 2:
            at, width = rng.randrange(24), 8
            value = f"{whole()}[{at + 7}:{at}] {rng.choice(_OPERATORS)} 8'h{rng.randrange(256):02x}"
        elif kind == 3:
            value = f"{a} > {b} ? {a} : {b}"
        elif kind == 4:
            value = f"{{16'h0, {whole()}[15:0]}} * {{16'h0, {whole()}[31:16]}}" if n % 7 == 0 else f"{a} {rng.choice('+-')} {b}"
        elif kind == 5 and n > 8:
            register = f"held_{n}"
            lines.append(f"  reg  [31:0] {register};")
            held.append((register, a))
            names.append((register, 32))
            continue
        else:
            value = f"{a} {rng.choice(_OPERATORS)} {b}"
        wire = f"_GEN_{n}" if rng.randrange(3) else f"_T_{n}"
        lines.append(f"  wire [{width - 1}:0] {wire} = {value};")
        names.append((wire, width))
    lines += ["  reg  [63:0] result;", "  assign io_out = result;", "  always @(posedge clock) begin", "    if (io_en) begin"]
    lines += [f"      {register} <= {value};" for register, value in held]
    lines += [f"      result <= {{{whole()}, {whole()}}} ^ io_in;", "    end", "  end"]
    return _named(name, _STAGE_PORTS, lines)


def _shuffle(name: str, rng: random.Random) -> str:
    lines = [f"  reg  [7:0]  lane_{n};" for n in range(8)]
    for n in range(8):
        lines += ["  always @* begin", f"    case (io_side[{4 * n + 3}:{4 * n}])"]
        for choice in range(15):
            at = 8 * rng.randrange(8)
            change = rng.choice(("", f" ^ 8'h{rng.randrange(256):02x}", f" + 8'h{rng.randrange(256):02x}"))
            lines.append(f"      4'h{choice:x}: lane_{n} = io_in[{at + 7}:{at}]{change};")
        lines += [f"      default: lane_{n} = io_in[{8 * n + 7}:{8 * n}];", "    endcase", "  end"]
    lines += ["  reg  [63:0] result;", "  assign io_out = result;", "  always @(posedge clock) begin"]
    lines += [f"    if (io_en) result <= {{{', '.join(f'lane_{n}' for n in range(8))}}};", "  end"]
    return _named(name, _STAGE_PORTS, lines)


def _table(name: str, rng: random.Random) -> str:
    ports = "  input         clock,\n  input         io_en,\n  input  [7:0]  io_index,\n  output [31:0] io_value\n"
    lines = ["  reg  [31:0] value;", "  assign io_value = value;", "  always @(posedge clock) begin", "    if (io_en) begin"]
    lines += ["      case (io_index)"]
    lines += [f"        8'h{n:02x}: value <= 32'h{rng.randrange(1 << 32):08x};" for n in range(255)]
    lines += ["        default: value <= 32'h0;", "      endcase", "    end", "  end"]
    return _named(name, ports, lines)


def _control(name: str, states: int, rng: random.Random) -> str:
    ports = _STAGE_PORTS.replace("clock,\n", "clock,\n  input         reset,\n", 1)
    ports = ports.replace("  input  [63:0] io_side,\n  output [63:0] io_out\n", "  output [31:0] io_side\n")
    lines = ["  reg  [5:0]  state;", "  reg  [15:0] count;", "  reg  [31:0] side;", "  assign io_side = side ^ {16'h0, count};"]
    lines += ["  always @(posedge clock) begin", "    if (reset) begin", "      state <= 6'h0;", "      count <= 16'h0;"]
    lines += ["      side <= 32'h0;", "    end else if (io_en) begin", "      case (state)"]
    for n in range(states):
        bit, lsb = rng.randrange(64), rng.randrange(48)
        near, far = rng.randrange(states), rng.randrange(states)
        lines += [f"        6'h{n:02x}: begin", f"          if (io_in[{bit}]) state <= 6'h{near:02x};"]
        lines.append(f"          else if (count[{rng.randrange(16)}]) state <= 6'h{far:02x};")
        lines.append(f"          else state <= 6'h{(n + 1) % states:02x};")
        if rng.randrange(2):
            lines.append(f"          count <= count + io_in[{lsb + 15}:{lsb}];")
        lines += [f"          side <= side ^ 32'h{rng.randrange(1 << 32):08x};", "        end"]
    lines += ["        default: state <= 6'h0;", "      endcase", "    end", "  end"]
    return _named(name, ports, lines)


def _tile(name: str, k: int, bits: int) -> str:
    ports = _STAGE_PORTS.replace("clock,\n", "clock,\n  input         reset,\n  input         io_load,\n", 1)
    top = bits - 1
    lines: list[str] = []
    for r in range(_TILE):
        lines += [f"  wire [7:0]  a_{r}_0 = io_in[{8 * r + 7}:{8 * r}];", f"  wire [{top}:0] sum_0_{r} = {bits}'h0;"]
    for r in range(_TILE):
        for c in range(_TILE):
            lines += [f"  wire [7:0]  a_{r}_{c + 1};", f"  wire [{top}:0] sum_{r + 1}_{c};", f"  Pe_{k} pe_{r}_{c} ("]
            lines += ["    .clock(clock),", "    .reset(reset),", "    .io_en(io_en),", "    .io_load(io_load),"]
            lines += [f"    .io_weight(io_side[{8 * ((r + c) % 4) + 7}:{8 * ((r + c) % 4)}]),", f"    .io_a(a_{r}_{c}),"]
            lines += [f"    .io_sum(sum_{r}_{c}),", f"    .io_a_out(a_{r}_{c + 1}),", f"    .io_sum_out(sum_{r + 1}_{c})", "  );"]
    for c in range(_TILE):  # scaled, rounded, saturated
        lines += [
            f"  wire [{top}:0] round_{c} = sum_{_TILE}_{c} + {bits}'h8;",
            f"  wire [{top - 4}:0] scaled_{c} = round_{c}[{top}:4];",
            f"  wire        over_{c} = ~scaled_{c}[{top - 4}] & |scaled_{c}[{top - 5}:7];",
            f"  wire        under_{c} = scaled_{c}[{top - 4}] & ~&scaled_{c}[{top - 5}:7];",
            f"  wire [7:0]  byte_{c} = over_{c} ? 8'h7f : under_{c} ? 8'h80 : scaled_{c}[7:0];",
        ]
    lines += ["  reg  [31:0] kept;", "  always @(posedge clock) begin", "    if (io_en) kept <= io_in[63:32];", "  end"]
    joined = ", ".join(f"byte_{c}" for c in reversed(range(_TILE)))
    lines += [f"  assign io_out = {{kept, {joined}}};"]
    return _named(name, ports, lines)


def _cluster(k: int, rng: random.Random) -> Iterator[tuple[str, str]]:
    """(module, text) of all modules of a cluster."""
    bits = rng.randrange(2, 7)
    yield f"Queue_{k}", _filled(_QUEUE, k=k, last=(1 << bits) - 1, top=bits - 1, bits=bits)
    address = rng.randrange(5, 11)
    writes = "\n".join(
        f"    if (io_write_en & io_write_mask[{n}]) mem[io_write_addr][{8 * n + 7}:{8 * n}] <= io_write_data[{8 * n + 7}:{8 * n}];"
        for n in range(8)
    )
    yield f"Scratch_{k}", _filled(_SCRATCH, k=k, last=(1 << address) - 1, top=address - 1, writes=writes)
    sums = rng.choice((20, 22, 24, 26))
    start, mask = rng.randrange(256), rng.randrange(256)
    yield f"Pe_{k}", _PE.format(k=k, top=sums - 1, bits=sums, sign=sums - 16, start=start, mask=mask)
    yield f"Table_{k}", _table(f"Table_{k}", rng)
    yield f"Control_{k}", _control(f"Control_{k}", rng.randrange(24, 60), rng)
    yield f"Shuffle_{k}", _shuffle(f"Shuffle_{k}", rng)
    yield f"Tile_{k}", _tile(f"Tile_{k}", k, sums)
    stages = [f"Stage_{k}_{n}" for n in range(rng.randrange(3, 7))]
    for name in stages:
        yield name, _stage(name, rng.randrange(120, 500), rng)
    yield f"Cluster_{k}", _cluster_text(k, address, ["Shuffle", *stages[:-1], "Tile", stages[-1]])


def _filled(text: str, **values: object) -> str:
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def _cluster_text(k: int, address: int, chain: list[str]) -> str:
    ports = (
        "  input         clock,\n  input         reset,\n  input         io_config_valid,\n  input  [31:0] io_config_bits,\n"
        "  input         io_in_valid,\n  output        io_in_ready,\n  input  [63:0] io_in_bits,\n"
        "  output        io_out_valid,\n  input         io_out_ready,\n  output [63:0] io_out_bits\n"
    )
    top = address - 1
    depth = len(chain) + _TILE  # cycles of the chain; the tile has its own
    mine = f"io_config_valid & io_config_bits[31:24] == 8'h{k % 256:02x}"
    lines = [
        "  wire        queue_valid;", "  wire [63:0] queue_bits;", f"  reg  [{depth - 1}:0] valids;", f"  reg  [{top}:0] place;",
        f"  wire        en = io_out_ready | ~valids[{depth - 1}];", "  wire [31:0] side, value;", "  wire [63:0] scratch;",
        f"  wire        load = {mine};",
        f"  Queue_{k} queue (", "    .clock(clock),", "    .reset(reset),", "    .io_in_valid(io_in_valid),",
        "    .io_in_ready(io_in_ready),", "    .io_in_bits(io_in_bits),", "    .io_out_valid(queue_valid),",
        "    .io_out_ready(en),", "    .io_out_bits(queue_bits)", "  );",
        f"  Scratch_{k} memory (", "    .clock(clock),", "    .io_write_en(load | (queue_valid & en)),",
        "    .io_write_addr(place),", "    .io_write_mask(load ? 8'h0f : 8'hff),",
        "    .io_write_data(load ? {40'h0, io_config_bits[23:0]} : queue_bits),", "    .io_read_en(en & |place),",
        f"    .io_read_addr(place - {address}'h1),", "    .io_read_data(scratch)", "  );",
        f"  Table_{k} lookup (", "    .clock(clock),", "    .io_en(en),", "    .io_index(queue_bits[7:0]),",
        "    .io_value(value)", "  );",
        f"  Control_{k} control (", "    .clock(clock),", "    .reset(reset),", "    .io_en(en & queue_valid),",
        "    .io_in(queue_bits),", "    .io_side(side)", "  );", "  wire [63:0] bits_0 = queue_bits;",
    ]  # fmt: skip
    for n, name in enumerate(chain):
        module = f"{name}_{k}" if name in ("Shuffle", "Tile") else name
        more = ["    .reset(reset),", "    .io_load(load),"] if name == "Tile" else []
        aside = ("{side, value}", "{value, side}", "{value, scratch[31:0]}")[n % 3]
        lines += [f"  wire [63:0] bits_{n + 1};", f"  {module} step_{n} (", "    .clock(clock),", *more, "    .io_en(en),"]
        lines += [f"    .io_in(bits_{n}),", f"    .io_side({aside}),", f"    .io_out(bits_{n + 1})", "  );"]
    lines += [
        f"  assign io_out_valid = valids[{depth - 1}];", f"  assign io_out_bits = bits_{len(chain)};",
        "  always @(posedge clock) begin", "    if (reset) begin",
        f"      valids <= {depth}'h0;", f"      place <= {address}'h0;", "    end else if (en) begin",
        f"      valids <= {{valids[{depth - 2}:0], queue_valid}};", f"      if (queue_valid) place <= place + {address}'h1;",
        "    end", "  end",
    ]  # fmt: skip
    return _named(f"Cluster_{k}", ports, lines)


def _link(k: int) -> str:
    n = k + 1
    return (
        f"  wire        valid_{n}, ready_{n};\n  wire [63:0] bits_{n};\n  Cluster_{k} cluster_{k} (\n    .clock(clock),\n"
        f"    .reset(reset),\n    .io_config_valid(config_valid),\n    .io_config_bits(config_bits),\n"
        f"    .io_in_valid(valid_{k}),\n    .io_in_ready(ready_{k}),\n    .io_in_bits(bits_{k}),\n"
        f"    .io_out_valid(valid_{n}),\n    .io_out_ready(ready_{n}),\n    .io_out_bits(bits_{n})\n  );\n"
    )


def write_large_design(folder: Path, lines: int, seed: int = 0) -> tuple[Path, int, int]:
    """Write a file for each module, at least so many lines in all.

    Returns the file list, the number of lines and the number of modules; all of them are in the design.
    """
    rng = random.Random(seed)
    modules = {m[1]: m[0] for m in _MODULE.finditer(_ENDS.read_text(encoding="utf-8"))}
    written = sum(text.count("\n") for text in modules.values())
    links: list[str] = []
    while written < lines:
        k = len(links)
        new = dict(_cluster(k, rng))
        modules |= new
        links.append(_link(k))
        written += sum(text.count("\n") for text in (*new.values(), links[-1]))
    modules[TOP] = modules[TOP].replace("// clusters\n", "".join(links)).replace("LAST", str(len(links)))
    (folder / "rtl").mkdir(parents=True)
    for name, text in modules.items():
        (folder / "rtl" / f"{name}.v").write_text(text, encoding="utf-8")
    listed = folder / f"{TOP}.f"
    listed.write_text("".join(f"rtl/{name}.v\n" for name in modules), encoding="utf-8")
    return listed, written, len(modules)
