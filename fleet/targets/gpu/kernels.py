"""Operations -> launches: the loop level's own kernels, but for products, which groups of work items compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, FusedOp, name_of
from fleet.ir.operations.operation import ReduceOp, attributes_of
from fleet.ir.schedule import MatmulChoice
from fleet.targets.gpu.builder import LaunchBody, TextBuilder
from fleet.targets.gpu.products import emit_attention_launches, emit_tiled_linear, emit_tiled_matmul
from fleet.targets.gpu.statements import Pointer
from fleet.targets.gpu.surface import Surface
from fleet.targets.gpu.teams import CannotShareError, in_teams
from fleet.targets.riscv.isa import DEFAULT_ISA
from fleet.targets.riscv.kernels import operations
from fleet.targets.riscv.kernels.fused import emit_loops
from fleet.targets.riscv.kernels.kernel import I8, ArrayOperand, is_float
from fleet.targets.riscv.kernels.operations import needs_host, workspace
from fleet.targets.riscv.plan import refuse, type_supported
from fleet.transforms.widen_halves import computes_in_half, multiplies_halves

TiledKernel: TypeAlias = Callable[[TextBuilder, FleetOp, ArrayOperand, Sequence[ArrayOperand]], None]
_TILED: Mapping[type[FleetOp], TiledKernel] = {
    d.MatmulOp: emit_tiled_matmul,
    d.LinearOp: emit_tiled_linear,
    d.AttentionOp: emit_attention_launches,
}
HOST: frozenset[type[FleetOp]] = frozenset({d.IfOp, d.WhileOp})
"""Operations that the host computes, with what is in their bodies."""
KERNELS: Mapping[type[FleetOp], object] = {
    op: _TILED.get(op, kernel) for op, kernel in operations.KERNELS.items() if op not in HOST
}
"""Operation -> its kernel: riscv's, but for products."""
_IN_ORDER: Mapping[type[FleetOp], int] = {d.ScatterOp: 1}
"""Operation -> nests of loops that may run at the same time; the later ones write a place more than once."""


def host_reason(op: FleetOp, arrays: Sequence[ArrayOperand]) -> str | None:
    """Return why the host computes an operation on these arrays, its results' and operands'; None if there is a kernel."""
    types = dict.fromkeys(str(v.type) for v in (*op.results, *op.operands) if not type_supported(v.type))
    if types:
        return f"a kernel has no place for {', '.join(types)}"
    if type(op) in HOST:
        return f"{name_of(op)}: the host decides what runs"
    return f"{name_of(op)} of these arrays has no kernel" if needs_host(op, arrays) else None


def launches_of(
    op: FleetOp,
    results: Sequence[ArrayOperand],
    operands: Sequence[ArrayOperand],
    surface: Surface,
    matmul: MatmulChoice = "exact",
) -> tuple[TextBuilder, list[LaunchBody]]:
    """Return the launches of an operation, in order, and the builder that made them.

    Args:
        op: an operation without `host_reason`.
        results: its result, or the parts of a kernel's; their pointers are of `statements`.
        operands: its operands'.
        surface: the language.
        matmul: `Program.matmul`.

    Raises DeviceError if the kernel lacks the operation for these arrays.
    """
    if computes_in_half(op) and not (matmul != "exact" and multiplies_halves(op)):
        raise refuse(op, "arithmetic in float16", "run pass widen-halves before")
    along = _along_rows(op, operands) if surface.any else None
    if along is not None:
        b, launches = _emitted(op, results, operands, surface, matmul)
        try:
            return b, [launch if launch.groups else in_teams(launch, surface, across=not along) for launch in launches]
        except CannotShareError:
            pass
    return _emitted(op, results, operands, surface, matmul)


def _along_rows(op: FleetOp, operands: Sequence[ArrayOperand]) -> bool | None:
    """Return whether an operation goes over rows of adjacent elements: False if adjacent elements are of different rows.

    None if it has no rows whose rounds depend on what they carry alone, or if its elements do not lie side by side.
    """
    axes: Sequence[int]
    match op:
        case FusedOp():
            axes, rank = op.space.reduced, len(op.space.shape)
        case ReduceOp():
            axes, rank = attributes_of(op)["axes"], len(operands[0].shape)
        case d.SoftmaxOp() | d.LayerNormOp() | d.RmsNormOp():
            axes, rank = [attributes_of(op).get("axis", -1)], len(operands[0].shape)
        case _:
            return True if isinstance(op, d.AttentionOp) else None
    if not axes or any(a.strides[-1] != 1 for a in operands if len(a.shape) == rank and a.shape[-1] > 1):
        return None
    return any(axis % rank == rank - 1 for axis in axes)


def _emitted(
    op: FleetOp, results: Sequence[ArrayOperand], operands: Sequence[ArrayOperand], surface: Surface, matmul: MatmulChoice
) -> tuple[TextBuilder, list[LaunchBody]]:
    arrays = [*results, *operands]
    b = TextBuilder(surface, _scratch(op, arrays), _IN_ORDER.get(type(op)), matmul)
    scratch = Pointer("scratch", I8, space="scratch")
    if isinstance(op, FusedOp):
        emit_loops(b, op, results, operands, scratch)
    elif results[0].size or d.has_effects(op):
        if type(op) in _TILED:
            if not is_float(results[0].dtype) and not isinstance(op, d.MatmulOp):
                raise refuse(op, f"result {results[0].dtype}; expected float32 or float64")
            _TILED[type(op)](b, op, results[0], operands)
        else:
            operations.KERNELS[type(op)](b, op, results[0], operands, scratch)
    return b, b.fleet_flow.finish()


def _scratch(op: FleetOp, arrays: Sequence[ArrayOperand]) -> int:
    """Return the bytes of memory that a work item needs. Raises DeviceError for shapes that do not fit."""
    if isinstance(op, FusedOp):
        return workspace(op, [arrays[0], *arrays[len(arrays) - len(op.operands) :]], DEFAULT_ISA)
    needed = workspace(op, arrays, DEFAULT_ISA)
    return 0 if type(op) in _TILED else needed
