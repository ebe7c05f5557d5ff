# ruff: noqa: E501  (SystemRDL, a register a line)
"""Descriptions: what the loader reads, and every mistake that it has to name with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.isa.description import DescriptionError, parameter_values
from fleet.isa.reading.cache import load

RDL = """\
addrmap demo {
    fleet_map = "registers";
    default regwidth = 32;
    default sw = rw;
    default hw = r;
    reg { fleet_unit = "u"; fleet_role = "operand"; field { fleet_kind = "address"; fleet_space = "ddr"; fleet_align = 64; } value[31:0] = 0; } u_src @ 0x8;
    reg { fleet_unit = "u"; fleet_role = "operand"; field { fleet_kind = "size"; } value[31:0] = 0; } u_len @ 0x4;
    reg { fleet_unit = "u"; fleet_role = "start"; default swmod; field { fleet_kind = "mode"; } go[7:0] = 0; } u_start @ 0xC;
};
addrmap demo_instructions {
    fleet_map = "instructions";
    default regwidth = 8;
    default sw = r;
    default hw = na;
    reg { fleet_unit = "u"; fleet_opcode = 1; fleet_start = 1; fleet_start_optional = 0x80; field { fleet_kind = "constant"; } id[7:0] = 1; } one @ 0x0;
    reg { fleet_unit = "u"; fleet_opcode = 2; fleet_start = 2; field { fleet_kind = "constant"; } id[7:0] = 2; } two @ 0x1;
};
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "demo.rdl"
    path.write_text(text)
    return path


def test_reads_units_fields_and_instructions(tmp_path: Path) -> None:
    d = load(write(tmp_path, RDL))
    assert d.name == "demo"
    assert [r.name for r in d.registers] == ["u_len", "u_src", "u_start"]
    assert [r.name for r in d.units["u"].words] == ["u_len", "u_src", "u_start"]
    src = d.register("u_src")
    assert (src.number, src.role, src.local_name, src.where) == (2, "operand", "src", f"{tmp_path}/demo.rdl:6")
    assert (src.fields[0].space, src.fields[0].align, src.fields[0].mask) == ("ddr", 64, 0xFFFFFFFF)
    one = d.instructions["one"]
    assert (one.opcode, one.unit, one.beats) == (1, "u", 1)
    assert [v for v in range(256) if one.accepts(v)] == [0x01, 0x81]


def test_parameters_have_values_beside_every_call(tmp_path: Path) -> None:
    assert parameter_values(load(write(tmp_path, RDL))) == {}
    register = (
        'reg { fleet_role = "parameter"; field { fleet_kind = "value"; } value[19:4] = 0x1234; } eps @ 0x80;\n};\naddrmap demo_i'
    )
    d = load(write(tmp_path, RDL.replace("};\naddrmap demo_i", register)))
    assert d.register("eps").reset == 0x12340
    assert parameter_values(d) == {0x80: 0x12340}
    assert parameter_values(d, {"eps": 0xFFFF0}) == {0x80: 0xFFFF0}
    with pytest.raises(DescriptionError, match="no parameter register 'u_len'"):
        parameter_values(d, {"u_len": 1})
    with pytest.raises(DescriptionError, match="0x1 does not fit in parameter register 'eps'"):
        parameter_values(d, {"eps": 1})


def test_write_order_can_be_given(tmp_path: Path) -> None:
    text = RDL.replace(
        'fleet_role = "operand"; field { fleet_kind = "size"',
        'fleet_role = "operand"; fleet_order = 9; field { fleet_kind = "size"',
    )
    d = load(write(tmp_path, text))
    assert [r.name for r in d.units["u"].words] == ["u_src", "u_len", "u_start"]


def test_an_unchanged_file_is_read_once_and_a_changed_one_again(tmp_path: Path) -> None:
    path = write(tmp_path, RDL)
    first = load(path)
    assert load(path) is first
    write(tmp_path, RDL.replace("fleet_opcode = 2", "fleet_opcode = 33"))
    assert load(path).instructions["two"].opcode == 33


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("default regwidth", 'name = "A title"; desc = "Some prose."; default regwidth'),
        ("addrmap demo {", "// a comment\n\naddrmap demo {"),
    ],
)
def test_the_hash_is_that_of_the_meaning(tmp_path: Path, old: str, new: str) -> None:
    before = load(write(tmp_path, RDL)).hash
    assert load(write(tmp_path, RDL.replace(old, new, 1))).hash == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("u_len @ 0x4", "u_len @ 0x10"),
        ("u_len @ 0x4", "u_size @ 0x4"),
        ("fleet_opcode = 2", "fleet_opcode = 3"),
        ("fleet_start_optional = 0x80", "fleet_start_optional = 0x40"),
        ("fleet_align = 64", "fleet_align = 32"),
        ('fleet_space = "ddr"', 'fleet_space = "hbm"'),
        ('fleet_kind = "size"', 'fleet_kind = "count"'),
        ('fleet_kind = "size";', 'fleet_kind = "size"; fleet_allowed = \'{1, 2};'),
        ("go[7:0]", "go[8:0]"),
        ("} two @ 0x1", "} deux @ 0x1"),
    ],
)
def test_the_hash_changes_with_the_meaning(tmp_path: Path, old: str, new: str) -> None:
    before = load(write(tmp_path, RDL)).hash
    assert old in RDL
    assert load(write(tmp_path, RDL.replace(old, new, 1))).hash != before


BAD = [
    ("u_src @ 0x8", "u_src @ 0x4", 7, "overlap"),
    ("u_src @ 0x8", "u_src @ 0x12", 6, "multiple of 4|align"),
    ("u_src @ 0x8", "u_src @ 0x20000", 6, "beyond the 16 address bits"),
    ("} go[7:0] = 0;", '} go[7:0] = 0; field { fleet_kind = "mode"; } again[7:4] = 0;', 8, "overlap"),
    (
        'reg { fleet_unit = "u"; fleet_role = "start"',
        'reg { regwidth = 16; fleet_unit = "u"; fleet_role = "start"',
        8,
        "regwidth is 16",
    ),
    ('fleet_kind = "address"; fleet_space = "ddr";', 'fleet_kind = "address";', 6, "needs fleet_space"),
    ('fleet_kind = "size";', 'fleet_kind = "size"; fleet_space = "ddr";', 7, "belongs to address fields"),
    ('fleet_kind = "size";', 'fleet_kind = "length";', 7, "fleet_kind is 'length'"),
    ('fleet_kind = "size";', "", 7, "fleet_kind is None"),
    ('fleet_role = "start"', 'fleet_role = "begin"', 8, "fleet_role is 'begin'"),
    ('fleet_role = "start"', 'fleet_role = "status"', 8, "sw = r; hw = w;"),
    ("default swmod;", "", 8, "has swmod"),
    ('fleet_unit = "u"; fleet_role = "start"', 'fleet_unit = "v"; fleet_role = "start"', 8, "'v_...'"),
    ('fleet_unit = "u"; fleet_role = "start"', 'fleet_role = "start"', 8, "needs a fleet_unit"),
    ("go[7:0] = 0;", "go[7:0] = 0;;", 8, "'}'"),
    ("fleet_opcode = 2", "fleet_opcode = 1", 16, "opcode 0x1 is also that of one"),
    ("fleet_opcode = 2", "fleet_opcode = 0", 16, "0 is not a task"),
    ("fleet_opcode = 2;", "", 16, "needs fleet_unit, fleet_opcode and fleet_start"),
    ("fleet_start = 2", "fleet_start = 0x81", 16, "start values are also those of one"),
    ("fleet_start = 2", "fleet_start = 0x100", 16, "bits that u_start does not have"),
    ("fleet_start_optional = 0x80", "fleet_start_optional = 0x81", 15, "bits in common"),
    ('reg { fleet_unit = "u"; fleet_opcode = 2', 'reg { fleet_unit = "w"; fleet_opcode = 2', 16, "unit 'w' does not exist"),
    ("fleet_opcode = 2;", "fleet_opcode = 2; fleet_beats = 0x1; no_such_property = 1;", 16, "no_such_property"),
    ("} u_src @", "} u_output @", 6, "'output' is a keyword"),
    ("addrmap demo {", "enum e { all = 0; }; addrmap demo {", 1, "`all` is a keyword of SystemRDL: choose another name"),
    ("} go[7:0]", "} Go[7:0]", 8, "lower case words"),
    ("} id[7:0] = 2", "} cfg_id[7:0] = 3", 16, "the word's cfg_id is 3, fleet_opcode is 2"),
    ('"instructions"', '"registers"', None, "second address map"),
    ('"instructions"', '"words"', None, "expected"),
    ('fleet_map = "instructions";', "", 1, "no addrmap"),
    ("addrmap demo {", "<% system('touch owned') %>\naddrmap demo {", 1, "Perl"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), BAD)
def test_mistakes_are_named_with_file_and_line(tmp_path: Path, old: str, new: str, line: int | None, message: str) -> None:
    assert old in RDL
    path = write(tmp_path, RDL.replace(old, new, 1))
    with pytest.raises(DescriptionError, match=message) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.startswith(f"{path}:")
    if line is not None:
        assert caught.value.where == f"{path}:{line}"


def test_two_starts_in_one_unit(tmp_path: Path) -> None:
    second = 'reg { fleet_unit = "u"; fleet_role = "start"; default swmod; field { fleet_kind = "mode"; } go[7:0] = 0; } u_start2 @ 0x10;\n};\naddrmap demo_i'
    with pytest.raises(DescriptionError, match="already has a start register"):
        load(write(tmp_path, RDL.replace("};\naddrmap demo_i", second, 1)))


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match="cannot be read"):
        load(tmp_path / "none.rdl")
    (tmp_path / "binary.rdl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DescriptionError, match="UTF-8"):
        load(tmp_path / "binary.rdl")


def test_included_perl_does_not_run(tmp_path: Path) -> None:
    marker = tmp_path / "owned"
    (tmp_path / "inner.rdl").write_text(f"<% open(my $f, '>', '{marker}'); %>\n")
    with pytest.raises(DescriptionError):
        load(write(tmp_path, '`include "inner.rdl"\n' + RDL))
    assert not marker.exists()
