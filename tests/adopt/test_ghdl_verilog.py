"""The Verilog that is made of VHDL computes what ghdl's own simulation of the VHDL computes."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.filelist import read_sources
from fleet.adopt.ghdl_verilog import GhdlOutputs, mended
from fleet.adopt.vhdl import with_verilog
from fleet.errors import DeviceError

both = pytest.mark.skipif(
    (shutil.which("ghdl") is None or shutil.which("iverilog") is None) and os.environ.get("FLEET_REQUIRE_GHDL") != "1",
    reason="ghdl or iverilog is not installed",
)
USE = "library ieee; use ieee.std_logic_1164.all; use ieee.numeric_std.all;\n"
SIGNED = (
    "a + b", "a - b", "resize(a * b, W)", "a / b", "a rem b", "a mod b", "abs a", "-a", "abs (a + 1)", "a / 3", "a / (-3)",
    "a mod 8", "a mod (-5)", "a rem 7", "a + {p}", "a + ({n})", "a - ({n})", "resize(a * ({n}), W)", "resize(a * {p}, W)",
    "shift_right(a, 3)", "shift_right(a, c)", "shift_right(a, W - 1)", "shift_left(a, 3)", "shift_left(a, c)", "a sra c", "a srl c",
    "a sll c", "resize(resize(a, W / 2), W)", "resize(a(W / 2 downto 0), W)", "minimum(a, b)", "maximum(a, b)",
    "minimum(a, to_signed({n}, W))", "to_signed(to_integer(a(7 downto 0)) * 3 - 7, W)", "to_signed({n}, W) + a", "K + a", "a xor K",
    "shift_right(a + b, 1)", "resize(shift_right(a * b, 4), W)", "not a",
    "a + b(6 downto 0)", "resize(a * b(6 downto 0), W)", "a / (b(5 downto 0) & '1')", "resize(a mod (b(5 downto 0) & '1'), W)",
    "resize(a rem (b(5 downto 0) & '1'), W)", "a + to_integer(b(6 downto 0))", "a - c", "resize(-a(6 downto 0), W)",
    "resize(shift_right(a(6 downto 0), c), W)", "resize(abs a(6 downto 0), W)",
)  # fmt: skip
UNSIGNED = (
    "a + b", "a - b", "resize(a * b, W)", "a / b", "a mod b", "a rem b", "a / 3", "a + {p}", "shift_right(a, 3)",
    "shift_right(a, c)", "shift_left(a, c)", "a srl c", "a sll c", "resize(a(W / 2 downto 0), W)", "minimum(a, b)",
    "maximum(a, b)", "K + a", "a and K", "to_unsigned({p}, W) xor a", "a / (b(5 downto 0) & '1')",
    "resize(a mod (b(5 downto 0) & '1'), W)", "a + c",
)  # fmt: skip
ROTATED = ("rotate_left(a, 3)", "rotate_left(a, c)", "rotate_right(a, c)", "a rol c", "a ror c")  # of powers of two
COMPARED = (
    "a {} b",
    "a {} {n}",
    "a {} {p}",
    "{n} {} a",
    "a {} K",
    "abs a {} {p}",
    "a {} b(6 downto 0)",
    "a {} c",
    "to_integer(b(6 downto 0)) {} a",
    "au {} bu",
    "au {} c",
    "au {} {p}",
)
WIDTHS = (8, 16, 32, 33, 40, 64)


def operators(width: int, small: int) -> tuple[str, int]:
    """An entity `ops` with each operator of numeric_std in an output of its own, and the bits of all of them."""
    words = {"n": str(-small), "p": str(small)}
    signed = [e.replace("{n}", words["n"]).replace("{p}", words["p"]) for e in SIGNED]
    unsigned = [e.replace("{p}", words["p"]) for e in (*UNSIGNED, *(ROTATED if width & (width - 1) == 0 else ()))]
    unsigned = [re.sub(r"\bK\b", "KU", re.sub(r"\b([ab])\b", r"\1u", e)) for e in unsigned]
    compared = [
        e.replace("{}", op).replace("{n}", words["n"]).replace("{p}", words["p"])
        for e in COMPARED
        for op in ("<", "<=", ">", ">=", "=", "/=")
    ]
    lines, place = list[str](), 0
    for expression in (*signed, *unsigned):
        lines.append(f"  o({place + width - 1} downto {place}) <= std_logic_vector({expression});")
        place += width
    for expression in compared:
        lines.append(f"  o({place}) <= '1' when {expression} else '0';")
        place += 1
    bits = format(-small - 1 & (1 << width) - 1, f"0{width}b")
    text = USE + (
        f"entity ops is port (clk : in std_logic; x, y : in std_logic_vector({width - 1} downto 0); z : in std_logic_vector(4"
        f" downto 0);\n  o : out std_logic_vector({place - 1} downto 0)); end;\n"
        f"architecture rtl of ops is\n  constant W : positive := {width};\n  signal a, b : signed(W - 1 downto 0);\n"
        f"  signal au, bu : unsigned(W - 1 downto 0);\n  signal c : natural range 0 to 31;\n"
        f'  constant K : signed(W - 1 downto 0) := "{bits}";\n'
        f'  constant KU : unsigned(W - 1 downto 0) := "{bits}";\nbegin\n'
        "  a <= signed(x); b <= signed(y); au <= unsigned(x); bu <= unsigned(y); c <= to_integer(unsigned(z));\n"
    )
    return text + "\n".join(lines) + "\nend;\n", place


def values(width: int, times: int) -> list[tuple[int, int, int]]:
    """Operands, the edges among them; the second one is not 0."""
    draw = random.Random(width)
    top, half = (1 << width) - 1, 1 << width - 1
    edges = (1, 2, 3, 5, top, top - 1, half, half - 1, half + 1, top - 4)

    def one() -> int:
        return draw.choice((draw.choice(edges), draw.getrandbits(width), draw.getrandbits(6), top - draw.getrandbits(6)))

    pairs = [(half, top), (0, 1), (top, top), (half, half), (5, top - 1), (top - 4, 2)]
    pairs += [(one(), one() or 1) for _ in range(times)]
    return [(a, b, draw.randrange(32)) for a, b in pairs]


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def in_vhdl(folder: Path, source: Path, bits: int, width: int, given: Sequence[tuple[int, int, int]]) -> list[str]:
    """The outputs by ghdl's simulation."""
    steps = "\n".join(
        f'    x <= "{a:0{width}b}"; y <= "{b:0{width}b}"; z <= "{c:05b}"; clk <= \'0\'; wait for 1 ns; '
        "write(l, o); writeline(output, l); "
        "clk <= '1'; wait for 1 ns; write(l, o); writeline(output, l);"
        for a, b, c in given
    )
    (folder / "bench.vhd").write_text(
        USE + "use std.textio.all; use ieee.std_logic_textio.all;\nentity bench is end;\narchitecture t of bench is\n"
        f"  signal x, y : std_logic_vector({width - 1} downto 0); signal z : std_logic_vector(4 downto 0);\n"
        f"  signal clk : std_logic := '0'; signal o : std_logic_vector({bits - 1} downto 0);\nbegin\n"
        f"  u : entity work.ops port map (clk, x, y, z, o);\n"
        f"  process\n    variable l : line;\n  begin\n{steps}\n    wait;\n  end process;\nend;\n"
    )
    run(folder, "ghdl", "-a", "--std=08", str(source), "bench.vhd")
    return re.findall(r"^[01XU]+$", run(folder, "ghdl", "-r", "--std=08", "bench", "--ieee-asserts=disable"), re.M)


def in_verilog(folder: Path, source: Path, bits: int, width: int, given: Sequence[tuple[int, int, int]]) -> list[str]:
    """The outputs of what is made of it, in Icarus Verilog."""
    sources, _ = with_verilog(read_sources([source]), "ops", {})
    steps = "\n".join(
        f'    x = {width}\'h{a:x}; y = {width}\'h{b:x}; z = {c}; clk = 0; #1 $display("%b", o); clk = 1; #1 $display("%b", o);'
        for a, b, c in given
    )
    (folder / "bench.v").write_text(
        f"module bench;\n  reg [{width - 1}:0] x, y; reg [4:0] z; reg clk = 0; wire [{bits - 1}:0] o;\n"
        f"  ops u (.clk(clk), .x(x), .y(y), .z(z), .o(o));\n"
        f"  initial begin\n{steps}\n  end\nendmodule\n"
    )
    run(folder, "iverilog", "-g2012", "-o", "bench.vvp", "bench.v", str(sources.files[0]))
    return re.findall(r"^[01xz]+$", run(folder, "vvp", "-n", "bench.vvp"), re.M)


@both
@pytest.mark.parametrize("width", WIDTHS)
def test_each_operator_of_numeric_std_is_the_same_in_verilog(tmp_path: Path, width: int) -> None:
    for small in (5, 100):
        text, bits = operators(width, small)
        source = tmp_path / "ops.vhd"
        source.write_text(text)
        given = values(width, 60)
        vhdl, verilog = (simulate(tmp_path, source, bits, width, given) for simulate in (in_vhdl, in_verilog))
        assert len(vhdl) == len(verilog) == 2 * len(given)
        expressions = re.findall(r"  o\((\d+)(?: downto (\d+))?\) <= (.*);", text)
        for operands, right, made in zip(given, vhdl[1::2], verilog[1::2], strict=True):
            for high, low, expression in expressions:
                part = slice(bits - 1 - int(high), bits - int(low or high))
                assert made[part] == right[part], (expression, operands)


STATEMENTS = (
    USE
    + """
entity part is port (clk : in std_logic; d : in std_logic_vector(39 downto 0); q : out std_logic_vector(39 downto 0)); end;
architecture rtl of part is
  type t_state is (a, b, c, d0, e);
  signal state, after_e : t_state := b;
  type t_turn is (first, second, third);
  signal turn : t_turn := first;
  signal chosen : std_logic_vector(39 downto 0);
  signal kept : std_logic_vector(39 downto 0) := (0 => '1', 38 => '1', others => '0');
begin
  process (clk) begin
    if rising_edge(clk) then
      case state is
        when a => state <= b;
        when b => if d(0) = '1' then state <= d0; end if;
        when d0 => state <= e;
        when others => state <= after_e; kept <= d;
      end case;
      case turn is
        when first => turn <= second;
        when second => turn <= third;
        when third => turn <= first;
      end case;
    end if;
  end process;
  after_e <= a when d(1) = '1' else c when d(2) = '1' else b;
  q <= kept when state = d0 else (1 => '0', others => '1') when state = c else chosen;
  with turn select chosen <= d when first, not d when second, (others => d(3)) when third;
end;
"""
    + USE
    + """
entity ops is port (clk : in std_logic; x, y : in std_logic_vector(39 downto 0); z : in std_logic_vector(4 downto 0);
  o : out std_logic_vector(407 downto 0)); end;
architecture rtl of ops is
  type t_table is array (0 to 3) of signed(39 downto 0);
  constant TABLE : t_table := (to_signed(-1, 40), to_signed(2, 40), x"0080000000", x"00FFFFFFF7");
  type t_memory is array (0 to 31) of std_logic_vector(7 downto 0);
  signal memory : t_memory := (0 => x"12", 7 => x"34", others => x"00");
  signal fixed : std_logic := '1';
  signal held : signed(39 downto 0) := to_signed(-7, 40);
  signal n : natural range 0 to 31;
  signal q : std_logic_vector(39 downto 0);
  function chosen(s : std_logic_vector(1 downto 0); v : std_logic_vector(7 downto 0)) return std_logic_vector is
  begin
    case s is
      when "00" => return v;
      when "10" => return x"12";
      when others => return not v;
    end case;
  end;
begin
  fixed <= '0'; n <= to_integer(unsigned(z));
  u : entity work.part port map (clk, x, q);
  o(39 downto 0) <= q;
  process (clk, z) begin
    if z = "00000" then held <= to_signed(-5, 40);
    elsif rising_edge(clk) then held <= held + signed(x) - 9 + TABLE(0);
    end if;
  end process;
  o(79 downto 40) <= std_logic_vector(held);
  o(119 downto 80) <= std_logic_vector(TABLE(n mod 4));
  with z(2 downto 0) select o(159 downto 120) <=
    std_logic_vector(to_signed(-1, 40)) when "000", x when "001", std_logic_vector(held) when "100",
    std_logic_vector(signed(y) - 5) when others;
  process (clk) begin
    if rising_edge(clk) then
      if y(0) = '1' then memory(n) <= x(7 downto 0); end if;
      o(167 downto 160) <= memory(n);
    end if;
  end process;
  o(175 downto 168) <= chosen(z(1 downto 0), x(7 downto 0));
  o(176) <= fixed;
  o(177) <= x(n);
  o(185 downto 178) <= x(to_integer(unsigned(z(2 downto 0))) + 7 downto to_integer(unsigned(z(2 downto 0))));
  process (all) variable v : std_logic_vector(39 downto 0); begin
    v := y; v(n) := x(0); v(39 downto 36) := x(3 downto 0);
    if signed(v) < -2048 then v := x"00FFFFFFF0"; elsif signed(v) > 100000 then v := std_logic_vector(abs signed(v)); end if;
    o(225 downto 186) <= v;
  end process;
  o(265 downto 226) <= std_logic_vector(to_signed(to_integer(signed(x(15 downto 0))) * (-3) + n, 40));
  o(305 downto 266) <= std_logic_vector(resize(signed(x(19 downto 0)) / 7 mod signed'("0101"), 40));
  o(345 downto 306) <= x when unsigned(y) > x"00FFFFFF00" else (others => z(0));
  o(385 downto 346) <= std_logic_vector(signed(x) + (-16)) when signed(y) = -16 else std_logic_vector(unsigned(y) + 3);
  process (clk, z) variable v : unsigned(20 downto 0) := (20 => '1', others => '0'); begin
    if z = "00000" then v := to_unsigned(3, 21);
    elsif rising_edge(clk) then v := v + unsigned(x(7 downto 0));
    end if;
    o(406 downto 386) <= std_logic_vector(v);
  end process;
  o(407) <= fixed;
end;
"""
)


@both
def test_statements_and_wide_constants_are_the_same_in_verilog(tmp_path: Path) -> None:
    source = tmp_path / "ops.vhd"
    source.write_text(STATEMENTS)
    given = values(40, 200)
    vhdl, verilog = (simulate(tmp_path, source, 408, 40, given) for simulate in (in_vhdl, in_verilog))
    assert len(vhdl) == len(verilog) == 2 * len(given)
    fields = [
        (385, 346),
        (345, 306),
        (305, 266),
        (265, 226),
        (225, 186),
        (185, 178),
        (177, 177),
        (176, 176),
        (175, 168),
        (167, 160),
    ]
    fields += [(407, 407), (406, 386), (159, 120), (119, 80), (79, 40), (39, 0)]
    for at, (right, made) in enumerate(zip(vhdl, verilog, strict=True)):  # before and behind each edge
        for high, low in fields:
            part = slice(407 - high, 408 - low)
            assert "U" in right[part] or made[part] == right[part], (high, low, at, given[at // 2])


def other(_: str) -> str:
    raise AssertionError("no other output is needed")


def test_what_has_no_known_form_is_refused_with_its_place_and_operator() -> None:
    text = "module e\n  (input  [7:0] a,\n   output [7:0] q);\n"
    text += "  wire [7:0] n1_o;\n  assign q = n1_o;\n  /* f.vhd:7:9  */\n{}\nendmodule\n"
    for line, operator in (
        ("  n1_o <= std_logic_vector (rotate_left (unsigned (a), 3));", "rotate_left"),
        ("   gate_mdff n1 (\n    .q(n1_o));", "gate_mdff"),
        ("  assign n1_o = (a + q) / q; // sdiv", "/ of signed"),
        ("  n1_o <= a; -- (port)", "n1_o <= a; -- \\(port\\)"),
    ):
        said = rf"f.vhd:7: ghdl 2.0.0 writes wrong Verilog for {operator}; fleet cannot mend it"
        with pytest.raises(DeviceError, match=said):
            mended(GhdlOutputs("GHDL 2.0.0 (Debian)", "e", text.format(line), other))
    with pytest.raises(
        DeviceError, match=r"e: ghdl 2\.0\.0 writes wrong Verilog for the name reg; fleet cannot mend it; rename it"
    ):
        mended(GhdlOutputs("GHDL 2.0.0 (Debian)", "e", text.format("").replace("n1_o", "reg"), other))


RIGHT = """module e
  (input  clk,
   input  [39:0] a,
   output [39:0] q);
  wire [39:0] n1_o;
  wire \\reg ;
  reg [39:0] n9_o;
  reg [39:0] n2_q;
  assign q = n1_o;
  /*# f.vhd:7:9 */
  assign n1_o = $signed(a) >>> 31'b0000000000000000000000000000011;
  assign n3_o = $signed(a) / $signed(n1_o); // sdiv
  assign n4_o = $signed(a) % $signed(40'b1111111111111111111111111111111111111011); // srem
  assign n5_o = $signed(a) >= 0 ? a : -a;
  assign n6_o = ($signed(a) < $signed(n1_o)) ? a : n1_o;
  assign n7_o = {1'b0, a[39:1]};  //  uext
  always @*
    case (n8_o)
      2'b10: n9_o = a;
      2'b01: n9_o = n1_o;
      default: n9_o = 40'b1111111111111111111111111111111111111111;
    endcase
  always @(posedge clk)
    n2_q <= n9_o;
  initial
    n2_q = 40'b1111111111111111111111111111111111111111;
  sub #(
    .name("01"))
    u (
    .d(n9_o));
endmodule
"""


def test_right_verilog_stays_as_it_is() -> None:
    assert mended(GhdlOutputs("GHDL 5.0.1 (x) [Dunoon edition]", "e", RIGHT, other)) == RIGHT


def test_a_quotient_by_minus_one_is_a_negation() -> None:
    """Verilator has 0 for the lowest value of 32 bits by -1, where VHDL has the lowest value."""
    text = "module e\n  (input  [31:0] a,\n   output [31:0] q);\n  assign q = a / a; // sdiv\nendmodule\n"
    assert "$signed(a) == -1 ? -$signed(a) : $signed(a) / $signed(a);" in mended(GhdlOutputs("GHDL 2.0.0", "e", text, other))


def test_a_negative_integer_is_told_from_an_unsigned_one_of_the_same_bits() -> None:
    bits = f"{(1 << 32) - 5:040b}"
    text = f"module e\n  (input  [39:0] a,\n   output q);\n  assign q = $signed(a) < $signed(40'b{bits});\nendmodule\n"
    constant = "    instance %{0}{{i{0}}}: $const_{1}\n      parameters $val=4294967291\n      outputs %{0}.$o{{n{0}w40}}\n"
    signed, unsigned = constant.format(1, "SB32"), constant.format(2, "UB32")
    assert "40'b" + "1" * 37 + "011" in mended(GhdlOutputs("GHDL 2.0.0", "e", text, lambda _: signed))
    assert mended(GhdlOutputs("GHDL 2.0.0", "e", text, lambda _: unsigned)) == text
    with pytest.raises(DeviceError, match="the integers -5 and 4294967291 of 40 bits in one entity"):
        mended(GhdlOutputs("GHDL 2.0.0", "e", text, lambda _: signed + unsigned))
