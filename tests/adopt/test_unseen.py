"""Headers in styles that the classifier was not made for, annotated before it had seen them (`annotated`)."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from annotated import judged
from test_classify import UNSEEN

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.protocols import PROTOCOLS
from fleet.adopt.top import read_top

HEADERS = sorted(
    p for folder in ("unseen", "later", "blind", "public", "accelerators") for p in Path(__file__).with_name(folder).glob("*.*v")
)


def test_95_per_cent_of_the_ports_are_mapped_as_a_person_maps_them_and_none_wrongly_in_silence() -> None:
    found = {path.stem: list(judged(path)) for path in HEADERS}
    ports = [j for leaves in found.values() for j in leaves if j.counts]
    assert len(ports) > 800
    assert sum(j.right for j in ports) >= 0.95 * len(ports), [(j.path, j.expected, j.found) for j in ports if not j.right]
    assert not [(name, j) for name, leaves in found.items() for j in leaves if j.wrong_in_silence]


def test_protocols_that_only_these_headers_have_are_known() -> None:
    assert set(PROTOCOLS) >= UNSEEN
    met = {j.found.partition(" ")[0] for path in HEADERS for j in judged(path)}
    assert met >= UNSEEN


def test_a_prefix_that_says_who_drives_is_one_port_whichever_way_it_goes() -> None:
    top = read_top(read_sources([Path(__file__).with_name("blind") / "shell_cl.sv"]), "shell_cl")
    groups = {g.name: (g.protocol, g.role, len(list(g.paths()))) for g in classify(top).groups}
    assert groups["ocl_sh"] == ("axi4_lite", "subordinate", 17)
    assert groups["cl_sh_ddr"] == ("axi4", "manager", 30)


def test_a_read_that_is_no_write_is_one_upside_down() -> None:
    top = read_top(read_sources([Path(__file__).with_name("blind") / "nice_unit.v"]), "nice_unit")
    group = next(g for g in classify(top).groups if g.protocol == "split_memory")
    assert group.low == ("req_write",)


def test_a_bus_without_bursts_may_have_signals_that_only_bursts_need(tmp_path: Path) -> None:
    """Generators leave cache, lock, qos and region on AXI4-Lite."""
    channel = "input [31:0] s_a{0}addr, input [3:0] s_a{0}cache, input [2:0] s_a{0}prot, input [3:0] s_a{0}qos, input s_a{0}lock, "
    channel += "input [3:0] s_a{0}region, input s_a{0}valid, output s_a{0}ready, "
    data = (
        "input [31:0] s_wdata, input [3:0] s_wstrb, input s_wvalid, output s_wready, output [1:0] s_bresp, output s_bvalid, "
        "input s_bready, output [31:0] s_rdata, output [1:0] s_rresp, output s_rvalid, input s_rready"
    )
    (tmp_path / "core.v").write_text(f"module core(input clk, {channel.format('w')}{channel.format('r')}{data}); endmodule\n")
    groups = {
        g.name: (g.protocol, len(list(g.paths()))) for g in classify(read_top(read_sources([tmp_path / "core.v"]), "core")).groups
    }
    assert groups["s"] == ("axi4_lite", 27)
