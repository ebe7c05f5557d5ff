"""Designs that were not written for fleet, in benches made from their port maps: smoke, the owner's test, planted faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, DOTTER, SCALER, workspace

from fleet.adopt.bench.records import seen_in
from fleet.adopt.bench.replay import Outcome, replay
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly

COPY = """
limit = 5000
[[memory]]
port = "m"
address = 0x1000
words = [1, 2, 3, 4, 5, 6]
[[step]]
set = "fault_i"
value = FAULT
[[step]]
read = "apb"
register = "identity"
expect = 0xc0b1e500
[[step]]
write = "apb"
register = "source"
data = 0x1000
[[step]]
write = "apb"
register = "destination"
data = 0x2000
[[step]]
write = "apb"
register = "words"
data = 3
[[step]]
write = "apb"
register = "control"
data = 1
[[step]]
wait = "irq_o"
limit = 500
[[expect]]
port = "m"
address = 0x2000
words = [1, 2, 3, 4, 5, 6]
"""
DOT = """
limit = 5000
[[memory]]
port = "mem"
address = 0x100
words = [5, 6, 7]
[[step]]
set = "fault"
value = FAULT
[[step]]
send = "io"
data = [{cmd_funct = 1, cmd_rd = 9, cmd_rs1 = 0x100, cmd_rs2 = 3}]
[[step]]
receive = "io"
count = 1
limit = 500
[[expect]]
received = "io"
data = [{resp_rd = 9, resp_data = 18}]
[[expect]]
port = "mem"
address = 0x10c
words = [18]
"""
SCALE = """
limit = 5000
[[step]]
set = "fault"
value = FAULT
[[step]]
set = "cfg.scale"
value = 3
[[step]]
set = "cfg.shift"
value = 1
[[step]]
send = "in"
data = [10, 20, 30, 40, 50, {tdata = 60, tlast = 1}]
[[step]]
receive = "out"
count = 6
limit = 500
[[step]]
wait = "counts"
value = 0x60006
[[expect]]
received = "out"
data = [15, 30, 45, 60, 75, {tdata = 90, tlast = 1}]
"""
SLOW = ("period = 2\nphase = 0\n\n[resets", "period = 6\nphase = 1\n\n[resets")  # of the last clock
PAUSES = ("pause = 0", "pause = 2")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, str | None, int], Outcome]:
    """Runs a test (None: the smoke test) of a design with a planted fault; each design is built once."""
    home = tmp_path_factory.mktemp("adopted")

    def run(files: Path, text: str | None, fault: int) -> Outcome:
        folder = home / files.stem
        if not folder.exists():
            edits = [PAUSES] + (
                [("period = 2\nphase = 0\n\n[resets", "period = 6\nphase = 1\n\n[resets")] if files == COPIER else []
            )
            workspace(folder, files, edits=edits)
        test = folder / ("smoke.toml" if text is None else "owner.toml")
        if text is not None:
            test.write_text(text.replace("FAULT", str(fault)))
        return replay(open_workspace(folder), test)

    return run


Run = Callable[[Path, str | None, int], Outcome]


@pytest.mark.parametrize("files", [COPIER, DOTTER, SCALER], ids=lambda p: p.stem)
def test_a_design_resets_reads_and_idles_with_quiet_monitors(run: Run, files: Path) -> None:
    outcome = run(files, None, 0)
    assert (outcome.differences, outcome.violations, outcome.exit_code) == ((), (), ExitCode.AGREED)
    assert outcome.monitors >= 2
    assert outcome.cycles > 200
    assert outcome.compared == (1 if files == COPIER else 0)
    assert outcome.wave is not None
    assert outcome.wave.stat().st_size > 500


@pytest.mark.parametrize(("files", "text"), [(COPIER, COPY), (DOTTER, DOT), (SCALER, SCALE)], ids=lambda p: getattr(p, "stem", ""))
def test_the_owners_test_agrees(run: Run, files: Path, text: str) -> None:
    outcome = run(files, text, 0)
    assert (outcome.differences, outcome.violations, outcome.exit_code) == ((), (), ExitCode.AGREED)
    assert outcome.compared == {COPIER: 25, DOTTER: 5, SCALER: 7}[files]


@pytest.mark.parametrize(
    ("files", "text", "fault", "port", "rule"),
    [
        (COPIER, COPY, 1, "m", "arvalid dropped before ready"),
        (COPIER, COPY, 2, "m", "wpayload changed while valid waits"),
        (COPIER, COPY, 3, "m", "wlast is not at the end of the burst"),
        (COPIER, COPY, 9, "m", "awburst wraps after other than 2, 4, 8 or 16 beats"),
        (DOTTER, DOT, 1, "io", "response without a request"),
        (DOTTER, DOT, 2, "mem[0]", "request: payload changed while valid waits"),
        (DOTTER, DOT, 3, "mem[0]", "request: payload changed while valid waits"),
        (SCALER, SCALE, 1, "out", "tvalid dropped before ready"),
        (SCALER, SCALE, 2, "out", "tpayload changed while valid waits"),
    ],
)
def test_a_broken_protocol_is_found_and_the_design_blamed(
    run: Run, files: Path, text: str, fault: int, port: str, rule: str
) -> None:
    outcome = run(files, text, fault)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert (port, rule, "design") in {(v.port, v.rule, v.blame) for v in outcome.violations}
    assert {v.blame for v in outcome.violations} == {"design"}


def test_a_byte_lane_that_is_dropped_is_found_in_memory(run: Run) -> None:
    outcome = run(DOTTER, DOT, 4)
    assert outcome.violations == ()
    assert [line.partition(": ")[2] for line in outcome.differences] == [
        "mem at 0x10f: never written, expected 0x00 (1 of 4 bytes differ)"
    ]
    assert outcome.exit_code is ExitCode.DIFFERS


def test_done_before_the_last_write_is_found_in_memory(run: Run) -> None:
    start = '[[step]]\nwrite = "apb"\nregister = "control"\n'
    assert COPY.count(start) == 1
    # Where the memory takes the last word at once, it is there before the test looks.
    outcomes = [run(COPIER, COPY.replace(start, f"[[step]]\nidle = {n}\n{start}"), 4) for n in range(1, 40, 3)]
    found = [o.differences[0] for o in outcomes if o.exit_code is ExitCode.DIFFERS]
    assert found
    assert all("never written" in line for line in found)


def test_a_design_that_waits_for_times_of_its_own_leaves_the_same_records_and_the_place_is_said(tmp_path: Path, run: Run) -> None:
    """With #delays the bench has a scheduler of events, too."""
    text = (COPIER.parent / "copier.sv").read_text()
    (tmp_path / "copier.sv").write_text(text.replace("awaddr <= ", "awaddr <= #0.3 "))
    for path in (COPIER, COPIER.with_suffix(".rdl")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    folder = workspace(tmp_path / "w", tmp_path / "copier.f", edits=[PAUSES, SLOW])
    test = folder / "owner.toml"
    test.write_text(COPY.replace("FAULT", "0"))
    outcome = replay(open_workspace(folder), test)
    name, _, line = outcome.delays.partition(":")
    assert name == "copier.sv"
    assert "<= #0.3" in (tmp_path / name).read_text().splitlines()[int(line) - 1]
    without = run(COPIER, COPY, 0)
    assert without.delays == ""
    assert seen_in(outcome.folder) == seen_in(without.folder)
    assert outcome.exit_code is ExitCode.AGREED
    assert outcome.compared == without.compared


def test_a_step_that_does_not_end_is_named(run: Run) -> None:
    outcome = run(SCALER, SCALE.replace("count = 6", "count = 7"), 0)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert "receive out did not end within 500 cycles" in outcome.differences[0]


def test_a_test_that_compares_nothing_does_not_pass(run: Run) -> None:
    assert run(SCALER, "[[step]]\nidle = 10\n", 0).exit_code is ExitCode.INCOMPLETE


OWN = """from pathlib import Path
from fleet.sdk.ports import Protocol, Signal
PROTOCOL = Protocol("token_bus", "token bus", 5, (Signal("tok", widths=(8,)), Signal("give"), Signal("take", driver="subordinate")),
    (frozenset({"tok", "give", "take"}),), bench=Path(__file__).with_name("token_bus.sv"))
"""
OWN_SV = """module fleet_token_bus_subordinate (
  input logic clk, rst,
  input  logic give,
  output logic take
);
  int n = 0;
  always @(posedge clk) begin n <= n + 1; take <= n % 3 == 0; end
endmodule
module fleet_token_bus_monitor #(parameter string PORT = "", parameter string MANAGER = "", parameter string SUBORDINATE = "") (
  input logic clk, rst,
  input logic [7:0] tok,
  input logic give,
  input logic take
);
  always @(posedge clk) if (!rst) begin
    if (take && !give) fleet_bench_pkg::violation(PORT, "take without give", SUBORDINATE);
    if (give && tok == 0) fleet_bench_pkg::violation(PORT, "no token", MANAGER);
  end
endmodule
"""


def test_a_protocol_of_a_users_own_has_its_own_checker_which_blames_the_bench(tmp_path: Path) -> None:
    (tmp_path / "token_bus.py").write_text(OWN)
    (tmp_path / "token_bus.sv").write_text(OWN_SV)
    (tmp_path / "ring.sv").write_text(
        "module ring (input logic clk, output logic [7:0] r_tok, output logic r_give, input logic r_take);\n"
        "  initial r_tok = 1;\n  assign r_give = r_tok[1];\n"
        "  always_ff @(posedge clk) r_tok <= r_tok == 255 ? 1 : r_tok + 1;\nendmodule\n"
    )
    (tmp_path / "ring.f").write_text("ring.sv\n")
    folder = workspace(tmp_path / "ring", tmp_path / "ring.f", own=[tmp_path / "token_bus.py"])
    outcome = replay(open_workspace(folder), folder / "smoke.toml")
    assert [(v.port, v.rule, v.blame) for v in outcome.violations] == [("r", "take without give", "bench")]
    assert outcome.exit_code is ExitCode.INTERNAL
