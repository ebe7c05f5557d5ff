"""Run one engine without affecting the others: the outcome is a trace, or one line that says why there is none."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.compare.memory_held import other_memory
from fleet.core.codec import Json
from fleet.core.plugins import blamed, raised_by_code, reason
from fleet.cosim.evidence_held import without_evidence
from fleet.cosim.what_ran import EngineRun
from fleet.engines.base import Engine, RunOptions
from fleet.engines.evidence import issued
from fleet.engines.trace import CYCLE_CLASSES, Trace
from fleet.errors import ExitCode, FleetError, SetupError
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program


@dataclass(frozen=True)
class EngineOutcome:
    """The engine's row of the result, and its trace or None."""

    run: EngineRun
    trace: Trace | None


def failed(name: str, required: bool, why: str, code: ExitCode) -> EngineOutcome:
    """Return the outcome of an engine without a trace. code: exit code of the failure."""
    return EngineOutcome(EngineRun(name, "failed", required, why, exit_code=int(code)), None)


def run_engine(
    engine: Engine,
    name: str,
    required: bool,
    program: Program,
    inputs: Mapping[str, np.ndarray],
    options: RunOptions,
    accepted: frozenset[str],
    golden: Trace | None,
) -> EngineOutcome:
    """Run one engine.

    Args:
        engine: the engine. name: its name in the result ("vm-rounded" is engine vm).
        required: whether the user requested it.
        accepted: program hashes that its trace may have (the program's, or with rounded weights).
        golden: trace whose dtypes are compared with this engine's, for the note.
    """
    try:
        missing = engine.available()
        if missing is not None:
            return failed(name, required, str(SetupError(missing)), ExitCode.BAD_INPUT)
        before = issued()
        trace = engine.run(program, inputs, options)
    except FleetError as error:
        return failed(name, required, str(error), error.exit_code)
    except MemoryError:
        return failed(name, required, "out of memory", ExitCode.BAD_INPUT)
    except OSError as error:
        return failed(name, required, f"{error.filename or name}: {error.strerror or error}", ExitCode.BAD_INPUT)
    except BaseException as error:
        if not raised_by_code(error):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
        why = f"internal error, a bug of {blamed(error) or 'fleet'}: {reason(error)}{place}"
        return failed(name, required, why, ExitCode.INTERNAL)
    if why := _implausible(trace, engine, program, accepted, options.memory, before):
        return failed(name, required, why, ExitCode.DIFFERS)
    return EngineOutcome(_row(trace, name, required, golden), trace)


def _implausible(trace: Trace, engine: Engine, program: Program, accepted: frozenset[str], memory: str, before: int) -> str | None:
    """Return why a trace cannot come from a run of this program, or None.

    before: number of simulation jobs that had been launched before the run.
    """
    if trace.engine != engine.name:
        return f"gave back a trace of engine '{trace.engine}'"
    if not trace.complete and trace.stopped is None:
        return "gave back a trace that is not complete: its run did not end"
    if why := without_evidence(engine, trace, before):
        return why
    if trace.evidence.kind != "model" and (why := other_memory(memory, trace.counters)):
        return why
    if trace.program_hash not in accepted:
        known = ", ".join(sorted(h[:16] for h in accepted))
        return f"ran program {trace.program_hash[:16]}, asked for was {known}"
    whole = trace.stopped is None and trace.evidence.kind != "sample"
    for name, value in zip(program.outputs, program.returned(), strict=True) if whole else ():
        if name not in trace.outputs:
            return f"gave no output '{name}'"
        op = value.owner
        kept = trace.tensors.get(op_id(op)) if isinstance(op, FleetOp) else None
        if kept is not None and not _same_values(np.asarray(trace.outputs[name]), np.asarray(kept)):
            return f"output '{name}' is not the value that its operation left"
    for commit in trace.commits:
        if commit.cycles and commit.start is not None and commit.end is not None:
            total, clocked = sum(commit.cycles.values()), commit.end - commit.start
            unknown = [c for c in commit.cycles if c not in CYCLE_CLASSES]
            if total != clocked or unknown:
                return f"commit {commit.seq}: cycle classes {dict(commit.cycles)} do not sum to its {clocked} cycles"
    return None


def _same_values(output: np.ndarray, tensor: np.ndarray) -> bool:
    """Return whether the values are equal; the output may have been widened from the engine's own dtype."""
    floats = {output.dtype.kind, tensor.dtype.kind} <= {"f", "c"}
    return output.shape == tensor.shape and np.array_equal(output, tensor.astype(output.dtype), equal_nan=floats)


def _row(trace: Trace, name: str, required: bool, golden: Trace | None) -> EngineRun:
    dtypes = {op: np.asarray(t).dtype.name for op, t in trace.tensors.items()}
    note = ""
    if golden is not None and golden is not trace:
        other = {op: np.asarray(t).dtype.name for op, t in golden.tensors.items()}
        changed = sorted({f"{other[op]} as {dtype}" for op, dtype in dtypes.items() if op in other and other[op] != dtype})
        count = sum(op in other and other[op] != dtype for op, dtype in dtypes.items())
        if changed:
            note = f"{count} of {len(dtypes)} operations in another dtype than the golden: {', '.join(changed)}"
    cycles = trace.counters.get("cycles")
    return EngineRun(
        name=name,
        status="ran",
        required=required,
        evidence=trace.evidence.kind,
        elapsed_s=float(trace.elapsed_s),
        cycles=None if cycles is None else int(cycles),
        counters={str(k): float(v) for k, v in trace.counters.items()},
        dtypes=dtypes,
        dtype_note=note,
        program_hash=trace.program_hash,
        description_hash=trace.description_hash,
        placement=dict(trace.placement),
        meta={str(k): _plain(v) for k, v in trace.meta.items()},
    )


def _plain(value: object) -> Json:
    """Convert what an engine put into `meta` to JSON values: NumPy scalars become numbers, other objects their text."""
    if isinstance(value, Mapping):
        table: Mapping[object, object] = value
        return {str(k): _plain(v) for k, v in table.items()}
    if isinstance(value, list | tuple):
        items: Sequence[object] = value
        return [_plain(v) for v in items]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item())
    return str(value)
