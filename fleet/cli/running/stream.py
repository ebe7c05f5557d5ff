"""`fleet stream`: instruction streams without a model, on `iss` and `rtl`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.model import rtl_jobs_option
from fleet.errors import FleetError

if TYPE_CHECKING:
    from fleet.streams.bundle import Bundle
    from fleet.streams.case import Setting, StreamCase, StreamOutcome

REPORTS = Path("reports/streams")


@click.group(name="stream")
def command() -> None:
    """Instruction streams without a model: a case of the conformance suite by name, or a stored one."""


@command.command(
    name="run",
    epilog="\b\nExamples:\n  fleet stream run hbm_small/mvm_bn/random/17 --memory stall:3\n"
    "  fleet stream run reports/streams/hbm_small-mvm_bn-random-17-ideal-regs/stream.json",
)
@click.argument("streams", nargs=-1, required=True, metavar="STREAM...")
@click.option("--memory", "memories", multiple=True, help="ideal, fixed, fixed:<n>, stall, stall:<seed>, ...; may be repeated.")
@click.option(
    "--issue", "issues", multiple=True, type=click.Choice(["regs", "aux", "ahead"]), help="Way of issue; may be repeated."
)
@click.option("--power-on", default=None, type=int, help="Seed of the design's state at power-on.")
@rtl_jobs_option
@click.option("--no-stop", is_flag=True, help="Run to the end, even after the first commit that differs.")
@click.option("--waves", is_flag=True, help="Leave waves (another build of the simulation).")
@click.option(
    "--report",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=REPORTS,
    show_default=True,
    help="Folder for a failing stream.",
)
def run(
    streams: tuple[str, ...],
    memories: tuple[str, ...],
    issues: tuple[str, ...],
    power_on: int | None,
    rtl_jobs: int,
    no_stop: bool,
    waves: bool,
    folder: Path,
) -> int:
    """Run every STREAM (a case's name, or a stored stream.json) and compare every commit and every byte.

    A stored stream runs under the setting that it failed with, unless another is asked for. Exit code 1 when one differs.
    """
    if rtl_jobs > 1 and (no_stop or waves):
        raise FleetError(
            f"{'--no-stop' if no_stop else '--waves'} shows one run, and --rtl-jobs {rtl_jobs} cuts it", where="fleet stream run",
            hint="leave out one of them",
        )  # fmt: skip
    from fleet.streams.case import ISSUES, Setting
    from fleet.streams.run import StreamRunner

    read = [_read(stream, power_on) for stream in streams]
    failed = 0
    for key in dict.fromkeys((r.case.device, r.power_on) for r in read):
        device, seed = key
        workdir = folder / "waves" if waves else None
        flavour = "waves" if waves else "burst"
        with StreamRunner(device, workdir, power_on=seed, flavour=flavour, stop=not no_stop, rtl_jobs=rtl_jobs) as runner:
            for r in read:
                if (r.case.device, r.power_on) == key:
                    ways = issues or (r.setting.issue,)
                    chosen = memories or (r.setting.memory,)
                    settings = [Setting(m, next(w for w in ISSUES if w == i)) for m in chosen for i in ways]
                    for outcome in runner.run(r.case, settings):
                        failed += _told(r, outcome, folder)
    return 1 if failed else 0


@dataclass(frozen=True)
class _Read:
    """The case of a name or path, its setting, and the seed of the state at power-on; bundle: None for a name."""

    stream: str
    case: StreamCase
    setting: Setting
    power_on: int
    bundle: Bundle | None = None


def _read(stream: str, power_on: int | None) -> _Read:
    from fleet.streams.bundle import load_bundle
    from fleet.streams.case import Setting
    from fleet.verify.conformance.suite import is_case_name, make_case

    if is_case_name(stream) and not Path(stream).exists():
        return _Read(stream, make_case(stream), Setting(), power_on or 0)
    bundle, arrays = load_bundle(Path(stream))
    seed = bundle.power_on if power_on is None else power_on
    return _Read(stream, bundle.case(arrays, stream), bundle.setting, seed, bundle)


def _told(read: _Read, outcome: StreamOutcome, folder: Path) -> bool:
    """Print the outcome, store the stream if it failed; return whether it failed."""
    from fleet.streams.bundle import save_bundle
    from fleet.streams.renew import moved

    other = moved(read.bundle, outcome, read.stream) if read.bundle is not None else ""
    passed = outcome.passed and not other
    left = f", {outcome.left_out} instructions left out, which depend on what nothing defined" if outcome.left_out else ""
    extent = f"{len(outcome.expected)} commits, {outcome.bytes_compared:,} bytes written, {outcome.cycles:,} cycles{left}"
    word = click.style("PASS", fg="green", bold=True) if passed else click.style("FAIL", fg="red", bold=True)
    click.echo(f"  {word} {outcome.case.name} {outcome.setting.name}: {extent}")
    if outcome.cut:
        click.echo(f"       {outcome.cut}")
    for reason in (*outcome.reasons, *([other] if other else ())):
        click.echo(f"       {reason}")
    if not outcome.passed:
        path = save_bundle(outcome, folder, power_on=read.power_on)
        click.echo(f"       again: fleet stream run {path}\n       why:   fleet why {path}")
    return not passed


@command.command(name="renew", epilog="\b\nExamples:\n  fleet stream renew sim/bundles/overlapping-rows")
@click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE...", type=click.Path(path_type=Path))
def renew(bundles: tuple[Path, ...]) -> int:
    """Make stored streams and models that are tests again for the installed description: the same instructions on the same memory.

    Each is run, and written only where it does what it expects. Exit code 1 where one does not.
    """
    from fleet.cosim.models.bundle_runs import renew_model_bundle
    from fleet.cosim.models.model_bundle import MODEL
    from fleet.streams.renew import renew_bundle

    failed = 0
    for path in bundles:
        is_model = path.name == MODEL or (path / MODEL).exists()
        wrong = renew_model_bundle(path) if is_model else renew_bundle(path)
        failed += bool(wrong)
        word = click.style("FAIL", fg="red", bold=True) if wrong else click.style("DONE", fg="green", bold=True)
        click.echo(f"  {word} {path}" + (f": {wrong}" if wrong else ""))
    return 1 if failed else 0
