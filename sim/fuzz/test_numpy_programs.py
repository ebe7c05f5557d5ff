"""Random programs of NumPy every night: CPython against the golden in every bit, a share of them on the other engines.

The seed is the date's, or `FLEET_FUZZ_SEED`; it is printed. What differs is shrunk and stored below the report's folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fleet.engines.registry import find_engine
from fleet.verify.mutation.survivors import load_survivors
from fleet.verify.programs.batches import ENGINES
from fleet.verify.programs.fuzz import ProgramFuzzState, fuzz
from fleet.verify.programs.mutants import HOW, ROOT, SURVIVORS, sites

QUICK_SEED, QUICK_PROGRAMS = 2024, 250
NIGHTLY_PROGRAMS, NIGHTLY_SECONDS = 100_000, 3600.0
MOST_REFUSED, LEAST_MET = 0.15, 0.95
NIGHTLY_MUTANTS, WEEKLY_MUTANTS, SUNDAY = 20, 100, 6
LEAST_FOUND = 0.5
"""Of a draw that small, of which some are equivalent and not known to be."""
SETTLED = 20_000
"""Before, it is still being found out which bins are refused."""


def _checked(state: ProgramFuzzState, capsys: pytest.CaptureFixture[str]) -> None:
    sums = state.sums
    refused, (met, of) = sum(sums.refused.values()), sums.account.share
    with capsys.disabled():
        print(
            f"\nfuzz NumPy, seed {state.seed}: {sums.accepted:,} programs, {refused:,} refused, {met:,} of {of:,} bins, "
            f"{dict(sums.engines)}, {sums.accepted / state.seconds:.1f} a second"
        )
    assert not state.failures, "\n".join(f"{k}: {v[2]}; fleet fuzz {v[3]}" for k, v in state.failures.items())
    if sums.accepted <= 2 * QUICK_PROGRAMS or sums.accepted >= SETTLED:
        assert refused <= MOST_REFUSED * sums.drawn, dict(sums.refused)


def test_a_short_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state, here = fuzz(
        tmp_path / "state.json", tmp_path / "failing", QUICK_SEED, programs=QUICK_PROGRAMS, seconds=600, jobs=1, engines=ENGINES
    )
    assert here.accepted >= QUICK_PROGRAMS
    assert set(here.engines) >= {e for e in ENGINES if not find_engine(e).engine.available()}
    _checked(state, capsys)


def test_a_long_run(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> None:
    """A run of the same day goes on where the last one stood."""
    if not request.config.getoption("--nightly"):
        pytest.skip("--nightly")
    seed = int(os.environ.get("FLEET_FUZZ_SEED") or datetime.now(UTC).strftime("%Y%m%d"))
    folder = Path(str(request.config.getoption("--fleet-report", "reports/sim"))).parent / "fuzz" / "programs"
    with capsys.disabled():
        print(f"\nfuzz NumPy: seed {seed}; FLEET_FUZZ_SEED={seed} draws the same programs again")
    state, here = fuzz(
        folder / f"{seed}.json", folder / "failing", seed, programs=NIGHTLY_PROGRAMS, seconds=NIGHTLY_SECONDS,
        jobs=min(2, os.cpu_count() or 1), engines=ENGINES,
    )  # fmt: skip
    _checked(state, capsys)
    assert here.accepted
    met, of = state.sums.account.share
    if state.sums.accepted >= NIGHTLY_PROGRAMS:
        assert met >= LEAST_MET * of


@pytest.mark.nightly
def test_mutants_of_the_front_end(capsys: pytest.CaptureFixture[str]) -> None:
    """A few of the day, every Sunday more: of what is not equivalent the programs must find most."""
    today = datetime.now(UTC).date()
    count = WEEKLY_MUTANTS if today.weekday() == SUNDAY else NIGHTLY_MUTANTS
    command = (sys.executable, "-W", "ignore", "-m", "fleet.verify.programs.mutants", "--count", str(count), "--seed")
    done = subprocess.run((*command, str(today.toordinal())), cwd=ROOT, capture_output=True, text=True, check=False)
    with capsys.disabled():
        print(f"\n{done.stdout}")
    assert done.returncode in {0, 1}, done.stdout[-2000:] + done.stderr[-2000:]
    words = [line.partition(" ")[0] for line in done.stdout.splitlines()]
    found, holes = sum(w in HOW for w in words), words.count("SURVIVED") + words.count("UNREACHED")
    assert found >= LEAST_FOUND * (found + holes), f"{' '.join(command[3:])} {today.toordinal()}\n{done.stdout[-6000:]}"


def test_the_list_of_survivors_can_be_read() -> None:
    assert load_survivors(SURVIVORS).keys() <= {m.id for m in sites().mutants}, "an entry for a mutant that is no more"
    for judged in load_survivors(SURVIVORS).values():
        file, _, name = judged.test.partition("::")
        assert not judged.test or f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), f"{judged.id}: no {judged.test}"
