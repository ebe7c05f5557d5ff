"""Recordings come back from disk as they were, and a damaged file is told in a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.errors import ModelError
from fleet.streams.case import StreamCommit
from fleet.verify.conformance.suite import make_case
from fleet.verify.mutation.probes import Expected
from fleet.verify.mutation.recordings import (
    Recording,
    Reference,
    load_recordings,
    load_references,
    save_recordings,
    save_references,
)

_COMMITS = (StreamCommit("mvm", 0, 2**64 - 1, 96, None, 4, 90, {"all": 86}), StreamCommit("act", 3, 0, 0, 7))


@pytest.fixture(scope="module")
def made() -> list[Recording]:
    cases = [make_case("hbm_small/mvm/random/1"), make_case("hbm_small/program/2")]
    return [Recording(case, Expected(_COMMITS, "0123abcd"), (5, 0)) for case in cases]


def test_recordings_come_back(made: list[Recording], tmp_path: Path) -> None:
    path = save_recordings(tmp_path / "a" / "streams.json", "hbm_small", made)
    back = load_recordings(path)
    assert [(r.expected, r.cycles) for r in back] == [(r.expected, r.cycles) for r in made]
    for one, two in zip(made, back, strict=True):
        assert two.case.name == one.case.name
        assert two.case.device == one.case.device
        assert two.case.parameters == one.case.parameters
        assert [(c.instruction, dict(c.fields)) for c in two.case.calls] == [
            (c.instruction, dict(c.fields)) for c in one.case.calls
        ]
        assert len(one.case.blocks) == len(two.case.blocks) > 1
        for a, b in zip(one.case.blocks, two.case.blocks, strict=True):
            assert (a.space, a.bank, a.offset) == (b.space, b.bank, b.offset)
            assert np.array_equal(np.ascontiguousarray(a.data).reshape(-1).view(np.uint8), b.data)


def test_references_come_back(tmp_path: Path) -> None:
    found = {"a/b ideal/regs": Reference(Expected(_COMMITS, "ff"), (1, 2, 3))}
    path = save_references(tmp_path / "r" / "references.json", found)
    assert load_references(path) == found
    assert load_references(tmp_path / "none" / "references.json") == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"arrays_file": "x.npz"}', "\0"])
def test_a_damaged_file_is_told(text: str, made: list[Recording], tmp_path: Path) -> None:
    path = save_recordings(tmp_path / "streams.json", "hbm_small", made)
    path.write_text(text)
    with pytest.raises(ModelError, match="no recordings"):
        load_recordings(path)


def test_bytes_that_are_missing_are_told(made: list[Recording], tmp_path: Path) -> None:
    path = save_recordings(tmp_path / "streams.json", "hbm_small", made)
    path.write_text(path.read_text().replace('"size": ', '"size": 1', 1))
    with pytest.raises(ModelError, match="bytes of memory, expected"):
        load_recordings(path)
