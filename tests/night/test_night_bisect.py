"""Halving over commits: at most four runs of eight, and a commit that does not build is skipped; real worktrees."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fleet.cosim.run_request import RunRequest
from fleet.errors import ModelError
from fleet.night.bisect import Metric, Verdict, bisect, commits_between, probe_in_worktrees
from fleet.regress.requests import request_of


@pytest.fixture
def commits(tmp_path: Path) -> list[str]:
    """Nine commits: the first is good; of the eight after it number 4 does not build and number 6 breaks the test."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=ada", "-c", "user.email=a@b", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q", "-b", "main")
    (tmp_path / "sim" / "cases").mkdir(parents=True)
    (tmp_path / "sim" / "cases" / "keep").touch()
    (tmp_path / "sim" / "test_x.py").write_text("import value\n\ndef test_x():\n    assert value.VALUE < 6\n")
    (tmp_path / "sim" / "conftest.py").write_text("")
    made: list[str] = []
    for n in range(9):
        (tmp_path / "sim" / "value.py").write_text("VALUE = (\n" if n == 4 else f"VALUE = {n}\n")
        git("add", "-A")
        git("commit", "-q", "-m", f"value {n}")
        made.append(git("rev-parse", "HEAD"))
    return made


def test_bisect_of_eight_commits_takes_at_most_four_runs_and_skips_what_does_not_build(tmp_path: Path, commits: list[str]) -> None:
    eight = commits_between(commits[0], commits[-1], tmp_path)
    assert list(eight) == commits[1:]
    told: list[str] = []
    request = request_of("sim/test_x.py::test_x", "test")
    found = bisect(eight, probe_in_worktrees(request, tmp_path, None, told.append))
    assert found.culprits == (commits[6],)
    assert len(found.probes) <= 4
    assert dict(found.probes)[commits[4]] == "skip", told
    assert len(told) == len(found.probes)
    left = subprocess.run(["git", "-C", str(tmp_path), "worktree", "list"], check=True, capture_output=True, text=True).stdout
    assert len(left.splitlines()) == 1


@pytest.mark.parametrize("first", range(8))
@pytest.mark.parametrize("skipped", [None, *range(7)])
def test_every_place_is_found_wherever_one_is_skipped(first: int, skipped: int | None) -> None:
    def probe(commit: str) -> Verdict:
        n = int(commit)
        return "skip" if n == skipped else "bad" if n >= first else "good"

    found = bisect([str(n) for n in range(8)], probe)
    assert str(first) in found.culprits
    assert len(found.probes) <= 4
    if skipped not in (first, first - 1):
        assert found.culprits == (str(first),)
    assert set(found.culprits) <= {str(first), str(first - 1), str(first + 1)}


def test_a_figure_is_bad_where_it_is_nearer_to_the_bad_one() -> None:
    metric = Metric("cycles rtl", 1000, 2330)
    assert [metric.judge(v) for v in (1000, 1010, 2330, 2000)] == ["good", "good", "bad", "bad"]
    assert Metric("x", 0.0, 1.0).judge(0.9) == "bad"


def test_nothing_between(tmp_path: Path, commits: list[str]) -> None:
    with pytest.raises(ModelError, match="there is no commit between them"):
        commits_between(commits[1], commits[1], tmp_path)
    with pytest.raises(ModelError, match="git rev-list"):
        commits_between("nosuch", commits[1], tmp_path)


@pytest.mark.parametrize(
    ("node", "kind", "program", "arguments"),
    [
        ("sim/a b.toml::d[s-ideal-0]", "case", "fleet", ("case", "run", "sim/a b.toml", "--only", "s-ideal-0")),
        ("sim/test_x.py::test_x[a'b $HOME]", "test", "python", ("-m", "pytest", "sim/test_x.py::test_x[a'b $HOME]", "--nightly")),
        ("sim/a.toml::goldens", "cases", "python", ("-m", "pytest", "sim/a.toml::goldens", "--nightly")),
    ],
)
def test_the_request_of_a_record_is_data(node: str, kind: str, program: str, arguments: tuple[str, ...]) -> None:
    assert request_of(node, kind) == RunRequest(program, arguments)


def test_only_cases_and_tests_are_run_at_another_commit(tmp_path: Path, commits: list[str]) -> None:
    with pytest.raises(ModelError, match="cannot be run again at another commit"):
        probe_in_worktrees(RunRequest("fleet", ("generate",)), tmp_path, None, print)(commits[1])
