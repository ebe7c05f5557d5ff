"""Faults on the buses: every rule of rtl_models/README.md's table is broken once, by the design, by the memory or by the host.

What a channel offers changes while valid waits for ready in most of them: nothing else in a run can see that.
"""

from __future__ import annotations

import stream_faults
import vgemm_faults
from planting import GENERATED, Choice, Fault

BENCH = "rtl_models/bench/fleet_bench.sv"
MEMORY = "rtl_models/memory/fleet_memory.sv"
HOST = "rtl_models/bench/fleet_host.sv"
REGISTERS = f"{GENERATED}vgemm_regs.sv"
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


def _changed(request: str, type_: str, field: str, wrong: str) -> str:
    """The request with another value in one field ("ar_valid", "ar.addr"). wrong: with {0} for the right one."""
    right = f"{request}.{field}"
    other = f"{right} ^ ({wrong.format(right)})"
    channel, _, signal = field.partition(".")
    member = f"{channel}: '{{{signal}: {other}, default: '0}}" if signal else f"{channel}: {other}"
    return f"{request} ^ {type_}'{{{member}, default: '0}}"


def _wire(field: str, wrong: str) -> Choice:
    """Between the design and the memory: what the design drives on DDR. wrong: with {0} for the right value."""
    return Choice(BENCH, "ddr_req", _changed("ddr_req", "ddr_req_t", field, wrong), ".ddr_req_i (", ")")


def _slave(field: str, right: str, wrong: str, before: str = "", after: str = ";") -> Choice:
    """What the memory drives on DDR. wrong: with {0} for the right expression."""
    return Choice(MEMORY, right, wrong.format(right), f"assign {f'ddr_rsp_o.{field}':18} = {before}", after)


_SEEDS = tuple(f"--memory=stall:{n}" for n in (1, 2, 3))


def _waiting(channel: str, what: str, valid: str, ready: str) -> Fault:
    """Valid that waits for ready: found by a memory whose ready waits for valid."""
    return Fault(
        f"bus-{channel}-waits", f"{what} (shows on a memory that stalls)",
        vgemm_faults.streams(PROGRAM, options=_SEEDS), f"FAIL {DEVICE}/",
        (r"the simulation ended in hang: nothing moved for \d+ cycles",), at=f"ddr, {channel}valid", kind="RTL",
        choices=(_wire(valid, "{0} & " + ready),), nightly=True,
    )  # fmt: skip


_SLOW_B = Choice("rtl_models/vgemm/vgemm_storer.sv", "state_q == StResp", "1'b0", "assign ddr_req_o.b_ready  = ", ";")
"""The storer never takes its response."""

DESIGN = (
    _fault(
        "storer",
        "storer: data and strobes are inverted until wready is high",
        rf"wstrb {_CHANGED} wready",
        Choice(
            "rtl_models/vgemm/vgemm_storer.sv",
            "data_q & elem_mask",
            "ddr_rsp_i.w_ready ? data_q & elem_mask : ~(data_q & elem_mask)",
            "assign ddr_req_o.w.data   = ",
            ";",
        ),
        _wire("w.strb", "ddr_rsp.w_ready ? {0} : ~{0}"),
        quick=True,
    ),
    _fault("wdata", "a byte of write data that is written changes while it waits", rf"wdata \(byte lane \d+\) {_CHANGED} wready",
           _wire("w.data", "ddr_rsp.w_ready ? {0} : ~{0}")),
    _fault("wstrb", "a strobe is missing as long as the beat waits", rf"wstrb {_CHANGED} wready",
           _wire("w.strb", "ddr_rsp.w_ready ? {0} : {0} & ({0} - 64'd1)")),
    _fault("wlast", "wlast comes only with wready", rf"wlast {_CHANGED} wready", _wire("w.last", "{0} & ddr_rsp.w_ready")),
    _fault("wvalid", "wvalid falls before wready", "wvalid was withdrawn before wready",
           _wire("w_valid", "{0} & (ddr_rsp.w_ready | cycle_q[0])"), memory="stall:1"),
    _fault("araddr", "a read's address changes while it waits", rf"araddr {_CHANGED} arready",
           _wire("ar.addr", "{0} ^ (33'(!ddr_rsp.ar_ready) << 12)"), memory="stall:1"),
    _fault("arlen", "a read's length changes while it waits", rf"arlen {_CHANGED} arready",
           _wire("ar.len", "ddr_rsp.ar_ready ? {0} : 8'd0"), memory="stall:1"),
    _fault("arid", "a read's ID changes while it waits", rf"arid {_CHANGED} arready",
           _wire("ar.id", "{0} ^ {{4{{!ddr_rsp.ar_ready}}}}"), memory="stall:1"),
    _fault("arvalid", "arvalid falls before arready", "arvalid was withdrawn before arready",
           _wire("ar_valid", "{0} & (ddr_rsp.ar_ready | cycle_q[0])"), memory="stall:1"),
    _fault("awaddr", "a write's address changes while it waits", rf"awaddr {_CHANGED} awready",
           _wire("aw.addr", "{0} ^ (33'(!ddr_rsp.aw_ready) << 12)"), memory="stall:1"),
    _fault("awlen", "a write's length changes while it waits", rf"awlen {_CHANGED} awready",
           _wire("aw.len", "{0} ^ 8'(!ddr_rsp.aw_ready)"), memory="stall:1"),
    _fault("awid", "a write's ID changes while it waits", rf"awid {_CHANGED} awready",
           _wire("aw.id", "{0} ^ {{4{{!ddr_rsp.aw_ready}}}}"), memory="stall:1"),
    _fault("awvalid", "awvalid falls before awready", "awvalid was withdrawn before awready",
           _wire("aw_valid", "{0} & (ddr_rsp.aw_ready | cycle_q[0])"), memory="stall:1"),
    _fault("align", "a read begins in the middle of a beat", r"read address 0x\w+ is not a multiple of the beat's 64 bytes",
           _wire("ar.addr", "{0} | 33'd8")),
    _fault("last-beat", "wlast is missing on the last beat of a burst", r"wlast is not set on write beat 1 of 1 at 0x\w+",
           _wire("w.last", "1'b0")),
    _fault("reset", "awvalid is high in reset", "valid is high in reset [(]ar 0, r 0, aw 1, w 0, b 0[)]",
           _wire("aw_valid", "{0} | !rst_ni")),
    _waiting("ar", "arvalid waits for arready", "ar_valid", "ddr_rsp.ar_ready"),
    _waiting("w", "wvalid waits for wready", "w_valid", "ddr_rsp.w_ready"),
)  # fmt: skip
"""By the design, as its wires show them."""

SLAVE = (
    _fault("rdata", "memory: a beat changes while it waits for rready", rf"rdata \(byte lane \d+\) {_CHANGED} rready",
           _slave("r.data", "ddr_rdata_q", "ddr_req_i.r_ready ? {0} : ~{0}"), kind="memory", quick=True),
    _fault("rresp", "memory: a read's response changes while it waits", rf"rresp {_CHANGED} rready",
           _slave("r.resp", "state_q.rerror[HbmPorts]", "{0} ^ !ddr_req_i.r_ready", after=" ?"), kind="memory"),
    _fault("rlast", "memory: rlast falls once the beat waits", rf"rlast {_CHANGED} rready",
           _slave("r.last", "state_q.rlast[HbmPorts]", "{0} ^ u_ddr_checker.r_waits_q"),
           kind="memory"),
    _fault("rid", "memory: a beat's ID changes while it waits", rf"rid {_CHANGED} rready",
           _slave("r.id", "state_q.ddr_ids[3:0]", "{0} ^ {{4{{!ddr_req_i.r_ready & !progress_o}}}}"), kind="memory"),
    _fault("rvalid", "memory: rvalid falls before rready", "rvalid was withdrawn before rready",
           _slave("r_valid", "state_q.rvalid[HbmPorts]", "{0} & (ddr_req_i.r_ready | cycle_i[0])"), kind="memory"),
    _fault("bresp", "memory: a write's response changes while it waits", rf"bresp {_CHANGED} bready",
           _slave("b.resp", "state_q.berror[HbmPorts]", "{0} ^ cycle_i[1]", after=" ?"), _SLOW_B, kind="memory"),
    _fault("bid", "memory: a response's ID changes while it waits", rf"bid {_CHANGED} bready",
           _slave("b.id", "state_q.ddr_ids[11:8]", "{0} ^ 4'(progress_o == 1'b0)"), _SLOW_B, kind="memory"),
    _fault("bvalid", "memory: bvalid falls before bready", "bvalid was withdrawn before bready",
           _slave("b_valid", "state_q.bvalid[HbmPorts]", "{0} & cycle_i[0]"), _SLOW_B, kind="memory"),
    _fault("early-last", "memory: rlast stands on every beat", r"rlast is set on read beat 1 of \d+ [(]rid \d+[)]",
           _slave("r.last", "state_q.rlast[HbmPorts]", "1'b1"), kind="memory"),
    _fault("unasked-read", "memory: a beat comes that nobody asked for", "rvalid with rid 0, and no read of that .*",
           _slave("r_valid", "state_q.rvalid[HbmPorts]", "{0} | (cycle_i == 64'd20)"), kind="memory"),
    _fault("other-id", "memory: a beat carries an ID that nobody used", r"rvalid with rid \d+, and no read of that .*",
           _slave("r.id", "state_q.ddr_ids[3:0]", "{0} ^ 4'd8"), kind="memory"),
    _fault("early-response", "memory: a write is answered before its data came",
           "bvalid with bid 0, and no write of that ID has had its address and its last beat taken",
           _slave("b_valid", "state_q.bvalid[HbmPorts]", "{0} | ddr_req_i.aw_valid"), kind="memory"),
    _fault("other-bid", "memory: a response carries an ID that nobody used", r"bvalid with bid \d+, and no write of that ID .*",
           _slave("b.id", "state_q.ddr_ids[11:8]", "{0} ^ 4'd8"), kind="memory"),
    _fault("exokay-read", "memory: reads are answered with EXOKAY", "rresp is EXOKAY, and no access was exclusive",
           _slave("r.resp", "RespOkay", "2'b01", "state_q.rerror[HbmPorts] ? RespSlvErr : "), kind="memory"),
    _fault("exokay-write", "memory: writes are answered with EXOKAY", "bresp is EXOKAY, and no access was exclusive",
           _slave("b.resp", "RespOkay", "2'b01", "state_q.berror[HbmPorts] ? RespSlvErr : "), kind="memory"),
)  # fmt: skip
"""By the memory behind DDR."""

_PORT = "the register port"
_STALL = "stall:1"


def _register(signal: str, right: str, wrong: str, after: str = ";") -> Choice:
    """What the design drives on the register port: an output of the generated register block."""
    return Choice(REGISTERS, right, wrong.format(right), f"s_axil_{signal} = ", after)


def _host(field: str, right: str, wrong: str) -> Choice:
    """What the host drives on the register port."""
    return Choice(HOST, right, wrong.format(right), f"assign {f'axil_req_o.{field}':19} = ", ";")


def _deaf(channel: str) -> Choice:
    """A design that never takes what the host offers."""
    accept = "ar" if channel == "ar" else "aw"
    return _register(f"{channel}ready", f"(!axil_{channel}valid || axil_{accept}_accept)", "1'b0")


def _address(channel: str) -> Choice:
    return _host(f"{channel}.addr", "addr_q", "addr_q ^ (16'(cycle_i[0]) << 2)")


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
           _address("ar"), port=_PORT, kind="bench"),
    _fault("registers-awaddr", "host: a write's address changes while it waits", rf"awaddr {_CHANGED} awready", _deaf("aw"),
           _address("aw"), port=_PORT, kind="bench"),
    _fault("registers-wdata", "host: write data change while they wait", rf"wdata \(byte lane 0\) {_CHANGED} wready", _deaf("w"),
           _host("w.data", "data_q", "data_q ^ 32'(cycle_i[0])"), port=_PORT, kind="bench"),
    _fault("registers-arvalid", "host: arvalid falls before arready", "arvalid was withdrawn before arready", _deaf("ar"),
           _host("ar_valid", "state_q == StRead && addr_hold_q == '0", "state_q == StRead && cycle_i[0]"), port=_PORT,
           kind="bench"),
    _fault("registers-awvalid", "host: awvalid falls before awready", "awvalid was withdrawn before awready", _deaf("aw"),
           _host("aw_valid", "state_q == StWrite && !aw_done_q && addr_hold_q == '0", "state_q == StWrite && cycle_i[0]"),
           port=_PORT, kind="bench"),
    _fault("registers-wvalid", "host: wvalid falls before wready", "wvalid was withdrawn before wready", _deaf("w"),
           _host("w_valid", "state_q == StWrite && !w_done_q && data_hold_q == '0", "state_q == StWrite && cycle_i[0]"), port=_PORT,
           kind="bench"),
)  # fmt: skip
"""On the register port: by the design, by the host."""


def _hbm(name: str, what: str, stream: str, member: str) -> Fault:
    """member: of the request, and what is turned over in it at every port."""
    wrong = f"hbm_req ^ {{HbmPorts{{hbm_req_t'{{{member}, default: '0}}}}}}"
    return Fault(
        f"bus-hbm-{name}", f"HBM: {what}", stream_faults.streams(stream, options=("--memory", "stall:1")),
        f"FAIL {stream_faults.SMALL}/", (rf"AXI violation on hbm port \d+ in cycle \d+: {name}\S* .*{_CHANGED} \w+ready",),
        at=f"an HBM port, {name}", kind="RTL", choices=(Choice(BENCH, "hbm_req", wrong, ".hbm_req_i (", ")"),), nightly=True,
    )  # fmt: skip


HBM_PORTS = (
    _hbm("araddr", "a read's address changes while it waits", "mvm/directed/6",
         "ar: '{addr: 33'({cycle_q[0], 12'd0}), default: '0}"),
    _hbm("wdata", "write data change while they wait", "wt2hbm/directed/1",
         "w: '{data: {256{cycle_q[0]}}, default: '0}"),
)  # fmt: skip
"""The same checker stands at every HBM port: two of its rules, to see that it does."""

FAULTS = (*DESIGN, *SLAVE, *REGISTER_PORT, *HBM_PORTS)
