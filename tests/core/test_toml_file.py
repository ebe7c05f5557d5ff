"""One reader of TOML: whatever is wrong is named with file and line, held against tomllib's own reading."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from fleet.core.toml_file import TomlTable, parse_toml, read_toml
from fleet.core.toml_places import TomlPlaces
from fleet.errors import ComparisonFailure, ModelError

FILE = Path("f.toml")
TEXT = """\
# a comment with [brackets] and "quotes
plain = 1
"quoted key" = [ # [
  "a]", 'b[',
  "c", # "d" = 3
]
text = \"\"\"
inside = 1
[not.a.table]
\"\"\"
dotted.inner = { x = 1, y = "]" }
[table]
key = "value" # = 1
[ table . deep ]
key = 2
[[list]]
name = "one"
[list.below]
z = 1
[[list]]
name = "two"
words = [
    "x",
    "y",
]
"""


def test_every_key_is_found_on_its_line() -> None:
    """Each line with a marked value is the one that the key's place names."""
    lines = TEXT.splitlines()
    places = TomlPlaces(TEXT)

    def walk(values: object, name: str) -> None:
        if isinstance(values, dict):
            for key, inner in values.items():
                walk(inner, f"{name}.{key}" if name else key)
        elif isinstance(values, list) and values and isinstance(values[0], dict):
            for i, inner in enumerate(values):
                walk(inner, f"{name}[{i}]")
        elif not name.startswith("dotted.inner."):
            key = name.rpartition(".")[2]
            assert re.match(rf"""\s*["']?(\w+\.)?{key}["']? *=""", lines[places.line(name) - 1]), name

    walk(tomllib.loads(TEXT), "")
    assert places.line("dotted.inner.y") == 11
    assert [places.line(k) for k in ("list[0]", "list[1]", "list[1].words", "table.deep.key")] == [16, 20, 22, 15]
    assert [places.line("list[1].words", w) for w in ("x", "y", "z")] == [23, 24, 22]
    assert places.line("table.missing") == 12
    assert places.line("missing") == 1


@pytest.mark.parametrize(
    ("text", "read", "says"),
    [
        ("a = 1\nb = 2\n", lambda t: t.only("a"), "f.toml:2: unknown key b; known are a"),
        ("a = 1\n", lambda t: t.need("a", "b"), "f.toml:1: b is missing"),
        ("[t]\na = 1\n", lambda t: t.table("t").need("b"), "f.toml:1: t.b is missing"),
        ("\na = ' '\n", lambda t: t.text("a"), "f.toml:2: a is ' ', expected a text"),
        ("a = true\n", lambda t: t.integer("a", 0), "f.toml:1: a is True, expected an integer of at least 0"),
        ("a = 0\n", lambda t: t.integer("a", 1), "f.toml:1: a is 0, expected an integer above 0"),
        ("a = nan\n", lambda t: t.number("a"), "f.toml:1: a is nan, expected a number above 0"),
        ("a = 1\n", lambda t: t.boolean("a", False), "f.toml:1: a is 1, expected true or false"),
        ("a = ['x', 'x']\n", lambda t: t.texts("a"), "f.toml:1: a is ['x', 'x'], expected a list of different names"),
        ("a = []\n", lambda t: t.texts("a"), "f.toml:1: a is [], expected a list of different names"),
        ("a = [1, -1]\n", lambda t: t.integers("a", 0, ()), "f.toml:1: a is [1, -1], expected a list of integers of at least 0"),
        ("a = 'z'\n", lambda t: t.chosen("a", ("x", "y"), "x"), "f.toml:1: a is 'z', expected x or y"),
        ("a = '2026-01-01'\n", lambda t: t.date("a"), "f.toml:1: a is '2026-01-01', expected a date like 2026-01-31"),
        ("a = 2026-01-01T00:00:00\n", lambda t: t.date("a"), "expected a date like 2026-01-31"),
        ("a = 1\n", lambda t: t.table("a"), "f.toml:1: a is 1, expected a table [a]"),
        ("a = [1]\n", lambda t: t.tables("a"), "f.toml:1: a is [1], expected tables [[a]]"),
        ("[[a]]\n[[a]]\nb = 1\n", lambda t: t.tables("a")[1].only("c"), "f.toml:3: unknown key a[1].b; known are c"),
        (f"a = '{'x' * 200}'\n", lambda t: t.integer("a", 0), "..., expected an integer"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, read: object, says: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(parse_toml(text, FILE))  # type: ignore[operator]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(ComparisonFailure, match=r"f\.toml:2: not TOML"):
        parse_toml("a = 1\nb = = 2\n", FILE, ComparisonFailure)
    with pytest.raises(ModelError, match=r"f\.toml:1: not TOML"):
        parse_toml("[[a", FILE)
    (tmp_path / "x").write_bytes(b"\xff")
    with pytest.raises(ModelError, match="x: cannot be read \\(not UTF-8"):
        read_toml(tmp_path / "x")
    with pytest.raises(ModelError, match="y: cannot be read \\(No such file"):
        read_toml(tmp_path / "y")


def test_a_default_is_blamed_where_it_stands() -> None:
    file = parse_toml("a = 1\n[[runs]]\nb = 2\n", FILE)
    (run,) = file.tables("runs")
    both = TomlTable(run.path, run.name, run.values, run.error, run.places, file)
    with pytest.raises(ModelError, match=r"f\.toml:1: a is 1, expected a text"):
        both.text("a")
    with pytest.raises(ModelError, match=r"f\.toml:3: runs\[0\]\.b is 2, expected a text"):
        both.text("b")
