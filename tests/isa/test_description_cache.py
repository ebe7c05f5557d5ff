"""Compiled descriptions on disk: as good as compiling, and used only where nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

import fleet.sets
from fleet.isa.description import Description, DescriptionError
from fleet.isa.reading import cache as description_cache
from fleet.isa.reading import rdl as description_rdl
from fleet.isa.reading.cache import compiled

FIXTURE = Path(__file__).parents[1] / "fixtures" / "one_instruction_set" / "vector_add" / "vector_add.rdl"
RDLS = [*sorted(Path(fleet.sets.__file__).parent.glob("*/*.rdl")), FIXTURE]


@pytest.fixture
def compilations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were compiled, with an empty cache at first."""
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))
    seen: list[Path] = []
    plain = description_rdl.compile_description

    def counted(path: Path) -> Description:
        seen.append(path)
        return plain(path)

    monkeypatch.setattr(description_rdl, "compile_description", counted)
    return seen


@pytest.mark.parametrize("rdl", RDLS, ids=lambda p: p.stem)
def test_what_is_read_is_what_was_compiled(rdl: Path, compilations: list[Path]) -> None:
    first, second = compiled(rdl), compiled(rdl)
    assert compilations == [rdl]
    assert second == first
    assert second.hash == first.hash
    assert {n: second.register(n) for n in first._by_name} == first._by_name  # pyright: ignore[reportPrivateUsage]
    for name, unit in second.units.items():
        assert unit.start is second.register(unit.start.name), name


def test_a_changed_text_is_compiled(tmp_path: Path, compilations: list[Path]) -> None:
    rdl = tmp_path / "vector_add.rdl"
    text = FIXTURE.read_text()
    rdl.write_text(text)
    before = compiled(rdl)
    rdl.write_text(text.replace("fleet_align = 64", "fleet_align = 128"))
    assert compiled(rdl).hash != before.hash
    rdl.write_text(text)
    assert compiled(rdl) == before
    assert len(compilations) == 2


def test_a_text_that_changes_while_it_is_compiled_is_not_stored(
    tmp_path: Path, compilations: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the new text's description would be stored under the old text's hash."""
    rdl = tmp_path / "vector_add.rdl"
    text = FIXTURE.read_text()
    other = text.replace("fleet_align = 64", "fleet_align = 128")
    rdl.write_text(text)
    plain = description_rdl.compile_description

    def edited(path: Path) -> Description:
        rdl.write_text(other)
        return plain(path)

    with monkeypatch.context() as during:
        during.setattr(description_rdl, "compile_description", edited)
        late = compiled(rdl)
    rdl.write_text(text)
    assert compiled(rdl).hash != late.hash
    rdl.write_text(other)
    assert compiled(rdl).hash == late.hash


def test_the_same_text_elsewhere_names_its_own_place(tmp_path: Path, compilations: list[Path]) -> None:
    rdl = tmp_path / "vector_add.rdl"
    rdl.write_text(FIXTURE.read_text())
    compiled(FIXTURE)
    assert all(str(rdl) in r.where for r in compiled(rdl).registers)
    assert compilations == [FIXTURE, rdl]


def test_another_compiler_compiles_again(tmp_path: Path, compilations: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(FIXTURE)
    monkeypatch.setattr(description_cache, "_makers", lambda: b"another")
    compiled(FIXTURE)
    assert compilations == [FIXTURE, FIXTURE]


def test_a_damaged_entry_is_made_again(tmp_path: Path, compilations: list[Path]) -> None:
    first = compiled(FIXTURE)
    (entry,) = (tmp_path / "cache" / "descriptions").iterdir()
    data = bytearray(entry.read_bytes())
    data[-20] ^= 1
    entry.write_bytes(data)
    assert compiled(FIXTURE) == first
    assert len(compilations) == 2


def test_what_is_wrong_is_said_each_time(tmp_path: Path, compilations: list[Path]) -> None:
    rdl = tmp_path / "wrong.rdl"
    rdl.write_text("addrmap wrong {")
    for _ in range(2):
        with pytest.raises(DescriptionError, match=str(rdl)):
            compiled(rdl)
    with pytest.raises(DescriptionError, match="cannot be read"):
        compiled(tmp_path / "missing.rdl")


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, compilations: list[Path]) -> None:
    (tmp_path / "cache").write_text("a file")
    assert compiled(FIXTURE) == compiled(FIXTURE)
    assert len(compilations) == 2
