"""Mutants of hardware that was adopted: does a workspace's tests, monitors and functional model find each small change?

All mutants stand in one build (`fleet.verify.mutation.schemata`); the design's own files are not touched.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fleet.adopt.bench.replay import BenchError, BenchRunner, Outcome
from fleet.adopt.bench.script import is_test
from fleet.adopt.top import elaborated
from fleet.adopt.workspace import AdoptWorkspace
from fleet.errors import ComparisonFailure, DeviceError, ExitCode, FleetError, SetupError
from fleet.verify.adopted.initial import random_values
from fleet.verify.mutation.mutant import Mutant, MutantResult
from fleet.verify.mutation.rtl_walk import sites_of
from fleet.verify.mutation.schemata import described, instrument, plusarg

_PATIENCE = 20.0
"""Time limit of a mutant's run: a multiple of the unchanged design's time, and seconds that it has at least."""
_SEEDS = range(1, 17)
"""Seeds of the initial values that a survivor is run from, too: a lost reset shows only from some."""


def tests_of(work: AdoptWorkspace) -> list[Path]:
    """The tests of a workspace, the smoke test last."""
    found = [p for p in sorted(work.folder.glob("*.toml")) if is_test(p)]
    return sorted(found, key=lambda p: p.name == "smoke.toml")


class AdoptedMutants:
    """The mutants of a design. mutants: all of them."""

    def __init__(self, work: AdoptWorkspace, tests: Sequence[Path]) -> None:
        self._work, self._tests = work, list(tests)
        if not tests:
            raise DeviceError("the workspace has no test", where=str(work.folder), hint="write one: `fleet help adopting`, L1")
        with elaborated(work.sources, work.top, work.parameters) as (manager, instance):
            self._sites = sites_of(manager, [instance], set(work.top.files) - work.substitutes)
            shared = work.top.files[0].parent
            while not all(p.is_relative_to(shared) for p in work.top.files):
                shared = shared.parent
            self._all = described(self._sites, shared)
        self.mutants = [m for m in self._all if not _same(m)]

    def draw(self, count: int, seed: int, where: Callable[[Mutant], bool] = lambda _: True) -> list[Mutant]:
        """Draw mutants, or all if there are fewer. where: those that count."""
        known = [m for m in self.mutants if where(m)]
        return random.Random(seed).sample(known, min(count, len(known)))

    def look(self, wanted: Sequence[Mutant], folder: Path, tell: Callable[[str], None] = lambda _: None) -> Iterator[MutantResult]:
        """Run the tests on each until one finds it, then again from 16 sets of random initial values; yields in that order.

        folder: for texts and runs; tell: gets a line for each test that compares nothing, which judges no mutant.

        Raises ComparisonFailure if the tests fail on the design itself, DeviceError if none compares, and as `replay` does.
        """
        work = self._work
        files, choice = instrument(folder / "rtl", work.top.files, self._sites, self._all)
        sources = replace(
            work.sources, cpp=(*work.sources.cpp, choice),
            include_dirs=(*work.sources.include_dirs, *dict.fromkeys(p.parent for p in work.top.files)),
        )  # fmt: skip
        runner = BenchRunner(replace(work, sources=sources, top=replace(work.top, files=files)))
        patience: dict[Path, float] = {}
        runs: list[tuple[Path, tuple[str, ...]]] = []
        silent: set[Path] = set()
        for test, values in [(test, values) for values in ((), *map(random_values, _SEEDS)) for test in self._tests]:
            if test in silent:
                continue
            began = time.monotonic()
            outcome = runner.run(test, folder / "run", (plusarg(0), *values), wave=False)
            patience[test] = _PATIENCE + _PATIENCE * (time.monotonic() - began)
            if outcome.exit_code is ExitCode.INCOMPLETE and not values:
                silent.add(test)
                tell(f"left out: {test.name} compares nothing")
                continue
            if outcome.exit_code is not ExitCode.AGREED:
                where = " from random initial values (`fleet isa replay --seeds`)" if values else ""
                raise ComparisonFailure(f"the unchanged design does not pass{where}: {_said(outcome)}", where=str(test))
            runs.append((test, values))
        if not runs:
            raise DeviceError(
                f"no test compares anything ({', '.join(t.name for t in self._tests)}): a mutant would never be found",
                where=str(work.folder), hint="expect something in a test: `fleet help adopting`, L1",
            )  # fmt: skip
        for mutant in wanted:
            began = time.monotonic()
            verdict, name, how = "survived", "", ""
            for test, values in runs:
                how = _found(runner, test, folder / "run", (plusarg(mutant.number), *values), patience[test])
                if how:
                    verdict, name = "found", test.name
                    break
            yield MutantResult(mutant, verdict, name, how, len(runs), time.monotonic() - began)


def _same(mutant: Mutant) -> bool:
    """Return whether a bit that is stuck is the constant that it was: `1` and `1'b1`."""
    before = re.fullmatch(r"(?:\d*'[bdh]?)?([01])", mutant.before.strip("() "))
    return mutant.operator == "stuck" and before is not None and before[1] == mutant.after[-1]


def _found(runner: BenchRunner, test: Path, folder: Path, arguments: Sequence[str], seconds: float) -> str:
    """Return the evidence that the design is another one, or "". A fault of the bench is no evidence."""
    try:
        outcome = runner.run(test, folder, arguments, wave=False, seconds=seconds)
    except BenchError as error:  # the simulation itself ended: it did not converge, it divided by zero
        return str(error)
    except SetupError as error:
        return f"it does not end: {error}"
    except FleetError as error:  # the model was given what no test gives
        return str(error)
    return _said(outcome) if outcome.exit_code is ExitCode.DIFFERS else ""


def _said(outcome: Outcome) -> str:
    faults = [f"{v.port}: {v.rule}" for v in outcome.violations if v.blame == "design"]
    return next(iter((*outcome.differences, *faults)), "nothing was compared")
