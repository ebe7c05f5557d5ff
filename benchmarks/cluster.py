"""What `pytest sim/ --executor dask` costs beside the runs: `python benchmarks/cluster.py [--seconds 5] [--runs 40]`.

Measured on two workers of this machine, with runs that sleep: share of the time that workers are busy, from the start of the first
run to the end of the last one (start-up apart), and processor time a run, of the command and its workers (the difference of two
nights of runs that do nothing). Simulated for more workers, with these figures: `tests/night/simulated_cluster.py`.
The figures to hold: busy at least 0.95 for runs of 5 s and more, less than 0.3 s of processor time a run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import mean

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "night"))

from simulated_cluster import Costs, simulate

from fleet.night.cluster.dispatch import RunTask

ROOT = Path(__file__).parents[1]
TESTS = """
import os, time, pytest

@pytest.mark.parametrize("n", range(int(os.environ["FLEET_BENCHMARK_RUNS"])))
def test_sleeps(n):
    begin = time.time()
    time.sleep(float(os.environ["FLEET_BENCHMARK_SECONDS"]))
    with open("times.txt", "a") as f:
        f.write(f"{begin} {time.time()}\\n")
"""


def night(runs: int, seconds: float) -> tuple[list[tuple[float, float]], float]:
    """([(start, end) of each run], processor seconds of the command and its workers)."""
    with tempfile.TemporaryDirectory(prefix="fleet-cluster-") as name:
        folder = Path(name)
        (folder / "sim" / "cases").mkdir(parents=True)
        (folder / "sim" / "sleep").mkdir()
        (folder / "sim" / "sleep" / "test_sleeps.py").write_text(TESTS)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "two.toml").write_text('kind = "local"\nworkers = 2\n')
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "FLEET_BENCHMARK_RUNS": str(runs), "FLEET_BENCHMARK_SECONDS": str(seconds),
        }  # fmt: skip
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "sim/sleep", "--executor", "dask"]
        process = subprocess.Popen(
            [*command, "--cluster", "two.toml"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"the night ended with status {status}")
        times = [tuple(map(float, line.split())) for line in (folder / "times.txt").read_text().splitlines()]
        return [(begin, end) for begin, end in times], used.ru_utime + used.ru_stime


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    few, few_used = night(20, 0.0)
    many, many_used = night(220, 0.0)
    a_run = (many_used - few_used) / (len(many) - len(few))
    wall = max(end for _, end in many) - min(begin for begin, _ in many)
    gap = 2 * wall / len(many)  # of a worker, between the starts of two runs that do nothing
    times, _ = night(given.runs, given.seconds)
    span = max(end for _, end in times) - min(begin for begin, _ in times)
    busy = sum(end - begin for begin, end in times)
    print("| measured, 2 workers | figure |\n|---|---|")
    print(f"| busy, {given.runs} runs of {given.seconds:g} s | {busy / (2 * span):.3f} |")
    print(f"| processor time beside a run | {a_run:.3f} s |")
    print(f"| from one run to the next on a worker | {1000 * gap:.0f} ms |")
    print("\n| simulated with these figures | runs | busy | walltime 1 h, 1 % of tasks lose their worker |\n|---|---|---|---|")
    costs = Costs(start=20.0, serial=gap / 2, idle=gap / 2)
    for workers in (16, 50, 100, 200):
        random = Random(workers)
        for what, draw in (("5 to 25 s", lambda r: r.uniform(5, 25)), ("1 min on average", lambda r: r.expovariate(1 / 60) + 1)):
            runs = [RunTask(str(n), "case", draw(random)) for n in range(50 * workers)]
            _, plain = simulate(runs, workers, costs)
            dispatch, lossy = simulate(runs, workers, costs, walltime=3600.0, killed=0.01, seed=workers)
            shares = [found.busy / (workers * found.wall) for found in (plain, lossy)]
            usual = mean(run.seconds or 0.0 for run in runs)
            told = f"{len(runs):,}, mean {usual:.0f} s | {shares[0]:.3f} | {shares[1]:.3f}, {dispatch.interrupted} interrupted"
            print(f"| {workers} workers, runs of {what} | {told} |")


if __name__ == "__main__":
    main()
