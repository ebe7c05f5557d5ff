"""Sparse weights in the MVM unit against the functional model: every byte, digest and cycle account; goals of their cycles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from mvm_random import IRQ_EN, Case, Place, Runner, compare, prepare, random_case, start

from fleet.engines.rtl_sim.job import JobScript
from fleet.isa.codec_binary import encode_binary
from fleet.isa.reading.cache import load
from fleet.sdk import Call

BAD_SIZE, UNSUPPORTED = 2, 7

DENSE = Case(chin=200, chout=20, tokens=3, tblk=128, data="special")
LONG = replace(DENSE, data="plain")  # of 2,000 special lanes one is NaN, and so is all that comes of them
DIRECTED = [
    DENSE,
    *(replace(DENSE, kept=k) for k in (4, 2, 1)),
    replace(DENSE, tblk=32),
    *(
        replace(DENSE, kept=k, chin=n, tokens=t)
        for k, n, t in ((4, 129, 1), (4, 128, 2), (2, 1, 2), (2, 385, 1), (1, 257, 2), (1, 512, 1))
    ),
    replace(LONG, kept=4, chin=2048 + 640, bn=True, residual=True),
    replace(LONG, kept=2, chin=2 * 1024, chout=40, bn=True, argmax=True, relu=True),
    replace(DENSE, kept=2, chin=1792 + 2048, tokens=2, data="wild", strided=True),
    replace(LONG, kept=1, chin=2048 + 1537, tokens=4, bn=True, residual=True, mul=True),
    replace(LONG, kept=1, chin=4096, chout=65, tokens=1),
]


@pytest.fixture(scope="module")
def sparse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner("hbm_small_sparse", tmp_path_factory.mktemp("hbm small sparse"))
    yield runner
    runner.close()


@pytest.mark.parametrize("memory", ["ideal", "fixed:37", "stall:5", "timed:3"])
def test_directed_cases_equal_the_functional_model(sparse: Runner, memory: str) -> None:
    compare(sparse, DIRECTED, 1, memory)


@pytest.mark.parametrize("seed", [31, 32, 33, 34])
def test_random_cases_equal_the_functional_model(sparse: Runner, seed: int) -> None:
    rng = np.random.default_rng([seed, 7])
    compare(sparse, [random_case(sparse.device, rng) for _ in range(8)], seed, f"stall:{seed}" if seed % 2 else "ideal")


@pytest.mark.parametrize("kept", [4, 2, 1])
def test_the_deepest_input_fills_the_rings(sparse: Runner, kept: int) -> None:
    deepest = sparse.device.parameters["Tin"] * sparse.device.parameters["WtDepth"]
    compare(sparse, [Case(chin=deepest, chout=17, tokens=2, tblk=128, kept=kept)], 3)


@pytest.mark.parametrize("kept", [0, 4, 2, 1])
@pytest.mark.parametrize("other", [0, 4, 2, 1])
def test_neighbours_in_a_binary_keep_different_numbers(sparse: Runner, kept: int, other: int) -> None:
    """The second one's activations come while the first one reads its own, which lie as its weights want them."""
    rng, place = np.random.default_rng(8), Place()
    device, memory = sparse.device, sparse.memory
    memory.view("ddr", 0, device.memory["ddr"])[: 8 << 20] = 0
    shapes = ((1024, 200, kept), (1000, 40, other), (600, 40, kept))
    cases = [Case(chin=n, chout=m, tokens=1, tblk=128, kept=k) for n, m, k in shapes]
    calls = [Call(c.instruction, prepare(device, memory, c, place, rng).encode(device)) for c in cases]
    binary = np.frombuffer(encode_binary(sparse.set, calls), np.uint8)
    at = (place.ddr // 64 + 1) * 64
    memory.view("ddr", at, binary.size)[:] = binary
    expected = np.array(memory.view("ddr", 0, at + binary.size))
    for call in calls:
        for write in sparse.set.instructions[call.instruction].execute(device, call.fields, memory):
            expected[write.offset : write.offset + write.data.size] = write.data.reshape(-1).view(np.uint8)
    fetch, script = load(sparse.set.description).fetch, JobScript()
    assert fetch is not None
    script.write(IRQ_EN, 3)
    for register, value in ((fetch.address, at), (fetch.beats, binary.size // 64), (fetch.tasks, len(calls))):
        script.write(register.address, value)
    script.write(fetch.unit.start.address, fetch.word.start)
    script.wait_irq(1_000_000)
    _, records, _ = sparse.play(script)
    assert [r.error for r in records] == [0, 0, 0]
    assert np.flatnonzero(memory.view("ddr", 0, expected.size) != expected).size == 0


def test_what_is_not_sparse_is_refused(sparse: Runner) -> None:
    """As the functional model refuses it, and the last legal number of tokens runs."""
    changes = [{"mvm_sparse": 3}, {"mvm_sparse": 8}, {"mvm_sparse": 4}, {"mvm_tblk": (6 << 19) + 64}, {"mvm_wt_bits": 256}]
    changes += [
        dict.fromkeys(("mvm_win", "mvm_wout", "mvm_win_dup"), 129) | {"mvm_in_surface": 129 * 64, "mvm_out_surface": 129 * 64}
    ]
    script = JobScript()
    script.write(IRQ_EN, 3)
    o = prepare(sparse.device, sparse.memory, replace(DENSE, kept=2, chin=300, tokens=128), Place(), np.random.default_rng(1))
    fields = o.encode(sparse.device)
    for change in ({}, *changes):
        start(script, fields | change)
    _, records, _ = sparse.play(script)
    mvm = sparse.set.instructions["mvm"]
    refusals = [mvm.refusal(sparse.device, fields | change) for change in ({}, *changes)]
    assert [r.error for r in records] == [0 if refusal is None else refusal[0] for refusal in refusals]
    assert [r.error for r in records] == [0, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, UNSUPPORTED, BAD_SIZE]


@pytest.mark.parametrize("memory", ["ideal", "timed:1", "timed:2"])
def test_fewer_weights_take_fewer_cycles(sparse: Runner, memory: str) -> None:
    """One token of 4096 by 2048, beside the dense product; each alone, as refreshes would favour one of several."""
    cycles: list[int] = []
    for kept in (0, 4, 2, 1):
        _, records = compare(sparse, [Case(chin=4096, chout=2048, tokens=1, tblk=128, kept=kept)], 5, memory)
        cycles.append(records[0].end - records[0].start)
    ratios = [cycles[0] / c for c in cycles[1:]]
    assert all(ratio >= goal for ratio, goal in zip(ratios, (1.31, 2.14, 3.45), strict=True)), (cycles, ratios)


def test_many_tokens_are_bound_by_the_array(sparse: Runner) -> None:
    """It steps over 128 or 256 inputs a cycle where a dense product takes 64."""
    dense = Case(chin=2048, chout=64, tokens=24, tblk=128)
    _, records = compare(sparse, [replace(dense, kept=k) for k in (0, 4, 2, 1)], 6)
    assert [r.cycles["compute"] // (8 * 24) for r in records] == [32, 16, 8, 8]
