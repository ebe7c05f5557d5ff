"""Run a case: read it, co-simulate, compare with the stored golden, apply waivers and norms."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fleet.compare.verdict import Comparison, NotCompared, TaskMetric
from fleet.cosim.campaign import cosim
from fleet.cosim.models.loaded import LoadedModel, load_model
from fleet.cosim.options import CosimOptions
from fleet.cosim.request import bounded_comparisons, check_ready, check_request, installed_engines, known_engines
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance, EngineRun
from fleet.engines.base import Engine
from fleet.engines.trace import Trace
from fleet.errors import ComparisonFailure, FleetError, ModelError
from fleet.ir.dialect import op_id
from fleet.regress.cases import Case, CaseRun
from fleet.regress.golden import Golden, GoldenChange, GoldenProvenance, capture, changes, check, load_golden, store_golden
from fleet.regress.norms import FILE, Norms, RunNorms, held, load_norms, norms_of
from fleet.regress.waivers import load_waivers, waivers_of


@dataclass(frozen=True)
class CaseOptions:
    """Options of running cases.

    Attributes:
        today: the date for which waivers are checked. date: ISO 8601, for the record.
        goldens: folder of all goldens; None: found from the case's place (`golden_folder`).
        waivers: the file; None: found from the case's place (`waivers_file`).
        workdir, progress, on_engine, on_comparison, engines: as in `CosimOptions`.
        norms: whether cycles and bounds are compared with the stored norms.
        rtl_jobs: as `RunOptions`.
    """

    today: datetime.date
    date: str
    goldens: Path | None = None
    waivers: Path | None = None
    workdir: Path | None = None
    progress: Callable[[str, float, str], None] | None = None
    on_engine: Callable[[EngineRun, TaskMetric | None], None] | None = None
    on_comparison: Callable[[Comparison], None] | None = None
    engines: Mapping[str, Engine] | None = None
    norms: bool = True
    rtl_jobs: int = 1


def golden_folder(case: Case, goldens: Path | None = None) -> Path:
    """Return the folder of a case's golden: `golden/<case>` beside the nearest folder above that has a golden.

    The search ends at a project's root (pyproject.toml).
    """
    if goldens is None:
        above = [p for p in case.path.absolute().parents if (p / "golden").is_dir() or (p / "pyproject.toml").exists()]
        goldens = (above[0] if above else case.path.parent) / "golden"
        if goldens.is_relative_to(Path.cwd()):
            goldens = goldens.relative_to(Path.cwd())
    return goldens / case.name


def waivers_file(case: Path) -> Path:
    """Return waivers.toml beside a case's file, else the one in the folder above (which need not exist)."""
    here = case.parent / "waivers.toml"
    return here if here.exists() else case.parent.parent / "waivers.toml"


def comparisons_of(case: Case, engines: Mapping[str, Engine] | None = None) -> frozenset[str]:
    """Return the names of the comparisons with a bound that the runs of a case make. engines: instead of the installed ones."""
    known = installed_engines() if engines is None else engines
    return frozenset(name for run in case.runs for name in bounded_comparisons(run.engines, known))


def run_case(run: CaseRun, options: CaseOptions) -> CosimResult:
    """Run a case once, with its golden, waivers and norms. If the case demands a golden, the run does not pass without it.

    Raises:
        FleetError: files that are missing or do not fit, a bad waiver, a missing tool, a device that cannot hold the model.
    """
    from fleet.cosim.models.data import load_labels

    case = run.case
    loaded = _load(run)
    labels = load_labels(case.labels) if case.labels is not None else None
    rows = _rows(loaded)
    if labels is not None and run.samples is not None:
        labels = labels[:rows]
    operations = [op_id(op) for op in loaded.program.operations()]
    waivers = waivers_of(
        load_waivers(options.waivers or waivers_file(case.path)),
        case.name,
        comparisons_of(case, options.engines),
        operations,
        options.today,
    )
    traces: dict[str, Trace] = {}
    chosen = CosimOptions(
        model=case.model,
        data=_provenance(case, loaded, rows),
        device=run.device,
        memory=run.memory,
        seed=run.seed,
        metric=case.metric,
        case=run.name,
        date=options.date,
        request=run.request(Path.cwd()),
        waivers=waivers,
        workdir=options.workdir,
        progress=options.progress,
        on_engine=options.on_engine,
        on_comparison=options.on_comparison,
        on_trace=traces.__setitem__,
        engines=options.engines,
        lowering=run.lowering,
        rtl_jobs=options.rtl_jobs,
        rtl_build=run.build,
    )
    check_request(loaded.program, labels, run.engines, chosen, known_engines(chosen), run.at)
    check_ready(loaded.program, run.engines, chosen)
    result = cosim(loaded.program, loaded.inputs, labels, run.engines, chosen)
    folder = golden_folder(case, options.goldens)
    if case.golden:
        result = _with_golden(result, run, loaded, rows, traces, folder, options)
    from fleet.engines.legs.account import APPROXIMATE

    if options.norms and options.rtl_jobs > 1 and run.memory.partition(":")[0] in APPROXIMATE:
        why = f"in legs on {run.memory} memory cycles are not those of one run: they were not checked; leave out --rtl-jobs"
        return replace(result, not_compared=(*result.not_compared, NotCompared("norms", why)))
    return _with_norms(result, run, folder) if options.norms else result


def build_hardware(run: CaseRun) -> None:
    """Build the simulation of a run's device, or take it from the cache. Raises FleetError if that fails."""
    from fleet.engines.rtl_sim.build import build, design_of
    from fleet.engines.rtl_sim.modes.recipe import build_mode
    from fleet.isa.registry import find_device

    if run.device is not None:
        build(design_of(*find_device(run.device)), mode=build_mode(run.build))


def _with_norms(result: CosimResult, run: CaseRun, folder: Path) -> CosimResult:
    """Return the result, failed if cycles or bounds break the case's norms."""
    try:
        norms = load_norms(folder / FILE, [r.norms_id for r in run.case.runs])
    except FleetError as error:
        return replace(result, verdict="fail", reasons=(*result.reasons, str(error)))
    if norms is None:
        why = f"there is no {folder / FILE}: cycles and bounds were not checked; `fleet case accept` stores them"
        return replace(result, not_compared=(*result.not_compared, NotCompared("norms", why)))
    if run.norms_id not in norms.runs:
        why = f"{norms.path} has no figures of this run: its cycles and bounds were not checked; `fleet case accept` stores them"
        return replace(result, not_compared=(*result.not_compared, NotCompared("norms", why)))
    wrong = held(norms, run.norms_id, result)
    return replace(result, verdict="fail", reasons=(*result.reasons, *(f"norms: {line}" for line in wrong))) if wrong else result


def held_by_norms(run: CaseRun, result: CosimResult, goldens: Path | None = None) -> str:
    """Return the reason of the norms that accept a result's cycles; "" without norms, or if the result breaks them."""
    if any(one.what == "norms" for one in result.not_compared) or any(r.startswith("norms: ") for r in result.reasons):
        return ""
    try:
        norms = load_norms(golden_folder(run.case, goldens) / FILE)
    except FleetError:
        return ""
    return norms.reason if norms is not None and run.norms_id in norms.runs and norms.runs[run.norms_id].cycles else ""


def held_hash(case: Case, goldens: Path | None = None) -> str:
    """Return the SHA-256 (hex) of the files that a case's results are compared with: its golden, its norms and the waivers."""
    h = hashlib.sha256()
    folder = golden_folder(case, goldens)
    for path in (*sorted(folder.glob("*")), waivers_file(case.path)):
        if path.is_file():
            h.update(f"{path.name} {path.stat().st_size}\n".encode() + path.read_bytes())
    return h.hexdigest()


def _with_golden(
    result: CosimResult, run: CaseRun, loaded: LoadedModel, rows: int, traces: Mapping[str, Trace], folder: Path,
    options: CaseOptions,
) -> CosimResult:  # fmt: skip
    try:
        golden = load_golden(folder)
        if "vm" not in traces:
            raise ComparisonFailure(
                "the golden engine did not run, so the stored golden was compared with nothing", where=str(folder)
            )
        hashes = (result.identity.source_hash, result.identity.weights_hash)
        models = {run.device: traces["iss"]} if run.device and "iss" in traces else {}
        comparison = check(golden, loaded.program, loaded.inputs, rows, hashes, traces["vm"], models)
    except FleetError as error:
        question = "Is this still what it was when somebody looked at it?"
        comparison = Comparison("vm-vs-golden", "bound", "golden", "vm", question, "fail", (str(error),), 0, 0)
    if options.on_comparison is not None:
        options.on_comparison(comparison)
    reasons = tuple(f"{comparison.name}: {r}" for r in comparison.reasons if comparison.verdict != "pass")
    if result.verdict == "nothing compared" and comparison.verdict == "pass":
        return replace(result, comparisons=(*result.comparisons, comparison), verdict="pass", reasons=())
    verdict = result.verdict
    if reasons:
        verdict = "not proved" if comparison.verdict == "not proved" and verdict in {"pass", "not proved"} else "fail"
    return replace(
        result,
        comparisons=(*result.comparisons, comparison),
        verdict=verdict,
        reasons=(*result.reasons, *reasons),
        divergence=result.divergence or comparison.divergence,
    )


def _load(run: CaseRun) -> LoadedModel:
    """Load the case's program and data; if a file is missing, the error says how to make it."""
    case = run.case
    hint = f"make it with `{case.make}`" if case.make else "check the path in the case"
    for key, path in (("weights", case.weights), ("input", case.input), ("labels", case.labels)):
        if path is not None and not path.exists():
            raise ModelError(f"{key}: no such file {path}", where=str(case.path), hint=hint)
    return load_model(case.model, case.weights, case.input, run.seed, run.samples)


def _rows(loaded: LoadedModel) -> int:
    """Return the rows of the batch: the leading dimension of the first input, 1 for a model without one."""
    shapes = [a.shape for a in loaded.program.inputs]
    return shapes[0][0] if shapes and shapes[0] else 1


def _provenance(case: Case, loaded: LoadedModel, rows: int) -> DataProvenance:
    inputs, labels = (None if p is None else str(p) for p in (case.input, case.labels))
    return DataProvenance("random" if loaded.random else "real", rows, inputs, labels, loaded.banner, case.image)


@dataclass(frozen=True)
class GoldenUpdate:
    """A planned update: show `changes` first, then `write`."""

    case: Case
    folder: Path
    changes: tuple[GoldenChange, ...]
    provenance: GoldenProvenance
    arrays: Mapping[str, np.ndarray] = field(repr=False)
    problem: str | None = None
    """Reason that the existing golden cannot be read; None if it can, or if there is none."""

    @property
    def unchanged(self) -> bool:
        """True if every stored array stays as it is, so that only the provenance would change."""
        return not self.changes and self.problem is None

    def write(self) -> None:
        """Replace the golden, completely or not at all."""
        store_golden(self.folder, self.provenance, self.arrays)


def prepare_golden(case: Case, reason: str, options: CaseOptions) -> GoldenUpdate:
    """Run the golden and the functional model for each slice and device of the case, and compare with the stored golden.

    Raises:
        FleetError: no reason, files missing, or an engine that did not run.
    """
    if not reason.strip():
        raise FleetError("a golden needs a reason", where=str(case.path), hint='give one with --reason "..."')
    arrays: dict[str, np.ndarray] = {}
    descriptions: dict[str, str] = {}
    tools: dict[str, str] = {}
    hashes: tuple[str, str, str] | None = None
    done: set[tuple[int | None, str | None]] = set()
    for run in case.runs:
        if (run.samples, run.device) in done:
            continue
        done.add((run.samples, run.device))
        loaded = _load(run)
        rows = _rows(loaded)
        traces: dict[str, Trace] = {}
        wanted = ("vm", "iss") if run.device else ("vm",)
        chosen = CosimOptions(
            case.model, _provenance(case, loaded, rows), run.device, "ideal", run.seed, engines=options.engines,
            workdir=options.workdir, progress=options.progress, on_trace=traces.__setitem__,
        )  # fmt: skip
        result = cosim(loaded.program, loaded.inputs, None, wanted, chosen)
        if result.verdict == "fail":
            raise ComparisonFailure(f"no golden of a run that fails: {result.reasons[0]}", where=run.name)
        identity = result.identity
        hashes = hashes or (identity.source_hash, identity.weights_hash, identity.inputs_hash)
        tools |= identity.tools
        if run.device and identity.description_hash:
            descriptions[run.device] = identity.description_hash
        arrays |= capture(loaded.program, rows, traces["vm"], {run.device: traces["iss"]} if run.device else {})
    assert hashes is not None
    folder = golden_folder(case, options.goldens)
    old: Golden | None = None
    problem: str | None = None
    try:
        old = load_golden(folder)
    except ComparisonFailure as error:
        problem = str(error)
    provenance = GoldenProvenance(case.name, reason, options.date, *hashes, case.runs[0].seed, tools, descriptions)
    return GoldenUpdate(case, folder, changes(old, arrays), provenance, arrays, problem)


def accepted_norms(case: Case, runs: Sequence[CaseRun], reason: str, options: CaseOptions) -> tuple[Norms | None, Norms]:
    """Return (stored norms or None, norms of these runs as they are now); other runs of the case keep their norms.

    Raises:
        ComparisonFailure: a run fails for another reason than its norms.
        FleetError: as `run_case`.
    """
    path = golden_folder(case, options.goldens) / FILE
    known = [run.norms_id for run in case.runs]
    old = load_norms(path)
    made: dict[str, RunNorms] = {} if old is None else {run: norms for run, norms in old.runs.items() if run in known}
    for run in runs:
        result = run_case(run, replace(options, norms=False))
        if result.verdict != "pass":
            raise ComparisonFailure(f"no norms of a run that does not pass: {result.reasons[0]}", where=run.name)
        made[run.norms_id] = norms_of(result)
    return old, Norms(case.name, reason, options.date, made, path)


def result_folder(root: Path, run: CaseRun) -> Path:
    """Return the folder in which a campaign stores a run's result: `root/<case>/<id>`, safe as a path."""
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in run.id)
    tag = hashlib.sha256(run.id.encode()).hexdigest()[:6] if safe != run.id else ""
    return root / run.case.name / (f"{safe}-{tag}" if tag else safe)
