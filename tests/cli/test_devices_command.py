"""`fleet devices` lists what is installed, and says what is broken."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet.cli.main import main
from fleet.isa import registry

ImportFrom = Callable[[Path], None]


def test_lists_a_set_from_outside(installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]) -> None:
    import_from(installed_set)
    assert main(["devices"]) == 0
    out = capsys.readouterr().out
    full = registry.description_hash(*registry.find_device("vector_tiny"))
    at = out.index("vector_add: ")
    assert out[at:].splitlines()[:3] == [
        "vector_add: Vector adder registers (RTL vector_add_top)",
        "  instructions  vadd 0x21",
        f"  vector_tiny   description {full[:16]}, 100 MHz, ddr 64 KiB",
    ]
    assert "BROKEN" not in out
    for name, installed in registry.instruction_sets().items():
        assert f"{name}: " in out
        assert all(f"  {device} " in out for device in installed.devices)
        assert all(f"{instruction} 0x" in out for instruction in installed.instructions)


def test_json(installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]) -> None:
    import_from(installed_set)
    assert main(["devices", "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    assert [s["name"] for s in listing["instruction_sets"]] == sorted(registry.instruction_sets())
    (mine,) = (s for s in listing["instruction_sets"] if s["name"] == "vector_add")
    assert mine["instructions"] == [{"name": "vadd", "opcode": 0x21, "unit": "vadd", "title": "Vector addition"}]
    (device,) = mine["devices"]
    assert (device["name"], device["memory"], device["clock_mhz"]) == ("vector_tiny", {"ddr": 65536}, 100.0)
    assert device["parameters"] == {"HbmPorts": 1, "MaxBeats": 16}
    assert device["description_hash"] == registry.description_hash(*registry.find_device("vector_tiny"))
    assert listing["broken"] == []


def test_a_broken_plugin_is_listed_with_its_error(
    installed_set: Path, import_from: ImportFrom, capsys: pytest.CaptureFixture[str]
) -> None:
    semantics = installed_set / "vector_add" / "semantics.py"
    semantics.write_text(semantics.read_text().replace('name = "vadd"', 'name = "vsum"'))
    import_from(installed_set)
    error = f"{semantics}:12: instruction set 'vector_add': class VectorAdd calls itself 'vsum', the manifest 'vadd'"
    assert main(["devices"]) == 0
    out = capsys.readouterr().out
    assert f"vector_add: BROKEN: {error}" in out.splitlines()
    assert "vector_tiny" not in out
    assert main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["broken"] == [{"name": "vector_add", "error": error}]
