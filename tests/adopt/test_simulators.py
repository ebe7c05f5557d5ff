"""A design in another simulator: what travels between it and its bench, the host's text, hosts that run, what is told where not."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, DOTTER, FIR, KERNEL, MESH, PAIRER, RELAY, SCALER, VAULT, modelled, workspace
from click.testing import CliRunner
from simulators_here import cxxrtl, icarus

from fleet.adopt.bench.library import part_files
from fleet.adopt.bench.link import link_of
from fleet.adopt.bench.observe import Observation, read_observation
from fleet.adopt.bench.plan import make_plan
from fleet.adopt.bench.records import first_difference, seen_in
from fleet.adopt.bench.replay import BenchRunner
from fleet.adopt.bench.simulators import host_simulator, simulator_names
from fleet.adopt.bench.text import TOP, bench_text, host_text
from fleet.adopt.filelist import read_sources
from fleet.adopt.top import read_top
from fleet.adopt.workspace import AdoptWorkspace, open_workspace
from fleet.cli.looking.doctor import examine
from fleet.cli.sets.isa import command
from fleet.engines.linked.link import HOST, BenchLink
from fleet.engines.rtl_sim.tools import find_yosys
from fleet.errors import DeviceError, SetupError

each = pytest.mark.parametrize("simulator", [pytest.param("icarus", marks=icarus), pytest.param("cxxrtl", marks=cxxrtl)])
READ = (COPIER, DOTTER, PAIRER, VAULT, RELAY, KERNEL, FIR, MESH)
"""Designs that Icarus 11 reads; SCALER has interfaces as ports."""


def opened(folder: Path, files: Path) -> tuple[AdoptWorkspace, Observation | None]:
    if files == DOTTER:
        return open_workspace(workspace(folder, files)), None
    work = open_workspace(modelled(folder, files))
    assert work.observe is not None
    return work, read_observation(work.observe, work, make_plan(work))


def test_what_travels_are_all_ports_the_signals_that_are_observed_and_each_array_once(tmp_path: Path) -> None:
    work, observed = opened(tmp_path / "w", VAULT)
    link = link_of(work.top, observed)
    assert link.inputs == {
        "fault_i": (0, 4), "clk_i": (4, 1), "rst_ni": (5, 1), "psel": (6, 1), "penable": (7, 1), "pwrite": (8, 1),
        "paddr": (9, 8), "pwdata": (17, 32),
    }  # fmt: skip
    assert link.outputs == {"prdata": (0, 32), "pready": (32, 1)}
    assert next(iter(link.probes.values()))[0] == 33
    assert link.named(33) in link.probes
    assert link.named(31) == "prdata"
    # Eight lanes of 8 elements of 12 bits, and what else is declared; a lane that two states see travels once.
    lanes = [name for name in link.states if name.startswith("ctrl.g_bank")]
    assert len(lanes) == 8
    assert {link.states[name][1:] for name in lanes} == {(12, 8, 0)}
    lows = sorted((low, bits * max(1, count)) for low, bits, count, _ in link.states.values())
    assert [low for low, _ in lows] == [sum(size for _, size in lows[:n]) for n in range(len(lows))]
    assert link.bits_state == sum(size for _, size in lows)


@pytest.mark.parametrize("files", [*READ, SCALER], ids=lambda p: p.stem)
def test_both_ends_are_text_that_another_reader_elaborates(tmp_path: Path, files: Path) -> None:
    work, observed = opened(tmp_path / "w", files)
    plan, link = make_plan(work), link_of(work.top, observed)
    (tmp_path / "bench.sv").write_text(bench_text(work, plan, observed, link=link))
    bench = read_top(read_sources([*part_files(()), tmp_path / "bench.sv"]), TOP)
    assert bench.missing == ()
    assert work.top.name not in bench.modules
    if files != SCALER:
        (tmp_path / "host.sv").write_text(host_text(work, plan, link))
        host = read_top(read_sources([*work.top.files, tmp_path / "host.sv"]), HOST)
        assert host.missing == ()
        assert work.top.name in host.modules


def compiled(
    folder: Path, work: AdoptWorkspace, observed: Observation | None, simulator: str = "icarus"
) -> tuple[Path, BenchLink]:  # fmt: skip
    host, link = host_simulator(simulator), link_of(work.top, observed)
    assert host is not None
    for name, text in host.files(work, make_plan(work), link):
        (folder / name).write_text(text)

    def step(words: Sequence[str]) -> None:
        done = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    host.compile(work, step)
    return folder / host.image, link


class Design:
    """A host that a test asks instead of a bench."""

    def __init__(self, link: BenchLink, to: int, back: int) -> None:
        self._link, self._to, self._back, self._in = link, os.fdopen(to, "w"), os.fdopen(back), 0

    def set(self, **values: int) -> None:
        for name, value in values.items():
            low, width = self._link.inputs[name]
            self._in = self._in & ~(((1 << width) - 1) << low) | value << low

    def at(self, time: int) -> str:
        """What the design answers to its inputs at a time, lowest bit last."""
        print(f"0 {time} {self._in:x}", file=self._to, flush=True)
        return self._back.readline().strip()

    def look(self, time: int) -> str:
        print(f"1 {time} 0", file=self._to, flush=True)
        return self._back.readline().strip()

    def get(self, answer: str, name: str) -> str:
        low, width = self._link.outputs[name]
        return answer[len(answer) - low - width : len(answer) - low]

    def close(self) -> None:
        self._to.close()
        self._back.close()


@contextmanager
def design(image: Path, link: BenchLink, simulator: str = "icarus") -> Iterator[Design]:
    host = host_simulator(simulator)
    assert host is not None
    down, up = os.pipe(), os.pipe()
    words = f"exec 110<&{down[0]} 111>&{up[1]} && exec {host.program or image} {image}"
    # Bash: the numbers of the files have more than one digit.
    child = subprocess.Popen(["bash", "-c", words], pass_fds=(down[0], up[1]), cwd=image.parent, stdout=subprocess.DEVNULL)
    os.close(down[0])
    os.close(up[1])
    found = Design(link, down[1], up[0])
    try:
        yield found
    finally:
        found.close()
        assert child.wait(timeout=20) == 0


@icarus
@pytest.mark.parametrize("files", READ, ids=lambda p: p.stem)
def test_icarus_reads_a_design_and_its_host(tmp_path: Path, files: Path) -> None:
    work, observed = opened(tmp_path / "w", files)
    image, link = compiled(tmp_path, work, observed)
    with design(image, link) as dut:
        assert len(dut.at(0)) == link.bits_out
        assert len(dut.look(0)) == link.bits_state


@icarus
def test_a_host_gives_outputs_of_four_states_and_keeps_the_time_of_the_bench(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text(
        "module t (input logic clk, rst, input logic [3:0] in_data, input logic in_valid, output logic in_ready,\n"
        "  output logic [7:0] out_data, output logic out_valid, input logic out_ready, output logic [31:0] now);\n"
        "  logic [3:0] never;\n  assign in_ready = !rst;\n  assign out_data = {never, in_data};\n"
        "  always_ff @(posedge clk) if (rst) {out_valid, now} <= 0; else begin out_valid <= in_valid; now <= 32'($time); end\n"
        "endmodule\n"
    )
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "t.sv"))
    image, link = compiled(tmp_path, work, None)
    with design(image, link) as dut:
        assert dut.get(dut.at(0), "now") == "x" * 32
        dut.set(rst=1)
        for time in range(1, 5):
            dut.set(clk=time % 2)
            last = dut.at(time)
        assert (dut.get(last, "now"), dut.get(last, "out_valid"), dut.get(last, "in_ready")) == ("0" * 32, "0", "0")
        dut.set(rst=0, in_data=9, in_valid=1)
        assert dut.get(dut.at(4), "out_data") == "xxxx1001"  # no edge of the clock: what is combinational follows
        dut.set(clk=1)
        last = dut.at(77)
        assert (dut.get(last, "out_valid"), int(dut.get(last, "now"), 2)) == ("1", 77)


@icarus
def test_a_design_with_delays_between_events_of_the_bench_is_not_carried(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text(
        "module t (input logic clk, output logic q_valid, input logic q_ready, output logic [7:0] q_data);\n"
        "  initial {q_valid, q_data} = 0;\n  always @(posedge clk) q_data <= #0.3 q_data + 1;\nendmodule\n"
    )
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "t.sv"))
    image, link = compiled(tmp_path, work, None)
    with design(image, link) as dut:
        assert dut.at(0) != "!"
        dut.set(clk=1)
        assert dut.at(1) != "!"
        dut.set(clk=0)
        assert dut.at(2) == "!"


@each
def test_a_host_lets_a_design_settle_and_shows_its_state(tmp_path: Path, simulator: str) -> None:
    (tmp_path / "t.sv").write_text(
        "module t (input logic clk, rst, input logic [3:0] in_data, input logic in_valid, output logic in_ready,\n"
        "  output logic [7:0] out_data, output logic out_valid, input logic out_ready);\n"
        "  logic [1:0] at;\n  assign in_ready = !rst;\n  assign out_data = {2'd1, at, in_data};\n"
        "  always_ff @(posedge clk) if (rst) {out_valid, at} <= 0; else begin\n"
        "    out_valid <= in_valid; if (in_valid) at <= at + 1; end\n"
        "  inner u_inner (.clk, .we(in_valid && !rst), .at, .data(in_data));\nendmodule\n"
        "module inner (input logic clk, we, input logic [1:0] at, input logic [3:0] data);\n"
        "  logic [3:0] mem [0:3];\n  always_ff @(posedge clk) if (we) mem[at] <= data;\nendmodule\n"
    )
    folder = workspace(tmp_path / "w", tmp_path / "t.sv", edits=[('map = "ports.toml"', 'map = "ports.toml"\nobserve = "o.toml"')])
    (folder / "o.toml").write_text(
        '[[state]]\nname = "rows"\npath = "u_inner.mem"\n[[commit]]\nname = "c"\nsignal = "at"\nvalue = 2\n'
    )
    work = open_workspace(folder)
    assert work.observe is not None
    image, link = compiled(tmp_path, work, read_observation(work.observe, work, make_plan(work)), simulator)
    assert link.states == {"u_inner.mem": (0, 4, 4, 0)}
    with design(image, link, simulator) as dut:
        time = 0
        for n in range(6):
            for clk in (1, 0):
                # The inputs change behind the edge: the edge sees those of before.
                dut.set(clk=clk)
                dut.at(time := time + 1)
                if clk:
                    dut.set(rst=n < 2, in_valid=n >= 2, in_data=8 + n)
                    last = dut.at(time)
        # Written were 10 to 12 of cycles 2 to 4, at the edges behind them.
        assert dut.get(last, "out_data") == f"01{3:02b}{8 + 5:04b}"
        low, width = link.probes["at"]
        assert last[len(last) - low - width : len(last) - low] == "11"
        rows = dut.look(time)
        assert [rows[12 - 4 * n : 16 - 4 * n] for n in range(3)] == [f"{v:04b}" for v in (10, 11, 12)]


@cxxrtl
def test_a_signal_that_yosys_does_not_have_ends_the_host_with_its_name(tmp_path: Path) -> None:
    work, observed = opened(tmp_path / "w", COPIER)
    image, _ = compiled(tmp_path, work, observed, "cxxrtl")
    names = tmp_path / "names.h"
    names.write_text(names.read_text().replace('OUTPUTS = {{"', 'OUTPUTS = {{"no_'))
    words = ["g++", "-std=c++17", "-w", f"-I{find_yosys().include}", "host.cpp", "-o", "host"]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run([image], check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "is not in what yosys wrote" in done.stdout


@icarus
def test_a_design_that_icarus_does_not_read_is_named(tmp_path: Path) -> None:
    work, observed = opened(tmp_path / "w", SCALER)
    with pytest.raises(DeviceError, match=r"scaler\.sv:16: scaler has an interface as a port \(in\), which Icarus Verilog"):
        compiled(tmp_path, work, observed)


def test_without_a_simulator_it_is_said_what_is_missing_and_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = open_workspace(workspace(tmp_path / "w", DOTTER))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"`iverilog` is needed for simulator icarus and was not found; apt-get install iverilog"):
        BenchRunner(work, None, "icarus")
    with pytest.raises(
        SetupError, match=r"`yosys` is needed for simulator cxxrtl and was not found; apt-get install yosys yosys-dev"
    ):
        BenchRunner(work, None, "cxxrtl")
    for name in ("iverilog", "yosys"):
        finding = next(f for f in examine() if f.name == name)
        assert (finding.found, finding.ok, finding.optional) == ("missing", False, True)


def test_a_simulator_that_is_not_known_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="there is no simulator ivl; choose among verilator, icarus, cxxrtl"):
        host_simulator("ivl")
    folder = workspace(tmp_path / "w", DOTTER)
    said = CliRunner().invoke(command, ["replay", str(folder), "--simulator", "verilator,ivl"])
    assert said.exit_code == 2
    assert f"there is no simulator ivl; choose among {', '.join(simulator_names())}" in said.output
    said = CliRunner().invoke(command, ["replay", str(folder), "--simulator", "icarus", "--seeds", "2"])
    assert "--seeds sets initial values of verilator" in str(said.output)


def test_an_inout_port_and_a_state_too_large_to_look_at_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text("module t (input logic clk, inout wire pad, output logic q); assign q = pad; endmodule\n")
    with pytest.raises(DeviceError, match="pad is an inout port"):
        link_of(read_top(read_sources([tmp_path / "t.sv"]), "t"), None)
    (tmp_path / "u.sv").write_text(
        "module u (input logic clk_i, output logic q_valid, input logic q_ready, output logic [31:0] q_data);\n"
        "  logic [31:0] mem [65536];\n  assign q_valid = 0;\n"
        "  always_ff @(posedge clk_i) q_data <= mem[q_data[15:0]];\nendmodule\n"
    )
    folder = workspace(tmp_path / "w", tmp_path / "u.sv", edits=[('map = "ports.toml"', 'map = "ports.toml"\nobserve = "o.toml"')])
    (folder / "o.toml").write_text('[[state]]\nname = "all"\npath = "mem"\n')
    work = open_workspace(folder)
    assert work.observe is not None
    with pytest.raises(DeviceError, match=r"o\.toml:1: state all makes 2,097,152 bits to look at, more than 1,048,576"):
        link_of(work.top, read_observation(work.observe, work, make_plan(work)))


def test_records_of_one_edge_are_the_same_in_any_order(tmp_path: Path) -> None:
    lines = [
        "B|0|20", "R|0|7|00ff|20|20", "C|9|30|0|0000000000000003", "C|9|30|1|0000000000000000", "S|9|out|ff|30", "S|9|in|ee|30",
        "W|9|30|00|00000000000100|07|1", "W|9|30|00|00000000000101|08|1", "C|10|32|0|0000000000000003", "E|12|end|4|0|0",
    ]  # fmt: skip
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "one" / "results.txt").write_text("\n".join(lines))
    (tmp_path / "other" / "results.txt").write_text("\n".join([*lines[:2], *reversed(lines[2:8]), *lines[8:]]))
    assert seen_in(tmp_path / "one") == seen_in(tmp_path / "other")
    moved = [line.replace("C|10|32|0", "C|10|32|1") for line in lines]
    (tmp_path / "other" / "results.txt").write_text("\n".join(moved))
    found = first_difference(seen_in(tmp_path / "one"), seen_in(tmp_path / "other"))
    assert found is not None
    assert found[1] == "a commit (cycle 10, time 32, commit 1, tag 0x3)"


def test_the_first_record_that_differs_is_told_in_words() -> None:
    one = ["R|0|7|00ff|20", "C|9|30|0|0000000000000003", "E|12|end|4|0|0"]
    assert first_difference(one, list(one)) is None
    assert first_difference(one, [one[0], "C|10|32|0|0000000000000003", one[2]]) == (
        "a commit (cycle 9, time 30, commit 0, tag 0x3)", "a commit (cycle 10, time 32, commit 0, tag 0x3)"
    )  # fmt: skip
    assert first_difference(one, one[:2]) == (
        "the end (cycle 12, by end, operation 4, rules broken 0, bytes read unwritten 0)",
        "nothing more",
    )
