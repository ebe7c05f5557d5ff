"""A co-simulation whose RTL runs in legs: verdict, figures and evidence as of one run; forged evidence is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.cosim.campaign import cosim
from fleet.cosim.evidence_held import without_evidence
from fleet.cosim.options import CosimOptions
from fleet.cosim.request import installed_engines
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.accel import run_accel
from fleet.engines.base import RunOptions
from fleet.engines.evidence import issued
from fleet.engines.rtl import RtlBackend
from fleet.engines.trace import Trace
from fleet.errors import FleetError
from fleet.frontend.source import load
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program

LAYERS = 70
SOURCE = f"""import numpy as np


def forward(x: "float32[64, 64]", w: "float32[64, 64]"):
    for _ in range({LAYERS}):
        x = np.maximum(x @ w, 0)
    return x
"""


class ShortLegs:
    """`rtl`, with legs that are shorter than pays. traces: of its runs; before: how many jobs had been launched."""

    name = "rtl"
    target = "accel"

    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.before = 0

    def available(self) -> str | None:
        return None

    def run(self, program: Program, inputs: Mapping[str, np.ndarray], options: RunOptions) -> Trace:
        self.before = issued()
        self.traces.append(run_accel(program, inputs, options, RtlBackend(shortest_leg=10_000)))
        return self.traces[-1]


def run(folder: Path, engine: ShortLegs, jobs: int, issue: str, *, stop: bool = True) -> CosimResult:
    rng = np.random.default_rng(3)
    w = (rng.standard_normal((64, 64)) / 5).astype(np.float32)
    source = folder / "deep.py"
    source.write_text(SOURCE, encoding="utf-8")
    inputs = {"x": rng.standard_normal((64, 64)).astype(np.float32)}
    program = load(f"{source}:forward", {"w": w}, inputs)
    options = CosimOptions(
        model="deep.py:forward", data=DataProvenance("random", 64, None, None, None), device="hbm_small", rtl_jobs=jobs, stop=stop,
        lowering=LoweringOptions(issue=issue), engines={**dict(installed_engines()), "rtl": engine},
    )  # fmt: skip
    return cosim(program, inputs, None, ["vm", "iss", "rtl"], options)


@pytest.fixture(scope="module")
def engine() -> ShortLegs:
    return ShortLegs()


@pytest.mark.parametrize("issue", ["regs", "aux"])
def test_a_run_in_legs_is_the_one_run(engine: ShortLegs, issue: str, tmp_path: Path) -> None:
    one, legs = (run(tmp_path, engine, jobs, issue) for jobs in (1, 2))
    for result in (one, legs):  # so deep that bounds prove nothing of its last sums: the hardware is what is asked here
        (hardware,) = (c for c in result.comparisons if c.name == "rtl-vs-iss")
        assert hardware.verdict == "pass", hardware.reasons
    assert one.verdict == legs.verdict
    (a, b) = engine.traces[-2:]
    assert a.commits == b.commits
    assert len(b.evidence.jobs) > len(a.evidence.jobs) == 1
    assert {k: t.tobytes() for k, t in a.tensors.items()} == {k: t.tobytes() for k, t in b.tensors.items()}
    timed = ("seconds", "per_second")
    assert {k: v for k, v in a.counters.items() if not k.endswith(timed)} == {
        k: v for k, v in b.counters.items() if not k.endswith(timed)
    }
    row = legs.engine("rtl")
    assert row is not None
    assert row.cut.startswith("cut into ")
    assert "architecturally checked" in row.cut
    before = one.engine("rtl")
    assert before is not None
    assert not before.cut


def test_forged_evidence_of_legs_is_found(engine: ShortLegs, tmp_path: Path) -> None:
    run(tmp_path, engine, 2, "regs")
    trace = engine.traces[-1]
    assert without_evidence(engine, trace, engine.before) is None

    def with_jobs(*jobs: int) -> str | None:
        evidence = replace(trace.evidence, jobs=tuple(trace.evidence.jobs[n] for n in jobs))
        return without_evidence(engine, replace(trace, evidence=evidence), engine.before)

    last = len(trace.evidence.jobs) - 1
    assert "commits, its simulation wrote" in (with_jobs(0) or "")
    assert "repeats" in (with_jobs(*range(1, last + 1)) or "")
    assert "twice" in (with_jobs(0, *range(last + 1)) or "")
    wrong = replace(trace, counters={**trace.counters, "cycles": trace.counters["cycles"] - 1})
    assert "cycles, its simulation" in (without_evidence(engine, wrong, engine.before) or "")
    moved = [*trace.commits[:-1], replace(trace.commits[-1], end=(trace.commits[-1].end or 0) + 1)]
    assert "the end" in (without_evidence(engine, replace(trace, commits=moved), engine.before) or "")


def test_legs_cannot_run_behind_a_difference(engine: ShortLegs, tmp_path: Path) -> None:
    with pytest.raises(FleetError, match="ends at its first commit that differs"):
        run(tmp_path, engine, 2, "regs", stop=False)
