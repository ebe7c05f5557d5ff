"""Writes a program's schedule to the kernels that it is for: the attribute `schedule` of an operation, from which code is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Block

from fleet.errors import FleetError
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, all_operations, op_id
from fleet.ir.operations.composite import covered_ids
from fleet.ir.operations.operation import attributes_of, axes_attr, integers
from fleet.ir.operations.spaces import KernelSpace, space_of
from fleet.ir.program import Program
from fleet.ir.schedule import USUAL_LOOPS, LoopSchedule
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.transforms.edit import Edit, text_of

ATTRIBUTE = "schedule"
_NAMES = ("order", "tile", "unroll", "vectorise", "parallel")
_REGISTERS = 256
"""Elements of a product's tile that a processor computes at a time."""
_PRODUCTS = (d.MatmulOp, d.LinearOp)
_ROWS = (d.SoftmaxOp, d.LayerNormOp, d.RmsNormOp)


def _any_tile(_op: FleetOp, _tile: tuple[int, ...]) -> str | None:
    return None


def _in_registers(_op: FleetOp, tile: tuple[int, ...]) -> str | None:
    return f"of at most {_REGISTERS} elements" if tile[0] * tile[1] > _REGISTERS else None


@dataclass(frozen=True)
class ScheduleChoices:
    """What of a schedule a target has; the rest changes nothing there.

    names: fields of `LoopSchedule`. refused: which tiles a product has, in words, if the given one is none of them; else None.
    """

    names: frozenset[str] = frozenset(_NAMES)
    refused: Callable[[FleetOp, tuple[int, ...]], str | None] = _any_tile


ANY_CHOICE = ScheduleChoices()
"""Of no target: everything."""
WITH_THREADS = ScheduleChoices(refused=_in_registers)
ONE_THREAD = ScheduleChoices(frozenset(_NAMES) - {"parallel"}, _in_registers)


@dataclass(frozen=True)
class LoopAxes:
    """The loops of a kernel that a schedule arranges. shape: of all its loops; free: axes that may run in any order."""

    shape: tuple[int, ...]
    free: tuple[int, ...]


def axes_of(op: FleetOp) -> LoopAxes | None:
    """Return the loops of a kernel, or None if it has none that a schedule could arrange. Shapes are known."""
    if isinstance(op, d.FusedOp):
        space: KernelSpace | None = op.space
    elif isinstance(op, _PRODUCTS):
        shape = shape_of(op.results[0].type)
        return LoopAxes(shape, tuple(range(len(shape)))) if len(shape) >= 2 and 0 not in shape else None
    elif isinstance(op, _ROWS):
        shape = shape_of(op.results[0].type)
        space = KernelSpace(shape, (attributes_of(op).get("axis", -1) % len(shape),)) if 0 not in shape else None
    elif not op.results or not is_tensor(op.results[0].type):
        space = None
    else:
        space = space_of(op)
    if space is None:
        return None
    return LoopAxes(space.shape, tuple(i for i in range(len(space.shape)) if i not in space.reduced))


def divided_axis(op: FleetOp) -> tuple[int, int] | None:
    """Return the axis that threads divide among them, and how many there are; None if one thread runs the kernel."""
    threads, axes = loops_of(op).parallel or 1, axes_of(op)
    if threads == 1 or axes is None:
        return None
    order = [a for a in loops_of(op).order or axes.free if axes.shape[a] >= threads]
    return (order[0], threads) if order else None


def loops_of(op: FleetOp) -> LoopSchedule:
    """Return the schedule of an operation's loops."""
    found = op.attributes.get(ATTRIBUTE)
    if not isinstance(found, DictionaryAttr):
        return USUAL_LOOPS
    order, tile, *numbers = (found.data.get(name) for name in _NAMES)
    return LoopSchedule(_many(order), _many(tile), *map(_one, numbers))


def _many(value: Attribute | None) -> tuple[int, ...]:
    return integers(value) if isinstance(value, DenseArrayBase) else ()


def _one(value: Attribute | None) -> int | None:
    return value.value.data if isinstance(value, IntegerAttr) else None


def schedule_loops(program: Program, choices: ScheduleChoices) -> Program:
    """Return the program with `Program.schedule` written to its kernels.

    choices: the target's. Raises FleetError if the schedule names a kernel that there is not, or asks of it what does not fit.
    """
    schedule = program.schedule
    if schedule.loops == USUAL_LOOPS and not schedule.kernels:
        return program
    edit = Edit(program)
    operations = list(_kernels(edit.function.body.block))
    asked = dict(schedule.kernels)
    for op in operations:
        wanted = [asked.pop(id_) for id_ in _names(op) if id_ in asked]
        loops = wanted[0] if wanted else _fitting(op, schedule.loops, choices)
        if wanted and (why := _unfit(op, loops, choices)) is not None:
            raise FleetError(f"kernel {op_id(op)} {why}", where=text_of(op, "at"), hint="choose another schedule")
        written = _written(loops, choices.names)
        if written.data:
            op.attributes[ATTRIBUTE] = written
    if asked:
        have = ", ".join(op_id(op) for op in operations if axes_of(op) is not None)
        raise FleetError(f"no kernel has an operation {next(iter(asked))}", where=program.source_name, hint=f"kernels are {have}")
    return edit.program()


def _kernels(block: Block) -> Iterator[FleetOp]:
    inside: set[FleetOp] = set()
    for op in all_operations(block):
        if isinstance(op, d.FusedOp):
            inside |= set(op.operations)
        if isinstance(op, FleetOp) and op not in inside and not isinstance(op, d.YieldOp):
            yield op


def _names(op: FleetOp) -> list[str]:
    inner = op.operations if isinstance(op, d.FusedOp) else []
    return [op_id(op), *covered_ids(op), *(op_id(one).removesuffix(".fused") for one in inner)]


def _unfit(op: FleetOp, loops: LoopSchedule, choices: ScheduleChoices) -> str | None:
    """Return why a schedule does not fit a kernel, or None."""
    axes = axes_of(op)
    if axes is None:
        return "has no loops that a schedule arranges"
    product, rows = isinstance(op, _PRODUCTS), len(axes.free) < len(axes.shape)
    if loops.order and product:
        return "is a product, whose order is its own"
    if loops.order and sorted(loops.order) != list(axes.free):
        return f"has loops over axes {list(axes.free)}; order is {list(loops.order)}"
    if loops.tile and (why := _unfit_tile(op, loops.tile, axes, choices)) is not None:
        return f"{why}; tile is {list(loops.tile)}"
    if loops.vectorise is not None and (product or rows):
        return f"is {'a product' if product else 'of rows'}, whose vectors are the target's own"
    if loops.parallel is not None and _may_stop(op):
        return "may end the run, which one thread must do"
    return None


def _unfit_tile(op: FleetOp, tile: tuple[int, ...], axes: LoopAxes, choices: ScheduleChoices) -> str | None:
    if isinstance(op, _PRODUCTS):
        if len(tile) != 2 or 0 in tile:
            return "is a product, of which a tile has rows and columns"
        refused = choices.refused(op, tile)
        return None if refused is None else f"is a product with tiles {refused}"
    if len(tile) != len(axes.shape):
        return f"has {len(axes.shape)} axes"
    fixed = [a for a in range(len(axes.shape)) if a not in axes.free]
    return f"has rows along {fixed}, which keep their order" if any(tile[a] for a in fixed) else None


def _fitting(op: FleetOp, loops: LoopSchedule, choices: ScheduleChoices) -> LoopSchedule:
    """Return what of a schedule fits a kernel."""
    for name in _NAMES:
        alone = replace(USUAL_LOOPS, **{name: getattr(loops, name)})
        if alone != USUAL_LOOPS and _unfit(op, alone, choices) is not None:
            loops = replace(loops, **{name: getattr(USUAL_LOOPS, name)})
    return loops


def _may_stop(op: FleetOp) -> bool:
    """Return whether a value may end the run: a power of integers with an exponent below 0."""
    return isinstance(op, d.PowOp) and numpy_dtype(op.results[0].type).kind != "f"


def _written(loops: LoopSchedule, names: Collection[str]) -> DictionaryAttr:
    found: dict[str, Attribute] = {}
    for name in ("order", "tile"):
        if (many := getattr(loops, name)) and name in names:
            found[name] = axes_attr(many)
    for name in ("unroll", "vectorise", "parallel"):
        if (one := getattr(loops, name)) is not None and name in names:
            found[name] = IntegerAttr(one, i64)
    return DictionaryAttr(found)
