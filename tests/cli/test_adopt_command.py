"""`fleet isa adopt`: what it prints and writes, how it ends, what the closure's hash depends on."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from command_line import Fleet, Refused

pytest.importorskip("pyslang")

SOURCE = """`include "size.svh"
module dut #(parameter int W = 32) (input logic clk, rst_n,
  input logic s_valid, output logic s_ready, input logic [W-1:0] s_data `ifdef ODD , input logic odd `endif);
  RAM16 ram(.A(s_data));
endmodule
"""


@pytest.fixture
def design(tmp_path: Path) -> Path:
    """A design in tmp_path/rtl; its file list."""
    return written(tmp_path / "rtl")


def written(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "dut.sv").write_text(SOURCE)
    (folder / "size.svh").write_text("// nothing\n")
    (folder / "unused.sv").write_text("module unused; endmodule\n")
    (folder / "dut.f").write_text("+incdir+.\ndut.sv\nunused.sv\n-quiet\n")
    return folder / "dut.f"


def test_what_it_prints_and_writes(design: Path, tmp_path: Path, fleet: Fleet) -> None:
    ran = fleet("isa", "adopt", str(design), "--top", "dut", "-o", str(tmp_path / "ports.toml"))
    assert ran.code == 0, ran.err
    for line in (
        "clocks: clk", "resets: rst_n (active low)", "s: stream subordinate", "  valid[1], ready[1], payload[32]",
        "files: 1, 1 not needed, 1 included, modules: 1; slang", f"not used: -quiet ({design}:4)", "RAM16 x1 at dut.ram",
        "5 of 5 ports mapped in 3 groups",
    ):  # fmt: skip
        assert line in ran.out
    groups = tomllib.loads((tmp_path / "ports.toml").read_text())["group"]
    assert [(g["name"], g["protocol"]) for g in groups] == [("clk", "clock"), ("rst_n", "reset"), ("s", "stream")]
    assert fleet("isa", "adopt", str(design), "--top", "dut", "--map", str(tmp_path / "ports.toml")).code == 0


def test_as_json_with_parameters_and_defines(design: Path, fleet: Fleet) -> None:
    ran = fleet("isa", "adopt", str(design), "--top", "dut", "--parameter", "W=64", "--define", "ODD", "--json")
    assert ran.code == 4
    said = json.loads(ran.out)
    assert said["parameters"] == {"W": "64"}
    assert said["groups"][2]["signals"]["payload"] == [{"port": "s_data", "bits": 64}]
    assert [(u["port"], u["bits"]) for u in said["unmapped"]] == [("odd", 1)]
    assert [m["module"] for m in said["missing"]] == ["RAM16"]


def test_the_closure_is_of_contents_parameters_and_defines(design: Path, tmp_path: Path, fleet: Fleet) -> None:
    def closure(path: Path, *words: str) -> str:
        return str(json.loads(fleet("isa", "adopt", str(path), "--top", "dut", "--json", *words).out)["closure"])

    first = closure(design)
    assert len(first) == 64
    other = written(tmp_path / "elsewhere" / "rtl")
    assert closure(other) == first
    (other.parent / "unused.sv").write_text("module unused; wire x; endmodule\n")
    assert closure(other) == first
    found = {first, closure(design, "--parameter", "W=16"), closure(design, "--define", "X=1")}
    (other.parent / "size.svh").write_text("// nothing more\n")
    found.add(closure(other))
    assert len(found) == 4


def test_bad_requests_are_one_line(design: Path, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "ports.toml").write_text("")
    refused("isa", "adopt", str(design), "--top", "tap", words=("there is no module tap", "dut"))
    refused("isa", "adopt", str(tmp_path / "no.f"), words=("no.f cannot be read",))
    refused("isa", "adopt", str(design), "--top", "dut", "--parameter", "W", words=("--parameter W: give NAME=VALUE",))
    refused("isa", "adopt", str(design), "--top", "dut", "-o", str(tmp_path / "ports.toml"), words=("is there already", "--map"))
    refused(
        "isa", "adopt", str(design), "--top", "dut", "--map", str(tmp_path / "ports.toml"), words=("ports.toml:1: top is missing",)
    )


def test_a_workspace_is_written_and_a_missing_module_is_said_before_anything_is_built(
    design: Path, tmp_path: Path, fleet: Fleet, refused: Refused
) -> None:
    folder = tmp_path / "dut"
    ran = fleet("isa", "adopt", str(design), "--top", "dut", "--parameter", "W=16", "-o", str(folder))
    assert ran.code == 0, ran.err
    assert {p.name for p in folder.iterdir()} == {"adopt.toml", "ports.toml", "description.rdl", "smoke.toml"}
    manifest = tomllib.loads((folder / "adopt.toml").read_text())
    assert (manifest["sources"], manifest["parameters"], manifest["reference"]) == (["../rtl/dut.f"], {"W": "16"}, "clk")
    refused("isa", "adopt", str(design), "--top", "dut", "-o", str(folder), words=("is there already",))
    refused("isa", "replay", str(folder), words=("dut.sv:4: RAM16 has no source (dut.ram)", "substitutes"))
    refused("isa", "replay", str(tmp_path), words=("adopt.toml", "cannot be read"))
    (folder / "bad.toml").write_text('[[step]]\nread = "s"\naddress = 0\n')
    refused("isa", "replay", str(folder), str(folder / "bad.toml"), words=("bad.toml:2: s has no addresses",))
    refused("isa", "replay", str(folder), "bad.toml", words=("bad.toml:2: s has no addresses",))
    refused("isa", "replay", str(folder), "none.toml", words=("none.toml: cannot be read",))
    refused("isa", "replay", str(folder / "bad.toml"), words=("bad.toml:2: s has no addresses",))
    refused("isa", "replay", str(folder / "bad.toml"), str(folder / "bad.toml"), words=("bad.toml is a file",))


def test_what_moved_is_an_exit_code(design: Path, tmp_path: Path, fleet: Fleet) -> None:
    old = str(tmp_path / "ports.toml")
    assert fleet("isa", "adopt", str(design), "--top", "dut", "-o", old).code == 0
    same = fleet("isa", "adopt", str(design), "--top", "dut", "--diff", old)
    assert (same.code, same.out.strip()) == (0, "0 differences; same sources")
    moved = fleet("isa", "adopt", str(design), "--top", "dut", "--parameter", "W=64", "--diff", old, "--json")
    assert moved.code == 1
    assert json.loads(moved.out)["moved"] == ["port s_data has 64 bits, it had 32", "parameter W is 64, it was 32"]


def test_without_slang_it_says_what_to_install(design: Path, refused: Refused) -> None:
    without = 'import sys; sys.modules["pyslang"] = None'
    refused("isa", "adopt", str(design), prelude=without, words=("needs pyslang", "pip install 'fleet-cosim[adopt]'"))
