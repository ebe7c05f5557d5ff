"""`fleet case`: cases of the regression, one by one."""

from __future__ import annotations

import datetime
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.model import data_options, rtl_jobs_option
from fleet.core.codec import Json
from fleet.errors import ExitCode, FleetError, ModelError, heaviest

if TYPE_CHECKING:
    from fleet.cli.running.cosim import TablePrinter
    from fleet.cosim.result import CosimResult
    from fleet.regress.case_runs import CaseOptions
    from fleet.regress.cases import CaseRun

CASES = Path("sim/cases")


def find_case(case: str) -> Path:
    """Return the file of CASE: a path, or the name of a file under sim/cases. Raises ModelError if there is none."""
    for path in (Path(case), CASES / case, CASES / f"{case}.toml"):
        if path.is_file():
            return path
    names = ", ".join(sorted(p.stem for p in CASES.glob("*.toml"))) or "none"
    raise ModelError("no such case", where=case, hint=f"give a path or one of {CASES}: {names}")


def case_options(watch: TablePrinter, rtl_jobs: int = 1) -> CaseOptions:
    """Return the options of a manual run."""
    from fleet.regress.case_runs import CaseOptions

    now = datetime.datetime.now(datetime.UTC)
    return CaseOptions(
        now.date(),
        now.isoformat(timespec="seconds"),
        progress=watch.progress,
        on_engine=watch.engine,
        rtl_jobs=rtl_jobs,
    )


@click.group(name="case")
def command() -> None:
    """Cases: TOML files that say what to run (model, data, engines, devices, memories, seeds)."""


@command.command(
    name="add",
    epilog="\b\nExample:\n  fleet case add mine model.py:forward --weights w.npz --input x.npz --labels y.npz "
    "--metric accuracy --engines vm,iss,rtl --device hbm_small\n  fleet golden update mine --reason 'first golden'",
)
@click.argument("name")
@click.argument("model")
@data_options
@click.option("--labels", type=click.Path(path_type=Path), help="One integer a row (.npz with one array).")
@click.option("--metric", type=click.Choice(["accuracy"]), help="The task's own figure.")
@click.option("--engines", default="vm,iss,rtl", show_default=True, help="Comma-separated.")
@click.option("--device", "devices", default="hbm_small", show_default=True, help="Comma-separated; empty for none.")
@click.option("--memory", "memories", default="ideal", show_default=True, help="Comma-separated: ideal, fixed, stall.")
@click.option("--tier", type=click.Choice(["quick", "nightly"]), default="quick", show_default=True, help="When its runs run.")
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=CASES, show_default=True, help="Folder for the case.")
def add(
    name: str, model: str, weights: Path | None, input_path: Path | None, seed: int, batch: int | None, labels: Path | None,
    metric: str | None, engines: str, devices: str, memories: str, tier: str, folder: Path,
) -> int:  # fmt: skip
    """Write a new case NAME for MODEL (path.py:function). The model and its data must load."""
    from fleet.cosim.models.loaded import load_model
    from fleet.regress.cases import add_case

    load_model(model, weights, input_path, seed, batch)

    def words(text: str) -> list[str]:
        return [w.strip() for w in text.split(",") if w.strip()]

    keys: dict[str, Json] = {
        "name": name, "model": model, "weights": weights and str(weights), "input": input_path and str(input_path),
        "labels": labels and str(labels), "metric": metric, "engines": words(engines), "devices": words(devices),
        "memories": words(memories), "seeds": [seed], "samples": batch, "tier": tier,
    }  # fmt: skip
    case = add_case(folder / f"{name}.toml", {k: v for k, v in keys.items() if v is not None})
    click.echo(f"wrote {case.path}: {len(case.runs)} runs")
    click.echo(f'next: fleet golden update {name} --reason "..." && fleet case run {name}')
    return 0


@command.command(name="run", epilog="\b\nExample:\n  fleet case run digits --only hbm_small-ideal-0 --report reports/digits")
@click.argument("case")
@click.option("--only", help="The id of one run (the regression prints it); default: every quick run.")
@click.option("--nightly", is_flag=True, help="The nightly runs too.")
@click.option("--report", "folder", type=click.Path(path_type=Path, file_okay=False), help="Write each run's report under here.")
@rtl_jobs_option
@click.option("--bisect", is_flag=True, help="For `git bisect run`: exit code 125 where a run cannot be built, run or compared.")
def run(case: str, only: str | None, nightly: bool, folder: Path | None, rtl_jobs: int, bisect: bool) -> int:
    """Run CASE (a file, or the name of one under sim/cases), its stored golden and waivers included."""
    if not bisect:
        return _run(case, only, nightly, folder, rtl_jobs)
    try:
        code = _run(case, only, nightly, folder, rtl_jobs)
    except FleetError as error:
        if error.exit_code == ExitCode.DIFFERS:
            raise
        print(f"fleet: {error}", file=sys.stderr)
        return ExitCode.CANNOT_RUN
    except Exception as error:
        print(f"fleet: {type(error).__name__}: {error}", file=sys.stderr)
        return ExitCode.CANNOT_RUN
    return code if code in (ExitCode.AGREED, ExitCode.DIFFERS) else ExitCode.CANNOT_RUN


def _run(case: str, only: str | None, nightly: bool, folder: Path | None, rtl_jobs: int) -> int:
    from fleet.cli.running.cosim import TablePrinter, store
    from fleet.cli.table import print_head, print_verdict
    from fleet.cosim.last_run import keep
    from fleet.cosim.seeds_held import ignored_seeds
    from fleet.regress.case_runs import result_folder, run_case
    from fleet.regress.cases import load_case, select

    found = load_case(find_case(case))
    runs = [r for r in select(found, only) if only or nightly or r.tier == "quick"]
    if not runs:
        raise ModelError("has no quick run", where=str(found.path), hint="add --nightly, or name one with --only")
    worst = ExitCode.AGREED
    results: list[CosimResult] = []
    for one in runs:
        watch = TablePrinter(quiet=False)
        click.secho(f"\n{one.name}: engines {', '.join(one.engines)}", bold=True)
        print_head()
        result = run_case(one, case_options(watch, rtl_jobs))
        watch.done()
        if folder is None:
            keep(result)
        print_verdict(result)
        results.append(result)
        if folder is not None:
            files = store(result, folder if only else result_folder(folder, one), None)
            click.echo(f"report: {files['page']}")
        if result.verdict != "pass":
            worst = heaviest((worst, result.exit_code))
            words = "failed" if result.verdict == "fail" else f"{result.verdict}"
            print(f"fleet: {one.name} {words}; again: {one.replay()}", file=sys.stderr)
            if one.custody.known_failure is not None:
                print(f"fleet: it is a known failure of {one.custody.known_failure}", file=sys.stderr)
    for line in ignored_seeds(results):
        worst = ExitCode.DIFFERS
        click.echo(f"{click.style('FAIL', fg='red', bold=True)} {line}")
    return worst


@command.command(name="list", epilog="\b\nExample:\n  fleet case list --tag gemm --owner ada")
@click.option("--dir", "folder", type=click.Path(path_type=Path), default=CASES, show_default=True, help="Folder of the cases.")
@click.option("--tag", "tags", multiple=True, help="Only runs with this tag; repeat it for runs with several tags.")
@click.option("--owner", help="Only runs of this owner.")
@click.option("--json", "machine", is_flag=True, help="Everything as JSON.")
def list_(folder: Path, tags: tuple[str, ...], owner: str | None, machine: bool) -> int:
    """List the runs of all cases: tier, engines, owner, tags, timeout, known failure."""
    from fleet.regress.cases import find_cases

    if not folder.is_dir():
        raise ModelError("is not a folder of cases", where=str(folder), hint="name it with --dir")
    runs = [run for case in find_cases(folder) for run in case.runs]
    chosen = [r for r in runs if set(tags) <= set(r.custody.tags) and (owner is None or r.custody.owner == owner)]
    if machine:
        click.echo(json.dumps([_listed(r) for r in chosen], indent=1))
        return ExitCode.AGREED
    for one in chosen:
        c = one.custody
        beside = [one.tier, ",".join(one.engines), c.owner and f"owner {c.owner}", c.tags and f"tags {','.join(c.tags)}",
                  c.timeout and f"timeout {c.timeout:g} s", c.known_failure and f"known failure of {c.known_failure}"]  # fmt: skip
        click.echo(f"{one.name}  {'  '.join(str(b) for b in beside if b)}")
    click.echo(f"{len(chosen)} of {len(runs)} runs")
    return ExitCode.AGREED


def _listed(run: CaseRun) -> dict[str, Json]:
    known = run.custody.known_failure
    return {
        "name": run.name, "file": str(run.case.path), "tier": run.tier, "engines": list(run.engines), "device": run.device,
        "memory": run.memory, "seed": run.seed, "owner": run.custody.owner, "tags": list(run.custody.tags),
        "timeout": run.custody.timeout, "replay": run.replay(Path.cwd()),
        "known_failure": known and {"owner": known.owner, "reason": known.reason, "expires": str(known.expires)},
    }  # fmt: skip


@command.command(
    name="accept",
    epilog='\b\nExample:\n  fleet case accept digits --only hbm_small-fixed-0 --reason "the memory answers later now"',
)
@click.argument("case")
@click.option("--only", help="The id of one run; default: every quick run.")
@click.option("--nightly", is_flag=True, help="The nightly runs too.")
@click.option("--reason", default="", help="Why; kept in the file.")
@click.option("--dry-run", is_flag=True, help="Only show the differences.")
def accept(case: str, only: str | None, nightly: bool, reason: str, dry_run: bool) -> int:
    """Run CASE and store its cycles and the widths of its bounds, to which every later run is held (golden/CASE/norms.toml)."""
    from fleet.cli.running.cosim import TablePrinter
    from fleet.regress.case_runs import accepted_norms
    from fleet.regress.cases import load_case, select
    from fleet.regress.norms import differences, store_norms

    if not dry_run and not reason.strip():
        raise FleetError("norms need a reason", where=case, hint='give one with --reason "...", or look with --dry-run')
    found = load_case(find_case(case))
    runs = [r for r in select(found, only) if only or nightly or r.tier == "quick"]
    if not runs:
        raise ModelError("has no quick run", where=str(found.path), hint="add --nightly, or name one with --only")
    old, new = accepted_norms(found, runs, reason, case_options(TablePrinter(quiet=True)))
    lines = differences(old, new)
    for line in lines:
        click.echo(line)
    if not lines:
        click.echo("no norm changes")
    if dry_run:
        return ExitCode.AGREED
    if lines:
        store_norms(new)
        click.echo(f"wrote {new.path}")
    return ExitCode.AGREED
