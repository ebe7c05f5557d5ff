"""The timed memory by itself: what it takes for hits and misses, streams, refresh, and the limits on activations.

Expected figures are computed here from the datasheet values of the device file, or are those that Shuhai measured on a card
(Wang et al., FCCM 2020), at Shuhai's clocks: 450 MHz at an HBM port, 300 MHz at DDR4.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.isa.registry import find_device
from fleet.sdk import rtl_models
from fleet.sdk.dram import BEAT_BYTES, dram, timing_keys
from fleet.sdk.dram_port import TimedPort

_, DEVICE = find_device("hbm0923")
NO_REFRESH = {"hbm.t_refi": 10**9, "ddr.t_refi": 10**9}
HBM_ROW, DDR_ROW = 1 << 14, 1 << 17  # bytes from a row of a bank to its next
HBM_BANKS = [group << 13 | bank << 11 | low << 5 for bank in range(4) for group in range(2) for low in range(2)]


class Answer(NamedTuple):
    accepted: int
    first: int
    last: int

    @property
    def latency(self) -> int:
        return self.first - self.accepted


class Played(NamedTuple):
    answers: list[Answer]
    hits: int
    closed: int
    misses: int
    refresh_cycles: int
    early: int  # cycles in which the port was ready for data that were not there

    def beats_a_cycle(self, beats: int) -> float:
        return beats / (max(a.last or a.first for a in self.answers) - self.answers[0].first + 1)


Play = Callable[..., Played]


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    program = tmp_path_factory.mktemp("timed") / "timed"
    memory = rtl_models() / "memory"
    sources = [Path(__file__).parent / "timed_main.cpp"]
    sources += [memory / f"{name}.cpp" for name in ("dram", "timed", "timing", "port", "mapped_file")]
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", f"-I{memory}"]
    subprocess.run([find_toolchain().compiler, *flags, *sources, "-o", program], check=True)

    def run(
        lines: Sequence[str], space: str = "hbm", port: int = 0, mhz: float = 280, seed: int = 1,
        keys: dict[str, int] | None = None, model: str = "timed",
    ) -> Played:  # fmt: skip
        known = timing_keys(dataclasses.replace(DEVICE, clock_mhz=mhz)) | {k: str(v) for k, v in (keys or {}).items()}
        memory = model if model == "ideal" else f"{model}:{seed}"
        head = [f"memory {memory}", f"geometry {space} {port}", *(f"key {k} {v}" for k, v in known.items())]
        text = "\n".join([*head, *lines, ""])
        done = subprocess.run([program], check=False, input=text, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        out = done.stdout.splitlines()
        answers = [Answer(*map(int, line.split()[2:])) for line in out[:-1]]
        return Played(answers, *map(int, out[-1].split()[1:]))

    return run


@pytest.mark.parametrize("kind", ["R", "W"])
@pytest.mark.parametrize("model", ["ideal", "fixed", "timed"])
def test_a_first_request_is_taken_at_once(play: Play, model: str, kind: str) -> None:
    assert [a.accepted for a in play([f"{kind} 0 0 1"], model=model).answers] == [0]


@pytest.mark.parametrize("kind", ["R", "W"])
def test_a_first_request_meets_stalls_like_any_other(play: Play, kind: str) -> None:
    """A silent port is open with probability 1/2, used before or not."""
    runs = [play([f"{kind} 0 0 1", f"{kind} 1000 0 1"], model="stall", seed=seed).answers for seed in range(60)]
    first, later = (sum(run[i].accepted == cycle for run in runs) for i, cycle in enumerate((0, 1000)))
    assert 20 <= first <= 40
    assert 20 <= later <= 40


def test_some_stalling_ports_wait_for_data(play: Play) -> None:
    """A design that offers data only to a port that is ready hangs at one that waits for them; so half of the ports must."""
    runs = [play(["W 0 0 1 3000"], model="stall", seed=seed, port=port) for seed in range(12) for port in range(2)]
    assert all(run.answers[0].first > 3000 for run in runs)
    assert 4 <= sum(run.early == 0 for run in runs) <= 20


def _stream(bursts: int, bytes_: int, kind: str = "R", beats: int = 16) -> list[str]:
    return [f"{kind} 0 {i * bytes_} {beats}" for i in range(bursts)]


def test_hbm_latencies_are_those_measured_on_a_card(play: Play) -> None:
    p = play(["R 0 0 1", "R 1000 64 1", f"R 2000 {HBM_ROW} 1"], mhz=450, keys=NO_REFRESH)
    measured = [a.latency / 0.45 for a in p.answers]
    assert measured == pytest.approx([122.2, 106.7, 137.8], abs=0.1)  # closed, hit, miss; ns
    assert (p.hits, p.closed, p.misses) == (1, 1, 1)


def test_ddr_latencies(play: Play) -> None:
    p = play(["R 0 0 1", "R 1000 256 1", f"R 2000 {DDR_ROW} 1"], "ddr", mhz=300, keys=NO_REFRESH)
    closed, hit, miss = (a.latency / 0.3 for a in p.answers)
    assert hit == pytest.approx(73.3, abs=0.1)
    assert closed - hit == pytest.approx(16 / 1.2, abs=0.1)
    assert miss - closed == pytest.approx(16 / 1.2, abs=0.1)
    assert (closed, miss) == pytest.approx((89.9, 106.6), rel=0.07)


def test_hbm_streams_at_the_measured_share(play: Play) -> None:
    """425 of 460.8 GB/s when the reader's clock is no limit; all of it without refresh."""
    assert play(_stream(8000, 512), mhz=450).beats_a_cycle(8000 * 16) == pytest.approx(425 / 460.8, rel=0.01)
    assert play(_stream(8000, 512), mhz=450, keys=NO_REFRESH).beats_a_cycle(8000 * 16) > 0.9995


def test_ddr_streams_but_for_refresh(play: Play) -> None:
    share = 19.2 / (0.35 * 64)  # of a beat a cycle at 350 MHz
    busy = 1 - (350 + 2 * 16 / 1.2) / 7800
    assert play(_stream(4000, 1024), "ddr", mhz=350).beats_a_cycle(64000) == pytest.approx(share * busy, rel=0.01)
    assert play(_stream(4000, 1024), "ddr", mhz=350, keys=NO_REFRESH).beats_a_cycle(64000) == pytest.approx(share, rel=0.002)
    writes = play(_stream(20000, 64, "W", 1), "ddr", mhz=350, keys=NO_REFRESH)
    assert writes.beats_a_cycle(20000) == pytest.approx(share, rel=0.01)


def test_the_core_takes_a_beat_a_cycle_and_the_return_buffer_hides_little(play: Play) -> None:
    """At 280 MHz the port is 1.6 times as fast; a refresh costs what the return buffer does not hold."""
    assert play(_stream(4000, 512), keys=NO_REFRESH).beats_a_cycle(64000) > 0.999
    lost = 0.28 * (260 + 2 * 14 / 0.9)  # cycles a refresh; their beats but those of the buffer are gone
    small = play(_stream(8000, 512), keys={"hbm.return_beats": 16}).beats_a_cycle(128000)
    assert small == pytest.approx(1 - (lost - 16) / (0.28 * 3900), abs=0.006)
    assert play(_stream(8000, 512), keys={"hbm.return_beats": 128}).beats_a_cycle(128000) > 0.998


def test_a_refresh_blocks_all_banks_and_closes_their_rows(play: Play) -> None:
    """One read every 10 cycles, always the same row: but for those that meet a refresh all take the same time."""
    gap, count = 10, 2200
    p = play([f"R {gap * i} 64 1" for i in range(count)], mhz=900, keys={"hbm.queue_bursts": 64})
    latencies = [a.latency for a in p.answers]
    hit = min(latencies)
    assert hit == 80 + 14 + 2
    late = [i for i, x in enumerate(latencies) if x > hit + 14]
    starts = [i for i in late if i - 1 not in late]
    assert starts, "no refresh in 22,000 cycles"
    assert {round((b - a) * gap / 10) * 10 for a, b in itertools.pairwise(starts)} <= {3500, 3510, 3520}
    whole = 234 + 14 + 14  # all of it, with precharge and reopening
    for i in starts:
        assert whole - 2 * gap <= latencies[i] - hit <= whole + 14
    assert p.closed == len(starts) + 1
    assert p.refresh_cycles == sum(latencies[i] - hit for i in starts)


def test_ports_and_seeds_refresh_at_different_times(play: Play) -> None:
    def phase(port: int, seed: int) -> int:
        p = play([f"R {10 * i} 64 1" for i in range(380)], mhz=900, port=port, seed=seed, keys={"hbm.queue_bursts": 64})
        return max(range(30, 380), key=lambda i: p.answers[i].latency)

    phases = sorted(phase(port, 1) for port in range(32))
    assert len(set(phases)) > 24
    assert phases[0] < 100
    assert phases[-1] > 280
    assert max(b - a for a, b in itertools.pairwise(phases)) < 100
    assert len({phase(0, seed) for seed in range(8)}) > 5
    assert phase(3, 9) == phase(3, 9)


def test_activations_are_limited_by_faw(play: Play) -> None:
    """Every beat another bank and row: four activations in t_faw = 30 clocks."""
    n = 1600
    reads = [f"R 0 {HBM_BANKS[i % 16] + HBM_ROW * (i // 16)} 1" for i in range(n)]
    p = play(reads, mhz=900, keys=NO_REFRESH | {"hbm.queue_bursts": 16})
    assert p.misses + p.closed == n
    assert n / p.beats_a_cycle(n) == pytest.approx(30 / 4 * n, rel=0.01)
    # Without that limit, t_rrd_s = 4 clocks between bank groups and 6 within one.
    free = NO_REFRESH | {"hbm.queue_bursts": 16, "hbm.t_faw": 1}
    assert 1 / play(reads, mhz=900, keys=free).beats_a_cycle(n) == pytest.approx(4, rel=0.02)
    one_group = [f"R 0 {(i % 4 << 11) + HBM_ROW * (i // 4)} 1" for i in range(n)]
    slow = play(one_group, mhz=900, keys=NO_REFRESH | {"hbm.queue_bursts": 16, "hbm.t_faw": 1})
    assert 1 / slow.beats_a_cycle(n) == pytest.approx((34 + 14) / 4, rel=0.02)  # four banks, each t_ras + t_rp a turn


def test_rows_of_one_bank_follow_each_other_after_t_ras_and_t_rp(play: Play) -> None:
    n = 500
    p = play([f"R 0 {HBM_ROW * i} 1" for i in range(n)], mhz=900, keys=NO_REFRESH)
    assert (p.hits, p.closed, p.misses) == (0, 1, n - 1)
    assert 1 / p.beats_a_cycle(n) == pytest.approx(34 + 14, rel=0.01)


def test_rows_open_ahead_within_the_queue(play: Play) -> None:
    """Rows of a stream open while the bursts before are read; a controller that sees one burst at a time pays for each."""
    lines = [f"R 0 {HBM_BANKS[i % 16] + HBM_ROW * (i // 16)} 1" for i in range(400)]
    ahead, blind = (play(lines, mhz=900, keys=NO_REFRESH | {"hbm.queue_bursts": q}).beats_a_cycle(400) for q in (16, 1))
    assert blind < 0.6 * ahead


def test_reads_after_writes_turn_the_bus(play: Play) -> None:
    """DDR: the read waits for the write's data, t_wtr_l in the same bank group, t_wtr_s in another one."""
    for address, wtr in ((256, 9), (64, 3)):
        p = play(["R 0 0 1", f"R 0 {64} 1", "W 2000 0 1", f"R 2006 {address} 1"], "ddr", mhz=1200, keys=NO_REFRESH)
        write, read = p.answers[2], p.answers[3]
        data_end = write.accepted + 1 + 68 + 16 + 4  # the data come a cycle after the address
        assert read.first == data_end + wtr + 16 + 4


def test_full_buffers_stop_the_port(play: Play) -> None:
    p = play(["hold 0 5000", *_stream(4, 512)], keys=NO_REFRESH)
    assert p.answers[0].first == 5001
    assert p.answers[-1].last == 5001 + 63, "16 beats wait in the buffer and the banks follow at once"
    writes = play([f"W 0 {HBM_ROW * i} 1" for i in range(200)], mhz=900, keys=NO_REFRESH)
    first_full = 32 * 2
    assert writes.answers[150].accepted - writes.answers[50].accepted > 100 * 40 > first_full, "as slow as their banks"


def test_keys_are_checked(play: Play) -> None:
    for name, value, message in (
        ("hbm.cl", "x", "unsigned number"),
        ("hbm.map", "R4 Q2", "highest first"),
        ("hbm.burst", "0", "above 0"),
    ):
        with pytest.raises(AssertionError, match=message):
            play(["R 0 0 1"], keys={name: value})


def _phase(seed: int, port: int, clocks: int) -> int:
    """SplitMix64 as rtl_models/memory/timing.cpp draws the first refresh."""
    mask = (1 << 64) - 1
    z = (seed + 0x51ED270B * (port + 1) + 0x9E3779B97F4A7C15) & mask
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    return (z ^ (z >> 31)) % clocks


def _play_in_python(space: str, requests: list[tuple[str, int, int, int]]) -> list[tuple[int, int, int]]:
    """What timed_main.cpp does, around the cost models' port: (accepted, first, last) of every request."""
    timing = dram(DEVICE, space)
    port = TimedPort(timing, space, DEVICE.clock_mhz, _phase(1, 0, timing.t_refi))
    found = {i: [0, 0, 0] for i in range(len(requests))}
    reads = [i for i, r in enumerate(requests) if r[0] == "R"]
    writes = [i for i, r in enumerate(requests) if r[0] == "W"]
    ends = list(itertools.accumulate(requests[i][3] for i in reads))  # beats up to and with a read
    asked = addressed = written = answered = beats = under_way = 0
    due: list[int] = []
    ready = False  # of the slave, as the master sees it
    cycle = 0
    while beats < ends[-1] or answered < len(writes):
        assert cycle < 100_000
        port.serve(cycle)
        if cycle > 0 and asked < len(reads) and requests[reads[asked]][1] <= cycle and under_way < 64:
            i = reads[asked]
            found[i][0] = cycle
            port.read(cycle, requests[i][2], requests[i][3])
            asked += 1
            under_way += 1
        if ready:
            due.append(port.write(cycle, requests[writes[written]][2]))
            written += 1
        if cycle > 0 and addressed < len(writes) and requests[writes[addressed]][1] <= cycle and addressed - written < 16:
            found[writes[addressed]][0] = cycle
            addressed += 1
        if port.beat(cycle):
            i = reads[bisect.bisect_right(ends, beats)]
            found[i][1] = found[i][1] or cycle + 1
            found[i][2] = cycle + 1
            beats += 1
            under_way -= beats in ends
        if answered < len(due) and due[answered] <= cycle + 1:
            found[writes[answered]][1] = cycle + 1
            answered += 1
        ready = addressed > written and port.accepts()
        cycle += 1
    return [(a, b, c) for a, b, c in found.values()]


@pytest.mark.parametrize("space", ["hbm", "ddr"])
@pytest.mark.parametrize("seed", range(6))
def test_the_port_of_the_cost_models_answers_in_the_same_cycles(play: Play, space: str, seed: int) -> None:
    """Streams, single beats all over the banks, and writes between them, through several refreshes."""
    rng = random.Random(seed)
    width, row = BEAT_BYTES[space], HBM_ROW if space == "hbm" else DDR_ROW
    requests: list[tuple[str, int, int, int]] = []
    cycle = 1
    for _ in range(220):
        cycle += rng.choice([0, 1, 1, 3, 20, 60])
        kind = "W" if rng.random() < 0.35 else "R"
        beats = 1 if kind == "W" else rng.choice([1, 1, 4, 16])
        at = width * rng.choice([rng.randrange(64), rng.randrange(1 << 14)]) + rng.randrange(3) * row
        requests.append((kind, cycle, at - at % (16 * width) if beats > 1 else at, beats))
    played = play([f"{k} {c} {a} {n}" for k, c, a, n in requests], space)
    assert _play_in_python(space, requests) == [tuple(a) for a in played.answers]
