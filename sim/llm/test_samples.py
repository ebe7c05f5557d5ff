"""Samples of a token beside the whole token: every interval is to hold what the whole run measured."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fleet.cosim.generation import EngineFigures
from fleet.engines.legs.plan import Leg
from fleet.engines.legs.sample import SampleChoice, SampledCalls, SampleEstimate, sample_choice
from fleet.llm.contestants import GenerateRequest, generate
from fleet.llm.load import load_shape
from fleet.llm.models import ModelOptions
from fleet.llm.quantisation import Quantisation

pytestmark = pytest.mark.nightly

_DISK = 10 << 30
"""Bytes: iss and rtl have a memory of up to 4 GB each."""
_SEEDS = 20
_HELD = 18


def _ran(name: str, folder: Path, memory: str, *, jobs: int = 1, sample: str = "") -> EngineFigures:
    request = GenerateRequest(
        f"shape {name}", "a", 1, ("iss", "rtl"), device="hbm0923", memory=memory, plan=ModelOptions(tokens=1, positions=64),
        quantisation=Quantisation(64, "absmax"), folder=folder, rtl_jobs=jobs, rtl_sample=sample,
    )  # fmt: skip
    result = generate(load_shape(name, group=64, seed=0), request)
    assert result.verdict == "pass"
    return next(e for e in result.engines if e.name == "rtl")


@pytest.mark.parametrize(
    ("name", "memory", "sample", "width"),
    [
        ("smollm2-135m", "ideal", "blocks=2", 0.012),
        ("smollm2-135m", "timed", "blocks=3", 0.04),
        ("chatglm2-6b", "ideal", "sample=10%", 0.01),
    ],
)
def test_intervals_hold_the_cycles_of_the_whole(
    name: str, memory: str, sample: str, width: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cycles of a stretch do not depend on what else was drawn: all of them run once, and each seed draws among them."""
    if shutil.disk_usage(tmp_path).free < _DISK:
        pytest.skip(f"less than {_DISK >> 30} GB are free under {tmp_path}")
    whole = _ran(name, tmp_path, memory, jobs=2 if memory == "ideal" else 1)  # in legs, cycles on timed memory are approximate
    cycles = whole.prefill[0].cycles
    assert cycles is not None
    seen: list[tuple[SampledCalls, Sequence[Mapping[int, int]]]] = []
    known: list[Leg] = []
    right, right_draw = SampledCalls.estimate, SampledCalls.draw

    def estimate(self: SampledCalls, stretches: Sequence[Mapping[int, int]]) -> SampleEstimate:
        seen.append((self, stretches))
        return right(self, stretches)

    def draw(self: SampledCalls, choice: SampleChoice, stretches: Sequence[Leg]) -> list[Leg]:
        known.extend(stretches)
        return right_draw(self, choice, stretches)

    with monkeypatch.context() as patch:
        patch.setattr(SampledCalls, "estimate", estimate)
        patch.setattr(SampledCalls, "draw", draw)
        every = _ran(name, tmp_path, memory, sample="blocks=1000")
    assert every.prefill[0].cycles is None
    assert "cycles" not in every.counters
    ((calls, stretches),) = seen
    times = {i: t for stretch in stretches for i, t in stretch.items()}
    found: list[SampleEstimate] = []
    shares: list[float] = []
    for seed in range(_SEEDS):
        drawn = calls.draw(sample_choice(sample, seed), known)
        found.append(right(calls, [{i: times[i] for i in range(leg.own, leg.end)} for leg in drawn]))
        shares.append(sum(sum(calls.costs[leg.first : leg.end]) for leg in drawn) / sum(calls.costs))
    held = sum(abs(e.cycles - cycles) <= e.half for e in found)
    widths = [2 * e.half / cycles for e in found]
    off = [e.cycles / cycles - 1 for e in found]
    print(
        f"{name}, {memory}, {sample}: {held} of {_SEEDS} hold {cycles:,}; width {min(widths):.2%} to {max(widths):.2%}, "
        f"off by {min(off):+.3%} to {max(off):+.3%}, simulated {max(shares):.0%} at most"
    )
    assert held >= _HELD
    assert sum(widths) / _SEEDS <= width
