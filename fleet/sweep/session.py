"""Run points that have no figures yet in a session of pytest, on the executor of nights."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.core.processes import start
from fleet.core.scratch import Scratch
from fleet.errors import ExitCode, FleetError
from fleet.regress.night_records import latest, read_night
from fleet.sweep.plan import KeyedPoint, SweepPlan, kept
from fleet.sweep.pytest_points import PLAN
from fleet.sweep.records import HardwareRecord, ModelRecord

_TICK_S = 0.2


@dataclass(frozen=True)
class Executor:
    """Where points run. kind: "local" or "dask". jobs: processes of "local". cluster: the file of "dask", or None."""

    kind: str = "local"
    jobs: int = 1
    cluster: Path | None = None

    @property
    def arguments(self) -> list[str]:
        """The options of pytest."""
        jobs = ["-n", str(self.jobs)] if self.jobs > 1 else ["-p", "no:xdist"]
        return [*jobs, "--executor", self.kind, *(["--cluster", str(self.cluster)] if self.cluster is not None else [])]


@dataclass(frozen=True)
class Failure:
    """Why a point has no figures. code: of `ExitCode`."""

    error: str
    code: int


def run_points(plan: SweepPlan, executor: Executor, progress: Callable[[float, str], None]) -> Mapping[str, Failure]:
    """Run the points of a plan that have no figures; return key -> failure of those that still have none.

    progress: called with the finished fraction of the plan's points, and words.

    Raises:
        FleetError: the session itself failed (an executor that does not start), with its last line.
    """
    missing = tuple(p for p in plan.points if not _stored(p))
    if not missing:
        return {}
    with Scratch("sweep") as folder:
        home = folder / "sweep"
        (home / "cases").mkdir(parents=True)  # makes it a regression: its tests leave records, and may run on a cluster
        (home / "points").mkdir()
        file = home / "points" / PLAN
        SweepPlan(plan.subject, missing).save(file)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        code, said = _session(folder, file, executor, lambda: _tell(plan, progress))
        return _failures(folder, [p for p in missing if not _stored(p)], code, said)


def _stored(keyed: KeyedPoint) -> bool:
    return kept(keyed.key, HardwareRecord if keyed.kind == "rtl" else ModelRecord) is not None


def _tell(plan: SweepPlan, progress: Callable[[float, str], None]) -> None:
    done = sum(map(_stored, plan.points))
    progress(done / len(plan.points), f"{done} of {len(plan.points)} points")


def _session(folder: Path, file: Path, executor: Executor, tick: Callable[[], None]) -> tuple[int, str]:
    """Run pytest on a plan; return its exit code and what it printed last."""
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "fleet.sweep.pytest_points", "-p", "no:cacheprovider", "-c",
        str(folder / "pytest.ini"), "--rootdir", str(folder), "--fleet-report", str(folder / "reports"), "--fresh",
        *executor.arguments, str(file),
    ]  # fmt: skip
    log = folder / "log"
    with log.open("wb") as output, start(command, stdout=output, stderr=output, env={**os.environ, "PYTEST_ADDOPTS": ""}) as child:
        while (code := child.poll()) is None:
            tick()
            time.sleep(_TICK_S)
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return code, lines[-1] if lines else ""


def _failures(folder: Path, open_: Sequence[KeyedPoint], code: int, said: str) -> dict[str, Failure]:
    if not open_:
        return {}
    try:
        reading = read_night(latest(folder / "reports" / "night"))
    except FleetError as error:
        raise FleetError(f"the points did not run (pytest ended with {code}): {said}", where="fleet sweep") from error
    records = {r.node.rpartition("::")[2]: r for r in reading.records if r.failed or r.not_run}
    found: dict[str, Failure] = {}
    for keyed in open_:
        record = records.get(keyed.name)
        error, its = (said, int(ExitCode.INCOMPLETE)) if record is None else (record.error.splitlines()[0], record.code)
        found[keyed.key] = Failure(f"{keyed.name}: {error}", its)
    return found
