"""The cost of quantising for a device, operation by operation, with and without calibration data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from fleet.compare.metrics import error_stats
from fleet.compare.tasks import class_output
from fleet.core.codec import Json
from fleet.cosim.models.loaded import LoadedModel
from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.engines.trace import Trace
from fleet.errors import DeviceError, ModelError
from fleet.ir.calibration import Calibration, calibration_of
from fleet.ir.dialect import kind_of, op_id
from fleet.ir.lowering_options import LoweringOptions
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel, rounded_program


@dataclass(frozen=True)
class QuantisationRow:
    """One operation: SQNR in dB of its result against the golden's, by way ("weights", "device", "weights, calibrated", ...).

    range: what calibration chose for the operand of a product; None for other operations. seen: (min, max) of its values, or None.
    """

    op: str
    kind: str
    sqnr: Mapping[str, float]
    range: float | None
    seen: tuple[float, float] | None


@dataclass(frozen=True)
class QuantisationTable:
    """The cost by operation on the device, in program order.

    correct: way -> number of rows with the label's class, of `labelled` rows.
    """

    rows: tuple[QuantisationRow, ...]
    correct: Mapping[str, int]
    labelled: int

    def to_json(self) -> dict[str, Json]:
        """Return the table as JSON values."""
        rows: list[Json] = [
            {
                "op": r.op,
                "kind": r.kind,
                "sqnr_db": dict(r.sqnr),
                "range": r.range,
                "seen": None if r.seen is None else list(r.seen),
            }
            for r in self.rows
        ]
        return {"rows": rows, "correct": dict(self.correct), "labelled": self.labelled}


def quantisation_table(
    loaded: LoadedModel, device: str, options: LoweringOptions, calibration: str, labels: np.ndarray | None = None
) -> QuantisationTable:
    """Compare the golden with the rounded golden (weights as the device stores them) and `iss`, with and without calibration.

    Args:
        loaded: the model with the inputs to measure; use other inputs than the calibration did.
        device, options: as for the accelerator's compile. calibration: the file that `calibrate_model` made.
        labels: one integer per row, for the classes that the model predicts.

    Raises:
        DeviceError: no operation runs on the device.
        ModelError: there are labels, but the model predicts no class.
    """
    instruction_set, chosen = find_device(device)
    program = loaded.program
    golden = find_engine("vm").engine.run(program, loaded.inputs, RunOptions())
    traces: dict[str, Trace] = {}
    for suffix, lowering in (("", options), (", calibrated", replace(options, calibration=calibration))):
        rounded = rounded_program(program, instruction_set, chosen, lowering)
        traces[f"weights{suffix}"] = find_engine("vm").engine.run(rounded, loaded.inputs, RunOptions())
        traces[f"device{suffix}"] = find_engine("iss").engine.run(
            program, loaded.inputs, RunOptions(device=device, lowering=lowering)
        )
    compiled = compile_accel(program, instruction_set, chosen, options)
    left = {name for group in compiled.groups for name in group.results}
    seen = calibration_of({"calibration": calibration})
    assert seen is not None
    rows: list[QuantisationRow] = []
    within = {inner: group for group in compiled.groups for inner in group.ops}
    for op in program.operations():
        name = op_id(op)
        if name not in left or name not in golden.tensors or golden.tensors[name].dtype.kind != "f":
            continue
        found = {way: _sqnr(golden.tensors[name], trace.tensors.get(name)) for way, trace in traces.items()}
        member = within.get(name)
        product = next((o for o in (member.ops if member else ()) if o in seen.ranges), None)
        rows.append(QuantisationRow(name, kind_of(op), found, *_range(seen, product)))
    if not rows:
        raise DeviceError("no operation of the model runs there", where=device, hint="fleet cosim says why")
    correct = (
        {way: _correct(loaded, trace, labels) for way, trace in {"golden": golden, **traces}.items()} if labels is not None else {}
    )
    return QuantisationTable(tuple(rows), correct, 0 if labels is None else len(labels))


def _range(seen: Calibration, product: str | None) -> tuple[float | None, tuple[float, float] | None]:
    return (None, None) if product is None else (seen.ranges[product], seen.seen.get(product))


def _sqnr(golden: np.ndarray, other: np.ndarray | None) -> float:
    """Return the SQNR in dB; NaN if there is no other array."""
    if other is None:
        return float("nan")
    return float(error_stats(golden, np.asarray(other, golden.dtype).reshape(golden.shape)).sqnr_db)


def _correct(loaded: LoadedModel, trace: Trace, labels: np.ndarray) -> int:
    output = class_output(loaded.program)
    if output is None:
        raise ModelError("predicts no class (no output is an argmax), so labels say nothing", where=loaded.spec)
    predicted = np.asarray(trace.outputs[output[0]]).reshape(-1)
    if predicted.shape != labels.shape:
        raise ModelError(f"{len(labels)} labels for {len(predicted)} rows", where="labels", hint="give one a row")
    return int(np.count_nonzero(predicted == labels))
