"""The bench of an adopted design: what drives and watches each port, its text (which slang elaborates), tests as files."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("pyslang")

from adopted import COPIER, DOTTER, SCALER, workspace
from simulators_here import icarus

from fleet.adopt.bench import replay
from fleet.adopt.bench.export import ordered_functions, plain_module, with_plain_store
from fleet.adopt.bench.library import SIGNAL, part_files, parts
from fleet.adopt.bench.plan import make_plan, not_driven, untried
from fleet.adopt.bench.replay import BenchRunner
from fleet.adopt.bench.script import read_script
from fleet.adopt.bench.text import TOP, bench_text, clock_table
from fleet.adopt.filelist import read_sources
from fleet.adopt.protocols import PROTOCOLS
from fleet.adopt.registers import read_registers
from fleet.adopt.top import read_top
from fleet.adopt.workspace import AdoptWorkspace, guesses, open_workspace
from fleet.cli.sets.isa import command
from fleet.errors import DeviceError

HEADERS = Path(__file__).parent
M_CLOCK = '[ports.m]\nclock = "clk_i"  # a guess: no clock is named like this port\n'
M = f"{M_CLOCK}latency = 1\npause = 0"


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> dict[str, AdoptWorkspace]:
    """By name of the design."""
    home = tmp_path_factory.mktemp("works")
    return {p.stem: open_workspace(workspace(home / p.stem, p)) for p in (COPIER, DOTTER, SCALER)}


def test_what_a_workspace_has(works: dict[str, AdoptWorkspace]) -> None:
    copier = works["copier"]
    assert list(copier.settings.clocks) == ["clk_i", "slow_clk_i"]
    assert copier.settings.ties == {"scan_en_i": 0, "fault_i": 0}
    assert [r.name for r in copier.registers][-1] == "identity"
    assert read_registers(copier.folder / "description.rdl")[-1].reset == 0xC0B1E500
    assert (copier.folder / "smoke.toml").read_text().count("identity") == 1


@pytest.mark.parametrize(
    ("name", "driven", "monitors", "watched"),
    [
        ("copier", ["apb"], 2, ["irq_o", "slow_count_o"]),
        ("dotter", ["io"], 3, []),
        ("scaler", ["in", "out"], 2, ["counts"]),
    ],
)
def test_what_drives_and_watches_the_ports(
    works: dict[str, AdoptWorkspace], name: str, driven: list[str], monitors: int, watched: list[str]
) -> None:
    plan = make_plan(works[name])
    assert (list(plan.driven), plan.monitors(), list(plan.watched), plan.undriven) == (driven, monitors, watched, ())


@pytest.mark.parametrize(
    ("ports", "driven"),
    [
        ("input p_valid, input [31:0] p_insn, p_rs1, p_rs2, output p_wr, p_wait, p_ready, output [31:0] p_rd", ["p"]),
        ("input c_start, input [31:0] c_dataa, c_datab, output c_done, output [31:0] c_result", ["c"]),
        (
            "input s_valid, s_startofpacket, s_endofpacket, input [7:0] s_data, output s_ready,"
            " output m_valid, m_startofpacket, m_endofpacket, output [7:0] m_data, input m_ready",
            ["s", "m"],
        ),
        ("input wr_en, input [7:0] din, output full, input rd_en, output [7:0] dout, output empty", ["fifo_write", "fifo_read"]),
        ("input [7:0] put_x, input EN_put, output RDY_put, input EN_get, output [7:0] get, output RDY_get", ["put", "get"]),
    ],
    ids=["pcpi", "nios", "avalon_st", "fifo", "bluespec"],
)
def test_commands_packets_fifos_and_methods_of_a_design_are_driven(tmp_path: Path, ports: str, driven: list[str]) -> None:
    (tmp_path / "t.sv").write_text(f"module t (input clk, rst, {ports}); endmodule\n")
    (tmp_path / "t.f").write_text("t.sv\n--top t\n")
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "t.f"))
    plan = make_plan(work)
    assert (list(plan.driven), plan.undriven) == (driven, ())
    assert list(not_driven(work.ports, work.top, work.protocols)) == []
    (tmp_path / "bench.sv").write_text(bench_text(work, plan))
    assert read_top(read_sources([*part_files(()), *work.top.files, tmp_path / "bench.sv"]), TOP).missing == ()


def test_adopt_says_which_mapped_ports_the_bench_does_not_drive(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text(
        "module t (input clk, rst, input x_issue_valid, input [31:0] x_issue_req_instr, input [3:0] x_issue_req_id,"
        " output x_issue_ready, x_result_valid, output [31:0] x_result_data, input x_result_ready); endmodule\n"
    )
    result = CliRunner().invoke(command, ["adopt", str(tmp_path / "t.sv")])
    assert "mapped, but not driven by the bench: 1" in result.output
    assert "x (CV-X-IF, subordinate): the bench has no part for it, so its inputs are 0" in result.output


@pytest.mark.parametrize("name", ["copier", "dotter", "scaler"])
def test_the_bench_is_systemverilog_that_another_reader_elaborates(
    works: dict[str, AdoptWorkspace], tmp_path: Path, name: str
) -> None:
    work = works[name]
    (tmp_path / "bench.sv").write_text(bench_text(work, make_plan(work)))
    top = read_top(read_sources([*part_files(()), *work.top.files, tmp_path / "bench.sv"]), TOP)
    assert top.missing == ()
    assert name in top.modules


_BENCHED = [
    "axi_if_top", "ahb_npu", "avalon_copro", "edge_mac", "hls_kernel", "hwpe_top", "pulp_dma", "stream_filter", "tcdm_engine",
    "TileLinkUH", "wb_accel", "tlul_block", "zip_unit", "RoccUnit", "SpinalNpu", "dla_style",
]  # fmt: skip


@pytest.mark.parametrize("name", _BENCHED)
def test_a_bench_fits_any_header(tmp_path: Path, name: str) -> None:
    """Structures, vectors of ports, interfaces, widths of all kinds."""
    (tmp_path / "t.f").write_text(f"{HEADERS / 'headers' / name}.sv\n--top {name}\n")
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "t.f"))
    (tmp_path / "bench.sv").write_text(bench_text(work, make_plan(work)))
    top = read_top(read_sources([*part_files(()), *work.top.files, tmp_path / "bench.sv"]), TOP)
    assert name in top.modules


def test_an_interface_with_a_clock_and_a_reset_of_its_own_gets_them(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text(
        "interface st_if (input logic clk, input logic rst_n, input logic spare); logic valid, ready; logic [7:0] data;\n"
        "  modport src(output valid, data, input ready); endinterface\n"
        "module t (input logic clk_i, input logic rst_ni, st_if.src o [2]); endmodule\n"
    )
    (tmp_path / "t.f").write_text("t.sv\n--top t\n")
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "t.f"))
    assert "st_if p_o [0:1] (.clk(reference), .rst_n(~rst), .spare('0));" in bench_text(work, make_plan(work))


def test_every_part_has_ports_that_its_protocol_has() -> None:
    for part in parts(()).values():
        name, _, role = part.name.removeprefix("fleet_").rpartition("_")
        if name not in PROTOCOLS or role not in ("manager", "subordinate", "monitor"):
            continue
        signals = {s.name for s in PROTOCOLS[name].signals}
        known = signals | {f"{s}{SIGNAL}" for s in signals} | {"clk", "rst", "go", "op", "done", "taken", "result"}
        assert part.inputs | part.outputs <= known, part.name
        for p in part.parameters:
            assert not p.startswith("W_") or PROTOCOLS[name].signal(p[2:].lower()) is not None, (part.name, p)


@icarus
def test_every_part_of_an_exported_bench_is_read_by_icarus(tmp_path: Path) -> None:
    _, package, *library = part_files(())
    text = ordered_functions(with_plain_store(package.read_text()))
    found = re.findall(r"^module\s+\w+.*?^endmodule\n", "\n".join(p.read_text() for p in library), re.S | re.M)
    (tmp_path / "all.sv").write_text("\n".join([text, *map(plain_module, found)]))
    names = [module.split()[1] for module in found]
    assert len(names) >= 60
    tops = [word for name in names for word in ("-s", name)]
    command = ["iverilog", "-g2012", "-t", "null", *tops, str(tmp_path / "all.sv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def errors(work: AdoptWorkspace, text: str) -> Iterator[str]:
    path = work.folder / "wrong.toml"
    path.write_text(text)
    try:
        read_script(path, work, make_plan(work))
    except DeviceError as error:
        yield str(error).removeprefix(f"{path}:")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "copier",
            '[[step]]\nwrite = "apb"\nregister = "no"\ndata = 1\n',
            "3: there is no register no; registers are control",
        ),
        ("copier", '[[step]]\nwrite = "m"\naddress = 0\ndata = 1\n', "2: no port m is driven; these are: apb"),
        ("copier", '[[step]]\nwait = "psel"\n', "2: psel is not an output that can be waited for; these are: irq_o, slow_count_o"),
        (
            "copier",
            '[[step]]\nwait = "irq_o"\nvalue = 2\n',
            "3: 0x2 does not fit into irq_o, which has 1 bit: expected at most 0x1",
        ),
        ("copier", '[[step]]\nuntil = "apb"\naddress = 8\ndata = 0\n', "4: unknown key"),
        ("copier", '[[step]]\nread = "apb"\naddress = 8\nvalue = 0\n', "4: unknown key"),
        (
            "copier",
            '[[step]]\nread = "apb"\naddress = 8\nsize = 2\n',
            "4: apb has no lanes of bytes: an access is as wide as its data",
        ),
        ("copier", '[[step]]\nset = "psel"\nvalue = 1\n', "2: psel is not an input that is tied; these are: scan_en_i, fault_i"),
        ("copier", '[[step]]\nidle = 1\nset = "x"\n', "a step has one of write, read"),
        ("copier", '[[step]]\nsend = "apb"\ndata = [1]\n', "2: apb takes nothing that can be sent"),
        ("scaler", '[[step]]\nsend = "in"\ndata = [0x100000000]\n', "3: 0x100000000 does not fit into tdata, which has 32 bits"),
        ("scaler", '[[step]]\nsend = "in"\ndata = [{tdat = 1}]\n', "3: tdat is not a field; fields are tlast, tkeep"),
        ("scaler", '[[step]]\nread = "in"\naddress = 0\n', "2: in has no addresses"),
        (
            "dotter",
            '[[memory]]\nport = "mem"\naddress = 0\nwords = [0x100000000]\n',
            "4: 0x100000000 does not fit into a word of 4 bytes",
        ),
        ("dotter", '[[memory]]\nport = "men"\naddress = 0\nwords = [1]\n', "2: there is no port men"),
        ("dotter", '[[memory]]\naddress = 0\nfile = "no.bin"\n', "3: "),
        ("dotter", '[[memory]]\naddress = 0\nbytes = "0x1"\n', "3: is not hexadecimal text"),
        (
            "copier",
            '[[step]]\nwrite = "apb"\naddress = 8\ndata = 0x1ffffffff\n',
            "4: 0x1ffffffff does not fit into apb, which has 32 bits",
        ),
        ("copier", '[[step]]\nread = "apb"\naddress = 8\nexpect = 0x1ffffffff\n', "4: 0x1ffffffff does not fit into apb"),
        ("copier", '[[step]]\nuntil = "apb"\naddress = 8\nvalue = 0x1ffffffff\n', "4: 0x1ffffffff does not fit into apb"),
        (
            "copier",
            '[[step]]\nwrite = "apb"\naddress = 8\ndata = -2147483649\n',
            "4: -2147483649 does not fit into apb, which has 32 bits: expected",
        ),
        (
            "copier",
            '[[step]]\nwrite = "apb"\naddress = 0x1000\ndata = 1\n',
            "3: 0x1000 is beyond apb, whose addresses have 8 bits: expected at most 0xff",
        ),
        ("copier", '[[step]]\nset = "scan_en_i"\nvalue = 2\n', "3: 0x2 does not fit into scan_en_i, which has 1 bit"),
        (
            "copier",
            '[[memory]]\nport = "m"\naddress = 0xffffffff\nwords = [1]\n',
            "3: 0x100000002 is beyond m, whose addresses have 32 bits",
        ),
        ("scaler", '[[step]]\nsend = "in"\ndata = [-2147483649]\n', "3: -2147483649 does not fit into tdata, which has 32 bits"),
        ("dotter", '[[memory]]\nport = "mem"\naddress = 0\nsize = 1\nwords = [-129]\n', "5: memory[0].words is"),
    ],
)
def test_a_mistake_in_a_test_is_named_with_its_line(works: dict[str, AdoptWorkspace], name: str, text: str, message: str) -> None:
    [said] = errors(works[name], text)
    assert said.startswith(message) or message in said, said


def test_a_negative_number_is_as_many_bits_as_the_port_has(works: dict[str, AdoptWorkspace], tmp_path: Path) -> None:
    copier, scaler = works["copier"], works["scaler"]
    path = tmp_path / "t.toml"
    path.write_text(
        '[[memory]]\nport = "m"\naddress = 0\nsize = 2\nwords = [-1, -32768, 5]\n'
        '[[step]]\nwrite = "apb"\naddress = 8\ndata = -2\n[[step]]\nread = "apb"\naddress = 8\nexpect = -1\nmask = 0xff\n'
    )
    script = read_script(path, copier, make_plan(copier))
    assert script.images == [bytes.fromhex("ffff00800500")]
    assert ([op.b for op in script.ops if op.code == 1], [c.value for c in script.compares]) == ([0xFFFFFFFE], [0xFF])
    path.write_text('[[step]]\nsend = "in"\ndata = [-1, {tdata = -3}]\n[[expect]]\nreceived = "out"\ndata = [-4]\n')
    script = read_script(path, scaler, make_plan(scaler))
    assert [op.b & 0xFFFFFFFF for op in script.ops if op.code == 5] == [0xFFFFFFFF, 0xFFFFFFFD]
    assert script.received[0].expected[0][0] == 0xFFFFFFFC


def test_an_address_between_two_words_of_a_port_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text(
        "module t (input clk, reset, input [4:0] avs_address, input avs_read, avs_write, input [31:0] avs_writedata,"
        " output [31:0] avs_readdata); endmodule\n"
    )
    (tmp_path / "t.f").write_text("t.sv\n--top t\n")
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "t.f"))
    [said] = errors(work, '[[step]]\nread = "avs"\naddress = 17\n')
    assert said.startswith("3: 0x11 is between two addresses of avs, which count 4 bytes")
    [said] = errors(work, '[[step]]\nread = "avs"\naddress = 0x80\n')
    assert said.startswith("3: 0x80 is beyond avs, whose addresses have 5 bits, which count 4 bytes: expected at most 0x7f")
    assert not list(errors(work, '[[step]]\nread = "avs"\naddress = 0x7c\n'))


def test_an_access_of_some_lanes_may_lie_between_two_words(tmp_path: Path) -> None:
    (tmp_path / "t.sv").write_text(
        "module t (input clk, reset, input [4:0] avs_address, input avs_read, avs_write, input [3:0] avs_byteenable,"
        " input [31:0] avs_writedata, output [31:0] avs_readdata); endmodule\n"
    )
    (tmp_path / "t.f").write_text("t.sv\n--top t\n")
    work = open_workspace(workspace(tmp_path / "w", tmp_path / "t.f"))
    assert not list(errors(work, '[[step]]\nread = "avs"\naddress = 17\n'))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[clocks.clk_i]", "[clocks.clk]", "the port map has no clk among its clocks; choose among clk_i, slow_clk_i"),
        ("period = 2", "period = 3", "a period is even, not 3"),
        ('"scan_en_i" = 0x0', '"scan_en_i" = 2', "0x2 does not fit into scan_en_i, which has 1 bit"),
        ('"scan_en_i" = 0x0', '"psel" = 1', "psel is not an input that is tied"),
        ("latency = 1", "latency = 0", "ports.apb.latency is 0, expected an integer above 0"),
        ('reference = "clk_i"', 'reference = "clk"', "reference is 'clk', expected clk_i or slow_clk_i"),
        ("[ports.m]", "[ports.n]", "the port map has no n among its ports"),
        (M, f'{M_CLOCK}memory = "fixed"', "expected ideal or fixed:<cycles 1 to 99999>, not fixed"),
        (M, f'{M_CLOCK}memory = "ideal"\npause = 2', "memory = ideal says when this port is answered; leave out pause"),
        ("latency = 1", 'memory = "ideal"', "apb is no AXI4 port that the design masters; use latency and pause"),
    ],
)
def test_a_mistake_in_the_manifest_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = workspace(tmp_path / "w", COPIER)
    text = (folder / "adopt.toml").read_text()
    assert old in text
    (folder / "adopt.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(DeviceError) as caught:
        open_workspace(folder)
    assert message in str(caught.value)
    assert str(folder / "adopt.toml") in str(caught.value)


def test_a_pass_says_what_its_settings_do_not_try(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "w", COPIER)
    work = open_workspace(folder)
    said = untried(make_plan(work), work.settings.clocks)
    assert said == "no pauses on m (pause = 0); both clocks have the same period and phase"
    text = (folder / "adopt.toml").read_text().replace("pause = 0", "pause = 3").replace("period = 2", "period = 6", 1)
    (folder / "adopt.toml").write_text(text)
    work = open_workspace(folder)
    assert untried(make_plan(work), work.settings.clocks) == ""


def test_a_clock_is_a_guess_until_its_line_says_no_more(tmp_path: Path) -> None:
    folder = workspace(tmp_path / "w", COPIER)
    said = "the clock of m is a guess: clk_i, no clock is named like this port"
    assert said in guesses(open_workspace(folder).settings)
    files = str(COPIER)
    assert f"note: {said}" in CliRunner().invoke(command, ["adopt", files]).output.splitlines()
    text = (folder / "adopt.toml").read_text()
    (folder / "adopt.toml").write_text(text.replace(M_CLOCK, '[ports.m]\nclock = "slow_clk_i"\n'))
    assert not any("clock of m " in line for line in guesses(open_workspace(folder).settings))


def test_a_replay_says_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = open_workspace(workspace(tmp_path / "w", COPIER))
    test = work.folder / "owner.toml"
    test.write_text("[[step]]\nidle = 1\n")
    (tmp_path / "fails").write_text("#!/bin/sh\necho 'E|1|end|0|0|0' > results.txt\n")
    (tmp_path / "fails").chmod(0o755)
    (tmp_path / "info.json").write_text('{"options": []}')
    monkeypatch.setattr(replay, "build_bench", lambda *_, **__: tmp_path / "fails")
    outcome = BenchRunner(work, model=False).run(test)
    assert outcome.scope[0].startswith("no pauses on m")
    assert any(line.startswith("the clock of m is a guess") for line in outcome.scope)


def test_clocks_are_inputs_with_first_edge_and_half_period_in_ns(tmp_path: Path) -> None:
    slow = ("period = 2\nphase = 0\n\n[resets", "period = 6\nphase = 1\n\n[resets")  # of the last clock
    work = open_workspace(workspace(tmp_path / "w", COPIER, edits=[slow]))
    first, last = work.settings.clocks
    lines = clock_table(work).splitlines()
    assert f"    {{&top.c_{first}, 1, 1}}," in lines
    assert f"    {{&top.c_{last}, 4, 3}}," in lines
    text = bench_text(work, make_plan(work))
    assert "`timescale 1ns/1ps" in text.splitlines()[:2]
    assert f"(input bit c_{first}, c_{last});" in text


def test_nothing_in_a_bench_waits_so_it_needs_no_scheduler_of_events(tmp_path: Path) -> None:
    text = bench_text(work := open_workspace(workspace(tmp_path / "w", COPIER)), make_plan(work))
    library = [path.read_text() for path in part_files(()) if path.name != "plain_store.sv"]
    waits = re.compile(r"#\d|\bwait \(|\bfork\b|(?<!always )(?<!always_ff )@ ?\(")
    assert [line for line in "\n".join([*library, text]).splitlines() if waits.search(line.partition("//")[0])] == []


def test_a_reset_of_two_pulses_is_released_and_asserted_again(tmp_path: Path) -> None:
    work = open_workspace(workspace(tmp_path / "w", COPIER, edits=[("cycles = 16", "cycles = 16\npulses = 2")]))
    text = bench_text(work, make_plan(work))
    assert "if (n_rst_ni < 32 && n_rst_ni % 16 == 15) q_rst_ni <= ~q_rst_ni;" in text
    assert "if (n_rst_ni >= 48) r_rst_ni <= 0;" in text
    assert "~(r_rst_ni & q_rst_ni)" in text


@pytest.mark.parametrize(("lines", "waves"), [(90, True), (89, False)])
def test_waves_are_of_small_designs_unless_asked(
    works: dict[str, AdoptWorkspace], monkeypatch: pytest.MonkeyPatch, lines: int, waves: bool
) -> None:
    monkeypatch.setattr(replay, "LARGE", lines)
    work = works["copier"]
    assert BenchRunner(work).waves is waves
    assert BenchRunner(work, waves=True).waves
    assert not BenchRunner(work, waves=False).waves


@pytest.mark.parametrize(("first", "second"), [("sys_clk_p", "sys_clk_n"), ("CLK_P", "CLK_N"), ("clk_p_i", "clk_n_i")])
def test_of_a_pair_of_clocks_the_second_is_the_inverse_of_the_first(tmp_path: Path, first: str, second: str) -> None:
    (tmp_path / "t.v").write_text(
        f"module t (input {second}, input {first}, input rst_n, input s_valid, input [7:0] s_data); endmodule\n"
    )
    (tmp_path / "t.f").write_text("t.v\n--top t\n")
    settings = open_workspace(workspace(tmp_path / "w", tmp_path / "t.f")).settings
    assert {name: (c.period, c.phase) for name, c in settings.clocks.items()} == {first: (2, 0), second: (2, 1)}
    assert (settings.reference, settings.resets["rst_n"].clock, settings.ports["s"].clock) == (first, first, first)
    assert settings.guessed == ()
