"""Evidence that memory model and seeds were used, on results made up for the test and on the harness itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from test_campaign import RISCV, VM, run

from fleet.compare.memory_held import other_memory
from fleet.cosim.result import CosimResult
from fleet.cosim.seeds_held import ignored_seeds
from fleet.cosim.what_ran import DataProvenance


def test_timed_memory_counts_rows_and_no_other_does() -> None:
    assert other_memory("timed", ["hbm_row_hits", "cycles"]) is None
    assert other_memory("timed:3", ["ddr.row_hits"]) is None
    assert other_memory("ideal", ["cycles"]) is None
    assert "no row of a DRAM was counted" in (other_memory("timed:3", ["cycles"]) or "")
    assert "timed memory answered" in (other_memory("stall:1", ["ddr_row_hits"]) or "")


@pytest.fixture(scope="module")
def result() -> CosimResult:
    found = run([VM, RISCV])
    return replace(found, data=DataProvenance("random", 30, None, None, "seeded"))


def _with(result: CosimResult, seed: int, *, inputs: str = "", memory: str = "ideal", cycles: int | None = None) -> CosimResult:
    identity = replace(result.identity, seed=seed, memory=memory, inputs_hash=inputs or result.identity.inputs_hash)
    engines = tuple(replace(e, cycles=cycles) if e.name == "riscv" else e for e in result.engines)
    return replace(result, identity=identity, engines=engines)


def test_random_data_of_two_seeds_differ(result: CosimResult) -> None:
    assert ignored_seeds([_with(result, 0), _with(result, 1, inputs="other")]) == []
    assert ignored_seeds([_with(result, 0), _with(result, 0)]) == []
    (line,) = ignored_seeds([_with(result, 0), _with(result, 1)])
    assert line == "m.py:f: seeds 0 and 1 drew the same inputs: the seed is ignored"
    given = replace(result, data=replace(result.data, inputs="x.npz"))
    assert ignored_seeds([_with(given, 0), _with(given, 1)]) == ["m.py:f: seeds 0 and 1 drew the same weights: the seed is ignored"]
    real = replace(result, data=replace(result.data, kind="real"))
    assert ignored_seeds([_with(real, 0), _with(real, 1)]) == []


def test_stalls_of_two_seeds_differ(result: CosimResult) -> None:
    def stalled(seed: int, cycles: int, memory: str = "stall") -> CosimResult:
        return _with(result, seed, inputs=str(seed), memory=memory, cycles=cycles)

    assert ignored_seeds([stalled(0, 100), stalled(1, 101)]) == []
    assert ignored_seeds([stalled(0, 100, "ideal"), stalled(1, 100, "ideal")]) == []
    assert ignored_seeds([stalled(0, 100), stalled(1, 100)]) == [
        "m.py:f: seeds 0 and 1 stalled riscv at the same cycles: the memory's seed is ignored"
    ]


def test_a_case_whose_seeds_change_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from fleet.cli.main import main
    from fleet.frontend import source

    (tmp_path / "m.py").write_text('import numpy as np\n\n\ndef f(x: "float32[4, 3]"):\n    return np.abs(x)\n')
    case = 'name = "c"\nmodel = "m.py:f"\ngolden = false\nengines = ["vm", "cpython"]\n[[runs]]\nseeds = [0, 1]\n'
    (tmp_path / "c.toml").write_text(case)
    monkeypatch.chdir(tmp_path)
    assert main(["case", "run", "c.toml"]) == 0
    capsys.readouterr()
    drawn = source.sample_inputs
    monkeypatch.setattr(source, "sample_inputs", lambda spec, weights, *, batch, seed: drawn(spec, weights, batch=batch, seed=0))
    assert main(["case", "run", "c.toml"]) == 1
    assert "FAIL m.py:f: seeds 0 and 1 drew the same inputs: the seed is ignored" in capsys.readouterr().out
