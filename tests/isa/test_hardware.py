"""Generated sources in fleet's cache: made once, used only as they were written, refused where nothing makes them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from fleet.errors import DeviceError, SetupError
from fleet.isa import hardware
from fleet.isa.export import generate
from fleet.isa.hardware import hardware_of
from fleet.sdk import GeneratedSource, InstructionSet, RtlFiles, generated_files, listed_sources
from fleet.sets.vgemm import INSTRUCTION_SET as VGEMM

TOY = Path(__file__).parents[1] / "fixtures" / "one_instruction_set" / "vector_add"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstructionSet:
    """A set with the small description, all of whose sources but the top are generated."""
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))
    rdl = tmp_path / "vector_add.rdl"
    rdl.write_text((TOY / "vector_add.rdl").read_text())
    own = GeneratedSource("table_pkg.sv", lambda: "package table_pkg; endpackage\n")
    sources = (*map(GeneratedSource, generated_files("vector_add")), own, TOY / "rtl" / "vector_add_top.sv")
    return replace(VGEMM, name="vector_add", description=rdl, rtl=RtlFiles(sources, "vector_add_top"))


def files(found: InstructionSet) -> tuple[Path, ...]:
    made = hardware_of(found)
    assert made is not None
    return made.files


def test_files_are_what_is_generated_in_compile_order(toy: InstructionSet) -> None:
    made = files(toy)
    assert [p.name for p in made] == [*generated_files("vector_add"), "table_pkg.sv", "vector_add_top.sv"]
    texts = generate(toy.description)
    assert {p.name: p.read_text() for p in made[:5]} == texts
    assert made[5].read_text() == "package table_pkg; endpackage\n"


def test_they_are_made_once_and_again_after_damage(
    toy: InstructionSet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = files(toy)[3]
    text = package.read_text()
    with monkeypatch.context() as m:
        m.setattr(hardware, "generate", lambda _: pytest.fail("it is there"))
        assert files(toy)[3] == package
    package.write_text(text.replace("16'h0021", "16'h0022"))
    assert files(toy)[3].read_text() == text
    assert "vector_add_pkg.sv has" in capsys.readouterr().err
    package.unlink()
    assert files(toy)[3].read_text() == text


def test_another_description_or_generator_has_files_of_its_own(toy: InstructionSet, monkeypatch: pytest.MonkeyPatch) -> None:
    package = files(toy)[3]
    toy.description.write_text(toy.description.read_text().replace('name = "Length";', 'name = "Size";'))
    os.utime(toy.description, (1, 1))
    other = files(toy)[3]
    assert other != package
    assert "Size" in other.read_text()
    monkeypatch.setattr(hardware, "_makers", lambda: b"another")
    assert files(toy)[3] not in (package, other)


def test_what_nothing_makes_is_refused(toy: InstructionSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(toy, rtl=RtlFiles((GeneratedSource("vgemm_pkg.sv"),), "top"))
    with pytest.raises(DeviceError, match=r"rdl:1: vgemm_pkg\.sv is not generated from it, expected one of vector_add\.vlt, "):
        files(wrong)
    assert toy.rtl is not None
    with pytest.raises(DeviceError, match=r"vector_add\.vlt is not generated yet"):
        _ = toy.rtl.files
    (tmp_path / "file").touch()
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "file"))
    with pytest.raises(SetupError, match="cannot keep generated hardware"):
        files(toy)


def test_a_list_of_sources(tmp_path: Path) -> None:
    listing = tmp_path / "files.f"
    listing.write_text("# in compile order\na/b.sv  # first\n\ngenerated/c.sv\n./generated/d.sv\n")
    b, c, d = listed_sources(listing, tmp_path)
    assert (b, c, d) == (tmp_path / "a/b.sv", GeneratedSource("c.sv"), tmp_path / "generated/d.sv")
