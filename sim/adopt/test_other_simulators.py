"""Designs that were not written for fleet in Icarus Verilog and CXXRTL: the records of Verilator, the same faults, and x."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, FIR, KERNEL, MESH, PAIRER, RELAY, SCALER, VAULT, modelled, workspace
from click.testing import CliRunner
from owner_tests import TESTS, edits
from simulators_here import cxxrtl, icarus

from fleet.adopt.bench.replay import BenchRunner, Outcome
from fleet.adopt.bench.side_by_side import SimulatorRun, side_by_side
from fleet.adopt.record import ReplayRecord
from fleet.adopt.workspace import open_workspace
from fleet.cli.sets.isa import command
from fleet.engines.rtl_sim.build import BuildError
from fleet.errors import DeviceError, ExitCode
from fleet.verify.adopted.initial import from_other_values

pytestmark = pytest.mark.nightly
BOTH = ("verilator", "icarus")
Runs = Callable[..., Sequence[SimulatorRun]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs a design's test with a planted fault in Verilator and another simulator."""
    home = tmp_path_factory.mktemp("simulators")

    def runs(files: Path, fault: int = 0, other: str = "icarus") -> Sequence[SimulatorRun]:
        folder = home / files.stem
        if not folder.exists():
            modelled(folder, files, edits=edits(files))
        test = folder / "owner.toml"
        test.write_text(TESTS[files].replace("FAULT", str(fault)))
        return [*side_by_side(open_workspace(folder), test, None, ("verilator", other))]

    return runs


def held(runs: Sequence[SimulatorRun]) -> Outcome:
    """The outcome in the second simulator, if it agrees with the first in all that is compared."""
    verilator, other = runs
    assert verilator.outcome is not None
    assert other.outcome is not None
    for found in (verilator.outcome, other.outcome):
        assert (found.differences, found.violations, found.exit_code) == ((), (), ExitCode.AGREED)
        assert found.lockstep is not None
    assert other.outcome.cycles == verilator.outcome.cycles
    assert other.outcome.compared == verilator.outcome.compared > 10
    assert other.outcome.lockstep is not None
    assert verilator.outcome.lockstep is not None
    assert other.outcome.lockstep.commits == verilator.outcome.lockstep.commits > 0
    count = int(other.agrees.split()[0])
    assert count >= 28  # records, time and cycle of each among them
    assert other.agrees == f"{count} records are those of verilator"
    return other.outcome


@pytest.mark.parametrize("files", [COPIER, PAIRER, VAULT, RELAY, KERNEL, FIR, MESH], ids=lambda p: p.stem)
@icarus
def test_icarus_leaves_the_same_records(runs: Runs, files: Path) -> None:
    outcome = held(runs(files))
    assert (outcome.folder / "inside.vcd").stat().st_size > 500


@pytest.mark.parametrize("files", [COPIER, RELAY, KERNEL, FIR, MESH], ids=lambda p: p.stem)
@cxxrtl
def test_cxxrtl_leaves_the_same_records(runs: Runs, files: Path) -> None:
    assert held(runs(files, 0, "cxxrtl")).unknown == ()


@cxxrtl
@pytest.mark.parametrize("fault", range(1, 10))
def test_a_planted_fault_is_found_in_cxxrtl_in_the_same_words(runs: Runs, fault: int) -> None:
    verilator, other = runs(COPIER, fault, "cxxrtl")
    assert verilator.outcome is not None
    assert other.outcome is not None
    assert other.exit_code is verilator.exit_code is ExitCode.DIFFERS
    assert other.outcome.differences == verilator.outcome.differences
    assert other.outcome.violations == verilator.outcome.violations


@pytest.mark.parametrize(
    ("files", "fault"),
    [(COPIER, n) for n in range(1, 10)] + [(PAIRER, n) for n in range(1, 6)] + [(VAULT, n) for n in range(1, 7)],
    ids=lambda v: getattr(v, "stem", v),
)
@icarus
def test_a_planted_fault_is_found_in_both_in_the_same_words(runs: Runs, files: Path, fault: int) -> None:
    verilator, icarus = runs(files, fault)
    assert verilator.outcome is not None
    assert icarus.outcome is not None
    assert icarus.exit_code is verilator.exit_code is ExitCode.DIFFERS
    assert icarus.outcome.differences == verilator.outcome.differences
    assert icarus.outcome.violations == verilator.outcome.violations


@icarus
def test_a_simulator_that_does_not_read_a_design_leaves_the_verdict_open(runs: Runs) -> None:
    verilator, icarus = runs(SCALER)
    assert verilator.exit_code is ExitCode.AGREED
    assert icarus.exit_code is ExitCode.BAD_INPUT
    assert "scaler has an interface as a port (in)" in str(icarus.error)


# A register file in which nothing resets one word, `ifdef`s and delays come in by the text that is replaced.
REGISTERS = """module regs (input logic clk, rst_n, input logic psel, penable, pwrite, input logic [7:0] paddr,
  input logic [31:0] pwdata, output logic [31:0] prdata, output logic pready, output logic irq);
  logic [31:0] kept, never, enabled;
  assign pready = 1;
  assign prdata = paddr == 0 ? kept : paddr == 4 ? never : enabled;
  wire write = psel && penable && pwrite;
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) {kept, irq} <= '0;
    else begin
      if (write && paddr == 0) kept <= pwdata;
      if (write && paddr == 4) never <= pwdata;
      if (write && paddr == 8) irq <= IRQ;
    end
  always_ff @(posedge clk) if (never[0]) enabled <= 1; else enabled <= 0;
endmodule
"""


def steps(*given: tuple[str, int, int]) -> str:
    lines = ["smoke = true"]
    for kind, address, value in given:
        name = "data" if kind == "write" else "expect"
        lines += ["[[step]]", f'{kind} = "apb"', f"address = {address}"] + ([f"{name} = {value}"] if value >= 0 else [])
    return "\n".join(lines) + "\n"


def registers(folder: Path, *changes: tuple[str, str]) -> Path:
    text = REGISTERS.replace("IRQ", "pwdata[0]") if not any(old == "IRQ" for old, _ in changes) else REGISTERS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "regs.sv").write_text(text)
    (folder / "regs.f").write_text("regs.sv\n")
    return workspace(folder / "w", folder / "regs.f")


def icarus_runs(folder: Path, text: str) -> Outcome:
    (folder / "t.toml").write_text(text)
    return BenchRunner(open_workspace(folder), None, "icarus").run(folder / "t.toml")


@icarus
def test_a_bit_without_a_value_that_is_seen_is_found_and_one_that_is_not_seen_is_told(tmp_path: Path) -> None:
    folder = registers(tmp_path)
    quiet = icarus_runs(folder, steps(("write", 0, 5), ("read", 0, 5), ("write", 4, 7), ("read", 4, 7), ("read", 8, 1)))
    assert (quiet.differences, quiet.exit_code) == ((), ExitCode.AGREED)
    seen = icarus_runs(folder, steps(("write", 0, 5), ("read", 0, 5), ("read", 4, -1)))
    assert seen.exit_code is ExitCode.DIFFERS
    assert "a bit that has no value is seen: with such bits as 0 a read (operation 3, cycle " in seen.differences[0]
    assert "value 0x0," in seen.differences[0]
    assert "value 0xffffffff," in seen.differences[0]
    assert [(u.path, u.bits) for u in seen.unknown] == [("prdata", 32)]
    # A test that expects the value which such bits happen to have does not pass either.
    expected = icarus_runs(folder, steps(("read", 4, 0)))
    assert any(line.startswith("with bits that have no value as 1: ") for line in expected.differences)


@icarus
def test_simulators_that_disagree_are_a_finding_with_its_place(tmp_path: Path) -> None:
    other = "\n`ifdef VERILATOR\n      if (write && paddr == 0) kept <= pwdata;\n`else\n"
    other += "      if (write && paddr == 0) kept <= pwdata ^ 4;\n`endif\n"
    folder = registers(tmp_path, ("      if (write && paddr == 0) kept <= pwdata;\n", other))
    test = folder / "t.toml"
    test.write_text(steps(("write", 0, 1), ("read", 0, -1)))
    said = CliRunner().invoke(
        command, ["replay", str(folder), str(test), "--simulator", "verilator,icarus", "--shrink"], standalone_mode=False
    )
    assert said.return_value == ExitCode.DIFFERS, said.output
    assert "simulators disagree: icarus has a read (operation 2, cycle " in said.output
    assert "value 0x5," in said.output
    assert ", verilator a read (operation 2, cycle " in said.output
    assert "verdict of 2 simulators: FAIL" in said.output
    assert "no simulator fails the test by itself: nothing is made small or exported" in said.output
    kept = ReplayRecord.load(folder / "runs" / "t@icarus" / "replay.json")
    assert kept.arguments[-3:] == (str(test), "--simulator", "verilator,icarus")
    # Each alone agrees with itself.
    for name in BOTH:
        alone = CliRunner().invoke(command, ["replay", str(folder), str(test), "--simulator", name], standalone_mode=False)
        assert alone.return_value == ExitCode.AGREED


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("kept <= pwdata", "kept <= #0.3 pwdata"), "has outputs that change by delays of its own"),
        (("irq <= pwdata[0]", "begin irq <= 1; $finish; end"), "ended before the test did"),
    ],
)
@icarus
def test_a_design_that_cannot_be_carried_is_one_line(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    folder = registers(tmp_path, change)
    with pytest.raises(DeviceError, match=f"the simulation of the design in icarus {said}"):
        icarus_runs(folder, steps(("write", 0, 1), ("write", 8, 1), ("read", 0, 1), ("read", 0, 1)))


@icarus
def test_what_icarus_does_not_compile_is_one_line_with_its_log(tmp_path: Path) -> None:
    folder = registers(tmp_path, ("  wire write", "  assert property (@(posedge clk) pready |-> pready);\n  wire write"))
    with pytest.raises(BuildError, match=r"regs: icarus does not read it: .*regs\.sv:6: .*; the whole log is in"):
        icarus_runs(folder, steps(("read", 0, 0)))


def test_what_a_register_port_shows_while_it_is_written_is_not_seen(tmp_path: Path) -> None:
    """Values of a register that nobody has set come out of the read data during the write that sets it."""
    folder = registers(tmp_path)
    test = folder / "t.toml"
    test.write_text(steps(("write", 0, 5), ("read", 0, 5), ("write", 4, 7), ("read", 4, 7)))
    found = from_other_values(BenchRunner(open_workspace(folder)), test, 4)
    assert (found.seeds, found.difference) == (4, "")
    test.write_text(steps(("write", 0, 5), ("read", 4, -1), ("write", 4, 7)))
    assert "a value that nobody gave is seen" in from_other_values(BenchRunner(open_workspace(folder)), test, 4).difference
