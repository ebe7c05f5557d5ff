"""The pytest plug-in of sweeps: each point of a plan is a test, so that they run on the executors of nights.

`fleet sweep` names it (`-p fleet.sweep.pytest_points`) to its own session; workers of a cluster get the same arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet.errors import FleetError
from fleet.sweep.plan import KeyedPoint, SweepPlan, measure

PLAN = "points.json"
"""Name of a plan's file."""


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the collector of a plan, or None."""
    if file_path.name == PLAN:
        return PointsFile.from_parent(parent, path=file_path)  # pyright: ignore[reportUnknownVariableType]
    return None


class PointsFile(pytest.File):
    """A plan."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield one item per point."""
        plan = SweepPlan.load(self.path)
        for keyed in plan.points:
            yield PointItem.from_parent(self, name=keyed.name, plan=plan, keyed=keyed)  # pyright: ignore[reportUnknownMemberType]


class PointItem(pytest.Item):
    """A point: passes if its figures are stored, whatever they say."""

    def __init__(self, *, plan: SweepPlan, keyed: KeyedPoint, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._plan, self._keyed = plan, keyed

    def runtest(self) -> None:
        """Measure the point and store its figures. Raises FleetError."""
        try:
            measure(self._plan, self._keyed)
        except FleetError as error:
            self.user_properties += [("fleet_error", str(error)), ("fleet_code", int(error.exit_code))]
            raise

    @property
    def builds(self) -> tuple[str, ...]:
        """Names of the simulations that the point needs; a worker builds each once."""
        return (f"rtl {self._keyed.point.device}",) if self._keyed.kind == "rtl" else ()

    def build(self) -> None:
        """Build the simulations, or find them in the cache. Raises FleetError."""
        from fleet.engines.rtl_sim.build import build, design_of
        from fleet.isa.registry import find_device

        build(design_of(*find_device(self._keyed.point.device)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return one line; a traceback only for a bug."""
        return str(excinfo.value) if isinstance(excinfo.value, FleetError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return path and name for the summary."""
        return self.path, None, self.name
