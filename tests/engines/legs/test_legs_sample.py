"""Samples: what is drawn, what is said of the whole, and a sample of a stream in RTL beside the whole stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest
from test_legs_run import MIDDLE, in_legs, long_case

from fleet.engines.legs import run as legs_run
from fleet.engines.legs.account import SampleAccount
from fleet.engines.legs.plan import Leg
from fleet.engines.legs.pool import Simulations
from fleet.engines.legs.request import LegRequest, SampleRan
from fleet.engines.legs.run import run_sample
from fleet.engines.legs.sample import SampleChoice, SampledCalls, sample_choice
from fleet.engines.rtl_sim.build import Design
from fleet.errors import FleetError
from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

PERIOD = 42
"""Calls of the program that `long_case` repeats."""


def repeated(times: int = 30) -> tuple[SampledCalls, Sequence[Call]]:
    case, (set_, device) = make_case("vgemm_small/program/1"), find_device("vgemm_small")
    calls = case.calls * times
    return SampledCalls(set_, device, calls, [set_.instructions[c.instruction].cost(device, c.fields) for c in calls]), calls


@pytest.fixture(scope="module")
def sampled() -> SampledCalls:
    return repeated()[0]


def everywhere(sampled: SampledCalls) -> tuple[set[int], set[int]]:
    return set(range(len(sampled.costs))), set(range(1, len(sampled.costs)))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("sample=5%", SampleChoice("sample", 0.05, 3)),
        ("sample=0.5%", SampleChoice("sample", 0.005, 3)),
        ("blocks=2", SampleChoice("blocks", 2, 3)),
        ("ci=1%", SampleChoice("ci", 0.01, 3)),
    ],
)
def test_choices(text: str, choice: SampleChoice) -> None:
    assert sample_choice(text, 3) == choice


@pytest.mark.parametrize(
    "text", ["", "sample", "sample=5", "sample=0%", "sample=101%", "sample=.%", "blocks=1", "blocks=2%", "ci=x%", "all"]
)
def test_what_is_no_choice(text: str) -> None:
    with pytest.raises(FleetError, match=r"is no sample.*expected sample=5%, blocks=2 or ci=1%"):
        sample_choice(text)


def test_the_period_of_a_run_is_that_of_its_blocks(sampled: SampledCalls) -> None:
    assert sampled.period == PERIOD


def test_stretches_do_not_overlap_and_are_warm(sampled: SampledCalls) -> None:
    legs = sampled.stretches(*everywhere(sampled))
    assert legs[0] == Leg(0, 0, PERIOD)
    assert all(a.end <= b.own for a, b in pairwise(legs))
    assert all(leg.warm_up >= 3 and sum(sampled.costs[leg.first : leg.own]) >= 1000 for leg in legs[1:])
    in_blocks = sampled.stretches(range(0, len(sampled.costs), 32), everywhere(sampled)[1])
    assert all(leg.first % 32 == 0 for leg in in_blocks)


def test_the_seed_decides_what_is_drawn(sampled: SampledCalls) -> None:
    legs = sampled.stretches(*everywhere(sampled))
    a, again, b = (sampled.draw(SampleChoice("blocks", 3, seed), legs) for seed in (1, 1, 2))
    assert a == again != b
    assert sum(leg.end - leg.own == PERIOD for leg in a) == 3
    assert any(leg.own == 0 for leg in a), "the start of the run is always known"


def test_a_share_is_kept_to(sampled: SampledCalls) -> None:
    legs = sampled.stretches(*everywhere(sampled))
    for share in (0.15, 0.3, 0.6):
        drawn = sampled.draw(SampleChoice("sample", share, 4), legs)
        cost = sum(sum(sampled.costs[leg.first : leg.end]) for leg in drawn) / sum(sampled.costs)
        assert share - 0.08 < cost <= share + 0.01


def measured(sampled: SampledCalls, legs: Sequence[Leg], times: Sequence[int]) -> list[dict[int, int]]:
    return [{i: times[i] for i in range(leg.own, leg.end)} for leg in legs]


def test_nothing_is_estimated_of_a_run_that_ran_whole(sampled: SampledCalls) -> None:
    times = [c + 3 for c in sampled.costs]
    found = sampled.estimate(measured(sampled, [Leg(0, 0, len(times))], times))
    assert (found.cycles, found.half, found.alike) == (sum(times), 0, 0)


@pytest.mark.parametrize(("spread", "blocks"), [(0.0, 2), (2.0, 3), (15.0, 5)])
def test_intervals_hold_the_truth(sampled: SampledCalls, spread: float, blocks: int) -> None:
    """Each call is as fast as those that do the same, but for what is drawn."""
    legs, held = sampled.stretches(*everywhere(sampled)), 0
    rate = np.random.default_rng(7).uniform(0.8, 1.1, max(sampled.work) + 1)
    for seed in range(40):
        rng = np.random.default_rng([11, seed])
        times = [max(1, round(c * rate[w] + rng.normal() * spread)) for c, w in zip(sampled.costs, sampled.work, strict=True)]
        found = sampled.estimate(measured(sampled, sampled.draw(SampleChoice("blocks", blocks, seed), legs), times))
        held += abs(found.cycles - sum(times)) <= found.half
        assert found.half < 0.15 * found.cycles
    assert held >= 36


def test_a_call_that_nothing_is_like_widens_the_interval() -> None:
    device = find_device("vgemm_small")
    calls = repeated()[1]
    costs = [device[0].instructions[c.instruction].cost(device[1], c.fields) for c in calls]
    large = sum(costs) // 3
    sampled = SampledCalls(*device, calls, [*costs[:-1], large])
    legs = sampled.stretches(*everywhere(sampled))
    times = [round(0.9 * c) for c in sampled.costs]
    without = sampled.draw(SampleChoice("sample", 0.2, 0), legs)
    assert all(leg.end < len(calls) for leg in without)
    found = sampled.estimate(measured(sampled, without, times))
    assert found.alike == 1
    assert 0.2 < found.share < 0.3
    assert abs(found.cycles - sum(times)) <= found.half
    in_it = sampled.draw(SampleChoice("blocks", 2, 0), legs)
    assert in_it[-1].end == len(calls)
    assert sampled.estimate(measured(sampled, in_it, times)).half < found.half / 4


def test_the_words_of_a_sample() -> None:
    account = SampleAccount()
    assert account.words() == ""
    estimate = repeated(2)[0].estimate([{0: 10, 1: 12}])
    account.add(SampleRan((), 840, (), False, 1.0, 5_000, {}, 3, estimate))
    text = account.words()
    assert text.startswith("sampled: bits: 0 % of commits in RTL (0 of 840, in 3 stretches), all on iss; cycles of the whole, to ")
    assert "from 5,000 simulated, warm-ups included" in text
    account.add(SampleRan((), 840, (), True, 1.0, 5_000, {}, 3, None))
    assert "cycles of the whole" not in account.words()
    assert "sampled.estimate" not in account.counters()


# In RTL


class _Drawn(Exception):
    """Ends the run of a stream behind its sample."""


def drawn(
    runner: StreamRunner, case: StreamCase, setting: Setting, choice: SampleChoice, monkeypatch: pytest.MonkeyPatch
) -> SampleRan:
    """A sample of a stream, from the state and with the model's commits with which the runner would run it in legs."""
    found: list[SampleRan] = []

    def instead(request: LegRequest, simulations: Simulations) -> None:
        found.append(run_sample(request, choice, simulations))
        raise _Drawn

    with monkeypatch.context() as patch:
        patch.setattr("fleet.streams.run.run_in_legs", instead)
        with pytest.raises(_Drawn):
            runner.run(case, [setting])
    return found[0]


@pytest.fixture(scope="module")
def cut() -> Iterator[StreamRunner]:
    with in_legs() as runner:
        yield runner


@pytest.mark.parametrize("issue", ["regs", "aux"])
def test_a_sample_of_a_stream_estimates_its_cycles(cut: StreamRunner, issue: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case, setting = long_case(), next(s for s in (Setting("ideal", "regs"), Setting("ideal", "aux")) if s.issue == issue)
    (whole,) = cut.run(case, [setting])
    assert whole.passed, whole.reasons
    truth = whole.found[-1].end
    assert truth is not None
    held = 0
    for seed in range(4):
        ran = drawn(cut, case, setting, SampleChoice("sample", 0.25, seed), monkeypatch)
        assert not ran.diverged
        assert ran.of == len(case.calls)
        assert [(c.digest, c.bytes_written) for c in ran.commits] == [
            (whole.found[c.seq].digest, whole.found[c.seq].bytes_written) for c in ran.commits
        ]
        assert all(c.start is None and not c.cycles for c in ran.commits), "no clock of the whole run"
        assert ran.cycles < 0.4 * truth
        assert ran.estimate is not None
        held += abs(ran.estimate.cycles - truth) <= ran.estimate.half
        assert ran.estimate.half < 0.03 * truth
    assert held >= 3


def test_an_interval_that_is_asked_for_is_reached(cut: StreamRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    case = long_case()
    wide, narrow = (drawn(cut, case, Setting("ideal"), SampleChoice("ci", width, 0), monkeypatch) for width in (0.1, 0.005))
    assert wide.estimate is not None
    assert narrow.estimate is not None
    assert 2 * wide.estimate.half > 0.005 * wide.estimate.cycles
    assert 2 * narrow.estimate.half <= 0.005 * narrow.estimate.cycles
    assert wide.stretches < narrow.stretches
    assert len({c.seq for c in narrow.commits}) == len(narrow.commits)


@pytest.mark.parametrize("there", [True, False])
def test_a_wrong_product_is_found_where_it_is_drawn(faulty: Design, there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    right: Callable[..., list[Leg]] = SampledCalls.draw

    def draw(self: SampledCalls, choice: SampleChoice, stretches: Sequence[Leg], *more: object) -> list[Leg]:
        """A stretch in the middle, or all others that the seed draws."""
        middle = [leg for leg in stretches if leg.own <= MIDDLE < leg.end]
        assert len(middle) == 1
        return [*middle, stretches[-1]] if there else right(self, choice, [s for s in stretches if s not in middle], *more)

    monkeypatch.setattr(legs_run.SampledCalls, "draw", draw)
    with in_legs(faulty, fault=1) as runner:
        ran = drawn(runner, long_case(wrong=True), Setting("ideal"), SampleChoice("blocks", 3), monkeypatch)
    assert ran.diverged is there
    if there:
        assert ran.commits[-1].seq == MIDDLE
        assert ran.estimate is None


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_wrong_product_that_stretches_only_repeat_is_named(faulty: Design, rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stretch that has it for its own is not in the sample: nothing says that it is right behind other instructions.

    rounds: the second one, which an interval asks for, begins with a stretch behind it.
    """
    known = [Leg(0, 0, PERIOD), Leg(MIDDLE + 2 * PERIOD, MIDDLE + 3 * PERIOD, MIDDLE + 4 * PERIOD)]
    repeats = Leg(MIDDLE - 3, MIDDLE + 3, MIDDLE + 20)
    left = [known, [repeats]] if rounds == 2 else [[known[0], repeats, known[1]]]
    monkeypatch.setattr(legs_run.SampledCalls, "draw", lambda *_: left.pop(0))
    with in_legs(faulty, fault=1) as runner:
        ran = drawn(runner, long_case(wrong=True), Setting("ideal"), SampleChoice("ci", 1e-6), monkeypatch)
    assert ran.diverged
    assert ran.estimate is None
    assert [c.seq for c in ran.commits] == [*range(PERIOD), MIDDLE], "program order, and the one that differs last"
    assert ran.stretches == len(ran.evidence) == 2
    assert [job.commits - job.own for job in ran.evidence] == [PERIOD, 1]
