"""`fleet shrink` for the stored result of a model: runs its request again, then shrinks the model."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.looking.made_again import made_again
from fleet.errors import FleetError

if TYPE_CHECKING:
    from fleet.cosim.options import CosimOptions
    from fleet.verify.shrink.model import ShrunkModel


def shrink_result(path: Path, seconds: float, out: Path, expect: str) -> int:
    """Shrink, print and store; returns 1, the exit code of a failure. Raises ModelError if the run cannot be repeated or passes."""
    from fleet.cli.progress import ProgressLine
    from fleet.core.files import check_writable
    from fleet.cosim.models.model_bundle import ModelBundle, save_model_bundle
    from fleet.cosim.result import CosimResult
    from fleet.verify.shrink.model import shrink_model

    result = CosimResult.load(path)
    model, engines, options = made_again(result.identity.request, path)
    check_writable(out)
    with ProgressLine("shrink") as progress:
        found = shrink_model(model, engines, options, seconds=seconds, progress=progress)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", result.identity.case or result.identity.model).strip("-") + "-shrunk"
    story = f"{found.before.operations} operations of {result.identity.command}, shrunk; {found.signature}"
    bundle = ModelBundle(
        name, found.engines, options.device, options.memory, options.seed, options.lowering, (), (), (), "", expect,
        found.signature, story,
    )  # fmt: skip
    stored = save_model_bundle(out / name, bundle, found.model.program, found.model.inputs)
    _tell(found, result.identity.command)
    again = f"fleet cosim {stored} --engines {','.join(found.engines)}"
    again += f" --device {options.device} --memory {options.memory}" if options.device else ""
    click.echo(f"\nstored in {stored}\n  again:   {again} --seed {options.seed}")
    click.echo(f"  a test:  move the folder {stored.parent} below sim/bundles: `pytest sim/` then expects that it {expect}")
    if found.signature.comparison == "rtl-vs-iss":
        _stream(found, options, seconds - found.seconds, out, expect, name, story)
    return 1


def _tell(found: ShrunkModel, command: str) -> None:
    from fleet.ir.text import print_ir

    before, after = found.before, found.after
    click.echo(f"{command}: {found.signature}")
    click.echo(f"  operations    {before.operations} -> {after.operations}")
    click.echo(f"  numbers       {before.numbers:,} -> {after.numbers:,}, not 0: {before.not_zero:,} -> {after.not_zero:,}")
    rest = "nothing more can be taken away" if found.finished else "time was over; a larger --budget may take more away"
    click.echo(f"  {found.ran} co-simulations in {found.seconds:.1f} s; {rest}\n")
    click.echo(print_ir(found.model.program.module), nl=False)
    for reason in found.result.reasons[:4]:
        click.echo(f"  {reason}")


def _stream(found: ShrunkModel, options: CosimOptions, seconds: float, out: Path, expect: str, name: str, story: str) -> None:
    """Store the same failure as a stream of instructions, if the stream fails without the model too."""
    from fleet.streams.bundle import save_bundle
    from fleet.streams.case import Setting
    from fleet.verify.shrink.model import stream_of
    from fleet.verify.shrink.stream import shrink_stream

    try:
        case = stream_of(found.model, options)
        if case is None:
            return
        small = shrink_stream(replace(case, name=name), Setting(options.memory, options.lowering.issue), seconds=max(seconds, 20.0))
    except FleetError as error:
        click.echo(f"  as a stream of instructions it is not there: {error}")
        return
    stored = save_bundle(
        small.outcome, out, power_on=small.power_on, expect="diverges" if expect == "diverges" else "passes", story=story
    )
    click.echo(f"  as a stream of {small.after.instructions} instructions: {stored}\n           again: fleet stream run {stored}")
