"""The outcome of a co-simulation: everything that a report shows, so that nothing has to be computed again.

`CosimResult` is frozen and complete: verdict and reasons are decided when it is made, never by the code that prints it. On disk it
is `result.json` (strict, versioned) and one `.npz` beside it for the arrays that pictures need. The JSON names the `.npz` and its
SHA-256 and is renamed into place last, so a reader sees the old pair or the new one, never a mixture.

Names of comparisons are "<other>-vs-<reference>" ("rtl-vs-iss"). Names of engines are those of `fleet.engines`, plus
"vm-rounded": the golden run with the weights as the device stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fleet.compare.diverged import Divergence
from fleet.compare.verdict import Comparison, NotCompared, TaskMetric, Verdict
from fleet.core.codec import NOT_STORED, Json
from fleet.core.files import RecordPair
from fleet.cosim.what_ran import DataProvenance, EngineRun, RunIdentity
from fleet.errors import ExitCode, heaviest

__all__ = [
    "RESULT",
    "ROUNDED",
    "SCHEMA",
    "CosimResult",
    "load_result",
]

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
class CosimResult:
    """The complete outcome. `arrays` (in the .npz, not in the JSON) holds the data of pictures:

    "inputs/flipped/<engine>"      input rows of the flipped samples, in the order of `TaskMetric.flips` (first model input)
    "flipped/index"                samples that flipped on some engine, at most 256, ascending, int64
    "flipped/scores/<engine>"      [samples, classes] of these: the values whose argmax is the predicted class
    "<comparison>/<op>/reference"  up to 4096 values of the reference (evenly spaced in C order), float64
    "<comparison>/<op>/other"      the same elements of the other engine, float64
    "<comparison>/<op>/bound"      the bound of the same elements, float64 (kind "bound" only)
    """

    identity: RunIdentity
    data: DataProvenance
    engines: tuple[EngineRun, ...]
    comparisons: tuple[Comparison, ...]
    tasks: tuple[TaskMetric, ...]
    not_compared: tuple[NotCompared, ...]
    verdict: Verdict
    reasons: tuple[str, ...]
    divergence: Divergence | None
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray], compare=False, repr=False, metadata=NOT_STORED)

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
        """What proves that each engine ran, the strongest kind first: "bench: rtl; model: vm, iss"."""
        kinds = {kind: [e.name for e in self.engines if e.evidence == kind] for kind in ("board", "bench", "model")}
        return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)

    def task(self, engine: str) -> TaskMetric | None:
        """Return the task figure of an engine, or None."""
        return next((t for t in self.tasks if t.engine == engine), None)

    def to_json(self) -> dict[str, Json]:
        """Return JSON values without the arrays; `schema` is the version."""
        return _STORED.table(self)

    @classmethod
    def from_json(cls, value: object, where: str = "<result>", arrays: Mapping[str, np.ndarray] | None = None) -> CosimResult:
        """Invert `to_json`. Raises ModelError if the version or a field does not fit."""
        return replace(_STORED.record(value, where), arrays=dict(arrays or {}))

    def save(self, folder: Path, beside: Mapping[Path, str] | None = None) -> Path:
        """Write `folder/result.json` and its `.npz`; return the JSON's path. An old result stays whole until the end.

        beside: path -> text of files (a report's) that are replaced together with the JSON, or not at all.
        """
        return _STORED.save(folder / RESULT, self, self.arrays, beside)

    @classmethod
    def load(cls, path: Path) -> CosimResult:
        """Read `result.json` (or the folder that holds it). Raises ModelError if it is not a complete result."""
        result, arrays = _STORED.load(path / RESULT if path.is_dir() else path)
        return replace(result, arrays=arrays)


_STORED = RecordPair(CosimResult, "result", SCHEMA, None, "fleet cosim", "run the co-simulation again")


def load_result(source: CosimResult | Path | str) -> CosimResult:
    """Return the result itself, or the one that is stored at a path. Raises ModelError if that is not a complete result."""
    return source if isinstance(source, CosimResult) else CosimResult.load(Path(source))
