"""`fleet sweep`: what each choice of a device's parameters would cost and keep, and which choices are worth building."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.model import data_options, onnx_options
from fleet.cli.progress import ProgressLine
from fleet.cli.request import own_request
from fleet.errors import DeviceError, FleetError

if TYPE_CHECKING:
    from fleet.sweep.records import SweepOutcome, SweptPoint
    from fleet.sweep.subject import SubjectRequest

_EPILOG = """\b
Examples:
  fleet sweep examples/digits/model.py:forward --weights examples/digits/weights.npz \\
      --input examples/digits/test.npz --labels examples/digits/labels.npz --device hbm_small \\
      --over Tin=64,128 group=32,64,128 memory=ideal,timed --rtl best:3
  fleet sweep model.onnx --device DEVICE --over Block=4,8,16 InpDepth=256,1024
  fleet sweep tiny --device hbm_small --over group=32,64,128 SfuInterval=1,2 --jobs 4
  fleet sweep model.py:forward --device hbm_small --over Tin=64,128 --executor dask --cluster slurm.toml

An axis is a hardware parameter that the device file declares, a compile option, or memory. The figures of a point are kept by its
content: a sweep that was killed goes on where it was, with the same command. What each figure is: fleet help sweep.

Exit codes: 0 all points were measured, and those in RTL agree in every bit; 1 something differs; 2 bad input, or a value that the
hardware cannot have; 4 some points have no figures; 130 interrupted.
"""


@click.command(name="sweep", epilog=_EPILOG)
@click.argument("model")
@click.argument("more", nargs=-1, metavar="[NAME=VALUES]...")
@onnx_options
@data_options
@click.option("--labels", type=click.Path(path_type=Path), help="One integer a row (.npz with one array).")
@click.option("--over", multiple=True, metavar="NAME=VALUES", help="An axis and its values: Tin=64,128. More may follow it.")
@click.option("--device", help="The device whose variants are the points (default: the best one that `fleet inspect` names).")
@click.option("--rtl", metavar="best:N", help="Build and run the best N points in RTL, and say how far the model was off.")
@click.option("--behind", type=click.IntRange(min=0), default=40, show_default=True,
              help="Language models: cached tokens before the token that is timed.")  # fmt: skip
@click.option(
    "--positions", type=click.IntRange(min=2), default=128, show_default=True, help="Language models: slots of the cache."
)
@click.option("--tokens", type=click.IntRange(min=2), default=64, show_default=True,
              help="Language models: tokens of the bundled text for perplexity.")  # fmt: skip
@click.option("--rounding", type=click.Choice(["absmax", "search", "weighted", "compensated", "corrected"]),
              help="Language models: how weights are rounded (default: corrected).")  # fmt: skip
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1, 256), help="Processes of --executor local.")
@click.option(
    "--executor", type=click.Choice(["local", "dask"]), default="local", show_default=True,
    help="Processes of this machine, or workers of a cluster, as for `fleet night run`.",
)  # fmt: skip
@click.option("--cluster", type=click.Path(path_type=Path, dir_okay=False), help="Where the workers of --executor dask run (TOML).")
@click.option("--report", "folder", type=click.Path(path_type=Path, file_okay=False), default=Path("reports/sweep"),
              show_default=True, help="Write page, points.csv and sweep.json here.")  # fmt: skip
@click.option("--json", "machine", is_flag=True, help="The content of sweep.json on standard output, nothing else.")
def command(
    model: str,
    more: Sequence[str],
    weights: Path | None,
    input_path: Path | None,
    seed: int,
    batch: int | None,
    labels: Path | None,
    over: Sequence[str],
    device: str | None,
    rtl: str | None,
    behind: int,
    positions: int,
    tokens: int,
    rounding: str | None,
    jobs: int,
    executor: str,
    cluster: Path | None,
    folder: Path,
    machine: bool,
) -> int:
    """Measure MODEL at every combination of values, by the cost model and the functional model, and find the Pareto front.

    MODEL is a program (path.py:function, ONNX) or a language model (smollm2, tiny, a .gguf file, a folder).
    """
    from fleet.core.codec import encode_record
    from fleet.core.files import check_writable
    from fleet.llm.load import is_language_model
    from fleet.report.regression.sweep import FORM, write_sweep
    from fleet.sweep.campaign import SweepRequest, sweep
    from fleet.sweep.session import Executor
    from fleet.sweep.subject import SubjectRequest

    if executor == "dask" and jobs > 1:
        raise click.UsageError("--jobs is for --executor local; the cluster's file says how many workers there are")
    if executor == "local" and cluster is not None:
        raise click.UsageError("--cluster is for --executor dask")
    files = tuple(None if p is None else str(p) for p in (weights, input_path, labels))
    subject = SubjectRequest(
        model, *files, seed=seed, batch=batch, language=is_language_model(model), positions=positions, behind=behind, tokens=tokens,
        rounding=rounding or "",
    )  # fmt: skip
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    where = Executor(executor, jobs, None if cluster is None else cluster.absolute())
    request = SweepRequest(
        subject, device or _best_device(subject), (*over, *more), _count(rtl), where, date, own_request()
    )  # fmt: skip
    check_writable(folder)
    with ProgressLine("sweep", enabled=not machine) as line:
        outcome, code = sweep(request, line)
    page = write_sweep(outcome, folder)
    if machine:
        click.echo(json.dumps({"form": FORM, **encode_record(outcome)}, indent=1))
        return code
    for said in _told(outcome):
        click.echo(said)
    click.echo(f"report: {page}")
    return code


def _count(rtl: str | None) -> int:
    if rtl is None:
        return 0
    found = re.fullmatch(r"best:([1-9]\d{0,3})", rtl)
    if found is None:
        raise FleetError(f"'{rtl}' is no choice of points", where="--rtl", hint="give best:3 for the best three points")
    return int(found[1])


def _best_device(subject: SubjectRequest) -> str:
    """Return the device that `fleet inspect` would start with."""
    from fleet.compiler.inspection import inspect_program
    from fleet.sweep.plan import subject_of
    from fleet.sweep.program import ProgramSubject

    found = subject_of(subject)
    best = inspect_program(found.program).best if isinstance(found, ProgramSubject) else None
    if best is None:
        raise DeviceError("no device was named", where="--device", hint="fleet devices lists them")
    return best.device


def _told(outcome: SweepOutcome) -> list[str]:
    """Return what the terminal shows: the front, the points in RTL, the verdict."""
    refused = len(outcome.points) - len(outcome.runnable)
    kept = f", {outcome.kept:,} of them kept from earlier" if outcome.kept else ""
    lines = [f"{outcome.model} on {outcome.device} ({outcome.scope}): {_counted(len(outcome.points), 'point')}{kept}"]
    if outcome.left_out:
        lines.append(f"{_counted(len(outcome.left_out), 'combination')} left out: {outcome.left_out[0].rule}")
    if refused:
        why = next(p.refused for p in outcome.points if p.refused)
        lines.append(f"{_counted(refused, 'point')} without figures: {why}")
    lines.append(f"the front by {', '.join(outcome.objectives)}:")
    width = max((len(p.point.label) for p in outcome.points), default=0)
    front = sorted((p for p in outcome.runnable if p.front), key=lambda p: p.model.microseconds if p.model else 0.0)
    lines += [f"  {p.point.label:{width}} {_figures(p)}" for p in front[:20]]
    if len(front) > 20:
        lines.append(f"  and {len(front) - 20} more")
    for p in outcome.points:
        if p.hardware is not None:
            h = p.hardware
            lines.append(
                f"rtl: {p.point.label}: {h.verdict}, {h.instruction_cycles:,} cycles in instructions, estimated {h.estimate:,.0f} "
                f"({100 * h.off:+.2f} %); whole run {h.cycles:,}"
            )
    lines += [f"  {reason}" for reason in outcome.reasons[:10]]
    lines.append(f"verdict: {outcome.verdict.upper()}")
    return lines


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _figures(p: SweptPoint) -> str:
    m = p.model
    assert m is not None
    words = [f"{m.cycles:>12,.0f} cycles", f"{m.microseconds:>9,.1f} us"]
    words += [f"{q.name} {q.value:.2f}{' ' + q.unit if q.unit else ''}" for q in (m.quality.figures if m.quality else ())]
    words += [f"{m.microjoules:,.1f} uJ"] if m.energy else []
    words += [f"{count:,.0f} {kind}" for kind, count in list(m.cells.items())[:1]]
    return ", ".join(words)
