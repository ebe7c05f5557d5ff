"""Which worker runs what next: builds, lengths, lifetimes, losses, bad hosts; and whole nights on a simulated cluster."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from simulated_cluster import Costs, simulate

from fleet.night.cluster.dispatch import MOST_LOSSES, BuildTask, Dispatch, RunTask


def given(dispatch: Dispatch, worker: str, now: float = 0.0) -> str:
    """The name of the next task."""
    match dispatch.next(worker, now):
        case BuildTask(name):
            return name
        case RunTask(node):
            return node
        case word:
            return word


def test_what_may_be_longest_comes_first() -> None:
    dispatch = Dispatch.of([RunTask("short", "t", 1), RunTask("long", "t", 9), RunTask("new", "t"), RunTask("middle", "t", 5)])
    dispatch.join("w", "h", None)
    order = []
    while dispatch.left:
        order.append(given(dispatch, "w"))
        assert dispatch.next("w", 0.0) if dispatch.workers["w"].task is None else True
        dispatch.done("w", 1.0)
    assert order == ["new", "long", "middle", "short"]
    assert given(dispatch, "w") == "leave"


def test_a_simulation_is_built_once_before_the_runs_that_need_it() -> None:
    runs = [RunTask("a", "case", 5, ("rtl s",)), RunTask("b", "case", 4, ("rtl s",)), RunTask("c", "case", 1)]
    dispatch = Dispatch.of(runs)
    for name in "xyz":
        dispatch.join(name, "h", None)
    assert [given(dispatch, name) for name in "xyz"] == ["rtl s", "c", "wait"]
    dispatch.built("x", 9.0, None)
    assert [given(dispatch, name) for name in "xz"] == ["a", "b"]


def test_runs_that_need_a_build_that_failed_are_handed_out_as_broken() -> None:
    dispatch = Dispatch.of([RunTask("a", "case", 5, ("rtl s",)), RunTask("c", "case", 1)])
    dispatch.join("x", "h", None)
    assert given(dispatch, "x") == "rtl s"
    dispatch.built("x", 1.0, "top.sv:3: no such module")
    assert [(run.node, why) for run, why in dispatch.broken()] == [("a", "top.sv:3: no such module")]
    assert given(dispatch, "x") == "c"


def test_a_worker_takes_no_run_that_cannot_end_in_its_life() -> None:
    dispatch = Dispatch.of([RunTask("long", "t", 60), RunTask("short", "t", 4)], lifetime=100)
    dispatch.join("w", "h", 100.0)
    assert given(dispatch, "w") == "long"
    dispatch.done("w", 80.0)
    assert given(dispatch, "w", 80.0) == "short"
    dispatch.waiting.append(RunTask("another", "t", 30))
    dispatch.done("w", 84.0)
    assert given(dispatch, "w", 84.0) == "leave"
    dispatch.leave("w", 84.0)
    dispatch.join("v", "h", 184.0)
    assert given(dispatch, "v", 84.0) == "another"


def test_a_run_that_is_longer_than_any_life_is_given_up_at_once() -> None:
    dispatch = Dispatch.of([RunTask("endless", "t", 500), RunTask("short", "t", 4)], lifetime=100)
    assert dispatch.given_up == {"endless": "took 500 s last night, and a worker lives 100 s"}
    assert dispatch.left == 1


def test_a_lost_run_waits_again_and_is_given_up_after_some_losses() -> None:
    dispatch = Dispatch.of([RunTask("a", "t", 5)])
    for n in range(MOST_LOSSES):
        dispatch.join(f"w{n}", "h", None)
        assert given(dispatch, f"w{n}") == "a"
        assert dispatch.leave(f"w{n}", 1.0) == RunTask("a", "t", 5)
    assert dispatch.left == 0
    assert dispatch.interrupted == MOST_LOSSES
    assert "5 workers were lost" in dispatch.given_up["a"]


def test_what_a_walltime_cut_needs_a_fresh_worker() -> None:
    dispatch = Dispatch.of([RunTask("a", "t"), RunTask("b", "t", 1)], lifetime=100)
    dispatch.join("w", "h", 20.0)
    assert given(dispatch, "w") == "a"
    dispatch.leave("w", 30.0)
    dispatch.join("v", "h", 85.0)
    dispatch.workers["v"].fresh = False
    assert given(dispatch, "v", 30.0) == "b"  # 55 s are left, the run took 30 s without an end
    dispatch.done("v", 31.0)
    assert given(dispatch, "v", 31.0) == "leave"


def test_a_host_that_fails_different_runs_is_left_out_unless_it_is_the_only_one() -> None:
    for others in (False, True):
        dispatch = Dispatch.of([RunTask(name, "t", 1) for name in "abcdef"])
        dispatch.join("w", "bad", None)
        if others:
            dispatch.join("v", "good", None)
        for _ in range(3):
            assert given(dispatch, "w") in "abcdef"
            dispatch.done("w", 1.0, failed=True)
        assert bool(dispatch.bad_hosts) == others
        assert given(dispatch, "w") == ("leave" if others else "d")
    dispatch.join("u", "bad", None)
    assert given(dispatch, "u") == "leave"
    assert "3 different runs failed there one after the other: a, b, c" in dispatch.bad_hosts["bad"]


def test_a_pass_between_failures_clears_a_host() -> None:
    dispatch = Dispatch.of([RunTask(str(n), "t", 1) for n in range(9)])
    dispatch.join("w", "h", None)
    dispatch.join("v", "other", None)
    for failed in (True, True, False, True, True):
        given(dispatch, "w")
        dispatch.done("w", 1.0, failed=failed)
    assert not dispatch.bad_hosts


@pytest.mark.parametrize("seed", range(5))
def test_every_run_of_a_night_ends_once_whatever_is_killed(seed: int) -> None:
    random = Random(seed)
    runs = [RunTask(f"r{n}", "case", random.uniform(5, 300), (f"b{n % 5}",) if n % 2 else ()) for n in range(300)]
    took = {r.node: (r.seconds or 0) * random.uniform(0.7, 1.2) for r in runs}
    unknown = [replace(r, seconds=None) if n % 10 == 3 else r for n, r in enumerate(runs)]
    dispatch, found = simulate(unknown, 12, walltime=1800, took=took, killed=0.02, seed=seed)
    assert set(found.ends) | dispatch.given_up.keys() == {r.node for r in runs}
    assert set(found.ends.values()) == {1}
    assert set(found.builds.values()) == {1}
    assert found.starts.total() - found.ends.total() == dispatch.interrupted
    assert len(dispatch.given_up) <= 1


def test_without_kills_no_walltime_cuts_a_known_run() -> None:
    random = Random(1)
    runs = [RunTask(f"r{n}", "case", random.uniform(5, 1000)) for n in range(400)]
    took = {r.node: (r.seconds or 0) * random.uniform(0.8, 1.2) for r in runs}
    dispatch, found = simulate(runs, 16, walltime=1800, took=took)
    assert found.cut == 0
    assert dispatch.interrupted == 0
    assert len(found.ends) == 400


def test_workers_are_busy() -> None:
    for workers in (2, 16, 200):
        runs = [RunTask(f"r{n}", "case", 5.0 + n % 20) for n in range(40 * workers)]
        _, found = simulate(runs, workers, Costs(serial=0.01, idle=0.02))
        assert found.busy / (workers * found.wall) >= 0.95
