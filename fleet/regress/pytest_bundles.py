"""Stored streams and models below a folder `bundles` as tests: each says whether its engines must agree or must differ, and how.

Part of the plug-in (`fleet.regress.pytest_plugin`). One simulation a device serves all bundles of a session.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["BundleFile", "BundleItem", "close_runners", "is_bundle"]

FOLDER, STREAM, MODEL = "bundles", "stream.json", "model.json"

_RUNNERS = pytest.StashKey[dict[tuple[str, int], Any]]()


def is_bundle(path: Path) -> bool:
    """Whether a file is a stored stream or model below a folder `bundles`."""
    return path.name in {STREAM, MODEL} and FOLDER in path.parent.parts


def close_runners(config: pytest.Config) -> None:
    """Ends the simulations of a session."""
    for runner in config.stash.get(_RUNNERS, {}).values():
        runner.close()
    config.stash[_RUNNERS] = {}


class BundleFailure(Exception):
    """A bundle that does not do what it expects."""


class BundleFile(pytest.File):
    """A bundle: one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """The test, under the folder's name; what is wrong with the file is the test's failure."""
        yield BundleItem.from_parent(self, name=self.path.parent.name)


class BundleItem(pytest.Item):
    """Runs the stream, or the model, under the setting that it failed with."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.add_marker(pytest.mark.quick)

    def runtest(self) -> None:
        """Raises BundleFailure; FleetError for a file that is no bundle, or one of another description."""
        from fleet.streams.bundle import load_bundle
        from fleet.streams.renew import moved, unexpected
        from fleet.streams.run import StreamRunner

        path = self._stated()
        if path.name == MODEL:
            from fleet.cosim.models.bundle_runs import run_model_bundle

            if wrong := run_model_bundle(path):
                raise BundleFailure(f"{self.name}: {wrong}")
            return
        bundle, arrays = load_bundle(path)
        case = bundle.case(arrays, str(path))
        runners = self.config.stash.setdefault(_RUNNERS, {})
        key = (case.device, bundle.power_on)
        if key not in runners:
            runners[key] = StreamRunner(case.device, power_on=bundle.power_on)
        if bundle.expect == "diverges":
            runners[key].restart()  # what others left in memories inside the design could hide the difference
        (outcome,) = runners[key].run(case, [bundle.setting])
        if wrong := unexpected(bundle, outcome) or moved(bundle, outcome, str(path)):
            raise BundleFailure(f"{bundle.name} {bundle.setting.name}: {wrong}\n  {bundle.story}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The reason and the command; a traceback only for a bug."""
        from fleet.errors import FleetError

        again = f"replay: fleet {'cosim' if self.path.name == MODEL else 'stream run'} {self._stated()}"
        if isinstance(excinfo.value, FleetError | BundleFailure):
            return f"{excinfo.value}\n{again}"
        return f"{super().repr_failure(excinfo)}\n{again}"

    def reportinfo(self) -> tuple[Path, None, str]:
        """For the summary."""
        return self.path, None, self.name

    def _stated(self) -> Path:
        """The file as a command would name it."""
        return self.path.relative_to(Path.cwd()) if self.path.is_relative_to(Path.cwd()) else self.path
