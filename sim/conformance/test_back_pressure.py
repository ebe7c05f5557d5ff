"""Every channel that a design can keep waiting does wait: what the checker of the buses holds there was really tried.

A channel waits when valid stands without ready. The memory keeps AR, AW and W waiting and the host R and B of the register port;
whether a design keeps R or B of a memory waiting is its own matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from chosen import devices

from fleet.streams.case import Setting
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

_PROGRAMS = 2
"""Beside a directed case of every instruction."""
_LEAST = 5
"""Transfers that must have waited, a channel."""


def _cases(device: str) -> list[str]:
    directed = {name.split("/")[1]: name for name in reversed(names(device)) if name.endswith("/directed/1")}
    return [*directed.values(), *(f"{device}/program/{i}" for i in range(_PROGRAMS))]


@pytest.mark.parametrize("device", devices())
def test_every_channel_waits(device: str, runners: Callable[[str], StreamRunner]) -> None:
    """On memory that stalls, whether it waits for write data (odd seeds of a port) or not."""
    runner = runners(device)
    waited, moved = Counter[str](), Counter[str]()
    for i, name in enumerate(_cases(device)):
        for outcome in runner.run(make_case(name), [Setting(f"stall:{i}")]):
            assert outcome.passed, (name, outcome.reasons)
            for key, number in outcome.traffic.items():
                port, _, what = key.rpartition(".")
                space = port.partition(".")[0]
                waited[f"{space} {what.removesuffix('_waits')}"] += number if what.endswith("_waits") else 0
                moved[f"{space} {what}"] += number if what.endswith("_bursts") else 0
    wanted = ["registers r", "registers b"]
    for space in ("ddr", "hbm"):
        wanted += [f"{space} ar"] if moved[f"{space} read_bursts"] > _LEAST else []
        wanted += [f"{space} aw", f"{space} w"] if moved[f"{space} write_bursts"] > _LEAST else []
    assert "ddr ar" in wanted
    assert "ddr w" in wanted
    quiet = {channel: waited[channel] for channel in wanted if waited[channel] < _LEAST}
    assert not quiet, f"transfers that waited: {quiet}; all: {dict(waited)}"
