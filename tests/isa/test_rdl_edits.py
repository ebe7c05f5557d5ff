"""Small edits of descriptions, drawn at random: what comes out is a description or one error with its line, never anything else."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import FleetError
from fleet.isa.reading.cache import load

FIXTURE = Path(__file__).parents[1] / "fixtures" / "one_instruction_set" / "vector_add" / "vector_add.rdl"
TEXT = FIXTURE.read_text()
TOKENS = [m.span() for m in re.finditer(r'"[^"]*"|[\w$]+|[^\s\w]', re.sub(r"//[^\n]*", lambda m: " " * len(m[0]), TEXT))]
WORDS = sorted({TEXT[a:b] for a, b in TOKENS})
NUMBERS = [
    "0",
    "1",
    "3",
    "31",
    "32",
    "64",
    "255",
    "256",
    "0x10",
    "0x1E",
    "0x10000",
    "0xFFFFFFFF",
    "0x100000000",
    "99999999999999999999",
    "-1",
]


@st.composite
def edited(draw: st.DrawFn) -> str:
    """One to three tokens gone, doubled, exchanged for another of the file's, or for a number."""
    text, end = TEXT, len(TEXT)
    places = draw(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=3, unique=True))
    for a, b in sorted(places, reverse=True):
        assert b <= end
        end = a
        kind = draw(st.sampled_from(["gone", "twice", "word", "number"]))
        new = {"gone": "", "twice": f"{text[a:b]} {text[a:b]}"}.get(kind)
        if new is None:
            new = draw(st.sampled_from(WORDS if kind == "word" else NUMBERS))
        text = text[:a] + new + text[b:]
    return text


def read(text: str) -> str:
    """ "" where the text is a description, else the error."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vector_add.rdl"
        path.write_text(text)
        try:
            found = load(path)
        except FleetError as error:
            wrong = error
        else:
            found.canonical()
            return ""
    assert re.match(r".*\.rdl:\d+$", wrong.where or ""), (wrong.where, str(wrong))
    assert "\n" not in str(wrong)
    assert wrong.exit_code == 2
    return str(wrong)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edited())
def test_an_edit_gives_a_description_or_a_line(text: str) -> None:
    read(text)


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_description_cut_short(cut: int) -> None:
    assert read(TEXT[: len(TEXT) * cut // 20])


def test_the_file_itself_is_a_description() -> None:
    assert read(TEXT) == ""


def test_a_text_that_the_quick_parser_falls_over() -> None:
    """It raises a TypeError for an operand that is missing."""
    text = TEXT.replace("value[31:0]", "value[31:]", 1)
    assert "value[31:]" in text
    line = 1 + next(n for n, words in enumerate(text.splitlines()) if "value[31:]" in words)
    assert re.search(rf"\.rdl:{line}: ", read(text))
