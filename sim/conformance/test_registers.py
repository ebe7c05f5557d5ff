"""What a host reads before it has started anything: as the description has it, whatever the flip-flops held at power-on."""

from __future__ import annotations

from collections.abc import Iterator

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
DONE_TOO = {"hbm0923": True, "vgemm": False}
"""Set -> whether its done interrupt says that an instruction has committed, refused ones included, or that it was executed."""


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
def test_a_refusal_says_which_instruction_it_was_and_why(device: str) -> None:
    """The registers and interrupts of the refused instruction are read by hosts only: no commit carries them. All in one job."""
    with StreamRunner(device) as runner:
        description, irq = load(runner.set.description), interrupt(runner.set)
        why, which = description.with_role("error_cause"), description.with_role("error_instruction")
        script, looked = JobScript(), list[tuple[str, int, list[int]]]()
        script.write(irq.enable_address, irq.done | irq.error)
        for name in runner.set.instructions:
            for call, cause in _refused(device, name):
                words = description.words(name)
                for r in words:
                    script.write(r.address, call.fields[r.name], start=r is words[-1])
                script.wait_irq(100_000)
                read = (irq.status_address, *(r.address for r in (*why, *which)))
                looked.append((name, cause, [script.read(address) for address in read]))
                script.write(irq.status_address, irq.done | irq.error)
        runner.found.fill(())
        _, job = runner.play(script, Setting())
        values = read_results(job.results)
    for name, cause, (status, *registers) in looked:
        assert values[status] & irq.error, (name, cause)
        assert bool(values[status] & irq.done) == DONE_TOO.get(runner.set.name, bool(values[status] & irq.done)), (name, cause)
        said = [*(cause for _ in why), *(description.instructions[name].opcode for _ in which)]
        assert [values[at] for at in registers] == said, (name, cause)
    assert len({cause for _, cause, _ in looked}) > 1


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


def _refused(device: str, name: str) -> Iterator[tuple[Call, int]]:
    """A call of the instruction for every cause for which it is refused although its start value is right."""
    instruction_set, chip = find_device(device)
    words = load(instruction_set.description).words(name)
    seen = set[int]()
    for seed in range(3):
        case = make_case(f"{device}/{name}/illegal/{seed}")
        for call, cause in zip(case.calls, case.causes or (), strict=True):
            if call.instruction != name or cause <= 0 or cause in seen:
                continue
            if call.fields[words[-1].name] == case.calls[-1].fields[words[-1].name]:
                seen.add(cause)
                yield call, cause
    assert seen, f"no refused call of {name} on {chip.name}"
