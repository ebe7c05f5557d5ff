"""The model, engines and options of the command that made a stored result."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fleet.errors import ModelError

if TYPE_CHECKING:
    from fleet.cosim.options import CosimOptions
    from fleet.verify.shrink.model_cuts import CutModel

__all__ = ["made_again"]


def made_again(command: str, path: Path) -> tuple[CutModel, tuple[str, ...], CosimOptions]:
    """They, from the command line that a result has. Raises ModelError where it has none that can be read.

    path: of the result, for messages.
    """
    words = shlex.split(command)
    if words[:1] == ["fleet"]:
        words = words[1:]
    if words[:1] == ["cosim"]:
        return _of_cosim(words[1:])
    if words[:2] == ["case", "run"]:
        return _of_case(words[2:])
    raise ModelError("the result does not say how it was made", where=str(path), hint="run `fleet cosim` or `fleet case run`")


def _of_cosim(words: list[str]) -> tuple[CutModel, tuple[str, ...], CosimOptions]:
    from fleet.cli.grammar import equip
    from fleet.cli.model import lowering
    from fleet.cli.running.cosim import command
    from fleet.cosim.models.loaded import load_model
    from fleet.cosim.options import CosimOptions
    from fleet.cosim.what_ran import DataProvenance
    from fleet.verify.shrink.model_cuts import CutModel

    try:
        p: dict[str, Any] = equip(command, "cosim").make_context("cosim", words).params
    except click.ClickException as error:
        raise ModelError(f"its command cannot be read ({error.format_message()})", where=shlex.join(["cosim", *words])) from error
    loaded = load_model(p["model"], p["weights"], p["input_path"], p["seed"], p["batch"])
    options = CosimOptions(
        p["model"], DataProvenance("real", 1, None, None, None), p["device"], p["memory"], p["seed"],
        lowering=lowering(p["group"], p["issue"], p["load"]),
    )  # fmt: skip
    return CutModel(_bound(loaded.program, loaded.inputs), dict(loaded.inputs)), tuple(p["engines"].split(",")), options


def _of_case(words: list[str]) -> tuple[CutModel, tuple[str, ...], CosimOptions]:
    from fleet.cli.regression.case import find_case
    from fleet.cosim.models.loaded import load_model
    from fleet.cosim.options import CosimOptions
    from fleet.cosim.what_ran import DataProvenance
    from fleet.regress.cases import load_case, select
    from fleet.verify.shrink.model_cuts import CutModel

    only = words[words.index("--only") + 1] if "--only" in words[:-1] else None
    run, *_ = select(load_case(find_case(words[0])), only)
    loaded = load_model(run.case.model, run.case.weights, run.case.input, run.seed, run.samples)
    options = CosimOptions(
        run.case.model, DataProvenance("real", 1, None, None, None), run.device, run.memory, run.seed, lowering=run.lowering
    )
    return CutModel(_bound(loaded.program, loaded.inputs), dict(loaded.inputs)), run.engines, options


def _bound(program: Any, inputs: Any) -> Any:
    from fleet.transforms.simplify.infer_shapes import bound

    return bound(program, inputs)
