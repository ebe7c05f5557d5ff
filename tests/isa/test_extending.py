"""A set that extends another: what it has, what its hash covers, and what is refused with file and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.errors import FleetError
from fleet.isa import registry
from fleet.isa.codec import decode_writes, register_writes
from fleet.isa.description import DescriptionError
from fleet.isa.export import generate
from fleet.isa.reading.cache import load
from fleet.sdk import Call, InstructionSet, generated_files

ImportFrom = Callable[[Path], None]
WriteDistribution = Callable[[Path, str, str], None]

RDL = """\
addrmap plugin {
    fleet_map = "registers";
    fleet_extends = "vector_add";
    default regwidth = 32;
    default sw = rw;
    default hw = r;
    reg { fleet_role = "parameter"; field { fleet_kind = "value"; } value[31:0] = 5; } bias @ 0x80;
};
addrmap plugin_instructions {
    fleet_map = "instructions";
    default regwidth = 8;
    default sw = r;
    default hw = na;
    reg { fleet_unit = "vadd"; fleet_opcode = 0x22; fleet_start = 2; field {} cfg_id[7:0] = 0x22; } vsub @ 0x2;
};
"""

MODULE = """\
from pathlib import Path
from fleet.sdk import Extension
from vector_add.conformance import VectorAddSource
from vector_add.semantics import VectorAdd


class Sub(VectorAdd):
    name = "vsub"


INSTRUCTION_SET = Extension(
    base="vector_add", name="plugin", sdk="2.0", description=Path(__file__).with_name("plugin.rdl"),
    instructions={"vsub": Sub}, sources=(Path(__file__),), conformance={"vsub": VectorAddSource()},
)
"""


@pytest.fixture
def folder(installed_set: Path, import_from: ImportFrom, write_distribution: WriteDistribution, tmp_path: Path) -> Path:
    other = tmp_path / "other"
    write_distribution(other, "plugin", "plugin = plugin:INSTRUCTION_SET")
    (other / "plugin.rdl").write_text(RDL)
    (other / "plugin.py").write_text(MODULE)
    import_from(installed_set)
    import_from(other)
    return other


def extended() -> InstructionSet:
    return registry.find_instruction_set("plugin")


def test_it_has_all_of_the_base_and_its_own(folder: Path) -> None:
    found, base = extended(), registry.find_instruction_set("vector_add")
    assert set(found.instructions) == {"vadd", "vsub"}
    assert found.patterns == base.patterns
    assert found.layout is base.layout
    assert set(found.devices) == {"plugin_vector_tiny"}
    assert found.devices["plugin_vector_tiny"].parameters == base.devices["vector_tiny"].parameters
    assert set(found.conformance) == {"vadd", "vsub"}
    assert found.rtl is None  # no folder was named
    assert set(found.sources) > set(base.sources)
    d = load(found.description)
    assert (d.name, d.extends, d.hardware) == ("plugin", "vector_add", "vector_add")
    assert [p.name for p in d.files] == ["plugin.rdl", "vector_add.rdl"]
    assert d.register("bias").address == 0x80
    assert d.register("vadd_beats").where.startswith(str(base.description))


def test_calls_of_both_are_encoded(folder: Path) -> None:
    fields = {"vadd_a": 0, "vadd_b": 0x40, "vadd_out": 0x80, "vadd_beats": 1}
    for name, start in (("vadd", 1), ("vsub", 2)):
        call = Call(name, {**fields, "vadd_start": start})
        assert decode_writes(extended(), register_writes(extended(), call)) == call


def test_the_hardware_keeps_the_names_of_the_base(folder: Path) -> None:
    texts = generate(extended().description)
    assert tuple(texts) == generated_files("vector_add")
    assert "package vector_add_pkg;" in texts["vector_add_pkg.sv"]
    assert "OpVsub = 16'h0022" in texts["vector_add_pkg.sv"]
    assert "OpVadd = 16'h0021" in texts["vector_add_pkg.sv"]
    assert "module vector_add_csr (" in texts["vector_add_csr.sv"]
    assert "bias_o" in texts["vector_add_csr.sv"]


def test_a_change_of_the_base_changes_it(folder: Path) -> None:
    before, base = load(extended().description).hash, registry.find_instruction_set("vector_add").description
    assert load(extended().description).hash == before
    base.write_text(base.read_text().replace("vadd_beats @ 0x1C", "vadd_beats @ 0x2C"))
    assert load(extended().description).hash != before
    assert load(extended().description).register("vadd_beats").address == 0x2C


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('fleet_extends = "vector_add"', 'fleet_extends = "nothing"', r"plugin\.rdl:1: fleet_extends names 'nothing': .*installed"),
        ("} bias @ 0x80", "} vadd_a @ 0x80", r"plugin\.rdl:7: vadd_a: vector_add has it already"),
        ("} bias @ 0x80", "} bias @ 0x10", r"(plugin|vector_add)\.rdl:\d+: .*overlaps"),
        ("} vsub @ 0x2", "} vadd @ 0x2", r"plugin\.rdl:14: vadd: vector_add has it already"),
        ("fleet_start = 2", "fleet_start = 1", r"plugin\.rdl:14: vsub: its start values are also those of vadd"),
        ("0x22", "0x21", r"(plugin|vector_add)\.rdl:\d+: .*opcode 0x21 is also that of"),
        (
            'fleet_map = "instructions";', 'fleet_map = "instructions"; fleet_extends = "hbm0923";',
            r'plugin\.rdl:\d+: .*fleet_extends stands once, on the map with fleet_map = "registers"',
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(folder: Path, old: str, new: str, message: str) -> None:
    path = folder / "plugin.rdl"
    assert old in RDL
    path.write_text(RDL.replace(old, new))
    with pytest.raises(DescriptionError) as caught:
        load(path)
    assert re.search(message, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)


def test_an_instruction_that_the_base_has_is_refused(folder: Path) -> None:
    (folder / "plugin.py").write_text(MODULE.replace('{"vsub": Sub}', '{"vadd": Sub}'))
    assert "instruction 'vadd' is one of vector_add already" in str(registry.broken()["plugin"])


def test_a_folder_without_generated_files_is_refused(folder: Path) -> None:
    (folder / "rtl" / "generated").mkdir(parents=True)
    (folder / "plugin.py").write_text(MODULE.replace('{"vsub": Sub},', '{"vsub": Sub}, rtl=Path(__file__).parent / "rtl",'))
    assert re.search(
        r"rtl/generated: vector_add\S+ is missing; run `python -m fleet\.isa\.export`", str(registry.broken()["plugin"])
    )


def test_files_of_its_own_stand_in_for_those_of_the_base(folder: Path) -> None:
    from fleet.isa.export import export

    (folder / "plugin.py").write_text(MODULE.replace('{"vsub": Sub},', '{"vsub": Sub}, rtl=Path(__file__).parent / "rtl",'))
    load(folder / "plugin.rdl")
    export(folder / "plugin.rdl", folder / "rtl" / "generated")
    (folder / "rtl" / "new_unit.sv").write_text("module new_unit; endmodule\n")
    rtl = extended().rtl
    assert rtl is not None
    base = registry.find_instruction_set("vector_add").rtl
    assert base is not None
    names = [p.name for p in rtl.sources]
    assert names == [*generated_files("vector_add"), "new_unit.sv", "vector_add_top.sv"]
    assert [p.is_relative_to(folder) for p in rtl.sources] == [True] * 6 + [False]
    assert rtl.sources[-1] == base.sources[-1]


def test_nothing_else_is_loaded_for_it(folder: Path) -> None:
    assert registry.load_one("vector_add").name == "vector_add"
    with pytest.raises(FleetError, match="no instruction set 'nothing' is installed"):
        registry.load_one("nothing")
