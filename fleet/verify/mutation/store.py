"""Stored results: the state that a stopped campaign resumes from, and `mutants.json`, which combines the campaigns of a report."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fleet.core.files import write_atomically
from fleet.errors import ModelError
from fleet.verify.mutation.mutant import Mutant, MutantResult

__all__ = ["MutantDraw", "MutantRecord", "Report", "content", "load_report", "load_results", "save_report", "save_results"]

_FORM = 1
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
        """Whether it is a survivor that nobody has explained."""
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


def content(root: Path, folders: Sequence[str]) -> str:
    """Return a hash of all sources below folders of the project. Results hold only for the sources with that hash."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in _KEPT and p.is_file()):
            digest.update(f"{path.relative_to(root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def save_results(path: Path, results: Mapping[str, MutantResult], tests: str) -> None:
    """Write results by id, for `load_results`. tests: hash of the checks' sources. Raises FleetError."""
    _write(path, {"form": _FORM, "tests": tests, "results": {k: asdict(r) for k, r in results.items()}})


def load_results(path: Path, tests: str, explained: Set[str] = frozenset()) -> dict[str, MutantResult]:
    """Read the results that still hold; empty if there is no file. A survivor holds if it is explained, or `tests` did not change.

    Raises ModelError if the file is damaged.
    """
    if not path.exists():
        return {}
    table = _read(path)
    try:
        found = {k: _result(r) for k, r in table["results"].items()}
        same = table.get("tests") == tests
        return {k: r for k, r in found.items() if r.verdict == "found" or same or k in explained}
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"no results of mutants ({error})", where=str(path), hint="remove it") from error


def save_report(path: Path, report: Report) -> None:
    """Write `mutants.json`. Raises FleetError."""
    mutants = [
        {"device": r.device, "seed": r.seed, **asdict(r.result.mutant), "verdict": r.result.verdict, "kind": r.kind,
         "reason": r.reason, "proof": r.proof, "test": r.result.test, "how": r.result.how, "tests": r.result.tests,
         "seconds": round(r.result.seconds, 1)}
        for r in report.records
    ]  # fmt: skip
    _write(path, {"form": _FORM, "draws": [asdict(d) for d in report.draws], "mutants": mutants})


def load_report(path: Path) -> Report:
    """Read what `save_report` wrote; empty if there is no file. Raises ModelError if the file is damaged."""
    if not path.exists():
        return Report()
    table = _read(path)
    try:
        draws = tuple(MutantDraw(**d) for d in table["draws"])
        records = tuple(_record(dict(m)) for m in table["mutants"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"no report of mutants ({error})", where=str(path), hint="remove it") from error
    return Report(draws, records)


def _record(m: dict[str, Any]) -> MutantRecord:
    device, kind, reason = m.pop("device"), m.pop("kind"), m.pop("reason")
    seed, proof = m.pop("seed", 0), m.pop("proof", "")  # reports of one seed lack these
    said = {k: m.pop(k) for k in ("verdict", "test", "how", "tests", "seconds")}
    return MutantRecord(device, MutantResult(Mutant(**m), **said), kind, reason, seed, proof)


def _result(table: dict[str, Any]) -> MutantResult:
    said = {k: v for k, v in table.items() if k != "mutant"}
    return MutantResult(Mutant(**table["mutant"]), **said)


def _write(path: Path, table: Mapping[str, Any]) -> None:
    write_atomically(path, (json.dumps(table, indent=1, ensure_ascii=False) + "\n").encode())


def _read(path: Path) -> dict[str, Any]:
    try:
        table: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot be read ({error})", where=str(path), hint="remove it") from error
    if not isinstance(table, dict) or table.get("form") != _FORM:
        raise ModelError(f"not of form {_FORM}", where=str(path), hint="remove it")
    return table
