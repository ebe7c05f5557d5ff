"""A state of a fuzz run that was damaged is told in a line, whatever is wrong with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from fleet.errors import ModelError
from fleet.isa.registry import description_hash, find_device
from fleet.verify.conformance.fuzz_state import Journal, RanProgram, StreamFuzzState, load_state, state_file

DEVICE = "vgemm_small"


def stored(folder: Path) -> tuple[Path, dict[str, Any]]:
    path = state_file(folder, DEVICE, 3)
    state = load_state(path, DEVICE, 3)
    with Journal(state, path) as journal:
        journal.add(RanProgram(0, 4, 1, 64, failure="0: vgemm_small/program/30000000 ideal/regs: differs"))
        journal.add(RanProgram(2, 4, 1, 64))
    return path, json.loads(path.read_text())


def test_a_state_comes_back(tmp_path: Path) -> None:
    path, table = stored(tmp_path)
    state = load_state(path, DEVICE, 3)
    assert {"form": 3, **asdict(state)} == table
    assert (state.next, state.done, state.programs, state.instructions) == (1, [2], 2, 10)


@pytest.mark.parametrize("key", [k for k in asdict(StreamFuzzState(DEVICE, 3, "")) if k != "seconds"])
@pytest.mark.parametrize("value", [None, "x", -5, 1.5, [1.5], ["q"], {"a": "b"}])
def test_a_value_that_cannot_be_is_told(key: str, value: Any, tmp_path: Path) -> None:
    path, table = stored(tmp_path)
    path.write_text(json.dumps({**table, key: value}))
    with pytest.raises(ModelError, match=path.name) as error:
        load_state(path, DEVICE, 3)
    assert "remove it" in str(error.value) or "damaged" in str(error.value)


def test_a_state_of_another_seed_is_told(tmp_path: Path) -> None:
    path, _ = stored(tmp_path)
    other = state_file(tmp_path, DEVICE, 4)
    path.rename(other)
    with pytest.raises(ModelError, match="of vgemm_small, seed 3"):
        load_state(other, DEVICE, 4)


@pytest.mark.parametrize(
    "line",
    [
        "7",
        "{}",
        '{"n": -1, "e": 1, "r": 1, "b": 1, "f": "", "t": 1}',
        '{"n": 0, "e": 1, "r": 1, "b": 1, "f": "what", "t": 1}',
    ],
)
def test_a_line_of_the_journal_that_cannot_be_is_told(line: str, tmp_path: Path) -> None:
    path = state_file(tmp_path, DEVICE, 3)
    path.with_suffix(".journal").write_text(f"{description_hash(*find_device(DEVICE))}\n{line}\n")
    with pytest.raises(ModelError, match=r"vgemm_small-3\.journal:2: no line of a fuzz run's journal"):
        load_state(path, DEVICE, 3)
