"""Bisection: find the commit since which a run fails, or a figure moved. Each commit runs in its own worktree, with cached builds.

A commit that cannot be built or run is skipped, as `git bisect run` does for exit code 125; the search goes on with a neighbour.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fleet.core.processes import run
from fleet.core.scratch import Scratch
from fleet.cosim.result import CosimResult
from fleet.cosim.run_request import RunRequest
from fleet.errors import ExitCode, FleetError, ModelError
from fleet.regress.figures import figures_of

Verdict = Literal["good", "bad", "skip"]
Probe = Callable[[str], Verdict]
_TIMEOUT_S = 4 * 3600


@dataclass(frozen=True)
class Found:
    """Result of a bisection.

    culprits: candidates for the first bad commit; one if it is certain. probes: verdicts in order.
    """

    culprits: tuple[str, ...]
    probes: tuple[tuple[str, Verdict], ...]


def bisect(commits: Sequence[str], probe: Probe) -> Found:
    """Find the first bad one of `commits`, oldest first. The last must be bad, and the commit before the first must be good."""
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
    """A figure with its good and its bad value."""

    figure: str
    good: float
    bad: float

    def judge(self, value: float) -> Verdict:
        """Return "bad" if `value` is nearer to the bad than to the good value: by ratio if all are positive, else by difference."""
        if min(self.good, self.bad, value) > 0:
            return "bad" if abs(math.log(value / self.bad)) < abs(math.log(value / self.good)) else "good"
        return "bad" if abs(value - self.bad) < abs(value - self.good) else "good"


def commits_between(good: str, bad: str, folder: Path) -> tuple[str, ...]:
    """Return the commits after `good` up to `bad`, oldest first, along first parents. Raises ModelError if git finds none."""
    done = run(["git", "-C", str(folder), "rev-list", "--reverse", "--first-parent", f"{good}..{bad}", "--"])
    if done.returncode:
        raise ModelError(f"git rev-list: {' '.join(done.stderr.split())}", where=f"{good}..{bad}")
    found = tuple(done.stdout.split())
    if not found:
        raise ModelError("there is no commit between them", where=f"{good}..{bad}", hint="name them with --good and --bad")
    return found


def probe_in_worktrees(request: RunRequest, folder: Path, metric: Metric | None, tell: Callable[[str], None]) -> Probe:
    """Return a probe that runs a request of the regression in a temporary worktree.

    folder: in the checkout. metric: judge by this figure; None: by the exit code. tell: called with a line for each commit.
    """

    def probe(commit: str) -> Verdict:
        with Scratch("bisect") as temporary:
            tree, reports = temporary / "tree", temporary / "reports"
            added = run(["git", "-C", str(folder), "worktree", "add", "--detach", "--quiet", str(tree), commit])
            if added.returncode:
                raise FleetError(f"git worktree: {' '.join(added.stderr.split())}", where=commit)
            try:
                verdict, why = _verdict(_command(request, reports), tree, reports, metric)
            finally:
                run(["git", "-C", str(folder), "worktree", "remove", "--force", str(tree)])
        tell(f"{commit[:10]} {verdict}: {why}")
        return verdict

    return probe


def _command(request: RunRequest, reports: Path) -> list[str]:
    """Return the command, run by this interpreter. Raises ModelError if it is not a run of a case or test."""
    if request.is_command("case", "run"):
        return [sys.executable, "-m", "fleet.cli.main", *request.arguments, "--report", str(reports)]
    if request.program == "python" and request.arguments[:2] == ("-m", "pytest"):
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *request.arguments[2:]]
    raise ModelError("cannot be run again at another commit", where=str(request), hint="only runs of cases and tests can")


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
