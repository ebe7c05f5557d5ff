"""What a run of a case takes in a regression session: `python benchmarks/warm_cases.py [--rounds N] [CASE ...]`

Runs of the cases on vgemm_small and hbm_small (`sim/cases/digits_vgemm.toml`, `digits.toml`), as `pytest sim/` makes them: each
with a simulation of its own, and with one that the session keeps (`fleet.engines.legs.warm`), in turn. Processor time, user and
system, of this process and of its children, a run: the median of the rounds. The first round is not counted.
"""

from __future__ import annotations

import argparse
import datetime
import resource
import statistics
from pathlib import Path

from fleet.engines.legs.warm import end_warm, keep_warm
from fleet.regress.case_runs import CaseOptions, run_case
from fleet.regress.cases import CaseRun, load_case

CASES = (Path("sim/cases/digits_vgemm.toml"), Path("sim/cases/digits.toml"))
DEVICES = ("vgemm_small", "hbm_small")


def _seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _played(runs: list[CaseRun], options: CaseOptions, warm: bool) -> tuple[float, float]:
    """Return processor seconds of a run, and seconds of it in the simulation's clock loop."""
    before, inside = _seconds(), 0.0
    if warm:
        keep_warm()
    try:
        for run in runs:
            result = run_case(run, options)
            if result.verdict != "pass":
                raise SystemExit(f"{run.name}: {result.verdict}: {result.reasons}")
            inside += sum(e.counters.get("rtl_run_seconds", 0.0) for e in result.engines)
    finally:
        end_warm()  # its processor time counts
    return (_seconds() - before) / len(runs), inside / len(runs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("cases", type=Path, nargs="*", default=list(CASES))
    args = parser.parse_args()
    now = datetime.datetime.now(datetime.UTC)
    options = CaseOptions(today=now.date(), date=now.isoformat(timespec="seconds"))
    print("| runs | in RTL, a run | a simulation each | one kept | ratio |\n|---|---|---|---|---|")
    for path in args.cases:
        for device in DEVICES:
            runs = [r for r in load_case(path).runs if r.device == device and r.seed == 0 and r.engines == ("vm", "iss", "rtl")]
            if not runs:
                continue
            found = [[_played(runs, options, warm) for warm in (False, True)] for _ in range(args.rounds + 1)][1:]
            cold, kept = (statistics.median(one[side][0] for one in found) for side in (0, 1))
            inside = statistics.median(one[1][1] for one in found)
            print(f"| {path.stem}, {device}, {len(runs)} | {inside:.3f} s | {cold:.2f} s | {kept:.2f} s | {kept / cold:.2f} |")


if __name__ == "__main__":
    main()
