"""Stored results: the state that a stopped campaign resumes from, and `mutants.json`, which combines the campaigns of a report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from fleet.core.codec import MAY_BE_MISSING
from fleet.core.files import RecordFile
from fleet.verify.mutation.mutant import Mutant, MutantResult, Over, Verdict

_KEPT = {".py", ".sv", ".cpp", ".h", ".rdl", ".toml", ".j2"}


@dataclass(frozen=True)
class MutantDraw:
    """One draw. sites: number of existing mutants; count: number drawn with the seed; seconds: summed over them."""

    device: str
    over: str
    seed: int
    count: int
    sites: int
    seconds: float


@dataclass(frozen=True)
class MutantRecord:
    """A result in a report.

    kind, reason: judgement of a survivor, else empty; proof: the test that confirms the reason, or empty. seed: of the draw.
    """

    device: str
    result: MutantResult
    kind: str = ""
    reason: str = ""
    seed: int = 0
    proof: str = ""

    @property
    def hole(self) -> bool:
        """True if it is a survivor without an explanation."""
        return self.result.verdict == "survived" and not self.kind


@dataclass(frozen=True)
class Report:
    """All draws of a report, and their mutants."""

    draws: tuple[MutantDraw, ...] = ()
    records: tuple[MutantRecord, ...] = ()

    def with_draw(self, drawn: MutantDraw, records: Iterable[MutantRecord]) -> Report:
        """Return the report with a draw and its results. They replace an earlier draw of the same device, place and seed.

        A mutant that another draw of the device contains too is stored once, with the newer result.
        """
        key, mine = (drawn.device, drawn.over, drawn.seed), list(records)
        again = {(r.device, r.result.mutant.id) for r in mine}
        draws = [d for d in self.draws if (d.device, d.over, d.seed) != key]
        kept = [r for r in self.records if (r.device, r.result.mutant.over, r.seed) != key]
        return Report((*draws, drawn), (*(r for r in kept if (r.device, r.result.mutant.id) not in again), *mine))

    def tests(self) -> Mapping[str, str]:
        """Return mutant -> the test that found it."""
        return {r.result.mutant.id: r.result.test for r in self.records if r.result.verdict == "found"}


@dataclass(frozen=True)
class _Results:
    """The stored state of a campaign. tests: hash of the checks' sources; results: by the mutant's id."""

    tests: str
    results: Mapping[str, MutantResult]


@dataclass(frozen=True)
class _Row:
    """The stored form of `MutantRecord`; reports of one seed lack seed and proof."""

    device: str
    seed: int = field(default=0, kw_only=True, metadata=MAY_BE_MISSING)
    id: str
    over: Over
    file: str
    line: int
    unit: str
    operator: str
    before: str
    after: str
    context: str
    number: int
    verdict: Verdict
    kind: str
    reason: str
    proof: str = field(default="", kw_only=True, metadata=MAY_BE_MISSING)
    test: str
    how: str
    tests: int
    seconds: float


@dataclass(frozen=True)
class _Mutants:
    """The stored form of `Report`."""

    draws: tuple[MutantDraw, ...]
    mutants: tuple[_Row, ...]


_RESULTS = RecordFile(_Results, 1, "no results of mutants", "results", "remove it", 1)
_REPORT = RecordFile(_Mutants, 1, "no report of mutants", "report", "remove it", 1)


def content(root: Path, folders: Sequence[str]) -> str:
    """Return a hash of all sources below folders of the project. Results hold only for the sources with that hash."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in _KEPT and p.is_file()):
            digest.update(f"{path.relative_to(root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def save_results(path: Path, results: Mapping[str, MutantResult], tests: str) -> None:
    """Write results by id, for `load_results`. tests: hash of the checks' sources. Raises FleetError."""
    _RESULTS.save(path, _Results(tests, results))


def load_results(path: Path, tests: str, explained: Set[str] = frozenset()) -> dict[str, MutantResult]:
    """Read the results that still hold; empty if there is no file. A survivor holds if it is explained, or `tests` did not change.

    Raises ModelError if the file is damaged.
    """
    if not path.exists():
        return {}
    stored = _RESULTS.load(path)
    same = stored.tests == tests
    return {k: r for k, r in stored.results.items() if r.verdict == "found" or same or k in explained}


def save_report(path: Path, report: Report) -> None:
    """Write `mutants.json`. Raises FleetError."""
    _REPORT.save(path, _Mutants(report.draws, tuple(map(_row, report.records))))


def load_report(path: Path) -> Report:
    """Read what `save_report` wrote; empty if there is no file. Raises ModelError if the file is damaged."""
    if not path.exists():
        return Report()
    stored = _REPORT.load(path)
    return Report(stored.draws, tuple(map(_record, stored.mutants)))


def _row(r: MutantRecord) -> _Row:
    m, found = r.result.mutant, r.result
    return _Row(
        r.device, m.id, m.over, m.file, m.line, m.unit, m.operator, m.before, m.after, m.context, m.number, found.verdict,
        r.kind, r.reason, found.test, found.how, found.tests, round(found.seconds, 1), seed=r.seed, proof=r.proof,
    )  # fmt: skip


def _record(m: _Row) -> MutantRecord:
    mutant = Mutant(m.id, m.over, m.file, m.line, m.unit, m.operator, m.before, m.after, m.context, m.number)
    result = MutantResult(mutant, m.verdict, m.test, m.how, m.tests, m.seconds)
    return MutantRecord(m.device, result, m.kind, m.reason, m.seed, m.proof)
