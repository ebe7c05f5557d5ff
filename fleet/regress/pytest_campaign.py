"""Records of everything that a session of the regression collected, and its exit code in fleet's table.

Part of the plug-in (`fleet.regress.pytest_plugin`). A session belongs to the regression if an argument is in a folder that has a
folder `cases`; other sessions keep pytest's own exit codes and leave no records.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from fleet.errors import ExitCode, heaviest
from fleet.regress.requests import node_request, tiers_in

CASES = "cases"
PHASES = ("setup", "call", "teardown")
"""The parts of a test that pytest reports; a report of anything else is of a crash."""


@dataclass(frozen=True)
class CampaignRecord:
    """One row of the campaign: a run of a case, a test, or a failure outside of them.

    Attributes:
        name: "digits[hbm_small-ideal-0]"; for other tests the node's id.
        result: the stored result.json of a case's run, or None. error: why it failed or did not run, one line.
        replay: the command that runs it again.
        model, device, memory: of a case's run, for the matrix if there is no result.
        kind: "case", or the folder of the test beside the cases ("conformance", "faults", "bundles"), "tests" without one. "cases"
            for a check of a file, "seeds" for runs that compare the same, "collection" for a file that cannot be collected, and
            "session" for the session as a whole.
        outcome: "passed", "failed", "skipped", "known failure" or "not run". seconds: of set-up, test and tear-down.
        file: relative to the root.
        code: exit code of the session for this failure (`ExitCode`), 0 for a pass. node: pytest's id.
    """

    name: str
    result: Path | None
    error: str | None
    replay: str
    model: str = ""
    device: str = ""
    memory: str = ""
    kind: str = "case"
    outcome: str = "passed"
    seconds: float = 0.0
    file: str = ""
    code: int = 0
    node: str = ""

    @property
    def failed(self) -> bool:
        """True if the record makes the campaign fail."""
        return self.outcome in ("failed", "not run")


class Gatherer:
    """Gathers the records of all tests in the main process, those of other processes included."""

    def __init__(self, root: Path, home: Path, arguments: Sequence[str] = ()) -> None:
        """root: folder that the nodes' ids are relative to. home: the folder of the regression. arguments: of pytest."""
        self._root, self._home = root, home.absolute()
        self.tiers = tiers_in(arguments)
        """The options that choose the session's tier."""
        self._reports: dict[str, list[pytest.TestReport]] = {}
        self._collected: dict[str, None] = {}
        self._broken: dict[str, CampaignRecord] = {}
        self._added: list[CampaignRecord] = []
        self.by_user = False
        self.left_out: dict[str, str] = {}
        """node -> why a requested test is left out of the plan."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the report of a test's phase, or of the failure that xdist reports if a test's process died."""
        self._reports.setdefault(report.nodeid, []).append(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that cannot be collected."""
        if report.failed:
            file = report.nodeid.partition("::")[0]
            where = report.nodeid or "the session"
            self._broken[report.nodeid] = CampaignRecord(
                where,
                None,
                _line(report),
                self._replay(report.nodeid),
                kind="collection",
                outcome="failed",
                file=file,
                code=ExitCode.BAD_INPUT,
            )

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Record what this process will run."""
        self._collected |= dict.fromkeys(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: Sequence[str]) -> None:
        """Record what xdist's processes will run."""
        del node
        self._collected |= dict.fromkeys(ids)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Distinguish Ctrl-C from pytest's own end after errors of the collection, whose exception is a subclass."""
        self.by_user = excinfo.type is KeyboardInterrupt

    def add(self, record: CampaignRecord) -> None:
        """Add a record that belongs to no test, or to a test that another session ran."""
        self._added.append(record)

    def leave_out(self, reasons: Mapping[str, str]) -> None:
        """Remove tests from the plan. reasons: node -> why."""
        self.left_out |= reasons
        for node in reasons:
            self._collected.pop(node, None)

    @property
    def beside(self) -> Sequence[CampaignRecord]:
        """Records of files that cannot be collected, and added records."""
        return (*self._broken.values(), *self._added)

    def records(self, status: int) -> list[CampaignRecord]:
        """Return the records of everything that was collected, cases first, then ascending by kind and name.

        A session that failed (`status`: pytest's own code) although all rows pass gets a row of its own.
        """
        made = [*self._broken.values(), *self._added]
        elsewhere = {record.node for record in self._added if record.node}
        made += [self.record_of(nodeid, reports) for nodeid, reports in self._reports.items() if nodeid not in elsewhere]
        made += [self._not_run(node) for node in self._collected if node not in self._reports and node not in elsewhere]
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and not any(r.failed for r in made):
            code = exit_code(status, (), self.by_user)
            what = f"the session ended with code {int(code)} ({code.meaning})" if isinstance(code, ExitCode) else f"code {code}"
            made.append(CampaignRecord("session", None, what, "", kind="session", outcome="failed", code=int(code)))
        return sorted(made, key=lambda r: (r.kind != "case", r.kind, r.name))

    def record_of(self, nodeid: str, reports: Sequence[pytest.TestReport]) -> CampaignRecord:
        """Return the record of a test, from the reports of its phases."""
        stated = {k.removeprefix("fleet_"): v for r in reports for k, v in r.user_properties if k.startswith("fleet_")}
        bad = next((r for r in reports if r.failed), None)
        skipped = next((r for r in reports if r.skipped), None)
        base = replace(self._not_run(nodeid), error=None, seconds=sum(r.duration for r in reports), outcome="passed", code=0)
        if stated:
            texts = {key: str(stated[key]) for key in ("name", "replay", "model", "device", "memory", "kind") if key in stated}
            base = replace(base, **texts, result=Path(str(stated["result"])) if "result" in stated else None)
        if bad is not None:
            crashed = bad.when not in PHASES
            code = ExitCode.INTERNAL if crashed else ExitCode(int(str(stated.get("code", int(ExitCode.DIFFERS)))))
            said = stated.get("error") if bad.when == "call" else None
            return replace(base, outcome="failed", error=_line(bad) if said is None else str(said), code=int(code))
        if skipped is not None:
            known = hasattr(skipped, "wasxfail") and "known" in stated
            why = str(getattr(skipped, "wasxfail", "")).removeprefix("reason: ") if known else _line(skipped)
            return replace(base, outcome="known failure" if known else "skipped", error=why)
        done = any(r.when == "teardown" for r in reports)
        return base if done else replace(base, outcome="not run", error="did not end", code=int(ExitCode.INCOMPLETE))

    def _not_run(self, nodeid: str) -> CampaignRecord:
        """Return the record of a test that did not run."""
        file, _, name = nodeid.partition("::")
        kind = self._kind(file)
        return CampaignRecord(
            name if kind == "case" else nodeid, None, "was collected and not run", self._replay(nodeid), kind=kind,
            outcome="not run", file=file, code=int(ExitCode.INCOMPLETE), node=nodeid,
        )  # fmt: skip

    def _replay(self, nodeid: str) -> str:
        return str(node_request(nodeid, self.tiers)) if nodeid else ""

    @property
    def planned(self) -> Mapping[str, str]:
        """Collected tests: node -> kind."""
        return {node: self._kind(node.partition("::")[0]) for node in self._collected}

    def _kind(self, file: str) -> str:
        """Return the folder of a test, below the folder of the regression."""
        path = self._root / file
        if path.suffix == ".toml" and path.parent.name == CASES:
            return "case"
        below = path.relative_to(self._home).parts if path.is_relative_to(self._home) else path.parts[-2:]
        return below[0] if len(below) > 1 else "tests"


GATHERER = pytest.StashKey[Gatherer]()
"""Key of pytest's configuration in the main process of a regression session."""


def exit_code(status: int, records: Sequence[CampaignRecord], by_user: bool) -> int:
    """Return fleet's exit code for pytest's."""
    match status:
        case pytest.ExitCode.TESTS_FAILED:
            return heaviest(r.code for r in records if r.failed) or ExitCode.DIFFERS
        case pytest.ExitCode.INTERRUPTED:
            return ExitCode.INTERRUPTED if by_user else ExitCode.BAD_INPUT
        case pytest.ExitCode.INTERNAL_ERROR:
            return ExitCode.INTERNAL
        case pytest.ExitCode.USAGE_ERROR:
            return ExitCode.BAD_INPUT
        case pytest.ExitCode.NO_TESTS_COLLECTED:
            return ExitCode.INCOMPLETE
        case _:
            return status


def home_of(arguments: Iterable[str], root: Path) -> Path | None:
    """Return the folder of the regression (one with a folder `cases`) that the arguments are in, or None.

    The folders above an argument are searched up to `root`, which itself counts only as an argument.
    """
    for argument in arguments:
        path = Path(argument.split("::", 1)[0])
        if (path / CASES).is_dir() and path.name != CASES:
            return path
        for folder in path.absolute().parents:
            if not folder.is_relative_to(root) or folder == root:
                break
            if (folder / CASES).is_dir():
                return folder
        if path.name == CASES and path.is_dir():
            return path.absolute().parent
    return None


def refused_arguments(parser: pytest.Parser, arguments: Sequence[str]) -> str | None:
    """Return why pytest would refuse the arguments, or None."""
    try:
        _, unknown = parser.parse_known_and_unknown_args(list(arguments))
    except pytest.UsageError as error:
        return str(error)
    left = [argument for argument in unknown if argument.startswith("-")]
    return f"unrecognized arguments: {' '.join(left)}" if left else None


def _line(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return in one line why a test failed or was skipped: pytest's own crash line, else the first error line of its text."""
    representation: Any = report.longrepr
    if isinstance(representation, tuple):  # for a skip: file, line, reason
        return str(cast("tuple[object, ...]", representation)[-1])
    crash = getattr(representation, "reprcrash", None)
    if crash is not None:
        return f"{crash.path}:{crash.lineno}: {str(crash.message).strip().splitlines()[0] if str(crash.message).strip() else '?'}"
    lines = [line.strip() for line in report.longreprtext.splitlines() if line.strip()]
    if not lines:
        return "?"
    return next((line.removeprefix("E ").strip() for line in lines if line.startswith("E ")), lines[0])


def say_and_end(what: str) -> NoReturn:
    """Print one line and end the process with the exit code of bad input."""
    print(f"ERROR: {what}", file=sys.stderr)
    raise SystemExit(int(ExitCode.BAD_INPUT))
