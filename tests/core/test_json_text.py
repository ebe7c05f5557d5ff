"""JSON files: what their text says, where its lines end, and what is said of one that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.core.codec import Json
from fleet.core.files import npz_bytes
from fleet.core.json_text import json_text, read_json
from fleet.errors import ModelError

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
VALUES = st.recursive(PLAIN, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=3), v, max_size=4), max_leaves=20)


@given(st.dictionaries(st.text(max_size=3), VALUES, max_size=5))
def test_it_says_what_it_was_given(table: dict[str, Json]) -> None:
    assert json.loads(json_text(table)) == table


def test_a_record_of_a_list_is_a_line() -> None:
    table: dict[str, Json] = {"a": 1, "rows": [{"n": [1, 2], "of": {"x": 3}}, {"n": []}], "in": {"b": {"rows": [{}], "c": None}}}
    assert json_text(table) == (
        '{\n "a": 1,\n "rows": [\n  {"n": [1, 2], "of": {"x": 3}},\n  {"n": []}\n ],\n'
        ' "in": {\n  "b": {\n   "rows": [\n    {}\n   ],\n   "c": null\n  }\n }\n}\n'
    )


@pytest.mark.parametrize("table", [{"a": float("nan")}, {"rows": [{"a": float("inf")}]}, {"in": {"rows": [{}], "a": float("nan")}}])
def test_what_json_lacks_is_refused(table: dict[str, Json]) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text(table)


def test_the_same_arrays_are_the_same_bytes() -> None:
    arrays = {"x/y": np.arange(3), "": np.float32(2)}
    assert npz_bytes(arrays) == npz_bytes(dict(arrays))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (b'{\n "a": 1,\n "b" 2\n}\n', ":3", "Expecting ':' delimiter at column 6"),
        (b'{\n "a": [1,', ":2", "Expecting value at column 10"),
        (b"", ":1", "Expecting value at column 1"),
        (b'{\n "a": "\xff"}', ":2", "not UTF-8"),
        (b"[" * 100_000, "", "recursion"),
        (b"[" + b"9" * 5_000 + b"]", "", "digits"),
    ],
)
def test_what_is_not_json_is_named_with_its_line(tmp_path: Path, text: bytes, line: str, reason: str) -> None:
    path = tmp_path / "stored.json"
    path.write_bytes(text)
    with pytest.raises(ModelError) as raised:
        read_json(path, "not a stored replay", "make it again")
    assert raised.value.where == f"{path}{line}"
    assert raised.value.what.startswith("not a stored replay (")
    assert reason in raised.value.what
    assert raised.value.hint == "make it again"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"not JSON \(No such file"):
        read_json(tmp_path / "absent.json")
