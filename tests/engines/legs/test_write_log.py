"""The functional model's writes are taken once, by the same call, and only as far as there is room."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.engines import execute
from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.engines.legs import course as courses
from fleet.engines.legs.course import Course, ModelMemory
from fleet.engines.legs.write_log import WriteLog
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.verify.conformance.suite import make_case

CASE = make_case("vgemm_small/program/1")
SET, DEVICE = find_device("vgemm_small")


def memory(folder: Path) -> MappedMemory:
    found = MappedMemory.fresh(DEVICE, folder, [], CASE.parameters)
    for block in CASE.blocks:
        block.put(found)
    return found


@pytest.fixture
def log(tmp_path: Path) -> WriteLog:
    """The log of a run of all calls by the engine."""
    found = WriteLog()
    backend = IssBackend()
    ran = memory(tmp_path / "iss")
    backend.open(SET, DEVICE, ran, RunOptions(written=found))
    backend.execute(CASE.calls, 100)
    ran.close()
    return found


def course_of(folder: Path, log: WriteLog | None) -> tuple[Course, ModelMemory]:
    ahead = ModelMemory(memory(folder))
    return Course(SET, DEVICE, ahead, CASE.calls, refusals=False, written=log, first_seq=100), ahead


def test_a_course_of_logged_writes_is_the_models(tmp_path: Path, log: WriteLog, monkeypatch: pytest.MonkeyPatch) -> None:
    computed, mine = course_of(tmp_path / "a", None)
    logged, theirs = course_of(tmp_path / "b", log)
    half = len(CASE.calls) // 2
    states = []
    for course in (computed, logged):
        if course is logged:
            monkeypatch.setattr(courses, "execute_calls", lambda *_a, **_k: pytest.fail("computed again"))
        for seq in (half, len(CASE.calls)):
            course.to(seq)
            states.append(course.state())
    assert computed.expected == logged.expected
    for one, other in zip(states[:2], states[2:], strict=True):
        assert one.seq == other.seq
        assert all(np.array_equal(one.inside[k], other.inside[k]) for k in one.inside)
        assert one.images.parts.keys() == other.images.parts.keys()
        for key, (numbers, data) in one.images.parts.items():
            assert np.array_equal(numbers, other.images.parts[key][0])
            assert np.array_equal(data, other.images.parts[key][1])
    for ahead in (mine, theirs):
        ahead.close()
        ahead.base.close()


def test_another_call_is_computed(tmp_path: Path, log: WriteLog) -> None:
    first = CASE.calls[0]
    name = next(iter(first.fields))
    assert log.take(100, replace(first, fields={**first.fields, name: first.fields[name] + 1})) is None
    assert log.take(101, CASE.calls[1]) is not None
    assert log.take(101, CASE.calls[1]) is None, "taken"
    course, ahead = course_of(tmp_path / "c", log)
    course.to(2)
    assert [c.digest for c in course.expected] == [
        c.digest for c in execute.execute_calls(SET, DEVICE, memory(tmp_path / "d"), CASE.calls[:2], 0)
    ]
    ahead.close()
    ahead.base.close()


def test_there_is_room_for_a_limit(log: WriteLog) -> None:
    logged = log.take(100, CASE.calls[0])
    assert logged is not None
    assert logged.size
    small = WriteLog(limit=2 * logged.size - 1)
    for seq in (1, 2):
        small.keep(logged.call, replace(logged.commit, seq=seq), logged.writes)
    assert small.take(2, logged.call) is None
    assert small.take(1, logged.call) is not None
    small.keep(logged.call, replace(logged.commit, seq=3), logged.writes)
    assert small.take(3, logged.call) is not None, "what was taken leaves its room"
