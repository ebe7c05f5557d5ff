"""`fleet night`: history, gates, pages and comparisons of the regression's nights."""

from __future__ import annotations

import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.grammar import Duration
from fleet.core.exemption import Exemption
from fleet.errors import ExitCode, ModelError
from fleet.regress.night_records import BESIDE, NightRecord, latest, nights, read_night

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fleet.night.collect import JudgedNight
    from fleet.night.status import NightStatus

REPORTS = Path("reports/sim")
BASELINES = Path("sim/baselines.toml")

_DIR = click.option(
    "--dir", "folder", type=click.Path(path_type=Path, file_okay=False), default=REPORTS, show_default=True,
    help="Folder in which `pytest sim/` writes its report (its --fleet-report).",
)  # fmt: skip
_BASELINES = click.option(
    "--baselines", type=click.Path(path_type=Path, dir_okay=False), default=BASELINES, show_default=True, help="Accepted figures."
)
_NIGHT = click.option("--night", help="Id of a night, or a prefix of it; default: the last night.")


class Age(click.ParamType):
    """An age such as "12h", "14d" or "2w", converted to seconds."""

    name = "age"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The age in seconds. Fails with a usage error if it is not a number with h, d or w."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([hdw])", str(value).strip().lower())
        if found is None:
            self.fail(f"{value!s:.40} is not an age: give 12h, 14d or 2w", param, ctx)
        return float(found[1]) * {"h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}[found[2]]


def _chosen(folder: Path, night: str | None) -> Path:
    """Return the folder of a night: by id, by a prefix of it, or the last night if None. Raises ModelError if no night matches."""
    below = folder / "night"
    if night is None:
        return latest(below)
    found = [p for p in nights(below) if p.name.startswith(night)]
    if not found:
        known = ", ".join(p.name for p in nights(below)[-3:]) or "none"
        raise ModelError("no records of this night", where=night, hint=f"nights are {known}")
    return found[-1]


def judge(folder: Path, night: str | None, baselines: Path) -> JudgedNight:
    """Collect a night and write its page, JSON, JUnit and summary."""
    from fleet.night.collect import collect
    from fleet.report.regression.night import write_night

    judged = collect(folder / "night", _chosen(folder, night), baselines)
    write_night(judged, folder / "night")
    return judged


@click.group(name="night")
def command() -> None:
    """Nights: results of `pytest sim/`, compared with earlier nights (`fleet help nights`)."""


@command.command(
    name="collect", epilog="\b\nExamples:\n  fleet night collect\n  fleet night collect --dir /shared/reports --night 20260131"
)
@_DIR
@_NIGHT
@_BASELINES
def collect(folder: Path, night: str | None, baselines: Path) -> int:
    """Compare a night with earlier nights, add it to the history, and write page, JSON, JUnit and summary (DIR/night).

    A night can be collected while it runs, after it was killed, and again. Exit code 1 if a test fails or a figure moved, 4 if only
    some tests did not run.
    """
    judged = judge(folder, night, baselines)
    click.echo(judged.headline)
    for said in judged.reading.said:
        click.echo(said)
    for cause in judged.causes[:10]:
        click.echo(f"  {cause.state}: {cause.signature} ({len(cause.records)}); replay: {cause.first.replay}")
    for move in judged.red[:20]:
        click.echo(f"  {move}")
    if len(judged.red) > 20:
        click.echo(f"  and {len(judged.red) - 20} more figures")
    click.echo(f"page: {folder / 'night' / 'index.html'}")
    return judged.exit_code


@command.command(name="list", epilog="\b\nExample:\n  fleet night list")
@_DIR
@click.option("--count", default=20, show_default=True, type=click.IntRange(1), help="Number of nights.")
def list_(folder: Path, count: int) -> int:
    """List the nights of the history: id, revision, tests that ran and failed, figures that moved."""
    from fleet.night import history as h

    with h.NightHistory(folder / "night" / h.FILE) as store:
        for n in store.nights()[-count:]:
            ran = f"{n.finished:>7,} of {n.planned:,} ran{' partial' if n.partial else ''}"
            click.echo(f"{n.id}  {n.revision[:10] or '-':10}  {ran}, {n.failed:,} failed, {n.red:,} moved")
    return ExitCode.AGREED


@command.command(name="page", epilog="\b\nExample:\n  fleet night page 'digits[hbm_small-fixed-0]' --report reports/digits")
@click.argument("key")
@_DIR
@_NIGHT
@click.option("--report", "out", type=click.Path(path_type=Path, file_okay=False), help="Default: DIR/runs/KEY.")
def page(key: str, folder: Path, night: str | None, out: Path | None) -> int:
    """Write the page of a run from its stored result."""
    from fleet.cosim.result import CosimResult
    from fleet.report.run.page import write_report

    reading = read_night(_chosen(folder, night))
    record = _record(reading.records, key)
    if record.result is None or not Path(record.result).is_file():
        raise ModelError("has no stored result", where=key, hint=f"run it again: {record.replay}")
    where = out or folder / "runs" / re.sub(r"[^A-Za-z0-9_-]+", "-", key).strip("-")[:80]
    files = write_report(Path(record.result), where)
    if (made := CosimResult.load(Path(record.result)).identity.date) > max(record.at, reading.until):
        click.echo(f"fleet: the result is of {made}, after this night", err=True)
    click.echo(f"report: {files.html}")
    return ExitCode.AGREED


def _record(records: Sequence[NightRecord], key: str) -> NightRecord:
    found = next((r for r in records if r.key == key), None)
    if found is None:
        near = get_close_matches(key, [r.key for r in records], 3) or [r.key for r in records][:3]
        raise ModelError("no run of this key in the night", where=key, hint=f"keys are {', '.join(near)} ...")
    return found


def _is_of(figure: str, metric: str) -> bool:
    """Return True if a figure belongs to a metric: "cycles rtl" to "cycles"."""
    return figure == metric or figure.startswith(f"{metric} ")


@command.command(
    name="accept",
    epilog="\b\nExample:\n  fleet night accept 'digits[hbm_small-fixed-0]' --metric cycles \\\n"
    "      --reason 'the memory answers later' --owner ada",
)
@click.argument("key")
@click.option(
    "--metric",
    required=True,
    help="cycles, 'mean cycles', 'drift cycles', accuracy, sqnr, over or coverage; or a whole figure, 'cycles rtl'.",
)
@click.option("--reason", default="", help="Why; kept in the file.")
@click.option("--owner", default="", help="Who is responsible for it.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="The last day; default: for good.")
@click.option(
    "--first",
    is_flag=True,
    help="Exact cycles that did not move and have no accepted figure yet, for a checkout without a history.",
)
@_DIR
@_NIGHT
@_BASELINES
def accept(
    key: str, metric: str, reason: str, owner: str, until: datetime.datetime | None, first: bool, folder: Path, night: str | None,
    baselines: Path,
) -> int:  # fmt: skip
    """Accept a moved figure of KEY (a run, or a group of phases): later nights are compared with it.

    KEY may contain `*`: 'digits[hbm_small-fixed-*]'.
    """
    from fleet.night.baselines import Accepted, load_baselines
    from fleet.night.baselines import accept as store
    from fleet.night.gates import exact_cycles

    exemption = Exemption(owner, reason, None if until is None else until.date(), place="--owner, --reason")
    judged = judge(folder, night, baselines)
    plain = re.compile(translate(key.replace("[", "[[]")))
    mine = [m for m in judged.moves if m.key == key or plain.fullmatch(m.key)]
    chosen = [m for m in mine if m.state != "warning" and _is_of(m.figure, metric)]
    made = [Accepted(m.key, m.figure, m.after, m.before, judged.night.id, exemption) for m in chosen]
    if first:
        held = {*load_baselines(baselines), *((m.key, m.figure) for m in judged.moves)}
        made += [
            Accepted(record.key, figure, value, None, judged.night.id, exemption)
            for record in judged.records
            if record.key == key or plain.fullmatch(record.key)
            for figure, value in exact_cycles(record).items()
            if (record.key, figure) not in held and _is_of(figure, metric)
        ]
        if not made:
            raise ModelError(
                f"no {metric} of it is new in night {judged.night.id}", where=key,
                hint="first figures are the cycles of passing runs with memory ideal or fixed that the file does not have",
            )  # fmt: skip
    elif not chosen:
        moved = ", ".join(sorted({m.figure for m in mine})) or "nothing"
        raise ModelError(f"no {metric} of it moved in night {judged.night.id}", where=key, hint=f"what moved of it: {moved}")
    store(baselines, made)
    for one in made:
        before = "" if one.before is None else f"{one.before:,.6g} -> "
        click.echo(f"accepted {one.figure} of {one.key}: {before}{one.value:,.6g}")
    click.echo(f"wrote {baselines}")
    judge(folder, night, baselines)
    return ExitCode.AGREED


@command.command(
    name="compare", epilog="\b\nExamples:\n  fleet night compare last~1 last\n  fleet night compare main my-branch -o comment.md"
)
@click.argument("before")
@click.argument("after")
@_DIR
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the Markdown to this file.")
@click.option("--json", "machine", is_flag=True, help="Everything as JSON.")
def compare(before: str, after: str, folder: Path, output: Path | None, machine: bool) -> int:
    """Compare two nights ("last", "last~1", an id), branches, revisions or folders of reports, as Markdown.

    Exit code 1 if a run newly fails, did not run, takes more cycles or is less accurate.
    """
    from fleet.core.files import write_atomically
    from fleet.night.compare import compare as compared
    from fleet.night.compare import find_side

    found = compared(find_side(before, folder / "night"), find_side(after, folder / "night"))
    if output is not None:
        write_atomically(output, found.markdown().encode())
    if machine:
        click.echo(json.dumps(found.to_json(), indent=1, allow_nan=False))
    elif output is None:
        click.echo(found.markdown(), nl=False)
    else:
        click.echo(f"wrote {output}")
    return ExitCode.DIFFERS if found.worse else ExitCode.AGREED


@command.command(name="bisect", epilog="\b\nExample:\n  fleet night bisect 'digits[hbm_small-fixed-0]' --metric cycles")
@click.argument("key")
@click.option("--metric", help="Find where this figure moved (cycles, over, 'cycles rtl'); default: where the run began to fail.")
@click.option("--good", help="A good revision; default: of the last good night.")
@click.option("--bad", help="A bad revision; default: of the first bad night.")
@_DIR
def bisect(key: str, metric: str | None, good: str | None, bad: str | None, folder: Path) -> int:
    """Find the commit since which KEY fails, or since which a figure of it moved.

    Each commit runs in its own worktree; a commit that cannot be built or run is skipped.
    """
    from fleet.night.bisect import bisect as halved
    from fleet.night.bisect import commits_between, probe_in_worktrees
    from fleet.night.suspects import between

    place = between(folder / "night", key, metric)
    commits = commits_between(good or place.good, bad or place.bad, Path.cwd())
    click.echo(f"{len(commits)} commits, {place.said}")
    found = halved(commits, probe_in_worktrees(place.request, Path.cwd(), place.metric, click.echo))
    from fleet.night.revisions import commits as told

    for commit in found.culprits:
        words = next((str(c) for c in told(f"{commit}~1", commit)), commit)
        click.echo(f"{'first bad commit' if len(found.culprits) == 1 else 'one of these is the first bad commit'}: {words}")
    return ExitCode.AGREED if len(found.culprits) == 1 else ExitCode.INCOMPLETE


@command.command(name="rerun", epilog="\b\nExample:\n  fleet night rerun --failed")
@click.option("--failed", is_flag=True, help="Tests that failed.")
@click.option("--missing", is_flag=True, help="Planned tests that did not run or did not end.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 256), help="Processes.")
@_DIR
@_NIGHT
@_BASELINES
def rerun(failed: bool, missing: bool, jobs: int, folder: Path, night: str | None, baselines: Path) -> int:
    """Run tests of a night again and add the results. A run that failed and now passes with the same content is flaky, and red."""
    if not failed and not missing:
        raise click.UsageError("give --failed, --missing or both")
    where = _chosen(folder, night)
    reading = read_night(where)
    tests = [r for r in reading.records if r.kind not in BESIDE]
    nodes = [r.node for r in tests if (failed and r.failed) or (missing and r.not_run)]
    nodes += list(reading.missing) if missing else []
    if not nodes:
        click.echo("nothing to run again")
        return judge(folder, where.name, baselines).exit_code
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nightly",
        "--night",
        where.name,
        "--fleet-report",
        str(folder),
        "-n",
        str(jobs),
    ]
    click.echo(f"{len(nodes)} again: {shlex.join(nodes[:3])}{' ...' if len(nodes) > 3 else ''}")
    done = subprocess.run([*command, *nodes], check=False)
    if done.returncode >= 128:
        return ExitCode(done.returncode)
    judged = judge(folder, where.name, baselines)
    click.echo(judged.headline)
    return judged.exit_code


@command.command(
    name="run",
    epilog="\b\nExamples:\n  fleet night run\n  fleet night run --executor dask --cluster slurm.toml\n"
    "  fleet night run --budget 8h sim/ -- -k digits",
)
@click.argument("arguments", nargs=-1)
@click.option(
    "--executor", type=click.Choice(["local", "dask"]), default="local", show_default=True,
    help="Processes of this machine, or workers of a cluster.",
)  # fmt: skip
@click.option(
    "--cluster", type=click.Path(path_type=Path, dir_okay=False), help="Description of the workers of --executor dask (TOML)."
)
@click.option("--budget", type=Duration(), help="A time such as 8h: what failed, then what changed, then the longest not run.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 256), help="Processes of --executor local.")
@_DIR
def run(arguments: Sequence[str], executor: str, cluster: Path | None, budget: float | None, jobs: int, folder: Path) -> int:
    """Run a night: `pytest --nightly` on ARGUMENTS (default: sim/). The same command resumes an interrupted night."""
    if executor == "dask" and jobs > 1:
        raise click.UsageError("--jobs is for --executor local; the cluster's file says how many workers there are")
    given = list(arguments) if any(not word.startswith("-") for word in arguments) else ["sim/", *arguments]
    options = ["-n", str(jobs)] if jobs > 1 else []
    options += ["--executor", executor, *(["--cluster", str(cluster)] if cluster is not None else [])]
    options += ["--budget", f"{budget:.3f}s"] if budget is not None else []
    return _become_pytest(["-q", "--nightly", "--fleet-report", str(folder), *options, *given])


def _become_pytest(arguments: Sequence[str]) -> int:
    """Replace this process by pytest, so that a signal to the command reaches it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *arguments])


@command.command(name="status", epilog="\b\nExamples:\n  fleet night status\n  fleet night status --watch")
@_DIR
@_NIGHT
@click.option("--watch", is_flag=True, help="Refresh every two seconds until the night ends.")
def status(folder: Path, night: str | None, watch: bool) -> int:
    """Show how far a night is, what runs now and for how long, and what befell workers and nodes. Only the records are read."""
    from rich.console import Console
    from rich.live import Live

    console = Console(soft_wrap=True)
    now = _status(folder, night)
    if not watch:
        console.print(_shown(now, 30))
        return ExitCode.AGREED
    with Live(_shown(now, console.height - 8), console=console, auto_refresh=False) as live:
        while not now.over:
            time.sleep(2)
            now = _status(folder, night)
            live.update(_shown(now, console.height - 8), refresh=True)
    return ExitCode.AGREED


def _status(folder: Path, night: str | None) -> NightStatus:
    from fleet.night import history as h
    from fleet.night.status import status_of

    file = folder / "night" / h.FILE
    times: dict[str, float] = {}
    if file.exists():
        with h.NightHistory(file) as store:
            times = {node: last.seconds for node, last in store.last_runs().items()}
    return status_of(read_night(_chosen(folder, night)), times, datetime.datetime.now(datetime.UTC))


def _shown(now: NightStatus, lines: int) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = [Text(now.headline)]
    if now.dashboard:
        parts.append(Text(f"Dask's own page: {now.dashboard}"))
    if now.running:
        table = Table("runs now", "for", "last time", box=None, padding=(0, 2, 0, 0))
        for r in now.running[: max(3, lines)]:
            table.add_row(Text(r.node), f"{r.seconds:,.0f} s", "" if r.usual is None else f"{r.usual:,.0f} s")
        parts.append(table)
        if (more := len(now.running) - max(3, lines)) > 0:
            parts.append(Text(f"and {more:,} more"))
    parts += [Text(f"{note.at[11:19]} {note.kind}: {note.text}") for note in now.notes[-5:]]
    return Group(*parts)


@command.command(name="resume", epilog="\b\nExample:\n  fleet night resume")
@_DIR
def resume(folder: Path) -> int:
    """Resume the last night where it was interrupted, with the command that began it. No finished test runs again."""
    last = read_night(latest(folder / "night"))
    words = last.sessions[-1].arguments
    if words is None:
        raise ModelError("its records do not say what began it", where=last.id, hint="begin a new night: fleet night run")
    return _become_pytest([*(word for word in words if word != "--resume"), "--resume"])


@command.command(name="export", epilog="\b\nExample:\n  fleet night export reports/parquet")
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@_DIR
def export(out: Path, folder: Path) -> int:
    """Write the history as Parquet into OUT: nights.parquet, runs.parquet and figures.parquet."""
    from fleet.night import history as h
    from fleet.night.export import export as written

    for path in written(folder / "night" / h.FILE, out):
        click.echo(f"wrote {path}")
    return ExitCode.AGREED


@command.command(name="gc", epilog="\b\nExample:\n  fleet night gc --keep 14d --keep-failing 90d")
@_DIR
@click.option("--keep", default="14d", show_default=True, type=Age(), help="Age at which records of good nights are removed.")
@click.option(
    "--keep-failing", default="90d", show_default=True, type=Age(), help="Age at which records of other nights are removed."
)
@click.option("--dry-run", is_flag=True, help="Only list what would be removed.")
def gc(folder: Path, keep: float, keep_failing: float, dry_run: bool) -> int:
    """Remove the records of old nights. The history keeps their figures. Nights that were never collected are kept."""
    from fleet.night.keep import collect_garbage

    found = collect_garbage(folder / "night", datetime.datetime.now(datetime.UTC), keep, keep_failing, dry_run=dry_run)
    for name in found.nights:
        click.echo(f"{'would remove' if dry_run else 'removed'} {name}")
    for said in found.kept:
        click.echo(f"kept {said}")
    click.echo(f"{len(found.nights)} nights, {found.bytes:,} bytes")
    return ExitCode.AGREED
