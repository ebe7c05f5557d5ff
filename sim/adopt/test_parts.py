"""Every part that drives addresses, against every part that answers: a design of wires between two ports of each protocol.

What a script writes at the one must be in the memory at the other, and come back; the monitors at both must be quiet.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import workspace

from fleet.adopt.bench.replay import replay
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly

# Protocol -> (manager's signals, subordinate's signals), with widths.
BUSES = {
    "apb": ("paddr:16 psel penable pwrite pwdata:32 pstrb:4", "prdata:32 pready pslverr"),
    "axi4_lite": (
        "awaddr:16 awvalid wdata:32 wstrb:4 wvalid bready araddr:16 arvalid rready",
        "awready wready bresp:2 bvalid arready rdata:32 rresp:2 rvalid",
    ),
    "axi4": (
        "awaddr:20 awlen:8 awsize:3 awburst:2 awvalid wdata:64 wstrb:8 wlast wvalid bready"
        " araddr:20 arlen:8 arsize:3 arburst:2 arvalid rready",
        "awready wready bresp:2 bvalid arready rdata:64 rresp:2 rlast rvalid",
    ),
    "wishbone": ("adr:16 dat_w:32 sel:4 we cyc stb", "dat_r:32 ack err stall"),
    "avalon_mm": ("address:16 read write writedata:32 byteenable:4", "readdata:32 readdatavalid waitrequest"),
    "tilelink": (
        "a_valid a_opcode:3 a_param:3 a_size:2 a_source:2 a_address:16 a_mask:4 a_data:32 d_ready",
        "a_ready d_valid d_opcode:3 d_size:2 d_source:2 d_data:32 d_denied",
    ),
    "obi": ("req addr:16 we be:4 wdata:32", "gnt rvalid rdata:32 err"),
    "hci": ("req add:16 wen be:4 data:32", "gnt r_data:32 r_valid"),
    "native_memory": ("valid addr:16 wdata:32 wstrb:4", "ready rdata:32"),
    "sram": ("en we addr:12 wdata:32", "rdata:32"),
    "strobe_memory": ("addr:16 read write wdata:32 be:4", "rdata:32 ready"),
    "strobe_memory_plain": ("addr:16 read write wdata:32 be:4", "rdata:32 rvalid"),
    "strobe_memory_done": ("addr:16 read write wdata:32", "rdata:32 read_done write_done"),
    "two_port_sram": ("re raddr:12 we waddr:12 wdata:32 be:4", "rdata:32"),
}


SHIFTS = {
    "avalon_mm_address": " << 2", "strobe_memory_addr": " << 2", "strobe_memory_done_addr": " << 2",
    "two_port_sram_raddr": " >> 2", "two_port_sram_waddr": " >> 2",
}  # fmt: skip
"""Of addresses that count words at one side and bytes at the other."""


FORMS = {"strobememoryplain": "strobememory", "strobememorydone": "strobememory", "ahb": "ahblite"}
"""Name of a port -> its protocol, where these differ."""
UNMONITORED = ("sram", "strobe_memory", "strobe_memory_plain", "strobe_memory_done", "two_port_sram")
"""Without a handshake, or watched by the part that answers."""


def _ports(side: str, prefix: str, text: str) -> list[tuple[str, str, int]]:
    found: list[tuple[str, str, int]] = []
    for word in text.split():
        name, _, width = word.partition(":")
        found.append((side, f"{prefix}_{name}", int(width or 1)))
    return found


def design() -> str:
    """Wires from s_* to m_*; AHB-Lite and addresses of words need a little more."""
    ports: list[tuple[str, str, int]] = [("input", "clk", 1), ("input", "rst_n", 1)]
    body: list[str] = []
    for name, (manager, subordinate) in BUSES.items():
        s, m = f"s{name.replace('_', '')}", f"m{name.replace('_', '')}"
        ports += _ports("input", s, manager) + _ports("output", m, manager)
        ports += _ports("output", s, subordinate) + _ports("input", m, subordinate)
        for _, port, _ in _ports("", "", manager):
            shift = SHIFTS.get(f"{name}{port}", "")
            body.append(f"assign {m}{port} = {s}{port}{shift};")
        body += [f"assign {s}{port} = {m}{port};" for _, port, _ in _ports("", "", subordinate)]
    ahb = "haddr:16 htrans:2 hwrite hsize:3 hwdata:32"
    ports += _ports("input", "sahb", f"{ahb} hsel hready") + _ports("output", "sahb", "hrdata:32 hresp hreadyout")
    ports += _ports("output", "mahb", ahb) + _ports("input", "mahb", "hready hrdata:32 hresp")
    body += [f"assign mahb{p} = sahb{p};" for _, p, _ in _ports("", "", ahb)]
    body += ["assign sahb_hrdata = mahb_hrdata;", "assign sahb_hresp = mahb_hresp;", "assign sahb_hreadyout = mahb_hready;"]
    declared = ",\n  ".join(f"{side} logic [{width - 1}:0] {name}" for side, name, width in ports)
    lines = "\n  ".join(body)
    return f"module wires (\n  {declared});\n  {lines}\nendmodule\n"


def test_what_is_written_is_in_memory_and_comes_back(tmp_path: Path) -> None:
    (tmp_path / "wires.sv").write_text(design())
    (tmp_path / "wires.f").write_text("wires.sv\n")
    folder = workspace(tmp_path / "w", tmp_path / "wires.f", edits=[("latency = 1", "latency = 2")])
    work = open_workspace(folder)
    names = [n.replace("_", "") for n in BUSES] + ["ahb"]
    found = {(g.name, g.role): g.protocol for g in work.ports.groups}
    for name in names:
        assert FORMS.get(name, name) == found[f"s{name}", "subordinate"].replace("_", ""), found
        assert (f"m{name}", "manager") in found
    lines = ["limit = 20000"]
    checks: list[str] = []
    for n, name in enumerate(names):
        for k in range(3):
            address, value = 0x100 * (n + 1) + 8 * k, 0x11223344 * (k + 1) + n
            lines += ["[[step]]", f'write = "s{name}"', f"address = {address:#x}", f"data = {value:#x}", "limit = 200"]
            checks += ["[[step]]", f'read = "s{name}"', f"address = {address:#x}", f"expect = {value:#x}", "mask = 0xffffffff"]
            checks += ["limit = 200"]
    for n, name in enumerate(names):
        checks += ["[[expect]]", f'port = "m{name}"', f"address = {0x100 * (n + 1)}", f"words = [{0x11223344 + n}]"]
    test = folder / "all.toml"
    test.write_text("\n".join(lines + checks) + "\n")
    outcome = replay(work, test)
    assert (outcome.differences, outcome.violations, outcome.exit_code) == ((), (), ExitCode.AGREED)
    assert outcome.compared == len(names) * 7
    assert outcome.monitors == 2 * (len(names) - len(UNMONITORED))
    assert outcome.undriven == ()


@pytest.mark.parametrize(("port", "channel"), [("saxi4lite", "b"), ("saxi4", "r")])
def test_an_exclusive_okay_without_an_exclusive_access_is_the_designs_fault(tmp_path: Path, port: str, channel: str) -> None:
    wire = f"assign {port}_{channel}resp = m{port[1:]}_{channel}resp;"
    text = design()
    assert wire in text
    (tmp_path / "wires.sv").write_text(text.replace(wire, f"assign {port}_{channel}resp = 2'd1;"))
    (tmp_path / "wires.f").write_text("wires.sv\n")
    folder = workspace(tmp_path / "w", tmp_path / "wires.f")
    test = folder / "one.toml"
    access = f'[[step]]\n{{}} = "{port}"\naddress = 0x40\n{{}}limit = 200\n'
    test.write_text(access.format("write", "data = 7\n") + access.format("read", "expect = 7\nmask = 0xff\n"))
    outcome = replay(open_workspace(folder), test)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert [(v.port, v.rule, v.blame) for v in outcome.violations] == [
        (port, f"{channel}: exclusive okay for a normal access", "design")
    ]
