"""Which commit made a run fail, or take other cycles: halving, in a worktree of its own, with the builds that are in the cache.

A commit that cannot be built or run says nothing (`git bisect run` would have 125 of it): one beside it is looked at instead.
"""

from __future__ import annotations

import math
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fleet.core.processes import run
from fleet.core.scratch import Scratch
from fleet.cosim.figures import figures_of
from fleet.cosim.result import CosimResult
from fleet.errors import ExitCode, FleetError, ModelError

__all__ = ["Found", "Metric", "Probe", "Verdict", "bisect", "commits_between", "probe_in_worktrees"]

Verdict = Literal["good", "bad", "skip"]
Probe = Callable[[str], Verdict]
_TIMEOUT_S = 4 * 3600


@dataclass(frozen=True)
class Found:
    """culprits: the commits of which one is the first bad one, one where it is certain; probes: what was looked at, in order."""

    culprits: tuple[str, ...]
    probes: tuple[tuple[str, Verdict], ...]


def bisect(commits: Sequence[str], probe: Probe) -> Found:
    """The first bad one of `commits`, of which the last is bad; what lies before the first is good. Neither is looked at."""
    low, high = -1, len(commits) - 1
    seen: dict[int, Verdict] = {}
    while True:
        open_ = [i for i in range(low + 1, high) if i not in seen]
        if not open_:
            return Found(tuple(commits[low + 1 : high + 1]), tuple((commits[i], v) for i, v in seen.items()))
        i = open_[len(open_) // 2]
        seen[i] = verdict = probe(commits[i])
        if verdict == "good":
            low = max(low, i)
        elif verdict == "bad":
            high = min(high, i)


@dataclass(frozen=True)
class Metric:
    """A figure and what it was on both sides: bad is what lies nearer to `bad`, as a ratio."""

    figure: str
    good: float
    bad: float

    def judge(self, value: float) -> Verdict:
        """Of a commit at which it is `value`."""
        if min(self.good, self.bad, value) > 0:
            return "bad" if abs(math.log(value / self.bad)) < abs(math.log(value / self.good)) else "good"
        return "bad" if abs(value - self.bad) < abs(value - self.good) else "good"


def commits_between(good: str, bad: str, folder: Path) -> tuple[str, ...]:
    """Commits after `good` up to `bad`, the oldest first, along first parents. Raises ModelError where git has none."""
    done = run(["git", "-C", str(folder), "rev-list", "--reverse", "--first-parent", f"{good}..{bad}", "--"])
    if done.returncode:
        raise ModelError(f"git rev-list: {' '.join(done.stderr.split())}", where=f"{good}..{bad}")
    found = tuple(done.stdout.split())
    if not found:
        raise ModelError("there is no commit between them", where=f"{good}..{bad}", hint="name them with --good and --bad")
    return found


def probe_in_worktrees(replay: str, folder: Path, metric: Metric | None, tell: Callable[[str], None]) -> Probe:
    """Runs `replay` (of a record) at a commit, in a worktree that is taken away afterwards.

    folder: in the checkout; tell: is given a line for every commit.
    """
    words = shlex.split(replay)

    def probe(commit: str) -> Verdict:
        with Scratch("bisect") as temporary:
            tree, reports = temporary / "tree", temporary / "reports"
            added = run(["git", "-C", str(folder), "worktree", "add", "--detach", "--quiet", str(tree), commit])
            if added.returncode:
                raise FleetError(f"git worktree: {' '.join(added.stderr.split())}", where=commit)
            try:
                verdict, why = _verdict(_command(words, reports), tree, reports, metric)
            finally:
                run(["git", "-C", str(folder), "worktree", "remove", "--force", str(tree)])
        tell(f"{commit[:10]} {verdict}: {why}")
        return verdict

    return probe


def _command(words: Sequence[str], reports: Path) -> list[str]:
    """A record's replay as a process of this interpreter."""
    if words[:3] == ["fleet", "case", "run"]:
        return [sys.executable, "-m", "fleet.cli.main", *words[1:], "--report", str(reports)]
    if words[:3] == ["python", "-m", "pytest"]:
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words[3:]]
    raise ModelError("cannot be run again at another commit", where=shlex.join(words), hint="only runs of cases and tests can")


def _verdict(command: Sequence[str], tree: Path, reports: Path, metric: Metric | None) -> tuple[Verdict, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tree), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)}
    try:
        done = run(list(command), cwd=tree, env=environment, timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return "skip", f"did not end within {_TIMEOUT_S} s"
    said = ((done.stderr.strip() or done.stdout.strip()).splitlines() or ["it says nothing"])[-1][:160]
    if metric is None:
        word: dict[int, Verdict] = {int(ExitCode.AGREED): "good", int(ExitCode.DIFFERS): "bad"}
        return word.get(done.returncode, "skip"), f"exit code {done.returncode}, {said}"
    try:
        value = figures_of(CosimResult.load(reports)).get(metric.figure)
    except ModelError as error:
        return "skip", f"exit code {done.returncode}, {error}"
    if value is None:
        return "skip", f"it has no {metric.figure}"
    return metric.judge(value), f"{metric.figure} {value:,.6g}"
