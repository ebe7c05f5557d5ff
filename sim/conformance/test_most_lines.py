"""As many lines as an instruction takes, and one more, which is refused: a limit that is off by one is seen at it alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from chosen import devices

from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

MOST = 255  # heads of an elementwise instruction: docs/hbm0923-manual.md
DEVICES = [d for d in devices() if "elementwise" in find_device(d)[0].instructions]


@pytest.mark.parametrize("lines", [MOST - 1, MOST, MOST + 1])
@pytest.mark.parametrize("device", DEVICES)
def test_the_most_lines_are_legal_and_one_more_is_not(device: str, lines: int, runners: Callable[[str], StreamRunner]) -> None:
    case = make_case(f"{device}/elementwise/directed/0")
    call = case.calls[-1]
    pixel = 64  # one token, one group of channels: a line is a pixel
    fields = {
        **call.fields, "elementwise_hin": lines, "elementwise_win": 1, "elementwise_surfaces": 1, "elementwise_a_line": pixel,
        "elementwise_out_line": pixel, "elementwise_a_surface": pixel, "elementwise_out_surface": pixel, "elementwise_a_addr": 0,
        "elementwise_b_addr": 1 << 16, "elementwise_out_addr": 2 << 16, "elementwise_onchip": 0,
    }  # fmt: skip
    (outcome,) = runners(device).run(replace(case, calls=(Call(call.instruction, fields),), causes=None))
    assert outcome.passed, outcome.reasons
    assert (outcome.found[0].cause == 0) == (lines <= MOST)
