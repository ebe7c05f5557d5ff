"""How fast the unit is on timed memory: the mean over refresh phases, against what the HBM ports deliver at best."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from mvm_random import IRQ_EN, Case, Place, Runner, compare, prepare, start

from fleet.engines.rtl_sim.job import JobScript

NIGHTLY = pytest.mark.nightly  # hbm0923's unit takes 60 s to build


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner("hbm0923", Path(tmp_path_factory.mktemp("hbm0923")))
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    runner = Runner("hbm_small", Path(tmp_path_factory.mktemp("hbm_small")))
    yield runner
    runner.close()


def _mean(runner: Runner, tokens: int, chin: int, chout: int, phases: int, memory: str = "timed", tblk: int = 128) -> float:
    case = Case(chin=chin, chout=chout, tokens=tokens, tblk=tblk)
    operands = prepare(runner.device, runner.memory, case, Place(), np.random.default_rng(1))
    cycles: list[int] = []
    for seed in range(phases):
        script = JobScript()
        script.write(IRQ_EN, 3)
        start(script, operands.encode(runner.device))
        _, records, _ = runner.play(script, f"{memory}:{seed}" if memory == "timed" else memory)
        assert [r.error for r in records] == [0]
        cycles.append(records[0].end - records[0].start)
    return float(np.mean(cycles))


@NIGHTLY
def test_a_token_of_4096_by_4096(large: Runner) -> None:
    assert 8448 < _mean(large, 1, 4096, 4096, 16) <= 8620


@NIGHTLY
@pytest.mark.parametrize(("chin", "chout", "limit"), [(4096, 13696, 28_248), (13696, 4096, 28_288)])
def test_the_long_ones_take_little_more_than_their_limit(large: Runner, chin: int, chout: int, limit: int) -> None:
    assert 0.97 < limit / _mean(large, 1, chin, chout, 4) < 1


def test_a_small_device_hides_refreshes_too(small: Runner) -> None:
    assert 0.97 < 8448 / _mean(small, 1, 4096, 1024, 8) < 1


@NIGHTLY
def test_a_short_one(large: Runner) -> None:
    assert 0.76 < 528 / _mean(large, 1, 4096, 256, 16) < 1


@NIGHTLY
def test_groups_of_32_run_at_the_rate_of_the_ports(large: Runner) -> None:
    assert 9216 < _mean(large, 1, 4096, 4096, 1, "ideal", tblk=32) < 1.01 * 9216
    assert _mean(large, 1, 4096, 256, 1, "ideal", tblk=32) <= 576 + 44  # start, pipeline, answer (docs/performance.md, Cycles)
    assert _mean(large, 1, 4096, 4096, 4, tblk=32) < 1.02 * 9216


@NIGHTLY
def test_tokens_are_loaded_in_long_bursts(large: Runner) -> None:
    assert _mean(large, 16, 4096, 256, 1, "ideal") <= 9260
    assert _mean(large, 16, 4096, 256, 1, "fixed:200") < 10_670
    assert _mean(large, 16, 4096, 256, 8) < 9700


@NIGHTLY
def test_results_are_those_of_the_functional_model(large: Runner) -> None:
    compare(large, [Case(4096, 256, 6, 128, bn=True, residual=True), Case(2112, 70, 9, 32, bn=True, argmax=True)], 5, "timed:2")
