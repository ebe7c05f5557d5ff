"""Makes reports/divergence: the divergence pages of a planted fault on hbm_small and of one on vgemm_small.

python sim/divergence/pages.py
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from planted_sources import STORE_BIT, STUCK_LANE, Planted, long_stream, met_at, planted

from fleet.isa.registry import find_device
from fleet.report.run.divergence import write_divergence
from fleet.report.run.why import find_failure
from fleet.streams.bundle import save_bundle
from fleet.streams.run import StreamRunner

PAGES = (("hbm_small", STUCK_LANE, "mvm_wt_addr"), ("vgemm_small", STORE_BIT, "store_w1"))
OUT = Path(__file__).parents[2] / "reports" / "divergence"


def make(device: str, fault: Planted, register: str, out: Path) -> Path:
    """Runs a stream of 200 instructions whose fault shows behind 80 % of it, and writes the page."""
    instruction_set, chip = find_device(device)
    case = long_stream(chip, instruction_set, 1, 200)
    at, address = met_at(case, register, 0.8)
    with tempfile.TemporaryDirectory() as folder:
        with planted(fault, address, Path(folder) / "rtl"), StreamRunner(device) as runner:
            (outcome,) = runner.run(case)
        assert outcome.divergence is not None
        assert outcome.divergence.seq == at, outcome.reasons
        failure = find_failure(str(save_bundle(outcome, Path(folder))), Path(folder))
    d = failure.divergence
    assert d is not None
    assert d.account is not None
    assert d.account.replayed is not None
    account = replace(
        d.account, replayed=replace(d.account.replayed, seconds=0.0)
    )  # what differs from machine to machine is left out
    title = f"{failure.title}; planted: {fault.what}"
    return write_divergence(
        replace(failure, title=title, command="python sim/divergence/pages.py", divergence=replace(d, account=account)),
        out / f"{device}.html",
    )  # fmt: skip


if __name__ == "__main__":
    for given in PAGES:
        print(make(*given, OUT))
