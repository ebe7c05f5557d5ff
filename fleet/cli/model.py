"""Options that name a model and its data; `fleet.cosim.models.loaded` reads them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fleet.errors import FleetError

if TYPE_CHECKING:
    from fleet.ir.lowering_options import LoweringOptions
    from fleet.ir.program import Program

_F = TypeVar("_F", bound=Callable[..., Any])


def data_options(function: _F) -> _F:
    """Add the options common to every command on a model."""
    for option in reversed(
        [
            click.option("--weights", type=click.Path(path_type=Path), help="Weights by argument name (.npz)."),
            click.option("--input", "input_path", type=click.Path(path_type=Path), help="Inputs by argument name (.npz)."),
            click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything random."),
            click.option(
                "--batch", type=click.IntRange(min=1), help="Rows of random inputs (default 8), or only the first rows given."
            ),
        ]
    ):
        function = option(function)
    return function


def onnx_options(function: _F) -> _F:
    """Add the options for an ONNX model; their values are appended to the model's name (`fleet.frontend.onnx.choice`)."""

    @wraps(function)
    def chosen(
        *args: object,
        model: str,
        first: Sequence[str],
        last: Sequence[str],
        known: Sequence[str],
        dims: Sequence[str],
        **rest: object,
    ) -> Any:
        from fleet.frontend.onnx.choice import with_choice

        return function(*args, model=with_choice(model, first, last, known, dims), **rest)

    wrapped: Any = chosen
    for option in reversed(
        [
            click.option(
                "--from", "first", multiple=True, metavar="VALUE",
                help="ONNX: begin at this value (a node's output); it is computed of the model's inputs, or given.",
            ),
            click.option("--to", "last", multiple=True, metavar="VALUE", help="ONNX: end at this value instead of the outputs."),
            click.option(
                "--known", multiple=True, metavar="INPUT", help="ONNX: compile for the value that this input has (a mask)."
            ),
            click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="ONNX: size of a named dimension."),
        ]
    ):  # fmt: skip
        wrapped = option(wrapped)
    return wrapped


def accel_options(function: _F) -> _F:
    """Add the options for instructions and weights of an accelerator; pass their values to `lowering`."""
    for option in reversed(
        [
            click.option(
                "--issue", type=click.Choice(["regs", "aux"]), default="regs", show_default=True,
                help="Write every instruction's registers, or let the hardware fetch a binary.",
            ),
            click.option(
                "--load", type=click.Choice(["host", "device"]), default="host", show_default=True,
                help="Who fills the HBM before the first operation: the host, or the device by its own instructions.",
            ),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def rtl_jobs_option(function: _F) -> _F:
    """Add `--rtl-jobs`: how many parts of a run `rtl` simulates at a time."""
    return click.option(
        "--rtl-jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
        help="Cut what rtl runs into legs and simulate N of them at a time (`fleet help performance`).",
    )(function)  # fmt: skip


def rtl_sample_option(function: _F) -> _F:
    """Add `--rtl`: the sample of the instructions that `rtl` runs; the value is checked."""

    def checked(_context: click.Context, _option: click.Parameter, value: str) -> str:
        from fleet.engines.legs.sample import sample_choice

        if value:
            sample_choice(value)
        return value

    return click.option(
        "--rtl", "rtl_sample", default="", metavar="SAMPLE", callback=checked,
        help="Run a sample of the instructions in rtl: sample=5%, blocks=2 or ci=1% (`fleet help performance`).",
    )(function)  # fmt: skip


def riscv_options(function: _F) -> _F:
    """Add the options of the engine `riscv`; pass their values to `riscv_choice`."""
    for option in reversed(
        [
            click.option(
                "--riscv-isa", default="rv64gc", show_default=True,
                help="rv64gc, rv64gcv (vectors of 256 bits) or rv64gcv_zvl<128, 256, 512 or 1024>b.",
            ),
            click.option(
                "--riscv-emulator", help="unicorn, qemu, spike or rvsim (default: unicorn, or qemu where vectors are needed).",
            ),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def riscv_choice(isa: str, emulator: str | None) -> dict[str, str]:
    """Return `RunOptions.riscv`, checked. Raises FleetError for unknown names, or an emulator without vectors for vector code."""
    from fleet.engines.riscv_emulators.registry import default_emulator, find_emulator
    from fleet.errors import SetupError
    from fleet.targets.riscv.isa import find_isa

    found = find_isa(isa)
    chosen = find_emulator(emulator) if emulator else default_emulator(found)
    chosen.check(found)
    if reason := chosen.available():
        raise SetupError(reason, where=f"engine riscv: emulator {chosen.name}")
    return {"isa": found.name, "emulator": chosen.name}


def say_widened(program: Program) -> None:
    """Print on standard error where a number turns float32 arrays into float64, if any."""
    from fleet.frontend.widening import widened

    line = widened(program)
    if line is not None:
        print(f"fleet: {line}", file=sys.stderr)


def calibration_options(function: _F) -> _F:
    """Add the options for calibration data of the device's quantisation; pass their values to `calibrated`."""
    for option in reversed(
        [
            click.option(
                "--calibrate", type=click.Path(path_type=Path), metavar="DATA.npz",
                help="Fit the device's quantisation to these inputs (with one axis more in front: to each of them).",
            ),
            click.option(
                "--ranges", type=click.Choice(["minmax", "percentile", "entropy"]), default="percentile", show_default=True,
                help="Method of choosing a tensor's range from the data of --calibrate.",
            ),
        ]
    ):  # fmt: skip
        function = option(function)
    return function


def calibrated(model: str, weights: Path | None, data: Path | None, ranges: str, device: str | None) -> str | None:
    """Calibrate a model on data, for the compile option "calibration"; None without data. Raises FleetError."""
    if data is None:
        return None
    if device is None:
        raise FleetError("a calibration is for a device", where="--calibrate", hint="name one with --device")
    from fleet.cli.progress import ProgressLine
    from fleet.cosim.models.calibrate import calibrate_model
    from fleet.llm.files.cache import models_folder

    with ProgressLine("calibrate") as line:
        folder = models_folder().parent / "calibration"
        return str(calibrate_model(model, weights, data, device, folder, method=ranges, progress=line))


SPARSE = click.option(
    "--sparse", type=click.Choice(["4", "2", "1"]),
    help="Store so many of each 8 weights, the largest, on a device that has sparse weights. Default: all.",
)  # fmt: skip


def lowering(
    group: str | None, issue: str, load: str, calibration: str | None = None, sparse: str | None = None
) -> LoweringOptions:
    """Return the accelerator's compile options. Raises ModelError for an unknown value."""
    from fleet.ir.lowering_options import LoweringOptions

    numbers = {name: int(text) if text else None for name, text in (("group", group), ("sparse", sparse))}
    return LoweringOptions.of({**numbers, "issue": issue, "load": load, "calibration": calibration}, "command line")


def best_device(program: Program, engines: Sequence[str]) -> str | None:
    """Return the device that `fleet try` takes, if an engine needs one; None if no device runs anything."""
    from fleet.engines.registry import engine_names, find_engine

    asked = {name.partition("@")[0] for name in engines}.intersection(engine_names())
    if all(find_engine(name).engine.target != "accel" for name in asked):
        return None
    from fleet.compiler.inspection import inspect_program  # it decides which device; the device itself is content

    best = inspect_program(program).best
    return None if best is None else best.device
