"""`fleet bisect-pass`: the first pass of a pipeline after which a result differs."""

from __future__ import annotations

from pathlib import Path

import click

from fleet.cli.model import data_options
from fleet.cosim.models.loaded import load_model

_EPILOG = """\b
Examples:
  fleet bisect-pass examples/digits/model.py:forward --weights examples/digits/weights.npz --pipeline riscv
  fleet bisect-pass model.py:forward --passes canonicalise,cse,raise-softmax

Exit codes: 0 every pass keeps the results, 1 one does not (it is named), 2 bad input.
"""


@click.command(name="bisect-pass", epilog=_EPILOG)
@click.argument("model")
@click.option("--pipeline", "pipeline_name", help="Passes of this target (default riscv).")
@click.option("--passes", help="These passes instead, separated by commas.")
@data_options
def command(
    model: str,
    pipeline_name: str | None,
    passes: str | None,
    weights: Path | None,
    input_path: Path | None,
    seed: int,
    batch: int | None,
) -> int:
    """Run MODEL's passes one by one; name the first after which an operation's result differs from the source's.

    Passes that must keep every bit are held to every bit; from the first on that may round, results are held to the derived
    bound, but to no less than 64 and no more than 4096 roundings of a tensor's largest value.
    """
    from fleet.transforms.pipeline import Pipeline, parse_passes, pipeline
    from fleet.verify.bisect import bisect_pass

    if pipeline_name is not None and passes is not None:
        raise click.UsageError("--pipeline and --passes exclude each other")
    chosen = Pipeline("asked", parse_passes(passes)) if passes is not None else pipeline(pipeline_name or "riscv")
    loaded = load_model(model, weights, input_path, seed, batch)
    if loaded.banner:
        click.echo(f"fleet: {loaded.banner}", err=True)
    found = bisect_pass(loaded.program, loaded.inputs, chosen)
    width = max((len(p.name) for p in chosen.passes), default=4)
    for stage in found.stages:
        how = "every bit" if stage.exact == "bits" else f"worst error {stage.worst:.3g} of its limit"
        click.echo(f"{stage.name:<{width}}  {stage.compared} results, {how}")
    if found.fault is None:
        click.echo("no pass changes a result")
        return 0
    place = f"{found.fault.op}{f' ({found.fault.at})' if found.fault.at else ''}: " if found.fault.op else ""
    click.echo(f"{found.fault.name:<{width}}  FIRST DIFFERENCE  {place}{found.fault.what}")
    return 1
