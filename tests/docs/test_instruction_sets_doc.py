"""docs/instruction-sets.md says what is so: excerpts, tables, commands and error lines are those of the project."""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import shutil
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from systemrdl import RDLCompiler
from systemrdl.node import MemNode, Node

from fleet.cli.main import fleet, main
from fleet.errors import FleetError
from fleet.isa import description, export, properties, registry
from fleet.regress.cases import parse_case

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "docs" / "instruction-sets.md").read_text()
TOY = ROOT / "tests" / "fixtures" / "one_instruction_set"
UDP = ROOT / "fleet" / "isa" / "reading" / "fleet_udp.rdl"

ImportFrom = Callable[[Path], None]

EXCERPTS = re.findall(r"^From `([^`]+)`:\n\n```\w+\n(.*?)^```", TEXT, re.M | re.S)
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]
ERRORS = [line for block in re.findall(r"^```text errors\n(.*?)^```", TEXT, re.M | re.S) for line in block.splitlines()]


def table(head: str) -> list[list[str]]:
    """Rows of the table whose head line starts so, as lists of cells."""
    lines = iter(TEXT[TEXT.index(head) :].splitlines()[2:])
    rows: list[list[str]] = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def names(cells: list[str]) -> set[str]:
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize(("file", "excerpt"), EXCERPTS, ids=[f for f, _ in EXCERPTS])
def test_excerpts_stand_in_their_files(file: str, excerpt: str) -> None:
    assert excerpt in (TOY / file).read_text()


def test_there_is_an_excerpt_of_every_part() -> None:
    assert len(EXCERPTS) == len(re.findall(r"^From `", TEXT, re.M)) >= 8
    for cell in names([row[1] for row in table("| part |")]):
        assert (TOY / cell).exists() or (TOY / "vector_add" / cell).exists() or cell in {"cases", "devices"}, cell


def test_every_property_role_and_kind_is_in_the_tables() -> None:
    defined = set(re.findall(r"^property (\w+)", UDP.read_text(), re.M))
    assert names([row[0] for row in table("| property |")]) == defined
    assert names([row[0] for row in table("| role |")]) == set(description.ROLES)
    (kinds,) = (row[3] for row in table("| property |") if row[0] == "`fleet_kind`")
    assert names([kinds]) == set(description.KINDS)


def test_the_table_of_properties_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert properties.main(["--check"]) == 0


def test_what_the_table_says_of_components_and_examples_compiles(tmp_path: Path) -> None:
    """Each example, on the component that its property is defined for, by the SystemRDL compiler and not by our reader."""
    examples: dict[str, str] = {"addrmap": "", "reg": "", "field": "", "mem": ""}
    for p in properties.properties(UDP.read_text()):
        examples[p.component] += p.example
    source = (
        f"addrmap top {{ {examples['addrmap']} reg {{ {examples['reg']} field {{ {examples['field']} }} f[7:0] = 0; }} first @ 0; "
        f"external mem {{ memwidth = 32; {examples['mem']} }} second @ 0x100; }};"
    )
    compiler = RDLCompiler()
    compiler.compile_file(str(UDP))
    (tmp_path / "top.rdl").write_text(source)
    compiler.compile_file(str(tmp_path / "top.rdl"))
    top = compiler.elaborate("top").top
    (r,), (m,) = top.registers(), [c for c in top.children() if isinstance(c, MemNode)]
    (f,) = r.fields()
    nodes: dict[str, Node] = {"addrmap": top, "reg": r, "field": f, "mem": m}
    for p in properties.properties(UDP.read_text()):
        assert nodes[p.component].get_property(p.name) is not None, p.name


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("property a { component = reg; type = string; };\n", "a: no comment in front of it"),
        ("// Meaning.\n// on: reg\n// default: 1\nproperty a { component = reg; type = string; };\n", "a: .*say `example`"),
        ("// on: x\n// default: 1\n// example: a = 1;\nproperty a { component = reg; type = bit; };\n", "a: .*say `meaning`"),
    ],
)
def test_a_property_that_does_not_say_all_is_refused(text: str, said: str) -> None:
    with pytest.raises(FleetError, match=said):
        properties.properties(text)


def find_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """The click command that the words name, and its arguments."""
    command: click.Command = fleet
    rest = list(words)
    while isinstance(command, click.Group):
        name = rest.pop(0)
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"no command '{name}'"
        command = found
    return command, rest


@pytest.mark.parametrize("line", [c for c in COMMANDS if c.startswith("fleet ")])
def test_fleet_commands_exist_and_parse(line: str) -> None:
    command, arguments = find_command(shlex.split(line)[1:])
    context = command.make_context(command.name, arguments)
    assert context.command is command


def test_commands_are_of_known_kinds() -> None:
    assert len(COMMANDS) >= 8
    for line in COMMANDS:
        words = shlex.split(line)
        assert words[0] in {"fleet", "python", "pip", "cp"}, line
        if words[:2] == ["python", "-m"]:
            assert importlib.util.find_spec(words[2]) is not None, line
        if words[0] == "cp":
            assert (ROOT / words[2]).is_dir(), line


def test_repository_paths_in_the_text_exist() -> None:
    paths = re.findall(r"[`(](?:\.\./)?((?:fleet|tests|rtl_models|sim)/[\w./-]*\w)[`)]", TEXT)
    assert len(paths) >= 5
    assert [p for p in paths if not (ROOT / p).exists()] == []


@pytest.fixture
def my_set(installed_set: Path, import_from: ImportFrom, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy where the page has it: in ./my_set, on the import path."""
    folder = installed_set.rename(installed_set.parent / "my_set")
    monkeypatch.chdir(folder.parent)
    # One process compiles the same content once, and patterns (edited below) are not content.
    monkeypatch.setattr("fleet.targets.accel.compile._COMPILED", OrderedDict())
    import_from(folder)
    return folder


def test_the_quick_commands_run(my_set: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in COMMANDS:
        words = shlex.split(line)
        if words[:2] == ["python", "-m"]:
            assert importlib.import_module(words[2]).main(words[3:]) == 0, line
        elif words[0] == "fleet" and (words[1] in {"devices", "compile"} or "iss" in words):
            assert main(words[1:]) == 0, line
    assert "0: vadd a=0x0 " in capsys.readouterr().out


def test_the_case_is_one() -> None:
    (text,) = re.findall(r"^```toml case\n(.*?)^```", TEXT, re.M | re.S)
    case = parse_case(text, Path("my_set/cases/add.toml"))
    ids = {run.id for run in case.runs}
    assert len(ids) == 4
    (shown,) = (shlex.split(c) for c in COMMANDS if c.startswith("fleet case run"))
    assert shown[-1] in ids
    assert shown[3] == str(case.path)


def export_check(folder: Path) -> int:
    rdl = folder / "vector_add" / "vector_add.rdl"
    return export.main([str(rdl), "-o", str(rdl.parent / "rtl" / "generated"), "--check"])


def compile_accel(folder: Path) -> int:
    return main(["compile", "--emit", "accel-regs", f"{folder / 'model.py'}:forward", "--device", "vector_tiny"])


def run_iss(folder: Path) -> int:
    return main(["run", f"{folder / 'model.py'}:forward", "--engines", "iss", "--device", "vector_tiny"])


# In the order of the page: file, text, what a careless author writes instead, what tells him.
MISTAKES: list[tuple[str, str, str, Callable[[Path], Any]]] = [
    ("vector_add.rdl", 'fleet_space = "ddr"; fleet_align', "fleet_align", export_check),
    ("vector_add.rdl", "vadd_beats @ 0x1C", "vadd_beats @ 0x20", export_check),
    ("vector_add.rdl", "default swmod;", "", export_check),
    ("vector_add.rdl", "fleet_opcode = 0x21", "fleet_opcode = 0x22", export_check),
    ("vector_add.rdl", "vadd_beats @ 0x1C", "vadd_beats @ 0x2C", export_check),
    ("semantics.py", 'name = "vadd"', 'name = "vsum"', lambda _: print(registry.broken()["vector_add"])),
    ("__init__.py", '{"vadd": VectorAdd}', '{"vsub": VectorAdd}', lambda _: print(registry.broken()["vector_add"])),
    ("devices/vector_tiny.toml", "MaxBeats = 16\n", "", lambda _: print(registry.broken()["vector_add"])),
    ("lowering.py", '                "vadd_start": 1,\n', "", compile_accel),
    ("lowering.py", "min(step, beats - first)", "beats + 7", compile_accel),
    ("semantics.py", 'fields["vadd_out"], (a + b)', 'fields["vadd_out"] + BEAT, (a + b)', run_iss),
]


def printed(
    mistake: tuple[str, str, str, Callable[[Path], Any]], folder: Path, capsys: pytest.CaptureFixture[str]
) -> Iterator[str]:
    file, old, new, tell = mistake
    path = folder / "vector_add" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    shutil.rmtree(folder / "vector_add" / "__pycache__", ignore_errors=True)
    tell(folder)
    captured = capsys.readouterr()
    for line in (captured.out + captured.err).splitlines():
        yield line.replace(str(folder), "...")


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_error_lines_are_real(number: int, my_set: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(ERRORS) == len(MISTAKES)
    expected = ERRORS[number].removesuffix(" ...")
    lines = list(printed(MISTAKES[number], my_set, capsys))
    assert any(line.startswith(expected) for line in lines), lines


def test_error_lines_of_the_hardware_are_in_the_sources() -> None:
    """What they look like is tested where engine and comparison are; here, that the wording is still theirs."""
    engine = "".join(p.read_text() for p in sorted((ROOT / "fleet" / "engines").rglob("*.py")))
    compare = (ROOT / "fleet" / "compare" / "traces.py").read_text()
    for part, source in (
        ("the hardware carries description hash ", engine),
        (", the stream was made for ", engine),
        ("the hardware refused the instruction with error cause ", engine),
        ("the hardware committed ", engine),
        (" commits differ; first: ", compare),
    ):
        assert part in TEXT
        assert part in source


def test_errors_named_in_the_text_are_errors() -> None:
    from fleet.engines.rtl_sim.process import SimulationError
    from fleet.isa.codec import CodecError

    known = {e.__name__ for e in (description.DescriptionError, registry.PluginError, CodecError, SimulationError)}
    assert all(issubclass(e, FleetError) for e in (registry.PluginError, CodecError, SimulationError))
    named = names([row[2] for row in table("| when |")])
    assert known <= named <= known | {"DeviceError"}
