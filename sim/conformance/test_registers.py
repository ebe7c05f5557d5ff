"""What a host reads before it has started anything: as the description has it, whatever the flip-flops held at power-on."""

from __future__ import annotations

import pytest
from chosen import devices

from fleet.engines.rtl_sim.job import JobScript, read_results
from fleet.isa.codec import interrupt
from fleet.isa.description import Description, Register
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.registers import wrong_after_reset, wrong_with_defaults
from fleet.verify.conformance.suite import make_case

SEEDS = (1000, 1001, 1002)
ZERO = {"error_cause", "error_instruction", "irq_enable", "irq_status"}
"""Roles of registers that say that nothing has happened yet."""


@pytest.mark.parametrize("device", devices())
def test_registers_hold_their_reset_values(device: str) -> None:
    for seed in SEEDS:
        with StreamRunner(device, power_on=seed) as runner:
            assert wrong_after_reset(runner) == []


@pytest.mark.parametrize("device", devices())
def test_instructions_that_rely_on_reset_values(device: str) -> None:
    """Every instruction right after reset: registers that are to hold what the reset left there are not written."""
    relied: set[str] = set()
    with StreamRunner(device) as runner:
        for name in runner.set.conformance:
            wrong, left = wrong_with_defaults(runner, make_case(f"{device}/{name}/directed/0"))
            assert wrong == []
            relied.update(left)
    assert relied


@pytest.mark.parametrize("device", devices())
def test_registers_after_reset_do_not_depend_on_the_state_at_power_on(device: str) -> None:
    found: list[dict[str, int]] = []
    for seed in SEEDS:
        with StreamRunner(device, power_on=seed) as runner:
            registers = load(runner.set.description).registers
            script = JobScript()
            for r in registers:
                script.read(r.address)
            _, job = runner.play(script, Setting())
            values = read_results(job.results)
        assert len(values) == len(registers)
        found.append({r.name: int(v) for r, v in zip(registers, values, strict=True)})
        said = {r.name: found[-1][r.name] for r in registers if r.role in ZERO}
        assert said
        assert not any(said.values()), (seed, said)
    for seed, other in zip(SEEDS[1:], found[1:], strict=True):
        assert other == found[0], (seed, {k: (v, other[k]) for k, v in found[0].items() if other[k] != v})


def _named(description: Description) -> Register:
    """The register that names the refused instruction; the test is skipped where a set has none."""
    found = description.with_role("error_instruction")
    if not found:
        pytest.skip("the set has no such register")
    (register,) = found
    return register


@pytest.mark.parametrize("device", devices())
def test_a_refusal_says_which_instruction_it_was(device: str) -> None:
    """The register that names the refused instruction is read by hosts only: no commit carries it."""
    with StreamRunner(device) as runner:
        description = load(runner.set.description)
        named = _named(description)
        (status,), (enable,) = description.with_role("irq_status"), description.with_role("irq_enable")
        for name in runner.set.instructions:
            call, cause = _refused(device, name)
            script = JobScript()
            script.write(enable.address, 3)
            words = description.words(name)
            for r in words:
                script.write(r.address, call.fields[r.name], start=r is words[-1])
            script.wait_irq(100_000)
            at = script.read(named.address)
            script.write(status.address, 3)
            runner.found.fill(())
            _, job = runner.play(script, Setting())
            assert read_results(job.results)[at] == description.instructions[name].opcode, (name, cause)


@pytest.mark.parametrize("device", devices())
def test_a_start_while_its_unit_runs_is_refused_by_its_own_name(device: str) -> None:
    """Only hosts see what a refused start leaves: it becomes no commit, where it does not wait in a queue."""
    with StreamRunner(device) as runner:
        description = load(runner.set.description)
        named = _named(description)
        (status,) = description.with_role("irq_status")
        refused = 0
        for name in runner.set.instructions:
            case = make_case(f"{device}/{name}/directed/0")
            script = JobScript()
            words = description.words(name)
            for r in words:
                script.write(r.address, case.calls[-1].fields[r.name])
            script.write(words[-1].address, case.calls[-1].fields[words[-1].name])  # once more, while it runs
            at, said = script.read(named.address), script.read(status.address)
            for _ in range(2000):  # the first one ends before the job does
                script.read(status.address)
            runner.found.fill(case.blocks)
            _, job = runner.play(script, Setting())
            values = read_results(job.results)
            if values[said] & interrupt(runner.set).error:
                refused += 1
                assert values[at] == description.instructions[name].opcode, name
        assert refused


def _refused(device: str, name: str) -> tuple[Call, int]:
    """A call of the instruction that is refused although its start value is right."""
    instruction_set, chip = find_device(device)
    words = load(instruction_set.description).words(name)
    for seed in range(10):
        case = make_case(f"{device}/{name}/illegal/{seed}")
        for call, cause in zip(case.calls, case.causes or (), strict=True):
            if cause and call.instruction == name and call.fields[words[-1].name] == case.calls[-1].fields[words[-1].name]:
                return call, cause
    raise AssertionError(f"no refused call of {name} on {chip.name}")
