"""Faults on the buses: every rule of rtl_models/README.md's table is broken once, by the design, by the memory or by the host.

What a channel offers changes while valid waits for ready in most of them: nothing else in a run can see that.
"""

from __future__ import annotations

import stream_faults
import vgemm_faults
from planting import Choice, Fault

BENCH = "rtl_models/bench/fleet_bench.sv"
MEMORY = "rtl_models/memory/fleet_memory.sv"
HOST = "rtl_models/bench/fleet_host.sv"
REGISTERS = "rtl_models/generated/vgemm_regs.sv"
DEVICE = vgemm_faults.DEVICE
PROGRAM = "finish/directed/1"
_CHANGED = r"changed from 0x\w+ to 0x\w+ before"


def _run(memory: str, stream: str = PROGRAM) -> tuple[str, ...]:
    return vgemm_faults.streams(stream, options=("--memory", memory))


def _fault(
    name: str, what: str, says: str, *choices: Choice, memory: str = "ideal", port: str = "ddr", kind: str = "RTL",
    quick: bool = False,
) -> Fault:  # fmt: skip
    """says: what the violation says of the signal, a pattern."""
    return Fault(
        f"bus-{name}", what, _run(memory), f"FAIL {DEVICE}/{PROGRAM}", (rf"AXI violation on {port} in cycle \d+: {says}",),
        at=f"{port}, {name.removeprefix('registers-').removeprefix('hbm-')}", kind=kind, choices=choices, nightly=not quick,
    )  # fmt: skip


def _wire(signal: str, wrong: str) -> Choice:
    """Between the design and the memory: what the design drives. wrong: with {0} for the right value."""
    return Choice(BENCH, signal, wrong.format(signal), f".{signal}_i".ljust(14) + "(", ")")


def _slave(signal: str, right: str, wrong: str, before: str = "", after: str = ";") -> Choice:
    """What the memory drives on a signal of DDR. wrong: with {0} for the right expression."""
    return Choice(MEMORY, right, wrong.format(right), f"assign {signal}_o".ljust(20) + f" = {before}", after)


_SEEDS = tuple(f"--memory=stall:{n}" for n in (1, 2, 3))


def _waiting(channel: str, what: str, valid: str, ready: str) -> Fault:
    """Valid that waits for ready: found by a memory whose ready waits for valid."""
    return Fault(
        f"bus-{channel}-waits", f"{what} (shows on a memory that stalls)",
        vgemm_faults.streams(PROGRAM, options=_SEEDS), f"FAIL {DEVICE}/",
        (r"the simulation ended in hang: nothing moved for \d+ cycles",), at=f"ddr, {valid.removeprefix('ddr_')}", kind="RTL",
        choices=(_wire(valid, "{0} & " + ready),), nightly=True,
    )  # fmt: skip


_SLOW_B = Choice("rtl_models/vgemm/vgemm_storer.sv", "state_q == StResp", "1'b0", "assign bready_o  = ", ";")
"""The storer never takes its response."""

DESIGN = (
    _fault(
        "storer",
        "storer: data and strobes are inverted until wready is high",
        rf"wstrb {_CHANGED} wready",
        Choice(
            "rtl_models/vgemm/vgemm_storer.sv",
            "data_q & elem_mask",
            "wready_i ? data_q & elem_mask : ~(data_q & elem_mask)",
            "assign wdata_o   = ",
            ";",
        ),
        _wire("ddr_wstrb", "ddr_wready ? {0} : ~{0}"),
        quick=True,
    ),
    _fault("wdata", "a byte of write data that is written changes while it waits", rf"wdata \(byte lane \d+\) {_CHANGED} wready",
           _wire("ddr_wdata", "ddr_wready ? {0} : ~{0}")),
    _fault("wstrb", "a strobe is missing as long as the beat waits", rf"wstrb {_CHANGED} wready",
           _wire("ddr_wstrb", "ddr_wready ? {0} : {0} & ({0} - 64'd1)")),
    _fault("wlast", "wlast comes only with wready", rf"wlast {_CHANGED} wready", _wire("ddr_wlast", "{0} & ddr_wready")),
    _fault("wvalid", "wvalid falls before wready", "wvalid was withdrawn before wready",
           _wire("ddr_wvalid", "{0} & (ddr_wready | cycle_q[0])"), memory="stall:1"),
    _fault("araddr", "a read's address changes while it waits", rf"araddr {_CHANGED} arready",
           _wire("ddr_araddr", "{0} ^ (33'(!ddr_arready) << 12)"), memory="stall:1"),
    _fault("arlen", "a read's length changes while it waits", rf"arlen {_CHANGED} arready",
           _wire("ddr_arlen", "ddr_arready ? {0} : 8'd0"), memory="stall:1"),
    _fault("arid", "a read's ID changes while it waits", rf"arid {_CHANGED} arready",
           _wire("ddr_arid", "{0} ^ {{4{{!ddr_arready}}}}"), memory="stall:1"),
    _fault("arvalid", "arvalid falls before arready", "arvalid was withdrawn before arready",
           _wire("ddr_arvalid", "{0} & (ddr_arready | cycle_q[0])"), memory="stall:1"),
    _fault("awaddr", "a write's address changes while it waits", rf"awaddr {_CHANGED} awready",
           _wire("ddr_awaddr", "{0} ^ (33'(!ddr_awready) << 12)"), memory="stall:1"),
    _fault("awlen", "a write's length changes while it waits", rf"awlen {_CHANGED} awready",
           _wire("ddr_awlen", "{0} ^ 8'(!ddr_awready)"), memory="stall:1"),
    _fault("awid", "a write's ID changes while it waits", rf"awid {_CHANGED} awready",
           _wire("ddr_awid", "{0} ^ {{4{{!ddr_awready}}}}"), memory="stall:1"),
    _fault("awvalid", "awvalid falls before awready", "awvalid was withdrawn before awready",
           _wire("ddr_awvalid", "{0} & (ddr_awready | cycle_q[0])"), memory="stall:1"),
    _fault("align", "a read begins in the middle of a beat", r"read address 0x\w+ is not a multiple of the beat's 64 bytes",
           _wire("ddr_araddr", "{0} | 33'd8")),
    _fault("last-beat", "wlast is missing on the last beat of a burst", r"wlast is not set on write beat 1 of 1 at 0x\w+",
           _wire("ddr_wlast", "1'b0")),
    _fault("reset", "awvalid is high in reset", "valid is high in reset [(]ar 0, r 0, aw 1, w 0, b 0[)]",
           _wire("ddr_awvalid", "{0} | !rst_ni")),
    _waiting("ar", "arvalid waits for arready", "ddr_arvalid", "ddr_arready"),
    _waiting("w", "wvalid waits for wready", "ddr_wvalid", "ddr_wready"),
)  # fmt: skip
"""By the design, as its wires show them."""

SLAVE = (
    _fault("rdata", "memory: a beat changes while it waits for rready", rf"rdata \(byte lane \d+\) {_CHANGED} rready",
           _slave("ddr_rdata", "ddr_rdata_q", "ddr_rready_i ? {0} : ~{0}"), kind="memory", quick=True),
    _fault("rresp", "memory: a read's response changes while it waits", rf"rresp {_CHANGED} rready",
           _slave("ddr_rresp", "state_q.rerror[HbmPorts]", "{0} ^ !ddr_rready_i", after=" ?"), kind="memory"),
    _fault("rlast", "memory: rlast falls once the beat waits", rf"rlast {_CHANGED} rready",
           _slave("ddr_rlast", "state_q.rlast[HbmPorts]", "{0} ^ u_ddr_checker.r_waits_q"),
           kind="memory"),
    _fault("rid", "memory: a beat's ID changes while it waits", rf"rid {_CHANGED} rready",
           _slave("ddr_rid", "state_q.ddr_ids[3:0]", "{0} ^ {{4{{!ddr_rready_i & !progress_o}}}}"), kind="memory"),
    _fault("rvalid", "memory: rvalid falls before rready", "rvalid was withdrawn before rready",
           _slave("ddr_rvalid", "state_q.rvalid[HbmPorts]", "{0} & (ddr_rready_i | cycle_i[0])"), kind="memory"),
    _fault("bresp", "memory: a write's response changes while it waits", rf"bresp {_CHANGED} bready",
           _slave("ddr_bresp", "state_q.berror[HbmPorts]", "{0} ^ cycle_i[1]", after=" ?"), _SLOW_B, kind="memory"),
    _fault("bid", "memory: a response's ID changes while it waits", rf"bid {_CHANGED} bready",
           _slave("ddr_bid", "state_q.ddr_ids[11:8]", "{0} ^ 4'(progress_o == 1'b0)"), _SLOW_B, kind="memory"),
    _fault("bvalid", "memory: bvalid falls before bready", "bvalid was withdrawn before bready",
           _slave("ddr_bvalid", "state_q.bvalid[HbmPorts]", "{0} & cycle_i[0]"), _SLOW_B, kind="memory"),
    _fault("early-last", "memory: rlast stands on every beat", r"rlast is set on read beat 1 of \d+ [(]rid \d+[)]",
           _slave("ddr_rlast", "state_q.rlast[HbmPorts]", "1'b1"), kind="memory"),
    _fault("unasked-read", "memory: a beat comes that nobody asked for", "rvalid with rid 0, and no read of that .*",
           _slave("ddr_rvalid", "state_q.rvalid[HbmPorts]", "{0} | (cycle_i == 64'd20)"), kind="memory"),
    _fault("other-id", "memory: a beat carries an ID that nobody used", r"rvalid with rid \d+, and no read of that .*",
           _slave("ddr_rid", "state_q.ddr_ids[3:0]", "{0} ^ 4'd8"), kind="memory"),
    _fault("early-response", "memory: a write is answered before its data came",
           "bvalid with bid 0, and no write of that ID has had its address and its last beat taken",
           _slave("ddr_bvalid", "state_q.bvalid[HbmPorts]", "{0} | ddr_awvalid_i"), kind="memory"),
    _fault("other-bid", "memory: a response carries an ID that nobody used", r"bvalid with bid \d+, and no write of that ID .*",
           _slave("ddr_bid", "state_q.ddr_ids[11:8]", "{0} ^ 4'd8"), kind="memory"),
    _fault("exokay-read", "memory: reads are answered with EXOKAY", "rresp is EXOKAY, and no access was exclusive",
           _slave("ddr_rresp", "RespOkay", "2'b01", "state_q.rerror[HbmPorts] ? RespSlvErr : "), kind="memory"),
    _fault("exokay-write", "memory: writes are answered with EXOKAY", "bresp is EXOKAY, and no access was exclusive",
           _slave("ddr_bresp", "RespOkay", "2'b01", "state_q.berror[HbmPorts] ? RespSlvErr : "), kind="memory"),
)  # fmt: skip
"""By the memory behind DDR."""

_PORT = "the register port"
_STALL = "stall:1"


def _register(signal: str, right: str, wrong: str, after: str = ";") -> Choice:
    """What the design drives on the register port: an output of the generated register block."""
    return Choice(REGISTERS, right, wrong.format(right), f"s_axil_{signal} = ", after)


def _host(signal: str, right: str, wrong: str) -> Choice:
    """What the host drives on the register port."""
    return Choice(HOST, right, wrong.format(right), f"assign axil_{signal}_o".ljust(21) + " = ", ";")


def _deaf(channel: str) -> Choice:
    """A design that never takes what the host offers."""
    accept = "ar" if channel == "ar" else "aw"
    return _register(f"{channel}ready", f"(!axil_{channel}valid || axil_{accept}_accept)", "1'b0")


_ADDRESS = _host("addr", "addr_q", "addr_q ^ (16'(cycle_i[0]) << 2)")

REGISTER_PORT = (
    _fault("registers-rdata", "registers: what is read changes while it waits for rready",
           rf"rdata \(byte lane \d+\) {_CHANGED} rready",
           _register("rdata", "axil_resp_buffer_rdata[axil_resp_rptr[0:0]]", "s_axil_rready ? {0} : ~{0}"), memory=_STALL,
           port=_PORT),
    _fault("registers-rresp", "registers: a read's response changes while it waits", rf"rresp {_CHANGED} rready",
           _register("rresp", "2'b00", "s_axil_rready ? 2'b00 : 2'b10"), memory=_STALL, port=_PORT),
    _fault("registers-bresp", "registers: a write's response changes while it waits", rf"bresp {_CHANGED} bready",
           _register("bresp", "2'b00", "s_axil_bready ? 2'b00 : 2'b10"), memory=_STALL, port=_PORT),
    _fault("registers-rvalid", "registers: rvalid falls when rready comes", "rvalid was withdrawn before rready",
           _register("rvalid", "'1", "!s_axil_rready"), memory=_STALL, port=_PORT),
    _fault("registers-bvalid", "registers: bvalid falls when bready comes", "bvalid was withdrawn before bready",
           _register("bvalid", "'1", "!s_axil_bready"), memory=_STALL, port=_PORT),
    _fault("registers-unasked-read", "registers: data stands with its request", "rvalid with rid 0, and no read of that ID .*",
           _register("rvalid", "'0", "s_axil_arvalid"), port=_PORT),
    _fault("registers-early-response", "registers: a write is answered before its data came",
           "bvalid with bid 0, and no write of that ID .*", _register("bvalid", "'0", "s_axil_awvalid"), port=_PORT),
    _fault("registers-exokay", "registers: reads are answered with EXOKAY", "rresp is EXOKAY, and no access was exclusive",
           _register("rresp", "2'b00", "2'b01"), port=_PORT),
    _fault("registers-araddr", "host: a read's address changes while it waits", rf"araddr {_CHANGED} arready", _deaf("ar"),
           _ADDRESS, port=_PORT, kind="bench"),
    _fault("registers-awaddr", "host: a write's address changes while it waits", rf"awaddr {_CHANGED} awready", _deaf("aw"),
           _ADDRESS, port=_PORT, kind="bench"),
    _fault("registers-wdata", "host: write data change while they wait", rf"wdata \(byte lane 0\) {_CHANGED} wready", _deaf("w"),
           _host("wdata", "data_q", "data_q ^ 32'(cycle_i[0])"), port=_PORT, kind="bench"),
    _fault("registers-arvalid", "host: arvalid falls before arready", "arvalid was withdrawn before arready", _deaf("ar"),
           _host("arvalid", "state_q == StRead && addr_hold_q == '0", "state_q == StRead && cycle_i[0]"), port=_PORT, kind="bench"),
    _fault("registers-awvalid", "host: awvalid falls before awready", "awvalid was withdrawn before awready", _deaf("aw"),
           _host("awvalid", "state_q == StWrite && !aw_done_q && addr_hold_q == '0", "state_q == StWrite && cycle_i[0]"),
           port=_PORT, kind="bench"),
    _fault("registers-wvalid", "host: wvalid falls before wready", "wvalid was withdrawn before wready", _deaf("w"),
           _host("wvalid", "state_q == StWrite && !w_done_q && data_hold_q == '0", "state_q == StWrite && cycle_i[0]"), port=_PORT,
           kind="bench"),
)  # fmt: skip
"""On the register port: by the design, by the host."""


def _hbm(name: str, what: str, stream: str, signal: str, wrong: str) -> Fault:
    return Fault(
        f"bus-hbm-{name}", f"HBM: {what}", stream_faults.streams(stream, options=("--memory", "stall:1")),
        f"FAIL {stream_faults.SMALL}/", (rf"AXI violation on hbm port \d+ in cycle \d+: {name}\S* .*{_CHANGED} \w+ready",),
        at=f"an HBM port, {name}", kind="RTL", choices=(_wire(signal, wrong),), nightly=True,
    )  # fmt: skip


HBM_PORTS = (
    _hbm("araddr", "a read's address changes while it waits", "mvm/directed/6", "hbm_araddr",
         "{0} ^ {{HbmPorts{{33'({{cycle_q[0], 12'd0}})}}}}"),
    _hbm("wdata", "write data change while they wait", "wt2hbm/directed/1", "hbm_wdata", "{0} ^ {{$bits({0}){{cycle_q[0]}}}}"),
)  # fmt: skip
"""The same checker stands at every HBM port: two of its rules, to see that it does."""

FAULTS = (*DESIGN, *SLAVE, *REGISTER_PORT, *HBM_PORTS)
