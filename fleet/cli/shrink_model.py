"""What `fleet shrink` does with the stored result of a model: the run is made again from its command, then shrunk."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fleet.errors import FleetError, ModelError

if TYPE_CHECKING:
    from fleet.cosim.campaign import CosimOptions
    from fleet.cosim.shrink.model import ShrunkModel
    from fleet.cosim.shrink.model_cuts import Model

__all__ = ["shrink_result"]


def shrink_result(path: Path, seconds: float, out: Path, expect: str) -> int:
    """Shrinks, prints, stores; 1, since it fails. Raises ModelError where the run cannot be made again or does not fail."""
    from fleet.cli.progress import ProgressLine
    from fleet.cosim.files import check_writable
    from fleet.cosim.model_bundle import ModelBundle, save_model_bundle
    from fleet.cosim.result import CosimResult
    from fleet.cosim.shrink.model import shrink_model

    result = CosimResult.load(path)
    model, engines, options = _again(result.identity.command, path)
    check_writable(out)
    with ProgressLine("shrink") as progress:
        found = shrink_model(model, engines, options, seconds=seconds, progress=progress)
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", result.identity.case or result.identity.model).strip("-") + "-shrunk"
    story = f"{found.before.operations} operations of {result.identity.command}, shrunk; {found.signature}"
    bundle = ModelBundle(
        name, found.engines, options.device, options.memory, options.seed, dict(options.lowering), (), (), (), "", expect,
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


def _again(command: str, path: Path) -> tuple[Model, tuple[str, ...], CosimOptions]:
    """The model, engines and options of the command that made a result."""
    words = shlex.split(command)
    if words[:1] == ["fleet"]:
        words = words[1:]
    if words[:1] == ["cosim"]:
        return _of_cosim(words[1:])
    if words[:2] == ["case", "run"]:
        return _of_case(words[2:])
    raise ModelError("the result does not say how it was made", where=str(path), hint="run `fleet cosim` or `fleet case run`")


def _of_cosim(words: list[str]) -> tuple[Model, tuple[str, ...], CosimOptions]:
    from fleet.cli.cosim import command
    from fleet.cli.model import lowering
    from fleet.cosim.campaign import CosimOptions
    from fleet.cosim.model import load_model
    from fleet.cosim.result import DataProvenance
    from fleet.cosim.shrink.model_cuts import Model

    try:
        p: dict[str, Any] = command.make_context("cosim", words).params
    except click.ClickException as error:
        raise ModelError(f"its command cannot be read ({error.format_message()})", where=shlex.join(["cosim", *words])) from error
    loaded = load_model(p["model"], p["weights"], p["input_path"], p["seed"], p["batch"])
    options = CosimOptions(
        p["model"], DataProvenance("real", 1, None, None, None), p["device"], p["memory"], p["seed"],
        lowering=lowering(p["group"], p["issue"], p["load"]),
    )  # fmt: skip
    return Model(_bound(loaded.program, loaded.inputs), dict(loaded.inputs)), tuple(p["engines"].split(",")), options


def _of_case(words: list[str]) -> tuple[Model, tuple[str, ...], CosimOptions]:
    from fleet.cli.case import find_case
    from fleet.cosim.campaign import CosimOptions
    from fleet.cosim.cases import load_case, select
    from fleet.cosim.model import load_model
    from fleet.cosim.result import DataProvenance
    from fleet.cosim.shrink.model_cuts import Model

    only = words[words.index("--only") + 1] if "--only" in words[:-1] else None
    run, *_ = select(load_case(find_case(words[0])), only)
    loaded = load_model(run.case.model, run.case.weights, run.case.input, run.seed, run.samples)
    options = CosimOptions(
        run.case.model, DataProvenance("real", 1, None, None, None), run.device, run.memory, run.seed, lowering=run.lowering
    )
    return Model(_bound(loaded.program, loaded.inputs), dict(loaded.inputs)), run.engines, options


def _bound(program: Any, inputs: Any) -> Any:
    from fleet.transforms.infer_shapes import bound

    return bound(program, inputs)


def _tell(found: ShrunkModel, command: str) -> None:
    from fleet.ir.text import print_ir

    before, after = found.before, found.after
    click.echo(f"{command}: {found.signature}")
    click.echo(f"  operations    {before.operations} -> {after.operations}")
    click.echo(f"  numbers       {before.numbers:,} -> {after.numbers:,}, not 0: {before.not_zero:,} -> {after.not_zero:,}")
    rest = "nothing more can be taken away" if found.finished else "time was over; more --seconds may take more away"
    click.echo(f"  {found.ran} co-simulations in {found.seconds:.1f} s; {rest}\n")
    click.echo(print_ir(found.model.program.module), nl=False)
    for reason in found.result.reasons[:4]:
        click.echo(f"  {reason}")


def _stream(found: ShrunkModel, options: CosimOptions, seconds: float, out: Path, expect: str, name: str, story: str) -> None:
    """The same failure as a stream of instructions, where it is one without the model too."""
    from fleet.cosim.shrink.model import stream_of
    from fleet.cosim.shrink.stream import shrink_stream
    from fleet.cosim.streams.bundle import save_bundle
    from fleet.cosim.streams.case import Setting

    try:
        case = stream_of(found.model, options)
        if case is None:
            return
        issue = "aux" if options.lowering.get("issue") == "aux" else "regs"
        small = shrink_stream(replace(case, name=name), Setting(options.memory, issue), seconds=max(seconds, 20.0))
    except FleetError as error:
        click.echo(f"  as a stream of instructions it is not there: {error}")
        return
    stored = save_bundle(
        small.outcome, out, power_on=small.power_on, expect="diverges" if expect == "diverges" else "passes", story=story
    )
    click.echo(f"  as a stream of {small.after.instructions} instructions: {stored}\n           again: fleet stream run {stored}")
