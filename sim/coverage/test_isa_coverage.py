"""Coverage of streams on the hardware: a few seconds in the quick tier, floors for the percentages every night.

Each run compares `iss` and `rtl` in every bit; a bin that is met though it is called impossible fails it too.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.engines.rtl_sim.build import design_of
from fleet.isa.registry import description_hash, find_device
from fleet.regress.pytest_night import RowFields
from fleet.verify.coverage.account import CoverageAccount
from fleet.verify.coverage.bins import space_of
from fleet.verify.coverage.rtl import load_exclusions, measure
from fleet.verify.coverage.run import CoveragePlan, run_coverage


def share(account: CoverageAccount) -> float:
    space = space_of(*find_device(account.device))
    return space.share(account.met)


def row(account: CoverageAccount, **shares: float) -> RowFields:
    """What the night stores. Seconds bound these runs, so their shares scatter: they have no gate but the tests' floors."""
    shares |= {"bins": share(account)}
    figures = {f"share {name}": value for name, value in shares.items()} | {"instructions": float(account.instructions)}
    return {"device": account.device, "seed": account.seeds[0], "figures": figures}


def test_a_short_steered_run_meets_a_fifth_of_the_bins(tmp_path: Path, night_row: RowFields) -> None:
    account = run_coverage(CoveragePlan("vgemm_small", 20, 1, 1, True, False, tmp_path))
    night_row |= row(account)
    assert not account.failures
    assert account.instructions > 150
    assert share(account) > 0.2
    assert account.curve[-1].bins == len(account.met)


# Measured (docs/coverage.md): all of vgemm_small in 10 to 37 s of processor time, 95 % of hbm_small in some minutes of it. What is
# left between that and the floors is for unlucky seeds and for machines that have a tenth of their processors to spare. A run ends
# at its floor.
@pytest.mark.nightly
@pytest.mark.parametrize(("device", "minutes", "floor"), [("vgemm_small", 10, 0.98), ("hbm_small", 30, 0.95)])
def test_a_nightly_run_meets_its_floor(device: str, minutes: float, floor: float, tmp_path: Path, night_row: RowFields) -> None:
    account = run_coverage(CoveragePlan(device, 60 * minutes, 0, 2, True, False, tmp_path, floor))
    night_row |= row(account)
    assert not account.failures
    assert share(account) >= floor


@pytest.mark.nightly
def test_lines_and_assertions_of_the_hardware(tmp_path: Path, night_row: RowFields) -> None:
    account = run_coverage(CoveragePlan("vgemm_small", 240, 0, 2, True, True, tmp_path))
    instruction_set, device = find_device("vgemm_small")
    files = sorted(tmp_path.glob("rtl-*/simulation/coverage-*.dat"))
    found = measure(
        device.name, description_hash(instruction_set, device), files, design_of(instruction_set, device).sources,
        load_exclusions(space_of(instruction_set, device).hints.exclusions), tmp_path,
    )  # fmt: skip
    totals = {name: found.total(name) for name in ("lines", "assertions")}
    night_row |= row(account, **{name: met / max(every, 1) for name, (met, every) in totals.items()})
    assert not account.failures
    met, every = found.total("lines")
    assert met / every > 0.93
    met, every = found.total("assertions")
    assert every > 0
    assert met == every
