"""Local values: every operation, or device group, run on a golden's own inputs, so that "which layer is wrong?" has an answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fleet.cosim.stream import Stream
from fleet.cosim.tolerance import Values
from fleet.engines.trace import Trace
from fleet.errors import ComparisonFailure
from fleet.ir import dialect as d
from fleet.ir.dialect import op_id
from fleet.ir.program import Program

__all__ = ["local_device_values", "local_host_values", "pairs"]


def local_host_values(
    program: Program, weights: Mapping[str, np.ndarray], golden: Trace, inputs: Mapping[str, np.ndarray], skip: frozenset[str]
) -> dict[str, np.ndarray]:
    """Each operation by the VM's operators on the golden's values and the given weights.

    With rounded weights on the golden's values this is what quantisation costs in one operation. skip: ids left out.
    """
    from dataclasses import replace

    from fleet.targets.bytecode.operators import apply

    values = Values(replace(program, weights=weights), inputs, golden.tensors)
    found: dict[str, np.ndarray] = {}
    for op in program.operations():
        name = op_id(op)
        if name in skip or not op.results or isinstance(op, d.ConstantOp | d.PrintOp) or name not in golden.tensors:
            continue
        try:
            operands = [values.of(v) for v in op.operands]
        except ComparisonFailure:
            continue
        found[name] = np.asarray(apply(op, operands))
    return found


def local_device_values(stream: Stream, golden: Trace, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Each device group by the functional model on the golden's values, host operations with the stored weights."""
    from fleet.engines.accel import run_groups_locally

    grouped = frozenset(op for group in stream.groups for op in group)
    host = local_host_values(stream.rounded, stream.rounded.weights, golden, inputs, grouped)
    return host | run_groups_locally(stream.compiled, golden.tensors, inputs)


def pairs(references: Mapping[str, np.ndarray], others: Mapping[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(reference, other) for the operations that both have."""
    return {op: (np.asarray(references[op]), np.asarray(other)) for op, other in others.items() if op in references}
