"""Whether a change of the hardware or of the bench costs speed: the same job on the simulations of two checkouts, as a ratio.

    python benchmarks/checkouts.py ../before --device vgemm_small --device hbm_small

Both executables are built with a plain C++ main, each by its own checkout; the one called from makes the job. Runs are interleaved,
processor time of the process counts, the best of `--rounds`, and the median of the ratios of a round. The job is a stream of the
conformance suite, played again and again until it has about `--cycles` cycles. The cycles of both must be equal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from axi_checker import STREAMS, seconds

from fleet.engines.rtl import memory_timing
from fleet.engines.rtl_sim.job import JobStatus
from fleet.engines.rtl_sim.segment import Segment
from fleet.isa.registry import find_device
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

_BUILD = """
import sys
from fleet.engines.rtl_sim.build import build, design_of
from fleet.isa.registry import find_device
print(build(design_of(*find_device(sys.argv[1])), "plain"))
"""


def _executable(checkout: Path, device: str) -> Path:
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-c", _BUILD, device]
    return Path(subprocess.run(command, cwd=checkout, env=environment, check=True, capture_output=True, text=True).stdout.strip())


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path, help="the other checkout")
    parser.add_argument("--device", action="append")
    parser.add_argument("--memory", action="append")
    parser.add_argument("--cycles", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    checkouts = {"before": options.before.resolve(), "now": Path(__file__).resolve().parents[1]}
    print(f"{'device':12} {'memory':8} {'cycles':>10} {'before':>12} {'now':>12} {'ratio':>7} {'median':>7}")
    for device in options.device or ["vgemm_small"]:
        executables = {which: _executable(checkout, device) for which, checkout in checkouts.items()}
        with tempfile.TemporaryDirectory(prefix="fleet-checkouts-") as name, StreamRunner(device) as runner:
            folder = Path(name)
            instruction_set, chip = find_device(device)
            case = make_case(STREAMS.get(device, f"{device}/mvm/directed/6"))
            for memory in options.memory or ["ideal", "stall:1"]:
                (outcome,) = runner.run(case)
                times = max(1, options.cycles // outcome.cycles)
                segment = Segment(instruction_set, chip, list(case.calls) * times, refusals=True, parameters=case.parameters)
                job = segment.job(folder / "job", runner.found.memory, memory, timing=memory_timing(memory, chip))
                job.save(folder / "job file")
                taken: dict[str, list[float]] = {which: [] for which in executables}
                cycles: set[int] = set()
                for _ in range(options.rounds):
                    for which, executable in executables.items():
                        taken[which].append(seconds(executable, folder / "job file"))
                        cycles.add(JobStatus.load(job.status).cycles)
                if len(cycles) > 1:
                    sys.exit(f"{device}, {memory}: the cycles differ: {sorted(cycles)}")
                (count,) = cycles
                before, now = count / min(taken["before"]), count / min(taken["now"])
                median = statistics.median(b / n for b, n in zip(taken["before"], taken["now"], strict=True))
                print(
                    f"{device:12} {memory:8} {count:10,} {before:12,.0f} {now:12,.0f} {now / before:7.3f} {median:7.3f}", flush=True
                )


if __name__ == "__main__":
    main()
