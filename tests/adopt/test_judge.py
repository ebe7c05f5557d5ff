"""The verdict of a test: from what a run left, without a run."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import SCALER, workspace

from fleet.adopt.bench.plan import BenchPlan, make_plan
from fleet.adopt.bench.replay import BenchError, Outcome, ProtocolViolation, judge
from fleet.adopt.bench.script import ReplayScript, read_script
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

TEST = """limit = 900
[[step]]
send = "in"
data = [7]
[[step]]
receive = "out"
count = 2
limit = 500
[[expect]]
received = "out"
data = [15, {tdata = 30, tlast = 1}]
[[expect]]
address = 0x10
bytes = "0102"
"""
# A beat of `out` is {tlast, tkeep, tuser, tdest, tid, tdata}: 1, 4, 1, 1, 1 and 32 bits.
GOOD = "R|2|30|0\nR|3|40|2\nS|35|out|0000000f\nS|36|out|800000001e\nE|50|end|5|0|0\n"


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[BenchPlan, ReplayScript, Path]:
    """Plan, script, the test's file."""
    folder = workspace(tmp_path_factory.mktemp("judge") / "w", SCALER)
    work = open_workspace(folder)
    plan = make_plan(work)
    (folder / "t.toml").write_text(TEST)
    return plan, read_script(folder / "t.toml", work, plan), folder / "t.toml"


def judged(
    given: tuple[BenchPlan, ReplayScript, Path], folder: Path, results: str, dump: str = "01\n02\n", code: int = 0
) -> Outcome:
    (folder / "results.txt").write_text(results)
    (folder / "dump0.txt").write_text(dump)
    (folder / "log.txt").write_text("%Error: no\n")
    return judge(given[0], given[1], folder, folder / "wave.fst", code)


def test_what_agrees_passes(given: tuple[BenchPlan, ReplayScript, Path], tmp_path: Path) -> None:
    wide = GOOD.replace("800000001e", f"{1 << (32 + 3 + 4) | 30:x}")
    outcome = judged(given, tmp_path, wide)
    assert (outcome.differences, outcome.violations, outcome.exit_code) == ((), (), ExitCode.AGREED)
    assert (outcome.compared, outcome.cycles, outcome.wave) == (4, 50, None)


@pytest.mark.parametrize(
    ("results", "dump", "message"),
    [
        (GOOD.replace("0000000f", "00000010"), "01\n02\n", "t.toml:9: out word 0: 0x10, expected 0xf"),
        (GOOD.replace("S|36|out|800000001e\n", ""), "01\n02\n", "t.toml:9: out gave 1 words, expected 2"),
        (GOOD, "01\n03\n", "memory at 0x11: 0x03, expected 0x02 (1 of 2 bytes differ)"),
        (GOOD, "01\n--\n", "memory at 0x11: never written, expected 0x02 (1 of 2 bytes differ)"),
        (GOOD, "", "memory at 0x10: never written, expected 0x01 (2 of 2 bytes differ)"),
        (GOOD.replace("|end|5", "|limit|2"), "", "t.toml:6: receive out did not end within 500 cycles (cycle 50)"),
    ],
)
def test_what_differs_is_said(
    given: tuple[BenchPlan, ReplayScript, Path], tmp_path: Path, results: str, dump: str, message: str
) -> None:
    outcome = judged(given, tmp_path, results, dump)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert any(message in line for line in outcome.differences), outcome.differences


@pytest.mark.parametrize(("blame", "code"), [("design", ExitCode.DIFFERS), ("bench", ExitCode.INTERNAL)])
def test_the_one_who_broke_a_protocol_decides(
    given: tuple[BenchPlan, ReplayScript, Path], tmp_path: Path, blame: str, code: ExitCode
) -> None:
    found = f"V|9|out|tvalid dropped before ready|{blame}\nV|12|out|tvalid dropped before ready|{blame}\n"
    outcome = judged(given, tmp_path, found + GOOD.replace("800000001e", f"{1 << 39 | 30:x}"))
    assert outcome.violations == (ProtocolViolation(9, "out", "tvalid dropped before ready", blame, 2),)
    assert outcome.exit_code is code


@pytest.mark.parametrize(("results", "code"), [("", 0), ("R|2|30|0\n", 0), (GOOD, 134), (GOOD.replace("|end|", "|script|"), 0)])
def test_a_bench_that_fails_is_not_the_designs_fault(
    given: tuple[BenchPlan, ReplayScript, Path], tmp_path: Path, results: str, code: int
) -> None:
    with pytest.raises(BenchError, match="the bench ended before its test did: %Error: no") as caught:
        judged(given, tmp_path, results, code=code)
    assert caught.value.exit_code is ExitCode.INTERNAL


def test_quiet_monitors_are_enough_for_a_smoke_test_alone(given: tuple[BenchPlan, ReplayScript, Path], tmp_path: Path) -> None:
    plan, _, _ = given
    (tmp_path / "results.txt").write_text("E|50|end|1|0|0\n")
    for smoke, code in ((True, ExitCode.AGREED), (False, ExitCode.INCOMPLETE)):
        assert judge(plan, ReplayScript("t", 100, smoke), tmp_path, tmp_path / "w", 0).exit_code is code


STOPS = (
    "Assertion failed: unknown funct\n[43000] %Fatal: rtl/t.v:470: Assertion failed in fleet_adopt_bench.dut\n"
    "%Error: /x/rtl/t.v:470: Verilog $stop\nAborting...\n",
    "%Error: rtl/t.v:9: Verilog $stop\nAborting...\n",
    "- rtl/t.v:12: Verilog $finish\n- S i m u l a t i o n   R e p o r t: Verilator 5\n",
)


SAID = ("t.v:470: Assertion failed in dut (Assertion failed: unknown funct)", "t.v:9: $stop", "t.v:12: $finish")


@pytest.mark.parametrize(("log", "said"), list(zip(STOPS, SAID, strict=True)))
def test_a_design_that_stops_the_simulation_fails_the_test_and_is_named(
    given: tuple[BenchPlan, ReplayScript, Path], tmp_path: Path, log: str, said: str
) -> None:
    (tmp_path / "results.txt").write_text("R|2|30|0\nV|31|in|valid dropped before ready|bench\n")
    (tmp_path / "log.txt").write_text(log)
    outcome = judge(given[0], given[1], tmp_path, tmp_path / "wave.fst", 0 if "finish" in log else 134)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert (outcome.stopped, outcome.cycles) == (True, 31)
    [difference] = outcome.differences
    assert difference.startswith("the design ends the simulation: ")
    assert difference.endswith(said)


@pytest.mark.parametrize(
    "line", ["%Error: bench.sv:90: Verilog $stop", "[9] %Fatal: axi4.sv:7: Assertion failed in fleet_adopt_bench.u3"]
)
def test_a_bench_that_stops_is_no_fault_of_the_design(
    given: tuple[BenchPlan, ReplayScript, Path], tmp_path: Path, line: str
) -> None:
    (tmp_path / "results.txt").write_text("R|2|30|0\n")
    (tmp_path / "log.txt").write_text(line + "\n")
    with pytest.raises(BenchError):
        judge(given[0], given[1], tmp_path, tmp_path / "wave.fst", 134)
