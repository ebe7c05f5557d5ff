"""Only what the top module declares is passed to it, whatever the style in which it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fleet.engines.rtl_sim.top_parameters import declared_parameters, top_parameters
from fleet.errors import DeviceError
from fleet.isa.registry import find_device
from fleet.sdk import RtlFiles

LOWRISC = """
// module top #(parameter int NotThis = 1) ( is a comment
module other #(parameter int unsigned Foreign = 3) (input logic a); endmodule
module top
  import some_pkg::*;
#(
  parameter int unsigned        Block    = some_pkg::size(4, 2), // , parameter Comment = 1
  parameter logic [31:0]        DescHash = 32'h0,
  parameter type                req_t    = logic,
  localparam int unsigned       Derived  = Block * 2,
  parameter int unsigned        Sizes [2] = '{1, 2}, AccDepth = 8,
  parameter string              Title    = "a, parameter Quoted = 1"
) (
  input logic clk_i
);
  parameter int Inner = 1;
endmodule
"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (LOWRISC, {"Block", "DescHash", "Sizes", "AccDepth", "Title"}),
        ("module automatic top #(parameter A = 1, B = 2, parameter signed [3:0] C = 4) (input a);endmodule", {"A", "B", "C"}),
        ("module top(a);\n parameter W = 8, D = (1 << 4);\n input a;\n parameter [7:0] M = 0;\nendmodule", {"W", "D", "M"}),
        ("module top #(\n/* none */\n) (input a); endmodule", set()),
        ("module top; endmodule\nmodule next; parameter X = 1; endmodule", set()),
        ("module topmost #(parameter No) (); endmodule module top #(int A, type T = logic, U, int B) (); endmodule", {"A", "B"}),
    ],
)  # fmt: skip
def test_declared(text: str, names: set[str], tmp_path: Path) -> None:
    source = tmp_path / "top.sv"
    source.write_text(text)
    assert declared_parameters([source], "top") == names


def test_values_are_those_of_the_device(tmp_path: Path) -> None:
    _, device = find_device("vgemm_small")
    source = tmp_path / "top.sv"
    source.write_text(LOWRISC.replace("Title    = ", "DdrBytes = 0, HbmMegabytes = 3, Title = "))
    rtl = RtlFiles((source,), "top")
    assert top_parameters(rtl, device) == {"Block": 4, "AccDepth": 1024, "DdrBytes": 16 << 20}
    assert top_parameters(replace(rtl, parameters=lambda _: {"Sizes": 5, "Unknown": 1}), device) == {"Sizes": 5}


def test_a_memory_that_is_no_whole_number_of_mebibytes(tmp_path: Path) -> None:
    _, device = find_device("vgemm_small")
    source = tmp_path / "top.sv"
    source.write_text("module top #(parameter int DdrMegabytes = 1) (); endmodule")
    odd = replace(device, memory={"ddr": 1_500_000})
    with pytest.raises(DeviceError, match=r"memory.ddr is 1500000 bytes, expected a multiple of 1048576 \(1 MiB\)"):
        top_parameters(RtlFiles((source,), "top"), odd)
    assert top_parameters(RtlFiles((source,), "top"), device) == {"DdrMegabytes": 16}


def test_a_top_module_that_is_nowhere(tmp_path: Path) -> None:
    source = tmp_path / "top.sv"
    source.write_text("module tap; endmodule")
    with pytest.raises(DeviceError, match="no source defines the top module 'top'"):
        declared_parameters([source], "top")
