"""The tensor-level dialect `fleet`: the meaning of a NumPy program, one operation per NumPy call.

Why not the seeds' mix of tosa, arith, math and tensor: xDSL's tosa has 21 operations (no reshape, transpose, tanh,
exp), and a model's operations must keep their identity from the source line to the report. So one dialect carries
the whole model; export to the standard dialects is a later, one-way step. docs/ir.md explains more and lists all operations.

Weights and inputs are function arguments; constants are `fleet.constant`. The IR never contains weight data.
Scalars (Python numbers) have builtin types, arrays tensor types; a dimension of -1 (`?`) is unknown until the program runs.

The operations are defined by family (`elementwise`, `reductions`, `movement`, `sized`, `composite`, `functions`,
`library`, `program_ops`, `regions`), each once. The names in `__all__` of these modules are exported here, and their operations
form the dialect.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Dialect

from fleet.ir.library.record import *
from fleet.ir.operations.composite import *
from fleet.ir.operations.elementwise import *
from fleet.ir.operations.functions import *
from fleet.ir.operations.movement import *
from fleet.ir.operations.operation import *
from fleet.ir.operations.operation import FleetOp, kind_of
from fleet.ir.operations.program_ops import *
from fleet.ir.operations.reductions import *
from fleet.ir.operations.regions import *
from fleet.ir.operations.regions import YieldOp
from fleet.ir.operations.sized import *


def _operations() -> list[type[FleetOp]]:
    found = (v for v in tuple(globals().values()) if isinstance(v, type) and issubclass(v, FleetOp))
    return [op for op in found if "name" in vars(op)]  # a base class has none of its own


OPERATIONS: Mapping[str, type[FleetOp]] = {kind_of(op): op for op in _operations()}
"""Every operation by its name without the dialect prefix: "add"."""

FLEET = Dialect("fleet", [*OPERATIONS.values(), YieldOp])
