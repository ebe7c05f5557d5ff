"""A workspace and an instruction set made by the commands work as they are: co-simulation, cases, conformance, lint."""

from __future__ import annotations

from pathlib import Path

import pytest
from hardware_files import hand_written_is_clean, verilator_says
from workspaces import Workspace, make_workspace

from fleet.sdk import generated_files


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("new_set"))
    made.new_set("mine", "--op", "maximum")
    return made


def test_a_fresh_workspace_runs_its_example(tmp_path: Path) -> None:
    made = make_workspace(tmp_path)
    for name in ("models", "sim", "golden", "reports", "README.md"):
        assert (made.folder / name).exists()
    out = made.pytest("sim", "-q")
    assert "1 passed, 1 skipped, 1 deselected" in out
    assert "installed beside fleet's own: `fleet isa new`" in out
    out = made.fleet("cosim", "models/example.py:forward", "--engines", "vm,iss", "--device", "hbm_small", "--report", "reports/e")
    assert "verdict: PASS" in out
    assert (made.folder / "reports" / "e" / "index.html").is_file()


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    made = Workspace(tmp_path)
    (tmp_path / "README.md").write_text("mine")
    assert "README.md: is already there" in made.fleet("init", code=2)
    assert [p.name for p in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "mine"


def test_the_set_is_found_and_its_model_agrees_three_ways(mine: Workspace) -> None:
    assert "mine_tiny" in mine.fleet("devices")
    model = "sets/mine/mine/cases/model.py:forward"
    out = mine.fleet("cosim", model, "--engines", "vm,iss,rtl", "--device", "mine_tiny", "--memory", "stall:7")
    assert "rtl-vs-iss: 2 instruction commits, 1,280 bytes, every bit" in out


def test_its_operands_are_those_of_the_description(mine: Workspace) -> None:
    """Generated beside it, and what its parts read instead of registers."""
    folder = mine.folder / "sets" / "mine" / "mine"
    assert f"{folder / 'operands.py'}: current" in mine.fleet("isa", "generate", "mine", "--check")
    for file in ("vector.py", "conformance.py", "patterns.py", "semantics/vmaximum.py"):
        assert 'fields["' not in (folder / file).read_text()
    (folder / "operands.py").rename(folder / "kept.py")
    try:
        assert "No module named 'mine.operands'" in mine.fleet("isa", "check", "mine", code=2)
        assert "operands.py" in mine.fleet("isa", "generate", str(folder / "mine.rdl"))
        assert (folder / "operands.py").read_text() == (folder / "kept.py").read_text()
    finally:
        (folder / "kept.py").unlink()


def test_pytest_sim_finds_it_through_its_entry_point(mine: Workspace) -> None:
    out = mine.pytest("sim", "-v")
    assert "mine[mine_tiny-stall-1] PASSED" in out
    assert "test_conformance[mine_tiny] PASSED" in out
    away = Workspace(mine.folder)  # nothing in the workspace names it: without its entry point it is not there
    assert "mine_tiny" not in away.pytest("sim", "--collect-only", "-q")


def test_a_wrong_lane_fails_its_conformance(tmp_path: Path) -> None:
    made = make_workspace(tmp_path)
    made.new_set("other", "--op", "sub")
    lanes = made.folder / "sets/other/other/rtl/other_lanes.sv"
    text = lanes.read_text()
    assert "a_i[32*i +: 32] - b_i[32*i +: 32]" in text
    lanes.write_text(text.replace("a_i[32*i +: 32] - b_i[32*i +: 32]", "b_i[32*i +: 32] - a_i[32*i +: 32]"))
    out = made.pytest("sim", "-q", "-k", "conformance", code=1)
    assert "other_tiny/vsub/directed/0" in out
    assert "commits differ" in out


def test_a_wrong_class_and_a_wrong_reset_value_fail_its_conformance(tmp_path: Path) -> None:
    """No result differs: what the lanes take is counted as waiting for weights, and a length that nobody wrote is 1."""
    made = make_workspace(tmp_path)
    made.new_set("other", "--op", "sub")
    hardware = made.folder / "sets/other/other/rtl"
    for file, right, wrong in (
        (hardware / "other_top.sv", "cycle_class = 3'(ClCompute)", "cycle_class = 3'(ClCompute + 1)"),
        (hardware / "generated/other_regs.sv", "field_storage.vec_beats.value.value <= 32'h0;",
         "field_storage.vec_beats.value.value <= 32'h1;"),
    ):  # fmt: skip
        text = file.read_text()
        assert text.count(right) == 1
        file.write_text(text.replace(right, wrong))
    out = made.pytest("sim", "-q", "-k", "conformance", code=1)
    assert "instruction 0 (vsub): it has cycles of weight_wait, and can have none: " in out
    assert "vec_beats (0x1c) reads 0x1 after reset, expected 0x0" in out
    for test in ("conformance", "cycle_classes", "registers_after_reset"):
        assert f"FAILED sim/test_conformance.py::test_{test}[other_tiny]" in out


def _sources(mine: Workspace) -> list[Path]:
    rtl = mine.folder / "sets/mine/mine/rtl"
    return [*(rtl / "generated" / f for f in generated_files("mine")), rtl / "mine_lanes.sv", rtl / "mine_top.sv"]


def test_slang_finds_nothing_in_its_hardware(mine: Workspace) -> None:
    """Mutants are made of what slang elaborates."""
    assert hand_written_is_clean("mine_top", _sources(mine))


def test_its_hardware_is_clean_for_the_linter(mine: Workspace) -> None:
    copies = []
    for file in _sources(mine):  # the linter's wrapper cannot stand the blank
        copies.append(mine.folder.parent / file.name)
        copies[-1].write_text(file.read_text())
    assert verilator_says(copies, "--top-module", "mine_top") == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["isa", "new", "Mine"], "names are lower case words"),
        (["isa", "new", "class"], "is a keyword"),
        (["isa", "new", "numpy"], "a Python package of this name is installed"),
        (["isa", "new", "mine"], "an instruction set of this name is installed"),
        (["isa", "new", "next_one", "--instruction", "vec"], "is the name of the unit"),
        (["isa", "new", "next_one", "--op", "xor"], "'xor' is not one of"),
    ],
)
def test_names_that_cannot_be(mine: Workspace, arguments: list[str], message: str) -> None:
    out = mine.fleet(*arguments, code=2)
    assert message in out
    assert len(out.splitlines()) == 1
    assert not (mine.folder / "sets" / "next_one").exists()
