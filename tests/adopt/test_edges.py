"""Clocks and asynchronous resets whose names say nothing: what the sources do with their edges says it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.port_map import PortMap
from fleet.adopt.top import read_top

LEAF = """module leaf(input c, input k, input d, output reg q);
  always @(posedge c or negedge k) if (!k) q <= 0; else q <= d;
endmodule
"""


def _map(folder: Path, ports: str, body: str) -> PortMap:
    (folder / "t.v").write_text(f"{LEAF}module t({ports}, input d, output reg q);\n{body}\nendmodule\n")
    return classify(read_top(read_sources([folder / "t.v"]), "t", {}))


def _wires(found: PortMap) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {g.name: (g.protocol, g.low) for g in found.groups if g.protocol in ("clock", "reset")}


@pytest.mark.parametrize(
    ("body", "low"),
    [
        ("always @(posedge osc or posedge clear) if (clear) q <= 0; else q <= d;", ()),
        ("always @(negedge clear, posedge osc) if (~clear) q <= 0; else q <= d;", ("reset",)),
        ("wire c = osc; wire k = !clear; leaf u(c, !k, d, q);", ("reset",)),
    ],
)
def test_the_edges_tell_what_the_names_do_not(tmp_path: Path, body: str, low: tuple[str, ...]) -> None:
    found = _map(tmp_path, "input osc, input clear", body)
    assert _wires(found) == {"osc": ("clock", ()), "clear": ("reset", low)}
    notes = [note for g in found.groups for note in g.notes]
    edge = "negedge" if low else "posedge"
    assert [n.partition(" at ")[0] for n in notes[:2]] == [
        f"osc is taken for a clock by `posedge {'c' if 'leaf' in body else 'osc'}`",
        f"clear is taken for a reset by `{edge} {'k' if 'leaf' in body else 'clear'}`",
    ]


def test_a_name_that_tells_comes_first(tmp_path: Path) -> None:
    body = "always @(posedge clk or posedge load) if (load) q <= 0; else q <= d;\nreg n; always @(posedge strobe) n <= d;"
    found = _map(tmp_path, "input clk, input rst, input load, input strobe", body)
    assert _wires(found) == {"clk": ("clock", ()), "rst": ("reset", ())}
    reasons = {u.path: u.reason.partition("; ")[2].rpartition(":")[0] for u in found.unmapped}
    assert reasons["load"] == "the sources have it as an asynchronous reset: `posedge load` at t.v"
    assert reasons["strobe"] == "the sources have it as a clock: `posedge strobe` at t.v"


def test_what_loads_data_is_no_reset(tmp_path: Path) -> None:
    body = "always @(posedge osc or posedge load) if (load) q <= d; else q <= ~q;\nreg n; always @(posedge osc) if (go) n <= 0;"
    assert _wires(_map(tmp_path, "input osc, input load, input go", body)) == {"osc": ("clock", ())}


@pytest.mark.parametrize("name", ["aclr", "wrst_n", "rrst_n", "usr_rst"])
def test_names_of_resets(tmp_path: Path, name: str) -> None:
    assert _wires(_map(tmp_path, f"input clk, input {name}", "")) == {
        "clk": ("clock", ()), name: ("reset", ("reset",) if name.endswith("_n") else ())
    }  # fmt: skip
