"""Stored goldens: reviewed results of a case, small enough to commit, with their provenance.

`golden/<case>/golden.npz` holds, for every slice of the inputs ("<rows>/..."):
  op/<id>/index, op/<id>/value   up to 64 elements of every operation of the golden (C order, drawn by the id)
  class                          every predicted class
  digests/<device>               the functional model's commit digests, as 16 hex digits, and result registers
`golden/<case>/provenance.toml` states what made it, why, and the SHA-256 of the .npz.

Values are compared by the derived bound (another NumPy may sum in another order), classes where the margin decides them, digests
exactly. A missing golden, a wrong checksum and weights other than the golden's are failures that name the file.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fleet.compare.bounds.bound import Bound
from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.bounds.tolerance import cumulative_bounds
from fleet.compare.diverged import Divergence
from fleet.compare.measured import OperationRow
from fleet.compare.metrics import absolute_error
from fleet.compare.operation_rows import Basis, measured
from fleet.compare.tasks import class_output
from fleet.compare.verdict import Comparison, Verdict
from fleet.core.codec import Json, encode_record
from fleet.core.files import npz_bytes, read_npz, write_atomically
from fleet.core.toml_file import read_toml, toml_value
from fleet.engines.trace import Trace
from fleet.errors import ComparisonFailure, FleetError, ModelError
from fleet.ir import dialect as d
from fleet.ir.dialect import op_id
from fleet.ir.program import Program

FORMAT = 1
_SAMPLES = 64
_HINT = 'look at the differences with `fleet golden update --reason "..."`'


@dataclass(frozen=True)
class GoldenProvenance:
    """Provenance of a golden. Hashes are SHA-256 hex. descriptions: device -> description hash. date: ISO 8601, as given."""

    case: str
    reason: str
    date: str
    source_hash: str
    weights_hash: str
    inputs_hash: str
    seed: int
    tools: Mapping[str, str]
    descriptions: Mapping[str, str]


@dataclass(frozen=True)
class Golden:
    """A stored golden with verified checksum."""

    provenance: GoldenProvenance
    arrays: Mapping[str, np.ndarray]
    path: Path


@dataclass(frozen=True)
class GoldenChange:
    """One line of what an update would change. what: operation id, "class" or "digests/<device>". max_abs: None for these two."""

    rows: str
    what: str
    elements: int
    differing: int
    max_abs: float | None
    note: str


def picked(op: str, size: int) -> np.ndarray:
    """Return the flat indices of an operation's stored elements: ascending int64, the same for the same id and size."""
    rng = np.random.default_rng([zlib.crc32(op.encode()), size])
    return np.sort(rng.choice(size, min(size, _SAMPLES), replace=False)).astype(np.int64)


def capture(program: Program, rows: int, golden: Trace, models: Mapping[str, Trace]) -> dict[str, np.ndarray]:
    """Return the arrays that a golden stores of one run. models: device -> trace of the functional model."""
    arrays: dict[str, np.ndarray] = {}
    for op in program.operations():
        name = op_id(op)
        if isinstance(op, d.ConstantOp | d.PrintOp) or name not in golden.tensors:
            continue
        flat = np.asarray(golden.tensors[name]).reshape(-1)
        index = picked(name, flat.size)
        arrays[f"{rows}/op/{name}/index"], arrays[f"{rows}/op/{name}/value"] = index, flat[index]
    output = class_output(program)
    if output is not None:
        arrays[f"{rows}/class"] = np.asarray(golden.outputs[output[0]])
    for device, trace in models.items():
        arrays[f"{rows}/digests/{device}"] = np.array(_digests(trace), dtype="U48")
    return arrays


def _digests(trace: Trace) -> list[str]:
    return [f"{c.instruction} {c.digest:016x} {'-' if c.result is None else c.result}" for c in trace.commits]


def store_golden(folder: Path, provenance: GoldenProvenance, arrays: Mapping[str, np.ndarray]) -> None:
    """Write both files, the provenance (with the checksum) last. Raises FleetError if there is no value or no reason."""
    if not any("/op/" in key for key in arrays):
        raise ComparisonFailure("there is no value to store", where=str(folder))
    if not provenance.reason.strip():
        raise FleetError("a golden needs a reason", where=str(folder), hint='give one with --reason "..."')
    data = npz_bytes({key: arrays[key] for key in sorted(arrays)})
    lines = [
        "# What made golden.npz. Written by `fleet golden update`; edited by hand it is refused.",
        f"format = {FORMAT}",
        *(f"{key} = {toml_value(getattr(provenance, key))}" for key in _SCALARS),
        f"golden_sha256 = {toml_value(hashlib.sha256(data).hexdigest())}",
        "[tools]",
        *(f"{toml_value(k)} = {toml_value(v)}" for k, v in sorted(provenance.tools.items())),
        "[descriptions]",
        *(f"{toml_value(k)} = {toml_value(v)}" for k, v in sorted(provenance.descriptions.items())),
    ]
    write_atomically(folder / "golden.npz", data)
    write_atomically(folder / "provenance.toml", ("\n".join(lines) + "\n").encode())


_SCALARS = ("case", "reason", "date", "source_hash", "weights_hash", "inputs_hash", "seed")


def _refused(what: str, *, where: str | None = None, hint: str | None = None) -> FleetError:
    return ComparisonFailure(f"provenance cannot be read ({what})", where=where, hint=hint or _HINT)


def load_golden(folder: Path) -> Golden:
    """Read a golden. Raises ComparisonFailure if it is missing or its checksum is not the one in the provenance."""
    toml, npz = folder / "provenance.toml", folder / "golden.npz"
    if not toml.exists() or not npz.exists():
        missing = npz if toml.exists() else toml
        raise ComparisonFailure("there is no golden", where=str(missing), hint='make one with `fleet golden update --reason "..."`')
    file = read_toml(toml, _refused)
    file.only("format", *_SCALARS, "golden_sha256", "tools", "descriptions")
    if file.integer("format", 1) != FORMAT:
        raise file.wrong("format", f"format is {file.values['format']}, expected {FORMAT}")
    tools, descriptions = file.table("tools"), file.table("descriptions")
    provenance = GoldenProvenance(
        **{key: file.text(key) for key in _SCALARS if key != "seed"},
        seed=file.integer("seed", 0),
        tools={key: tools.text(key) for key in tools.values},
        descriptions={key: descriptions.text(key) for key in descriptions.values},
    )
    sha256 = file.text("golden_sha256")
    try:
        arrays = read_npz(npz, sha256, recorded_in="provenance.toml", hint=_HINT)
    except ModelError as error:
        raise ComparisonFailure(error.what, where=error.where, hint=error.hint) from error
    return Golden(provenance, arrays, npz)


def check(
    golden: Golden, program: Program, inputs: Mapping[str, np.ndarray], rows: int, hashes: tuple[str, str], vm: Trace,
    models: Mapping[str, Trace],
) -> Comparison:  # fmt: skip
    """Compare a run with the golden, as comparison "vm-vs-golden".

    Args:
        golden: the stored one.
        program, inputs: what ran. rows: of the batch.
        hashes: (source, weights), as the provenance has them.
        vm: trace of the golden engine. models: device -> trace of the functional model, for the devices that ran.
    """
    where = str(golden.path)
    reasons: list[str] = []
    operations: list[OperationRow] = []
    for name, now, stored in zip(("model source", "weights"), hashes, _hashes(golden.provenance), strict=True):
        if now != stored:
            reasons.append(f"{where}: made with another {name} ({stored[:16]}, now {now[:16]})")
    if f"{rows}/class" not in golden.arrays and not any(k.startswith(f"{rows}/op/") for k in golden.arrays):
        reasons.append(f"{where}: holds nothing of a batch of {rows} rows")
    digests = 0
    if not reasons:
        bounds = cumulative_bounds(Values(program, inputs, vm.tensors), FloatArithmetic())
        operations = _operations(golden, program, bounds, rows, vm)
        reasons += [f"{where}: {row.op}: {row.reason}" for row in operations if row.verdict == "fail"]
        reasons += _missing(golden, program, rows) + _class_reason(golden, program, bounds, rows, vm)
        for device, trace in models.items():
            wrong, count = _digest_reason(golden, rows, device, trace)
            digests += count
            reasons += wrong
    elements = sum(row.cumulative.elements for row in operations) + digests
    verdict: Verdict = "fail" if reasons else "pass"
    if not reasons and elements == 0:
        verdict, reasons = "nothing compared", [f"{where}: nothing of it was compared"]
    if unproved := [f"{where}: {row.op}: {row.reason}" for row in operations if row.verdict == "not proved"]:
        verdict = "fail" if verdict == "fail" else "not proved"
        reasons += unproved
    bad = next((row for row in operations if row.verdict == "fail"), None)
    divergence = Divergence("vm-vs-golden", None, None, (bad.op,), f"{where}: {bad.op}: {bad.reason}") if bad else None
    question = "Is this still what it was when somebody looked at it?"
    return Comparison(
        "vm-vs-golden", "bound", "golden", "vm", question, verdict, tuple(reasons), elements, 0, tuple(operations), (),
        divergence,
    )  # fmt: skip


def _hashes(provenance: GoldenProvenance) -> tuple[str, str]:
    return provenance.source_hash, provenance.weights_hash


def _operations(golden: Golden, program: Program, bounds: Mapping[str, Bound], rows: int, vm: Trace) -> list[OperationRow]:
    found: list[OperationRow] = []
    for i, op in enumerate(program.operations()):
        name = op_id(op)
        index = golden.arrays.get(f"{rows}/op/{name}/index")
        value = golden.arrays.get(f"{rows}/op/{name}/value")
        if index is None or value is None or name not in vm.tensors:
            continue
        tensor = np.asarray(vm.tensors[name])
        if index.size != value.size or (index.size and not 0 <= int(index.min()) <= int(index.max()) < tensor.size):
            raise ComparisonFailure(f"{name}: its indices do not fit a tensor of {tensor.size} elements", where=str(golden.path))
        bound, array = bounds[name], bounds[name].array.reshape(-1)[index]
        if bound.candidates is not None:
            # Where the margin does not decide, any class is accepted; elsewhere the stored class must be equal.
            array = np.where(np.isinf(array), float(bound.candidates.shape[-1]), 0.0)
        basis = Basis(op, i, "", bound=Bound(array, None, bound.rule))
        found.append(measured(basis, value, tensor.reshape(-1)[index], kind="bound").decided(None))
    return [replace(row, shape=tuple(np.asarray(vm.tensors[row.op]).shape)) for row in found]


def _class_reason(golden: Golden, program: Program, bounds: Mapping[str, Bound], rows: int, vm: Trace) -> list[str]:
    """Compare all predicted classes; a class may differ only where the margin does not decide."""
    output = class_output(program)
    stored = golden.arrays.get(f"{rows}/class")
    if output is None:
        return []
    if stored is None or stored.shape != np.asarray(vm.outputs[output[0]]).shape:
        return [f"{golden.path}: class: holds no classes of {rows} rows"]
    bound = bounds[output[1]]
    now = np.asarray(vm.outputs[output[0]])
    decided = (bound.array == 0).reshape(now.shape)
    wrong = np.flatnonzero((now != stored) & decided)
    if not wrong.size:
        return []
    first = int(wrong[0])
    what = f"{wrong.size} of {now.size} classes differ; first: sample {first}, stored {stored.reshape(-1)[first]}"
    return [f"{golden.path}: {output[1]}: {what}, now {now.reshape(-1)[first]}"]


def _missing(golden: Golden, program: Program, rows: int) -> list[str]:
    """Return a reason for each operation that only the program or only the golden has."""
    stored = {k.split("/", 2)[2].rsplit("/", 1)[0] for k in golden.arrays if k.startswith(f"{rows}/op/")}
    now = {op_id(op) for op in program.operations() if not isinstance(op, d.ConstantOp | d.PrintOp | d.RegionOp)}
    where = str(golden.path)
    return [f"{where}: {op}: not in the golden" for op in sorted(now - stored)] + [
        f"{where}: {op}: in the golden, but the program has no such operation" for op in sorted(stored - now)
    ]


def _digest_reason(golden: Golden, rows: int, device: str, trace: Trace) -> tuple[list[str], int]:
    stored = golden.arrays.get(f"{rows}/digests/{device}")
    where = str(golden.path)
    if stored is None:
        return [f"{where}: holds no digests of {device} for {rows} rows"], 0
    now, then = _digests(trace), [str(v) for v in stored]
    if len(now) != len(then):
        return [f"{where}: {device}: {len(then)} commits stored, {len(now)} now"], len(then)
    for seq, (a, b) in enumerate(zip(then, now, strict=True)):
        if a != b:
            op = trace.commits[seq].ops[-1] if trace.commits[seq].ops else "?"
            return [f"{where}: {device}: commit {seq} ({op}): stored {a}, now {b}"], len(then)
    return [], len(then)


def changes(old: Golden | None, new: Mapping[str, np.ndarray]) -> tuple[GoldenChange, ...]:
    """Return what an update would change, one line per array; unchanged arrays have no line."""
    found: list[GoldenChange] = []
    before = dict(old.arrays) if old is not None else {}
    for key in sorted(before.keys() | new.keys()):
        rows, what = key.split("/", 1)
        if what.endswith("/index"):
            continue
        what = what.removeprefix("op/").removesuffix("/value")
        a, b = before.get(key), new.get(key)
        if a is None:
            found.append(GoldenChange(rows, what, int(new[key].size), int(new[key].size), None, "new"))
        elif b is None:
            found.append(GoldenChange(rows, what, int(a.size), int(a.size), None, "gone"))
        elif a.shape != b.shape or a.dtype.kind != b.dtype.kind:
            note = f"{a.dtype.name} {list(a.shape)} becomes {b.dtype.name} {list(b.shape)}"
            found.append(GoldenChange(rows, what, int(b.size), int(b.size), None, note))
        elif a.dtype.kind == "U":
            differing = int(np.count_nonzero(a != b))
            if differing:
                found.append(
                    GoldenChange(rows, what, int(b.size), differing, None, f"first: {a[a != b][0]} becomes {b[a != b][0]}")
                )
        else:
            error = absolute_error(a, b)
            if differing := int(np.count_nonzero(error)):
                found.append(GoldenChange(rows, what, int(b.size), differing, float(error.max()), ""))
    return tuple(found)


def as_table(found: Sequence[GoldenChange]) -> list[dict[str, Json]]:
    """Return the changes as JSON values."""
    return [encode_record(c) for c in found]
