"""The C VM stays small enough to be read: issue and documentation say under 3,000 lines, one file a concern."""

from __future__ import annotations

from fleet.targets.cvm.build import sources, vm_folder


def test_it_has_less_than_3000_lines() -> None:
    files = [*sources(), vm_folder() / "vm.h"]
    lines = {file.name: file.read_text().splitlines() for file in files}
    assert sum(map(len, lines.values())) < 3000
    assert max(map(len, lines.values())) < 350
    assert [name for name, found in lines.items() if any(len(line) > 132 for line in found)] == []
    assert all(found[0].startswith("/* ") for found in lines.values())
