"""What `fleet isa check` leaves behind a failing case: a command that fails again, and a stream that `fleet why` explains."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.cli.main import main

ImportFrom = Callable[[Path], None]
TOP = "rtl/vector_add_top.sv"
SLOW = ("a_d     = ddr_rdata_i;", "a_d     = cycles_q[ClActivation] > 32'd150 ? '0 : ddr_rdata_i;")
HANG = ("if (ddr_bvalid_i) begin", "if (ddr_bvalid_i && op_q.beats != 32'd3) begin")


def _planted(folder: Path, old: str, new: str) -> None:
    path = folder / "vector_add" / TOP
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _check(capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert main(["isa", "check", "vector_add"]) == 1
    return [line for line in capsys.readouterr().out.splitlines() if "; fleet stream run " in line]


def test_the_printed_command_runs_the_case_under_the_setting_in_which_it_failed(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    _planted(installed_set, *SLOW)  # nothing is wrong with ideal memory
    import_from(installed_set)
    lines = _check(capsys)
    assert lines
    assert not any(": ideal/" in line for line in lines), lines
    for line in lines[:2]:
        command = shlex.split(line.rpartition("; ")[2])
        assert command[0] == "fleet"
        assert main(command[1:]) == 1, line
        assert main(command[1:4]) == 0, "the case alone, with ideal memory"
    capsys.readouterr()
    assert main(["why"]) == 1
    page = capsys.readouterr().out
    first = lines[0].partition(":")[0]
    assert main(["why", first]) == 1
    assert first in capsys.readouterr().out
    assert "vadd_beats" in page
    assert "values" in page


def test_a_stored_stream_of_another_description_names_the_setting_that_makes_it_again(
    installed_set: Path, import_from: ImportFrom, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import_from(installed_set)
    from fleet.streams.bundle import save_bundle
    from fleet.streams.case import Setting, StreamOutcome
    from fleet.verify.conformance.suite import make_case

    case = make_case("vector_tiny/vadd/directed/0")
    path = save_bundle(StreamOutcome(case, Setting("fixed:37"), (), (), False, ("why",)), tmp_path, power_on=3)
    rdl = installed_set / "vector_add" / "vector_add.rdl"
    rdl.write_text(rdl.read_text().replace("vadd_beats @ 0x1C", "vadd_beats @ 0x2C"))
    assert main(["stream", "run", str(path)]) == 2
    again = "`fleet stream run vector_tiny/vadd/directed/0 --memory fixed:37 --power-on 3`"
    assert again in capsys.readouterr().err


def test_why_names_the_instruction_in_which_the_hardware_hung(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    _planted(installed_set, *HANG)
    import_from(installed_set)
    lines = _check(capsys)
    assert lines
    assert "the simulation ended in hang" in lines[0]
    assert main(["why"]) == 1
    page = capsys.readouterr().out
    assert "No instruction or operation is named" not in page
    assert "the simulation ended in hang" in page
    assert "vadd_beats         = 0x00000003" in page


def test_operands_that_the_hardware_does_not_latch_are_found(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    """A host may write the next operands while an instruction runs; streams write other values right behind each start."""
    _planted(installed_set, "(offset_d >> 6) == op_q.beats", "(offset_d >> 6) == operands.beats")
    import_from(installed_set)
    assert _check(capsys)


def test_a_carry_that_an_address_loses_is_found_and_its_stream_kept(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the highest bit of an address changes: buffers that are drawn hardly ever lie there."""
    new = "{1'b0, op_q.out[31:15], op_q.out[14:0] + offset_q[14:0]}"
    _planted(installed_set, "assign ddr_awaddr_o  = {1'b0, op_q.out} + {1'b0, offset_q}", f"assign ddr_awaddr_o  = {new}")
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(", vadd_out across a page: ideal/regs: " in line for line in lines), lines
    (kept,) = (line for line in lines if "kept in" in line)
    stored = Path(kept.rpartition("fleet why ")[2])
    assert main(["stream", "run", str(stored)]) == 1


_BUSY = "if (state_q != StIdle && state_q != StBusy && start) pending_d = 1'b1;"
HOSTS = [
    ("if (ddr_bresp_i != 2'b00) begin", "if (1'b0) begin", "memory answers with an error, and it commits without one"),
    ("  done_d   = 1'b0;", "", "vadd_status reads 0x1 while it runs, expected 0"),
    (_BUSY, "", "a start while its unit runs"),
]


@pytest.mark.parametrize(("old", "new", "said"), HOSTS, ids=["bresp", "status", "busy"])
def test_what_only_a_host_sees_is_checked(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    _planted(installed_set, old, new)
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(said in line and line.startswith("vadd: ") for line in lines), lines


def test_cycles_that_raise_are_one_finding_with_the_methods_place(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    path = installed_set / "vector_add/conformance.py"
    text = path.read_text()
    assert text.count("    def directed(") == 1
    raising = "    def cycles(self, device, call):\n        return 1 // 0\n\n    def directed("
    path.write_text(text.replace("    def directed(", raising))
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 1
    first, *_, last = capsys.readouterr().out.splitlines()
    assert "conformance.py:" in first
    assert "vadd: `cycles` of its source fails: ZeroDivisionError" in first
    assert last.endswith("FAIL 1 finding")


def test_generate_finds_the_description_of_a_set_that_cannot_be_loaded(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = installed_set / "vector_add/__init__.py"
    manifest.write_text("raise ImportError('stale')\n" + manifest.read_text())
    import_from(installed_set)
    assert main(["isa", "generate", "vector_add", "-o", str(installed_set / "operands.py")]) == 0
    assert "wrote" in capsys.readouterr().out
