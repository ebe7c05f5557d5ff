"""A fault that one instruction of a long stream meets: where the run ends, what the replay shows, and the waves of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from planted_sources import STORE_BIT, STUCK_LANE, Planted, long_stream, met_at, planted

from fleet.cli.main import main
from fleet.cosim.model import load_model
from fleet.cosim.stream import open_stream
from fleet.cosim.streams.bundle import save_bundle
from fleet.cosim.streams.case import Setting, StreamCase
from fleet.cosim.streams.run import StreamRunner
from fleet.cosim.streams.waves import leave_waves
from fleet.isa.registry import find_device
from fleet.report.why import find_failure, page
from fleet.transforms.infer_shapes import bound

LENGTH = 200
CASES = [
    pytest.param("hbm_small", STUCK_LANE, "mvm_wt_addr", "regs", id="hbm_small-regs", marks=pytest.mark.nightly),
    pytest.param("vgemm_small", STORE_BIT, "store_w1", "regs", id="vgemm_small-regs", marks=pytest.mark.nightly),
    pytest.param("hbm_small", STUCK_LANE, "mvm_wt_addr", "aux", id="hbm_small-aux", marks=pytest.mark.nightly),
    pytest.param("vgemm_small", STORE_BIT, "store_w1", "aux", id="vgemm_small-aux", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize(("device", "fault", "register", "issue"), CASES)
def test_a_late_fault_ends_the_run_and_is_explained(device: str, fault: Planted, register: str, issue: str, tmp_path: Path) -> None:
    instruction_set, chip = find_device(device)
    case = long_stream(chip, instruction_set, 1, LENGTH)
    at, address = met_at(case, register, 0.8)
    with planted(fault, address, tmp_path / "rtl"), StreamRunner(device) as runner:
        (outcome,) = runner.run(case, [Setting("ideal", "aux" if issue == "aux" else "regs")])
    assert not outcome.passed
    assert len(outcome.found) == at + 1 < len(case.calls), "the run ends at the divergent commit"
    d = outcome.divergence
    assert d is not None
    assert (d.seq, d.instruction) == (at, case.calls[at].instruction)
    account = d.account
    assert account is not None
    assert account.replayed is not None
    assert account.replayed.same
    assert account.replayed.first == at, "no neighbour is needed"
    assert "alone (mask" in account.pattern[0]
    assert account.tiles is not None
    assert account.beat is not None
    assert account.beat.what == "wrong value"
    assert account.address
    assert account.address[0].startswith("mvm_out_addr = " if device == "hbm_small" else "store_w1 = ")
    text = page(find_failure(str(save_bundle(outcome, tmp_path)), tmp_path))
    assert len(text.splitlines()) <= 60
    for title in ("instruction", "field", "register writes", "values", "pattern", "first tile", "first beat", "chain", "replay"):
        assert re.search(rf"^{title} ", text, re.MULTILINE), title


@pytest.mark.nightly
def test_every_commit_where_it_is_wanted(tmp_path: Path) -> None:
    instruction_set, chip = find_device("vgemm_small")
    case = long_stream(chip, instruction_set, 1, LENGTH)
    at, address = met_at(case, "store_w1", 0.8)
    with planted(STORE_BIT, address, tmp_path / "rtl"), StreamRunner("vgemm_small", stop=False) as runner:
        (outcome,) = runner.run(case)
    assert len(outcome.found) == len(case.calls)
    assert outcome.divergence is not None
    assert outcome.divergence.seq == at


@pytest.mark.nightly
def test_waves_show_the_commit_and_the_unit(tmp_path: Path) -> None:
    instruction_set, chip = find_device("vgemm_small")
    case = long_stream(chip, instruction_set, 1, LENGTH)
    _, address = met_at(case, "store_w1", 0.8)
    with planted(STORE_BIT, address, tmp_path / "rtl"):
        with StreamRunner("vgemm_small") as runner:
            (outcome,) = runner.run(case)
        stored = save_bundle(outcome, tmp_path)
        waves = leave_waves(stored, tmp_path / "waves")
    assert outcome.divergence is not None
    assert outcome.divergence.account is not None
    replayed = outcome.divergence.account.replayed
    assert replayed is not None
    assert replayed.end is not None
    assert waves.window[0] < replayed.end <= waves.window[1]
    assert any("u_store" in scope for _, scope in waves.scopes)
    assert 1000 < waves.path.stat().st_size < 1_000_000
    if waves.path.suffix == ".vcd":
        text = waves.path.read_text(encoding="ascii")
        scopes: list[str] = []
        shown = set[str]()
        for words in (line.split() for line in text.partition("$enddefinitions")[0].splitlines()):
            if words and words[0] == "$scope":
                scopes.append(words[2])
            elif words and words[0] == "$upscope":
                scopes.pop()
            elif words and words[0] == "$var":
                shown |= set(scopes)
        assert "u_store" in shown
        assert "u_array" not in shown, "only the units on its path"
        times = [int(m) for m in re.findall(r"^#(\d+)$", text, re.MULTILINE)]
        assert times[-1] - times[0] >= 2000 * (replayed.end - replayed.start if replayed.start else 1)


@pytest.mark.nightly
def test_waves_of_a_co_simulation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    base = Path(__file__).parents[2] / "examples" / "digits"
    words = ["cosim", f"{base}/conv_int8.py:forward", "--weights", f"{base}/conv_int8_weights.npz"]
    words += ["--input", f"{base}/conv_int8_test.npz", "--batch", "2", "--engines", "vm,iss,rtl", "--device", "vgemm_small"]
    words += ["--memory", "stall:3", "--report", str(tmp_path / "report")]
    loaded = load_model(words[1], Path(words[3]), Path(words[5]), 0, 2)
    stream = open_stream(bound(loaded.program, loaded.inputs), "vgemm_small", {})
    at, address = met_at(StreamCase("digits", "vgemm_small", tuple(stream.calls), ()), "store_w1", 0.5)
    monkeypatch.setattr("sys.argv", ["fleet", *words])
    with planted(STORE_BIT, address, tmp_path / "rtl"):
        assert main(words) == 1
        assert main(["why", str(tmp_path / "report"), "--waves", str(tmp_path / "waves")]) == 1
    said = capsys.readouterr().out
    assert f"{at}: store" in said
    found = re.search(r"^waves +(\S+) \([0-9,]+ bytes\), cycles (\d+) to (\d+) of the replay", said, re.MULTILINE)
    assert found is not None, said
    assert 1000 < Path(found[1]).stat().st_size < 1_000_000
    assert "u_store" in said.partition("\nwaves ")[2]
    assert int(found[2]) < int(found[3])
    result = tmp_path / "report" / "result.json"
    result.write_text(result.read_text().replace("--batch 2", "--batch 3"))
    assert main(["why", str(tmp_path / "report"), "--waves", str(tmp_path / "waves")]) == 2
    assert re.search(r"the model is program \w{16} now, the result is of \w{16}; run it again", capsys.readouterr().err)
