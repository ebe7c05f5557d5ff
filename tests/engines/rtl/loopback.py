"""The loopback design (tests/fixtures/loopback_top.sv) and jobs for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fleet.engines.rtl_sim.build import Design
from fleet.engines.rtl_sim.dut import Dut
from fleet.engines.rtl_sim.job import Job, JobScript, JobStatus, read_results
from fleet.engines.rtl_sim.process import Simulation
from fleet.engines.rtl_sim.records import CommitRecord, read_records

FIXTURES = Path(__file__).parents[2] / "fixtures"
HASH = 0x1234_5678
DDR_BYTES, HBM_BYTES, PORTS = 1 << 20, 1 << 18, 2

START, STATUS, SOURCE, DESTINATION, BEATS, MODE, PORT, STROBE, ENABLE, PENDING, RESULT, CAUSE, DESC = (
    0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x1C, 0x24, 0x28, 0x2C, 0x30, 0x34,
)  # fmt: skip


def loopback(**changes: object) -> Design:
    return replace(Design(Dut("loopback_top", {"HbmPorts": PORTS}, HASH), (FIXTURES / "loopback_top.sv",)), **changes)


def copy(
    script: JobScript, source: int, destination: int, beats: int, *, mode: int = 0, port: int = 0, strobe: int = (1 << 64) - 1
) -> None:
    """One copy of the loopback design, its interrupt and its result."""
    for address, value in (
        (ENABLE, 3), (SOURCE, source), (DESTINATION, destination), (BEATS, beats), (MODE, mode), (PORT, port),
        (STROBE, strobe & 0xFFFF_FFFF), (STROBE + 4, strobe >> 32),
    ):  # fmt: skip
        script.write(address, value)
    script.write(START, 1, start=True)
    script.wait_irq()
    script.read(RESULT)
    script.write(PENDING, 3)


@dataclass
class Outcome:
    status: JobStatus
    results: list[int]
    records: list[CommitRecord]
    ddr: np.ndarray
    hbm: list[np.ndarray]


class Workplace:
    """Images with random bytes, and jobs on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        rng = np.random.default_rng(7)
        self.ddr = rng.integers(0, 256, DDR_BYTES, dtype=np.uint8)
        self.hbm = [rng.integers(0, 256, HBM_BYTES, dtype=np.uint8) for _ in range(PORTS)]
        self.runs = 0

    def job(self, script: JobScript, **changes: object) -> Job:
        self.runs += 1
        folder = self.folder / f"run {self.runs}"  # blanks in paths are fine
        folder.mkdir(parents=True)
        self.ddr.tofile(folder / "ddr.bin")
        for port, image in enumerate(self.hbm):
            image.tofile(folder / f"hbm_{port}.bin")
        script.save(folder / "script")
        job = Job(
            ddr=folder / "ddr.bin",
            hbm={port: folder / f"hbm_{port}.bin" for port in range(PORTS)},
            script=folder / "script",
            results=folder / "results",
            trace=folder / "commits",
            status=folder / "status",
        )
        return replace(job, **changes)

    def outcome(self, job: Job, status: JobStatus) -> Outcome:
        return Outcome(
            status,
            read_results(job.results),
            read_records(job.trace),
            np.fromfile(job.ddr, np.uint8),
            [np.fromfile(path, np.uint8) for path in job.hbm.values()],
        )

    def run(self, simulation: Simulation, script: JobScript, **changes: object) -> Outcome:
        job = self.job(script, **changes)
        return self.outcome(job, simulation.run(job))
