"""A script that is written while it is played: through named pipes, on the loopback design."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loopback import BEATS, DDR_BYTES, DESC, DESTINATION, ENABLE, HASH, MODE, PENDING, PORTS, SOURCE, START, STATUS, Workplace, copy

from fleet.engines.rtl_sim.job import JobScript
from fleet.engines.rtl_sim.live import LiveJob
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.isa.memory import MappedMemory
from fleet.sdk import Device

HBM_BYTES = 1 << 18


@pytest.fixture
def memory(tmp_path: Path) -> MappedMemory:
    device = Device("loopback", "none", {"HbmPorts": PORTS}, {"ddr": DDR_BYTES, "hbm": HBM_BYTES}, 100.0, {}, tmp_path)
    memory = MappedMemory(device, tmp_path / "memory")
    memory.view("ddr", 0, DDR_BYTES)[:] = np.random.default_rng(3).integers(0, 256, DDR_BYTES, dtype=np.uint8)
    return memory


def start(live: LiveJob, source: int, destination: int, beats: int) -> None:
    for address, value in ((SOURCE, source), (DESTINATION, destination), (BEATS, beats), (MODE, 0)):
        live.write(address, value)
    live.write(START, 1, start=True)


def test_a_host_that_decides(simulation: Simulation, memory: MappedMemory, tmp_path: Path) -> None:
    """What it copies next depends on what it read; commits are there when they are asked for; the design keeps its state."""
    live = LiveJob(simulation, tmp_path, memory, "stall:3")
    assert live.read(DESC) == HASH
    assert live.commits() == []
    for n in range(5):
        live.write(ENABLE, n % 4)
        at = 0x1000 + 0x100 * live.read(ENABLE)
        start(live, at, 0x8_0000 + 0x100 * n, 4)
        live.poll(STATUS, 1, 1)
        assert live.read(SOURCE) == at
        (commit,) = live.commits()
        assert commit.seq == n
        assert commit.bytes_written == 256
        assert np.array_equal(memory.view("ddr", 0x8_0000 + 0x100 * n, 256), memory.view("ddr", at, 256))
    status = live.close()
    assert status.status == "done"
    assert status.commits == 5


def test_the_same_as_a_file(simulation: Simulation, place: Workplace, memory: MappedMemory, tmp_path: Path) -> None:
    """Cycle for cycle, however slow the host is; its thinking is not in the seconds."""
    script = JobScript()
    for n in range(3):
        copy(script, 0x400 * n, 0x1_0000 + 0x400 * n, 16)
    played = place.run(simulation, script, memory="stall:9")

    live = LiveJob(simulation, tmp_path, memory, "stall:9")
    waited = 0.0
    for record in script._records:  # pyright: ignore[reportPrivateUsage]
        op, address, data, mask = record
        live._add(op, address, data, mask)  # pyright: ignore[reportPrivateUsage, reportArgumentType]
        live._send()  # pyright: ignore[reportPrivateUsage]
        time.sleep(0.02)
        waited += 0.02
    for _ in range(3):
        live.answer()
    found = live.commits()
    status = live.close()
    assert [(r.start, r.end) for r in found] == [(r.start, r.end) for r in played.records]
    assert status.cycles == played.status.cycles
    assert status.seconds < waited  # not the time that passed between records


def test_more_records_than_a_pipe_holds(simulation: Simulation, memory: MappedMemory, tmp_path: Path) -> None:
    live = LiveJob(simulation, tmp_path, memory, "ideal")
    for n in range(20_000):
        live.write(SOURCE, n)
    assert live.read(SOURCE) == 19_999
    assert live.close().script == 20_002


def test_nothing_is_started_and_a_status_is_polled(executable: Path, memory: MappedMemory, tmp_path: Path) -> None:
    """The watchdog ends it, and who waits for the answer is told."""
    with Simulation(executable, tmp_path / "simulation", seed=5) as simulation:
        live = LiveJob(simulation, tmp_path, memory, "ideal")
        live.poll(STATUS, 1, 1)
        with pytest.raises(SimulationError, match="hang: nothing moved for 200000 cycles at script record 0"):
            live.read(STATUS)
        with pytest.raises(SimulationError, match="hang"):
            live.close()


def test_abandoned(executable: Path, memory: MappedMemory, tmp_path: Path) -> None:
    with Simulation(executable, tmp_path / "simulation", seed=5) as simulation:
        live = LiveJob(simulation, tmp_path, memory, "ideal")
        live.deadline = time.monotonic() + 0.5
        with pytest.raises(SimulationError, match="did not answer in time"):
            live.answer()  # nothing was asked
        before = time.monotonic()
        live.abandon()
        live.abandon()
        assert time.monotonic() - before < 5
        with pytest.raises(ProcessLookupError):
            os.kill(simulation.pid, 0)


def test_the_writer_goes(simulation: Simulation, place: Workplace, tmp_path: Path) -> None:
    """A pipe that is closed without END is an error of the job, in the middle of a record too."""
    pipe = tmp_path / "script"
    os.mkfifo(pipe)
    job = replace(place.job(JobScript()), script=pipe)

    def write() -> None:
        with pipe.open("wb") as f:
            f.write(np.array([3, DESC, 0, 0, 3, PENDING], "<u4").tobytes())

    thread = threading.Thread(target=write)
    thread.start()
    with pytest.raises(SimulationError, match="the script's writer has gone without an END record"):
        simulation.run(job)
    thread.join()
