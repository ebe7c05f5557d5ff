"""Matrix products on the tensor cores of NVIDIA's GPUs, in CUDA C++.

A group of eight warps computes a tile of 64 x 64 or 128 x 128 elements: as for `tiles.ItemProduct`, tiles of both operands are
copied to shared memory, here as float16 or bfloat16. A warp multiplies fragments of 16 x 16 x 16: products are exact, sums are
float32, in an order and with a rounding of the hardware's own. Edges are filled with zeros. The instructions are PTX's `wmma` (its
manual, "Warp Level Matrix Multiply-Accumulate Instructions"), which leaves open which item holds which element of a fragment.
So the text needs no header of CUDA, and says nothing that differs between GPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fleet.targets.gpu.builder import TextBuilder
from fleet.targets.gpu.statements import TextOperand
from fleet.targets.gpu.tiles import ITEMS, Finish, ProductSide, TiledProduct
from fleet.targets.riscv.kernels.kernel import I16, ArrayOperand, convert, index, load
from fleet.targets.riscv.kernels.loops import moved

_HALF, _SINGLE = np.dtype(np.float16), np.dtype(np.float32)
_FRAGMENT = 16
"""Rows, columns and depth of a fragment."""
_WARP = 32
_WARPS = (4, 2)
"""Warps of a group, in rows and in columns of its tile."""
_PAD = 8
"""Elements behind a row in shared memory: rows begin in different banks, and at multiples of 16 bytes, as `wmma` asks."""
_STAGED = _FRAGMENT + 4
"""Elements between two rows of the sums that a warp hands out."""


@dataclass(frozen=True)
class TensorTile:
    """What a group computes. side: rows and columns, 64 or 128; depth: of the operands' tiles."""

    side: int
    depth: int = 32

    def groups(self, rows: int, columns: int) -> int:
        """Return the tiles of a matrix."""
        return -(-rows // self.side) * -(-columns // self.side)


def tensor_tile_of(lead: int, rows: int, columns: int, asked: int | None = None) -> TensorTile:
    """Return the larger tile if there are enough of it for a GPU. asked: rows and columns that a schedule wants, at least 64."""
    large = TensorTile(128)
    if asked is not None:
        return large if asked >= large.side else TensorTile(64)
    return large if lead * large.groups(rows, columns) >= 132 else TensorTile(64)


@dataclass(frozen=True)
class TensorKind:
    """An element type of fragments.

    registers: of 32 bits, in which an item holds its part of an operand. mma: the types of the instruction that multiplies. least:
    the compute capability that has it, 80 for 8.0.
    """

    name: str
    registers: int
    mma: str
    least: int


_KINDS = {
    "f16": TensorKind("f16", 8, "f32.f32", 70),
    "bf16": TensorKind("bf16", 4, "f32.bf16.bf16.f32", 80),
}


class TensorProduct(TiledProduct):
    """The code of one group. The operands are float16, or float32 whose elements are rounded to bfloat16."""

    def __init__(
        self, b: TextBuilder, out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand, finish: Finish, tile: TensorTile
    ) -> None:
        super().__init__(b, out, lhs, rhs, finish, tile)
        self._kind = "f16" if lhs.dtype == _HALF else "bf16"
        self._held = _HALF  # two bytes in any case
        self._align = 32  # as `wmma` asks
        self._fragments = tuple(tile.side // warps // _FRAGMENT for warps in _WARPS)
        self._pitches = (tile.depth + _PAD, tile.side + _PAD)

    def _size(self, number: int) -> int:
        return (self._side, self._tile_depth)[number] * self._pitches[number]

    def _cell(self, side: ProductSide, begin: TextOperand, i: TextOperand, k: TextOperand) -> TextOperand:
        row, column = (k, i) if side.number else (i, k)
        return moved(self._b, moved(self._b, begin, column, 1), row, self._pitches[side.number])

    def _read(self, source: ArrayOperand, place: TextOperand) -> TextOperand:
        if self._kind == "f16":
            return load(self._b, source, place)
        return self._b.make(I16, "to_bfloat16({0})", load(self._b, source, place, _SINGLE))

    def _of_items(self, name: str, number: int) -> None:
        self._b.raw(f"Fragment_{self._kind} {name}s[{self._fragments[number]}];")

    def _begin_sums(self) -> None:
        b, (rows, columns) = self._b, self._fragments
        self._warp, self._lane = b.indices(self._inside, (ITEMS * ITEMS // _WARP, _WARP))
        self._staged = self._array("staged", _WARPS[0] * _WARPS[1] * _FRAGMENT * _STAGED, "shared", _SINGLE)
        b.raw(f"Sums sums[{rows * columns}];")
        self._flow.unrolled(rows * columns, lambda n: b.call_text("clear(sums[{0}]);", n))

    def _multiply(self, turn: TextOperand, count: int) -> None:
        b, (rows, columns) = self._b, self._fragments
        down, across = b.indices(self._warp, _WARPS)
        left, right = (self._begin(turn, side) for side in self._sides)
        first_row = moved(b, left, down, rows * _FRAGMENT * self._pitches[0])
        first_column = moved(b, right, across, columns * _FRAGMENT)

        def depth(k: TextOperand) -> None:
            at_left = moved(b, first_row, k, _FRAGMENT)
            at_right = moved(b, first_column, k, _FRAGMENT * self._pitches[1])

            def load_left(i: TextOperand) -> None:
                place = moved(b, at_left, i, _FRAGMENT * self._pitches[0])
                b.call_text(f"load_left(lefts[{{0}}], left + {{1}}, {self._pitches[0]});", i, place)

            def load_right(j: TextOperand) -> None:
                b.call_text(f"load_right(rights[{{0}}], right + {{1}}, {self._pitches[1]});", j, moved(b, at_right, j, _FRAGMENT))

            def row(i: TextOperand) -> None:
                def column(j: TextOperand) -> None:
                    b.call_text("multiply(sums[{0}], lefts[{1}], rights[{2}]);", moved(b, j, i, columns), i, j)

                self._flow.unrolled(columns, column)

            self._flow.unrolled(rows, load_left)
            self._flow.unrolled(columns, load_right)
            self._flow.unrolled(rows, row)

        self._flow.unrolled(-(-count // _FRAGMENT), depth)

    def _write(self, indices: Sequence[TextOperand]) -> None:
        """Hand out the sums of one fragment after the other through shared memory."""
        b, (rows, columns) = self._b, self._fragments
        down, across = b.indices(self._warp, _WARPS)
        begin = moved(b, index(0), self._warp, _FRAGMENT * _STAGED)

        def fragment(n: TextOperand) -> None:
            i, j = b.indices(n, (rows, columns))
            b.call_text(f"store_sums(staged + {{0}}, sums[{{1}}], {_STAGED});", begin, n)
            b.raw(_SYNC)

            def one(m: TextOperand) -> None:
                row, column = b.indices(moved(b, self._lane, m, _WARP), (_FRAGMENT, _FRAGMENT))
                inner = (moved(b, moved(b, row, i, _FRAGMENT), down, rows * _FRAGMENT),
                         moved(b, moved(b, column, j, _FRAGMENT), across, columns * _FRAGMENT))  # fmt: skip
                where = [moved(b, at, s.tile, self._side) for at, s in zip(inner, self._sides, strict=True)]

                def value() -> TextOperand:
                    found = load(b, self._staged, moved(b, moved(b, begin, column, 1), row, _STAGED))
                    return convert(b, found, _SINGLE, self._dtype)

                self._finished(indices, where, value)

            self._flow.unrolled(_FRAGMENT * _FRAGMENT // _WARP, one)
            b.raw(_SYNC)

        self._flow.unrolled(rows * columns, fragment)


_SYNC = "__syncwarp();"


def tensor_functions(text: str) -> tuple[str, int]:
    """Return the functions that kernels with tensor cores call, "" if none does, and the compute capability that they need."""
    used = [kind for kind in _KINDS.values() if f"Fragment_{kind.name} " in text]
    if not used:
        return "", 0
    functions = "".join(_functions(kind) for kind in used)
    rounding = _BFLOAT16 if "to_bfloat16(" in text else ""
    return f"{_HEAD}{functions}#endif\n{rounding}\n", max(kind.least for kind in used)


def _registers(name: str, count: int, how: str) -> str:
    return ", ".join(f'"{how}"({name}.x[{n}])' for n in range(count))


def _places(first: int, count: int) -> str:
    return f"{{{', '.join(f'%{n}' for n in range(first, first + count))}}}"


def _functions(kind: TensorKind) -> str:
    count, name = kind.registers, kind.name
    found = f"struct Fragment_{name} {{ unsigned x[{count}]; }};\n"
    for side, letter in (("left", "a"), ("right", "b")):
        found += (
            f"{_INLINE} load_{side}(Fragment_{name} &f, const short *at, int pitch) {{\n"
            f'  asm volatile("wmma.load.{letter}.sync.aligned.row.m16n16k16.shared.{name} "\n'
            f'    "{_places(0, count)}, [%{count}], %{count + 1};"\n'
            f'    : {_registers("f", count, "=r")} : "r"((unsigned)__cvta_generic_to_shared(at)), "r"(pitch) : "memory");\n}}\n'
        )
    operands = f"{_places(0, 8)}, {_places(8, count)}, {_places(8 + count, count)}, {_places(0, 8)}"
    return found + (
        f"{_INLINE} multiply(Sums &s, const Fragment_{name} &a, const Fragment_{name} &b) {{\n"
        f'  asm volatile("wmma.mma.sync.aligned.row.row.m16n16k16.{kind.mma} {operands};"\n'
        f"    : {_registers('s', 8, '+f')} : {_registers('a', count, 'r')}, {_registers('b', count, 'r')});\n}}\n"
    )


_INLINE = "__device__ __forceinline__ void"
_HEAD = f"""\
// Fragments of 16 x 16 elements, each held by a warp: instructions of its tensor cores.
#ifdef __CUDACC__
struct Sums {{ float x[8]; }};
{_INLINE} clear(Sums &s) {{
  for (int n = 0; n < 8; ++n) s.x[n] = 0;
}}
{_INLINE} store_sums(float *at, const Sums &s, int pitch) {{
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%0], {_places(1, 8)}, %9;"
    :: "r"((unsigned)__cvta_generic_to_shared(at)), {_registers("s", 8, "f")}, "r"(pitch) : "memory");
}}
"""
_BFLOAT16 = """\
__device__ __forceinline__ short to_bfloat16(float x) {  // to the nearest, to the even one between two
  const unsigned bits = __float_as_int(x);
  return x == x ? (short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16) : (short)0x7fc0;
}
"""
