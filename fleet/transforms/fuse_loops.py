"""Fuses elementwise operations of one shape into kernels: one nest of loops instead of several.

A kernel is a `fleet.fused`. Its operations keep their order and their bits. Results that only the kernel itself reads are never
stored; with `keep`, every result is, from the same kernel, so that it can be compared (in the bodies of decisions and loops, none).

A kernel stands where its last operation stood. So it takes an operation only as long as nothing outside has read a result of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue

from fleet.errors import FleetError
from fleet.ir.build import make
from fleet.ir.dialect import (
    CompositeOp,
    ConstantOp,
    ElementwiseOp,
    FleetOp,
    FusedOp,
    MatmulOp,
    YieldOp,
    op_id,
)
from fleet.ir.operations.composite import ActivationOp
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, shape_of
from fleet.transforms.edit import Edit, identity, text_of
from fleet.transforms.passes import Pass
from fleet.transforms.simplify.bodies import everywhere

__all__ = ["PASS", "fuse_loops"]

_MOST_OPERATIONS = 24
_MOST_ARRAYS = 8
"""Arrays that one kernel reads: each takes an address, and vectors of them must not be spilled."""

Fusable = Callable[[FleetOp], bool]


def fuse_loops(program: Program, *, keep: bool, fusable: Fusable = lambda _op: True) -> Program:
    """Return the program with kernels.

    Args:
        program: shapes may be unknown; operations of unknown shapes stay.
        keep: whether every result outside of decisions and loops stays readable.
        fusable: what the target can compute element by element, of the operations that are candidates.
    """
    edit = Edit(program)
    everywhere(lambda inner: _fuse(inner, keep=keep and not inner.inside, fusable=fusable), edit)
    return edit.program()


@dataclass
class _Kernel:
    """Operations that become one kernel, in program order, and the values from outside that they read."""

    shape: tuple[int, ...]
    operations: list[FleetOp] = field(default_factory=list[FleetOp])
    inputs: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])

    def add(self, op: FleetOp, own: Mapping[SSAValue, _Kernel]) -> None:
        self.operations.append(op)
        self.inputs |= dict.fromkeys(v for v in op.operands if own.get(v) is not self)


def _fuse(edit: Edit, *, keep: bool, fusable: Fusable) -> None:
    own: dict[SSAValue, _Kernel] = {}
    """Result -> its kernel, as long as the kernel may take more operations."""
    kernels: list[_Kernel] = []
    for op in edit.operations():
        candidate = _elementwise(op) and fusable(op)
        feeding = list({id(own[v]): own[v] for v in op.operands if v in own}.values())
        found = next((kernel for kernel in feeding if candidate and _takes(kernel, op, own)), None)
        for kernel in feeding:
            if kernel is not found:
                _close(kernel, own)
        if not candidate:
            continue
        if found is None:
            found = _Kernel(shape_of(op.results[0].type))
            kernels.append(found)
        found.add(op, own)
        own[op.results[0]] = found
    for kernel in kernels:
        if len(kernel.operations) > 1:
            _replace(edit, kernel, keep=keep)


def _elementwise(op: FleetOp) -> bool:
    primitive = isinstance(op, ElementwiseOp) and not isinstance(op, CompositeOp | MatmulOp)
    if not (primitive or isinstance(op, ActivationOp)):
        return False
    type_ = op.results[0].type
    return is_tensor(type_) and min(shape_of(type_), default=1) > 0


def _takes(kernel: _Kernel, op: FleetOp, own: Mapping[SSAValue, _Kernel]) -> bool:
    inputs = kernel.inputs.keys() | {v for v in op.operands if own.get(v) is not kernel}
    arrays = sum(not isinstance(v.owner, ConstantOp) for v in inputs)
    return len(kernel.operations) < _MOST_OPERATIONS and arrays <= _MOST_ARRAYS and kernel.shape == shape_of(op.results[0].type)


def _close(kernel: _Kernel, own: dict[SSAValue, _Kernel]) -> None:
    for op in kernel.operations:
        own.pop(op.results[0], None)


def _replace(edit: Edit, kernel: _Kernel, *, keep: bool) -> None:
    members = set(kernel.operations)
    stored = [op for op in kernel.operations if keep or any(use.operation not in members for use in op.results[0].uses)]
    if not stored:
        return  # nothing reads them; another pass removes them
    # Of the operations as they are now: kernels before this one have been replaced.
    inputs = list(dict.fromkeys(v for op in kernel.operations for v in op.operands if v.owner not in members))
    body = Block(arg_types=[v.type for v in inputs])
    values: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for op in kernel.operations:
        copy = op.clone(value_mapper=values)
        copy.describe(id=edit.fresh_id(f"{op_id(op)}.fused"), var=text_of(op, "var"), at=text_of(op, "at"))
        body.add_op(copy)
    body.add_op(YieldOp([values[op.results[0]] for op in stored]))
    first, last = kernel.operations[0], kernel.operations[-1]
    name = edit.fresh_id(f"{op_id(first)}..{op_id(last)}")
    whole = FusedOp(inputs, body)
    whole.describe(id=name, at=text_of(last, "at"))
    result = edit.insert_before(last, whole)
    parts: dict[FleetOp, SSAValue] = {}
    for index, op in enumerate(stored):
        part = make("element", [result], index=index)
        part.describe(**identity(op))
        parts[op] = edit.insert_before(last, part)
    for op in reversed(kernel.operations):
        if op in parts:
            edit.replace(op, parts[op])
        else:
            edit.erase(op, f"computed inside {name}")


def _pass(options: Mapping[str, str]) -> Pass:
    keep = {"yes": True, "no": False}.get(options.get("keep", "no"))
    if unknown := options.keys() - {"keep"}:
        raise FleetError(f"pass fuse-loops has no option {', '.join(sorted(unknown))}", hint="it takes keep=yes or keep=no")
    if keep is None:
        raise FleetError(f"option keep of pass fuse-loops is {options['keep']!r}", hint="it is yes or no")
    return Pass(
        "fuse-loops",
        "elementwise operations of one shape become kernels of one loop nest",
        "bits",
        lambda edit: _fuse(edit, keep=keep and not edit.inside, fusable=lambda _op: True),
    )


PASS = _pass
