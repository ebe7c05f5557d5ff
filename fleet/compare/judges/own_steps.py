"""Compare each step of a device's own run with the golden's operators on that run's own operands.

Interval arithmetic bounds the errors that accumulate on the way to an operation. If a model has steep places (a softmax of large
scores, a division by what may be 0), that bound is infinite from there on, however right the device is. The error that one device
group or host operation adds on its actual operands does not depend on earlier operations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from fleet.compare.bounds.bound import Bounds
from fleet.compare.bounds.fates import completed
from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import GroupArithmetic
from fleet.compare.bounds.tolerance import local_bounds
from fleet.compare.compiled_stream import CompiledStream
from fleet.compare.judges.local import local_host_values, pairs
from fleet.engines.trace import Trace
from fleet.ir.dialect import op_id
from fleet.ir.types import numpy_dtype


def own_steps(
    stream: CompiledStream, side: GroupArithmetic, trace: Trace, inputs: Mapping[str, np.ndarray], equal: Collection[str] = ()
) -> tuple[dict[str, tuple[np.ndarray, np.ndarray]], Bounds]:
    """Return (operation id -> (golden's operators, device), both on the device's operands; operation id -> bound).

    Operations inside a group have no value; the golden's operators compute them from what enters the group. Stored dtypes (float16)
    widen exactly to the program's. Raises FleetError if an operand of an operation is missing.

    equal: operations to leave out, because the device and the golden show the same numbers (`settled.settled`).
    """
    program = stream.rounded
    dtypes = {op_id(op): numpy_dtype(op.results[0].type) for op in program.operations() if op.results}
    kept = {n: np.asarray(t).astype(dtypes[n], copy=False) for n, t in trace.tensors.items() if n in dtypes}
    whole = completed(program, inputs, kept, stream.inner)
    bounds = local_bounds(Values(program, inputs, whole), side, equal=equal)
    golden = local_host_values(program, program.weights, replace(trace, tensors=whole), inputs, equal)
    return pairs(golden, kept), bounds
