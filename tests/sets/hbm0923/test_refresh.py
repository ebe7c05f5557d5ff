"""Whether a device's buffers hide a refresh of its HBM (rtl_models/hbm0923/README.md, "A refresh hides")."""

from __future__ import annotations

import dataclasses
import math
from collections import deque

import pytest

from fleet.sdk import Device
from fleet.sdk.dram import BEAT_BYTES, Dram, dram
from fleet.sdk.dram_port import TimedPort
from fleet.sets.hbm0923 import INSTRUCTION_SET

DEVICES = INSTRUCTION_SET.devices
BURST = 16  # beats that a port asks for at once
TURN = 4  # cycles from a free place in a port's FIFO to its next beat's pop, without the memory's latency
CROSSING = 2  # cycles that rounding to the other clock costs, there and back
PHASES = 12


def _needed(d: Dram, core_mhz: float) -> dict[str, int]:
    """Beats that the buffers need so that a port that takes a beat a cycle does not stop when its memory refreshes."""
    cycles = 1000 * core_mhz / d.clock_khz
    refresh = (d.t_rp + d.t_rfc + d.t_rcd + d.t_rrd_s) * cycles + CROSSING  # a stream has rows in two bank groups to open again
    row = d.t_ras * cycles  # at worst one was opened just before and stays open as long
    latency = (d.request + d.cl + d.burst) * cycles + TURN
    return {"return_beats": math.ceil(refresh), "PortFifoDepth": math.ceil(refresh + row + latency) + BURST}


def _violations(device: Device) -> list[str]:
    d = dram(device, "hbm")
    have = {"return_beats": d.return_beats, "PortFifoDepth": device.parameters["PortFifoDepth"]}
    needed = _needed(d, device.clock_mhz)
    return [f"{name} is {have[name]}, a refresh needs {n}" for name, n in needed.items() if have[name] < n]


def _lost(d: Dram, core_mhz: float, depth: int) -> int:
    """Most cycles, over the phases, in which a stream of a beat a cycle waits for its memory in three refresh periods."""
    period = int(d.t_refi * 1000 * core_mhz / d.clock_khz)
    return max(_lost_once(d, core_mhz, depth, i * d.t_refi // PHASES, period) for i in range(PHASES))


def _lost_once(d: Dram, core_mhz: float, depth: int, phase: int, period: int) -> int:
    port = TimedPort(d, "hbm", core_mhz, phase)
    free, address, lost = depth, 0, 0
    asked, here = deque[int](), deque[int]()  # cycles of requests at the port, of beats in the FIFO
    for cycle in range(4 * period):
        port.serve(cycle)
        while asked and asked[0] <= cycle:
            asked.popleft()
            port.read(cycle, address, BURST)
            address += BURST * BEAT_BYTES["hbm"]
        if port.beat(cycle):
            here.append(cycle + 2)
        if here and here[0] <= cycle:
            here.popleft()
            free += 1
        elif cycle >= period:  # the buffers have filled by then
            lost += 1
        if free >= BURST:
            free -= BURST
            asked.append(cycle + 2)
    return lost


@pytest.mark.parametrize("name", sorted(DEVICES))
def test_every_device_hides_a_refresh(name: str) -> None:
    assert _violations(DEVICES[name]) == []


def test_shallow_buffers_are_found() -> None:
    device = DEVICES["hbm0923"]
    shallow = dataclasses.replace(device, parameters={**device.parameters, "PortFifoDepth": 128})
    assert _violations(shallow) == ["PortFifoDepth is 128, a refresh needs 146"]
    small = dataclasses.replace(device, timing={**device.timing, "hbm": {**device.timing["hbm"], "return_beats": 16}})
    assert _violations(small) == ["return_beats is 16, a refresh needs 85"]


@pytest.mark.parametrize("changed", [{}, {"t_rfc": 400}, {"request": 200}, {"clock_khz": 700_000}, {"t_ras": 60}], ids=str)
def test_the_rule_is_what_the_memory_needs(changed: dict[str, int]) -> None:
    """With as much as the rule asks for no cycle is lost; with a burst less in either buffer some are."""
    device = DEVICES["hbm0923"]
    d = dataclasses.replace(dram(device, "hbm"), **changed)
    needed = _needed(d, device.clock_mhz)
    beats, depth = needed["return_beats"], needed["PortFifoDepth"]
    d = dataclasses.replace(d, return_beats=beats)
    assert _lost(d, device.clock_mhz, depth) == 0
    assert _lost(d, device.clock_mhz, depth - BURST) > 0
    assert _lost(dataclasses.replace(d, return_beats=beats - BURST), device.clock_mhz, depth) > 0
