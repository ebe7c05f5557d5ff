"""`fleet report`: writes the pages again from a stored result, or runs the recorded request again."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import click

from fleet.adopt.record import RECORD as REPLAY
from fleet.adopt.record import ReplayRecord
from fleet.cli.request import again
from fleet.cosim.run_request import RunRequest
from fleet.errors import FleetError, ModelError

STREAM = "stream.json"
_EPILOG = """\b
Examples:
  fleet report reports/digits --since reports/yesterday --report /tmp/again
  fleet report --last                             (of a run without --report: pages in reports/last)
  fleet report reports/digits --rerun             (runs what made it again, and puts result and pages in its place)
  fleet report reports/streams/NAME --rerun       (a stored stream: runs it under the setting that it failed with)
  fleet report WORKSPACE/runs/TEST --rerun        (a replay of an adopted design: plays the test again)
"""


@click.command(name="report", epilog=_EPILOG)
@click.argument("result", type=click.Path(path_type=Path), required=False)
@click.option("--last", is_flag=True, help="The last run in this folder, also one without --report.")
@click.option("--report", "out", type=click.Path(path_type=Path, file_okay=False), help="Folder for the pages (default: RESULT).")
@click.option("--since", type=click.Path(path_type=Path), help="An earlier result to say what changed since.")
@click.option("--rerun", is_flag=True, help="Run again what made the result, from the request that it holds.")
@click.option("--json", "machine", is_flag=True, help="Where the pages are, as JSON; with --rerun what the run itself prints.")
def command(result: Path | None, last: bool, out: Path | None, since: Path | None, rerun: bool, machine: bool) -> int:
    """Make the pages again from RESULT (a report's folder, its result.json or generation.json). Runs nothing without --rerun."""
    from fleet.cosim.last_run import kept
    from fleet.report.run.page import write_report

    if (result is None) != last:
        raise FleetError("needs RESULT or --last, and not both", where="fleet report", hint="for instance `fleet report --last`")
    if result is None:
        result, out = kept(), out or Path("reports/last")
    if (stream := _named(result, STREAM)) is not None:  # its own setting is the request
        if not rerun or machine or since is not None or out is not None:
            raise ModelError("a stored stream has no page", where=str(stream), hint=f"`fleet stream run {stream}` or --rerun alone")
        return again(RunRequest("fleet", ("stream", "run", str(stream))))
    if (replay := _named(result, REPLAY)) is not None:
        if not rerun or machine or since is not None or out is not None:
            raise ModelError("a stored replay has no page", where=str(replay), hint=f"`fleet why {replay.parent}` or --rerun alone")
        return again(RunRequest("fleet", ReplayRecord.load(replay).arguments))
    folder = out or (result if result.is_dir() else result.parent)
    if rerun:
        request = _request(result)
        told = [b for a, b in pairwise(request.arguments) if a == "--report"]
        more = [] if told[-1:] == [str(folder)] else ["--report", str(folder)]  # do not repeat the option
        more += ["--since", str(since)] if since is not None else []
        return again(request, [*more, *(["--json"] if machine else [])])
    generation = result / "generation.json" if result.is_dir() else result
    if generation.name == "generation.json" and generation.exists() and not (result / "result.json").exists():
        from fleet.report.run.generation import write_generation

        page = write_generation(generation, folder)
    else:
        page = write_report(result, folder, since).html
    click.echo(json.dumps({"report": str(page)}, indent=1) if machine else f"report: {page}")
    return 0


def _named(path: Path, name: str) -> Path | None:
    """Return the file of that name that a result is, or has in its folder; None if it is something else."""
    file = path / name if path.is_dir() else path
    return file if file.name == name and file.exists() else None


def _request(path: Path) -> RunRequest:
    """Return the request of a stored result. Raises ModelError if it has none, or one that is not a command of fleet."""
    from fleet.cosim.generation import FILE, GenerationResult
    from fleet.cosim.result import CosimResult

    of_model = path.name == FILE or (path.is_dir() and (path / FILE).exists() and not (path / "result.json").exists())
    request = GenerationResult.load(path).identity.request if of_model else CosimResult.load(path).identity.request
    if request is None or request.program != "fleet":
        raise ModelError("the result does not say how it was made", where=str(path), hint="run the command that made it again")
    return request
