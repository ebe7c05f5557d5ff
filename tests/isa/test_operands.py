"""Generated operand classes: beside what the codec reads out of the description, and what cannot be generated."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner

import fleet.sets
from fleet.cli.sets.isa import command
from fleet.errors import ComparisonFailure, DeviceError
from fleet.isa.description import Description, DescriptionError, InstructionWord
from fleet.isa.generate.modules import check_module
from fleet.isa.generate.operands import OPERANDS_FILE, differs, operands_module
from fleet.isa.reading.cache import load
from fleet.sdk import Operands

SETS = sorted(Path(fleet.sets.__file__).parent.glob("*/*.rdl"))
RDL = """
enum colour { red = 1 { desc = "Warm."; }; blue = 6; };
addrmap paint {
    fleet_map = "registers";
    default regwidth = 32; default sw = rw; default hw = r;
    reg { fleet_unit = "go"; fleet_role = "operand";
          field { fleet_kind = "value"; is_signed; } shift[3:0] = 9;
          field { fleet_kind = "mode"; encode = colour; } colour[6:4] = 6;
          field { fleet_kind = "constant"; fleet_allowed = '{5}; } key[10:8] = 0;
          field { fleet_kind = "size"; fleet_scale = 64; desc = "Bytes."; } length[31:16] = 0; } go_a @ 0x10;
    reg { name = "From"; fleet_unit = "go"; fleet_role = "operand";
          field { fleet_kind = "address"; fleet_space = "ddr"; fleet_operand = "source"; } low[31:0] = 0; } go_b @ 0x14;
    reg { fleet_unit = "go"; fleet_role = "operand";
          field { fleet_kind = "address"; fleet_space = "ddr"; fleet_operand = "source"; fleet_operand_low = 32; } high[7:0] = 0;
          field { fleet_kind = "value"; } in[31:8] = 0; } go_c @ 0x18;
    reg { fleet_unit = "go"; fleet_role = "operand";
          field { fleet_kind = "count"; fleet_derived = "ceil_div(length, 100) * 2 + c_in"; desc = "Steps."; } steps[15:0] = 0;
    } go_d @ 0x20;
    reg { fleet_unit = "go"; fleet_role = "start"; default swmod;
          field { fleet_kind = "mode"; } kind[7:0] = 0;
          field { fleet_kind = "mode"; } quiet[8:8] = 0;
          field { fleet_kind = "mode"; } depth[15:12] = 0; } go_start @ 0x1c;
};
addrmap paint_instructions {
    fleet_map = "instructions";
    reg { name = "Paint"; regwidth = 8; default sw = r; default hw = na;
          fleet_unit = "go"; fleet_opcode = 7; fleet_start = 3; fleet_start_optional = 0x7100;
          field { fleet_kind = "constant"; } cfg_id[7:0] = 7; } paint_it @ 0x0;
};
"""


@pytest.fixture
def paint(tmp_path: Path) -> Description:
    path = tmp_path / "paint.rdl"
    path.write_text(RDL)
    return load(path)


def module(text: str, name: str, folder: Path) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def generated(paint: Description, tmp_path: Path) -> Iterator[ModuleType]:
    yield module(operands_module(paint), "paint_operands", tmp_path)
    del sys.modules["paint_operands"]


def classes(found: ModuleType) -> dict[str, type[Operands]]:
    return {c.INSTRUCTION: c for c in vars(found).values() if isinstance(c, type) and issubclass(c, Operands) and c is not Operands}


def test_words_by_hand(generated: ModuleType) -> None:
    """Signed, scaled, in two registers, enumerated, of the start register, and a name that is a keyword of Python."""
    made = generated.PaintItOperands(length=128, source=0x12_0000_0034, shift=-2, c_in=5, quiet=True, depth=6)
    fields = made.encode()
    assert fields == {"go_a": 0x0002_056E, "go_b": 0x34, "go_c": 0x0512, "go_d": 9, "go_start": 0x6103}
    assert list(fields) == ["go_a", "go_b", "go_c", "go_d", "go_start"]
    assert generated.PaintItOperands.decode(fields) == made
    assert made.colour is generated.Colour.BLUE
    plain = generated.PaintItOperands(length=0, source=0)
    assert (plain.shift, plain.quiet, plain.depth, plain.c_in) == (-7, False, 0, 0), "what reset leaves"
    assert generated.PaintItOperands.decode({**fields, "go_a": 0x30}).colour == 3, "what the enumeration lacks stays a number"


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("shift", 8, "paint_it.shift: is 8, expected -8 to 7"),
        ("shift", -9, "paint_it.shift: is -9, expected -8 to 7"),
        ("length", 65, "paint_it.length: is 65, expected 0 to 4194240 in steps of 64"),
        ("length", 1 << 22, "paint_it.length: is 4194304, expected 0 to 4194240 in steps of 64"),
        ("source", 1 << 40, "paint_it.source: is 1099511627776, expected 0 to 1099511627775"),
        ("source", -1, "paint_it.source: is -1, expected 0 to 1099511627775"),
        ("c_in", 1.5, "paint_it.c_in: is 1.5, expected an integer"),
    ],
)
def test_what_does_not_fit_is_refused(generated: ModuleType, name: str, value: int, line: str) -> None:
    with pytest.raises(DeviceError) as error:
        generated.PaintItOperands(**{"length": 0, "source": 0, name: value}).encode()
    assert str(error.value) == line


def test_a_derived_operand_follows_the_others(generated: ModuleType) -> None:
    made = generated.PaintItOperands(length=128, source=0, c_in=5)
    assert made.steps == 9
    fields = made.encode()
    assert made.violations(fields) == []
    assert made.violations({**fields, "go_d": 8}) == [("derived", "go_d", "go_d.steps: 8, expected 9")]
    with pytest.raises(DeviceError, match=r"paint_it\.steps: is 65536, expected 0 to 65535"):
        generated.PaintItOperands(length=0, source=0, c_in=65536).encode()
    with pytest.raises(TypeError):
        generated.PaintItOperands(length=0, source=0, steps=1)


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("length +", "is not an expression"),
        ("width + 1", "names 'width', which is not an operand that is given"),
        ("steps", "names 'steps', which is not an operand that is given"),
        ("length / 2", "has a Div"),
        ("length if c_in else 0", "has a IfExp"),
        ("abs(length)", "calls something else than ceil_div(a, b)"),
        ("ceil_div(length)", "calls something else than ceil_div(a, b)"),
        ("length.real", "has a Attribute"),
        ("length + 1.5", "has 1.5"),
    ],
)
def test_a_derived_operand_is_an_expression_of_others(tmp_path: Path, expression: str, what: str) -> None:
    path = tmp_path / "paint.rdl"
    path.write_text(RDL.replace("ceil_div(length, 100) * 2 + c_in", expression))
    with pytest.raises(DescriptionError) as error:
        operands_module(load(path))
    assert f"paint_it.steps: fleet_derived '{expression}' {what}" in str(error.value)


def test_a_derived_operand_that_divides_by_0_is_a_violation(tmp_path: Path) -> None:
    path = tmp_path / "paint.rdl"
    path.write_text(RDL.replace("ceil_div(length, 100) * 2 + c_in", "length // c_in"))
    made = module(operands_module(load(path)), "paint_divides", tmp_path).PaintItOperands
    fields = made(length=128, source=0, c_in=4).encode()
    assert made.violations(fields) == []
    (found,) = made.violations({**fields, "go_c": 0})
    assert (found.kind, found.register) == ("derived", "go_d")
    assert found.line == "go_d.steps: 32, expected operands that do not divide by 0"


def test_stray_bits_and_missing_registers(generated: ModuleType) -> None:
    operands = generated.PaintItOperands
    fields = operands(length=0, source=0).encode()
    assert operands.stray_bits(fields) == []
    wrong = {**fields, "go_a": fields["go_a"] ^ 0x8100, "go_start": 0x8F04}
    assert operands.stray_bits(wrong) == [("go_a", 0x8100, 0x100), ("go_start", 0x8E07, 3)]
    with pytest.raises(DeviceError, match="paint_it: no value for register 'go_b'"):
        operands.decode({"go_a": 0})


@pytest.mark.parametrize("rdl", SETS, ids=lambda p: p.stem)
def test_every_bit_is_the_description_s(rdl: Path, tmp_path: Path) -> None:
    """Random words of every instruction, decoded and encoded, beside the fields that the description names."""
    d, rng = load(rdl), np.random.default_rng(3)
    found = module(operands_module(d), f"{rdl.stem}_generated", tmp_path)
    by_name = classes(found)
    assert by_name.keys() == d.instructions.keys()
    for name, operands in by_name.items():
        assert differs(d, name, operands) is None
        word = d.instructions[name]
        derived = {b.register for o in operands.LAYOUT if o.derived for b in o.bits}
        most = 8 if derived else 32
        for _ in range(20):
            made, fields, encoded = _fitting(d, word, operands, rng, most)
            assert all(encoded[k] == v for k, v in fields.items() if k not in derived)
            assert made.stray_bits(fields) == []
            for o in (o for o in operands.LAYOUT if not o.derived):
                (bits,) = o.bits
                assert (
                    int(getattr(made, o.name)) // o.scale & (1 << o.width) - 1
                    == fields[bits.register] >> bits.low & (1 << bits.width) - 1
                )


def _fitting(
    d: Description, word: InstructionWord, operands: type[Operands], rng: np.random.Generator, most: int
) -> tuple[Operands, dict[str, int], dict[str, int]]:
    """(operands, their words, these encoded) of which what is derived fits its bits. most: random bits of a field."""
    while True:
        fields: dict[str, int] = {}
        for r in d.operands(word.name):
            values = [
                (f, int(rng.choice(f.allowed)) if f.allowed else int(rng.integers(1 << min(f.width, most)))) for f in r.fields
            ]
            fields[r.name] = sum(v << f.low for f, v in values)
        fields[d.units[word.unit].start.name] = word.start | int(rng.integers(1 << 32)) & word.start_optional
        made = operands.decode(fields)
        try:
            return made, fields, made.encode()
        except (DeviceError, ZeroDivisionError):
            assert any(o.derived for o in operands.LAYOUT)


def test_parts_that_do_not_join_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "paint.rdl"
    path.write_text(RDL.replace("fleet_operand_low = 32", "fleet_operand_low = 31"))
    with pytest.raises(DescriptionError, match="bit 31 of operand 'source' stands in go_c, expected bit 32") as error:
        operands_module(load(path))
    assert str(path) in str(error.value)
    path.write_text(RDL.replace("is_signed; } shift", 'fleet_operand = "c_in"; } shift'))
    with pytest.raises(DescriptionError, match="bit 0 of operand 'c_in' stands in go_c, expected bit 4"):
        operands_module(load(path))


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "paint.rdl"
    path.write_text(RDL)
    invoke = CliRunner().invoke
    assert invoke(command, ["generate", str(path)], standalone_mode=False).output == f"wrote {tmp_path / OPERANDS_FILE}\n"
    assert (
        invoke(command, ["generate", str(path), "--check"], standalone_mode=False).output
        == f"{tmp_path / OPERANDS_FILE}: current\n"
    )
    text = (tmp_path / OPERANDS_FILE).read_text()
    (tmp_path / OPERANDS_FILE).write_text(text.replace('Bits("go_b", 0, 32)', 'Bits("go_b", 0, 31)'))
    line = text[: text.index('Bits("go_b", 0, 32)')].count("\n") + 1
    with pytest.raises(ComparisonFailure) as error:
        check_module(load(path), tmp_path / OPERANDS_FILE, operands_module(load(path)))
    assert error.value.where == f"{tmp_path / OPERANDS_FILE}:{line}"


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('Bits("go_b", 0, 32)', 'Bits("go_b", 0, 31)', "operand source of PaintItOperands stands in other bits"),
        ("signed=True", "signed=False", "operand shift of PaintItOperands stands in other bits"),
        ('("go_start", 0x3)', '("go_start", 0x4)', "the constant bits of PaintItOperands are others"),
        ("BLUE = 6", "BLUE = 5", "the names of operand colour of PaintItOperands are others: BLUE = 5, BLUE = 6 on one side only"),
        (", derived=True", "", "operand steps of PaintItOperands has other values: derived False, the description True"),
        ('INSTRUCTION = "paint_it"', 'INSTRUCTION = "other"', "PaintItOperands is that of 'other'"),
    ],
)
def test_classes_of_another_description_are_told_apart(paint: Description, tmp_path: Path, old: str, new: str, what: str) -> None:
    text = operands_module(paint)
    assert old in text
    found = module(text.replace(old, new), "paint_other", tmp_path)
    assert differs(paint, "paint_it", found.PaintItOperands) == what
    del sys.modules["paint_other"]
