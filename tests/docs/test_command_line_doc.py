"""docs/command-line.md and the conversions of docs/onnx.md say what the command does."""

from __future__ import annotations

import re
from pathlib import Path

import click

from fleet.cli.grammar import _OLD
from fleet.cli.main import fleet as group
from fleet.core.file_kinds import named_kind, remedy

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_command_and_option_of_the_page_exists() -> None:
    text = (DOCS / "command-line.md").read_text()
    context = click.Context(group)
    named = set(re.findall(r"(?:`|^)fleet ([a-z-]+)", text, re.MULTILINE))
    assert len(named) > 8
    assert named <= set(group.list_commands(context))
    old = {word for words in _OLD.values() for word in words if word.startswith("--")}
    before = text[text.index("Earlier spellings") :].split("work for one more version")[0]
    assert old - {"--output"} == set(re.findall(r"`(--[a-z]+)`", before))


def test_conversions_are_those_that_the_command_prints() -> None:
    text = (DOCS / "onnx.md").read_text()
    for name in ("net.pt", "net.msgpack"):
        kind = named_kind(Path(name))
        assert kind is not None
        assert "```text\n" + "\n".join(remedy(kind, Path(name))) + "\n```" in text
    keras = named_kind(Path("net.keras"))
    assert keras is not None
    assert remedy(keras, Path("net.keras"))[1] in text
