"""The reference manual: current, whole, and readable where a test can say so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fleet.sets
from fleet.isa.manual import main, manual
from fleet.isa.reading.cache import load

ROOT = Path(__file__).parent.parent.parent
RDL = Path(fleet.sets.__file__).parent / "hbm0923" / "hbm0923.rdl"
MANUAL = ROOT / "docs" / "hbm0923-manual.md"
TOY = ROOT / "tests" / "fixtures" / "one_instruction_set" / "vector_add" / "vector_add.rdl"


def test_the_committed_manual_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(RDL), "-o", str(MANUAL), "--check"]) == 0
    assert "current with hbm0923.rdl" in capsys.readouterr().out


def test_everything_is_in_it() -> None:
    d, text = load(RDL), MANUAL.read_text()
    for r in d.registers:
        assert f"| {r.number} | {r.address:#06x} | `{r.name}` |" in text
    for word in d.instructions.values():
        section = text[text.index(f"\n### {word.name}\n") :]
        section = section[: section.index("\n###", 5)] if "\n###" in section[5:] else section
        assert f"{word.title}. {word.desc}" in section
        assert f"cfg_id {word.opcode:#04x}" in section or not word.beats
        for r in word.view or ():
            assert f"| {r.number} | `{r.name}` |" in section
    for cause in d.register("err_cause").fields[0].encode:
        assert f"| {cause.value} | `{cause.name}` | {cause.desc} |" in text
    assert "dat_hbm has no register 194" in text
    places = [text.index(s) for s in ("### wt2hbm\n", "Whole beats of 32 bytes; ", "### aux_run\n")]
    assert places == sorted(places), "notes stand with their instruction"


def test_links_lead_somewhere() -> None:
    text = MANUAL.read_text()
    heads = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.+)$", text, re.M)}
    anchors = set(re.findall(r"\]\(#([\w-]+)\)", text))
    assert len(anchors) > 5
    assert anchors <= heads
    for file, anchor in set(re.findall(r"\]\((?!#)([\w./-]+)(?:#([\w-]+))?\)", text)):
        there = (MANUAL.parent / file).read_text()
        known = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in re.findall(r"^#+ (.+)$", there, re.M)}
        assert not anchor or anchor in known, (file, anchor)


def test_every_table_is_one() -> None:
    """All rows of a table have the same number of cells."""
    tables = re.findall(r"(?:^\|.*\n)+", MANUAL.read_text(), re.M)
    assert len(tables) > 10
    for table in tables:
        cells = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(cells) == 1, table


def test_a_changed_missing_or_unwritable_manual(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "m.md"
    assert main([str(TOY), "-o", str(out), "--check"]) == 1
    assert "the manual cannot be read" in capsys.readouterr().err
    assert main([str(TOY), "-o", str(out)]) == 0
    assert main([str(TOY), "-o", str(out), "--check"]) == 0
    lines = out.read_text().splitlines()
    lines[3] += " "
    out.write_text("\n".join(lines) + "\n")
    capsys.readouterr()
    assert main([str(TOY), "-o", str(out), "--check"]) == 1
    assert f"{out}:4: is not what the description gives; run `python -m fleet.isa.manual " in capsys.readouterr().err
    assert main([str(TOY), "-o", str(tmp_path)]) == 2
    assert main([str(tmp_path / "none.rdl")]) == 2


def test_a_set_without_notes_or_fetch_has_a_manual() -> None:
    text = manual(TOY)
    assert "### vadd" in text
    assert "cfg_id 0x21; 5 words in 1 beat of 64 bytes" in text
    assert "To run one" not in text
