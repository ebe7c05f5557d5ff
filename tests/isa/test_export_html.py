"""The pages of an export: whole, of both maps, with fleet's properties, and nothing of them is fetched from elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import PurePosixPath

import pytest
from export_files import files_of

from fleet.errors import SetupError
from fleet.isa.description import Description
from fleet.isa.exports import formats
from fleet.isa.exports.formats import exported

_OUTSIDE = re.compile(r"\s(?:src|href)=[\"']?(?:https?:)?//|@import|url\(\s*[\"']?(?:https?:)?//")


class Links(HTMLParser):
    """What a page loads, and its text."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.text = ""
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        wanted = values.get("src") if tag in ("script", "img") else values.get("href") if tag == "link" else None
        if wanted:
            self.loads.append(wanted.partition("?")[0])

    def handle_data(self, data: str) -> None:
        self.text += data


def test_pages_are_whole_and_fetch_nothing(described: Description) -> None:
    files = files_of(described, "html")
    index = Links(files["index.html"])
    assert index.loads
    assert set(index.loads) <= files.keys()
    for name, data in files.items():
        if PurePosixPath(name).suffix in (".html", ".css"):
            assert not _OUTSIDE.search(data.decode()), name
    assert b"MathJax.Hub.Queue" in files["js/nav.js"]
    assert b"Queue: function" in files["index.html"], "the pages' scripts call it"
    assert described.name != "awkward" or exported(described.path, "html") == files, "the same description gives the same bytes"


def test_every_register_instruction_and_property_is_there(described: Description) -> None:
    files = files_of(described, "html")
    nodes = json.loads(files["data/ral-data-0.json"])
    assert files["data/data_index.js"].startswith(b"var N_RAL_FILES = 1;")
    names = {n["name"] for n in nodes}
    assert {described.name, *(r.name for r in described.registers), *described.instructions} <= names
    assert {r.name for i in described.instructions.values() for r in i.view or ()} <= names
    by_name = {n["name"]: n for n in nodes}
    for r in described.registers:
        assert int(by_name[r.name]["offset"], 16) == r.address
        assert [(f["name"], f["lsb"], f["msb"]) for f in by_name[r.name]["fields"]] == [(f.name, f.low, f.high) for f in r.fields]
    pages = " ".join(" ".join(Links(data).text.split()) for name, data in files.items() if name.startswith("content/"))
    for i in described.instructions.values():
        assert f"fleet_opcode {i.opcode} " in pages
    for role in {r.role for r in described.registers}:
        assert f'fleet_role "{role}"' in pages
    assert ("fleet_fetch true" in pages) == (described.fetch is not None)
    if described.name == "awkward":
        assert "is_signed true" in pages
        assert "fleet_scale 4 " in pages
        assert "Costs $5, or $6" in pages


def test_an_exporter_that_loads_from_elsewhere_is_refused(described: Description, monkeypatch: pytest.MonkeyPatch) -> None:
    from fleet.isa.exports import html

    if described.name != "awkward":
        return
    monkeypatch.setattr(html, "_MATHJAX", re.compile("another way to load it"))
    with pytest.raises(
        SetupError, match=r"pages of peakrdl-html \S+ load files from elsewhere; pip install 'fleet-cosim\[exports\]'"
    ):
        exported(described.path, "html")


def test_the_commands_formats_are_all_formats() -> None:
    from fleet.cli.sets.isa import command

    (form,) = [p for p in command.commands["export"].params if p.name == "form"]
    assert list(form.type.choices) == list(formats.FORMATS)
