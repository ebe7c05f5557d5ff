"""docs/ir.md and docs/bytecode.md: generated tables are current, what the pages show is what the project prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from fleet.cli.main import main
from fleet.errors import FleetError
from fleet.ir import dialect as d
from fleet.ir import tables as ir_tables
from fleet.ir.dialect import kind_of
from fleet.targets.bytecode import tables as bytecode_tables
from fleet.targets.bytecode.container import VERSION
from fleet.targets.bytecode.opcodes import OpCode
from fleet.targets.bytecode.operators import ENTRY_POINTS, OPERATORS
from fleet.targets.bytecode.text import parse_vm, print_vm
from fleet.targets.bytecode.vm import MAX_STEPS

ROOT = Path(__file__).parents[2]
BYTECODE = (ROOT / "docs" / "bytecode.md").read_text()
IR = (ROOT / "docs" / "ir.md").read_text()


@pytest.fixture(autouse=True)
def _in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.parametrize("tables", [ir_tables, bytecode_tables], ids=["ir", "bytecode"])
def test_tables_are_current(tables) -> None:
    assert tables.main(["--check"]) == 0


def test_an_outdated_table_is_found(tmp_path: Path, capsys) -> None:
    page = tmp_path / "p.md"
    page.write_text("<!-- opcodes: command -->\nold\n<!-- end of opcodes -->\n")
    assert ir_tables.write_page(page, {"opcodes": "new\n"}, check=True) == 1
    assert "not those of the sources" in capsys.readouterr().err
    assert ir_tables.write_page(page, {"opcodes": "new\n"}, check=False) == 0
    assert page.read_text() == "<!-- opcodes: command -->\n\nnew\n\n<!-- end of opcodes -->\n"
    with pytest.raises(FleetError, match="no marks for the table types"):
        ir_tables.write_page(page, {"types": ""}, check=True)


def test_tables_are_complete() -> None:
    for op in d.FLEET.operations:
        assert f"| `{kind_of(op)}` |" in IR or (op is d.YieldOp and "`fleet.yield`" in IR)
    for op in OpCode:
        assert f"| {int(op)} | `{op.name}` |" in BYTECODE
    assert all(f"`{name}`" in BYTECODE for name in OPERATORS)


def test_every_operation_says_what_it_computes() -> None:
    assert not [op.name for op in d.FLEET.operations if not (op.__doc__ or "").strip()]


@pytest.mark.parametrize(
    "line", [c for block in re.findall(r"^```sh\n(.*?)^```", BYTECODE, re.M | re.S) for c in block.splitlines()]
)
def test_commands_run(line: str, tmp_path: Path, monkeypatch, capsys) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    assert main(["compile", "--emit", "bytecode", "examples/add_sample.py", "-o", "add.fbc"]) == 0
    assert main(shlex.split(line)[1:]) == 0


def test_the_listing_is_what_is_printed(capsys) -> None:
    (text,) = re.findall(r"^```text\n(vm\.module.*?)^```", BYTECODE, re.M | re.S)
    assert print_vm(parse_vm(text)) == text
    assert main(["compile", "--emit", "vm", "examples/add_sample.py"]) == 0
    found = capsys.readouterr().out
    hide = re.compile(r'program "\w*"')  # changes with the model's text
    assert hide.sub("", found) == hide.sub("", text)


def test_numbers_of_the_page() -> None:
    assert f"| 8 | 4 | version, {VERSION} |" in BYTECODE
    assert f"it has run {MAX_STEPS} steps without an end" in BYTECODE
    assert f'"{ENTRY_POINTS}"' in BYTECODE


def test_files_of_the_ir_page_exist() -> None:
    assert all((ROOT / "fleet" / "ir" / name).exists() for name in re.findall(r"`((?!fleet/|tests/)[\w/]+\.py)`", IR))
