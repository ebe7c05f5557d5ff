"""`fleet quantise`: the error of a device's quantisation, operation by operation, without and with calibration data."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.cli.model import SPARSE, calibrated, data_options, lowering, onnx_options

if TYPE_CHECKING:
    from fleet.cosim.models.quantisation import QuantisationTable

_EPILOG = """\b
Examples:
  fleet quantise digits.onnx --calibrate some.npz --input others.npz --labels labels.npz --device my_device
  fleet quantise model.py:forward --weights w.npz --calibrate some.npz --input others.npz --device hbm_small --group 32
  fleet quantise digits.onnx --calibrate some.npz --input others.npz --device hbm_small_sparse --sparse 4
  fleet cosim digits.onnx --calibrate some.npz --input others.npz --engines vm,iss,rtl --device my_device

Ranges of INT8 activations and powers of two a channel where a set has them; for INT4 the rounding that makes up for its own errors
on what the data show. The figures are of --input: give other data than --calibrate.
"""


@click.command(name="quantise", epilog=_EPILOG)
@click.argument("model")
@onnx_options
@data_options
@click.option("--labels", type=click.Path(path_type=Path), help="One integer a row (.npz with one array).")
@click.option("--calibrate", type=click.Path(path_type=Path), metavar="DATA.npz", required=True, help="Inputs to fit to.")
@click.option(
    "--ranges", type=click.Choice(["minmax", "percentile", "entropy"]), default="percentile", show_default=True,
    help="Method of choosing a tensor's range.",
)  # fmt: skip
@click.option("--device", required=True, help="The device (`fleet devices` lists them).")
@click.option("--group", type=click.Choice(["32", "64", "128"]), help="Inputs that share one weight scale (device's default).")
@SPARSE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    model: str, weights: Path | None, input_path: Path | None, seed: int, batch: int | None, labels: Path | None, calibrate: Path,
    ranges: str, device: str, group: str | None, sparse: str | None, as_json: bool,
) -> int:  # fmt: skip
    """SQNR of every operation of MODEL on a device, and accuracy, without and with calibration."""
    from fleet.cosim.models.data import load_labels
    from fleet.cosim.models.loaded import load_model
    from fleet.cosim.models.quantisation import quantisation_table

    loaded = load_model(model, weights, input_path, seed, batch)
    truth = None if labels is None else load_labels(labels)
    if truth is not None and batch:
        truth = truth[:batch]
    file = calibrated(model, weights, calibrate, ranges, device)
    assert file is not None
    table = quantisation_table(loaded, device, lowering(group, "regs", "host", sparse=sparse), file, truth)
    if as_json:
        click.echo(json.dumps({"calibration": file, "banner": loaded.banner, **table.to_json()}, indent=1))
        return 0
    if loaded.banner:
        click.secho(f"NOTE: {loaded.banner}", fg="yellow", bold=True)
    _print(table)
    return 0


_WAYS = ("weights", "weights, calibrated", "device", "device, calibrated")


def _print(table: QuantisationTable) -> None:
    click.echo("SQNR in dB beside the golden: weights as stored (and with calibration), all on the device (and with calibration)")
    width = min(max(len(r.op) for r in table.rows), 60)
    click.echo(f"{'operation':{width}} {'weights':>8} {'calibr.':>8} {'device':>8} {'calibr.':>8}  range (seen)")
    for row in table.rows:
        numbers = " ".join(f"{row.sqnr[way]:8.2f}" if math.isfinite(row.sqnr[way]) else f"{'-':>8}" for way in _WAYS)
        chosen = "" if row.range is None or row.seen is None else f"  {row.range:.4g} ({row.seen[0]:.4g} to {row.seen[1]:.4g})"
        click.echo(f"{row.op[-width:]:{width}} {numbers}{chosen}")
    for way, right in table.correct.items():
        click.echo(f"accuracy, {way:20} {right}/{table.labelled} {100 * right / max(table.labelled, 1):.2f} %")
