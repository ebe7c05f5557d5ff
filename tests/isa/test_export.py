"""Generated hardware text: current, lintable, and right in the places that a reader can check by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hardware_files import verilator_says

import fleet.sets
from fleet.errors import ComparisonFailure
from fleet.isa.export import check, export, generate, main
from fleet.isa.hardware import hardware_of
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_instruction_set
from fleet.sdk import generated_files

ROOT = Path(__file__).parent.parent.parent
PROJECT_SETS = sorted(Path(fleet.sets.__file__).parent.glob("*/*.rdl"))
TOY = ROOT / "tests" / "fixtures" / "one_instruction_set" / "vector_add"


def lint(folder: Path, name: str, *more: Path, top: str) -> str:
    """What Verilator says of a set's generated files and `more`; "" if it finds nothing."""
    return verilator_says([*(folder / f for f in generated_files(name)), *more], "--top-module", top)


def test_no_generated_file_of_the_project_is_kept() -> None:
    assert PROJECT_SETS
    names = {name for rdl in PROJECT_SETS for name in generated_files(load(rdl).name)}
    assert [p for p in (ROOT / "rtl_models").rglob("*") if p.name in names] == []


def test_the_example_set_is_current() -> None:
    check(TOY / "vector_add.rdl", TOY / "rtl" / "generated")


@pytest.mark.parametrize("rdl", PROJECT_SETS, ids=lambda p: p.stem)
def test_generated_files_lint(rdl: Path) -> None:
    name = load(rdl).name
    hardware = hardware_of(find_instruction_set(name))
    assert hardware is not None
    package = next(p for p in hardware.files if p.name == f"{name}_pkg.sv")
    assert lint(package.parent, name, top=f"{name}_csr") == ""


def test_the_example_hardware_lints() -> None:
    assert lint(TOY / "rtl" / "generated", "vector_add", TOY / "rtl" / "vector_add_top.sv", top="vector_add_top") == ""


@pytest.mark.parametrize("rdl", [*PROJECT_SETS, TOY / "vector_add.rdl"], ids=lambda p: p.stem)
def test_a_second_parser_takes_the_files(rdl: Path) -> None:
    pyslang = pytest.importorskip("pyslang")
    name = load(rdl).name
    texts = generate(rdl)
    compilation = pyslang.ast.Compilation() if hasattr(pyslang, "ast") else pyslang.Compilation()
    tree_class = pyslang.syntax.SyntaxTree if hasattr(pyslang, "syntax") else pyslang.SyntaxTree
    for file in generated_files(name)[1:]:
        compilation.addSyntaxTree(tree_class.fromText(texts[file], file))
    errors = [d for d in compilation.getAllDiagnostics() if d.isError()]
    assert [str(d.code) for d in errors] == []


def test_export_is_repeatable_and_leaves_current_files_alone(tmp_path: Path) -> None:
    files = export(TOY / "vector_add.rdl", tmp_path)
    assert [f.name for f in files] == list(generated_files("vector_add"))
    times = [f.stat().st_mtime_ns for f in files]
    export(TOY / "vector_add.rdl", tmp_path)
    assert [f.stat().st_mtime_ns for f in files] == times
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(generated_files("vector_add"))


@pytest.mark.parametrize("file", generated_files("vector_add"))
def test_an_edited_or_missing_file_is_found(tmp_path: Path, file: str) -> None:
    export(TOY / "vector_add.rdl", tmp_path)
    check(TOY / "vector_add.rdl", tmp_path)
    lines = (tmp_path / file).read_text().splitlines()
    lines[-1] += " "
    (tmp_path / file).write_text("\n".join(lines) + "\n")
    with pytest.raises(ComparisonFailure, match=rf"{file}:{len(lines)}: is not what the description generates"):
        check(TOY / "vector_add.rdl", tmp_path)
    (tmp_path / file).unlink()
    with pytest.raises(ComparisonFailure, match=f"{file}: generated file is missing"):
        check(TOY / "vector_add.rdl", tmp_path)


def test_a_changed_description_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rdl = tmp_path / "vector_add.rdl"
    rdl.write_text((TOY / "vector_add.rdl").read_text())
    assert main([str(rdl), "-o", str(tmp_path / "out")]) == 0
    assert main([str(rdl), "-o", str(tmp_path / "out"), "--check"]) == 0
    rdl.write_text(rdl.read_text().replace("vadd_beats @ 0x1C", "vadd_beats @ 0x2C"))
    assert main([str(rdl), "-o", str(tmp_path / "out"), "--check"]) == 1
    error = capsys.readouterr().err
    assert "is not what the description generates" in error
    assert "python -m fleet.isa.export" in error
    assert main([str(tmp_path / "none.rdl")]) == 2


def test_the_command_finds_an_edited_and_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rdl, out = TOY / "vector_add.rdl", tmp_path / "out"
    command = [str(rdl), "-o", str(out), "--check"]
    assert main(command) == 1
    assert "vector_add.vlt: generated file is missing" in capsys.readouterr().err
    assert not out.exists(), "a check writes nothing"
    export(rdl, out)
    assert main(command) == 0
    package = out / "vector_add_pkg.sv"
    text = package.read_text()
    line = next(n for n, s in enumerate(text.splitlines(), 1) if "OpVadd" in s)
    package.write_text(text.replace("OpVadd = 16'h0021", "OpVadd = 16'h0022"))
    assert main(command) == 1
    assert capsys.readouterr().err.startswith(f"{package}:{line}: is not what the description generates; run `python -m ")
    assert "16'h0022" in package.read_text(), "a check writes nothing"


def test_a_change_of_prose_alone_is_found(tmp_path: Path) -> None:
    rdl = tmp_path / "vector_add.rdl"
    text = (TOY / "vector_add.rdl").read_text()
    rdl.write_text(text)
    export(rdl, tmp_path / "out")
    rdl.write_text(text.replace('name = "Length";', 'name = "Size";'))
    with pytest.raises(ComparisonFailure, match=r"vector_add_pkg\.sv:\d+: is not what"):
        check(rdl, tmp_path / "out")


def test_package_constants_of_the_example() -> None:
    package = generate(TOY / "vector_add.rdl")["vector_add_pkg.sv"]
    for line in (
        "localparam int unsigned RegVaddA = 4;",
        "localparam int unsigned RegVaddStart = 8;",
        "localparam logic [15:0] OpVadd = 16'h0021;",
        "localparam logic [31:0] StartVadd = 32'h00000001;",
        "localparam logic [15:0] ErrBusError = 16'd6;",
        "logic [31:0] beats;  // 7: Length",
    ):
        assert line in package


def test_the_header_names_generator_and_hash() -> None:
    digest = load(TOY / "vector_add.rdl").hash
    for text in generate(TOY / "vector_add.rdl").values():
        assert "Generated by fleet.isa.export from vector_add.rdl" in text
        assert digest in text
