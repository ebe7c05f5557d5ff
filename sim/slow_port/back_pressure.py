"""cocotb test of the register port under back-pressure: runs inside the simulator.

Many accesses at once, address, data and readiness for responses held back at random: all five channels wait, and the bench's
checker (fleet_axi_checker.sv) ends the simulation where one of them changes what it offers.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge
from registers import _description, _read, _start, _writable, _write

_CHANNELS = ("aw", "w", "b", "ar", "r")
_AT_ONCE = 24
"""Accesses of a kind, about: few registers are accessed several times."""


def _pauses(seed: int, share: float) -> Iterator[bool]:
    rng = random.Random(seed)
    while True:
        yield rng.random() < share


async def _watch(dut: SimHandleBase, waits: Counter[str]) -> None:
    """Counts the cycles in which valid stands without ready."""
    for _ in range(1_000_000):
        await FallingEdge(dut.clk_i)
        for name in _CHANNELS:
            valid, ready = getattr(dut, f"s_axil_{name}valid"), getattr(dut, f"s_axil_{name}ready")
            waits[name] += int(valid.value) and not int(ready.value)


@cocotb.test()
async def every_channel_waits_and_nothing_is_lost(dut: SimHandleBase) -> None:
    d, _ = _description()
    master = await _start(dut)
    write, read = master.write_if, master.read_if
    for seed, (channel, share) in enumerate(
        ((write.aw_channel, 0.2), (write.w_channel, 0.3), (write.b_channel, 0.8), (read.ar_channel, 0.2), (read.r_channel, 0.8))
    ):
        channel.set_pause_generator(_pauses(seed, share))
    waits: Counter[str] = Counter()
    cocotb.start_soon(_watch(dut, waits))
    registers = [r for unit in d.units.values() for r in unit.operands if _writable(r)][:_AT_ONCE]
    times = -(-_AT_ONCE // len(registers))
    for salt in (0x9E37_79B1, 0x85EB_CA77):
        values = {r.address: (salt * (r.number + 1)) & _writable(r) for r in registers}
        for task in [cocotb.start_soon(_write(master, address, value)) for address, value in [*values.items()] * times]:
            await task
        reads = [(address, cocotb.start_soon(_read(master, address))) for address in [*values] * times]
        for address, task in reads:
            assert await task == values[address]
    assert all(waits[name] > 0 for name in _CHANNELS), f"cycles in which a channel waited: {dict(waits)}"
