"""Shrinks a failing model: operations, sizes, values, in turn. Each attempt is a co-simulation of the engines that differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fleet.compare.compiled_stream import open_stream
from fleet.compare.signature import FailureSignature
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.request import check_request, known_engines
from fleet.cosim.result import CosimResult
from fleet.cosim.result_signature import of_result
from fleet.engines.base import RunOptions
from fleet.errors import FleetError, ModelError
from fleet.isa.description import parameter_values
from fleet.isa.memory import as_bytes
from fleet.isa.reading.cache import load
from fleet.isa.resolved import resolved
from fleet.sdk import Write
from fleet.streams.case import StreamCase
from fleet.targets.accel.program import value_key
from fleet.verify.shrink.model_cuts import CutModel, beginnings, resized, sizes, some_operations
from fleet.verify.shrink.oracle import OutOfTime

_SMALL = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class ModelSize:
    """operations: their number; numbers: in weights and inputs, and how many of them are nonzero."""

    operations: int
    numbers: int
    not_zero: int


@dataclass(frozen=True)
class ShrunkModel:
    """The shrunk model. engines: those needed for the failure; result: of the smallest model; ran: number of co-simulations."""

    model: CutModel
    engines: tuple[str, ...]
    result: CosimResult
    signature: FailureSignature
    before: ModelSize
    after: ModelSize
    ran: int
    seconds: float
    finished: bool


class _Oracle:
    """Co-simulates attempts; `best` is the smallest model that failed in the same way."""

    def __init__(
        self, model: CutModel, engines: Sequence[str], options: CosimOptions, until: float, told: Callable[[_Oracle], None]
    ):
        self.best, self.engines, self.options, self.until, self.told = model, tuple(engines), options, until, told
        self.wanted: FailureSignature | None = None
        self.result: CosimResult | None = None
        self.ran = 0
        self._known: dict[str, bool] = {}

    def run(self, model: CutModel) -> CosimResult:
        """Co-simulate a model."""
        self.ran += 1
        self.told(self)
        return cosim(model.program, model.inputs, None, self.engines, self.options)

    def improves(self, model: CutModel | None) -> bool:
        """Return whether the model fails in the same way; if so, it becomes the best. Raises OutOfTime."""
        if model is None:
            return False
        if time.monotonic() > self.until:
            raise OutOfTime
        key = model.program.hash + "".join(f"{k}{v.tobytes().hex()[:4096]}{hash(v.tobytes())}" for k, v in model.inputs.items())
        if key in self._known:
            return False
        self._known[key] = True
        try:
            result = self.run(model)
        except FleetError:  # no engine accepts the cut model
            return False
        if of_result(result) != self.wanted:
            return False
        self.best, self.result = model, result
        return True


def size_of(model: CutModel) -> ModelSize:
    """Count the operations and numbers of a model."""
    arrays = [*(np.asarray(w) for w in model.program.weights.values()), *model.inputs.values()]
    return ModelSize(
        sum(1 for _ in model.program.operations()), sum(a.size for a in arrays), sum(int(np.count_nonzero(a)) for a in arrays)
    )


def shrink_model(
    model: CutModel, engines: Sequence[str], options: CosimOptions, *, seconds: float = 120.0,
    progress: Callable[[float, str], None] | None = None,
) -> ShrunkModel:  # fmt: skip
    """Return the smallest model found in so many seconds that fails in the same way as this one.

    engines, options: of the failing co-simulation. Raises ModelError if it does not fail, or not twice in the same way.
    """
    began = time.monotonic()

    def told(o: _Oracle) -> None:
        if progress is not None:
            left = size_of(o.best)
            progress(
                (time.monotonic() - began) / seconds, f"{o.ran} attempts, {left.operations} operations, {left.numbers:,} numbers"
            )

    quiet = replace(options, on_engine=None, on_comparison=None, on_trace=None, progress=None, metric=None, waivers={})
    oracle = _Oracle(model, engines, quiet, began + seconds, told)
    check_request(model.program, None, engines, quiet, known_engines(quiet))
    first = oracle.run(model)
    wanted = of_result(first)
    if wanted is None:
        raise ModelError("does not fail: there is nothing to shrink", where=options.model)
    sides = tuple(e for e in engines if e in wanted.comparison.split("-vs-") or e == "vm")
    oracle.engines = sides if len(sides) > 1 else tuple(engines)
    if of_result(again := oracle.run(model)) != wanted:
        if oracle.engines == tuple(engines):
            raise ModelError("two runs differ: what is not repeatable cannot be shrunk", where=options.model)
        oracle.engines = tuple(engines)
        if of_result(again := oracle.run(model)) != wanted:
            raise ModelError("two runs differ: what is not repeatable cannot be shrunk", where=options.model)
    oracle.wanted, oracle.result = wanted, again
    finished = False
    try:
        _fewer_operations(oracle, first.divergence.ops if first.divergence is not None else ())
        _smaller(oracle)
        _simpler(oracle)
        finished = True
    except OutOfTime:
        pass
    assert oracle.result is not None
    return ShrunkModel(
        oracle.best, oracle.engines, oracle.result, wanted, size_of(model), size_of(oracle.best), oracle.ran,
        time.monotonic() - began, finished,
    )  # fmt: skip


def _golden(oracle: _Oracle, model: CutModel) -> Mapping[str, np.ndarray]:
    vm = known_engines(oracle.options)["vm"]
    return vm.run(model.program, model.inputs, RunOptions(seed=oracle.options.seed)).tensors


def _fewer_operations(oracle: _Oracle, ops: Sequence[str]) -> None:
    """Keep only the operations of the commit that differs, on the golden's values; if that passes, add preceding operations."""
    model = oracle.best
    names = [name for op in model.program.operations() if (name := _name(op)) in set(ops)]
    if not names:
        return
    golden = _golden(oracle, model)
    for kept in beginnings(model.program, names):
        if oracle.improves(some_operations(model, kept, golden, names[-1])):
            break


def _name(op: object) -> str:
    from fleet.ir.dialect import FleetOp, op_id

    return op_id(op) if isinstance(op, FleetOp) else ""


def _smaller(oracle: _Oracle) -> None:
    """Reduce batch, tokens and channels."""
    changed = True
    while changed:
        changed = False
        for old, first in sizes(oracle.best):
            tries = [*(n for n in _SMALL if n < old), *(n for n in (old // 2, old - old // 4) if n > _SMALL[-1])]
            changed = any(oracle.improves(resized(oracle.best, old, n, first=first)) for n in tries)
            if changed:
                break


def _simpler(oracle: _Oracle) -> None:
    """Replace arrays by zeros, ones, whole numbers; then set halves of the remaining values to zero."""
    places = [*(("weight", a) for a in oracle.best.program.weights), *(("input", a) for a in oracle.best.inputs)]
    for kind, name in places:
        now = _array(oracle.best, kind, name)
        for simple in (np.zeros_like(now), np.ones_like(now), np.round(now)):
            if not np.array_equal(simple, now) and oracle.improves(_with(oracle.best, kind, name, simple)):
                break
        waiting = [(0, now.size)]
        while waiting:
            low, high = waiting.pop(0)
            flat = _array(oracle.best, kind, name).reshape(-1).copy()
            if not flat[low:high].any():
                continue
            flat[low:high] = 0
            if not oracle.improves(_with(oracle.best, kind, name, flat.reshape(now.shape))) and high - low > max(1, now.size // 64):
                waiting += [(low, (low + high) // 2), ((low + high) // 2, high)]


def _array(model: CutModel, kind: str, name: str) -> np.ndarray:
    return np.asarray(model.program.weights[name]) if kind == "weight" else model.inputs[name]


def _with(model: CutModel, kind: str, name: str, array: np.ndarray) -> CutModel:
    array = np.asarray(array, order="C")
    if kind == "input":
        return CutModel(model.program, {**model.inputs, name: array})
    weights = {k: np.asarray(v) for k, v in model.program.weights.items()}
    return CutModel(replace(model.program, weights={**weights, name: array}), model.inputs)


def stream_of(model: CutModel, options: CosimOptions) -> StreamCase | None:
    """Return the instructions compiled from the model, with its weights and inputs; None if nothing runs on the device."""
    assert options.device is not None
    compiled = open_stream(model.program, options.device, options.lowering).compiled
    calls = resolved(compiled.instruction_set, compiled.device, (replace(c, ops=()) for c in compiled.calls))
    if not calls:
        return None
    blocks = [
        Write(c.space, c.offset, as_bytes(data), bank) for c in compiled.plan.constants.values() for bank, data in enumerate(c.data)
    ]
    for argument, value in zip(compiled.program.arguments, compiled.program.function.body.block.args, strict=True):
        buffer = compiled.plan.buffers.get(value_key(compiled.program, value))
        if buffer is not None and argument.name in model.inputs:
            array = compiled.instruction_set.layout.pack(model.inputs[argument.name])
            packed = as_bytes(array)
            blocks.append(Write("ddr", buffer.offset, packed))
    parameters = parameter_values(load(compiled.instruction_set.description), compiled.parameters)
    return StreamCase(f"{options.device}/model", options.device, calls, tuple(blocks), None, parameters, options.seed)
