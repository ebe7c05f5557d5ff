"""Models of an engine's arithmetic: dtypes, sums and functions of a program, or of the groups of an accelerator.

`FloatArithmetic`  the program's dtypes, any order of summation, functions within stated ULPs (vm, cpython, riscv);
`GroupArithmetic`  an accelerator's groups, as the instruction set states them (`fleet.sdk.error_model.DeviceArithmetic`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.compare.rules.steps import Arithmetic
from fleet.errors import ComparisonFailure
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.sdk import Device, InstructionSet
from fleet.sdk.error_model import DeviceArithmetic, FixedPoint
from fleet.targets.bytecode.erf import ULP as ERF_ULP

NUMPY_ULP: Mapping[str, float] = {
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "tanh", "pow", "sin", "cos"), 4.0),
    "erf": ERF_ULP,
}
"""ULPs of NumPy's functions: NumPy's own tests allow 4 (numpy/_core/tests/test_umath_accuracy.py). erf is fleet's own."""


class Side(Protocol):
    """Arithmetic of the side that is compared with the reference."""

    def arithmetic(self, op: FleetOp) -> Arithmetic:
        """Return the arithmetic of one operation."""
        ...

    def group(self, op: FleetOp) -> str:
        """Return the key of the group that the operation is computed in; a local error is that of its whole group."""
        ...

    def load(self, op: FleetOp, operand: SSAValue) -> np.dtype | FixedPoint | None:
        """Return how an operand from outside op's group is rounded on entry, or None if it is not."""
        ...

    def rule(self, op: FleetOp) -> str:
        """Return what the bound was derived from, as one clause."""
        ...


@dataclass(frozen=True)
class FloatArithmetic:
    """The program's own dtypes in any order of summation; functions within `ulp` ULPs.

    absolute: operation ("sigmoid") or operation id -> additional absolute error that is allowed, in float32 and float16.
    unrounded: dtypes whose values an operation may read before they were rounded; the tensors that it shows are rounded copies.
    """

    ulp: Mapping[str, float] = field(default_factory=lambda: dict(NUMPY_ULP))
    absolute: Mapping[str, float] = field(default_factory=dict[str, float])
    unrounded: frozenset[str] = frozenset()

    def arithmetic(self, op: FleetOp) -> Arithmetic:
        """Return the same arithmetic for each operation of a result size."""
        return Arithmetic(ulp=self.ulp, absolute=self.absolute if result_dtype(op).itemsize <= 4 else {})

    def group(self, op: FleetOp) -> str:
        """Return the operation's id: each operation is its own group."""
        return op_id(op)

    def load(self, op: FleetOp, operand: SSAValue) -> np.dtype | FixedPoint | None:
        """Return the dtype if the engine may read the value unrounded (its rounding is then the operand's error), else None."""
        dtype = numpy_dtype(operand.type)
        return dtype if dtype.name in self.unrounded else None

    def rule(self, op: FleetOp) -> str:
        """Return a clause with dtype and length."""
        dtype = result_dtype(op)
        if isinstance(op, d.ArgmaxOp | d.ArgminOp):
            return f"the margin between the two {'largest' if isinstance(op, d.ArgmaxOp) else 'smallest'} decides"
        if dtype.kind != "f":
            return "exact"
        if isinstance(op, d.MatmulOp):
            return f"gamma_{shape_of(op.lhs.type)[-1]} of {dtype.name}, any order, both sides"
        return f"unit roundoff of {dtype.name}, both sides"


@dataclass(frozen=True)
class _Group:
    key: str
    ops: tuple[FleetOp, ...]
    stated: DeviceArithmetic


@dataclass(frozen=True)
class GroupArithmetic:
    """An accelerator: groups of operations in its own arithmetic; everything else runs on the host, as `FloatArithmetic`."""

    groups: Mapping[str, _Group]
    host: FloatArithmetic
    weights: frozenset[int]

    def _stored(self, op: FleetOp, group: _Group) -> bool:
        """Return whether the result leaves the group, or an argmax reads it (which reads it as memory would hold it)."""
        inside = {id(o) for o in group.ops}
        uses = [use.operation for use in op.results[0].uses]
        return op is group.ops[-1] or any(id(user) not in inside or isinstance(user, d.ArgmaxOp | d.ArgminOp) for user in uses)

    def arithmetic(self, op: FleetOp) -> Arithmetic:
        """Return the arithmetic of the operation's group, or of the host."""
        group = self.groups.get(op_id(op))
        if group is None:
            return self.host.arithmetic(op)
        if result_dtype(op).kind != "f":
            return Arithmetic()
        stated = group.stated
        store = stated.store if self._stored(op, group) else None
        return Arithmetic(
            stated.internal, stated.roundings.get(op_id(op)), stated.ulp, store, stated.inner, stated.absolute, stated.relative,
            stated.products,
        )  # fmt: skip

    def group(self, op: FleetOp) -> str:
        """Return the group's key, or the operation's id on the host."""
        group = self.groups.get(op_id(op))
        return group.key if group else op_id(op)

    def load(self, op: FleetOp, operand: SSAValue) -> np.dtype | FixedPoint | None:
        """Return the dtype of activations in device memory; None for weights, which are stored as they are, and numbers.

        An array whose elements are one constant is no weight: a float device rounds it as it rounds activations.
        """
        group = self.groups.get(op_id(op))
        if group is None or numpy_dtype(operand.type).kind != "f":
            return None
        if isinstance(operand.owner, d.ConstantOp):
            load = group.stated.load
            return load if shape_of(operand.type) and isinstance(load, np.dtype) else None
        return None if isinstance(operand, BlockArgument) and operand.index in self.weights else group.stated.load

    def rule(self, op: FleetOp) -> str:
        """Return what the instruction set states, as one clause."""
        group = self.groups.get(op_id(op))
        if group is None or isinstance(op, d.ArgmaxOp | d.ArgminOp):
            return self.host.rule(op)
        steps = ", ".join(f"{n} roundings in {name}" for name, n in group.stated.roundings.items())
        return f"{group.stated.internal.name} inside{', ' + steps if steps else ''}, {group.stated.store.name} in memory"


def group_arithmetic(
    program: Program,
    groups: Sequence[Sequence[str]],
    instruction_set: InstructionSet,
    device: Device,
    options: LoweringOptions | None = None,
    host_ulp: Mapping[str, float] | None = None,
) -> GroupArithmetic:
    """Build the accelerator's side from the groups that ran (`Commit.ops`) and the statements of its instruction set.

    Raises ComparisonFailure if a group names an operation that the program lacks.
    """
    ops = {op_id(op): op for op in program.operations()}
    state = instruction_set.error_model
    stated_options = options.stated if options is not None else {}
    table: dict[str, _Group] = {}
    for names in groups:
        if unknown := [n for n in names if n not in ops]:
            raise ComparisonFailure(
                f"an instruction names operation '{unknown[0]}', which the program does not have", where=device.name
            )
        members = tuple(ops[n] for n in names)
        stated = state(members, device, stated_options) if state else DeviceArithmetic()
        group = _Group(names[-1], members, stated)
        table |= dict.fromkeys(names, group)
    weights = frozenset(i for i, a in enumerate(program.arguments) if a.kind == "weight")
    return GroupArithmetic(table, FloatArithmetic(host_ulp or NUMPY_ULP), weights)


def result_dtype(op: FleetOp) -> np.dtype:
    """Return the dtype of the operation's first result; int64 without results."""
    return numpy_dtype(op.results[0].type) if op.results else np.dtype(np.int64)
