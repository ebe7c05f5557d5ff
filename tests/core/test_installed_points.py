"""Entry points that are read once: what Python's own reading gives, also after something was installed or uninstalled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from fleet.core import plugins
from fleet.core.plugins import installed

GROUPS = ("fleet.engines", "fleet.instruction_sets", "fleet.passes", "console_scripts", "nothing.of_this_name")


@pytest.mark.parametrize("group", GROUPS)
def test_they_are_pythons(group: str) -> None:
    assert list(installed(group)) == list(metadata.entry_points(group=group))
    for name in installed(group).names:
        assert list(installed(group, name)) == list(metadata.entry_points(group=group, name=name))
    assert not installed(group, "no such name")


def test_they_are_read_again_when_something_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_distribution: Callable[[Path, str, str], None]
) -> None:
    reads: list[None] = []

    def read() -> metadata.EntryPoints:
        reads.append(None)
        return metadata.entry_points()

    monkeypatch.setattr(plugins, "entry_points", read)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = installed("fleet.instruction_sets").names
    assert installed("fleet.engines").names >= {"vm", "rtl"}
    assert len(reads) == 1
    write_distribution(tmp_path, "mine", "mine = mine:MANIFEST")
    assert installed("fleet.instruction_sets").names == before | {"mine"}
    assert len(reads) == 2
    shutil.rmtree(tmp_path / "mine-1.0.dist-info")
    assert installed("fleet.instruction_sets").names == before
    assert len(reads) == 3
