"""Plug-ins are found by their entry points; a broken one is one line and breaks nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.errors import DeviceError, FleetError
from fleet.isa import registry
from fleet.sdk import VERSION

ImportFrom = Callable[[Path], None]
WriteDistribution = Callable[[Path, str, str], None]


def test_a_set_outside_the_project_is_found(installed_set: Path, import_from: ImportFrom) -> None:
    assert "vector_add" not in registry.instruction_sets()
    import_from(installed_set)
    assert set(registry.instruction_sets()) >= {"vector_add"}
    found, device = registry.find_device("vector_tiny")
    assert (found.name, device.name, device.parameters["MaxBeats"]) == ("vector_add", "vector_tiny", 16)
    assert found.description.is_relative_to(installed_set)
    assert registry.find_instruction_set("vector_add") is found


def test_an_unknown_device_names_those_that_there_are(installed_set: Path, import_from: ImportFrom) -> None:
    import_from(installed_set)
    with pytest.raises(DeviceError, match=r"no device 'vector_huge'; known devices: .*vector_tiny"):
        registry.find_device("vector_huge")
    with pytest.raises(DeviceError, match=r"no instruction set 'nothing'; installed: .*vector_add"):
        registry.find_instruction_set("nothing")


NOW = re.escape(VERSION)
LATER = f"2.{int(VERSION.split('.')[1]) + 1}"
REPLACE = "from dataclasses import replace\nfrom vector_add import INSTRUCTION_SET as S\n"

OPERANDS = (
    REPLACE + "from fleet.sdk import Operands\nclass Add(S.instructions['vadd']):\n    operands = {}\n"
    "INSTRUCTION_SET = replace(S, name='plugin', instructions={{'vadd': Add}})\n"
)

BROKEN = [
    ("raise RuntimeError('two\\nlines')", r"cannot be imported \(RuntimeError: two lines\)"),
    ("import no_such_module_here", "cannot be imported .*no_such_module_here"),
    ("def f(:", r"cannot be imported \(SyntaxError"),
    ("X = 1", "cannot be imported .*INSTRUCTION_SET"),
    ("INSTRUCTION_SET = 7", "is a int, expected an InstructionSet"),
    ("from fleet.isa.contract import InstructionSet", r"written for version 1 of the contract \(fleet.isa.contract\), this is"),
    (REPLACE + "INSTRUCTION_SET = replace(S, sdk='3.1')", rf"written for version 3\.1 of fleet\.sdk, this is version {NOW}"),
    (
        REPLACE + f"INSTRUCTION_SET = replace(S, sdk='{LATER}')",
        rf"written for version {re.escape(LATER)} of fleet\.sdk, this is version {NOW}",
    ),
    (REPLACE + "INSTRUCTION_SET = replace(S, sdk='new')", "sdk is 'new', expected the version of fleet.sdk"),
    (REPLACE + "INSTRUCTION_SET = replace(S, confromance={})", "unexpected keyword argument 'confromance'"),
    (REPLACE + "INSTRUCTION_SET = replace(S, name='plugin', issue=7)", "issue is 7, expected IssueRules"),
    (REPLACE + "INSTRUCTION_SET = replace(S, name='plugin', layout=None)", "layout is None, expected a Layout"),
    (
        OPERANDS.format("dict"),
        "operands of class Add is <class 'dict'>, expected a subclass of Operands, as `fleet isa generate` writes",
    ),
    (OPERANDS.format("7"), "operands of class Add is 7, expected a subclass of Operands"),
    (OPERANDS.format("Operands"), "operands of class Add has no INSTRUCTION, FIXED, LAYOUT, as `fleet isa generate` writes them"),
    ("from vector_add import INSTRUCTION_SET", "calls itself 'vector_add'"),
    (
        REPLACE + "INSTRUCTION_SET = replace(S, name='plugin')",
        "its description vector_add.rdl is that of 'vector_add'",
    ),
    (
        REPLACE + "INSTRUCTION_SET = replace(S, name='plugin', description=None)",
        "description is None, expected a path",
    ),
]


@pytest.mark.parametrize(("source", "message"), BROKEN)
def test_a_broken_plugin_breaks_only_itself(
    installed_set: Path,
    import_from: ImportFrom,
    write_distribution: WriteDistribution,
    tmp_path: Path,
    source: str,
    message: str,
) -> None:
    other = tmp_path / "other"
    write_distribution(other, "plugin", "plugin = plugin:INSTRUCTION_SET")
    (other / "plugin.py").write_text(source)
    import_from(installed_set)
    import_from(other)
    assert "vector_add" in registry.instruction_sets()
    assert "plugin" not in registry.instruction_sets()
    with pytest.raises(FleetError, match=message) as caught:
        registry.find_instruction_set("plugin")
    assert "\n" not in str(caught.value)
    with pytest.raises(DeviceError, match=r"left out: .*plugin"):
        registry.find_device("vector_huge")
    assert registry.find_device("vector_tiny")[0].name == "vector_add"


@pytest.mark.parametrize("value", ["no module", "module:a b", "os:", ""])
def test_an_entry_point_that_is_none_is_named(
    installed_set: Path, import_from: ImportFrom, write_distribution: WriteDistribution, tmp_path: Path, value: str
) -> None:
    other = tmp_path / "other"
    write_distribution(other, "strange", f"plugin = {value}")
    import_from(installed_set)
    import_from(other)
    assert "vector_add" in registry.instruction_sets()
    with pytest.raises(FleetError, match=r"^entry point plugin = .* of strange: not of the form module:name"):
        registry.find_instruction_set("plugin")
    with pytest.raises(DeviceError, match=r"left out: entry point plugin"):
        registry.find_device("vector_huge")


def test_classes_and_description_must_agree(installed_set: Path, import_from: ImportFrom) -> None:
    import_from(installed_set)
    good = registry.find_instruction_set("vector_add")
    cls = good.instructions["vadd"]
    registry.check_binding(good)
    with pytest.raises(FleetError, match="described without a class: vadd"):
        registry.check_binding(replace(good, instructions={}))
    with pytest.raises(FleetError, match="classes without a description: vsub"):
        registry.check_binding(replace(good, instructions={"vadd": cls, "vsub": cls}))
    renamed = type("Renamed", (cls,), {"name": "vsum"})
    with pytest.raises(FleetError, match="class Renamed calls itself 'vsum', the manifest 'vadd'"):
        registry.check_binding(replace(good, instructions={"vadd": renamed}))
    device = good.devices["vector_tiny"]
    with pytest.raises(FleetError, match="device 'other' is 'vector_tiny'"):
        registry.check_binding(replace(good, devices={"other": device}))
    with pytest.raises(FleetError, match=r"file .*none\.py does not exist"):
        registry.check_binding(replace(good, sources=(installed_set / "none.py",)))


def test_two_sets_with_one_device_name(
    installed_set: Path, import_from: ImportFrom, write_distribution: WriteDistribution, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    write_distribution(other, "plugin", "plugin = plugin:INSTRUCTION_SET")
    rdl = (installed_set / "vector_add" / "vector_add.rdl").read_text().replace("addrmap vector_add {", "addrmap plugin {")
    (other / "plugin.rdl").write_text(rdl)
    (other / "plugin.py").write_text(
        "from dataclasses import replace\nfrom pathlib import Path\nfrom vector_add import INSTRUCTION_SET as S\n"
        "devices = {n: replace(d, instruction_set='plugin') for n, d in S.devices.items()}\n"
        "INSTRUCTION_SET = replace(S, name='plugin', description=Path(__file__).with_name('plugin.rdl'), devices=devices)\n"
    )
    import_from(installed_set)
    import_from(other)
    assert registry.broken().get("plugin") is None
    with pytest.raises(DeviceError, match=r"device 'vector_tiny' belongs to 'plugin' .* and 'vector_add'"):
        registry.find_device("vector_tiny")


def test_the_hash_covers_description_semantics_and_device(installed_set: Path, import_from: ImportFrom) -> None:
    import_from(installed_set)
    found, device = registry.find_device("vector_tiny")
    before = registry.description_hash(found, device)
    assert len(before) == 64
    assert registry.description_hash(found, device) == before

    larger = replace(device, parameters={**device.parameters, "MaxBeats": 17})
    assert registry.description_hash(found, larger) != before
    assert registry.description_hash(found, replace(device, memory={"ddr": 1 << 20})) != before

    semantics = found.sources[0]
    text = semantics.read_text()
    semantics.write_text(text.replace("a + b", "a - b"))
    assert registry.description_hash(found, device) != before
    semantics.write_text(text)
    assert registry.description_hash(found, device) == before

    rdl = found.description.read_text()
    found.description.write_text(rdl.replace("= 0x21;", "= 0x22;"))
    assert registry.description_hash(found, device) != before
    found.description.write_text(rdl.replace("Write the operands, write", "First write the operands, then write"))
    assert registry.description_hash(found, device) == before


def test_importing_the_registry_loads_no_plugin_and_no_compiler() -> None:
    code = (
        "import sys, fleet.isa.registry, fleet.isa.codec;"
        "print([m for m in ('systemrdl', 'peakrdl_regblock', 'fleet.isa.reading.rdl') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
