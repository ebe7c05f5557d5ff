"""Hangs, failed assertions, crashes and bad jobs: each a clear line, and the process serves the next job where it lives."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from pathlib import Path

import pytest
from loopback import CAUSE, DESC, ENABLE, HASH, PENDING, RESULT, START, STATUS, Workplace, copy

from fleet.core.scratch import Scratch
from fleet.engines.rtl_sim.job import JobScript
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.rtl_sim.records import read_records

FOREVER, NO_READY, ASSERTION, NO_COMMIT, REFUSE = 0x10, 0x20, 0x30, 0x40, 0x50


def _fault(mode: int) -> JobScript:
    script = JobScript()
    copy(script, 0, 0x8_0000, 4)
    copy(script, 0, 0x9_0000, 20, mode=mode)
    return script


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (FOREVER, "no memory transaction is outstanding"),
        (NO_READY, "ddr: 2 reads queued, first 0x0, rvalid waits for rready"),
    ],
)
def test_a_hang_says_where(simulation: Simulation, place: Workplace, mode: int, expected: str) -> None:
    job = place.job(_fault(mode), quiet_cycles=2000)
    with pytest.raises(SimulationError) as caught:
        simulation.run(job)
    place_and_time = r"nothing moved for 2000 cycles at script record 21 \(WAIT_IRQ\), cycle \d+, 1 commits; "
    assert re.search(place_and_time + re.escape(expected), str(caught.value))
    assert len(read_records(job.trace)) == 1, "what was committed before the hang stands in the trace"
    place.run(simulation, _fault(0))


def test_limits_of_the_job_and_of_one_wait(simulation: Simulation, place: Workplace) -> None:
    with pytest.raises(SimulationError, match="the limit of 300 cycles is reached"):
        place.run(simulation, _fault(FOREVER), max_cycles=300)
    script = JobScript()
    script.write(ENABLE, 3)
    script.wait_irq(50)
    with pytest.raises(SimulationError, match=r"no interrupt within 50 cycles at script record 1 \(WAIT_IRQ\)"):
        place.run(simulation, script)


def test_a_poll_that_never_comes_true_is_a_hang(simulation: Simulation, place: Workplace) -> None:
    script = JobScript()
    script.poll(STATUS, 1, 1)
    with pytest.raises(SimulationError, match=r"nothing moved for 500 cycles at script record 0 \(POLL 0x4 for 0x1\)"):
        place.run(simulation, script, quiet_cycles=500)


def test_poll_waits(simulation: Simulation, place: Workplace) -> None:
    script = JobScript()
    script.write(0x10, 40)
    script.write(0x0C, 0x8_0000)
    script.write(START, 1)
    script.poll(STATUS, 1, 1)
    script.read(STATUS)
    out = place.run(simulation, script)
    assert out.results == [1]
    assert (out.ddr[0x8_0000 : 0x8_0000 + 40 * 64] == place.ddr[: 40 * 64]).all()


def _copies(*marked: bool) -> JobScript:
    """A copy for each; marked: whether its start write says that it starts an instruction."""
    script = JobScript()
    for name, value in ((ENABLE, 3), (0x0C, 0x8_0000), (0x10, 4)):
        script.write(name, value)
    for start in marked:
        script.write(START, 1, start=start)
        script.wait_irq()
        script.write(PENDING, 3)
    return script


@pytest.mark.parametrize(
    ("marked", "commit"), [((True, False), 1), ((True, True, False), 2), ((False, True, False), 2), ((True, False, True), 1)]
)
def test_a_commit_for_which_no_start_write_is_left(
    simulation: Simulation, place: Workplace, marked: tuple[bool, ...], commit: int
) -> None:
    """From the first mark on every commit has a start write of its own; the bench measures it, and not the design."""
    with pytest.raises(SimulationError) as caught:
        place.run(simulation, _copies(*marked))
    said = r"the classes of cycles sum to \d+, from start to commit the bench measured nothing: no start write is left "
    assert re.search(said + rf"\(commit {commit}, opcode 0x42\)", str(caught.value))
    place.run(simulation, _fault(0))


def test_start_writes_that_are_all_marked_or_none(simulation: Simulation, place: Workplace) -> None:
    measured, counted = (place.run(simulation, _copies(*[mark] * 3)).records for mark in (True, False))
    assert len(measured) == len(counted) == 3
    for m, c in zip(measured, counted, strict=True):
        assert (m.end, m.cycles) == (c.end, c.cycles)
        assert c.end - c.start == sum(c.cycles.values())
        assert 0 <= m.end - m.start - sum(m.cycles.values()) <= 16, "the bench's own clock"


def test_a_failed_assertion_names_its_place_and_the_process_lives(simulation: Simulation, place: Workplace) -> None:
    with pytest.raises(SimulationError, match=r"an assertion of the design failed at src/loopback_top.sv:\d+"):
        place.run(simulation, _fault(ASSERTION))
    assert "the fault that the test asked for" in simulation.log.read_text()
    place.run(simulation, _fault(0))


def test_a_refused_instruction_commits_its_error(simulation: Simulation, place: Workplace) -> None:
    script = _fault(REFUSE)
    script.read(CAUSE)
    out = place.run(simulation, script)
    assert [(r.error, r.bytes_written, r.digest) for r in out.records[1:]] == [(7, 0, 0)]
    assert out.results[-1] == 7


def test_a_commit_that_never_came_is_seen(simulation: Simulation, place: Workplace) -> None:
    out = place.run(simulation, _fault(NO_COMMIT))
    assert len(out.records) == 1, "the bench records commits only; the engine compares their number with its calls"


def test_jobs_do_not_leak_into_each_other(simulation: Simulation, place: Workplace) -> None:
    script = JobScript()
    script.read(RESULT)
    script.read(ENABLE)
    script.read(PENDING)
    script.read(DESC)
    place.run(simulation, _fault(0))
    out = place.run(simulation, script)
    assert out.results == [0, 0, 0, HASH]
    assert out.records == []
    assert out.status.commits == 0


def test_many_commits_grow_the_trace(simulation: Simulation, place: Workplace) -> None:
    script = JobScript()
    for _ in range(1500):  # more than one chunk of the trace file
        script.write(0x10, 1)
        script.write(0x0C, 0x8_0000)
        script.write(ENABLE, 3)
        script.write(START, 1, start=True)
        script.wait_irq()
        script.write(PENDING, 3)
    out = place.run(simulation, script)
    assert len(out.records) == 1500 == out.status.commits
    assert len({r.digest for r in out.records}) == 1


def test_bad_jobs(simulation: Simulation, place: Workplace) -> None:
    script = _fault(0)
    job = place.job(script)
    job.ddr.write_bytes(b"x" * 100)
    with pytest.raises(SimulationError, match="an image of ddr has a positive multiple of 64 bytes up to 8589934592, this one 100"):
        simulation.run(job)
    job = place.job(script)
    job.ddr.unlink()
    with pytest.raises(SimulationError, match=r"ddr.bin: cannot open the file: No such file or directory"):
        simulation.run(job)
    job = place.job(script)
    job.script.write_bytes(job.script.read_bytes()[:-16])
    with pytest.raises(SimulationError, match="the script ends without an END record"):
        simulation.run(job)
    job = place.job(script)
    job.script.write_bytes(b"\x09" + bytes(15))
    with pytest.raises(SimulationError, match="op 9, address 0x0 is no operation"):
        simulation.run(job)
    job = place.job(script)
    job.script.write_bytes(b"\0" * 17)
    with pytest.raises(SimulationError, match="positive multiple of 16 bytes"):
        simulation.run(job)
    with pytest.raises(SimulationError, match="the design has 2 HBM ports"):
        place.run(simulation, script, hbm={7: job.ddr})
    place.run(simulation, script)


def test_waves_need_an_executable_with_waves(simulation: Simulation, place: Workplace, tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match="built without waves"):
        place.run(simulation, _fault(0), waves=tmp_path / "w.fst")


def test_a_crash_leaves_the_commits_and_a_clear_line(executable: Path, place: Workplace, tmp_path: Path) -> None:
    simulation = Simulation(executable, tmp_path / "crash")
    job = place.job(_fault(FOREVER), quiet_cycles=1 << 40, max_cycles=1 << 40)

    def kill() -> None:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (job.trace.exists() and read_records(job.trace)):
            time.sleep(0.01)
        os.kill(simulation.pid, signal.SIGSEGV)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(SimulationError, match=r"the simulation crashed \(SIGSEGV\)"):
        simulation.run(job)
    killer.join()
    assert job.trace.stat().st_size > 64, "the room of the trace file was not cut off"
    assert [r.opcode for r in read_records(job.trace)] == [0x42]
    with pytest.raises(SimulationError, match="the simulation has ended"):
        simulation.run(job)
    simulation.close()


def _log_named_by(error: SimulationError) -> str:
    assert error.where is not None
    return Path(error.where).read_text(encoding="utf-8")


def test_the_log_of_a_failure_outlives_the_simulations_folder(
    executable: Path, place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash between two jobs, a hang, and a job after the end: each error names a log that is still there."""
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))
    with Scratch("test") as folder:
        simulation = Simulation(executable, folder / "crash")
        os.kill(simulation.pid, signal.SIGSEGV)
        with pytest.raises(SimulationError, match=r"the simulation crashed \(SIGSEGV\)") as crash:
            simulation.run(place.job(_fault(0)))
        with pytest.raises(SimulationError, match="the simulation has ended") as ended:
            simulation.run(place.job(_fault(0)))
        with Simulation(executable, folder / "hang") as simulation, pytest.raises(SimulationError, match="hang") as hang:
            simulation.run(place.job(_fault(FOREVER), quiet_cycles=1000))
    assert not folder.exists()
    assert "# simulation.log" in _log_named_by(crash.value)
    assert "# simulation.log" in _log_named_by(ended.value)
    assert "quiet_cycles=1000" in _log_named_by(hang.value)


def test_close_ends_the_process_and_may_come_twice(executable: Path, tmp_path: Path) -> None:
    simulation = Simulation(executable, tmp_path)
    simulation.close()
    simulation.close()
    with pytest.raises(ProcessLookupError):
        os.kill(simulation.pid, 0)


def test_a_simulation_dies_with_its_parent(executable: Path, place: Workplace, tmp_path: Path) -> None:
    """The parent is killed in the middle of a burst, when nobody in the simulation listens to the pipe."""
    import subprocess
    import sys

    job = place.job(_fault(FOREVER), quiet_cycles=1 << 40, max_cycles=1 << 40)
    job.save(tmp_path / "job")
    code = (
        "import sys; from pathlib import Path; from fleet.engines.rtl_sim.process import Simulation\n"
        "from fleet.engines.rtl_sim.job import Job\n"
        "pairs = dict(l.split('=', 1) for l in Path(sys.argv[2]).read_text().splitlines())\n"
        "s = Simulation(Path(sys.argv[1]), Path(sys.argv[3]))\n"
        "print(s.pid, flush=True)\n"
        "s.run(Job(*(Path(pairs[k]) for k in ('ddr', 'script', 'results', 'trace', 'status')), "
        "quiet_cycles=1 << 40, max_cycles=1 << 40))\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, str(executable), str(tmp_path / "job"), str(tmp_path / "orphan")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (job.trace.exists() and read_records(job.trace)):
        time.sleep(0.01)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the simulation lived on without its parent")
