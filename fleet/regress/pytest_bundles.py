"""Run stored streams and models below a folder `bundles` as tests: each states whether its engines agree, or how they differ.

Part of the plug-in (`fleet.regress.pytest_plugin`). One simulation per device serves all bundles of a session.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER, STREAM, MODEL = "bundles", "stream.json", "model.json"

_RUNNERS = pytest.StashKey[dict[tuple[str, int], Any]]()


def is_bundle(path: Path) -> bool:
    """Return whether a file is a stored stream or model below a folder `bundles`."""
    return path.name in {STREAM, MODEL} and FOLDER in path.parent.parts


def close_runners(config: pytest.Config) -> None:
    """End the simulations of a session."""
    for runner in config.stash.get(_RUNNERS, {}).values():
        runner.close()
    config.stash[_RUNNERS] = {}


class BundleFailure(Exception):
    """A bundle whose outcome is not the expected one."""


class BundleFile(pytest.File):
    """The file of a bundle, which is one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the test, under the folder's name. A bad file makes the test fail."""
        yield BundleItem.from_parent(self, name=self.path.parent.name)


class BundleItem(pytest.Item):
    """A test that runs the stream, or the model, under the setting that it failed with."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.add_marker(pytest.mark.quick)

    def runtest(self) -> None:
        """Raises BundleFailure if the outcome is not as expected; FleetError if the file is bad or has another description."""
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
            runners[key].restart()  # contents of memories inside the design, left by other streams, could hide the difference
        (outcome,) = runners[key].run(case, [bundle.setting])
        if wrong := unexpected(bundle, outcome) or moved(bundle, outcome, str(path)):
            raise BundleFailure(f"{bundle.name} {bundle.setting.name}: {wrong}\n  {bundle.story}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> Any:
        """Return the reason and the command; a traceback only for a bug."""
        from fleet.errors import FleetError

        again = f"replay: fleet {'cosim' if self.path.name == MODEL else 'stream run'} {self._stated()}"
        if isinstance(excinfo.value, FleetError | BundleFailure):
            return f"{excinfo.value}\n{again}"
        return f"{super().repr_failure(excinfo)}\n{again}"

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return path and name for the summary."""
        return self.path, None, self.name

    def _stated(self) -> Path:
        """Return the file as a command would name it."""
        return self.path.relative_to(Path.cwd()) if self.path.is_relative_to(Path.cwd()) else self.path
