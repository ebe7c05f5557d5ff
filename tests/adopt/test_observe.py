"""observe.toml: what is declared as a commit and as state inside, mistakes with their lines, and the bench that records it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, PAIRER, RELAY, SCALER, VAULT, modelled

from fleet.adopt.bench.library import part_files
from fleet.adopt.bench.observe import Observation, ResponseCommit, SignalCommit, WriteCommit, read_observation
from fleet.adopt.bench.plan import make_plan
from fleet.adopt.bench.text import TOP, bench_text
from fleet.adopt.filelist import read_sources
from fleet.adopt.top import read_top
from fleet.adopt.workspace import AdoptWorkspace, open_workspace
from fleet.errors import DeviceError


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> dict[str, AdoptWorkspace]:
    """By name of the design."""
    home = tmp_path_factory.mktemp("observed")
    return {p.stem: open_workspace(modelled(home / p.stem, p)) for p in (COPIER, PAIRER, RELAY, SCALER, VAULT)}


def observation(work: AdoptWorkspace, text: str | None = None) -> Observation:
    path = work.folder / ("observe.toml" if text is None else "other.toml")
    if text is not None:
        path.write_text(text)
    return read_observation(path, work, make_plan(work))


def test_what_counts_as_a_commit(works: dict[str, AdoptWorkspace]) -> None:
    done, stored, polled = observation(works["copier"]).commits
    assert isinstance(done, SignalCommit)
    assert (done.probe.path, done.probe.inside, done.edge, done.tagged, done.in_program_order) == (
        "irq_o",
        False,
        "rise",
        False,
        True,
    )
    assert isinstance(stored, WriteCommit)
    assert (stored.port.name, stored.tagged, stored.in_program_order) == ("m", True, False)
    assert polled.tagged is False
    [answer] = observation(works["pairer"]).commits
    assert isinstance(answer, ResponseCommit)
    assert answer.tag == (64, 5)
    [packet] = observation(works["scaler"]).commits
    assert isinstance(packet, ResponseCommit)
    assert packet.when == ((39, 1, 1),)


def test_state_over_many_arrays_has_its_bytes_in_order(works: dict[str, AdoptWorkspace]) -> None:
    observed = observation(works["vault"])
    [rows, checks], [done] = observed.states, observed.commits
    assert (checks.lsb, checks.bits, checks.keeper.size) == (8, 4, 64)
    assert isinstance(done, SignalCommit)
    assert (done.probe.path, done.probe.inside, done.probe.bits) == ("ctrl.done_q", True, 1)
    assert rows.keeper.names[:2] == ("ctrl.g_bank[0].g_lane[0].mem", "ctrl.g_bank[0].g_lane[1].mem")
    assert (len(rows.keeper.names), rows.keeper.size, rows.variable.bits, rows.variable.elements, rows.bits) == (8, 64, 12, 8, 8)
    order = rows.keeper.order()
    assert order is not None
    assert list(order[:3]) == [0, 8, 16]  # row 0, 2, 4 of lane 0
    assert order[8 * 4] == 4  # bank 1 begins with row 1


@pytest.mark.parametrize("name", ["copier", "pairer", "relay", "scaler", "vault"])
def test_the_bench_that_observes_is_elaborated_by_another_reader(
    works: dict[str, AdoptWorkspace], tmp_path: Path, name: str
) -> None:
    work = works[name]
    (tmp_path / "bench.sv").write_text(bench_text(work, make_plan(work), observation(work)))
    assert read_top(read_sources([*part_files(()), *work.top.files, tmp_path / "bench.sv"]), TOP).missing == ()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("copier", '[[commit]]\nname = "a"\nsignal = "irq"\n', "3: the design has no variable irq"),
        ("vault", '[[commit]]\nname = "a"\nsignal = "ctrl.dune_q"\n', "3: the design has no variable ctrl.dune_q"),
        (
            "vault",
            '[[commit]]\nname = "a"\nsignal = "control.done_q"\n',
            "3: the design has no variable control.done_q and no control",
        ),
        ("vault", '[[commit]]\nname = "a"\nsignal = "ctrl.done_q; x"\n', "3: ctrl.done_q; x is not the path of a variable"),
        (
            "vault",
            '[[commit]]\nname = "a"\nsignal = "ctrl.g_bank[0].g_lane[0].mem"\n',
            "3: ctrl.g_bank[0].g_lane[0].mem is an array of 8",
        ),
        ("copier", '[[commit]]\nname = "a"\nsignal = "irq_o"\nvalue = 2\n', "4: 0x2 does not fit into 1 bits"),
        (
            "copier",
            '[[commit]]\nname = "a"\nsignal = "irq_o"\nclock = "clk"\n',
            "4: commit[0].clock is 'clk', expected clk_i or slow_clk_i",
        ),
        ("copier", '[[commit]]\nname = "a"\nsignal = "irq_o"\nread = "apb"\n', "4: a commit has one of signal, read"),
        (
            "copier",
            '[[commit]]\nname = "a"\nsignal = "irq_o"\norder = "any"\n',
            "4: jobs without tags commit in the order of the program",
        ),
        ("copier", '[[commit]]\nname = "a"\nread = "m"\naddress = 0\n', "3: m is not a port that a test reads"),
        (
            "copier",
            '[[commit]]\nname = "a"\nread = "apb"\nregister = "state"\n',
            "4: there is no register state; registers are control",
        ),
        ("copier", '[[commit]]\nname = "a"\nwrite_responses = "apb"\n', "3: apb is not an AXI4 port"),
        ("copier", '[[commit]]\nname = "a"\nwrite_responses = "m"\ntag = "rid"\n', "4: the tag of a response is bid"),
        ("copier", '[[commit]]\nname = "a"\nresponse = "m"\n', "3: m is not a port that gives words"),
        ("copier", 'posted = ["n"]\n', "1: n is not a memory port of the design"),
        ("copier", 'model = "no.py"\n', "1: there is no file"),
        ("copier", "[quiescent]\nvalue = 1\n", "2: there is no signal whose value it is"),
        (
            "copier",
            '[[commit]]\nname = "a"\nsignal = "irq_o"\n[[commit]]\nname = "a"\nsignal = "irq_o"\n',
            "5: there is a commit a already",
        ),
        ("scaler", '[[commit]]\nname = "a"\nresponse = "out"\nwhen = {last = 1}\n', "4: last is not a field; fields are tlast"),
        ("pairer", '[[commit]]\nname = "a"\nresponse = "io"\ntag = "rd"\n', "4: rd is not a field; fields are resp_rd, resp_data"),
        ("copier", '[[state]]\nname = "m"\npath = "words"\n', "2: m is a port; name the state otherwise"),
        ("vault", '[[state]]\nname = "s"\npath = "ctrl.g_bank[{n}].g_lane[0].mem"\n', "3: nothing says what {n} is"),
        ("vault", '[[state]]\nname = "s"\npath = "a"\nlanes = [{name = "n", count = 2, size = 1}]\n', "4: the path has no {n}"),
        ("vault", '[[state]]\nname = "s"\npath = "a"\nbits = 33\n', "4: a has 32 bits"),
        (
            "vault",
            '[[state]]\nname = "s"\npath = "ctrl.g_bank[{n}].g_lane[0].mem"\nlanes = [{name = "n", count = 3, size = 1}]\n',
            "3: the design has no variable ctrl.g_bank[2].g_lane[0].mem and no ctrl.g_bank[2].g_lane[0]",
        ),
        ("vault", '[[state]]\nname = "s"\npath = "ctrl.left[0]"\n', "3: ctrl.left[0] selects from what is not an array"),
    ],
)
def test_a_mistake_is_named_with_its_line(works: dict[str, AdoptWorkspace], name: str, text: str, message: str) -> None:
    with pytest.raises(DeviceError) as caught:
        observation(works[name], text)
    said = str(caught.value).removeprefix(f"{works[name].folder / 'other.toml'}:")
    assert said.startswith(message), said
