"""What docs/arithmetic.md refuses, with which cause: each operand alone made wrong. Nothing is written (the runner looks)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from att_runner import DAT, F2W, TRP, Bench, Device

SMALL = Device(ports=8, fifo=32, max_token=512)
MODE, SIZE, ALIGN, RANGE, FIELD = 1, 2, 3, 4, 7
DDR, HBM, HALF = 16 << 20, 1 << 20, 2048 * 64
Words = dict[str, int]
Change = Callable[[Words], Words]


def put(**values: int) -> Change:
    return lambda w: {**w, **values}


def more(**values: int) -> Change:
    return lambda w: {**w, **{k: w[k] + v for k, v in values.items()}}


# 64 channels, T = 40, 3 tokens, 2 K/V heads, ratio 2; rows: 5 of 128 bytes (K), 8 of 96 bytes (V)
BOTH: list[tuple[Change, int]] = [
    (put(depth=32), FIELD), (put(depth=96), FIELD), (put(depth=256), FIELD), (put(depth=0), FIELD),
    (more(scale=1 << 16), FIELD), (more(scale=-(1 << 18)), FIELD), (put(onchip=4), FIELD), (put(onchip=1 << 31), FIELD),
    (put(total=0), SIZE), (put(total=513), SIZE), (put(total=(1 << 16) + 40), SIZE), (put(total=0xFFFFFFFF), SIZE),
    (put(tokens=0), SIZE), (put(tokens=513), SIZE), (put(tokens=(1 << 26) + 3), SIZE),
    (put(heads=1 << 16 | 4 << 8), SIZE), (put(heads=1 << 16 | 2), SIZE), (put(heads=1 << 16 | 5 << 8 | 2), SIZE),
    (put(heads=4 << 8 | 2), SIZE), (put(heads=0x1FFFF << 16 & 0xFFFFFFFF | 4 << 8 | 2), SIZE),
    (put(heads=1 << 16 | 2 << 8 | 2), SIZE),
    (put(in_surface=128), SIZE), (put(in_line=128), SIZE), (put(out_surface=128), SIZE), (put(out_line=128), SIZE),
    (put(in_surface=0), SIZE), (put(wt_line=64), SIZE),
    (more(in_addr=32), ALIGN), (more(in_surface=32), ALIGN), (more(in_line=1), ALIGN), (more(out_addr=2), ALIGN),
    (more(out_surface=16, out_line=1024), ALIGN), (put(out_surface=256, out_line=320), SIZE),
    (more(out_line=8200), ALIGN), (more(wt_addr=16), ALIGN), (more(wt_head=1), ALIGN),
    (more(wt_line=8, wt_head=4096), ALIGN),
    (put(in_addr=DDR), RANGE), (put(in_addr=0xFFFFFFC0), RANGE), (put(out_addr=0xFFFFFFC0), RANGE), (put(out_addr=DDR - 64), RANGE),
    (put(in_surface=0xFFFFFFC0), RANGE), (put(out_line=0x80000000), RANGE), (put(in_line=0xFFFFFFC0), RANGE),
    (put(wt_addr=HBM), RANGE), (put(wt_addr=0xFFFFFFE0), RANGE), (put(wt_head=HBM), RANGE), (put(wt_head=0xFFFFFFE0), RANGE),
    (lambda w: {**w, "out_addr": w["in_addr"]}, RANGE),
    (put(onchip=1, in_addr=2 * HALF), RANGE), (put(onchip=2, out_addr=2 * HALF - 64), RANGE),
    (put(onchip=1, in_addr=HALF - 64), RANGE),
    (put(onchip=3, in_addr=0, out_addr=HALF // 2), RANGE), (put(onchip=3, in_addr=HALF, out_addr=HALF + HALF // 2), RANGE),
    # the higher cause counts
    (lambda w: {**w, "depth": 65, "total": 0, "in_addr": 1}, FIELD), (lambda w: {**w, "total": 0, "in_addr": DDR + 1}, SIZE),
    (lambda w: {**w, "in_addr": DDR + 1}, ALIGN),
]  # fmt: skip

STORE: list[tuple[Change, int]] = [
    (put(zero194=1), FIELD), (put(zero207=1), FIELD), (put(zero208=1), FIELD), (put(bank_step=27), FIELD), (put(trp=2), FIELD),
    (put(surfaces=1), FIELD), (put(surfaces=0), FIELD), (put(surfaces=3), FIELD), (put(surfaces=1 << 16 | 2), FIELD),
    (put(surfaces=1 << 27 | 2), FIELD),
    (put(tokens=0), SIZE), (put(last=512), SIZE), (put(last=510), SIZE), (put(last=0xFFFFFFFE), SIZE), (put(heads=0), SIZE),
    (put(heads=256), SIZE), (put(in_surface=128), SIZE), (put(in_line=128), SIZE), (put(wt_line=32), SIZE),
    (put(wt_head=256), SIZE),
    (more(in_addr=32), ALIGN), (more(in_surface=32), ALIGN), (more(in_line=32), ALIGN), (more(out_addr=16), ALIGN),
    (more(wt_head=16), ALIGN), (more(wt_line=2, wt_head=4096), ALIGN),
    (put(in_addr=DDR), RANGE), (put(in_line=0xFFFFFFC0), RANGE), (put(out_addr=HBM), RANGE), (put(wt_head=HBM), RANGE),
]  # fmt: skip


def refuse(bench: Bench, mode: int, words: Words, change: Change, cause: int) -> None:
    changed = change(words)
    bench.add(mode, [v & 0xFFFFFFFF for v in changed.values()], cause, (0, 0, 0))


@pytest.mark.parametrize("mode", [TRP, F2W])
def test_products_are_refused(mode: int) -> None:
    bench = Bench(SMALL, np.random.default_rng(1))
    words = bench.mvm(mode, 64, 40, 3, 2, 2, dense=True)
    rows, row_bytes = (5, 128) if mode == TRP else (8, 96)
    changes = [*BOTH, (put(wt_line=row_bytes - 32), SIZE), (put(wt_head=(rows - 1) * words["wt_line"] + row_bytes - 32), SIZE)]
    for change, cause in changes:
        refuse(bench, mode, words, change, cause)
    bench.play()


@pytest.mark.parametrize("keys", [0, 1])
def test_stores_are_refused(keys: int) -> None:
    bench = Bench(SMALL, np.random.default_rng(2))
    words = bench.store(keys, 64, 20, 3, 2)
    rows, row_bytes = (3, 128) if keys else (8, 64)
    changes = [*STORE, (put(wt_line=row_bytes - 32), SIZE), (put(wt_head=(rows - 1) * words["wt_line"] + row_bytes - 32), SIZE)]
    for change, cause in changes:
        refuse(bench, DAT, words, change, cause)
    bench.play()


def test_other_starts_are_refused() -> None:
    bench = Bench(SMALL, np.random.default_rng(3))
    words = bench.mvm(TRP, 64, 40, 3, 2, 2)
    for mode in (0, 3, 0x41, 0x80, 0x102, 0x80000001):
        refuse(bench, mode, words, put(depth=0), MODE)
    bench.play()


def test_what_just_fits() -> None:
    """The last bytes of every space, strides that nothing uses, and no more than that is refused."""
    bench = Bench(SMALL, np.random.default_rng(4))
    bench.ddr_next = DDR - 64 * 64 * 3
    words = bench.mvm(TRP, 64, 32, 3, 1, 1, dense=True)  # one group of outputs, one head
    unused = {**words, "out_surface": 0, "out_line": 0, "in_line": 0, "wt_head": 0}
    bench.add(TRP, list(unused.values()))
    words = bench.mvm(F2W, 64, 32, 3, 1, 1, halves=(0, 1), dense=True)
    bench.add(F2W, list({**words, "in_surface": 64, "in_line": 64}.values()))
    bench.play()
