"""What a run in legs costs: `python benchmarks/legs.py [--layers N] [--tokens N] [--jobs N] [--pairs N]`

A prompt of SmolLM2-135M's shape on hbm0923 (random weights: time does not depend on them), in Aux mode on ideal memory, as one run
and in legs. Both are compared with the functional model at every commit; every pair runs right after the other.

    processor   time of the simulations and their Python alone, user and system, of all processes
    whole       that, and what the command itself takes: the functional model, memory, comparison; in legs the model runs twice
    wall        as the clock says; means something on an idle machine
    differ      instructions whose cycles in legs are not those of the one run
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "transformer_block"))

from block import SHORTEST, build
from run import stream_case
from shapes import SMOLLM2

from fleet.streams.case import Setting, StreamCase, StreamCommit
from fleet.streams.run import StreamRunner

DEVICE = "hbm0923"


def _seconds(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _run(case: StreamCase, device: str, jobs: int, memory: str) -> tuple[Sequence[StreamCommit], str, list[float]]:
    """Commits, where it was cut, and processor, whole and wall seconds. Raises SystemExit where a bit is wrong."""
    before = _seconds(resource.RUSAGE_CHILDREN), _seconds(resource.RUSAGE_SELF), time.monotonic()
    with StreamRunner(device, rtl_jobs=jobs) as runner:
        (outcome,) = runner.run(case, [Setting(memory, "aux")])
        if not outcome.passed:
            raise SystemExit(f"{case.name}: {outcome.reasons}")
    children = _seconds(resource.RUSAGE_CHILDREN) - before[0]
    own, wall = _seconds(resource.RUSAGE_SELF) - before[1], time.monotonic() - before[2]
    return outcome.found, outcome.cut, [children, children + own, wall]


@click.command(help=__doc__)
@click.option("--device", default=DEVICE, show_default=True)
@click.option("--layers", type=click.IntRange(1), default=30, show_default=True, help="Blocks.")
@click.option("--tokens", type=click.IntRange(1), default=37, show_default=True, help="Of the prompt.")
@click.option("--jobs", type=click.IntRange(2), default=2, show_default=True, help="Legs at a time.")
@click.option("--pairs", type=click.IntRange(1), default=3, show_default=True, help="How often both run.")
@click.option("--memory", default="ideal", show_default=True)
def main(device: str, layers: int, tokens: int, jobs: int, pairs: int, memory: str) -> None:
    with StreamRunner(device) as runner:
        block = build(SMOLLM2, runner.device, tokens=tokens, last=0, order=SHORTEST, layers=layers)
        case = stream_case(block, device)
    click.echo(f"{len(case.calls)} instructions, {tokens} tokens, {layers} blocks on {device}, memory {memory}\n")
    cut = ""
    click.echo("| run | processor | whole | wall | differ |\n|---|---|---|---|---|")
    for _ in range(pairs):
        one, _, serial = _run(case, device, 1, memory)
        legs, cut, found = _run(case, device, jobs, memory)
        differ = sum((a.start, a.end, a.cycles) != (b.start, b.end, b.cycles) for a, b in zip(one, legs, strict=True))
        click.echo("| one | " + " | ".join(f"{s:.1f} s" for s in serial) + " | |")
        ratios = (f"{s:.1f} s ({s / o:.2f})" for s, o in zip(found, serial, strict=True))
        click.echo("| legs | " + " | ".join(ratios) + f" | {differ} of {len(one)} |")
        sys.stdout.flush()
    click.echo(f"\n{cut}")


if __name__ == "__main__":
    main()
