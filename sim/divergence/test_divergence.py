"""A fault that one instruction of a long stream meets: where the run ends, what the replay shows, and the waves of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import planted_sources
import pytest
from planted_sources import LOAD_BIT, STORE_BIT, STORE_EARLY, STUCK_LANE, Planted, long_stream, met_at, planted

from fleet.cli.main import main
from fleet.compare.compiled_stream import open_stream
from fleet.cosim.models.loaded import load_model
from fleet.engines.legs.plan import Leg
from fleet.engines.legs.sample import SampledCalls
from fleet.ir.lowering_options import LoweringOptions
from fleet.isa.registry import find_device
from fleet.report.run.why import find_failure, page
from fleet.sdk import Call, Write
from fleet.sets.vgemm.operands import GemmOperands, LoadOperands, MemoryType
from fleet.streams.bundle import save_bundle
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.streams.waves import leave_waves
from fleet.transforms.simplify.infer_shapes import bound
from fleet.verify.conformance.suite import make_case

LENGTH = 200
CASES = [
    pytest.param("hbm_small", STUCK_LANE, "mvm_wt_addr", "regs", id="hbm_small-regs", marks=pytest.mark.nightly),
    pytest.param("vgemm_small", STORE_BIT, "store_w1", "regs", id="vgemm_small-regs", marks=pytest.mark.nightly),
    pytest.param("hbm_small", STUCK_LANE, "mvm_wt_addr", "aux", id="hbm_small-aux", marks=pytest.mark.nightly),
    pytest.param("vgemm_small", STORE_BIT, "store_w1", "aux", id="vgemm_small-aux", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("fault", [f for f in vars(planted_sources).values() if isinstance(f, Planted)], ids=lambda f: f.name)
def test_the_edits_fit_the_sources(fault: Planted, tmp_path: Path) -> None:
    """Also those of the nightly tier, so that whoever moves the code learns of it at once."""
    found, _ = find_device("hbm_small" if fault.file.startswith("hbm0923") else "vgemm_small")
    assert fault.in_set(found, tmp_path, 0).rtl != found.rtl


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


def test_a_fault_on_chip_is_placed_by_memory_row_and_column(tmp_path: Path) -> None:
    """The same fault in three memories, whose rows have 4, 16 and 16 bytes."""
    address = 0x4000
    base = make_case("vgemm_small/finish/directed/0")
    data = np.arange(1, 65, dtype=np.uint8)
    gemm = GemmOperands(
        uop_begin=0, uop_end=1, iter_out=1, iter_in=1, acc_out=0, acc_in=0, inp_out=0, inp_in=0, wgt_out=0, wgt_in=0
    )
    undefined = Call("gemm", gemm.encode())
    places = {
        MemoryType.INP: ("inp row 17, column 1", "0x06 = 6", "0x16 = 22"),
        MemoryType.WGT: ("wgt row 16, column 5", "0x06 = 6", "0x16 = 22"),
        MemoryType.ACC: ("acc row 16, column 1", "0x08070605 = 134678021", "0x08071605 = 134682117"),
    }
    with planted(LOAD_BIT, address, tmp_path / "rtl"), StreamRunner("vgemm_small") as runner:
        for kind, (place, expected, found) in places.items():
            load = LoadOperands(memory_type=kind, sram_base=16, address=address, y_size=1, x_size=3, x_stride=3)
            before = LoadOperands(memory_type=kind, sram_base=0, address=0, y_size=1, x_size=2, x_stride=2)
            calls = (*(Call("load", o.encode()) for o in (before, load, before)), undefined)
            case = replace(base, name=f"vgemm_small/{kind.name}", calls=calls, blocks=(Write("ddr", address, data),), causes=None)
            (outcome,) = runner.run(case)
            assert not outcome.passed
            d = outcome.divergence
            assert d is not None
            assert d.account is not None
            assert d.account.beat is not None
            assert (d.seq, d.total_differences) == (1, 1)
            assert not any("depends on" in r for r in outcome.reasons), "what comes behind the divergence is not its cause"
            (e,) = d.differences
            assert (e.where, e.expected, e.found) == (place, expected, found)
            assert d.account.beat.what == "wrong value"
            assert d.account.beat.cycle is not None
            text = page(find_failure(str(save_bundle(outcome, tmp_path / kind.name)), tmp_path))
            assert re.search(rf"^address +{place}$", text, re.MULTILINE)
            assert re.search(rf"^first beat +beat \d+ of \d+, cycle {d.account.beat.cycle} ", text, re.MULTILINE)


@pytest.mark.nightly
def test_what_writes_before_its_turn_is_named_and_not_the_commit_that_counts_it(tmp_path: Path) -> None:
    case, setting = make_case("vgemm_small/program/2"), Setting("stall:1", "aux")
    with planted(STORE_EARLY, 0, tmp_path / "rtl"):
        with StreamRunner("vgemm_small") as runner:
            (outcome,) = runner.run(case, [setting])
        stored = save_bundle(outcome, tmp_path)
        waves = leave_waves(stored, tmp_path / "waves")
    d = outcome.divergence
    assert d is not None
    assert d.instruction == "store"
    assert d.seq is not None
    assert d.commit == len(outcome.found) - 1 < d.seq
    assert case.calls[d.commit].instruction != "store"
    assert outcome.reasons[0].startswith(f"rtl, instruction {d.seq} (store): wrote ")
    extra = outcome.found[d.commit].bytes_written - outcome.expected[d.commit].bytes_written
    assert d.total_differences == extra
    text = page(find_failure(str(stored), tmp_path))
    assert re.search(rf"^instruction +{d.seq}: store", text, re.MULTILINE)
    assert re.search(r"^first beat .* too early at ddr 0x", text, re.MULTILINE)
    assert re.search(r"younger ones were started behind it", text)
    assert any("u_store" in scope for _, scope in waves.scopes)


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
    stream = open_stream(bound(loaded.program, loaded.inputs), "vgemm_small", LoweringOptions())
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
    stored = json.loads(result.read_text())
    asked = stored["identity"]["request"]["arguments"]
    asked[asked.index("--batch") + 1] = "3"
    result.write_text(json.dumps(stored))
    assert main(["why", str(tmp_path / "report"), "--waves", str(tmp_path / "waves")]) == 2
    assert re.search(r"the model is program \w{16} now, the result is of \w{16}; run it again", capsys.readouterr().err)


@pytest.mark.parametrize("own", [True, False])
def test_a_fault_in_a_sample_of_a_co_simulation(
    own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a stretch, or among what a stretch repeats, with the stretch that has it for its own not in the sample."""
    source = 'import numpy as np\n\ndef forward(x: "float32[4, 64]", w: "float32[12, 64, 64]"):\n'
    source += "    for i in range(12):\n        x = np.maximum(x @ w[i], 0)\n    return x\n"
    (tmp_path / "mlp.py").write_text(source)
    words = ["cosim", f"{tmp_path}/mlp.py:forward", "--engines", "iss,rtl", "--device", "vgemm_small"]
    words += ["--rtl", "blocks=2", "--report", str(tmp_path / "report")]
    program = load_model(words[1], None, None, 0, 4)
    stream = open_stream(bound(program.program, program.inputs), "vgemm_small", LoweringOptions())
    at, address = met_at(StreamCase("mlp", "vgemm_small", tuple(stream.calls), ()), "load_w1", 0.44)
    drawn = [Leg(0, 0, 16), Leg(at - 12, at - 8, at + 8) if own else Leg(at - 8, at + 8, at + 24)]
    monkeypatch.setattr(SampledCalls, "draw", lambda *_: drawn)
    monkeypatch.setattr("sys.argv", ["fleet", *words])
    with planted(LOAD_BIT, address, tmp_path / "rtl"):
        assert main(words) == 1
    said = capsys.readouterr().out
    assert "verdict: FAIL (sample: rtl" in said
    assert f"first divergence (rtl-vs-iss): instruction {at} load" in said
    assert f"{25 if own else 17} commits differ; first: commit {at} (load of " in said
    assert "did not run" not in said
    assert main(["why", str(tmp_path / "report")]) == 1
    shown = capsys.readouterr().out
    assert re.search(rf"^instruction +{at}: load .*w1={address:#x}", shown, re.MULTILINE)
    assert f"load_w1            = {address:#010x}" in shown
    assert "run it without --rtl" in " ".join(shown.split())
    assert f"first: commit {at} (load of x.5)" in (tmp_path / "report" / "index.html").read_text()
