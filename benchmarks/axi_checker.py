"""What the checker of the buses costs: the same job on the same design with and without it, as a ratio.

    python benchmarks/axi_checker.py --device vgemm_small --memory ideal --memory stall:1

Both executables are built with a plain C++ main; the one without has an empty `fleet_axi_checker.sv`. Runs are interleaved,
processor time of the process counts, the best of `--rounds`. The job is a stream of the conformance suite, played again and again
until it has about `--cycles` cycles.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

from fleet.engines.rtl import memory_timing
from fleet.engines.rtl_sim import build as building
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.job import JobStatus
from fleet.engines.rtl_sim.segment import Segment
from fleet.engines.rtl_sim.tools import rtl_models
from fleet.isa.registry import find_device
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

STREAMS = {"vgemm_small": "vgemm_small/finish/directed/1", "hbm_small": "hbm_small/mvm/directed/6"}


def _executables(device: str, folder: Path) -> dict[str, Path]:
    """With the checker, and without."""
    design = design_of(*find_device(device))
    found = {"with": build(design, "plain")}
    copy = folder / "rtl_models"
    shutil.copytree(rtl_models(), copy)
    checker = copy / "memory" / "fleet_axi_checker.sv"
    text = checker.read_text(encoding="utf-8")
    head = re.search(r"\nmodule fleet_axi_checker.*?\n\);\n", text, re.DOTALL)
    assert head is not None
    checker.write_text(text[: head.end()] + "endmodule\n", encoding="utf-8")
    original, building.rtl_models = building.rtl_models, lambda: copy
    try:
        found["without"] = build(design, "plain")
    finally:
        building.rtl_models = original
    return found


def seconds(executable: Path, job: Path) -> float:
    """Processor seconds of a process that plays the job."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(executable), str(job)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", action="append")
    parser.add_argument("--memory", action="append")
    parser.add_argument("--cycles", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'device':12} {'memory':8} {'cycles':>10} {'with':>12} {'without':>12} {'cost':>7}")
    for device in options.device or ["vgemm_small"]:
        with tempfile.TemporaryDirectory(prefix="fleet-axi-") as name, StreamRunner(device) as runner:
            folder = Path(name)
            executables = _executables(device, folder)
            instruction_set, chip = find_device(device)
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
                cost = speeds["without"] / speeds["with"] - 1
                print(f"{device:12} {memory:8} {cycles:10,} {speeds['with']:12,.0f} {speeds['without']:12,.0f} {100 * cost:6.1f} %")


if __name__ == "__main__":
    main()
