"""Calls over refresh phases: which are sampled, and that their mean is one of runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.engines.rtl_sim.process import SimulationError
from fleet.isa.registry import find_device
from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.coverage import refresh_slacks
from fleet.verify.conformance.phases import PHASES, mean_point, sampled_calls, sampled_instructions
from fleet.verify.conformance.suite import make_case, names, suite_devices

DEVICE = "hbm_small"


@pytest.mark.parametrize("device", suite_devices(all_devices=True))
def test_every_instruction_of_a_device_is_sampled(device: str) -> None:
    known = {name.split("/")[1] for name in names(device)}
    assert set(sampled_instructions(device)) == (known if find_device(device)[1].timing else set())


def test_the_sample_is_fixed_and_has_every_mode() -> None:
    every = {n for n in names(DEVICE, random=range(15)) if n.startswith(f"{DEVICE}/elementwise/")}
    few, many = sampled_calls(DEVICE, "elementwise", 4), sampled_calls(DEVICE, "elementwise", 24)
    assert len(few) == 4
    assert few == many[:4]
    assert len(set(many)) == 24
    assert set(many) <= every
    assert many != sampled_calls(DEVICE, "elementwise", 24, seed=1)
    assert len(sampled_calls(DEVICE, "elementwise", 10**6)) == len(every)

    def modes(cases: set[str] | list[str]) -> set[tuple[int, str]]:
        drawn = [make_case(n) for n in cases]
        return {(c.calls[-1].fields["elementwise_start"], c.classes["on chip"]) for c in drawn}

    assert modes(many) == modes(every)


def test_a_mean_is_one_of_runs_of_the_suite() -> None:
    name = f"{DEVICE}/mvm/directed/3"
    with StreamRunner(DEVICE) as runner:
        point = mean_point(runner, name)
        case = make_case(name)
        again = runner.run(case, [Setting("timed:5"), Setting("timed:6")])
        assert all(o.passed for o in again)
        whole = [(o.found[-1].end or 0) - (o.found[-1].start or 0) for o in again]
        assert runner.cycles(case, [Setting("timed:5"), Setting("timed:6")]) == whole
    assert len(point.cycles) == len(point.runs) == PHASES
    assert len(set(point.cycles)) > 1, "some phases meet a refresh"
    assert point.mean == sum(point.cycles) / PHASES
    assert {r.cost for r in point.runs} == {point.cost}


def test_a_refused_call_has_no_cycles() -> None:
    case = make_case(f"{DEVICE}/norm/directed/3")
    wrong = replace(case.calls[-1], fields={**case.calls[-1].fields, "norm_out_addr": 0x40})  # over its own input
    with StreamRunner(DEVICE) as runner, pytest.raises(SimulationError, match="refused"):
        runner.cycles(replace(case, calls=(wrong,)), [Setting("timed:5")])


def test_refreshes_of_ports_add_up_where_fifos_are_short() -> None:
    """Times of the device files: 260 ns and four times 14 / 0.9 GHz of an HBM port, 350 ns and 64 / 1.2 GHz of DDR, at 280 MHz."""
    port, ddr = 0.28 * (260 + 4 * 14 / 0.9), 0.28 * (350 + 4 * 16 / 1.2)
    small = find_device("hbm_small")[1]
    shallow = replace(small, parameters={**small.parameters, "PortFifoDepth": 32})
    assert refresh_slacks(shallow, "timed", 1000) == pytest.approx((port + ddr, 8 * port + ddr), abs=0.5)
    assert refresh_slacks(shallow, "timed", 2500)[1] == pytest.approx(3 * 8 * port + ddr, abs=1), "3.9 us each"
    assert refresh_slacks(small, "timed", 2500) == pytest.approx((port + ddr, port + ddr), abs=0.5)
    assert refresh_slacks(find_device("hbm0923")[1], "timed", 2500) == pytest.approx((port + ddr, port + ddr), abs=0.5)
    assert refresh_slacks(find_device("hbm0923")[1], "ideal", 2500) == (0, 0)
