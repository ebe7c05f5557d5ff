"""The outcome of a co-simulation: everything that a report shows, and nothing that has to be computed again.

`CosimResult` is frozen and complete: verdict and reasons are decided here, never by who prints it. On disk it is
`result.json` (strict, versioned) and one `.npz` beside it for the arrays that pictures need; the JSON names the `.npz`
and its SHA-256 and is renamed into place last, so a reader sees the old pair or the new one, never a mixture.

Names of comparisons are "<other>-vs-<reference>" ("rtl-vs-iss"). Names of engines are those of `fleet.engines`, plus
"vm-rounded": the golden run with the weights as the device stores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from fleet.cosim._codec import decode, encode
from fleet.cosim.account import Account
from fleet.cosim.files import load_pair, save_pair
from fleet.cosim.identity import Content, Provenance
from fleet.cosim.ways import HigherPrecision, Ways
from fleet.errors import ExitCode, ModelError, heaviest

__all__ = [
    "ROUNDED",
    "SCHEMA",
    "BoundStats",
    "CommitRow",
    "Comparison",
    "CosimResult",
    "DataProvenance",
    "DeviceFigures",
    "Divergence",
    "ElementDifference",
    "EngineRun",
    "ErrorStats",
    "Flip",
    "NotCompared",
    "OperationRow",
    "RunIdentity",
    "TaskMetric",
    "ValueCounts",
    "Worst",
]

SCHEMA = 2
"""Version of the JSON form; a reader refuses any other."""

ROUNDED = "vm-rounded"
"""Engine name of the rounded golden."""

Verdict = Literal["pass", "fail", "not proved", "nothing compared"]
"""fail: something differs. not proved: nothing differs for certain, and of something nobody can say."""
_EXIT_CODES: Mapping[Verdict, ExitCode] = {
    "pass": ExitCode.AGREED,
    "fail": ExitCode.DIFFERS,
    "not proved": ExitCode.INCOMPLETE,
    "nothing compared": ExitCode.INCOMPLETE,
}
Kind = Literal["bits", "bound", "info"]
Status = Literal["ran", "failed", "not asked"]


@dataclass(frozen=True)
class DeviceFigures:
    """The device as pictures need it: clock, sizes and roofline limits (`fleet.sdk.Device`)."""

    name: str
    instruction_set: str
    clock_mhz: float
    parameters: Mapping[str, int]
    limits: Mapping[str, float]


@dataclass(frozen=True)
class RunIdentity:
    """What ran, so that two results can be told apart and the run can be made again. Hashes are SHA-256 hex.

    Attributes:
        model: as the user gave it ("examples/digits/model.py:forward").
        case: name of the case, None for a run by hand.
        source_hash: of the model's source text; weights_hash: of all weights; inputs_hash: of all inputs.
        program_hash: `Program.hash`; rounded_program_hash: the same of the rounded golden, None without it.
        description_hash: hash of description, semantics and device file; None without a device.
        rtl_hash: hash of RTL sources and parameters, None where the RTL did not run.
        tools: name -> version ("numpy", "verilator", "fleet", ...).
        memory, seed: as asked for.
        date: ISO 8601, given by the caller (nothing here reads a clock).
        command: one line that makes the same run again.
        content, provenance: what decides the figures, and what does not (`fleet.cosim.identity`); None in older results.
    """

    model: str
    case: str | None
    source_hash: str
    weights_hash: str
    inputs_hash: str
    program_hash: str
    rounded_program_hash: str | None
    description_hash: str | None
    rtl_hash: str | None
    device: DeviceFigures | None
    tools: Mapping[str, str]
    memory: str
    seed: int
    date: str
    command: str
    content: Content | None = field(default=None, metadata={"may_be_missing": True})
    provenance: Provenance | None = field(default=None, metadata={"may_be_missing": True})


@dataclass(frozen=True)
class DataProvenance:
    """Where inputs and labels came from.

    kind: "real" or "random" (seeded); banner: what a reader must be told first (random data), else None.
    samples: rows of the batch. inputs and labels: file names as given, None where there is none.
    image_shape: (height, width) of an input row that is a picture, so that a report can show it; None when unknown.
    """

    kind: Literal["real", "random"]
    samples: int
    inputs: str | None
    labels: str | None
    banner: str | None
    image_shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class EngineRun:
    """One engine's run.

    Attributes:
        name: see the module; status: "ran", "failed" (error says why) or "not asked".
        required: whether the user named it (the rounded golden and a golden run for others' sake are not).
        evidence: what shows that it ran (`fleet.engines.evidence`): "model", "bench", "board"; None where it did not run.
        elapsed_s: wall time of the run itself.
        cycles: total cycles, None without a clock; counters: as `Trace.counters` documents.
        dtypes: operation id -> dtype name; dtype_note: a sentence where dtypes differ from the golden's, else "".
        placement: operation id -> "device" or "host"; empty where everything runs in one place.
        meta: JSON values of the trace (tool versions, host steps, quantisation).
        exit_code: what its failure means for a command (`fleet.errors.ExitCode`); None where it did not fail.
    """

    name: str
    status: Status
    required: bool = True
    error: str | None = None
    evidence: str | None = None
    elapsed_s: float = 0.0
    cycles: int | None = None
    counters: Mapping[str, float] = field(default_factory=dict[str, float])
    dtypes: Mapping[str, str] = field(default_factory=dict[str, str])
    dtype_note: str = ""
    program_hash: str | None = None
    description_hash: str | None = None
    placement: Mapping[str, str] = field(default_factory=dict[str, str])
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])
    exit_code: int | None = field(default=None, metadata={"may_be_missing": True})


@dataclass(frozen=True)
class ErrorStats:
    """Error of one array against its reference (`fleet.cosim.metrics` defines every figure).

    Attributes:
        elements: compared; max_abs, mean_abs, rms; max_rel: over elements with a non-zero finite reference.
        ulp_dtype: dtype in which ULPs are counted (the coarser of both); "" for integers and booleans (difference in units).
        ulp_max, ulp_p50, ulp_p99: distance in ULPs; inf where NaN or infinity stands on one side only.
        ulp_upper: inclusive upper edges of the histogram (0, 1, 2, 4, ...); ulp_counts has one count more: beyond the last edge.
        sqnr_db: 10 log10(sum ref^2 / sum err^2); inf for no error, nan for no signal.
        cosine: of both as vectors, nan if one is zero.
        mismatches: elements that are not equal (NaN equals NaN, +0 equals -0).
        channel_max_abs: largest error by index of the last dimension, at most 4096 entries (empty for scalars and beyond).
    """

    elements: int
    max_abs: float
    mean_abs: float
    rms: float
    max_rel: float
    ulp_dtype: str
    ulp_max: float
    ulp_p50: float
    ulp_p99: float
    ulp_upper: tuple[int, ...]
    ulp_counts: tuple[int, ...]
    sqnr_db: float
    cosine: float
    mismatches: int
    channel_max_abs: tuple[float, ...] = ()


@dataclass(frozen=True)
class BoundStats:
    """Error against its derived bound.

    bound_max, bound_median: of the elementwise bound; ulp_max, ulp_median: the bound in ULPs of the reference element.
    worst_ratio: largest error / bound (0 / 0 counts as 0); above 1 is a violation. violations: elements with error > bound.
    unbounded: elements whose bound is infinite: it says nothing of them (`Ways` says what does).
    undecided: argmax rows whose class differs while the top-2 margin lies within the bound.
    rule: one clause that says what the bound was derived from.
    """

    bound_max: float
    bound_median: float
    ulp_max: float
    ulp_median: float
    worst_ratio: float
    violations: int
    unbounded: int
    undecided: int
    rule: str


@dataclass(frozen=True)
class Worst:
    """The element with the largest error / bound (without a bound: the largest error). Values as Python floats."""

    index: tuple[int, ...]
    reference: float
    other: float
    error: float
    bound: float | None


@dataclass(frozen=True)
class ValueCounts:
    """Counts in one array; saturated: finite values at the dtype's largest magnitude (float16: also infinities)."""

    elements: int
    saturated: int
    subnormal: int
    nan: int
    inf: int
    zero: int


@dataclass(frozen=True)
class OperationRow:
    """One operation in one comparison.

    Attributes:
        op: operation id; name: of the operation ("matmul"); var, at: of the source, "" where unknown.
        index: position in program order, from 0 (the x axis of pictures against depth).
        place: "device" or "host" on the accelerator, "" elsewhere.
        cumulative: error from the model's inputs to here. local: the operation (or its group) alone, both sides on the same
            inputs (the reference's own; off the accelerator the other side's), None where it was not measured.
        bound, local_bound: likewise; None for kind "info" and "bits".
        own_bound: of the operation (or its group) on the other side's own operands, where that was measured. It stays finite
            where errors that gather on the way have no bound, and decides there.
        reference_counts, other_counts: special values of both sides.
        verdict: "pass", "fail", "not proved", or "info" where nothing is required; reason: one clause, "" when it passes.
        ways: how many elements were held in which way; None for kind "info" and "bits". higher: what the third judge found, None
            where it was not asked.
        waiver: "owner: reason (until date)" when a waiver turned a failure into a pass, else None.
        parts: of a device group's local error, as RMS: what "operands" stored by the device cost, what storing the "result"
            does, what the "unit" computes differently; empty where it was not measured.
        causes: what these are on this device, in words ("weights", "unit"), as its instruction set states them.
    """

    op: str
    name: str
    var: str
    at: str
    index: int
    place: str
    shape: tuple[int, ...]
    reference_dtype: str
    other_dtype: str
    cumulative: ErrorStats
    local: ErrorStats | None
    bound: BoundStats | None
    local_bound: BoundStats | None
    worst: Worst | None
    local_worst: Worst | None
    reference_counts: ValueCounts
    other_counts: ValueCounts
    verdict: Literal["pass", "fail", "not proved", "info"]
    reason: str
    waiver: str | None = None
    parts: Mapping[str, float] = field(default_factory=dict[str, float])
    causes: Mapping[str, str] = field(default_factory=dict[str, str])
    own_bound: BoundStats | None = None
    ways: Ways | None = field(default=None, metadata={"may_be_missing": True})
    higher: HigherPrecision | None = field(default=None, metadata={"may_be_missing": True})

    @property
    def by_step(self) -> bool:
        """Whether no differing element has a finite accumulated bound, so that the step on its own operands decides."""
        if self.ways is not None:
            return self.own_bound is not None and self.ways.own > 0 and self.ways.accumulated == 0
        return self.own_bound is not None and self.bound is not None and 0 < self.bound.unbounded == self.cumulative.elements

    @property
    def held(self) -> BoundStats | None:
        """The bound that decides: the accumulated one, or that of the step by itself."""
        return self.own_bound if self.by_step else self.bound


@dataclass(frozen=True)
class CommitRow:
    """One instruction commit of two engines. Digests are 16 hex digits; cycles and macs are empty / None without a source.

    equal: instruction, digest, bytes, result and operations agree. macs: useful; macs_issued: with padding waste.
    least_bytes: the bytes that its operands hold, each once, as "<space>_read" and "<space>_write" ("hbm_read"): what it
    must move at least (`Instruction.reads` and `writes`); empty when unknown. unit: of the hardware; empty when unknown.
    """

    seq: int
    instruction: str
    ops: tuple[str, ...]
    reference_digest: str
    other_digest: str
    bytes_written: int
    result: int | None
    start: int | None
    end: int | None
    cycles: Mapping[str, int]
    macs: int | None
    macs_issued: int | None
    model_cycles: int | None
    token_range: tuple[int, int] | None
    equal: bool
    least_bytes: Mapping[str, int] = field(default_factory=dict[str, int])
    unit: str = ""


@dataclass(frozen=True)
class ElementDifference:
    """One byte range of a destination that differs. address: byte offset in the space; element: coordinates in the operation's
    tensor where the layout is known, else None; expected and found: as text ("0x3c01 = 1.00097656"). place: row and column of an
    on-chip memory, or the state register; None for what has an address."""

    space: str
    bank: int
    address: int
    element: tuple[int, ...] | None
    expected: str
    found: str
    place: str | None = None

    @property
    def where(self) -> str:
        """The place in words: "hbm port 3 0x40", "acc row 7, column 3"."""
        return self.place or f"{self.space}{f' port {self.bank}' if self.space == 'hbm' else ''} {self.address:#x}"


@dataclass(frozen=True)
class Divergence:
    """The first place at which two things that must agree do not.

    For "bits" seq and instruction are the commit's; for "bound" op and element of the first operation beyond its bound.
    registers: (byte address, value) of the writes that start the instruction, in order; registers_named: the operand
    fields by name. inputs: what the place computed from, as text lines. disassembly: the instruction in one line, then
    a line a register with its meaning; empty when unknown. total_differences: elements that differ there,
    None where the bytes could not be had. account: what a replay showed, None where none was made.
    """

    comparison: str
    seq: int | None
    instruction: str | None
    ops: tuple[str, ...]
    what: str
    differences: tuple[ElementDifference, ...] = ()
    total_differences: int | None = None
    registers: tuple[tuple[int, int], ...] = ()
    registers_named: Mapping[str, int] = field(default_factory=dict[str, int])
    inputs: tuple[str, ...] = ()
    disassembly: tuple[str, ...] = ()
    account: Account | None = field(default=None, metadata={"may_be_missing": True})

    @property
    def commit(self) -> int | None:
        """The commit that differs: the instruction's own, or an older one that counts what it wrote before its turn."""
        counted_by = None if self.account is None else self.account.counted_by
        return self.seq if counted_by is None else counted_by


@dataclass(frozen=True)
class NotCompared:
    """Something that was not compared, and why: the reader must not think it was.

    what: an engine (`CosimResult.not_compared`, the run as a whole) or an operation (`Comparison.not_compared`).
    """

    what: str
    why: str


@dataclass(frozen=True)
class Comparison:
    """Two engines compared.

    kind: "bits" (must be identical), "bound" (must lie within the derived bound), "info" (measured, nothing required).
    elements: tensor elements compared; bytes: bytes covered by digests ("bits").
    question: what it answers, in words.
    """

    name: str
    kind: Kind
    reference: str
    other: str
    question: str
    verdict: Verdict
    reasons: tuple[str, ...]
    elements: int
    bytes: int
    operations: tuple[OperationRow, ...] = ()
    commits: tuple[CommitRow, ...] = ()
    divergence: Divergence | None = None
    not_compared: tuple[NotCompared, ...] = ()

    @property
    def ways(self) -> Ways:
        """How many elements of all operations were held in which way."""
        return Ways.total(row.ways for row in self.operations)


@dataclass(frozen=True)
class Flip:
    """A sample whose predicted class is not the golden's."""

    index: int
    label: int | None
    golden: int
    other: int


@dataclass(frozen=True)
class TaskMetric:
    """The task's own figure for one engine.

    Attributes:
        metric: "accuracy". value, low, high: with the Wilson interval at `confidence`. None where there are no labels.
        lost, lost_low, lost_high: golden's value minus this one, paired interval (Bonett and Price 2012); None likewise.
        agreement: fraction of samples with the golden's class. flips: the others, in order.
        must_agree: whether a flip is a failure (vm against cpython, riscv against vm).
        op: the operation whose value was taken as the predicted class.
    """

    engine: str
    metric: str
    op: str
    samples: int
    correct: int | None
    value: float | None
    low: float | None
    high: float | None
    lost: float | None
    lost_low: float | None
    lost_high: float | None
    confidence: float
    agreement: float
    flips: tuple[Flip, ...]
    must_agree: bool


@dataclass(frozen=True)
class CosimResult:
    """The whole outcome. `arrays` (not in the JSON, in the .npz) holds what pictures need:

    "inputs/flipped/<engine>"      input rows of the flipped samples, in the order of `TaskMetric.flips` (first model input)
    "<comparison>/<op>/reference"  up to 4096 values of the reference (evenly spaced in C order), float64
    "<comparison>/<op>/error"      other - reference of the same elements, float64
    "<comparison>/<op>/bound"      the bound of the same elements, float64 (kind "bound" only)
    """

    identity: RunIdentity
    data: DataProvenance
    engines: tuple[EngineRun, ...]
    comparisons: tuple[Comparison, ...]
    tasks: tuple[TaskMetric, ...]
    not_compared: tuple[NotCompared, ...]
    verdict: Verdict
    reasons: tuple[str, ...]
    divergence: Divergence | None
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray], compare=False, repr=False)

    @property
    def exit_code(self) -> ExitCode:
        """What a command leaves with that was asked for this comparison: that of a difference, else that of what failed.

        Where the golden failed its own counts: nobody can say of the others whether they had to.
        """
        differs = any(c.verdict == "fail" for c in self.comparisons) or any(t.must_agree and t.flips for t in self.tasks)
        failed = {e.name: e.exit_code for e in self.engines if e.exit_code is not None}
        failures = [failed["vm"]] if "vm" in failed else list(failed.values())
        if self.verdict == "fail" and not differs and failures:
            return heaviest(failures)
        return _EXIT_CODES[self.verdict]

    def engine(self, name: str) -> EngineRun | None:
        """The run of an engine, None when the result knows nothing of it."""
        return next((e for e in self.engines if e.name == name), None)

    def comparison(self, name: str) -> Comparison | None:
        """A comparison by name ("rtl-vs-iss"), None when it was not made."""
        return next((c for c in self.comparisons if c.name == name), None)

    @property
    def evidence(self) -> str:
        """What shows that each engine ran, the strongest first: "bench: rtl; model: vm, iss"."""
        kinds = {kind: [e.name for e in self.engines if e.evidence == kind] for kind in ("board", "bench", "model")}
        return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names)

    def task(self, engine: str) -> TaskMetric | None:
        """The task figure of an engine, None when there is none."""
        return next((t for t in self.tasks if t.engine == engine), None)

    def to_json(self) -> dict[str, Any]:
        """JSON values without the arrays; `schema` is the version."""
        table = cast("dict[str, Any]", encode(replace(self, arrays={})))
        del table["arrays"]
        return {"schema": SCHEMA, **table}

    @classmethod
    def from_json(cls, value: Any, where: str = "<result>", arrays: Mapping[str, np.ndarray] | None = None) -> CosimResult:
        """The inverse of `to_json`. Raises ModelError for another version or anything that does not fit."""
        if not isinstance(value, dict):
            raise ModelError("expected a table, the result of a co-simulation", where=where)
        table = dict(cast("dict[str, Any]", value))
        if (schema := table.pop("schema", None)) != SCHEMA:
            raise ModelError(
                f"result has schema {schema!r}, this fleet reads {SCHEMA}", where=where, hint="run the co-simulation again"
            )
        table["arrays"] = {}
        return replace(decode(cls, table, where, "result"), arrays=dict(arrays or {}))

    def save(self, folder: Path, beside: Mapping[Path, str] | None = None) -> Path:
        """Writes `folder/result.json` and its `.npz`; returns the JSON's path. A previous result stays whole until the end.

        beside: path -> text of files (a report's) that replace theirs together with the JSON, or not at all.
        """
        table = self.to_json()
        return save_pair(folder, "result.json", {"schema": table.pop("schema")}, table, self.arrays, beside)

    @classmethod
    def load(cls, path: Path) -> CosimResult:
        """Reads `result.json` (or the folder that holds it). Raises ModelError for anything that is not a whole result."""
        path = path / "result.json" if path.is_dir() else path
        table, arrays = load_pair(path)
        return cls.from_json(table, str(path), arrays)
