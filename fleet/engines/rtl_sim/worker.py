"""Runs inside the simulator under cocotb: takes jobs from a pipe, lets C++ run bursts of them, and says how far it is.

Lines of JSON. In: {"job": number}; an empty read means that the caller has gone. Out: {"ready": true} once,
{"cycles": cycles so far} after every burst that did not end the job, {"over": number} at its end (the job's status file
says how it ended).
"""

from __future__ import annotations

import json
import os
import time
from typing import TextIO

import cocotb
from cocotb.handle import LogicArrayObject, SimHandleBase
from cocotb.triggers import Timer

from fleet.engines.rtl_sim.worker_protocol import FDS_VARIABLE

_FIRST_BURST = 20_000  # cycles; then as many as take about _BURST_SECONDS
_BURST_SECONDS = 0.25
_MAX_BURST = 1 << 30
_OVER = 2

_INPUTS = ("clk_i", "rst_ni", "slow_i", "s_axil_awvalid", "s_axil_awaddr", "s_axil_wvalid", "s_axil_wdata", "s_axil_wstrb",
           "s_axil_bready", "s_axil_arvalid", "s_axil_araddr", "s_axil_rready")  # fmt: skip


def _port(dut: SimHandleBase, name: str) -> LogicArrayObject:
    return getattr(dut, name)


@cocotb.test()
async def serve(dut: SimHandleBase) -> None:
    """Serves jobs until the caller closes the pipe."""
    requests_fd, replies_fd = (int(fd) for fd in os.environ[FDS_VARIABLE].split(","))
    for name in _INPUTS:
        _port(dut, name).value = 0
    await Timer(1, "ns")
    with os.fdopen(requests_fd, "r") as requests, os.fdopen(replies_fd, "w", buffering=1) as replies:
        print(json.dumps({"ready": True}), file=replies)
        for line in requests:
            await _run(dut, int(json.loads(line)["job"]), replies)


async def _run(dut: SimHandleBase, job: int, replies: TextIO) -> None:
    _port(dut, "job_i").value = job
    cycles, burst = 0, _FIRST_BURST
    while True:
        _port(dut, "burst_i").value = burst
        before = time.monotonic()
        await Timer(1, "ns")  # the burst runs in C++ before this comes back
        if int(_port(dut, "burst_state_i").value) == _OVER:
            print(json.dumps({"over": job}), file=replies)
            return
        cycles += burst
        print(json.dumps({"cycles": cycles}), file=replies)
        speed = burst / max(time.monotonic() - before, 1e-6)
        burst = min(_MAX_BURST, max(_FIRST_BURST, int(speed * _BURST_SECONDS)))
