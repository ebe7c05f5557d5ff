"""Raises attention: heads computed one by one and concatenated, or in one batch, become one operation.

Three forms of the result are recognised: `hstack` of one product per head, `transpose` and `reshape` of a batch, and a single head.
q, k and v are taken from their origin: windows that are adjacent in one array (a split of q k v, then of heads) become one slice of
it; other values are concatenated. A batch may be of several sequences, each with its heads; then all have an axis of sequences in
front, also where the sequences have one head each.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.constants import constant
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import numpy_dtype, shape_of, tensor_type
from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.raising.heads import Heads, Mask, heads_at
from fleet.transforms.raising.masks import NEVER, is_causal, known_array
from fleet.transforms.raising.products import Factor
from fleet.transforms.raising.repeats import unrepeated
from fleet.transforms.raising.search import RaisingSite
from fleet.transforms.raising.views import BaseView, contiguous, view_of


def raise_attention(site: RaisingSite) -> None:
    """Replace computations of attention, the widest first."""
    for op in site.operations(d.ConcatOp):
        if site.alive(op):
            _side_by_side(site, op)
    for op in site.operations(d.MatmulOp, d.EinsumOp):
        if not site.alive(op):
            continue
        found = heads_at(op.results[0])
        if isinstance(found, str):
            site.miss("attention", op, found)
        elif found is not None:
            _batch(site, op, found)


def _side_by_side(site: RaisingSite, concat: FleetOp) -> None:
    parts = list(concat.operands)
    rank = len(shape_of(concat.results[0].type))
    if rank != 2 or attributes_of(concat)["axis"] % rank != 1:
        return
    found = [heads_at(v) for v in parts]
    heads = [h for h in found if isinstance(h, Heads)]
    if not heads:
        return
    first = heads[0]
    why = next((h for h in found if isinstance(h, str)), None)
    if len(heads) != len(parts):
        why = why or "not every part is a head"
    elif any((h.sequences, h.number) != (1, 1) or (h.n, h.m, h.d) != (first.n, first.m, first.d) for h in heads):
        why = "the heads have different shapes"
    elif any((h.scale, h.mask, h.guarded) != (first.scale, first.mask, first.guarded) for h in heads):
        why = "the heads have different scales or masks"
    elif any((h.result.rows, h.result.columns) != (0, 1) for h in heads):
        why = "a head's result is transposed"
    if why is None:
        k, v = ([_Piece.of(f) for f in factors] for factors in ([h.k for h in heads], [h.v for h in heads]))
        shared = _shared(k)
        if _shared(v) != shared:
            why = "keys and values are shared by different heads"
        else:
            q = [_Piece.of(h.q) for h in heads]
            why = _place(site, concat, first, len(heads), shared, (q, k[::shared], v[::shared]))
    if why is not None:
        site.miss("attention", concat, why)


def _batch(site: RaisingSite, op: FleetOp, heads: Heads) -> None:
    shape = shape_of(op.results[0].type)
    plain = heads.number == 1 and (heads.result.rows, heads.result.columns, len(shape)) == (0, 1, 2)
    root = op if plain else _joined(op, heads)
    if (
        root is None
        and heads.sequences == 1 < heads.number
        and (heads.result.heads, heads.result.rows, heads.result.columns) == (0, 1, 2)
    ):
        heads, root = _of_one_head(heads), op
    if root is None:
        site.miss("attention", op, "the heads' results are not put side by side as [queries, heads * columns]")
        return
    (k, group), (v, other) = unrepeated(heads.k), unrepeated(heads.v)
    if group != other:
        k, v, group = heads.k, heads.v, 1
    pieces = tuple([_Piece.of(f)] for f in (heads.q, k, v))
    whole = root if shape_of(root.results[0].type) != _result(heads) else None
    if whole is not None:
        root = _flattened(site, whole, heads)
    name = op_id(root)
    why = _place(site, root, heads, heads.number, group, pieces)
    if why is not None:
        site.miss("attention", whole or root, why)
        if whole is not None:
            site.edit.replace(root, root.operands[0])
    elif whole is not None:
        fused = [inner for inner, fate in site.edit.fates.items() if fate == f"fused into {name}"]
        site.edit.fates |= dict.fromkeys(fused, f"fused into {op_id(whole)}")


def _flattened(site: RaisingSite, whole: FleetOp, heads: Heads) -> FleetOp:
    """Insert, before a reshape to another shape of the same rows, one to the shape of the attention that replaces it."""
    flat = site.new(whole, f"{op_id(whole)}.rows", "reshape", whole.operands[0], shape=list(_result(heads)))
    whole.operands[0] = flat
    assert isinstance(flat.owner, FleetOp)
    return flat.owner


def _result(heads: Heads) -> tuple[int, ...]:
    """Return the shape of the attention's result."""
    return (*_front(heads.sequences), heads.n, heads.number * heads.d)


def _front(sequences: int) -> tuple[int, ...]:
    """Return the axes in front of [rows, columns]: none for one sequence."""
    return () if sequences == 1 else (sequences,)


def _of_one_head(heads: Heads) -> Heads:
    """Return heads that stay apart as sequences of one head each."""

    def apart(factor: Factor) -> Factor:
        return factor._replace(sequences=factor.heads, heads=None)

    factors = {"q": apart(heads.q), "k": apart(heads.k), "v": apart(heads.v), "result": apart(heads.result)}
    return heads._replace(**factors, sequences=heads.number, sequence=-3, number=1)


def _joined(op: FleetOp, heads: Heads) -> FleetOp | None:
    """Return the reshape that concatenates the heads of a batch, [..., heads * d] with all rows before it, or None."""
    result, rows = heads.result, heads.sequences * heads.n
    steps = contiguous(shape_of(op.results[0].type))
    sized = [(heads.sequences, result.sequences), (heads.n, result.rows), (heads.number, result.heads), (heads.d, result.columns)]
    wanted = [(size, steps[axis]) for size, axis in sized if axis is not None and size != 1]
    front = [op.results[0]]
    for _ in range(3):
        users = [use.operation for value in front for use in value.uses]
        for user in users:
            if isinstance(user, d.ReshapeOp) and _rows_of(user.result) == (rows, heads.number * heads.d):
                view = view_of(user.operand)
                found = [(size, stride) for size, stride in zip(view.shape, view.strides, strict=True) if size != 1]
                if view.base is op.results[0] and view.offset == 0 and found == wanted:
                    return user
        front = [user.result for user in users if isinstance(user, d.ReshapeOp | d.TransposeOp)]
    return None


def _rows_of(value: SSAValue) -> tuple[int, ...]:
    """Return (rows, columns) of an array, all axes before the last one taken together; () for a vector or unknown sizes."""
    shape = shape_of(value.type)
    return (prod(shape[:-1]), shape[-1]) if len(shape) >= 2 and -1 not in shape else ()


class _Piece:
    """q, k or v of one head or one batch of heads: the value, and its window [sequences, heads, rows, columns]."""

    def __init__(self, factor: Factor, view: BaseView) -> None:
        self.factor, self.view = factor, view

    @classmethod
    def of(cls, factor: Factor) -> _Piece:
        """Return the piece with the window's axes in the order sequences, heads, rows, columns."""
        whole = view_of(factor.value)
        sizes, strides = (*whole.shape, 1), (*whole.strides, 0)
        axes = [
            len(whole.shape) if axis is None else axis for axis in (factor.sequences, factor.heads, factor.rows, factor.columns)
        ]
        return cls(factor, BaseView(whole.base, sizes, strides, whole.offset).axes(axes))

    def same(self, other: _Piece) -> bool:
        """Whether both are the same elements."""
        mine, its = self.view, other.view
        return mine.base is its.base and (mine.shape, mine.strides, mine.offset) == (its.shape, its.strides, its.offset)


def _shared(pieces: Sequence[_Piece]) -> int:
    """Return how many consecutive heads share each piece."""
    changes = [i for i in range(1, len(pieces)) if not pieces[i].same(pieces[i - 1])]
    group = changes[0] if changes else len(pieces)
    return group if len(pieces) % group == 0 and changes == list(range(group, len(pieces), group)) else 1


def _place(site: RaisingSite, root: FleetOp, heads: Heads, count: int, shared: int, pieces: tuple[list[_Piece], ...]) -> str | None:
    mask = _mask(site.edit, heads)
    if heads.guarded and isinstance(mask, Mask):
        return "rows of NaN become zeros, and what the mask hides is not known"
    if isinstance(mask, Mask) and _mask_shape(heads, mask) is None:
        return "its mask differs from head to head"
    made: list[SSAValue] = []

    def operands(dtype: np.dtype | None) -> list[SSAValue]:
        if not made:
            q, k, v = pieces
            made.extend(_flat(site, root, name, p) for name, p in (("q", q), ("k", k), ("v", v)))
            if isinstance(mask, Mask):
                made.append(_additive(site, root, heads, mask, numpy_dtype(made[0].type)))
        return [site.widened(root, made[0], dtype), *made[1:]]

    attributes: dict[str, Any] = {"heads": count, "kv_heads": count // shared, "scale": heads.scale, "causal": mask == "causal"}
    return site.compose(root, "attention", operands, **attributes)


def _mask(edit: Edit, heads: Heads) -> Mask | str | None:
    """Return "causal", None (nothing is hidden), or the mask itself."""
    mask = heads.mask
    if mask is None:
        return None
    known = known_array(edit, mask.value)
    if known is None:
        return mask
    if mask.kind == "add":
        added = known.astype(np.float64) * mask.factor
        if not added.any():
            return None
        return "causal" if bool(np.all((added == 0) | (added <= NEVER))) and is_causal(added == 0, heads.n, heads.m) else mask
    seen = known.astype(bool) if mask.kind == "seen" else ~known.astype(bool)
    return None if seen.all() else "causal" if is_causal(seen, heads.n, heads.m) else mask


def _mask_shape(heads: Heads, mask: Mask) -> tuple[int, ...] | None:
    """Return the mask's shape without axes of size 1 in front of [sequences, n, m]; None if it has an axis of heads."""
    shape = shape_of(mask.value.type)
    if len(shape) <= 2:
        return shape
    axis = None if heads.sequence is None or -heads.sequence > len(shape) else len(shape) + heads.sequence
    each = 1 if axis is None else shape[axis]
    return (*_front(each), *shape[-2:]) if prod(shape[:-2]) == each else None


def _additive(site: RaisingSite, root: FleetOp, heads: Heads, mask: Mask, dtype: np.dtype) -> SSAValue:
    """Return the mask as a term added to the scores, [n, m] or [sequences, n, m]."""
    value, name = mask.value, f"{op_id(root)}.mask"
    shape = _mask_shape(heads, mask)
    if shape is not None and shape != shape_of(value.type):
        value = site.new(root, name, "reshape", value, shape=list(shape))
    if mask.kind == "add":
        if mask.factor == 1:
            return value
        factor = site.insert(root, f"{name}.factor", constant(mask.factor, tensor_type((), numpy_dtype(value.type))))
        return site.new(root, name, "mul", value, factor)
    numbers = [0.0, max(mask.factor, float(np.finfo(dtype).min))]
    filled = [site.insert(root, name, constant(n, tensor_type((), dtype))) for n in numbers]
    return site.new(root, name, "where", value, *(filled if mask.kind == "seen" else filled[::-1]))


def _flat(site: RaisingSite, root: FleetOp, name: str, pieces: Sequence[_Piece]) -> SSAValue:
    """Return the pieces concatenated, [rows, heads * columns] or [sequences, rows, heads * columns]."""
    wanted = f"{op_id(root)}.{name}"
    views = [piece.view for piece in pieces]
    merged = _merged(views) if len(views) > 1 else views[0]
    if merged is not None:
        window = _window(site, root, wanted, merged)
        if window is not None:
            return window
    parts = [_window(site, root, wanted, piece.view) or _copied(site, root, wanted, piece) for piece in pieces]
    return parts[0] if len(parts) == 1 else site.new(root, wanted, "concat", *parts, axis=1)


def _merged(views: Sequence[BaseView]) -> BaseView | None:
    """Return single heads at equal distances in one base as one window, or None."""
    first = views[0]
    step = views[1].offset - first.offset
    for i, view in enumerate(views):
        same = view.base is first.base and (view.shape, view.strides) == (first.shape, first.strides)
        if not same or view.offset != first.offset + i * step:
            return None
    return BaseView(first.base, (1, len(views), *first.shape[2:]), (0, step, *first.strides[2:]), first.offset)


def _window(site: RaisingSite, root: FleetOp, wanted: str, view: BaseView) -> SSAValue | None:
    """Return the window as columns of the base's rows: the base, an existing slice of it, or a new one; None if that is impossible.

    Several sequences are all rows of the base, one after the other.
    """
    (sequences, count, rows, width), (sequence_step, head_step, row_step, step) = view.shape, view.strides
    base, columns = view.base, count * width
    shape = shape_of(base.type)
    if rows == 1:
        row_step = sequence_step if sequences > 1 else shape[-1] if shape else 1
    if (width > 1 and step != 1) or (count > 1 and head_step != width) or -1 in shape or row_step < columns:
        return None
    size = prod(shape)
    if size % row_step or (sequences > 1 and (sequence_step, size) != (rows * row_step, sequences * rows * row_step)):
        return None
    height, (row, column) = size // (sequences * row_step), divmod(view.offset, row_step)
    if row + rows > height or column + columns > row_step:
        return None
    front = _front(sequences)
    if shape != (*front, height, row_step):
        base = site.new(root, wanted, "reshape", base, shape=[*front, height, row_step])
    if (rows, columns) == (height, row_step):
        return base
    start, size_of = [*[0] * len(front), row, column], [*front, rows, columns]
    for use in base.uses:
        op = use.operation
        if isinstance(op, d.SliceOp) and op.result.type == tensor_type(size_of, numpy_dtype(base.type)):
            a = attributes_of(op)
            if a["start"] == start and not a.get("step") and _before(op, root):
                return op.result
    return site.new(root, wanted, "slice", base, start=start, size=size_of)


def _before(op: FleetOp, root: FleetOp) -> bool:
    """Whether `op` precedes `root`."""
    return next(o for o in op.parent_block().walk() if o is op or o is root) is op  # pyright: ignore[reportOptionalMemberAccess]


def _copied(site: RaisingSite, root: FleetOp, wanted: str, piece: _Piece) -> SSAValue:
    """Return the value itself, rearranged to [rows, heads * columns], of several sequences with their axis in front."""
    f = piece.factor
    shape = shape_of(f.value.type)
    order = [axis for axis in (f.sequences, f.rows, f.heads, f.columns) if axis is not None]
    lead = [i for i in range(len(shape)) if i not in order]  # of size 1
    value = f.value
    if [*lead, *order] != list(range(len(shape))):
        value = site.new(root, wanted, "transpose", value, permutation=[*lead, *order])
    flat = [*_front(f.size(f.sequences)), shape[f.rows], shape[f.columns] * f.size(f.heads)]
    return value if list(shape_of(value.type)) == flat else site.new(root, wanted, "reshape", value, shape=flat)


def _apply(edit: Edit) -> None:
    raise_attention(RaisingSite(edit))


PASS = plain("raise-attention", "find attention, head by head or in a batch", "rounding", _apply, adds_weights=False)
