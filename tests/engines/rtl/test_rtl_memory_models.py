"""All memory models give the same bytes and digests, and the digests are those of fleet.isa.digest."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from loopback import DESC, HASH, Workplace, copy, loopback

from fleet.engines.rtl_sim.build import Flavour, build
from fleet.engines.rtl_sim.job import Job, JobScript
from fleet.engines.rtl_sim.process import Simulation, SimulationError
from fleet.engines.rtl_sim.records import CommitRecord, read_records
from fleet.isa.digest import DDR, HBM_PORT_0, digest
from fleet.isa.registry import find_device
from fleet.sdk.dram import timing_keys

MODELS = ["ideal", "fixed:1", "fixed:37", "stall:0", "stall:1", "stall:123456789012345", "timed:0", "timed:5"]
TIMING = timing_keys(find_device("hbm_small")[1])
CALM = {"clock_khz": "280000", "t_refi": "1000000"}  # clocks are cycles of the core, and no refresh is in the way


def _script() -> JobScript:
    script = JobScript()
    copy(script, 0x0000, 0x8_0000, 200)
    copy(script, 0x1000, 0x9_0000, 37, mode=1, port=1)
    copy(script, 0x2000, 0x0_4000, 64, mode=2, port=0)
    script.read(DESC)
    return script


@pytest.mark.parametrize("model", MODELS)
def test_same_bytes_and_digests(simulation: Simulation, place: Workplace, model: str) -> None:
    out = place.run(simulation, _script(), memory=model, timing=TIMING if "timed" in model else {})
    expected, hbm = place.ddr.copy(), place.hbm[0].copy()
    expected[0x8_0000 : 0x8_0000 + 200 * 64] = place.ddr[: 200 * 64]
    expected[0x9_0000 : 0x9_0000 + 37 * 64] = place.hbm[1][0x1000 : 0x1000 + 37 * 64]
    hbm[0x4000 : 0x4000 + 64 * 64] = place.ddr[0x2000 : 0x2000 + 64 * 64]
    np.testing.assert_array_equal(out.ddr, expected)
    np.testing.assert_array_equal(out.hbm[0], hbm)
    np.testing.assert_array_equal(out.hbm[1], place.hbm[1])
    assert [r.digest for r in out.records] == [
        digest(DDR, 0x8_0000, place.ddr[: 200 * 64]),
        digest(DDR, 0x9_0000, place.hbm[1][0x1000 : 0x1000 + 37 * 64]),
        digest(HBM_PORT_0, 0x4000, place.ddr[0x2000 : 0x2000 + 64 * 64]),
    ]
    assert [r.bytes_written for r in out.records] == [200 * 64, 37 * 64, 64 * 64]
    words = place.ddr.view(np.uint32)
    assert out.results[0] == out.records[0].result == int(words[: 200 * 16 : 16].sum(dtype=np.uint32))
    assert out.results[-1] == HASH
    traffic = out.status.traffic
    assert traffic["ddr.read_bytes"] == 264 * 64
    assert traffic["ddr.write_bytes"] == 237 * 64
    assert traffic["hbm.1.read_bytes"] == 37 * 64
    assert traffic["hbm.0.write_bytes"] == 64 * 64
    rows = [sum(traffic.get(f"{space}.row_{what}", 0) for what in ("hits", "closed", "misses")) for space in ("ddr", "hbm.1")]
    # Writes whose answer has come may still wait in the controller when the job ends.
    assert (264 + 237 - 64 <= rows[0] <= 264 + 237 and rows[1] == 2 * 37) if "timed" in model else rows == [0, 0]


def test_cycles_belong_to_classes_and_to_the_clock(simulation: Simulation, place: Workplace) -> None:
    out = place.run(simulation, _script(), memory="stall:3")
    for record in out.records:
        assert sum(record.cycles.values()) == record.end - record.start > 0
    assert [r.end for r in out.records] == sorted(r.end for r in out.records)
    assert out.records[-1].end < out.status.cycles


@pytest.mark.parametrize("main", ["burst", "plain"])
@pytest.mark.parametrize("model", ["ideal", "fixed:9", "timed:0"])
def test_the_first_request_takes_as_long_as_later_ones(simulation: Simulation, place: Workplace, model: str, main: Flavour) -> None:
    script = JobScript()
    for bank in range(3):  # banks that nobody has opened yet: those of DDR, their groups, those of a port
        ddr, hbm = 0x8000 * bank, 0x800 * bank
        copy(script, ddr, ddr + 0x40, 1)
        copy(script, hbm, ddr + 0x80, 1, mode=1, port=1)
        copy(script, ddr + 0xC0, hbm, 1, mode=2, port=0)
    timing = TIMING | {f"{space}.{key}": value for space in ("ddr", "hbm") for key, value in CALM.items()}
    records = _played(simulation, place.job(script, memory=model, timing=timing), main)
    cycles = [r.end - r.start for r in records]
    assert cycles[:3] == cycles[3:6] == cycles[6:], "DDR, one HBM port to DDR, DDR to the other"


def _played(simulation: Simulation, job: Job, main: Flavour) -> list[CommitRecord]:
    """The job's commits, played by one of the two mains."""
    if main == "burst":
        simulation.run(job)
    else:
        file = job.status.with_name("job")
        job.save(file)
        subprocess.run([build(loopback(), main), file], check=True, capture_output=True)
    return read_records(job.trace)


def test_cycle_counts_are_a_function_of_the_seed(simulation: Simulation, place: Workplace) -> None:
    first, again, other = (place.run(simulation, _script(), memory=f"stall:{seed}") for seed in (11, 11, 12))
    assert [r.end for r in first.records] == [r.end for r in again.records]
    assert first.status.cycles == again.status.cycles
    assert first.status.cycles != other.status.cycles
    ideal, fixed = (place.run(simulation, _script(), memory=m) for m in ("ideal", "fixed:20"))
    assert ideal.status.cycles < fixed.status.cycles
    ends = [[r.end for r in place.run(simulation, _script(), memory=f"timed:{s}", timing=TIMING).records] for s in (*range(16), 3)]
    assert ends[3] == ends[-1]
    assert len({tuple(e) for e in ends}) > 3
    assert min(e[-1] for e in ends) > ideal.records[-1].end


@pytest.mark.parametrize("model", ["ideal", "stall:4", "timed:4"])
def test_strobes(simulation: Simulation, place: Workplace, model: str) -> None:
    strobe = 0x8000_0000_0F0F_00F1
    script = JobScript()
    copy(script, 0, 0x8_0000, 3, strobe=strobe)
    copy(script, 0, 0x4000, 2, mode=2, port=1, strobe=strobe)
    out = place.run(simulation, script, memory=model, timing=TIMING)
    lanes = np.array([i for i in range(64) if strobe >> i & 1])
    total, hbm_total = 0, 0
    expected = place.ddr.copy()
    for beat in range(3):
        for lane in lanes:
            expected[0x8_0000 + beat * 64 + lane] = place.ddr[beat * 64 + lane]
            total += digest(DDR, 0x8_0000 + beat * 64 + int(lane), place.ddr[[beat * 64 + lane]])
            if beat < 2:
                hbm_total += digest(HBM_PORT_0 + 1, 0x4000 + beat * 64 + int(lane), place.ddr[[beat * 64 + lane]])
    np.testing.assert_array_equal(out.ddr, expected)
    assert [(r.digest, r.bytes_written) for r in out.records] == [
        (total % 2**64, 3 * len(lanes)),
        (hbm_total % 2**64, 2 * len(lanes)),
    ]


def test_out_of_range_is_an_error_response(simulation: Simulation, place: Workplace) -> None:
    script = JobScript()
    copy(script, 0, 1 << 20, 4)  # write behind the end of DDR
    copy(script, 1 << 20, 0x8_0000, 4)  # read behind it
    copy(script, 0, 1 << 18, 4, mode=2)  # write behind the end of an HBM image
    out = place.run(simulation, script)
    assert [r.error for r in out.records] == [6, 6, 6]
    assert [r.bytes_written for r in out.records] == [0, 4 * 64, 0]
    assert out.status.refusal.startswith("ddr answered the write at 0x100000 with SLVERR in cycle ")
    assert out.status.refusal.endswith(": the memory is at 0x0 to 0xfffff")


def test_a_port_without_an_image(simulation: Simulation, place: Workplace) -> None:
    script = JobScript()
    copy(script, 0, 0x8_0000, 4, mode=1, port=1)
    copy(script, 0, 0x0, 4, mode=2, port=1)
    job = place.job(script)
    out = place.run(simulation, script, hbm={0: job.hbm[0]})
    assert [r.error for r in out.records] == [0, 6], "reads give 0, writes are errors"
    assert not out.ddr[0x8_0000 : 0x8_0000 + 256].any()


@pytest.mark.parametrize("model", ["idle", "fixed", "fixed:0", "fixed:70000", "stall:", "stall:-1", "stall:x", "timed", "timed:x"])
def test_unknown_models_are_refused(simulation: Simulation, place: Workplace, model: str) -> None:
    with pytest.raises(SimulationError, match="expected ideal, fixed:<cycles 1 to 65535>, stall:<seed> or timed:<seed>"):
        place.run(simulation, _script(), memory=model)


def test_bursts_must_not_cross_4_kib(simulation: Simulation, place: Workplace) -> None:
    script = JobScript()
    copy(script, 0x40, 0x8_0000, 64)
    with pytest.raises(
        SimulationError, match=r"AXI violation on ddr in cycle \d+: read burst of 8 beats at 0xe40 crosses a 4 KiB boundary"
    ):
        place.run(simulation, script)


def test_timed_memory_needs_the_devices_figures(simulation: Simulation, place: Workplace) -> None:
    for keys, message in (
        ({}, "memory=timed needs the key 'timing.core_khz'"),
        ({k: v for k, v in TIMING.items() if k != "ddr.t_rcd"}, "needs the key 'timing.ddr.t_rcd'"),
        (TIMING | {"hbm.t_rp": "-1"}, "timing.hbm.t_rp needs an unsigned number, not '-1'"),
        (TIMING | {"hbm.t_refi": "100"}, "timing.hbm.t_refi leaves no time between refreshes"),
    ):
        with pytest.raises(SimulationError, match=message):
            place.run(simulation, _script(), memory="timed:1", timing=keys)
