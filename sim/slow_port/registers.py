"""cocotb tests of the register port, driven beat by beat (no bursts): runs inside the simulator.

What stands where comes from the instruction set's description, given in the environment (FLEET_DEVICE).
"""

from __future__ import annotations

import os

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, RisingEdge, Timer, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from fleet.isa.codec import interrupt
from fleet.isa.description import Description, Register
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash, find_device
from fleet.isa.resolved import reset_state, resolved_call
from fleet.sdk import Call


def _description() -> tuple[Description, int]:
    instruction_set, device = find_device(os.environ["FLEET_DEVICE"])
    return load(instruction_set.description), int(description_hash(instruction_set, device)[:8], 16)


def _refused() -> tuple[int, int]:
    """(address, value) of a start that is refused with what reset leaves in all operands: sizes of zero."""
    instruction_set, device = find_device(os.environ["FLEET_DEVICE"])
    d = load(instruction_set.description)
    reset = {r.address: sum(f.reset << f.low for f in r.fields) for r in d.registers}
    for name, cls in instruction_set.instructions.items():
        word = d.instructions[name]
        start = d.units[word.unit].start
        fields = {r.name: reset[r.address] for r in d.words(name)} | {start.name: word.start}
        if cls.legal(device, resolved_call(cls, device, Call(name, fields), reset_state(device)).fields):
            return start.address, word.start
    raise AssertionError("every instruction is legal after a reset")


async def _start(dut: SimHandleBase) -> AxiLiteMaster:
    """Resets the design by an edge before the first clock edge: until then its state is random."""
    dut.slow_i.value = 1
    dut.clk_i.value = 0
    dut.rst_ni.value = 1
    await Timer(1, "ns")
    dut.rst_ni.value = 0
    await Timer(1, "ns")
    cocotb.start_soon(Clock(dut.clk_i, 4, unit="ns", impl="gpi").start())
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk_i, dut.rst_ni, reset_active_level=False)
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 2)
    return master


async def _read(master: AxiLiteMaster, address: int) -> int:
    answer = await with_timeout(cocotb.start_soon(_do_read(master, address)), 10, "us")
    assert answer.resp == AxiResp.OKAY
    return int.from_bytes(answer.data, "little")


async def _do_read(master: AxiLiteMaster, address: int):
    return await master.read(address, 4)


async def _write(master: AxiLiteMaster, address: int, value: int) -> None:
    async def go():
        return await master.write(address, value.to_bytes(4, "little"))

    answer = await with_timeout(cocotb.start_soon(go()), 10, "us")
    assert answer.resp == AxiResp.OKAY


def _writable(register: Register) -> int:
    return sum(f.mask for f in register.fields if f.software == "rw")


@cocotb.test()
async def description_hash_is_in_the_hardware(dut: SimHandleBase) -> None:
    d, expected = _description()
    master = await _start(dut)
    (register,) = d.with_role("description_hash")
    assert await _read(master, register.address) == expected
    await master.write(register.address, bytes(4))  # may be answered with an error
    assert await _read(master, register.address) == expected, "read only"


@cocotb.test()
async def every_operand_holds_what_was_written(dut: SimHandleBase) -> None:
    """Distinct values, so that registers that share storage or swap places are seen; all are written before any is read."""
    d, _ = _description()
    master = await _start(dut)
    operands = [r for unit in d.units.values() for r in unit.operands if _writable(r)]
    assert operands
    for salt in (0x9E37_79B1, 0x85EB_CA77):
        values = {r.address: (salt * (r.number + 1)) & _writable(r) for r in operands}
        for address, value in values.items():
            await _write(master, address, value)
        assert {address: await _read(master, address) for address in values} == values


@cocotb.test()
async def write_strobes_touch_their_byte_only(dut: SimHandleBase) -> None:
    d, _ = _description()
    master = await _start(dut)
    register = next(r for unit in d.units.values() for r in unit.operands if _writable(r) == 0xFFFF_FFFF)
    await _write(master, register.address, 0x4433_2211)
    await master.write(register.address + 2, b"\xaa")
    assert await _read(master, register.address) == 0x44AA_2211


@cocotb.test()
async def a_refused_start_raises_the_interrupt_and_writing_one_clears_it(dut: SimHandleBase) -> None:
    d, _ = _description()
    irq = interrupt(d)
    master = await _start(dut)
    assert int(dut.irq_o.value) == 0
    await _write(master, irq.enable_address, irq.done | irq.error)
    assert await _read(master, irq.enable_address) == irq.done | irq.error
    await _write(master, *_refused())
    if not int(dut.irq_o.value):
        await with_timeout(RisingEdge(dut.irq_o), 100, "us")
    assert await _read(master, irq.status_address) & irq.error
    if irq.cause_address is not None:
        assert await _read(master, irq.cause_address) != 0
    await _write(master, irq.status_address, irq.done)
    assert int(dut.irq_o.value) == 1, "clearing the other bit clears nothing"
    await _write(master, irq.status_address, irq.error)
    await ClockCycles(dut.clk_i, 3)
    assert int(dut.irq_o.value) == 0


@cocotb.test()
async def an_interrupt_that_is_not_enabled_does_not_rise(dut: SimHandleBase) -> None:
    d, _ = _description()
    irq = interrupt(d)
    master = await _start(dut)
    await _write(master, *_refused())
    await ClockCycles(dut.clk_i, 200)
    assert int(dut.irq_o.value) == 0
    assert await _read(master, irq.status_address) & irq.error, "it is pending all the same"
    await _write(master, irq.enable_address, irq.error)
    await ClockCycles(dut.clk_i, 3)
    assert int(dut.irq_o.value) == 1


@cocotb.test()
async def reset_clears_operands_and_interrupts(dut: SimHandleBase) -> None:
    d, _ = _description()
    irq = interrupt(d)
    master = await _start(dut)
    register = next(r for unit in d.units.values() for r in unit.operands if _writable(r))
    await _write(master, register.address, _writable(register))
    await _write(master, irq.enable_address, irq.done | irq.error)
    master = await _start(dut)
    assert await _read(master, register.address) == sum(f.reset << f.low for f in register.fields)
    assert await _read(master, irq.enable_address) == 0
