"""The outcome of a co-simulation: everything that a report shows, so that nothing has to be computed again.

`CosimResult` is frozen and complete: verdict and reasons are decided when it is made, never by the code that prints it. On disk it
is `result.json` (strict, versioned) and one `.npz` beside it for the arrays that pictures need. The JSON names the `.npz` and its
SHA-256 and is renamed into place last, so a reader sees the old pair or the new one, never a mixture.

Names of comparisons are "<other>-vs-<reference>" ("rtl-vs-iss"). Names of engines are those of `fleet.engines`, plus
"vm-rounded": the golden run with the weights as the device stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from fleet.compare.diverged import Divergence
from fleet.compare.verdict import Comparison, NotCompared, TaskMetric, Verdict
from fleet.cosim.stored_result import StoredResult
from fleet.cosim.what_ran import DataProvenance, EngineRun, RunIdentity
from fleet.errors import ExitCode, heaviest

SCHEMA = 2
"""Version of the JSON form; a reader refuses any other."""

RESULT = "result.json"
"""Name of the JSON file in a result's folder."""

ROUNDED = "vm-rounded"
"""Engine name of the rounded golden."""

_EXIT_CODES: Mapping[Verdict, ExitCode] = {
    "pass": ExitCode.AGREED,
    "fail": ExitCode.DIFFERS,
    "not proved": ExitCode.INCOMPLETE,
    "nothing compared": ExitCode.INCOMPLETE,
}


@dataclass(frozen=True)
class CosimResult(StoredResult):
    """The complete outcome. `arrays` (in the .npz, not in the JSON) holds the data of pictures:

    "inputs/flipped/<engine>"      input rows of the flipped samples, in the order of `TaskMetric.flips` (first model input)
    "flipped/index"                samples that flipped on some engine, at most 256, ascending, int64
    "flipped/scores/<engine>"      [samples, classes] of these: the values whose argmax is the predicted class
    "<comparison>/<op>/reference"  up to 4096 values of the reference (the first 8, then evenly spaced in C order), float64;
                                   fewer, from 256 on, where a comparison has more than 128 operations
    "<comparison>/<op>/other"      the same elements of the other engine, float64
    "<comparison>/<op>/bound"      the bound of the same elements, float64 (kind "bound" only)
    """

    JSON: ClassVar = RESULT
    STORED_AS: ClassVar = ("result", SCHEMA, "fleet cosim", "run the co-simulation again")

    identity: RunIdentity
    data: DataProvenance
    engines: tuple[EngineRun, ...]
    comparisons: tuple[Comparison, ...]
    tasks: tuple[TaskMetric, ...]
    not_compared: tuple[NotCompared, ...]
    verdict: Verdict
    reasons: tuple[str, ...]
    divergence: Divergence | None

    @property
    def exit_code(self) -> ExitCode:
        """Exit code for a command: that of the verdict, or of the heaviest engine failure if nothing differs.

        If the golden failed, only its failure counts, because the others may have failed for lack of it.
        """
        differs = any(c.verdict == "fail" for c in self.comparisons) or any(t.must_agree and t.flips for t in self.tasks)
        failed = {e.name: e.exit_code for e in self.engines if e.exit_code is not None}
        failures = [failed["vm"]] if "vm" in failed else list(failed.values())
        if self.verdict == "fail" and not differs and failures:
            return heaviest(failures)
        return _EXIT_CODES[self.verdict]

    def engine(self, name: str) -> EngineRun | None:
        """Return the run of an engine, or None if the result has none."""
        return next((e for e in self.engines if e.name == name), None)

    def comparison(self, name: str) -> Comparison | None:
        """Return a comparison by name ("rtl-vs-iss"), or None if it was not made."""
        return next((c for c in self.comparisons if c.name == name), None)

    @property
    def evidence(self) -> str:
        """Evidence that each engine ran, the strongest kind first: "bench: rtl; model: vm, iss"."""
        kinds = {kind: [e.name for e in self.engines if e.evidence == kind] for kind in ("board", "bench", "sample", "model")}
        return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)

    def task(self, engine: str) -> TaskMetric | None:
        """Return the task figure of an engine, or None."""
        return next((t for t in self.tasks if t.engine == engine), None)


def load_result(source: CosimResult | Path | str) -> CosimResult:
    """Return the result itself, or the one that is stored at a path. Raises ModelError if that is not a complete result."""
    return source if isinstance(source, CosimResult) else CosimResult.load(Path(source))
