"""Rebuilds the model, engines and options of a stored result from its recorded request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fleet.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from fleet.cosim.options import CosimOptions
    from fleet.cosim.run_request import RunRequest
    from fleet.ir.program import Program
    from fleet.verify.shrink.model_cuts import CutModel


def made_again(request: RunRequest | None, path: Path) -> tuple[CutModel, tuple[str, ...], CosimOptions]:
    """Rebuild model, engines and options from the recorded request.

    path: of the result, for messages. Raises ModelError if the result has no request, or one of another command.
    """
    if request is None:
        raise ModelError(
            "the result does not say how it was made", where=str(path), hint="run `fleet cosim` or `fleet case run` again"
        )
    if request.is_command("cosim"):
        return _of_cosim(list(request.arguments[1:]))
    if request.is_command("case", "run"):
        return _of_case(list(request.arguments[2:]))
    raise ModelError(
        f"it was made by `{request}`", where=str(path), hint="results of `fleet cosim` and `fleet case run` can be made again"
    )


def _of_cosim(words: list[str]) -> tuple[CutModel, tuple[str, ...], CosimOptions]:
    from fleet.cli.grammar import equip
    from fleet.cli.model import calibrated, lowering, riscv_choice
    from fleet.cli.running.cosim import command
    from fleet.cosim.models.loaded import load_model
    from fleet.cosim.options import CosimOptions
    from fleet.cosim.what_ran import DataProvenance
    from fleet.verify.shrink.model_cuts import CutModel

    try:
        p: dict[str, Any] = equip(command, "cosim").make_context("cosim", words).params
    except click.ClickException as error:
        raise ModelError(f"its request is no longer valid ({error.format_message()})", where=f"cosim {' '.join(words)}") from error
    loaded = load_model(p["model"], p["weights"], p["input_path"], p["seed"], p["batch"])
    options = CosimOptions(
        p["model"], DataProvenance("real", 1, None, None, None), p["device"], p["memory"], p["seed"],
        lowering=lowering(
            p["group"], p["issue"], p["load"], calibrated(p["model"], p["weights"], p["calibrate"], p["ranges"], p["device"]),
            p["sparse"],
        ),
        riscv=riscv_choice(p["riscv_isa"], p["riscv_emulator"]) if "riscv" in p["engines"].split(",") else {},
    )  # fmt: skip
    return CutModel(_bound(loaded.program, loaded.inputs), dict(loaded.inputs)), tuple(p["engines"].split(",")), options


def _of_case(words: list[str]) -> tuple[CutModel, tuple[str, ...], CosimOptions]:
    from fleet.cli.grammar import equip
    from fleet.cli.regression.case import find_case
    from fleet.cli.regression.case import run as run_command
    from fleet.cosim.models.loaded import load_model
    from fleet.cosim.options import CosimOptions
    from fleet.cosim.what_ran import DataProvenance
    from fleet.regress.cases import load_case, select
    from fleet.verify.shrink.model_cuts import CutModel

    p: dict[str, Any] = equip(run_command, "case run").make_context("case run", words).params
    run, *_ = select(load_case(find_case(p["case"])), p["only"])
    loaded = load_model(run.case.model, run.case.weights, run.case.input, run.seed, run.samples)
    options = CosimOptions(
        run.case.model, DataProvenance("real", 1, None, None, None), run.device, run.memory, run.seed, lowering=run.lowering
    )
    return CutModel(_bound(loaded.program, loaded.inputs), dict(loaded.inputs)), run.engines, options


def _bound(program: Program, inputs: Mapping[str, np.ndarray]) -> Program:
    from fleet.transforms.simplify.infer_shapes import bound

    return bound(program, inputs)
