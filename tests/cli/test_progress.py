"""How long something still takes: told while it is believed, never a number that grows."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from fleet.cli.progress import Estimate
from fleet.cosim.what_ran import EngineRun

ROOT = Path(__file__).resolve().parents[2]


def told(points: list[tuple[float, float]]) -> list[str]:
    estimate = Estimate()
    return [estimate.words(fraction, elapsed) for fraction, elapsed in points]


def test_an_even_pace_is_told() -> None:
    assert told([(0.01, 1), (0.1, 10), (0.5, 50), (0.9, 90)]) == ["", "about 90 s left", "about 50 s left", "about 10 s left"]


def test_what_goes_faster_ends_sooner() -> None:
    assert told([(0.1, 10), (0.5, 20), (0.9, 30)]) == ["about 90 s left", "about 20 s left", "about 3 s left"]


def test_an_estimate_that_would_grow_is_told_no_more() -> None:
    assert told([(0.43, 100), (0.43, 160), (0.43, 240), (0.9, 250)]) == ["about 133 s left", "", "", ""]


def test_a_little_later_does_not_count_upwards() -> None:
    said = [w for w in told([(0.1, 10), (0.2, 21), (0.3, 32), (0.4, 42)]) if w]
    numbers = [int(w.split()[1]) for w in said]
    assert len(numbers) == 4
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("code", [2, 3, 130, 143])
def test_a_demo_that_was_interrupted_says_nothing_more(
    code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples/digits/demo.py")
    assert spec is not None
    assert spec.loader is not None
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    calls: list[list[str]] = []
    monkeypatch.setattr(demo, "fleet", lambda arguments: calls.append(arguments) or code)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("sys.argv", ["demo.py"])
    assert demo.main() == code
    assert len(calls) == 1
    assert "Try next" not in capsys.readouterr().out
    monkeypatch.setattr(demo, "fleet", lambda arguments: 0)
    assert demo.main() == 0
    assert "Try next" in capsys.readouterr().out


def test_cycles_of_an_engine_without_a_clock_are_marked(capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import fields, replace

    from fleet.cli.table import estimated_cycles, print_engine

    empty = {f.name: None for f in fields(EngineRun)}
    iss = EngineRun(**{**empty, "name": "iss", "status": "ran", "counters": {"cycles_estimate": 594.2}, "elapsed_s": 0.1})  # pyright: ignore[reportArgumentType]
    rtl = replace(iss, name="rtl", cycles=600)
    assert estimated_cycles(iss) == 594
    assert estimated_cycles(rtl) is None
    print_engine(iss, None)
    print_engine(rtl, None)
    first, second = capsys.readouterr().out.splitlines()
    assert "594 estimated" in first
    assert "estimated" not in second
    assert " 600 " in second
