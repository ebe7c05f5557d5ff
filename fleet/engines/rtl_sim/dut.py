"""Writes `fleet_dut.sv`: the one file that knows which design stands in the bench (top module, parameters, hash)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fleet.errors import DeviceError

_REQUESTS = ("awvalid", "awaddr", "wvalid", "wdata", "wstrb", "bready", "arvalid", "araddr", "rready")
_RESPONSES = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")
_BURST_REQUESTS = (*_REQUESTS, "arlen", "awlen", "wlast")
_BURST_RESPONSES = (*_RESPONSES, "rlast")
_GROUPS = {
    "hbm": (_BURST_REQUESTS, _BURST_RESPONSES),
    "ddr": ((*_BURST_REQUESTS, "arid", "awid"), (*_BURST_RESPONSES, "rid", "bid")),
}
_COMMIT = ("valid", "opcode", "error", "result_valid", "result")

_HBM_WIDTHS = {"addr": 33, "data": 256, "strb": 32, "len": 8, "resp": 2}
_SIGNAL = re.compile(r"(aw|ar|w|r|b)(\w+)\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True)
class Dut:
    """The design in the bench.

    top: module name; parameters: its parameters; desc_hash: `DescHash` (32 bits), None for a top without it. channels: its
    AXI ports are structures of `fleet_axi_pkg`; else it has a port for each of their signals, and the wrapper flattens.
    """

    top: str
    parameters: Mapping[str, int]
    desc_hash: int | None
    channels: bool = False

    @property
    def hbm_ports(self) -> int:
        """`HbmPorts`, 1 where the design has none."""
        return self.parameters.get("HbmPorts", 1)


def _field(signal: str) -> str:
    """The member of a request or response for a signal: "awvalid" is `aw_valid`, "awaddr" is `aw.addr`."""
    parts = _SIGNAL.match(signal)
    assert parts is not None
    return f"{parts[1]}_{parts[2]}" if parts[2] in ("valid", "ready") else f"{parts[1]}.{parts[2]}"


def _flat() -> tuple[list[str], list[str]]:
    """Declarations, and connections of a top that has a port for each signal. HBM ports lie side by side in each of them."""
    connections = [f".s_axil_{s}_i(s_axil_req_i.{_field(s)})" for s in _REQUESTS]
    connections += [f".s_axil_{s}_o(s_axil_rsp_o.{_field(s)})" for s in _RESPONSES]
    connections += [f".ddr_{s}_o(ddr_req_o.{_field(s)})" for s in _GROUPS["ddr"][0]]
    connections += [f".ddr_{s}_i(ddr_rsp_i.{_field(s)})" for s in _GROUPS["ddr"][1]]
    requests, responses = _GROUPS["hbm"]
    connections += [f".hbm_{s}_o(hbm_{s})" for s in requests] + [f".hbm_{s}_i(hbm_{s})" for s in responses]
    lines: list[str] = []
    for s in (*requests, *responses):
        width = _HBM_WIDTHS.get(_SIGNAL.sub(r"\2", s), 1)
        inner = f"[{width - 1}:0]" if width > 1 else ""
        lines.append(f"  logic [fleet_dut_pkg::HbmPorts-1:0]{inner} hbm_{s};")
    lines.append("  for (genvar p = 0; p < fleet_dut_pkg::HbmPorts; p++) begin : gen_hbm")
    lines += [f"    assign hbm_req_o[p].{_field(s)} = hbm_{s}[p];" for s in requests]
    lines += [f"    assign hbm_{s}[p] = hbm_rsp_i[p].{_field(s)};" for s in responses]
    lines.append("  end")
    return lines, connections


def generate(dut: Dut) -> dict[str, str]:
    """File name -> SystemVerilog text: `fleet_dut_pkg.sv` and `fleet_dut.sv`.

    Raises DeviceError if a name is not an identifier or a parameter not an unsigned 32-bit number.
    """
    for name in (dut.top, *dut.parameters):
        if not _IDENTIFIER.match(name):
            raise DeviceError(f"'{name}' is not a SystemVerilog identifier", where=dut.top)
    for name, value in dut.parameters.items():
        if not 0 <= value < 1 << 32:
            raise DeviceError(f"parameter {name}={value} is not an unsigned 32-bit number", where=dut.top)
    if not 1 <= dut.hbm_ports <= 63:
        raise DeviceError(f"HbmPorts={dut.hbm_ports}: the bench serves 1 to 63 HBM ports", where=dut.top)

    ports = [("input", "logic", "clk_i"), ("input", "logic", "rst_ni")]
    array = "[fleet_dut_pkg::HbmPorts-1:0]"
    for group, side, master in (("axil", "s_axil", False), ("hbm", "hbm", True), ("ddr", "ddr", True)):
        for kind, out in (("req", master), ("rsp", not master)):
            dimension = f" {array}" if group == "hbm" else ""
            type_ = f"fleet_axi_pkg::{group}_{kind}_t{dimension}"
            ports.append(("output" if out else "input", type_, f"{side}_{kind}_{'o' if out else 'i'}"))
    channels = [name for _, type_, name in ports if type_.startswith("fleet_axi_pkg")]
    ports.append(("output", "logic", "irq_o"))
    widths = {"opcode": "logic [15:0]", "error": "logic [15:0]", "result": "logic [31:0]"}
    ports += [("output", widths.get(s, "logic"), f"commit_{s}_o") for s in _COMMIT]
    ports.append(("output", "logic [5:0][31:0]", "commit_cycles_o"))

    values = [f".{name}(32'd{value})" for name, value in dut.parameters.items()]
    if dut.desc_hash is not None:
        values.append(f".DescHash(32'h{dut.desc_hash:08x})")
    parameters = f" #({', '.join(values)})" if values else ""
    declarations = ",\n".join(f"  {direction} {kind} {name}" for direction, kind, name in ports)
    lines, flat = ([], [f".{name}" for name in channels]) if dut.channels else _flat()
    others = [f".{name}" for _, _, name in ports if name not in channels]
    connections = ",\n".join(f"    {c}" for c in (*others, *flat))
    body = "".join(f"{line}\n" for line in lines)
    head = "// Generated by fleet.engines.rtl_sim.dut; do not edit.\n"
    return {
        "fleet_dut_pkg.sv": f"{head}package fleet_dut_pkg;\n  localparam int unsigned HbmPorts = {dut.hbm_ports};\nendpackage\n",
        "fleet_dut.sv": (
            f"{head}module fleet_dut (\n{declarations}\n);\n{body}  {dut.top}{parameters} u_top (\n{connections}\n  );\nendmodule\n"
        ),
    }
