"""One job, played by several executables in turn: what `arrays.py`, `axi_checker.py` and `checkouts.py` measure with.

The job is a stream of the conformance suite, played again and again until it has about `--cycles` cycles. Runs are interleaved,
and processor time of the process counts.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fleet.engines.rtl import memory_timing
from fleet.engines.rtl_sim.job import JobStatus
from fleet.engines.rtl_sim.segment import Segment
from fleet.isa.registry import find_device
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

_STREAMS = {"vgemm_small": "finish/directed/1"}
_OTHERS = "mvm/directed/6"


@dataclass(frozen=True)
class Played:
    """Rounds of one job. cycles: the different counts that were seen; seconds: executable -> processor time of each round."""

    memory: str
    cycles: frozenset[int]
    seconds: Mapping[str, tuple[float, ...]]

    def speed(self, which: str) -> float:
        """Cycles a second in the best round."""
        return min(self.cycles) / min(self.seconds[which])


def arguments(doc: str, cycles: int, rounds: int) -> argparse.ArgumentParser:
    """A parser with `--device`, `--memory`, `--cycles` and `--rounds`; the last two have these defaults."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--device", action="append", help="default: vgemm_small; may be repeated")
    parser.add_argument("--memory", action="append", help="default: ideal and stall:1; may be repeated")
    parser.add_argument("--cycles", type=int, default=cycles)
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser


def play(device: str, executables: Mapping[str, Path], options: argparse.Namespace) -> Iterator[Played]:
    """Play the device's job with every executable in every round, memory by memory."""
    instruction_set, chip = find_device(device)
    with tempfile.TemporaryDirectory(prefix="fleet-same-job-") as name, StreamRunner(device) as runner:
        folder = Path(name)
        case = make_case(f"{device}/{_STREAMS.get(device, _OTHERS)}")
        for memory in options.memory or ["ideal", "stall:1"]:
            (outcome,) = runner.run(case)
            times = max(1, options.cycles // outcome.cycles)
            segment = Segment(instruction_set, chip, list(case.calls) * times, refusals=True, parameters=case.parameters)
            job = segment.job(folder / "job", runner.found.memory, memory, timing=memory_timing(memory, chip))
            job.save(folder / "job file")
            seconds: dict[str, list[float]] = {which: [] for which in executables}
            cycles: set[int] = set()
            for _ in range(options.rounds):
                for which, executable in executables.items():
                    seconds[which].append(_seconds(executable, folder / "job file"))
                    cycles.add(JobStatus.load(job.status).cycles)
            yield Played(memory, frozenset(cycles), {which: tuple(all_) for which, all_ in seconds.items()})


def _seconds(executable: Path, job: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(executable), str(job)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
