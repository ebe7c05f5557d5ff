"""Clock cycles a second: the same RTL and the same job, once driven by a plain C++ main, once by cocotb in burst mode.

    python benchmarks/burst.py --device hbm_small --device hbm0923

The plain executable is built without VPI and without public signals: an honest upper bound. Both play the same job file: the
4096 x 256 MVM at `--tokens`, repeated until the job has about `--cycles` cycles. Runs are interleaved, the best of
`--rounds` counts. Wall time is that of the whole job, from the request to its end: for cocotb with Python between the bursts.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fleet.engines.accel import run_accel
from fleet.engines.backend import Snapshot
from fleet.engines.base import RunOptions
from fleet.engines.evidence import Evidence
from fleet.engines.rtl import RtlBackend
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.rtl_sim.job import Job, JobStatus
from fleet.engines.rtl_sim.process import Simulation
from fleet.engines.rtl_sim.segment import Segment
from fleet.engines.trace import Commit
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call, Device, InstructionSet

ROOT = Path(__file__).resolve().parents[1]


class Race(RtlBackend):
    """A backend that runs its calls on both executables instead of once."""

    def __init__(self, cycles: int, rounds: int, folder: Path) -> None:
        super().__init__()
        self._cycles, self._rounds, self._place = cycles, rounds, folder
        self.rows: list[tuple[str, int, float, float]] = []

    def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
        self.opened = instruction_set, device, memory
        self.executables = {name: build(design_of(instruction_set, device), name) for name in ("plain", "burst")}

    def execute(
        self, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary] = (), snapshots: Sequence[Snapshot] = ()
    ) -> Sequence[Commit]:
        if binaries or snapshots:
            raise SystemExit("the race plays register writes alone, and keeps no tensors")
        instruction_set, device, memory = self.opened
        once = Segment(instruction_set, device, calls, first_seq)
        many = Segment(instruction_set, device, list(calls) * max(1, self._cycles // once.expected_cycles), first_seq)
        jobs = {name: many.job(self._place / name, memory, "ideal") for name in ("plain", "burst")}
        plain_file = self._place / "plain job"
        jobs["plain"].save(plain_file)
        best: dict[str, tuple[float, float, JobStatus]] = {}
        with Simulation(self.executables["burst"], self._place / "burst simulation") as simulation:
            for _ in range(self._rounds):
                for name, run in (
                    ("plain", lambda: self._plain(plain_file, jobs["plain"])),
                    ("burst", lambda: self._burst(simulation, jobs["burst"])),
                ):
                    seconds, status = run()
                    if name not in best or seconds < best[name][0]:
                        best[name] = seconds, status.seconds, status
        commits = {name: many.check(jobs[name], best[name][2], 0)[0] for name in jobs}
        if commits["plain"] != commits["burst"] or best["plain"][2].cycles != best["burst"][2].cycles:
            raise SystemExit("the two mains disagree in commits or cycles")
        self.rows = [(name, status.cycles, seconds, loop) for name, (seconds, loop, status) in best.items()]
        return commits["burst"][: len(calls)]

    def evidence(self) -> Evidence:
        """None of the usual: both executables are started here."""
        return Evidence("model")

    def _plain(self, file: Path, job: Job) -> tuple[float, JobStatus]:
        run = subprocess.run([str(self.executables["plain"]), str(file)], check=True, capture_output=True, text=True)
        # The last line: "<job>: <cycles> cycles in <seconds> s, <seconds> s with loading"
        return float(run.stdout.rsplit(" s, ", 1)[1].split()[0]), JobStatus.load(job.status)

    @staticmethod
    def _burst(simulation: Simulation, job: Job) -> tuple[float, JobStatus]:
        before = time.perf_counter()
        status = simulation.run(job)
        return time.perf_counter() - before, status


def race(device: str, tokens: int, cycles: int, rounds: int) -> list[tuple[str, int, float, float]]:
    """(main, cycles, best seconds of a whole job, its seconds in the clock loop) of both mains."""
    from fleet.frontend.source import load

    rng = np.random.default_rng(4096)
    weights = {"b": rng.normal(0, 0.02, (4096, 256)).astype(np.float32)}
    inputs = {"a": rng.normal(0, 1, (tokens, 4096)).astype(np.float32)}
    program = load(f"{ROOT / 'examples/mvm4096/model.py'}:forward", weights, inputs)
    with tempfile.TemporaryDirectory(prefix="fleet-burst-") as folder:
        backend = Race(cycles, rounds, Path(folder))
        run_accel(program, inputs, RunOptions(device=device, workdir=Path(folder) / "run", keep_tensors=False), backend)
        return backend.rows


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", action="append", help="may be given several times (default: hbm_small)")
    parser.add_argument("--tokens", type=int, default=1)
    parser.add_argument("--cycles", type=int, default=400_000, help="of one job, about")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"{'device':12} {'main':7} {'cycles':>10} {'seconds':>9} {'cycles/s':>12} {'of plain':>9} {'in the loop':>12}")
    for device in options.device or ["hbm_small"]:
        rows = race(device, options.tokens, options.cycles, options.rounds)
        plain = rows[0][1] / rows[0][2]
        for name, cycles, seconds, loop in rows:
            speed = cycles / seconds
            print(f"{device:12} {name:7} {cycles:10,} {seconds:9.3f} {speed:12,.0f} {speed / plain:9.3f} {cycles / loop:12,.0f}")


if __name__ == "__main__":
    main()
