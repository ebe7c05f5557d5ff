"""Matrix products for groups of work items, and attention.

A group of 16 x 16 items computes a tile of up to 128 x 128 elements, an item up to 8 x 8 of them: tiles of both operands are copied
to memory that the group shares, and each item sums its products over the depth in ascending order, one fused multiply-add a step,
as on riscv. So the bits do not depend on the tiles. What follows a product (bias, activation, residual) is computed before the
element is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fleet.ir.dialect import FleetOp
from fleet.ir.expand import MASKED
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import numpy_dtype
from fleet.targets.gpu.builder import TextBuilder
from fleet.targets.gpu.statements import Pointer, TextOperand
from fleet.targets.riscv.isa import DEFAULT_ISA
from fleet.targets.riscv.kernels.composite import ElementRow, activation, softmax_row
from fleet.targets.riscv.kernels.kernel import (
    ArrayOperand,
    Carried,
    broadcast_strides,
    element,
    fused,
    index,
    is_float,
    load,
    number,
    store,
)
from fleet.targets.riscv.kernels.loops import fold, moved
from fleet.targets.riscv.kernels.matmul import lead_strides
from fleet.targets.riscv.kernels.operations import attention_of
from fleet.targets.riscv.plan import refuse
from fleet.transforms.schedule_loops import ScheduleChoices, loops_of

_ITEMS = 16
"""Work items of a group, in rows and in columns."""
MOST = 2**31 - 1024
"""Elements of an array: kernels count them in 32 bits."""
_TILES = ((8, 8, 264), (4, 16, 96), (2, 16, 96))
"""Elements of an item in rows and in columns, depth of the tiles, and the groups that keep a GPU busy."""
Finish = Callable[[TextOperand, Sequence[TextOperand]], TextOperand]
"""Takes a product's element and its indices; returns what is stored."""


def emit_tiled_matmul(b: TextBuilder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit out = lhs @ rhs; shapes must fit (`operations.workspace` checks them)."""
    _tiles(b, out, operands[0], operands[1], lambda value, _: value, _tiles_of(op).get(loops_of(op).tile))


def emit_tiled_linear(b: TextBuilder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit out = activation(x @ weight + bias) + residual."""
    found = attributes_of(op)
    rest = list(operands[2:])
    bias = rest.pop(0) if found["bias"] else None
    residual = rest.pop(0) if found["residual"] else None
    dtype = out.dtype

    def read(array: ArrayOperand, indices: Sequence[TextOperand]) -> TextOperand:
        strides = broadcast_strides(array, out.shape)
        assert strides is not None, "shapes are checked before code is made"
        return load(b, array, _offset(b, indices, strides), dtype)

    def finish(value: TextOperand, indices: Sequence[TextOperand]) -> TextOperand:
        if bias is not None:
            value = b.fadd(value, read(bias, indices))
        value = activation(b, found["activation"], value, dtype)
        return value if residual is None else b.fadd(value, read(residual, indices))

    _tiles(b, out, operands[0], operands[1], finish, _tiles_of(op).get(loops_of(op).tile))


def _offset(b: TextBuilder, indices: Sequence[TextOperand], strides: Sequence[int]) -> TextOperand:
    found: TextOperand = index(0)
    for i, stride in zip(indices, strides, strict=True):
        found = moved(b, found, i, stride)
    return found


@dataclass(frozen=True)
class ProductTile:
    """What a group of 16 x 16 items computes at a time. per: rows and columns of an item; depth: of the operands' tiles."""

    per: int
    depth: int = 16

    @property
    def side(self) -> int:
        """Rows and columns."""
        return _ITEMS * self.per

    @property
    def near(self) -> int:
        """Adjacent rows or columns of an item; the next ones lie 16 times as far away."""
        return min(self.per, 4)

    @property
    def pitch(self) -> int:
        """Elements between two depths of an operand's tile: what is written at the same time lies in different banks."""
        return self.side + self.near

    def groups(self, rows: int, columns: int) -> int:
        """Return the tiles of a matrix."""
        return -(-rows // self.side) * -(-columns // self.side)


def tile_of(lead: int, rows: int, columns: int, dtype: np.dtype) -> ProductTile:
    """Return the largest tile of which there are enough for a GPU, and that does not reach far beyond the matrix."""
    for per, depth, enough in _TILES:
        tile = ProductTile(per, depth)
        groups = tile.groups(rows, columns)
        if per * dtype.itemsize <= 32 and lead * groups >= enough and groups * tile.side**2 < 2 * rows * columns:
            return tile
    return ProductTile(1)


def _tiles_of(op: FleetOp) -> dict[tuple[int, ...], ProductTile]:
    """Return rows and columns -> tile of a product."""
    size = numpy_dtype(op.results[0].type).itemsize
    have = [ProductTile(1), *(ProductTile(per, depth) for per, depth, _ in reversed(_TILES))]
    return {(tile.side, tile.side): tile for tile in have if tile.per * size <= 32}


def _other_tile(op: FleetOp, tile: tuple[int, ...]) -> str | None:
    have = _tiles_of(op)
    return None if tile in have else f"of {', '.join(f'{rows} x {columns}' for rows, columns in have)}"


GPU_CHOICES = ScheduleChoices(frozenset({"order", "tile", "unroll"}), _other_tile)
"""Work items are on a GPU what threads and vectors are elsewhere."""


def _tiles(
    b: TextBuilder, out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand, finish: Finish, asked: ProductTile | None = None
) -> None:
    lead, (rows, columns) = out.shape[:-2], out.shape[-2:]
    tile = asked or tile_of(math.prod(lead), rows, columns, out.dtype)
    b.fleet_flow.in_groups(math.prod(lead) * tile.groups(rows, columns), _Product(b, out, lhs, rhs, finish, tile).emit)


@dataclass(frozen=True, eq=False)
class _Side:
    """An operand of a product.

    start: of its matrix. across, along: strides over rows (of the left operand) or columns, and over the depth. size: rows or
    columns; tile, item: the group's and the work item's number in this direction. shared, next, own: two tiles; what an item copies
    to the next one; what it multiplies.
    """

    source: ArrayOperand
    start: TextOperand
    across: int
    along: int
    size: int
    tile: TextOperand
    item: TextOperand
    shared: ArrayOperand
    next: ArrayOperand
    own: ArrayOperand


class _Product:
    """The code of one group.

    While a tile of both operands is multiplied, the next one is on its way into values of the items. Two tiles lie in shared memory
    in turn, so that one barrier a tile is enough.
    """

    def __init__(
        self, b: TextBuilder, out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand, finish: Finish, tile: ProductTile
    ) -> None:
        self._b, self._flow = b, b.fleet_flow
        self._out, self._lhs, self._rhs, self._finish, self._tile = out, lhs, rhs, finish, tile
        self._dtype, self._depth = out.dtype, lhs.shape[-1]

    def emit(self) -> None:
        """Emit the code."""
        b, tile, per = self._b, self._tile, self._tile.per
        lead, (rows, columns) = self._out.shape[:-2], self._out.shape[-2:]
        batch, *tiles = b.indices(b.number(b.surface.group), (math.prod(lead), -(-rows // tile.side), -(-columns // tile.side)))
        self._inside = b.number(b.surface.inside)
        items, indices = b.indices(self._inside, (_ITEMS, _ITEMS)), b.indices(batch, lead)

        def side(name: str, n: int, source: ArrayOperand, across: int, along: int) -> _Side:
            start = _offset(b, indices, lead_strides(source, lead))
            return _Side(
                source, start, across, along, self._out.shape[n - 2], tiles[n], items[n],
                self._array(name, 2 * tile.depth * tile.pitch, "shared"),
                self._array(f"next_{name}", tile.side * tile.depth // _ITEMS**2, "own"),
                self._array(f"own_{name}", per, "own"),
            )  # fmt: skip

        left, right = self._lhs, self._rhs
        self._sides = (side("left", 0, left, *left.strides[-2:]), side("right", 1, right, right.strides[-1], right.strides[-2]))
        self._sums = self._array("sums", per * per, "own")
        zero = number(self._dtype, 0)
        self._flow.unrolled(per * per, lambda i: store(b, self._sums, i, zero))

        full, rest = divmod(self._depth, tile.depth)
        if full:
            self._fetch(index(0), tile.depth)

            def another(t: TextOperand, carried: Carried) -> Carried:
                turn = b.make(t.type, "({0} % 2)", t, index=True)
                self._put(turn)
                self._fetch(moved(b, index(tile.depth), t, tile.depth), tile.depth)
                self._multiply(turn, tile.depth)
                return carried

            fold(b, full - 1, [], another)
            self._put(index((full - 1) % 2))
            if rest:
                self._fetch(index(full * tile.depth), rest)
            self._multiply(index((full - 1) % 2), tile.depth)
        if rest:
            if not full:
                self._fetch(index(0), rest)
            self._put(index(full % 2))
            self._multiply(index(full % 2), rest)
        self._write(indices)

    def _array(self, name: str, count: int, space: str) -> ArrayOperand:
        surface, stored = self._b.surface, element(self._dtype)
        form = surface.shared if space == "shared" else "{type} {name}[{count}];"
        self._b.raw(form.format(type=surface.types[str(stored)], name=name, count=count))
        return ArrayOperand(Pointer(name, stored, space=space), self._dtype, (count,))

    def _below(self, i: TextOperand, size: int) -> list[TextOperand]:
        """Return the condition that a row or column of a tile is one of the matrix, if tiles reach beyond it."""
        return [self._b.icmp_signed("<", i, index(size))] if size % self._tile.side else []

    def _place(self, n: TextOperand, side: _Side) -> tuple[TextOperand, TextOperand]:
        """Return row or column and depth of the n-th element of a tile that an item copies; neighbours in memory are neighbours."""
        b, tile = self._b, self._tile
        at = moved(b, self._inside, n, _ITEMS**2)
        if side.along == 1 or side.across != 1:
            i, k = b.indices(at, (tile.side, tile.depth))
        else:
            k, i = b.indices(at, (tile.depth, tile.side))
        return i, k

    def _fetch(self, first: TextOperand, count: int) -> None:
        """Read the next tiles, of `count` depths from `first` on."""
        for side in self._sides:
            self._fetch_one(side, first, count)

    def _fetch_one(self, side: _Side, first: TextOperand, count: int) -> None:
        b, source = self._b, side.source

        def one(n: TextOperand) -> None:
            i, k = self._place(n, side)
            whole = moved(b, i, side.tile, self._tile.side)

            def read() -> TextOperand:
                place = moved(b, moved(b, side.start, whole, side.across), moved(b, k, first, 1), side.along)
                return load(b, source, place, self._dtype)

            fits = self._below(whole, side.size)
            if count < self._tile.depth:
                fits.append(b.icmp_signed("<", k, index(count)))
            store(b, side.next, n, self._flow.chosen(_every(b, fits), read, number(self._dtype, 0)) if fits else read())

        self._flow.unrolled(side.next.size, one)

    def _put(self, turn: TextOperand) -> None:
        """Write what was read to shared memory, and wait for all items."""
        for side in self._sides:
            self._put_one(side, self._begin(turn))
        self._b.raw(self._b.surface.barrier)

    def _put_one(self, side: _Side, begin: TextOperand) -> None:
        b = self._b

        def one(n: TextOperand) -> None:
            i, k = self._place(n, side)
            store(b, side.shared, moved(b, moved(b, begin, i, 1), k, self._tile.pitch), load(b, side.next, n))

        self._flow.unrolled(side.next.size, one)

    def _begin(self, turn: TextOperand) -> TextOperand:
        """Return where a tile begins in shared memory."""
        return moved(self._b, index(0), turn, self._tile.depth * self._tile.pitch)

    def _index(self, n: TextOperand, of: TextOperand) -> TextOperand:
        """Return the row or column in a tile of an item's n-th."""
        b, near = self._b, self._tile.near
        found = moved(b, index(0), of, near)
        if self._tile.per <= near:
            return moved(b, found, n, 1)
        far = b.make(n.type, f"({{0}} / {near})", n, index=True)
        return moved(b, moved(b, found, far, _ITEMS * near), b.make(n.type, f"({{0}} % {near})", n, index=True), 1)

    def _multiply(self, turn: TextOperand, count: int) -> None:
        """Add the products of `count` depths to the sums, in ascending order."""
        b, per, begin = self._b, self._tile.per, self._begin(turn)
        lhs, rhs = self._sides

        def depth(k: TextOperand) -> None:
            at = moved(b, begin, k, self._tile.pitch)
            for side in self._sides:
                self._flow.unrolled(per, partial(self._read_one, side, at))

            def row(i: TextOperand) -> None:
                def column(j: TextOperand) -> None:
                    place = moved(b, j, i, per)
                    x, y, before = load(b, lhs.own, i), load(b, rhs.own, j), load(b, self._sums, place)
                    store(b, self._sums, place, fused(b, x, y, before) if is_float(self._dtype) else b.add(before, b.mul(x, y)))

                self._flow.unrolled(per, column)

            self._flow.unrolled(per, row)

        self._flow.unrolled(count, depth)

    def _read_one(self, side: _Side, at: TextOperand, n: TextOperand) -> None:
        place = moved(self._b, at, self._index(n, side.item), 1)
        store(self._b, side.own, n, load(self._b, side.shared, place))

    def _write(self, indices: Sequence[TextOperand]) -> None:
        """Store the sums, with what follows the product."""
        b, per, side = self._b, self._tile.per, self._tile.side

        def row(i: TextOperand) -> None:
            def column(j: TextOperand) -> None:
                where = [moved(b, self._index(n, s.item), s.tile, side) for n, s in zip((i, j), self._sides, strict=True)]

                def write() -> None:
                    place = [*indices, *where]
                    value = self._finish(load(b, self._sums, moved(b, j, i, per)), place)
                    store(b, self._out, _offset(b, place, self._out.strides), value)

                fits = [c for at, s in zip(where, self._sides, strict=True) for c in self._below(at, s.size)]
                if fits:
                    self._flow.when(_every(b, fits), write)
                else:
                    write()

            self._flow.unrolled(per, column)

        self._flow.unrolled(per, row)


def _every(b: TextBuilder, conditions: Sequence[TextOperand]) -> TextOperand:
    found = conditions[0]
    for condition in conditions[1:]:
        found = b.and_(found, condition)
    return found


def emit_attention_launches(b: TextBuilder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit multi-head attention in three launches: scores, the softmax of their rows in place, their product with the values."""
    a = attention_of(op, [out, *operands], DEFAULT_ISA)
    mask = operands[3] if len(operands) > 3 else None
    dtype, group = out.dtype, a.heads // a.kv_heads
    lead = (a.sequences, a.kv_heads, group)
    shape = (*lead, a.queries, a.keys)
    count = math.prod(shape)
    if count > MOST:
        raise refuse(op, f"{count:,} scores; expected at most {MOST:,}", "use a shorter sequence")
    b.common = count * dtype.itemsize
    scores = ArrayOperand(Pointer("scratch", element(dtype), space="common"), dtype, shape)

    def by_head(array: ArrayOperand, heads: int, *, turned: bool = False) -> ArrayOperand:
        """Return an array as matrices by sequence and head; heads of keys and values serve several of queries."""
        rows, (down, along) = array.shape[-2], array.strides[-2:]
        width = array.shape[-1] // heads
        sequence = array.strides[0] if len(array.shape) == 3 else 0
        head = (heads // a.kv_heads * width * along, width * along if heads > a.kv_heads else 0)
        matrix = ((width, rows), (along, down)) if turned else ((rows, width), (down, along))
        return replace(array, shape=(*lead, *matrix[0]), given=(sequence, *head, *matrix[1]))

    steps = broadcast_strides(mask, (a.sequences, a.queries, a.keys)) if mask is not None else None

    def finish(value: TextOperand, indices: Sequence[TextOperand]) -> TextOperand:
        sequence, _, _, query, key = indices
        if a.scale != 1.0:
            value = b.fmul(value, number(dtype, a.scale))
        if mask is not None and steps is not None:
            value = b.fadd(value, load(b, mask, _offset(b, (sequence, query, key), steps), dtype))
        if a.causal:
            last = b.add(query, index(a.keys - a.queries), flags=("nsw",))
            value = b.select(b.icmp_signed("<=", key, last), value, number(dtype, MASKED[dtype.name]))
        return value

    def row(indices: Sequence[TextOperand]) -> None:
        line = ElementRow(b, scores, moved(b, index(0), indices[0], a.keys), 1, a.keys)
        softmax_row(b, line, line)

    _tiles(b, scores, by_head(a.q, a.heads), by_head(a.k, a.kv_heads, turned=True), finish)
    b.fleet_flow.spread_out((count // a.keys,), row)
    _tiles(b, by_head(out, a.heads), scores, by_head(a.v, a.kv_heads), lambda value, _: value)
