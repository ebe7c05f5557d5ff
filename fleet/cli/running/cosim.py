"""`fleet cosim`: runs a model on several engines, compares them, and writes a report."""

from __future__ import annotations

import datetime
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.model import (
    SPARSE,
    accel_options,
    best_device,
    calibrated,
    calibration_options,
    data_options,
    lowering,
    onnx_options,
    riscv_choice,
    riscv_options,
    rtl_jobs_option,
    rtl_sample_option,
    say_widened,
)
from fleet.cli.progress import ProgressLine
from fleet.cli.request import own_request
from fleet.errors import FleetError, ModelError

if TYPE_CHECKING:
    import numpy as np

    from fleet.compare.verdict import TaskMetric
    from fleet.cosim.models.loaded import LoadedModel
    from fleet.cosim.options import CosimOptions
    from fleet.cosim.result import CosimResult
    from fleet.cosim.what_ran import EngineRun
    from fleet.ir.program import Program

_EPILOG = """\b
Examples:
  fleet cosim examples/digits/model.py:forward --weights examples/digits/weights.npz \\
      --input examples/digits/test.npz --labels examples/digits/labels.npz \\
      --metric accuracy --engines cpython,vm,iss,rtl,riscv --device hbm_small --report reports/digits
  fleet cosim model.onnx --input x.npz --engines vm,riscv
  fleet cosim model.py:forward --engines vm,riscv                  (no data given: seeded random arrays)
  fleet cosim model.py:forward --weights w.npz --input x.npz --engines iss,rtl --device hbm_small --memory stall:7

Exit codes: 0 everything that was asked for ran, was compared and agreed; 1 something did not; 2 bad input
or a missing tool: nothing ran; 130 interrupted; 141 nobody read the output.
"""


def _engines(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise FleetError("no engine was named", where="--engines", hint="for instance --engines vm,iss,rtl,riscv")
    return names


def _labels(path: Path | None, loaded: LoadedModel, batch: int | None) -> np.ndarray | None:
    if path is None:
        return None
    from fleet.cosim.models.data import load_labels

    labels = load_labels(path)
    if loaded.random:
        raise ModelError(f"labels were given, but {', '.join(loaded.random)} were not", where=str(path), hint="give --input too")
    return labels[:batch] if batch else labels


def _previous(folder: Path | None) -> CosimResult | None:
    """Return the result that will be replaced, for "what changed"; None if there is none or it cannot be read."""
    from fleet.cosim.result import CosimResult

    if folder is None or not (folder / "result.json").exists():
        return None
    try:
        return CosimResult.load(folder)
    except FleetError as error:
        print(f"fleet: the result that is there cannot be compared with: {error}", file=sys.stderr)
        return None


class TablePrinter:
    """Prints the table's rows as engines finish, with progress in between."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self._engine = ""
        self._line: ProgressLine | None = None

    def progress(self, engine: str, fraction: float, words: str) -> None:
        """Show progress; for `CosimOptions.progress`."""
        if self.quiet:
            return
        if engine != self._engine or self._line is None:
            self.done()
            self._engine, self._line = engine, ProgressLine(engine)
        self._line(fraction, words)

    def done(self) -> None:
        """Remove the progress from the terminal."""
        if self._line is not None:
            self._line.__exit__(None, None, None)
            self._line = None

    def engine(self, run: EngineRun, task: TaskMetric | None) -> None:
        """Print an engine's row; for `CosimOptions.on_engine`."""
        self.done()
        if not self.quiet:
            from fleet.cli.table import print_engine

            print_engine(run, task)
            sys.stdout.flush()


def store(result: CosimResult, folder: Path, since: CosimResult | None) -> dict[str, str]:
    """Write result and report into `folder` atomically, and the result as the last one. Returns the written files by name."""
    from fleet.cosim.last_run import keep
    from fleet.report.run.page import store_report

    try:
        stored, files = store_report(result, folder, since)
    except BaseException:
        keep(result)
        raise
    keep(result, stored)
    return {
        "page": str(files.html), "report": str(files.json), "junit": str(files.junit), "summary": str(files.summary),
        "result": str(stored),
    }  # fmt: skip


@click.command(name="cosim", epilog=_EPILOG)
@click.argument("model")
@onnx_options
@data_options
@click.option("--labels", type=click.Path(path_type=Path), help="One integer a row (.npz with one array).")
@click.option("--metric", type=click.Choice(["accuracy"]), help="The task's own figure; labels alone mean accuracy.")
@click.option(
    "--engines",
    default="vm,riscv",
    show_default=True,
    help="Comma-separated: vm, iss, rtl, riscv, cpython, onnxruntime, or a plug-in's.",
)
@click.option("--device", help="Device for iss and rtl (`fleet devices` lists them); default: the one that runs the largest share.")
@click.option(
    "--memory",
    default="ideal",
    show_default=True,
    help="ideal, fixed[:cycles], stall[:seed] or timed[:seed]; never changes a result.",
)
@click.option("--group", type=click.Choice(["32", "64", "128"]), help="Inputs that share one weight scale (device's default).")
@SPARSE
@calibration_options
@accel_options
@riscv_options
@click.option("--report", "folder", type=click.Path(path_type=Path, file_okay=False), help="Write the report here.")
@click.option(
    "--since",
    type=click.Path(path_type=Path),
    help="An earlier report's folder: say what changed since (default: the one replaced).",
)
@rtl_jobs_option
@rtl_sample_option
@click.option("--no-stop", is_flag=True, help="Run hardware to its end, even after its first commit that differs.")
@click.option("--json", "machine", is_flag=True, help="Verdict and figures as JSON on standard output, nothing else.")
def command(
    model: str,
    weights: Path | None,
    input_path: Path | None,
    seed: int,
    batch: int | None,
    labels: Path | None,
    metric: str | None,
    engines: str,
    device: str | None,
    memory: str,
    group: str | None,
    sparse: str | None,
    calibrate: Path | None,
    ranges: str,
    issue: str,
    load: str,
    riscv_isa: str,
    riscv_emulator: str | None,
    folder: Path | None,
    since: Path | None,
    rtl_jobs: int,
    rtl_sample: str,
    no_stop: bool,
    machine: bool,
) -> int:
    """Run MODEL (path.py:function) on several engines, compare them operation by operation, write a report."""
    from fleet.cli.table import as_json
    from fleet.cosim.models.loaded import load_model
    from fleet.cosim.options import CosimOptions
    from fleet.cosim.result import CosimResult
    from fleet.cosim.what_ran import DataProvenance

    names = _engines(engines)
    riscv = riscv_choice(riscv_isa, riscv_emulator) if "riscv" in names else {}
    loaded = load_model(model, weights, input_path, seed, batch)
    say_widened(loaded.program)
    request = own_request()
    if device is None and (device := best_device(loaded.program, names)) is not None:
        request = request and replace(request, arguments=(*request.arguments, "--device", device))
        if not machine:
            click.echo(f"device {device}: it runs the largest share of the model; --device names another")
    truth = _labels(labels, loaded, batch)
    before = CosimResult.load(since) if since else _previous(folder)
    samples = next((int(a.shape[0]) for a in loaded.inputs.values() if a.ndim), 1)
    provenance = DataProvenance(
        "random" if loaded.random else "real", samples, str(input_path) if input_path else None,
        str(labels) if labels else None, loaded.banner,
    )  # fmt: skip
    options = CosimOptions(
        model=model, data=provenance, device=device, memory=memory, seed=seed, metric=metric,
        request=request,
        lowering=lowering(group, issue, load, calibrated(model, weights, calibrate, ranges, device), sparse), riscv=riscv,
        stop=not no_stop,
        rtl_jobs=rtl_jobs, rtl_sample=rtl_sample,
    )  # fmt: skip
    result = co_simulate(loaded, truth, names, options, machine, folder)
    files = store(result, folder, before) if folder else {}
    if machine:
        click.echo(json.dumps(as_json(result, files), indent=1))
    elif "page" in files:
        click.echo(f"report: {files['page']}")
    return result.exit_code


def co_simulate(
    loaded: LoadedModel,
    labels: np.ndarray | None,
    engines: list[str],
    options: CosimOptions,
    quiet: bool,
    folder: Path | None = None,
) -> CosimResult:
    """Run a loaded model, print rows and the verdict (unless quiet), and store the result as the last one if it has no folder.

    folder: for a report (`store` writes it, and the last result); created before anything runs, after all other checks.

    Raises FleetError if the run cannot start.
    """
    from fleet.cli.table import print_outputs, print_verdict
    from fleet.core.files import check_writable
    from fleet.cosim.campaign import cosim
    from fleet.cosim.last_run import keep
    from fleet.cosim.request import check_ready, check_request, known_engines

    watch = TablePrinter(quiet)
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    options = replace(options, date=date, progress=watch.progress, on_engine=watch.engine)
    check_request(loaded.program, labels, engines, options, known_engines(options))
    check_ready(loaded.program, engines, options)
    if folder is not None:
        check_writable(folder)
    if not quiet:
        _announce(loaded, options.data.samples, engines, options.device, options.memory, options.seed)
    result = cosim(loaded.program, loaded.inputs, labels, engines, options)
    watch.done()
    if folder is None:
        keep(result)
    if not quiet:
        print_outputs(result, _output_operations(loaded.program))
        print_verdict(result)
    return result


def _output_operations(program: Program) -> dict[str, str]:
    """Return output -> id of the operation that computes it, without outputs that are inputs."""
    from fleet.ir.dialect import FleetOp, op_id

    pairs = zip(program.outputs, program.returned(), strict=True)
    return {name: op_id(value.owner) for name, value in pairs if isinstance(value.owner, FleetOp)}


def _announce(loaded: LoadedModel, samples: int, names: list[str], device: str | None, memory: str, seed: int) -> None:
    from fleet.cli.table import print_head

    if loaded.banner:
        click.secho(f"NOTE: {loaded.banner}", fg="yellow", bold=True)
    place = f", device {device}, memory {memory}" if device else ""
    operations = sum(1 for _ in loaded.program.operations())
    click.echo(f"{loaded.spec}: {operations} operations, {samples} rows; engines {', '.join(names)}{place}, seed {seed}")
    print_head()
