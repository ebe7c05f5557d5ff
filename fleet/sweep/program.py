"""A program with data at the points of a sweep."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fleet.compare.compiled_stream import open_stream
from fleet.compare.tasks import class_scores
from fleet.compare.verdict import Comparison
from fleet.cosim.campaign import cosim
from fleet.cosim.identity import arrays_hash
from fleet.cosim.models.data import load_labels
from fleet.cosim.models.loaded import load_model
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.accel import check_work
from fleet.engines.accel_counters import static_counters
from fleet.errors import DeviceError
from fleet.ir.dialect import FleetOp, op_id
from fleet.sweep.records import HardwareRecord, Quality, QualityRecord, SweepPoint
from fleet.sweep.subject import Estimate, SubjectRequest, check_estimate, lowering_of
from fleet.transforms.simplify.infer_shapes import bound


class ProgramSubject:
    """A program; see `fleet.sweep.subject.Subject`."""

    def __init__(self, request: SubjectRequest) -> None:
        """Load the model and its data. Raises FleetError."""
        weights, data, labels = (Path(p) if p else None for p in (request.weights, request.input, request.labels))
        self._request = request
        self._loaded = load_model(request.model, weights, data, request.seed, request.batch)
        self.program = bound(self._loaded.program, self._loaded.inputs)
        self._labels = None if labels is None else load_labels(labels)[: request.batch or None]
        labelled = {} if self._labels is None else {"labels": self._labels}
        self._content = {
            "program": self.program.hash, "weights": arrays_hash(self.program.weights),
            "inputs": arrays_hash(self._loaded.inputs), "labels": arrays_hash(labelled), "seed": str(request.seed),
        }  # fmt: skip

    @property
    def content(self) -> Mapping[str, str]:
        """Hashes of the program, its weights, inputs and labels."""
        return self._content

    @property
    def scope(self) -> str:
        """The number of rows, and what was drawn."""
        banner = f"; {self._loaded.banner}" if self._loaded.banner else ""
        return f"{self._rows:,} rows{banner}"

    @property
    def _rows(self) -> int:
        return next((int(a.shape[0]) for a in self._loaded.inputs.values() if a.ndim), 1)

    def estimate(self, point: SweepPoint) -> Estimate:
        """Compile; sum up the instructions' counters."""
        compiled = open_stream(self.program, point.device, lowering_of(point)).compiled
        check_work(compiled)
        calls = (call for group in compiled.groups for call in group.calls)
        counters = check_estimate(compiled.instruction_set, compiled.device, calls, point.memory)
        return Estimate(counters, static_counters(compiled)["host_share"])

    def quality(self, point: SweepPoint) -> QualityRecord:
        """Run vm and iss. The figure is the SQNR of the outputs against the golden (of the scores, where classes are predicted)."""
        result = self._run(point, "ideal", "iss")
        found = next((c for c in result.comparisons if c.name == "iss-vs-vm"), None)
        if found is None:
            raise DeviceError(f"nothing was compared: {'; '.join(result.reasons)}", where=point.label)
        sqnr = self._sqnr(found)
        figures = [] if sqnr is None else [Quality("SQNR", sqnr, "dB", higher=True)]
        task = next((t for t in result.tasks if t.engine == "iss" and t.value is not None), None)
        if task is not None and task.value is not None:
            figures.append(Quality(task.metric, 100 * task.value, "%", higher=True))
        return QualityRecord(tuple(figures), result.verdict, result.reasons)

    def _sqnr(self, compared: Comparison) -> float | None:
        """Return the SQNR in dB of the worst real output, or of integers where no output is real; None if none was compared."""
        scores = class_scores(self.program)
        owners = [value.owner for value in self.program.returned()]
        wanted = {scores} if scores is not None else {op_id(op) for op in owners if isinstance(op, FleetOp)}
        rows = [row for row in compared.operations if row.op in wanted]
        return min((row.cumulative.sqnr_db for row in [r for r in rows if r.has_ulps] or rows), default=None)

    def hardware(self, point: SweepPoint, folder: Path) -> HardwareRecord:
        """Run vm, iss and rtl."""
        result = self._run(point, point.memory, "rtl")
        result.save(folder)
        engine = next((e for e in result.engines if e.name == "rtl" and e.status == "ran"), None)
        bits = next((c for c in result.comparisons if c.name == "rtl-vs-iss"), None)
        if engine is None or engine.cycles is None or bits is None:
            raise DeviceError(f"rtl did not run: {'; '.join(result.reasons)}", where=point.label)
        clocked = sum(c.end - c.start for c in bits.commits if c.start is not None and c.end is not None)
        estimate = self.estimate(point).counters["cycles_estimate"]
        return HardwareRecord(engine.cycles, clocked, estimate, result.verdict, result.reasons)

    def _run(self, point: SweepPoint, memory: str, engine: str) -> CosimResult:
        r = self._request
        data = DataProvenance("random" if self._loaded.random else "real", self._rows, r.input, r.labels, self._loaded.banner)
        options = CosimOptions(
            model=r.model, data=data, device=point.device, memory=memory, seed=r.seed,
            metric=None if self._labels is None else "accuracy", lowering=lowering_of(point),
            date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        inputs: Mapping[str, np.ndarray] = self._loaded.inputs
        return cosim(self.program, inputs, self._labels, (engine,), options)
