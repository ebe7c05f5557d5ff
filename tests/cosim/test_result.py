import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.compare.diverged import CommitRow, Divergence, ElementDifference
from fleet.compare.measured import BoundStats, ErrorStats, OperationRow, ValueCounts, Worst
from fleet.compare.verdict import Comparison, Flip, NotCompared, TaskMetric
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance, DeviceFigures, EngineRun, RunIdentity
from fleet.errors import ModelError


def sample_result() -> CosimResult:
    stats = ErrorStats(
        4, 1e-3, 1e-4, 2e-4, float("inf"), "float32", 3.0, 1.0, 2.0, (0, 1, 2), (1, 1, 1, 1), float("inf"), 1.0, 3, (0.0, 1e-3)
    )
    bound = BoundStats(1e-2, 1e-3, 9.0, 4.0, 0.5, 0, 0, 0, "gamma_64 of float32")
    counts = ValueCounts(4, 0, 0, 0, 0, 1)
    row = OperationRow(
        "h1", "matmul", "h1", "m.py:3:4", 0, "device", (2, 2), "float32", "float16", stats, stats, bound, None,
        Worst((0, 1), 1.0, 1.001, 1e-3, 1e-2), None, counts, counts, "pass", "",
    )  # fmt: skip
    commit = CommitRow(0, "mvm", ("h1",), "0" * 16, "f" * 16, 64, None, 0, 9, {"compute": 9}, 10, 20, 9, (0, 2), False)
    divergence = Divergence(
        "rtl-vs-iss",
        0,
        "mvm",
        ("h1",),
        "digest",
        (ElementDifference("ddr", 0, 64, (0, 1), "0x0000", "0x0001"),),
        1,
        ((4, 1),),
        {"a": 1},
    )
    bits = Comparison("rtl-vs-iss", "bits", "iss", "rtl", "?", "fail", ("digest",), 4, 64, (), (commit,), divergence)
    bounds = Comparison("iss-vs-vm", "bound", "vm", "iss", "?", "pass", (), 4, 0, (row,), (), None, (NotCompared("x", "y"),))
    identity = RunIdentity(
        "m.py:f", None, "a", "b", "c", "d", None, "e", None,
        DeviceFigures("hbm_small", "set", 280.0, {"Tin": 64}, {"macs_per_cycle": 512.0}),
        {"numpy": "2"}, "ideal", 0, "2025-01-01", "fleet cosim m.py:f",
    )  # fmt: skip
    task = TaskMetric("iss", "accuracy", "y", 4, 3, 0.75, 0.3, 0.95, 0.0, -0.1, 0.1, 0.95, 0.75, (Flip(1, 2, 2, 3),), False)
    runs = (EngineRun("iss", "ran", cycles=9, meta={"k": [1, {"a": None}]}), EngineRun("rtl", "failed", error="no compiler"))
    return CosimResult(
        identity, DataProvenance("real", 4, "x.npz", None, None), runs, (bits, bounds), (task,),
        (NotCompared("riscv", "not asked"),),
        "fail", ("rtl-vs-iss: digest",), divergence, arrays={"iss-vs-vm/h1/other": np.arange(4.0)},
    )  # fmt: skip


def test_json_round_trip_is_exact_and_strict_json():
    result = sample_result()
    text = json.dumps(result.to_json(), allow_nan=False)
    again = CosimResult.from_json(json.loads(text))
    assert again == replace(result, arrays={})
    assert again.comparisons[1].operations[0].cumulative.max_rel == float("inf")


def test_save_and_load(tmp_path: Path):
    result = sample_result()
    path = result.save(tmp_path / "a b")
    again = CosimResult.load(tmp_path / "a b")
    assert again == result
    np.testing.assert_array_equal(again.arrays["iss-vs-vm/h1/other"], np.arange(4.0))
    replace(result, arrays={"z": np.ones(3)}).save(path.parent)
    assert len(list(path.parent.glob("arrays-*.npz"))) == 1
    assert list(CosimResult.load(path).arrays) == ["z"]


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda t: t.update(schema=1), "schema 1"),
        (lambda t: t.pop("verdict"), "result.verdict"),
        (lambda t: t.update(extra=1), "result.extra"),
        (lambda t: t.update(verdict="fine"), "one of pass, fail"),
        (lambda t: t["engines"][0].update(elapsed_s="slow"), r"engines\[0\].elapsed_s"),
        (lambda t: t["comparisons"][0].update(elements=1.5), r"comparisons\[0\].elements"),
        (lambda t: t["identity"].update(seed=True), "identity.seed"),
    ],
)
def test_anything_that_does_not_fit_is_refused(edit, says):
    table = sample_result().to_json()
    edit(table)
    with pytest.raises(ModelError, match=says):
        CosimResult.from_json(table, "r.json")


def test_a_damaged_file_is_one_line(tmp_path: Path):
    path = sample_result().save(tmp_path)
    (npz,) = tmp_path.glob("arrays-*.npz")
    npz.write_bytes(npz.read_bytes()[:-9])
    with pytest.raises(ModelError, match="checksum"):
        CosimResult.load(path)
    path.write_text(path.read_text()[:100])
    with pytest.raises(ModelError, match="not JSON"):
        CosimResult.load(path)
    with pytest.raises(ModelError, match="no result here"):
        CosimResult.load(tmp_path / "nothing")
