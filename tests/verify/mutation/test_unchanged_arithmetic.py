"""A design with all of its mutants and none chosen computes what the original does, whatever signs and widths it mixes."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.engines.rtl_sim.build import Design
from fleet.engines.rtl_sim.dut import Dut
from fleet.verify.mutation.schemata import rtl_mutants

NO_ICARUS = pytest.mark.skipif(
    shutil.which("iverilog") is None and os.environ.get("FLEET_REQUIRE_ICARUS") != "1", reason="no iverilog"
)
WIDTHS = (1, 3, 4, 8, 9, 16, 17, 33)
VECTORS = 60
STATEMENTS = 60


class _Drawer:
    """Draws a design. Operands are `u<width>` and `s<width>`, targets the same with `o` and a number."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def _operand(self) -> str:
        kind, width = self._random.choice("us"), self._random.choice(WIDTHS)
        return self._random.choice(
            [f"{kind}{width}"] * 5
            + [
                f"{width}'{self._random.choice(['', 's'])}h{self._random.randrange(1 << min(width, 12)):x}",
                f"{self._random.randrange(9)}",
            ]
            + ["N", "M", "s16[7:2]", "u33[(u3) +: 4]", "s8[u3]", "$signed(u9)", "$unsigned(s9)", "f(s8)", "g(u4)", "{u3, s4}"]
            + [f"{self._random.choice([4, 12, 20])}'(s{width})", "16'($signed(u8))"]
        )

    def expression(self, depth: int) -> str:
        if depth == 0 or self._random.random() < 0.1:
            return self._operand()
        left, right, other = (self.expression(depth - 1) for _ in range(3))
        binary = self._random.choice(["+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"])
        shift = self._random.choice(["<<", ">>", ">>>"])
        return self._random.choice(
            [f"({left} {binary} {right})"] * 5
            + [f"({left} {shift} u3)"] * 2
            + [f"(~{left})", f"(-{left})", f"(!{left})", f"(|{left})", f"(&{left})", f"(({other}) ? {left} : {right})"]
        )

    def design(self) -> str:
        targets = [(f"{self._random.choice('us')}o{n}", self._random.choice(WIDTHS)) for n in range(STATEMENTS)]
        ports = [f"  input {'signed ' if k == 's' else ''}[{w - 1}:0] {k}{w}" for w in WIDTHS for k in "us"]
        declared, clocked, others = list[str](), list[str](), list[str]()
        for n, (name, width) in enumerate(targets):
            declared.append(f"  logic {'signed ' if name[0] == 's' else ''}[{width - 1}:0] {name}, {name}_d;")
            text = self.expression(self._random.choice([1, 1, 2, 2, 3]))
            if n % 3 == 0:
                clocked.append(f"      if ({self.expression(1)}) {name} <= {text};")
            elif n % 3 == 1:
                declared.append(f"  logic {'signed ' if n % 2 else ''}[{self._random.choice(WIDTHS) - 1}:0] {name}_q;")
                clocked.append(f"      {name}_q <= {name}_d; {name} <= {name}_q;")
                others.append(f"  always_comb begin\n    {name}_d = {text};\n  end")
            else:
                label = self._operand()
                others.append(
                    f"  always_comb begin\n    case ({self._operand()})\n      {self._random.randrange(6)}: {name} = {text};\n"
                    f"      4'd5, 8'sd3: {name} = {label};\n      default: {name} = {self.expression(1)};\n    endcase\n  end"
                )
        seen = " ^ ".join(f"{name}" for name, _ in targets)
        return "\n".join([
            "module top #(parameter [31:0] N = 3, parameter [7:0] M = 8'd200) (",
            "  input clk, input rst_n,\n" + ",\n".join(ports) + ",\n  output [63:0] seen\n);",
            "  function automatic signed [11:0] f(input signed [7:0] a); f = a * 3 + 1; endfunction",
            "  function automatic [4:0] g(input signed [5:0] a); g = (a >>> 1) - 2; endfunction",
            *declared,
            f"  assign seen = {seen};",
            *others,
            "  always_ff @(posedge clk) begin\n    if (!rst_n) begin",
            *(f"      {name} <= -8'sd{n % 100};" for n, (name, _) in enumerate(targets) if n % 3 == 0),
            "    end else begin", *clocked, "    end\n  end", "endmodule", "",
        ])  # fmt: skip


def _bench(drawn: random.Random, targets: Sequence[str], names: Sequence[tuple[str, int]]) -> Iterator[str]:
    yield "module bench; reg clk = 0, rst_n = 0;"
    yield from (f"  reg [{w - 1}:0] {name};" for name, w in names)
    yield f"  top dut (.clk(clk), .rst_n(rst_n){''.join(f', .{n}({n})' for n, _ in names)});"
    yield "  initial begin"
    for n in range(VECTORS):
        values = "".join(
            f" {name} = {w}'h{drawn.choice([0, (1 << w) - 1, 1 << (w - 1), *[drawn.getrandbits(w)] * 5]):x};" for name, w in names
        )
        yield f"   {values} rst_n = {int(n > 1)}; #1 clk = 1; #1 clk = 0; #1;"
        yield from (f'    $display("{n} {name} %h", dut.{name});' for name in targets)
    yield "    $finish; end endmodule"


def _seen(folder: Path, sources: Sequence[Path], bench: str) -> list[str]:
    (folder / "bench.sv").write_text(bench)
    image = folder / "image"
    subprocess.run(
        ["iverilog", "-g2012", "-s", "bench", "-o", image, *sources, folder / "bench.sv"], check=True, capture_output=True
    )
    return subprocess.run(["vvp", "-n", image], check=True, capture_output=True, text=True).stdout.splitlines()


INSTANCES = """module part #(parameter W = 8, parameter P = 1) (input signed [7:0] s, output [31:0] y, output [31:0] z);
  assign y = {W'(s) * W'(s)};
  assign z = {($unsigned(s) << 3) + P};
endmodule
module top (input clk, rst_n, input signed [7:0] s8, input [15:0] u16, output [31:0] ua, ub, uc, ud, ue, uf);
  part #(.W(9), .P(8'd200)) narrow (s8, ua, ub);
  part #(.W(14), .P(20'd77777)) wide (s8, uc, ud);
  part #(.W(20), .P(-3)) other (s8, ue, uf);
endmodule
"""


@NO_ICARUS
def test_instances_of_other_widths_and_signs(tmp_path: Path) -> None:
    _holds(tmp_path, INSTANCES, ["ua", "ub", "uc", "ud", "ue", "uf"], [("s8", 8)], 0)


@NO_ICARUS
@pytest.mark.parametrize("seed", range(6))
def test_unchanged_design_with_all_mutants_is_the_original(tmp_path: Path, seed: int) -> None:
    text = _Drawer(seed).design()
    names = sorted({w.split(";")[0] for w in text.split() if w.startswith(("uo", "so")) and w.strip(";").isalnum()})
    operators = _holds(tmp_path, text, names, [(f"{k}{w}", w) for w in WIDTHS for k in "us"], seed)
    assert operators >= {
        "hold", "reset", "stuck", "arithmetic", "relational", "logical", "bitwise", "shift", "constant", "condition", "negation",
        "arms", "select", "sign", "label",
    }  # fmt: skip


def _holds(folder: Path, text: str, names: Sequence[str], inputs: Sequence[tuple[str, int]], seed: int) -> set[str]:
    """Run a design as it is and with all mutants, none of them chosen. Returns the operators of the mutants."""
    original = folder / "top.sv"
    original.write_text(text)
    schemata = rtl_mutants(Design(Dut("top", {}, None), (original,)), folder)
    package, *written = schemata.write(folder / "out").sources
    package.write_text("package fleet_mutant_pkg; bit [31:0] active = 0; endpackage\n")
    for path in written:  # Icarus has no DPI, and no variable with a value in a function
        changed = path.read_text().replace("automatic int unsigned fleet_mutant = fleet_mutant_pkg::fleet_mutant_chosen();", "")
        path.write_text(changed.replace("(fleet_mutant == ", "(fleet_mutant_pkg::active == "))
    bench = "\n".join(_bench(random.Random(seed), names, inputs))
    expected = _seen(folder, [original], bench)
    assert len(expected) == VECTORS * len(names) > 300
    got = _seen(folder, [package, *written], bench)
    differ = {a.split()[1] for a, b in zip(expected, got, strict=True) if a != b}
    lines = [line for line in text.splitlines() if any(f"{name} " in line or f"{name}_d " in line for name in differ)]
    assert not differ, "\n".join(lines[:20])
    return {m.operator for m in schemata.mutants}
