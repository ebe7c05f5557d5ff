"""Figures of points against what computes them elsewhere, kept by content, and a sweep that was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fleet.compiler.inspection import inspect_program
from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.iss import ENGINE as ISS
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError, ExitCode
from fleet.ir.lowering_options import LoweringOptions
from fleet.sweep.campaign import SweepRequest, sweep
from fleet.sweep.records import SweepOutcome
from fleet.sweep.session import Executor
from fleet.sweep.subject import SubjectRequest

ROOT = Path(__file__).resolve().parents[2]
MODEL = """import numpy as np


def forward(x: "float32[N, 64]", w: "float32[64, 40]", v: "float32[40, 32]"):
    return np.maximum(x @ w, 0) @ v
"""


def quiet(fraction: float, words: str) -> None:
    """Progress that nobody sees."""


@pytest.fixture
def model(tmp_path: Path, own_figures: Path) -> str:
    """A model in a folder of its own."""
    del own_figures
    (tmp_path / "model.py").write_text(MODEL)
    return f"{tmp_path / 'model.py'}:forward"


def swept(model: str, axes: tuple[str, ...], device: str = "hbm_small", jobs: int = 1) -> tuple[SweepOutcome, ExitCode]:
    return sweep(SweepRequest(SubjectRequest(model, batch=5, seed=3), device, axes, 0, Executor("local", jobs)), quiet)


def test_figures_are_those_of_the_other_commands(model: str) -> None:
    outcome, code = swept(model, ("group=32,64", "memory=ideal,timed"))
    assert (code, outcome.verdict, outcome.computed, outcome.kept) == (ExitCode.AGREED, "pass", 4, 0)
    loaded = load_model(model, None, None, 3, 5)
    golden = VM.run(loaded.program, loaded.inputs, RunOptions()).outputs["out0"].astype(np.float64)
    for p in outcome.points:
        options = RunOptions(device=p.point.device, lowering=LoweringOptions(group=p.point.options["group"]))
        found = ISS.run(loaded.program, loaded.inputs, options).outputs["out0"].astype(np.float64)
        sqnr = 10 * np.log10(np.sum(golden**2) / np.sum((golden - found) ** 2))
        assert p.model is not None
        assert p.model.quality is not None
        (quality,) = p.model.quality.figures
        assert (quality.name, quality.higher) == ("SQNR", True)
        assert quality.value == pytest.approx(sqnr, abs=0.01)
        assert p.model.counters["macs"] == 5 * (64 * 40 + 40 * 32)
        constants = {e.what: e for e in outcome.energy}
        assert {e.what: e.count for e in p.model.energy} == {
            what: p.model.counters[e.counter] for what, e in constants.items() if p.model.counters.get(e.counter)
        }
        assert p.model.microjoules == pytest.approx(sum(constants[e.what].picojoules * e.count for e in p.model.energy) / 1e6)
    (inspected,) = inspect_program(loaded.program, "hbm_small").devices
    assert {p.model.cycles for p in outcome.points if p.model and p.point.memory == "ideal"} == {inspected.cycles}
    assert min(p.model.cycles for p in outcome.points if p.model and p.point.memory == "timed") > (inspected.cycles or 0)


def test_a_second_sweep_computes_only_what_is_new(model: str) -> None:
    swept(model, ("Tin=64", "group=32,64"))
    outcome, _ = swept(model, ("Tin=64,128", "group=32,64"))
    assert (outcome.computed, outcome.kept) == (2, 2)
    Path(model.partition(":")[0]).write_text(MODEL.replace("0)", "0.5)"))
    outcome, _ = swept(model, ("Tin=64", "group=32,64"))
    assert (outcome.computed, outcome.kept) == (2, 0)


def test_a_set_with_other_axes(model: str) -> None:
    outcome, code = swept(model, ("Block=4,8,16", "acc=256,1024"), "vgemm_small", jobs=2)
    assert code == ExitCode.AGREED
    cycles = {p.point.label: p.model.cycles for p in outcome.points if p.model is not None}
    assert len(cycles) == 6
    assert cycles["Block=16 AccDepth=1024"] < cycles["Block=8 AccDepth=1024"] < cycles["Block=4 AccDepth=1024"]
    assert outcome.objectives == ("time", "SQNR", "energy")  # nothing of vgemm was synthesised


def test_a_point_whose_device_is_too_small_is_told_and_the_others_count(model: str) -> None:
    Path(model.partition(":")[0]).write_text(MODEL.replace("40", "4096"))
    outcome, code = swept(model, ("WtDepth=32,256",))
    assert code == ExitCode.AGREED
    assert [bool(p.refused) for p in outcome.points] == [True, False]
    assert "WtDepth" in outcome.points[0].refused


def test_memories_without_estimates_are_refused(model: str) -> None:
    with pytest.raises(DeviceError, match="has no cycles for memory stall"):
        swept(model, ("memory=stall",))


def test_a_killed_sweep_goes_on_without_repeating_a_point(model: str, tmp_path: Path) -> None:
    axes = ["Tin=64,128", "group=32,64,128"]
    command = [sys.executable, "-m", "fleet", "sweep", model, "--batch", "5", "--device", "hbm_small", "--over", *axes]
    command += ["--report", str(tmp_path / "sweep")]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "FLEET_CACHE": str(tmp_path / "cache")}
    folder = tmp_path / "cache" / "sweep"

    def points() -> dict[Path, int]:
        return {p: p.stat().st_mtime_ns for p in folder.glob("*.json") if b'"cycles"' in p.read_bytes()}

    first = subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while first.poll() is None and len(points()) < 2:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = points()
    time.sleep(0.5)
    assert len(points()) <= len(before) + 1, "the points went on without the command"
    done = subprocess.run([*command, "--json"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    after = points()
    assert len(after) == len(told["points"]) == 6
    assert 0 < len(before) < 6
    assert told["kept"] >= len(before)
    assert {p: after[p] for p in before} == before
    assert json.loads((tmp_path / "sweep" / "sweep.json").read_text()) == told


def test_points_run_on_workers_of_a_cluster(model: str, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    (tmp_path / "cluster.toml").write_text('kind = "local"\nworkers = 1\ntls = false\n')
    executor = Executor("dask", cluster=tmp_path / "cluster.toml")
    request = SweepRequest(SubjectRequest(model, batch=5, seed=3), "hbm_small", ("group=32,64",), executor=executor)
    outcome, code = sweep(request, quiet)
    assert (code, outcome.computed, outcome.reasons) == (ExitCode.AGREED, 2, ())
    assert outcome.points == swept(model, ("group=32,64",))[0].points


def test_a_point_that_fails_is_told_with_its_code(model: str, tmp_path: Path) -> None:
    (tmp_path / "cache" / "sweep").write_text("no folder")
    outcome, code = swept(model, ("group=32,64",))
    assert (code, outcome.verdict, len(outcome.reasons)) == (ExitCode.BAD_INPUT, "incomplete", 2)
    assert "model hbm_small group=32 memory=ideal: " in outcome.points[0].error
    assert "figures cannot be kept (File exists)" in outcome.points[0].error
    assert outcome.points[0].refused == outcome.points[0].error
