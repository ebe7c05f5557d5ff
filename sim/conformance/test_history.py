"""With ideal memory an instruction takes the same cycles whatever ran before it: a refused one, or nothing since reset."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names, suite_devices


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    found = [n for device in suite_devices(all_devices=False) for n in names(device, illegal=range(1), directed=False)]
    metafunc.parametrize("refused", found)


def test_cycles_do_not_depend_on_what_came_before(refused: str, runners: Callable[[str], StreamRunner]) -> None:
    case = make_case(refused.replace("/illegal/", "/directed/"))
    runner, once = runners(case.device), case.calls[-1]
    drawn = make_case(refused)
    wrong = [call for call, cause in zip(drawn.calls, drawn.causes or (), strict=True) if cause]
    assert wrong, "nothing to refuse was drawn"
    for between in wrong[:3]:
        commits, _ = runner.hardware(dataclasses.replace(case, calls=(once, between, once), causes=None), Setting("ideal"))
        first, stopped, again = commits
        assert first.cause == again.cause == 0
        assert stopped.cause
        assert sum(first.cycles.values()) == sum(again.cycles.values()) > 0
