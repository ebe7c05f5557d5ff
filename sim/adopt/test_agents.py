"""The bench's side of each protocol: small designs that keep it, and the same designs with one fault (`fault_i`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import workspace

from fleet.adopt.bench.replay import Outcome, replay
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly

DESIGNS = Path(__file__).parents[2] / "tests" / "adopt" / "agents"
Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a test of a design with a fault; each design is built once for each of its settings."""
    home = tmp_path_factory.mktemp("agents")

    def run(name: str, text: str, fault: int = 0, *edits: tuple[str, str]) -> Outcome:
        folder = home / f"{name}{sorted(set(edits))}".translate({ord(c): "_" for c in "[]\n'\" =,()"})
        if not folder.exists():
            workspace(folder, DESIGNS / f"{name}.sv", edits=edits)
        test = folder / "owner.toml"
        test.write_text(f'[[step]]\nset = "fault_i"\nvalue = {fault}\n{text}')
        return replay(open_workspace(folder), test)

    return run


def agrees(outcome: Outcome, compared: int) -> None:
    assert (outcome.differences, outcome.violations, outcome.exit_code) == ((), (), ExitCode.AGREED)
    assert outcome.compared == compared


def _write(port: str, address: int, data: int, more: str = "") -> str:
    return f'[[step]]\nwrite = "{port}"\naddress = {address}\ndata = {data}\n{more}'


def _read(port: str, address: int, expect: int, more: str = "") -> str:
    return f'[[step]]\nread = "{port}"\naddress = {address}\nexpect = {expect}\n{more}'


def _copied(words: str, value: int, port: str = "m") -> str:
    return (
        f'[[memory]]\nport = "{port}"\naddress = 0x100\nwords = {words}\n[[step]]\nwait = "done"\nlimit = 3000\n'
        f'[[expect]]\nport = "{port}"\naddress = 0x200\nwords = [{value}]\n'
    )


PIPELINED = _write("s", 0, 5) + _write("s", 0, 6) + _read("s", 0, 11) + _write("s", 4, 0) + _copied("[30]", 41)


def test_a_pipelined_wishbone_access_is_one_access(run: Run) -> None:
    agrees(run("wb_adder", PIPELINED), 5)


@pytest.mark.parametrize(("fault", "says"), [(1, "expected 0xb"), (2, "response without a cycle")])
def test_a_pipelined_wishbone_port_that_breaks_it_is_found(run: Run, fault: int, says: str) -> None:
    outcome = run("wb_adder", PIPELINED, fault)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert says in f"{outcome.differences} {outcome.violations}"


LANES = {"l": "axi4_lite", "h": "ahb_lite", "w": "wishbone", "v": "avalon_mm", "o": "obi", "t": "tilelink"}
W_COUNTS_WORDS = (
    '[ports.w]\nclock = "clk"\nlatency = 1\npause = 0\nspace = 0\nshift = 0',
    '[ports.w]\nclock = "clk"\nlatency = 1\npause = 0\nspace = 0\nshift = 3',
)


def _narrow(port: str) -> str:
    """Two registers of 32 bits in a beat, then a byte and a half word of them."""
    size = "size = 4\n"
    return (
        _write(port, 0, 0x11223344, size) + _write(port, 4, 0x55667788) + _read(port, 0, 0x11223344, size)
        + _read(port, 4, 0x55667788)
        + _write(port, 1, 0xAB) + _write(port, 6, 0xCDEF) + _read(port, 0, 0xCDEF77881122AB44) + _read(port, 5, 0x77)
    )  # fmt: skip


@pytest.mark.parametrize("port", LANES)
def test_an_access_takes_the_lanes_of_its_address(run: Run, port: str) -> None:
    agrees(run("lanes64", _narrow(port), 0, W_COUNTS_WORDS), 4)


@pytest.mark.parametrize("port", LANES)
def test_a_port_that_ignores_its_strobes_is_found(run: Run, port: str) -> None:
    outcome = run("lanes64", _narrow(port), 1, W_COUNTS_WORDS)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert outcome.differences[0].endswith("expected 0x11223344")


COMBINATIONAL = (
    '[ports.c]\nclock = "clk"\nlatency = 1',
    '[ports.c]\nclock = "clk"\nlatency = 0',
)
HELD = _write("v", 0, 7) + _read("v", 0, 7) + _write("v", 12, 0) + _copied("[30]", 31)


@pytest.mark.parametrize("latency", [1, 3])
def test_avalon_data_lie_beside_the_cycle_without_waitrequest(run: Run, latency: int) -> None:
    slow = [("latency = 1", f"latency = {latency}")] if latency > 1 else [COMBINATIONAL]
    agrees(run("by_time", HELD, 0, *slow), 5)


@pytest.mark.parametrize(("fault", "says"), [(1, "read v 0x0: 0xdead, expected 0x7; the data are those in the cycle"), (2, "m at")])
def test_an_avalon_port_that_shows_or_takes_data_in_another_cycle_is_found(run: Run, fault: int, says: str) -> None:
    outcome = run("by_time", HELD, fault, COMBINATIONAL)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert says in outcome.differences[0]


def _bytes(port: str) -> str:
    return _write(port, 2, 7) + _write(port, 3, 8) + _read(port, 2, 7) + _read(port, 3, 8)


def test_a_read_is_combinational_where_latency_is_0(run: Run) -> None:
    agrees(run("by_time", _bytes("c") + _bytes("q"), 0, COMBINATIONAL), 4)


def test_a_wrong_latency_is_among_what_a_wrong_value_may_mean(run: Run) -> None:
    outcome = run("by_time", _bytes("c"), 0, ("latency = 1", "latency = 3"))
    assert [d.partition(": ")[2] for d in outcome.differences] == [
        "read c 0x2: 0xee, expected 0x7; the data are those 3 behind the strobe (latency of c in adopt.toml: latency = 0 is the"
        " cycle of the strobe, for combinational reads)",
        "read c 0x3: 0xee, expected 0x8",
    ]


PAUSED = ("pause = 0", "pause = 3")
WORDS = list(range(1, 25))
SUMS = (
    f'[[step]]\nsend = "in"\ndata = {WORDS}\n[[step]]\nreceive = "sum"\ncount = 12\nlimit = 2000\n'
    f'[[expect]]\nreceived = "sum"\ndata = {[a + b for a, b in zip(WORDS[::2], WORDS[1::2], strict=True)]}\n'
)


def test_no_word_of_a_stream_without_ready_is_lost(run: Run) -> None:
    outcome = run("pulses", SUMS, 0, PAUSED)
    agrees(outcome, 12)
    assert outcome.unpaused == ("sum: it has no ready",)


def test_words_of_a_stream_come_with_gaps(run: Run) -> None:
    outcome = run("pulses", SUMS, 1, PAUSED)
    assert outcome.exit_code is ExitCode.DIFFERS


MASTERS = {"x": "AXI4", "v": "Avalon-MM", "w": "Wishbone", "h": "AHB-Lite", "p": "APB", "n": "valid/ready memory"}


def _sum(port: str) -> str:
    return _copied("[1, 20, 300, 4000]", 4321, port).replace(
        "[[step]]", f'[[step]]\nset = "bus_i"\nvalue = {1 + list(MASTERS).index(port)}\n[[step]]', 1
    )


@pytest.mark.parametrize("port", MASTERS)
def test_a_master_waits_for_memory_that_pauses(run: Run, port: str) -> None:
    outcome = run("waiting", _sum(port), 0, PAUSED)
    agrees(outcome, 4)
    assert outcome.unpaused == ()


@pytest.mark.parametrize("port", MASTERS)
def test_a_master_that_does_not_wait_is_found(run: Run, port: str) -> None:
    outcome = run("waiting", _sum(port), 1, PAUSED)
    assert outcome.exit_code is ExitCode.DIFFERS


def _registers(port: str) -> str:
    words = [(4 * n, 1000 + 37 * n) for n in range(8)]
    return "".join(_write(port, *word) for word in words) + "".join(_read(port, *word) for word in words)


@pytest.mark.parametrize("port", ["l", "g", "b", "t"])
def test_registers_agree_where_the_bench_pauses(run: Run, port: str) -> None:
    agrees(run("waiting", _registers(port) + (_read(port, 252, 8) if port in "gb" else ""), 0, PAUSED), 9 if port in "gb" else 8)


@pytest.mark.parametrize(
    ("port", "fault", "says"),
    [
        ("l", 2, "valid dropped before ready"),
        ("l", 3, "before its data"),
        ("t", 2, "valid dropped before ready"),
        ("g", 4, "read g 0xfc"),
        ("g", 5, "read g 0xfc"),
        ("g", 6, "read g 0x0"),
        ("b", 4, ""),
    ],
)
def test_registers_that_do_not_wait_are_found(run: Run, port: str, fault: int, says: str) -> None:
    outcome = run("waiting", _registers(port) + (_read(port, 252, 8) if port in "gb" else ""), fault, PAUSED)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert says in f"{outcome.differences} {outcome.violations}"


AT_ONCE = (
    '[[step]]\nsend = "io"\ndata = [{cmd_rs1 = 12, cmd_rs2 = 10, cmd_rd = 3}, {cmd_rs1 = 7, cmd_rs2 = 1}]\n'
    '[[step]]\nreceive = "io"\ncount = 2\n' + _write("t", 8, 77) + _write("t", 12, 78) + _read("t", 8, 77) + _read("t", 12, 78)
    + '[[step]]\nidle = 9\n[[expect]]\nreceived = "io"\ndata = [{resp_rd = 3, resp_data = 6}, 6]\n'
)  # fmt: skip


def _begins(outcome: Outcome, port: str, step: int) -> bool:
    words = [line.split("|")[3] for line in (outcome.folder / "results.txt").read_text().splitlines() if f"|{port}|" in line]
    return [int(word, 16) & 0xFFFF for word in words[:4]] == [0, step, 2 * step, 3 * step]


@pytest.mark.parametrize("edits", [(), (PAUSED,)], ids=["", "pause"])
def test_answers_in_the_cycle_of_their_request_and_valid_in_reset_are_no_faults(
    run: Run, edits: tuple[tuple[str, str], ...]
) -> None:
    outcome = run("at_once", AT_ONCE, 0, *edits)
    agrees(outcome, 4)
    assert _begins(outcome, "out", 3)
    assert _begins(outcome, "m", 5)


@pytest.mark.parametrize(("fault", "says"), [(1, "response without a request"), (2, "d: response without a request")])
def test_an_answer_to_nothing_is_found(run: Run, fault: int, says: str) -> None:
    outcome = run("at_once", AT_ONCE, fault)
    assert outcome.exit_code is ExitCode.DIFFERS
    assert says in [v.rule for v in outcome.violations]


def test_axi4_stream_may_not_be_valid_in_reset(run: Run) -> None:
    outcome = run("at_once", AT_ONCE, 0, ('"fault_i" = 0x0', '"fault_i" = 0x3'))
    assert [(v.port, v.rule) for v in outcome.violations] == [("m", "tvalid during reset")]
