"""Instructions and patterns that are found as modules of a package."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet.sdk import DeviceError, patterns_in


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "parts_of_a_set"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [m for m in sys.modules if m.split(".")[0] == folder.name]:
        del sys.modules[name]


def test_patterns_are_those_of_the_modules_by_name(package: Path) -> None:
    (package / "b.py").write_text("PATTERN = 'second'\n")
    (package / "a.py").write_text("PATTERN = 'first'\n")
    (package / "_shared.py").touch()
    assert patterns_in(package.name) == ("first", "second")


def test_none_is_an_instruction_that_the_compiler_does_not_use(package: Path) -> None:
    (package / "a.py").write_text("PATTERN = None\n")
    (package / "b.py").write_text("PATTERN = 'one'\n")
    assert patterns_in(package.name) == ("one",)


def test_a_module_must_say_it(package: Path) -> None:
    (package / "a.py").touch()
    with pytest.raises(DeviceError, match=r"a\.py: defines no PATTERN; set PATTERN = None if the compiler shall not use"):
        patterns_in(package.name)
