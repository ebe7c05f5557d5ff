"""The cost model's mean for timed memory against the RTL's over 16 refresh phases; the gate is the session's, over all calls.

A fixed sample of the suite's legal calls: a few of every instruction on the quick device, `--nightly` 24 on every device.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from fleet.streams.run import StreamRunner
from fleet.verify.conformance.coverage import ConformanceCoverage
from fleet.verify.conformance.phases import PHASES, mean_point, sampled_calls, sampled_instructions
from fleet.verify.conformance.suite import suite_devices

CALLS, CALLS_NIGHTLY = 4, 24
FAR = 0.3
"""No call's mean may be off by so much, whatever the percentiles say."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    nightly = bool(metafunc.config.getoption("--nightly"))
    found = [(d, i) for d in suite_devices(all_devices=nightly) for i in sampled_instructions(d)]
    metafunc.parametrize(("device", "instruction"), found, ids=[f"{d}-{i}" for d, i in found])


def test_expected_cycles_are_the_mean_over_refresh_phases(
    device: str,
    instruction: str,
    runners: Callable[[str], StreamRunner],
    account: ConformanceCoverage,
    request: pytest.FixtureRequest,
) -> None:
    before = time.monotonic()
    count = CALLS_NIGHTLY if request.config.getoption("--nightly") else CALLS
    points = [mean_point(runners(device), name) for name in sampled_calls(device, instruction, count)]
    account.means += tuple(points)
    account.seconds += time.monotonic() - before
    assert points
    assert all(len(p.cycles) == PHASES for p in points)
    far = [(p.name, p.cost, p.mean) for p in points if abs(p.cost / p.mean - 1) > FAR]
    assert not far
