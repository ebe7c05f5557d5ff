"""Progress lines, the demo that is interrupted, and rows of the table."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from fleet.cli.progress import ProgressLine
from fleet.cosim.what_ran import EngineRun

ROOT = Path(__file__).resolve().parents[2]


def test_no_estimate_is_made_of_a_percentage(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """43 %, about 325 s left" became 1,054 s: what a build took before is told by the build, nothing else is."""
    clock = iter([0.0, 16.0, 32.0])
    monkeypatch.setattr("fleet.cli.progress.time.monotonic", lambda: next(clock))
    line = ProgressLine("rtl")
    line(0.43, "compiling top, 96 s last time")
    line(0.5, "compiling top")
    assert capsys.readouterr().err.splitlines() == [
        "rtl: 43 %, compiling top, 96 s last time, 16 s so far", "rtl: 50 %, compiling top, 32 s so far",
    ]  # fmt: skip


def load_demo() -> Any:
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples/digits/demo.py")
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    return demo


@pytest.mark.parametrize("code", [2, 3, 130, 143])
def test_a_demo_that_was_interrupted_says_nothing_more(
    code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = load_demo()
    calls: list[list[str]] = []
    monkeypatch.setattr(demo, "fleet", lambda arguments: calls.append(arguments) or code)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["demo.py"])
    assert demo.main() == code
    assert len(calls) == 1
    assert "Try next" not in capsys.readouterr().out
    monkeypatch.setattr(demo, "fleet", lambda arguments: 0)
    assert demo.main() not in (0, 1), "a planted fault that nobody finds is an error of fleet"
    assert "Try next" not in capsys.readouterr().out


def test_the_demo_s_fault_is_in_the_functional_model_alone() -> None:
    """The fault changes what the model computes, and the model is whole again behind it."""
    import numpy as np

    demo = load_demo()
    acc, residual = np.array([[-1.0, 2.0]], np.float32), np.array([[-0.5, 0.5]], np.float32)
    right = demo.instructions.epilogue(acc.copy(), None, residual, mul=False, relu=True)
    assert right.view(np.float16).tolist() == [[0, 2.5]]
    wrong = demo._without_relu(acc.copy(), None, residual, mul=False, relu=True)
    assert wrong.view(np.float16).tolist() == [[-1.5, 2.5]]
    assert demo._without_relu(acc.copy(), None, None, mul=False, relu=True).view(np.float16).tolist() == [[0, 2]]
    assert demo.instructions.epilogue is demo._epilogue


def test_cycles_of_an_engine_without_a_clock_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import fields, replace

    from fleet.cli.table import estimated_cycles, print_engine

    empty = {f.name: None for f in fields(EngineRun)}
    iss = EngineRun(
        **{**empty, "name": "iss", "status": "ran", "counters": {"cycles_estimate": 594.2}, "elapsed_s": 0.1, "meta": {}}
    )  # pyright: ignore[reportArgumentType]
    rtl = replace(iss, name="rtl", cycles=600)
    assert estimated_cycles(iss) == 594
    assert estimated_cycles(rtl) is None
    print_engine(iss, None)
    print_engine(rtl, None)
    first, second = capsys.readouterr().out.splitlines()
    assert "594 estimated" in first
    assert "estimated" not in second
    assert " 600 " in second


def test_a_build_has_a_row_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import fields

    from fleet.cli.table import print_engine

    empty: dict[str, Any] = {f.name: None for f in fields(EngineRun)}
    for build in (131.2, 0.4):
        print_engine(
            EngineRun(
                **{**empty, "name": "rtl", "status": "ran", "counters": {"rtl_build_seconds": build}, "elapsed_s": 0.5, "meta": {}}
            ),
            None,
        )
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [(r[0], r[-1]) for r in rows] == [("rtl", "0.500"), ("rtl", "131.2"), ("rtl", "0.500")]
    assert rows[1][:3] == ["rtl", "build", "once"]
