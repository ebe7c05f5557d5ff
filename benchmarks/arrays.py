"""What it costs that the bench can read and set on-chip memories: the same job on the same design with and without, as a ratio.

    python benchmarks/arrays.py --device vgemm_small --device hbm_small

Both executables are built with a plain C++ main; for the one without, no variable of the design is public. Runs are interleaved,
processor time of the process counts, the best of `--rounds`. The job is a stream of the conformance suite, played again and again
until it has about `--cycles` cycles.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

from axi_checker import STREAMS, seconds

from fleet.engines.rtl import memory_timing
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.job import JobStatus
from fleet.engines.rtl_sim.segment import Segment
from fleet.isa.registry import find_device
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", action="append")
    parser.add_argument("--memory", action="append")
    parser.add_argument("--cycles", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'device':12} {'memory':8} {'cycles':>10} {'with':>12} {'without':>12} {'ratio':>7}")
    for device in options.device or ["vgemm_small"]:
        with tempfile.TemporaryDirectory(prefix="fleet-arrays-") as name, StreamRunner(device) as runner:
            folder = Path(name)
            instruction_set, chip = find_device(device)
            design = design_of(instruction_set, chip)
            executables = {"with": build(design, "plain"), "without": build(replace(design, keepers=()), "plain")}
            case = make_case(STREAMS[device])
            for memory in options.memory or ["ideal", "stall:1"]:
                (outcome,) = runner.run(case)
                times = max(1, options.cycles // outcome.cycles)
                segment = Segment(instruction_set, chip, list(case.calls) * times, refusals=True, parameters=case.parameters)
                job = segment.job(folder / "job", runner.found.memory, memory, timing=memory_timing(memory, chip))
                job.save(folder / "job file")
                best: dict[str, float] = {}
                for _ in range(options.rounds):
                    for which, executable in executables.items():
                        best[which] = min(seconds(executable, folder / "job file"), best.get(which, float("inf")))
                cycles = JobStatus.load(job.status).cycles
                speeds = {which: cycles / taken for which, taken in best.items()}
                ratio = speeds["with"] / speeds["without"]
                print(f"{device:12} {memory:8} {cycles:10,} {speeds['with']:12,.0f} {speeds['without']:12,.0f} {ratio:7.3f}")


if __name__ == "__main__":
    main()
