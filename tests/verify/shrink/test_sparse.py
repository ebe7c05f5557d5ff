"""Parts of memory, against a plain array."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.verify.shrink.sparse import Sparse

SIZE = 20_000
PIECES = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, 9000), st.integers(0, 3)), max_size=8)


@given(PIECES, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_what_was_put_is_what_blocks_say(pieces: list[tuple[int, int, int]], random: object) -> None:
    rng = np.random.default_rng(len(pieces))
    plain, known, memory = np.zeros(SIZE, np.uint8), np.zeros(SIZE, bool), Sparse()
    for at, wanted, value in pieces:
        size = min(wanted, SIZE - at)
        data = np.full(size, value, np.uint8)
        if value == 3:
            mask = rng.random(size) < 0.5
            memory.put_where("ddr", 0, at, data, mask)
            plain[at : at + size][mask] = 3
            known[at : at + size] |= mask
        else:
            memory.put("ddr", 0, at, data)
            plain[at : at + size] = value
            known[at : at + size] = True
    assert np.array_equal(memory.knows("ddr", 0, 0, SIZE), known)
    for zeros in (False, True):
        found, covered = np.zeros(SIZE, np.uint8), np.zeros(SIZE, bool)
        for b in memory.blocks(zeros=zeros):
            assert not covered[b.offset : b.offset + b.data.size].any(), "no byte twice"
            found[b.offset : b.offset + b.data.size] = b.data
            covered[b.offset : b.offset + b.data.size] = True
        assert np.array_equal(found, plain)
        assert not (covered & ~known).any()
        assert not zeros or np.array_equal(covered, known)


def test_spaces_and_banks_are_apart() -> None:
    memory = Sparse()
    memory.put("hbm", 3, 4090, np.arange(1, 13, dtype=np.uint8))
    assert not memory.knows("hbm", 2, 4090, 12).any()
    assert not memory.knows("ddr", 3, 4090, 12).any()
    (block,) = memory.blocks()
    assert (block.space, block.bank, block.offset, block.data.size) == ("hbm", 3, 4090, 12), "one block across the page"
