"""cocotb tests of the interrupt against accesses of the host in the same cycles: runs inside the simulator.

The instruction is refused, so that it ends after the same few cycles each time without memory.
"""

from __future__ import annotations

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, FallingEdge
from cocotbext.axi import AxiLiteMaster
from registers import _description, _read, _refused, _start, _write

from fleet.isa.codec import interrupt

MOST = 48
"""Delays that are tried, in cycles: more than a refusal takes."""


async def _rises(dut: SimHandleBase, seen: list[int]) -> None:
    """Cycle numbers at which the interrupt is high."""
    for cycle in range(1_000_000):
        await FallingEdge(dut.clk_i)
        if int(dut.irq_o.value):
            seen.append(cycle)


async def _prepared(dut: SimHandleBase) -> tuple[AxiLiteMaster, int, int]:
    d, _ = _description()
    irq = interrupt(d)
    master = await _start(dut)
    await _write(master, irq.enable_address, irq.done | irq.error)
    return master, *_refused()


@cocotb.test()
async def an_interrupt_that_races_its_clearing_is_never_lost(dut: SimHandleBase) -> None:
    """A write that clears what was pending may meet the event: whatever is not cleared must still be there."""
    d, _ = _description()
    irq = interrupt(d)
    both = irq.done | irq.error
    master, start, value = await _prepared(dut)
    outcomes: set[str] = set()
    for delay in range(-1, MOST):
        seen: list[int] = []
        watch = cocotb.start_soon(_rises(dut, seen))
        begun = cocotb.start_soon(_write(master, start, value))
        if delay >= 0:  # else the clearing follows without a pause: a refusal may take three cycles
            await begun
            await ClockCycles(dut.clk_i, delay + 1)
        await _write(master, irq.status_address, both)
        await ClockCycles(dut.clk_i, 100)
        watch.cancel()
        pending = await _read(master, irq.status_address) & irq.error
        assert seen, f"delay {delay}: the interrupt never rose"
        assert pending or seen[-1] < seen[0] + 100, f"delay {delay}: the event is lost"
        assert bool(pending) == bool(int(dut.irq_o.value)), f"delay {delay}: irq_o does not say what the register says"
        outcomes.add("kept" if pending else "cleared")
        await _write(master, irq.status_address, both)
        await ClockCycles(dut.clk_i, 4)
        assert int(dut.irq_o.value) == 0
    assert outcomes == {"kept", "cleared"}, f"both orders were met: {outcomes}"


@cocotb.test()
async def a_poll_that_races_the_interrupt_sees_it_once_it_is_high(dut: SimHandleBase) -> None:
    """A read of the status register in every cycle around the event: once seen it stays, and the pin agrees in the end."""
    d, _ = _description()
    irq = interrupt(d)
    master, start, value = await _prepared(dut)
    for delay in range(12):
        await _write(master, start, value)
        await ClockCycles(dut.clk_i, delay + 1)
        polls = [await _read(master, irq.status_address) & irq.error for _ in range(30)]
        assert polls == sorted(polls), f"delay {delay}: a pending interrupt went away by being read"
        assert polls[-1], f"delay {delay}: the poll never saw it"
        assert int(dut.irq_o.value) == 1
        await _write(master, irq.status_address, irq.done | irq.error)
        await ClockCycles(dut.clk_i, 4)
        assert await _read(master, irq.status_address) & (irq.done | irq.error) == 0
        assert int(dut.irq_o.value) == 0
