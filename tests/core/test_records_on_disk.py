"""Dataclasses as JSON: what comes back, and what is refused with its path; files of another version are refused by number."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from fleet.core.codec import MAY_BE_MISSING, NOT_STORED, Json, decode, encode, encode_record
from fleet.core.files import RecordFile, RecordPair
from fleet.errors import ModelError


@dataclass(frozen=True)
class Leaf:
    number: float
    word: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Tree:
    leaves: tuple[Leaf, ...]
    below: Tree | None = None
    pair: tuple[int, str] = (1, "x")
    by_number: dict[int, Leaf] = field(default_factory=dict[int, Leaf])
    counted: Counter[str] = field(default_factory=Counter[str])
    meta: Mapping[str, Json] = field(default_factory=dict[str, Json])
    young: int = field(default=7, metadata=MAY_BE_MISSING)
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray], compare=False, metadata=NOT_STORED)


TREE = Tree(
    (Leaf(math.inf), Leaf(-0.5, "b")), Tree((), young=1), (2, "y"), {3: Leaf(1.0)}, Counter("aab"), {"k": [1, {"d": None}]}, 4
)  # fmt: skip


def test_a_record_comes_back() -> None:
    table = json.loads(json.dumps(encode_record(TREE), allow_nan=False))
    again = decode(Tree, table, "t.json")
    assert again == TREE
    assert isinstance(again.counted, Counter)
    assert list(again.by_number) == [3]
    assert "arrays" not in table
    assert table["leaves"][0]["number"] == "inf"


def test_a_part_of_a_later_version_may_be_missing() -> None:
    table = encode_record(TREE)
    del table["young"]
    assert decode(Tree, table, "t.json").young == 7


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"leaves": None}, r"tree\.leaves: expected a list"),
        ({"leaves": [{"number": 1}, {"number": "x", "word": "a"}]}, r"tree\.leaves\[0\]\.word: expected a value"),
        ({"leaves": [{"number": "x", "word": "a"}]}, r"tree\.leaves\[0\]\.number: expected a number, got 'x'"),
        ({"leaves": [{"number": 1, "word": "c"}]}, r"tree\.leaves\[0\]\.word: expected one of a, b, got 'c'"),
        ({"below": {"leaves": 1}}, r"tree\.below\.below: expected a value"),
        ({"pair": [1]}, r"tree\.pair: expected 2 items"),
        ({"pair": [True, "x"]}, r"tree\.pair\[0\]: expected int, got True"),
        ({"by_number": {"x": {"number": 1, "word": "a"}}}, r"tree\.by_number: expected an integer as key, got 'x'"),
        ({"counted": {"a": 1.5}}, r"tree\.counted\.a: expected int"),
        ({"more": 1}, r"tree\.more: expected no such key, got 1"),
        ({"arrays": {}}, r"tree\.arrays: expected no such key"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(edit: dict[str, Json], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        decode(Tree, {**encode_record(TREE), **edit}, "t.json", "tree")


def test_an_object_has_no_json() -> None:
    with pytest.raises(TypeError, match="object has no place"):
        encode(object())


def test_a_file_of_another_version_is_refused_by_number(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    RecordFile(Tree, 2, "no tree", "tree").save(path, TREE)
    assert RecordFile(Tree, 2, "no tree", "tree").load(path) == TREE
    with pytest.raises(ModelError, match=r"no tree of form 3 \(found 2\)"):
        RecordFile(Tree, 3, "no tree", "tree").load(path)
    path.write_text("[]")
    with pytest.raises(ModelError, match=r"no tree \(it holds no table\)"):
        RecordFile(Tree, 2, "no tree", "tree").load(path)


def test_a_pair_of_another_version_is_refused_by_number(tmp_path: Path) -> None:
    path = tmp_path / "a" / "tree.json"
    form = RecordPair(Tree, "tree", 2, "plant", "fleet plant", "plant it again")
    form.save(path, TREE, {"a": np.arange(3)})
    again, arrays = form.load(path)
    assert again == TREE
    assert arrays["a"].tolist() == [0, 1, 2]
    assert list(json.loads(path.read_text()))[:3] == ["schema", "kind", "arrays_file"]
    with pytest.raises(ModelError, match="tree has schema 2, this fleet reads 3; plant it again"):
        RecordPair(Tree, "tree", 3, "plant", again="plant it again").load(path)
    with pytest.raises(ModelError, match=r"no tree here .*; give a folder that `fleet plant` wrote"):
        form.load(tmp_path / "tree.json")
