"""scripts/synthesis without Yosys: paths of small netlists worked out by hand, calls of operators found, equal modules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "synthesis"))

import clock
import netlist
import operators
import rtlil

LUT, FF, CARRY = netlist.LUT_NS, netlist.CLOCK_NS + netlist.SETUP_NS, netlist.CARRY_NS


def cell(kind: str, out: dict[str, list[Any]], **inputs: list[Any]) -> dict[str, Any]:
    directions = dict.fromkeys(inputs, "input") | dict.fromkeys(out, "output")
    return {"type": kind, "port_directions": directions, "connections": {**inputs, **out}}


def flop(d: int, q: int) -> dict[str, Any]:
    return cell("FDRE", {"Q": [q]}, C=[2], CE=["1"], D=[d], R=["0"])


def module(cells: dict[str, Any], **ports: tuple[str, list[int]]) -> dict[str, Any]:
    return {"ports": {n: {"direction": d, "bits": b} for n, (d, b) in ports.items()}, "cells": cells}


def test_the_slowest_path_between_registers_is_the_sum_of_its_cells() -> None:
    cells = {
        "a": flop(30, 10),
        "l1": cell("LUT2", {"O": [11]}, I0=[10], I1=[3]),
        "l2": cell("LUT6", {"O": [12]}, I0=[11], I1=[10]),
        "c1": cell(
            "CARRY4", {"CO": [13, 14, 15, 16], "O": [40, 41, 42, 43]}, S=[12, "0", "0", "0"], DI=[10, "0", "0", "0"], CI=["0"]
        ),
        "c2": cell("CARRY4", {"CO": [17, 18, 19, 20], "O": [30, 31, 32, 33]}, S=["0", "0", "0", "0"], CI=[16], CYINIT=["0"]),
    }
    found = netlist.summary(module(cells, clk=("input", [2]), x=("input", [3]), y=("output", [33])), {})
    into_o = netlist.INTO_CARRY_NS
    assert found.inner == pytest.approx(FF + 2 * LUT + 2 * into_o)
    assert found.path == ("FDRE", "LUT2", "LUT6", "CARRY4", "CARRY4")
    assert found.cells == {"FF": 1, "LUT": 2, "CARRY4": 2}
    assert found.into["x", 0] == pytest.approx(2 * LUT + 2 * into_o + netlist.SETUP_NS)
    assert found.out["y", 0] == pytest.approx(netlist.CLOCK_NS + 2 * LUT + 2 * into_o)
    assert found.through(("x", 0), ("y", 0)) == pytest.approx(2 * LUT + 2 * into_o)
    assert found.loops == 0


def test_a_chain_of_carries_costs_little_a_link() -> None:
    cells: dict[str, Any] = {"a": flop(99, 10)}
    for i in range(8):
        carry_in = ["0"] if i == 0 else [100 + 4 * i - 1]
        cells[f"c{i}"] = cell(
            "CARRY4", {"CO": [100 + 4 * i + j for j in range(4)]}, S=[10 if i == 0 else "0"] + ["0"] * 3, CI=carry_in
        )
    cells["b"] = flop(100 + 31, 11)
    assert netlist.summary(module(cells), {}).inner == pytest.approx(FF + netlist.INTO_CARRY_NS + 7 * CARRY)


def test_paths_go_through_boxes() -> None:
    """An operator has no register; a module has registers at some of its ports and none at others."""
    operator = netlist.operator_box(netlist.Summary({"LUT": 5, "FF": 9, "DSP": 1}, inner=FF + 4.0))
    assert operator.cells == {"LUT": 5, "DSP": 1}
    through = {"from_input": {("s", 0): {"q": 0.5}}, "to_output": {("q", 0): {"s": 0.5}}}
    part = netlist.Summary({}, into={("d", 0): 1.0}, out={("q", 0): 2.0}, **through)
    cells = {
        "a": flop(50, 10),
        "op": cell("op", {"Y": [20, 21]}, A=[10, "0"], B=["1", "1"]),
        "part": cell("part", {"q": [30]}, d=[20], s=[21]),
        "b": flop(30, 12),
    }
    found = netlist.summary(module(cells), {"op": operator, "part": part})
    assert found.inner == pytest.approx(netlist.CLOCK_NS + 4.0 + 1.0)
    assert found.boxes == {"op": 1, "part": 1}
    # Without the register in `part` the slowest is the path through it.
    found = netlist.summary(module(cells), {"op": operator, "part": netlist.Summary({}, out={("q", 0): 2.0}, **through)})
    assert found.inner == pytest.approx(FF + 4.0 + 0.5)


def test_bits_of_a_port_are_not_joined() -> None:
    """Two bits go through a module side by side: from the slow one to the fast one there is no path."""
    inner = {
        "l0": cell("LUT1", {"O": [20]}, I0=[10]),
        "l1": cell("LUT1", {"O": [22]}, I0=[11]),
        "l2": cell("LUT1", {"O": [21]}, I0=[22]),
        "f": flop(11, 30),
    }
    part = netlist.summary(module(inner, x=("input", [10, 11]), y=("output", [20, 21]), q=("output", [30])), {})
    assert (part.into, part.out) == ({("x", 1): netlist.SETUP_NS}, {("q", 0): netlist.CLOCK_NS})
    assert (part.through(("x", 0), ("y", 0)), part.through(("x", 1), ("y", 1))) == (LUT, 2 * LUT)
    assert part.through(("x", 0), ("y", 1)) == LUT, "of whole ports, and so an upper figure"
    assert part.through(("x", 0), ("q", 0)) is None
    around = {"a": flop(90, 10), "part": cell("part", {"y": [20, 21], "q": [30]}, x=[10, "0"]), "b": flop(20, 91)}
    assert netlist.summary(module(around), {"part": part}).inner == pytest.approx(FF + LUT)


def test_dsps_cut_where_their_registers_are_used() -> None:
    def product(**registers: str) -> float:
        dsp = cell("DSP48E2", {"P": [20]}, A=[10], B=[10])
        return netlist.summary(module({"a": flop(50, 10), "m": {**dsp, "parameters": registers}, "b": flop(20, 11)}), {}).inner

    assert product() == pytest.approx(FF + netlist.DSP_NS)
    assert product(PREG="00000000000000000000000000000001") == pytest.approx(FF)


def test_the_slowest_paths_are_named_net_by_net() -> None:
    """One of each end, the slowest first; a bus counts once, whatever its bits."""
    cells = {
        "a": flop(50, 10),
        "l1": cell("LUT1", {"O": [20]}, I0=[10]),
        "l2": cell("LUT1", {"O": [21]}, I0=[20]),
        "b0": flop(20, 30),
        "b1": flop(21, 31),
        "c": flop(10, 32),
        "part": cell("part", {"q": [40]}, d=[20]),
    }
    nets = {"q": [10], "bus": [20, 21]}
    netlist_of = {**module(cells), "netnames": {name: {"bits": bits} for name, bits in nets.items()}}
    paths = netlist.slowest_paths(netlist_of, {"part": netlist.Summary({}, into={("d", 0): 9.0})}, 2)
    assert [end for end, _ in paths] == ["bus in part", "bus before a register"]
    ns, net, kind = zip(*paths[1][1], strict=True)
    assert ns == pytest.approx((netlist.CLOCK_NS, netlist.CLOCK_NS + LUT, netlist.CLOCK_NS + 2 * LUT, FF + 2 * LUT))
    assert net == ("q[0]", "bus[0]", "bus[1]", "bus before a register")
    assert kind == ("FDRE", "LUT1", "LUT1", "")


def test_a_loop_is_left_out_and_counted() -> None:
    cells = {"x": cell("LUT2", {"O": [10]}, I0=[11], I1=[3]), "y": cell("LUT1", {"O": [11]}, I0=[10])}
    assert netlist.summary(module(cells, x=("input", [3])), {}).loops == 1


def test_an_unknown_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="a cell of kind MAGIC"):
        netlist.summary(module({"m": cell("MAGIC", {"O": [3]})}), {})


def test_operators_are_functions_of_their_packages_and_their_marks_differ() -> None:
    assert len(operators.BY_MARKER) == len(operators.OPERATORS)
    for package in ("fp_pkg", "fp_fn_pkg"):
        text = operators.marked(package, (ROOT / "rtl_models" / "arith" / f"{package}.sv").read_text())
        mine = [o for o in operators.OPERATORS if o.package == package]
        assert mine
        for o in mine:
            assert text.count(o.body) == 1
            assert o.marker > max(o.result, *(width for _, width in o.arguments))
    with pytest.raises(ValueError, match="has no function"):
        operators.marked("fp_pkg", "package fp_pkg; endpackage")


COARSE = """
attribute \\src "a.sv:1"
module \\leaf$top.u_{name}
  wire width 8 input 1 \\x
  wire width 8 output 2 \\y
  attribute \\src "a.sv:{line}"
  cell $div ${number}
    parameter \\A_WIDTH 90
    parameter \\B_WIDTH 90
    parameter \\Y_WIDTH 90
    connect \\A \\x
    connect \\B \\x
    connect \\Y \\y
  end
end
"""
TOP = """
module \\top
  cell \\leaf$top.u_a \\u_a
    connect \\x 8'00000000
  end
  cell \\leaf$top.u_b \\u_b
    connect \\x 8'00000000
  end
end
"""


def test_calls_are_boxes_and_equal_modules_have_one_key() -> None:
    text = COARSE.format(name="a", line=3, number=17) + COARSE.format(name="b", line=9, number=404) + TOP
    modules = rtlil.read_modules(text)
    assert {n: dict(m.calls) for n, m in modules.items()} == {
        "\\leaf$top.u_a": {"fp32_mul_short": 1},
        "\\leaf$top.u_b": {"fp32_mul_short": 1},
        "\\top": {},
    }
    assert dict(modules["\\top"].parts) == {"\\leaf$top.u_a": 1, "\\leaf$top.u_b": 1}
    assert [(p.name, p.output, p.width) for p in modules["\\leaf$top.u_a"].ports] == [("\\x", False, 8), ("\\y", True, 8)]
    key = rtlil.keys(modules)
    assert key["\\leaf$top.u_a"] == key["\\leaf$top.u_b"] != key["\\top"]
    leaf = rtlil.together([modules["\\leaf$top.u_a"]], modules)
    assert "module \\fp32_mul_short\n" in leaf
    assert "wire width 90 output 3 \\Y" in leaf
    assert leaf.count("\nmodule ") == 3
    whole = rtlil.together([modules["\\top"], modules["\\leaf$top.u_a"]], modules)

    assert whole.count("attribute \\blackbox 1") == 2  # u_b and the operator
    other = rtlil.keys(rtlil.read_modules(text.replace("404", "404").replace("8'00000000", "8'00000001", 1)))
    assert other["\\top"] != key["\\top"]


def test_modules_of_registers_go_into_what_they_stand_in() -> None:
    """A stage's registers are mapped with the stage: they are no box, and a key tells how deep they are."""
    cut = "module \\fp_cut$top.u_one\n  wire width 8 input 1 \\d_i\n  wire width 8 output 2 \\q_o\n  connect \\q_o \\d_i\nend\n"
    top = "module \\top\n  wire width 8 \\w\n  cell \\fp_cut$top.u_one \\u_one\n    connect \\d_i \\w\n  end\nend\n"
    modules = rtlil.read_modules(cut + top)
    assert modules["\\top"].registers == ("\\fp_cut$top.u_one",)
    assert not modules["\\top"].parts
    assert rtlil.keys(modules)["\\top"] != rtlil.keys(rtlil.read_modules(cut.replace("q_o \\d_i", "q_o 8'00000000") + top))["\\top"]
    together = rtlil.together([modules["\\top"]], modules)
    assert "blackbox" not in together
    assert "module \\fp_cut$top.u_one\n" in together


@pytest.mark.parametrize(
    ("operand", "select", "readers", "luts"),
    [
        ([10, 11], [20, 12], [], 1),  # S reads the output of DI's LUT
        ([10, 11], [10, 12], [], 1),
        ([10, 11, 12, 13], [20, 14], [], 1),
        ([10, 11, 12, 13], [20, 14, 15], [], 2),  # six inputs together
        ([10, 11], [20, 12], [20], 2),  # something else reads DI's LUT
    ],
)
def test_luts_of_one_bit_of_a_carry_chain_share_a_site(
    operand: list[int], select: list[int], readers: list[int], luts: int
) -> None:
    cells = {
        "operand": cell(f"LUT{len(operand)}", {"O": [20]}, **{f"I{i}": [bit] for i, bit in enumerate(operand)}),
        "select": cell(f"LUT{len(select)}", {"O": [21]}, **{f"I{i}": [bit] for i, bit in enumerate(select)}),
        "carry": cell(
            "CARRY4", {"CO": [30, 31, 32, 33], "O": [40, 41, 42, 43]}, S=[21, "0", "0", "0"], DI=[20, "0", "0", "0"], CI=["0"]
        ),
        **{f"reader{i}": flop(bit, 50 + i) for i, bit in enumerate(readers)},
    }
    assert netlist.summary(module(cells), {}).cells["LUT"] == luts


def test_the_estimated_clock_is_that_of_the_slowest_stage() -> None:
    """The lines of a device file are written; what is around them stays, and what agrees is not touched."""
    before = '[limits]\nx = 1\n\n[clock_estimate]  # an upper figure\nmhz = 84\nsource = "old"\n\n[timing.hbm]\nmhz = 900\n'
    lines = clock.estimate(6.15, "unit elementwise", "hbm_small")
    after = clock.with_estimate(before, lines)
    assert after == before.replace("84", "162").replace('"old"', '"unit elementwise, 6.15 ns on hbm_small, by scripts/synthesis"')
    assert clock.with_estimate(after, lines) == after
    assert clock.with_estimate("[limits]\nx = 1\n", lines) == "[limits]\nx = 1\n"
    assert clock.with_estimate('[clock_estimate]\nmhz = 1\nsource = ""\n', lines) == "[clock_estimate]\n" + lines


def test_equal_modules_in_another_order_and_with_other_numbers_have_one_key() -> None:
    one = """
module \\a
  wire $1
  wire width 4 $procmux$7_Y
  cell $mux $procmux$7
    connect \\A \\x
    connect \\Y $procmux$7_Y
  end
  cell $not $7
    connect \\A $procmux$7_Y [0]
    connect \\Y $1
  end
  connect \\y $1
end
"""
    other = """
module \\b
  wire width 4 $procmux$30_Y
  wire $2
  cell $not $3
    connect \\A $procmux$30_Y [0]
    connect \\Y $2
  end
  cell $mux $procmux$30
    connect \\A \\x
    connect \\Y $procmux$30_Y
  end
  connect \\y $2
end
"""
    for text, alike in ((other, True), (other.replace("_Y [0]", "_Y [1]"), False), (other.replace("\\y $2", "\\y $3"), False)):
        key = rtlil.keys(rtlil.read_modules(one + text))
        assert (key["\\a"] == key["\\b"]) is alike
