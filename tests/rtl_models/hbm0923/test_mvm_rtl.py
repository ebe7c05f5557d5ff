"""The MVM unit against the functional model: every byte, digest, result register and cycle account."""

from __future__ import annotations

import numpy as np
import pytest
from mvm_random import Case, Runner, compare, random_case

DIRECTED = [
    Case(chin=1, chout=1, tokens=1, tblk=128),
    Case(chin=63, chout=10, tokens=1, tblk=64, bn=True, relu=True, argmax=True),
    Case(chin=64, chout=33, tokens=3, tblk=32, bn=True, residual=True),
    Case(chin=65, chout=32, tokens=2, tblk=32, data="special"),
    Case(chin=97, chout=9, tokens=2, tblk=32, data="special", bn=True, argmax=True),
    Case(chin=128, chout=96, tokens=1, tblk=128, bn=True, residual=True, mul=True, relu=True),
    Case(chin=576, chout=10, tokens=17, tblk=128, bn=True, residual=True, argmax=True, strided=True),
    Case(chin=2048, chout=8, tokens=1, tblk=32),
    Case(chin=2112, chout=16, tokens=2, tblk=64, data="wild"),
    Case(chin=4096, chout=32, tokens=1, tblk=128, relu=True),
]


@pytest.mark.parametrize("memory", ["ideal", "fixed:37", "stall:5", "timed:3"])
def test_directed_cases_equal_the_functional_model(small: Runner, memory: str) -> None:
    compare(small, DIRECTED, 1, memory)


@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_random_cases_equal_the_functional_model(small: Runner, seed: int) -> None:
    rng = np.random.default_rng([seed, 7])
    compare(small, [random_case(small.device, rng) for _ in range(6)], seed, f"stall:{seed}" if seed % 2 else "ideal")


@pytest.mark.parametrize("seed", [21, 22])
def test_random_cases_on_timed_memory(small: Runner, seed: int) -> None:
    rng = np.random.default_rng([seed, 7])
    compare(small, [random_case(small.device, rng) for _ in range(6)], seed, f"timed:{seed}")


def test_one_channel_of_the_deepest_input_fills_the_weight_buffer(small: Runner) -> None:
    deepest = small.device.parameters["Tin"] * small.device.parameters["WtDepth"]
    compare(small, [Case(chin=deepest, chout=17, tokens=2, tblk=t) for t in (32, 128)], 3)


def test_weights_are_fetched_once_for_all_tokens(small: Runner) -> None:
    few, _ = compare(small, [Case(chin=640, chout=64, tokens=1, tblk=128)], 4)
    many, records = compare(small, [Case(chin=640, chout=64, tokens=12, tblk=128)], 4)
    assert many.traffic["hbm.0.read_bytes"] == few.traffic["hbm.0.read_bytes"]
    # 64 channels in 8 blocks of 10 beats, 12 tokens: fetching of the next block hides behind computing.
    assert records[0].cycles["weight_wait"] < 40
    assert records[0].cycles["compute"] >= 8 * 10 * 12


def test_one_token_of_4096_by_256_reaches_most_of_the_hbm_limit(small: Runner) -> None:
    _, records = compare(small, [Case(chin=4096, chout=256, tokens=1, tblk=128)], 5)
    beats = 32 * (4096 // 64 + 2)
    assert beats / (records[0].end - records[0].start) > 0.9
