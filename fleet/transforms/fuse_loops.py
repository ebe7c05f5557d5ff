"""Fuses elementwise operations and reductions into kernels: one nest of loops instead of several.

A kernel is a `fleet.fused`: elementwise operations of one shape, reductions of that shape over the same axes, and what is
elementwise on their results. Its operations keep their order and their bits. Results that only the kernel itself reads are never
stored; with `keep`, every result is, from the same kernel, so that it can be compared (in the bodies of decisions and loops, none).

A kernel stands where its last operation stood. So it takes an operation only as long as nothing outside has read a result of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue

from fleet.errors import FleetError
from fleet.ir.build import make
from fleet.ir.dialect import ConstantOp, FleetOp, FusedOp, ReduceOp, ReshapeOp, YieldOp, op_id
from fleet.ir.operations.spaces import KernelSpace, is_elementwise, space_of
from fleet.ir.program import Program
from fleet.transforms.edit import Edit, identity, text_of
from fleet.transforms.passes import Pass
from fleet.transforms.simplify.bodies import everywhere

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
    everywhere(lambda inner: _fuse(inner, keep=keep and not inner.inside, fusable=fusable), edit, adds_weights=False)
    return edit.program()


@dataclass(eq=False)
class _Kernel:
    """Operations that become one kernel, with their places in the program, and the values from outside that they read."""

    space: KernelSpace
    operations: list[tuple[int, FleetOp]] = field(default_factory=list[tuple[int, FleetOp]])
    inputs: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])

    def fits(self) -> bool:
        """Return whether it has not too many operations and arrays."""
        arrays = sum(not isinstance(v.owner, ConstantOp) for v in self.inputs)
        return len(self.operations) <= _MOST_OPERATIONS and arrays <= _MOST_ARRAYS


def _fuse(edit: Edit, *, keep: bool, fusable: Fusable) -> None:
    own: dict[SSAValue, _Kernel] = {}
    """Result -> its kernel, as long as the kernel may take more operations."""
    kernels: dict[_Kernel, None] = {}
    for n, op in enumerate(edit.operations()):
        feeding = list({id(own[v]): own[v] for v in op.operands if v in own}.values())
        candidate = (is_elementwise(op) or isinstance(op, ReduceOp | ReshapeOp)) and fusable(op)
        joined = next((k for k in _choices(feeding, n, op) if k.fits()), None) if candidate else None
        for kernel in feeding:
            if joined is None or not set(kernel.operations) <= set(joined.operations):
                _close(kernel, own)
            else:
                kernels.pop(kernel)
        if joined is None and candidate and (space := space_of(op)) is not None:
            joined = _joined([], n, op, space)
        if joined is not None:
            kernels[joined] = None
            own |= {result: joined for _, member in joined.operations for result in member.results}
    for kernel in sorted(kernels, key=lambda k: k.operations[-1][0]):
        if len(kernel.operations) > 1:
            _replace(edit, kernel, keep=keep)


def _choices(feeding: Sequence[_Kernel], n: int, op: FleetOp) -> Iterator[_Kernel]:
    """Return the kernels that an operation could make with those it reads: with all of them first, then with one."""
    for group in ([feeding] if len(feeding) > 1 else []) + [[kernel] for kernel in feeding]:
        spaces = {kernel.space for kernel in group}
        rows = {space for space in spaces if space.reduced}
        if isinstance(op, ReduceOp) and (space := space_of(op)) is not None:
            rows.add(space)
        if len({space.shape for space in spaces | rows}) == 1 and len(rows) <= 1:
            space = next(iter(rows or spaces))
            made = {result for kernel in group for _, member in kernel.operations for result in member.results}
            if space.takes(op, made.__contains__):
                yield _joined(group, n, op, space)


def _joined(group: Sequence[_Kernel], n: int, op: FleetOp, space: KernelSpace) -> _Kernel:
    operations = sorted([one for kernel in group for one in kernel.operations] + [(n, op)], key=lambda one: one[0])
    made = {result for _, member in operations for result in member.results}
    return _Kernel(space, operations, dict.fromkeys(v for _, member in operations for v in member.operands if v not in made))


def _close(kernel: _Kernel, own: dict[SSAValue, _Kernel]) -> None:
    for _, op in kernel.operations:
        own.pop(op.results[0], None)


def _replace(edit: Edit, kernel: _Kernel, *, keep: bool) -> None:
    operations = [op for _, op in kernel.operations]
    members = set(operations)
    stored = [op for op in operations if keep or any(use.operation not in members for use in op.results[0].uses)]
    if not stored:
        return  # nothing reads them; another pass removes them
    # Of the operations as they are now: kernels before this one have been replaced.
    inputs = list(dict.fromkeys(v for op in operations for v in op.operands if v.owner not in members))
    body = Block(arg_types=[v.type for v in inputs])
    values: dict[SSAValue, SSAValue] = dict(zip(inputs, body.args, strict=True))
    for op in operations:
        copy = op.clone(value_mapper=values)
        copy.describe(id=edit.fresh_id(f"{op_id(op)}.fused"), var=text_of(op, "var"), at=text_of(op, "at"))
        body.add_op(copy)
    body.add_op(YieldOp([values[op.results[0]] for op in stored]))
    first, last = operations[0], operations[-1]
    name = edit.fresh_id(f"{op_id(first)}..{op_id(last)}")
    whole = FusedOp(inputs, body)
    whole.describe(id=name, at=text_of(last, "at"))
    result = edit.insert_before(last, whole)
    parts: dict[FleetOp, SSAValue] = {}
    for index, op in enumerate(stored):
        part = make("element", [result], index=index)
        part.describe(**identity(op))
        parts[op] = edit.insert_before(last, part)
    for op in reversed(operations):
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
        "elementwise operations and reductions become kernels of one loop nest",
        "bits",
        lambda edit: _fuse(edit, keep=keep and not edit.inside, fusable=lambda _op: True),
        adds_weights=False,
    )


PASS = _pass
