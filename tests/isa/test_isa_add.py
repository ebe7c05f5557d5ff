"""`fleet isa add`, in a set and in a set of another package that extends it: few files, all or none, and it works at once."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from test_export_c import claims, compiled
from test_export_uvm import elaborated, model
from workspaces import Workspace, make_workspace

from fleet.isa.description import load
from fleet.isa.scaffold.add import instructions_end

ONE_INSTRUCTION_SET = Path(__file__).parents[1] / "fixtures" / "one_instruction_set"

MODEL = """# ruff: noqa: F821
def forward(a: "int32[N, 20]", b: "int32[N, 20]"):
    return (a + b) {op} b
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("add"))
    made.fleet("isa", "new", "base")
    made.install(made.folder / "sets" / "base")
    return made


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts}


def changed(before: dict[Path, bytes], folder: Path) -> set[Path]:
    after = snapshot(folder)
    return {p for p in before.keys() | after.keys() if before.get(p) != after.get(p)}


def test_at_most_five_files_are_touched_and_listed(base: Workspace) -> None:
    before = snapshot(base.folder)
    out = base.fleet("isa", "add", "base", "vsub", "--op", "sub")
    touched = changed(before, base.folder)
    by_hand = {p for p in touched if "generated" not in p.parts}
    listed = {Path(line.strip()) for line in out.splitlines() if line.startswith("  ")}
    assert by_hand == listed
    assert len(by_hand) <= 5
    assert f"touched {len(by_hand)} files" in out
    assert "generated again: 5 files" in out
    (base.folder / "models" / "diff.py").write_text(MODEL.format(op="-"))
    out = base.fleet("cosim", "models/diff.py:forward", "--engines", "vm,iss,rtl", "--device", "base_tiny")
    assert "rtl-vs-iss: 2 instruction commits" in out
    assert "PASS 0 findings" in base.fleet("isa", "check", "base")


def test_a_set_in_another_package_extends_it(base: Workspace) -> None:
    before = snapshot(base.folder / "sets" / "base")
    base.fleet("isa", "new", "more", "--extends", "base")
    base.install(base.folder / "sets" / "more")
    out = base.fleet("isa", "add", "more", "vmul", "--op", "mul")
    listed = [Path(line.strip()) for line in out.splitlines() if line.startswith("  ")]
    assert 0 < len(listed) <= 5
    assert all(p.is_relative_to(base.folder / "sets" / "more") for p in listed)
    assert changed(before, base.folder / "sets" / "base") == set()
    (base.folder / "models" / "product.py").write_text(MODEL.format(op="*"))
    out = base.fleet("cosim", "models/product.py:forward", "--engines", "vm,iss,rtl", "--device", "more_base_tiny")
    assert "rtl-vs-iss: 2 instruction commits" in out
    # The base does not have it: there the product stays with the host.
    out = base.fleet("cosim", "models/product.py:forward", "--engines", "vm,iss", "--device", "base_tiny")
    assert re.search(r"1 instruction|verdict: PASS", out)
    check = base.fleet("isa", "check", "more")
    assert "more on more_base_tiny:" in check
    assert "PASS 0 findings" in check
    assert "test_conformance[more_base_tiny] PASSED" in base.pytest("sim", "-v", "-k", "conformance")
    exports_are_read(base)


def exports_are_read(base: Workspace) -> None:
    """Of a set in a workspace, and of one that extends it: the extension's have the base's registers, too."""
    described = load(base.folder / "sets" / "base" / "base" / "base.rdl")
    assert "wrote more_uvm_pkg.sv in exports/more/uvm" in base.fleet("isa", "export", "more_base_tiny", "--format", "uvm")
    compilation, said = elaborated((base.folder / "exports" / "more" / "uvm" / "more_uvm_pkg.sv").read_text())
    assert said == ""
    assert {r.name: r.address for r in described.registers}.items() <= model(compilation)[0].items()
    assert "wrote 2 files in include" in base.fleet("isa", "export", "base", "--format", "c", "--output", "include")
    done = compiled(base.folder / "include", described, list(claims(described)))
    assert (done.returncode, done.stderr[-2000:]) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["base", "vadd"], "'vadd' is an instruction or a unit already"),
        (["base", "vec"], "'vec' is an instruction or a unit already"),
        (["base", "Vnew"], "names are lower case words"),
        (["nothing", "vnew"], "no instruction set 'nothing'"),
        (["hbm0923", "vnew"], "it has no place for parts that are written by a command"),
    ],
)
def test_what_cannot_be_added(base: Workspace, arguments: list[str], message: str) -> None:
    before = snapshot(base.folder / "sets")
    out = base.fleet("isa", "add", *arguments, code=2)
    assert message in out
    assert changed(before, base.folder / "sets") == set()


def test_nothing_changes_where_one_file_cannot_be_changed(base: Workspace) -> None:
    lanes = base.folder / "sets/base/base/rtl/base_lanes.sv"
    text = lanes.read_text()
    lanes.write_text(text.replace("default: ;", "default: result_o = '0;"))
    try:
        before = snapshot(base.folder / "sets")
        assert "stands there 0 times, expected once" in base.fleet("isa", "add", "base", "vnew", "--op", "minimum", code=2)
        assert changed(before, base.folder / "sets") == set()
    finally:
        lanes.write_text(text)


def test_the_end_of_the_instruction_map_is_found_by_structure() -> None:
    text = (
        '// fleet_map = "instructions" {\n'
        'addrmap a { fleet_map = "registers"; reg { desc = "} fleet_map = instructions"; } x; };\n'
        '/* { */ addrmap b { fleet_map = "instructions"; reg { } y; /* } */ }; // }\n'
    )
    end = instructions_end(text, Path("x.rdl"))
    assert text[end:] == "}; // }\n"


def test_a_name_that_the_base_has_is_refused_with_its_line(base: Workspace) -> None:
    base.fleet("isa", "new", "twice", "--extends", "base")
    base.install(base.folder / "sets" / "twice")
    rdl = base.folder / "sets/twice/twice/twice.rdl"
    word = '    reg { fleet_unit = "vec"; fleet_opcode = 0x77; fleet_start = 77; field {} cfg_id[7:0] = 0x77; } vadd @ 0x77;\n'
    rdl.write_text(rdl.read_text().replace("    default hw = na;\n", "    default hw = na;\n" + word))
    try:
        out = base.fleet("isa", "check", "twice", code=2)
        assert re.search(r"twice\.rdl:\d+: vadd: base has it already", out), out
    finally:
        base.installed.pop()


def test_a_base_that_is_not_installed_is_named(base: Workspace) -> None:
    base.fleet("isa", "new", "orphan", "--extends", "base")
    alone = Workspace(base.folder)
    alone.install(base.folder / "sets" / "orphan")
    out = alone.fleet("isa", "check", "orphan", code=2)
    assert "No module named 'base'" in out


def test_any_set_can_be_extended_by_an_instruction_that_begins_as_one_of_its_own(tmp_path: Path) -> None:
    """The base here was not made by the template; its hardware refuses the new instruction, and says so."""
    made = make_workspace(tmp_path)
    shutil.copytree(ONE_INSTRUCTION_SET, made.folder / "their set", ignore=shutil.ignore_patterns("__pycache__"))
    made.install(made.folder / "their set")
    assert "`fleet isa new NAME --extends vector_add`" in made.fleet("isa", "add", "vector_add", "vsum", "--like", "vadd", code=2)
    made.fleet("isa", "new", "wide", "--extends", "vector_add")
    made.install(made.folder / "sets" / "wide")
    assert "say what it is like: --like and one of vadd" in made.fleet("isa", "add", "wide", "vsum", code=2)
    before = snapshot(made.folder)
    out = made.fleet("isa", "add", "wide", "vsum", "--like", "vadd")
    listed = {Path(line.strip()) for line in out.splitlines() if line.startswith("  ")}
    assert {p for p in changed(before, made.folder) if "generated" not in p.parts} == listed
    assert 0 < len(listed) <= 5
    check = made.fleet("isa", "check", "wide", "--no-rtl")
    assert "wide on wide_vector_tiny: 2 instructions, 48 calls" in check
    assert "PASS 0 findings" in check
    (made.folder / "models" / "sum.py").write_text(MODEL.format(op="+"))
    listing = made.fleet("compile", "--emit", "accel-regs", "models/sum.py:forward", "--device", "wide_vector_tiny")
    assert "vsum" in listing
    out = made.fleet("cosim", "models/sum.py:forward", "--engines", "vm,iss", "--device", "wide_vector_tiny")
    assert "verdict: PASS" in out
    failed = made.fleet("isa", "check", "wide", "--sample", "1", code=1)
    assert "wide_vector_tiny/vsum/directed/0: ideal/regs: " in failed
    assert "wide_vector_tiny/vadd/directed/0" not in failed


def test_an_instruction_like_one_with_a_view_gets_a_view(tmp_path: Path) -> None:
    made = make_workspace(tmp_path)
    made.fleet("isa", "new", "wide", "--extends", "hbm0923")
    made.install(made.folder / "sets" / "wide")
    for new, like in (("soft_two", "softmax"), ("mvm_two", "mvm_bn")):
        made.fleet("isa", "add", "wide", new, "--like", like)
    check = made.fleet("isa", "check", "wide", "--no-rtl", "--sample", "1", "--draws", "4")
    assert "wide on wide_hbm_small: 14 instructions, 56 calls" in check
    assert "PASS 0 findings" in check
    made.python("-c", SHOWN, str(made.folder / "sets/wide/wide/wide.rdl"), "soft_two=softmax")


SHOWN = """
from dataclasses import replace
from fleet.isa.description import load
from sys import argv
d = load(argv[1])
for new, like in (pair.split("=") for pair in argv[2:]):
    its, other = d.instructions[new].view, d.instructions[like].view
    assert [r.local_name for r in its] == [r.local_name for r in other]
    for a, b in zip(its, other, strict=True):
        assert (a.title, a.desc) == (b.title, b.desc), a.name
        assert [replace(f, where="") for f in a.fields] == [replace(f, where="") for f in b.fields], a.name
"""


def test_the_operands_of_an_instruction_like_one_are_generated_and_the_same(tmp_path: Path) -> None:
    """A set whose instructions have enumerations, signs and names of operands; operands.py once it has one."""
    made = make_workspace(tmp_path)
    made.fleet("isa", "new", "wide", "--extends", "vgemm")
    folder = made.folder / "sets" / "wide" / "wide"
    made.install(folder.parent)
    made.fleet("isa", "add", "wide", "load_two", "--like", "load")
    assert not (folder / "operands.py").exists(), "nobody asked for it"
    (folder / "operands.py").write_text("# By hand.\n")
    assert f"files in {folder}\n" not in made.fleet("isa", "add", "wide", "store_two", "--like", "store")
    assert (folder / "operands.py").read_text() == "# By hand.\n"
    made.fleet("isa", "generate", "wide")
    said = made.fleet("isa", "add", "wide", "alu_two", "--like", "alu")
    assert f"generated again: 1 files in {folder}\n" in said
    made.fleet("isa", "generate", "wide", "--check")
    made.python("-c", SHOWN, str(folder / "wide.rdl"), "load_two=load", "alu_two=alu")
    text = (folder / "operands.py").read_text()
    lines = {name: text.split(f"class {name}Operands")[1].split("@dataclass")[0] for name in ("Alu", "AluTwo", "Load", "LoadTwo")}
    for new, like in (("AluTwo", "Alu"), ("LoadTwo", "Load")):
        own = lines[new].replace(f'"{new[:-3].lower()}_two', f'"{like.lower()}').split("    INSTRUCTION")
        other = lines[like].split("    INSTRUCTION")
        assert own[0].split('"""')[2] == other[0].split('"""')[2]
        assert own[1].split("LAYOUT")[1].strip() == other[1].split("LAYOUT")[1].strip()
    module = folder / "semantics" / "alu_two.py"
    module.write_text(
        module.read_text()
        .replace("from fleet.sdk", "from wide.operands import AluTwoOperands\nfrom fleet.sdk")
        .replace("    like = ", "    operands = AluTwoOperands\n    like = ")
    )
    check = made.fleet("isa", "check", "wide", "--no-rtl", "--sample", "1", "--draws", "4")
    assert "wide on wide_vgemm_small: 8 instructions" in check
    assert "PASS 0 findings" in check
