"""trp_mvm, f2w_mvm and dat2hbm through the unit's ports: every byte of every memory against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from att_runner import F2W, TRP, Bench, Device

SMALL = Device(ports=8, fifo=32, max_token=512, queries=2)
LARGE = Device(ports=32, queries=4)
ONE = Device(ports=16, max_token=512)
NIGHTLY = pytest.mark.nightly  # the bench of 32 ports takes 60 s to build
DEVICES = pytest.mark.parametrize(
    "device", [SMALL, pytest.param(LARGE, marks=NIGHTLY), ONE], ids=["8 ports", "32 ports", "16 ports, a query at once"]
)
LENGTHS = (1, 15, 16, 17, 31, 32, 33, 100)
MEMORIES = ("ideal", "fixed:40", "stall:11", "stall:12")


@DEVICES
@pytest.mark.parametrize("memory", MEMORIES)
def test_products(device: Device, memory: str) -> None:
    bench = Bench(device, np.random.default_rng([MEMORIES.index(memory), device.ports]))
    kinds = ("normal", "wild", "sparse", "special")
    for mode in (TRP, F2W):
        for depth in (64, 128):
            for i, total in enumerate(LENGTHS):
                kv, ratio = ((1, 1), (2, 2), (3, 1), (1, 16), (2, 3))[(i + depth // 64) % 5]
                bench.mvm(mode, depth, total, (1, 3)[i % 2], kv, ratio, kinds[(i + mode) % 4])
        bench.mvm(mode, 128, 300, 2, 1, 2, "normal")
    bench.play(memory)


@pytest.mark.parametrize("kind", ["ends", "infinite", "top"])
def test_ends_of_the_window(kind: str) -> None:
    """Products of 2^32 that cancel but for 2^-48, infinities in every second row and more, sums in which nothing cancels."""
    bench = Bench(SMALL, np.random.default_rng(len(kind)))
    for mode in (TRP, F2W):
        for depth, total in ((64, 1), (64, 2), (64, 40), (128, 33), (64, 512)):
            for scale_bits in (0x3C00, 0x7BFF, 0x0001):
                bench.mvm(mode, depth, total, 1, 1, 2, kind, scale_bits=scale_bits)
    # Rows of one and two lanes too, where an infinity or the smallest product stands alone.
    for total in (1, 2, 3):
        bench.mvm(F2W, 128, total, 4, 2, 2, kind, scale_bits=0x7BFF)
    bench.play()


@pytest.mark.nightly  # a build of its own
@pytest.mark.parametrize("memory", ["ideal", "stall:13"])
def test_most_queries_at_once(memory: str) -> None:
    """Eight pairs a group: heads whose last group has one, some and all of them, and rows as short as they get."""
    bench = Bench(Device(ports=16, max_token=512, queries=8), np.random.default_rng(8))
    for mode in (TRP, F2W):
        for ratio, tokens in ((8, 1), (9, 1), (5, 3), (1, 8)):
            for total in (1, 16, 33, 200):
                bench.mvm(mode, 64, total, tokens, 2, ratio)
    bench.play(memory)


@DEVICES
@pytest.mark.parametrize("memory", MEMORIES)
def test_store(device: Device, memory: str) -> None:
    bench = Bench(device, np.random.default_rng([7, MEMORIES.index(memory)]))
    for keys in (1, 0):
        for depth in (64, 128):
            for last, tokens in ((0, 1), (0, 17), (5, 1), (31, 2), (15, 1), (16, 33), (100, 40), (7, 9)):
                bench.store(keys, depth, last, tokens, int(bench.rng.integers(1, 4)))
    bench.play(memory)


@NIGHTLY
def test_longest_rows() -> None:
    bench = Bench(LARGE, np.random.default_rng(5))
    for mode in (TRP, F2W):
        bench.mvm(mode, 128, 2048, 2, 2, 2)
        bench.mvm(mode, 64, 2047, 1, 1, 16)
    bench.store(1, 128, 2047, 1, 1)
    bench.store(0, 128, 2000, 48, 1)
    bench.play("stall:3")


@pytest.mark.parametrize("halves", [(0, None), (None, 1), (0, 1), (1, 0)])
def test_on_chip(halves: tuple[int | None, int | None]) -> None:
    bench = Bench(SMALL, np.random.default_rng(9))
    for mode in (TRP, F2W):
        bench.mvm(mode, 64, 77, 3, 2, 2, halves=halves)
    reports = bench.play("stall:4")
    for report in reports:
        assert [bool(h[0] >> 32) for h in (report.hulls[0], report.hulls[2])] == [h is not None for h in halves]


def test_scales() -> None:
    """Signed, subnormal, zero, infinite and NaN scales."""
    bench = Bench(SMALL, np.random.default_rng(10))
    for bits in (0x8001, 0x0000, 0x8000, 0x7C00, 0x7E01, 0xFBFF, 0x0400):
        bench.mvm(F2W, 64, 20, 1, 1, 1, "wild", scale_bits=bits)
    bench.play()


@pytest.mark.parametrize("interval", [2, pytest.param(3, marks=pytest.mark.nightly)])
def test_slower_steps_and_fp20(interval: int) -> None:
    bench = Bench(Device(ports=8, fifo=16, max_token=64, interval=interval, fp20=True), np.random.default_rng(interval))
    words = bench.mvm(TRP, 64, 50, 3, 1, 2, "wild", delays=(0, 0, 0))
    for bits in (1 << 19, 0x12345, 0x7FFFF, 0x80001, 0xFFFFF, 1 << 13):
        bench.mvm(F2W, 64, 33, 1, 1, 1, "normal", scale_bits=bits)
    first, *_ = bench.play()
    beats = 2 * 3 * 7 * words["depth"] // 16
    assert interval * beats <= first.cycles <= interval * beats + 60


def test_hulls() -> None:
    bench = Bench(SMALL, np.random.default_rng(12))
    expected = []
    for mode, total in ((TRP, 41), (F2W, 41)):
        w = bench.mvm(mode, 64, total, 3, 2, 2)
        groups = {"in": 2, "out": 2}
        hull = {
            k: (w[f"{k}_addr"], w[f"{k}_addr"] + (groups[k] - 1) * w[f"{k}_surface"] + 3 * w[f"{k}_line"] + 192) for k in groups
        }
        rows, row_bytes = (6, 128) if mode == TRP else (8, 96)
        wt = (w["wt_addr"], w["wt_addr"] + w["wt_head"] + (rows - 1) * w["wt_line"] + row_bytes)
        expected.append([hull["in"], wt, hull["out"], (0, 0)])
    for keys, rows, row_bytes in ((1, 3, 128), (0, 8, 64)):
        w = bench.store(keys, 64, 3, 15, 2)
        hull_in = (w["in_addr"], w["in_addr"] + w["in_surface"] + w["in_line"] + 15 * 64)
        wt = (w["out_addr"], w["out_addr"] + w["wt_head"] + (rows - 1) * w["wt_line"] + row_bytes)
        expected.append([hull_in, (0, 0), (0, 0), wt])
    assert [r.hulls for r in bench.play()] == expected


@NIGHTLY
def test_the_stream_never_stops() -> None:
    """With ideal memory an instruction takes a cycle a beat of each group of query heads, and a constant."""
    for mode in (TRP, F2W):
        for total, ratio in ((128, 8), (512, 8), (2048, 8), (512, 3), (512, 6)):
            bench = Bench(LARGE, np.random.default_rng(total))
            bench.mvm(mode, 128, total, 1, 2, ratio, dense=True, delays=(0, 0, 0))
            (report,) = bench.play()
            beats = 2 * -(-ratio // LARGE.queries) * total * 128 // 512
            rows_of_others = (LARGE.queries - 1) * (
                4 if mode == TRP else total // 32
            )  # pixels that come before the last query's first
            assert beats < report.cycles <= beats + 57 + rows_of_others, report
            assert sum(report.classes[1:]) <= 35 + rows_of_others


def test_bus_error() -> None:
    """A port that does not answer for what it should have: cause 6, and the next instruction is not harmed."""
    bench = Bench(SMALL, np.random.default_rng(3))
    bench.hbm_next = bench.hbm.shape[1] - 4096
    words = bench.mvm(F2W, 64, 64, 3, 1, 1)
    bench.ddr[:] = bench.ddr0
    bench.expect[-1] = (6, 2)
    bench.hbm_next = 0
    bench.mvm(TRP, 64, 64, 3, 1, 1)
    program = bench.play(short_hbm=4096 + 1024)
    assert words["wt_addr"] >= bench.hbm.shape[1] - 4096 - 96
    assert program[0].error == 6
    # dat2hbm's writes are refused; nothing is left over for the next one.
    bench = Bench(SMALL, np.random.default_rng(4))
    for keys in (0, 1):
        bench.hbm_next = bench.hbm.shape[1] - 8192
        before = bench.hbm.copy()
        bench.store(keys, 64, 3, 7, 1)
        bench.hbm = before
        bench.expect[-1] = (6, 0x30)
    bench.hbm_next = 0
    bench.store(0, 64, 9, 2, 2)
    bench.play("stall:1", short_hbm=8192 + 1024)


@NIGHTLY
@pytest.mark.parametrize("cycles", [5, 12, 19, 26, 33])
def test_nothing_gathered_outlives_an_error(cycles: int) -> None:
    """The error comes while tokens of the next beat are gathered; a later instruction must not write them."""
    bench = Bench(LARGE, np.random.default_rng(cycles))
    bench.hbm_next = bench.hbm.shape[1] - 4096
    before = bench.hbm.copy()
    bench.store(0, 64, 0, 64, 1)
    bench.hbm = before
    bench.expect[-1] = (6, 0x30)
    bench.hbm_next = 0
    bench.store(0, 64, 40, 1, 1)
    bench.play(f"fixed:{cycles}", short_hbm=4096 + 1024)


def test_waits_until_it_is_the_oldest() -> None:
    """Reads and computes early, writes late (the bench asserts that); the wait is dependency, not compute."""
    bench = Bench(SMALL, np.random.default_rng(6))
    for delays in ((0, 0, 900), (200, 0, 900), (0, 200, 900)):
        bench.mvm(TRP, 64, 70, 2, 1, 1, delays=delays)
        bench.mvm(F2W, 64, 40, 4, 1, 4, delays=delays)  # more pixels than the writer takes
        bench.store(1, 64, 4, 9, 2, delays=delays)
        bench.store(0, 64, 4, 9, 2, delays=delays)
    for report in bench.play():
        assert report.cycles > 900
        assert report.classes[5] > 500


def test_power_on_and_many_in_a_row() -> None:
    """Instructions of all kinds behind one another, each with other delays of the dispatcher."""
    bench = Bench(SMALL, np.random.default_rng(77))
    for _ in range(25):
        match int(bench.rng.integers(0, 3)):
            case 0:
                bench.store(int(bench.rng.integers(0, 2)), 64, int(bench.rng.integers(0, 40)), int(bench.rng.integers(1, 20)), 2)
            case kind:
                mode = TRP if kind == 1 else F2W
                bench.mvm(mode, 64, int(bench.rng.integers(1, 70)), int(bench.rng.integers(1, 4)), 1, 2)
    bench.play("stall:8")
