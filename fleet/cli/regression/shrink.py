"""`fleet shrink`: reduces a failure, prints the rest, and stores it as a bundle that is a test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.grammar import Duration

if TYPE_CHECKING:
    from fleet.streams.case import Issue, Setting, StreamCase
    from fleet.verify.shrink.stream import Shrunk

OUT = Path("reports/shrunk")


@click.command(
    name="shrink",
    epilog="\b\nExamples:\n  fleet shrink\n  fleet shrink reports/fuzz/hbm_small-program-7-ideal-regs\n"
    "  fleet shrink hbm_small/program/7 --memory stall:3 --issue aux\n  fleet shrink reports/mine/result.json --budget 5m",
)
@click.argument("what", required=False)
@click.option(
    "--memory", default=None, help="Memory model of a stream: ideal, fixed:<n>, stall:<seed>, ... Default: the one it failed with."
)
@click.option("--issue", default=None, type=click.Choice(["regs", "aux", "ahead"]), help="Way of issue of a stream.")
@click.option("--power-on", default=None, type=int, help="Seed of the design's state at power-on, for a stream.")
@click.option(
    "--budget",
    "seconds",
    type=Duration(),
    default="120s",
    show_default=True,
    help="Time (90s, 5m); the best so far is kept when it is over.",
)
@click.option(
    "--report",
    "out",
    type=click.Path(path_type=Path, file_okay=False),
    default=OUT,
    show_default=True,
    help="Folder for the bundle.",
)
@click.option(
    "--reports", type=click.Path(path_type=Path), default=Path("reports"), show_default=True, help="Folder of stored results."
)
@click.option(
    "--expect", type=click.Choice(["passes", "diverges"]), default="passes", show_default=True,
    help="Result that the bundle expects as a test: the fault is mended, or it is found.",
)  # fmt: skip
def command(
    what: str | None, memory: str | None, issue: str | None, power_on: int | None, seconds: float, out: Path, reports: Path,
    expect: str,
) -> int:  # fmt: skip
    """Reduce a failure while it fails in the same way: WHAT is a stored stream, a stream's name, a stored result of a model, or a
    case (its name or file: the last stored result of it); without it, the last failure (as `fleet why` finds it).

    Exit code 1: it fails, and what is left of it stands in --report. 2: bad input, or it does not fail.
    """
    source = _source(what, reports)
    if isinstance(source, Path) and source.name == "result.json":
        from fleet.cli.regression.shrink_model import shrink_result

        return shrink_result(source, seconds, out, expect)
    case, setting, seed, name = _stream(source)
    if memory is not None or issue is not None:
        setting = replace(setting, memory=memory or setting.memory, issue=_issue(issue, setting.issue))
    return _shrink(case, setting, seed if power_on is None else power_on, seconds, out, expect, name)


def _issue(name: str | None, default: Issue) -> Issue:
    """Return the way of issue with that name, or the default."""
    from fleet.streams.case import ISSUES

    return default if name is None else next(i for i in ISSUES if str(i) == name)


def _source(what: str | None, reports: Path) -> Path | str:
    """Return a stored file, or the name of a stream of the suite."""
    from fleet.regress.cases import load_case
    from fleet.report.run.why import find_failure
    from fleet.verify.conformance.suite import is_case_name

    if what is not None and is_case_name(what) and not Path(what).exists():
        return what
    if what is not None and what.endswith(".toml") and Path(what).exists():
        what = load_case(Path(what)).name
    return find_failure(what, reports).path


def _stream(source: Path | str) -> tuple[StreamCase, Setting, int, str]:
    """Return the stream, its setting, the seed of the state at power-on, and its name for a command."""
    from fleet.streams.bundle import load_bundle
    from fleet.streams.case import Setting
    from fleet.verify.conformance.suite import make_case

    if isinstance(source, str):
        return make_case(source), Setting(), 0, source
    bundle, arrays = load_bundle(source)
    return bundle.case(arrays, str(source)), bundle.setting, bundle.power_on, str(source)


def _shrink(case: StreamCase, setting: Setting, power_on: int, seconds: float, out: Path, expect: str, name: str) -> int:
    from fleet.cli.progress import ProgressLine
    from fleet.core.files import check_writable
    from fleet.streams.bundle import save_bundle
    from fleet.verify.shrink.stream import shrink_stream

    check_writable(out)
    with ProgressLine("shrink") as progress:
        found = shrink_stream(case, setting, power_on=power_on, seconds=seconds, progress=progress)
    made_by = f"fleet shrink {name} --memory {setting.memory} --issue {setting.issue} --power-on {power_on}"
    small = replace(found.outcome, case=replace(found.outcome.case, name=f"{case.name}-shrunk", replay=made_by))
    story = f"{found.before.instructions} instructions of {case.name} under {setting.name}, shrunk; {found.signature}"
    path = save_bundle(small, out, power_on=found.power_on, expect="diverges" if expect == "diverges" else "passes", story=story)
    _tell(found, case, setting)
    click.echo(f"\nstored in {path}")
    click.echo(f"  again:   fleet stream run {path}\n  why:     fleet why {path}")
    click.echo(f"  a test:  move the folder {path.parent} below sim/bundles: `pytest sim/` then expects that it {expect}")
    return 1


def _tell(found: Shrunk, case: StreamCase, setting: Setting) -> None:
    """Print what was removed and what is left."""
    from fleet.isa.codec import disassemble
    from fleet.isa.registry import find_device

    before, after = found.before, found.after
    click.echo(f"{case.name} {setting.name}: {found.signature}")
    click.echo(f"  instructions  {before.instructions} -> {after.instructions}")
    click.echo(f"  memory        {before.bytes:,} -> {after.bytes:,} bytes that are not 0")
    click.echo(f"  setting       {setting.name} -> {found.outcome.setting.name}")
    rest = "nothing more can be taken away" if found.finished else "time was over; a larger --budget may take more away"
    click.echo(f"  {found.ran} attempts in {found.seconds:.1f} s, {found.again} known, {found.refused} not well-formed; {rest}\n")
    instruction_set, _ = find_device(case.device)
    for origin, call in zip(found.origins, found.outcome.case.calls, strict=True):
        click.echo(f"  {origin:4}  {disassemble(instruction_set, call)}")
    for b in found.outcome.case.blocks:
        port = f" port {b.bank}" if b.space == "hbm" else ""
        click.echo(f"        memory {b.space}{port} {b.offset:#x}: {b.data.size:,} bytes, {int((b.data != 0).sum()):,} not 0")
    for reason in found.outcome.reasons:
        click.echo(f"  {reason}")
