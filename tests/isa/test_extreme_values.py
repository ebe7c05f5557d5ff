"""Values that description and model accept reach the hardware, and state registers are held to their fields and their users."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from workspaces import Workspace, make_workspace

from fleet.cli.main import main
from fleet.isa.registry import find_device
from fleet.verify.conformance.suite import make_case

ImportFrom = Callable[[Path], None]


def test_every_field_meets_both_ends_of_what_is_legal(installed_set: Path, import_from: ImportFrom) -> None:
    import_from(installed_set)
    case = make_case("vector_tiny/vadd/extremes/0")
    instruction_set, device = find_device("vector_tiny")
    last = case.calls[-1].fields
    size = 64 * last["vadd_beats"]
    for name in ("vadd_a", "vadd_b", "vadd_out"):
        values = [c.fields[name] for c in case.calls]
        assert device.memory["ddr"] - size in values, "ends with the last byte of memory"
        assert 0 in values or any(last[other] < size for other in ("vadd_a", "vadd_b", "vadd_out") if other != name)
    every = [c for n in range(16) for c in make_case(f"vector_tiny/vadd/extremes/{n}").calls]
    assert {1, 16} <= {c.fields["vadd_beats"] for c in every}
    for call in case.calls:
        assert instruction_set.instructions["vadd"].legal(device, call.fields) == []


def test_a_legal_value_that_the_hardware_refuses_is_found(
    installed_set: Path,
    import_from: ImportFrom,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    top = installed_set / "vector_add/rtl/vector_add_top.sv"
    old = "operands.out > room) refusal"
    assert old in top.read_text()
    top.write_text(top.read_text().replace(old, "operands.out > room || operands.out[15:12] == 4'hf) refusal"))
    import_from(installed_set)
    assert main(["isa", "check", "vector_add"]) == 1
    failed = [line for line in capsys.readouterr().out.splitlines() if "; fleet stream run " in line]
    assert any(re.search(r"vadd/extremes/0: ideal/regs: .*expected execution, found cause \d", line) for line in failed), failed


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("extremes"))
    made.new_set("cube", "--kind", "systolic")
    return made


def _changed(workspace: Workspace, file: str, old: str, new: str) -> Path:
    path = workspace.folder / "sets/cube/cube" / file
    text = path.read_text()
    assert text.count(old) == 1, (old, text.count(old))
    path.write_text(text.replace(old, new))
    return path


def test_bits_that_a_state_register_lacks_are_a_line_with_the_methods_place(cube: Workspace) -> None:
    old = '"activation": fields["config_output_activation"]'
    path = _changed(cube, "config.py", old, f"{old} | 4")
    out = cube.fleet("isa", "check", "cube", "--no-rtl", code=1)
    path.write_text(path.read_text().replace(f"{old} | 4", old))
    found = [text for text in out.splitlines() if "configures" in text]
    said = r"/.*/config\.py:\d+: config_output: `configures` answers 0x[45] for activation, whose fields cover 0x1 \("
    assert [bool(re.match(said, line)) for line in found] == [True], found


def test_a_state_register_without_a_writer_or_a_reader_is_a_line(cube: Workspace) -> None:
    old = "\n    } activation;\n"
    spare = 'reg { name = "Spare"; field { fleet_kind = "value"; } value[7:0] = 0; } spare;'
    path = _changed(cube, "cube.rdl", old, f"{old}    {spare}\n")
    cube.fleet("isa", "generate", str(path))
    cube.python("-m", "fleet.isa.export", str(path), "-o", str(path.with_name("rtl") / "generated"))
    out = cube.fleet("isa", "check", "cube", "--no-rtl", code=1)
    said = r"cube\.rdl:\d+: state register spare: no drawn call of any instruction `configures` it, and no instruction names it"
    assert re.search(said, out), out
