"""Matrix products for groups of work items: tiles of both operands lie in memory that the group shares.

`TiledProduct` is what all of them do, `ItemProduct` the one whose sums each item computes itself.

A group of 16 x 16 items computes a tile of up to 128 x 128 elements, an item up to 8 x 8 of them: tiles of both operands are copied
to memory that the group shares, and each item sums its products over the depth in ascending order, one fused multiply-add a step,
as on riscv. So the bits do not depend on the tiles.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from fleet.targets.gpu.builder import TextBuilder
from fleet.targets.gpu.statements import Pointer, TextOperand
from fleet.targets.riscv.kernels.kernel import ArrayOperand, Carried, element, fused, index, is_float, load, number, store
from fleet.targets.riscv.kernels.loops import fold, moved
from fleet.targets.riscv.kernels.matmul import lead_strides

ITEMS = 16
"""Work items of a group, in rows and in columns."""
TILES = ((8, 8, 264), (4, 16, 96), (2, 16, 96))
"""Elements of an item in rows and in columns, depth of the tiles, and the groups that keep a GPU busy."""
Finish = Callable[[TextOperand, Sequence[TextOperand]], TextOperand]
"""Takes a product's element and its indices; returns what is stored."""


def offset_of(b: TextBuilder, indices: Sequence[TextOperand], strides: Sequence[int]) -> TextOperand:
    """Return the offset of an element, of its indices."""
    found: TextOperand = index(0)
    for i, stride in zip(indices, strides, strict=True):
        found = moved(b, found, i, stride)
    return found


def every(b: TextBuilder, conditions: Sequence[TextOperand]) -> TextOperand:
    """Return the condition that all of these hold."""
    found = conditions[0]
    for condition in conditions[1:]:
        found = b.and_(found, condition)
    return found


class GroupTile(Protocol):
    """What a group of 16 x 16 items computes at a time."""

    @property
    def side(self) -> int:
        """Rows and columns."""
        ...

    @property
    def depth(self) -> int:
        """Depth of the operands' tiles."""
        ...


@dataclass(frozen=True)
class ProductTile:
    """A tile of which an item computes elements. per: rows and columns of an item; depth: of the operands' tiles."""

    per: int
    depth: int = 16

    @property
    def side(self) -> int:
        """Rows and columns."""
        return ITEMS * self.per

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
    for per, depth, enough in TILES:
        tile = ProductTile(per, depth)
        groups = tile.groups(rows, columns)
        if per * dtype.itemsize <= 32 and lead * groups >= enough and groups * tile.side**2 < 2 * rows * columns:
            return tile
    return ProductTile(1)


@dataclass(frozen=True, eq=False)
class ProductSide:
    """An operand of a product.

    start: of its matrix. across, along: strides over rows (of the left operand) or columns, and over the depth. size: rows or
    columns; number: 0 for the left operand, 1 for the right; tile: the group's number in this direction. shared, next: two tiles;
    what an item copies to the next one.
    """

    source: ArrayOperand
    start: TextOperand
    across: int
    along: int
    size: int
    number: int
    tile: TextOperand
    shared: ArrayOperand
    next: ArrayOperand


class TiledProduct(ABC):
    """The code of one group.

    While a tile of both operands is multiplied, the next one is on its way into values of the items. Two tiles lie in shared memory
    in turn, so that one barrier a tile is enough.
    """

    def __init__(
        self, b: TextBuilder, out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand, finish: Finish, tile: GroupTile
    ) -> None:
        self._b, self._flow = b, b.fleet_flow
        self._out, self._lhs, self._rhs, self._finish = out, lhs, rhs, finish
        self._side, self._tile_depth = tile.side, tile.depth
        self._dtype, self._depth = out.dtype, lhs.shape[-1]
        self._align = 16
        """Bytes of which the address of shared memory is a multiple."""
        self._held = out.dtype
        """Dtype of the elements in tiles."""

    @abstractmethod
    def _size(self, number: int) -> int:
        """Return the elements of shared memory that a tile of an operand takes."""

    @abstractmethod
    def _cell(self, side: ProductSide, begin: TextOperand, i: TextOperand, k: TextOperand) -> TextOperand:
        """Return where an element of a tile that begins at `begin` lies: row or column `i`, depth `k`."""

    def _read(self, source: ArrayOperand, place: TextOperand) -> TextOperand:
        """Read an element of an operand as tiles hold it."""
        return load(self._b, source, place, self._held)

    @abstractmethod
    def _begin_sums(self) -> None:
        """Set the sums to 0."""

    @abstractmethod
    def _multiply(self, turn: TextOperand, count: int) -> None:
        """Add the products of `count` depths to the sums, in ascending order."""

    @abstractmethod
    def _write(self, indices: Sequence[TextOperand]) -> None:
        """Store the sums, with what follows the product."""

    @abstractmethod
    def _of_items(self, name: str, number: int) -> None:
        """Declare what items need of an operand besides."""

    def emit(self) -> None:
        """Emit the code."""
        b = self._b
        lead, (rows, columns) = self._out.shape[:-2], self._out.shape[-2:]
        sizes = (math.prod(lead), -(-rows // self._side), -(-columns // self._side))
        batch, *tiles = b.indices(b.number(b.surface.group), sizes)
        self._inside = b.number(b.surface.inside)
        self._items, indices = b.indices(self._inside, (ITEMS, ITEMS)), b.indices(batch, lead)

        def side(name: str, n: int, source: ArrayOperand, across: int, along: int) -> ProductSide:
            start = offset_of(b, indices, lead_strides(source, lead))
            shared = self._array(name, 2 * self._size(n), "shared")
            following = self._array(f"next_{name}", self._side * self._tile_depth // ITEMS**2, "own")
            self._of_items(name, n)
            return ProductSide(source, start, across, along, self._out.shape[n - 2], n, tiles[n], shared, following)

        left, right = self._lhs, self._rhs
        self._sides = (side("left", 0, left, *left.strides[-2:]), side("right", 1, right, right.strides[-1], right.strides[-2]))
        self._begin_sums()

        full, rest = divmod(self._depth, self._tile_depth)
        if full:
            self._fetch(index(0), self._tile_depth)

            def another(t: TextOperand, carried: Carried) -> Carried:
                turn = b.make(t.type, "({0} % 2)", t, index=True)
                self._put(turn)
                self._fetch(moved(b, index(self._tile_depth), t, self._tile_depth), self._tile_depth)
                self._multiply(turn, self._tile_depth)
                return carried

            fold(b, full - 1, [], another)
            self._put(index((full - 1) % 2))
            if rest:
                self._fetch(index(full * self._tile_depth), rest)
            self._multiply(index((full - 1) % 2), self._tile_depth)
        if rest:
            if not full:
                self._fetch(index(0), rest)
            self._put(index(full % 2))
            self._multiply(index(full % 2), rest)
        self._write(indices)

    def _array(self, name: str, count: int, space: str, dtype: np.dtype | None = None) -> ArrayOperand:
        dtype = dtype or self._held
        surface, stored = self._b.surface, element(dtype)
        form = surface.shared if space == "shared" else "{type} {name}[{count}];"
        self._b.raw(form.format(type=surface.types[str(stored)], name=name, count=count, align=self._align))
        return ArrayOperand(Pointer(name, stored, space=space), dtype, (count,))

    def _below(self, i: TextOperand, size: int) -> list[TextOperand]:
        """Return the condition that a row or column of a tile is one of the matrix, if tiles reach beyond it."""
        return [self._b.icmp_signed("<", i, index(size))] if size % self._side else []

    def _place(self, n: TextOperand, side: ProductSide) -> tuple[TextOperand, TextOperand]:
        """Return row or column and depth of the n-th element of a tile that an item copies; neighbours in memory are neighbours."""
        b = self._b
        at = moved(b, self._inside, n, ITEMS**2)
        if side.along == 1 or side.across != 1:
            i, k = b.indices(at, (self._side, self._tile_depth))
        else:
            k, i = b.indices(at, (self._tile_depth, self._side))
        return i, k

    def _fetch(self, first: TextOperand, count: int) -> None:
        """Read the next tiles, of `count` depths from `first` on; beyond the matrices they are 0."""
        for side in self._sides:
            self._fetch_one(side, first, count)

    def _fetch_one(self, side: ProductSide, first: TextOperand, count: int) -> None:
        b = self._b

        def one(n: TextOperand) -> None:
            i, k = self._place(n, side)
            whole = moved(b, i, side.tile, self._side)

            def read() -> TextOperand:
                place = moved(b, moved(b, side.start, whole, side.across), moved(b, k, first, 1), side.along)
                return self._read(side.source, place)

            fits = self._below(whole, side.size)
            if count < self._tile_depth:
                fits.append(b.icmp_signed("<", k, index(count)))
            store(b, side.next, n, self._flow.chosen(every(b, fits), read, number(self._held, 0)) if fits else read())

        self._flow.unrolled(side.next.size, one)

    def _put(self, turn: TextOperand) -> None:
        """Write what was read to shared memory, and wait for all items."""
        for side in self._sides:
            self._put_one(side, self._begin(turn, side))
        self._b.raw(self._b.surface.barrier)

    def _put_one(self, side: ProductSide, begin: TextOperand) -> None:
        b = self._b

        def one(n: TextOperand) -> None:
            i, k = self._place(n, side)
            store(b, side.shared, self._cell(side, begin, i, k), load(b, side.next, n))

        self._flow.unrolled(side.next.size, one)

    def _begin(self, turn: TextOperand, side: ProductSide) -> TextOperand:
        """Return where a tile begins in shared memory."""
        return moved(self._b, index(0), turn, self._size(side.number))

    def _finished(self, indices: Sequence[TextOperand], where: Sequence[TextOperand], value: Callable[[], TextOperand]) -> None:
        """Store an element with what follows the product, if its row and column, `where`, are in the matrix."""
        b = self._b

        def write() -> None:
            place = [*indices, *where]
            store(b, self._out, offset_of(b, place, self._out.strides), self._finish(value(), place))

        fits = [c for at, s in zip(where, self._sides, strict=True) for c in self._below(at, s.size)]
        if fits:
            self._flow.when(every(b, fits), write)
        else:
            write()


class ItemProduct(TiledProduct):
    """A product of which each item sums up to 8 x 8 elements in ascending order, one fused multiply-add a step."""

    def __init__(
        self, b: TextBuilder, out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand, finish: Finish, tile: ProductTile
    ) -> None:
        super().__init__(b, out, lhs, rhs, finish, tile)
        self._tile = tile
        self._own: list[ArrayOperand] = []

    def _size(self, number: int) -> int:
        return self._tile.depth * self._tile.pitch

    def _cell(self, side: ProductSide, begin: TextOperand, i: TextOperand, k: TextOperand) -> TextOperand:
        return moved(self._b, moved(self._b, begin, i, 1), k, self._tile.pitch)

    def _of_items(self, name: str, number: int) -> None:
        self._own.append(self._array(f"own_{name}", self._tile.per, "own"))

    def _begin_sums(self) -> None:
        b, count, zero = self._b, self._tile.per**2, number(self._dtype, 0)
        self._sums = self._array("sums", count, "own")
        self._flow.unrolled(count, lambda i: store(b, self._sums, i, zero))

    def _index(self, n: TextOperand, of: TextOperand) -> TextOperand:
        """Return the row or column in a tile of an item's n-th."""
        b, near = self._b, self._tile.near
        found = moved(b, index(0), of, near)
        if self._tile.per <= near:
            return moved(b, found, n, 1)
        far = b.make(n.type, f"({{0}} / {near})", n, index=True)
        return moved(b, moved(b, found, far, ITEMS * near), b.make(n.type, f"({{0}} % {near})", n, index=True), 1)

    def _multiply(self, turn: TextOperand, count: int) -> None:
        b, per, begin = self._b, self._tile.per, self._begin(turn, self._sides[0])
        lhs, rhs = self._own

        def depth(k: TextOperand) -> None:
            at = moved(b, begin, k, self._tile.pitch)
            for side in self._sides:
                self._flow.unrolled(per, partial(self._read_one, side, at))

            def row(i: TextOperand) -> None:
                def column(j: TextOperand) -> None:
                    place = moved(b, j, i, per)
                    x, y, before = load(b, lhs, i), load(b, rhs, j), load(b, self._sums, place)
                    store(b, self._sums, place, fused(b, x, y, before) if is_float(self._dtype) else b.add(before, b.mul(x, y)))

                self._flow.unrolled(per, column)

            self._flow.unrolled(per, row)

        self._flow.unrolled(count, depth)

    def _read_one(self, side: ProductSide, at: TextOperand, n: TextOperand) -> None:
        place = moved(self._b, at, self._index(n, self._items[side.number]), 1)
        store(self._b, self._own[side.number], n, load(self._b, side.shared, place))

    def _write(self, indices: Sequence[TextOperand]) -> None:
        b, per = self._b, self._tile.per

        def row(i: TextOperand) -> None:
            def column(j: TextOperand) -> None:
                where = [
                    moved(b, self._index(n, item), s.tile, self._side)
                    for n, item, s in zip((i, j), self._items, self._sides, strict=True)
                ]
                self._finished(indices, where, lambda: load(b, self._sums, moved(b, j, i, per)))

            self._flow.unrolled(per, column)

        self._flow.unrolled(per, row)
