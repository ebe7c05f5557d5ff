"""`linalg.generic` and the named operations of linalg: nests of loops, done on whole arrays.

An operand is brought into the space of the loops (a dimension a loop, 1 where it does not change), the body computes on arrays,
and the result is brought back. A sum of products becomes a matrix product or an einsum, another reduction one of NumPy's over axes.
All others follow the reduced loops iteration by iteration, in their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from fleet.frontend.mlir import scalars
from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import as_typed
from fleet.frontend.mlir.elements import extracted

MAX_SPACE = 1 << 26
"""Elements of an array that loops make and that the text does not name."""
MAX_ROUNDS = 4096
"""Rounds of loops that are followed one by one."""

Outer = Callable[[SSAValue], MlirArray]


@dataclass(frozen=True, eq=False)
class Nest:
    """A nest of loops: sizes and kinds of the loops, operands and initial results with their maps, the body."""

    build: MlirBuild
    sizes: tuple[int, ...]
    reduced: tuple[int, ...]
    inputs: tuple[MlirArray, ...]
    outputs: tuple[MlirArray, ...]
    maps: tuple[AffineMap, ...]
    body: Block
    outer: Outer
    doc: str = ""

    @property
    def kept(self) -> list[int]:
        """The loops that are not reduced."""
        return [n for n in range(len(self.sizes)) if n not in self.reduced]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """What the body gives, a value a result."""
        last = self.body.last_op
        assert last is not None
        return tuple(last.operands)

    @property
    def carried(self) -> Sequence[BlockArgument]:
        """The body's arguments for the results so far."""
        return self.body.args[len(self.inputs) :]

    # ---- operands into the loops' space

    def operand(self, array: MlirArray, map_: AffineMap) -> MlirArray:
        """Return an array with a dimension a loop, of size 1 for a loop that it does not follow; leading ones are left out."""
        b = self.build
        results = map_.results
        loops = [e.position for e in results if isinstance(e, AffineDimExpr)]
        plain = all(isinstance(e, AffineDimExpr | AffineConstantExpr) for e in results) and len(set(loops)) == len(loops)
        if not plain:
            return self._by_index(array, results)
        fixed = [e.value if isinstance(e, AffineConstantExpr) else None for e in results]
        if any(f is not None for f in fixed):
            start = [f or 0 for f in fixed]
            sizes = [s if f is None else 1 for s, f in zip(array.shape, fixed, strict=True)]
            array = b.window(array, start, sizes, [1] * array.rank)
            array = b.reshape(array, [s for s, f in zip(array.shape, fixed, strict=True) if f is None])
        array = b.transpose(array, sorted(range(len(loops)), key=loops.__getitem__))
        return self.spread(array, sorted(loops))

    def spread(self, array: MlirArray, loops: Sequence[int]) -> MlirArray:
        """Return an array whose dimensions follow these loops, ascending, with 1 for the others in between."""
        if not loops:
            return self.build.reshape(array, ())
        shape = [1] * (len(self.sizes) - loops[0])
        for size, loop in zip(array.shape, loops, strict=True):
            shape[loop - loops[0]] = size
        return self.build.reshape(array, shape)

    def _by_index(self, array: MlirArray, results: Sequence[AffineExpr]) -> MlirArray:
        used = sorted({d for e in results for d in _dims(e)})
        total = math.prod(self.sizes[d] for d in used)
        if total > MAX_SPACE:
            self.build.refuse(f"an operand of {total:,} elements that its map repeats", f"at most {MAX_SPACE:,} are made")
        grid = np.meshgrid(*(np.arange(self.sizes[d]) for d in used), indexing="ij", sparse=True)
        place = dict(zip(used, grid, strict=True))
        flat: Any = 0
        for expression, size in zip(results, array.shape, strict=True):
            at = np.asarray(_evaluated(expression, place))
            if at.size and (at.min() < 0 or at.max() >= size):
                self.build.refuse(f"its map {expression} leaves a dimension of size {size}")
            flat = flat * size + at
        index = np.broadcast_to(np.asarray(flat, np.int64), [self.sizes[d] for d in used])
        b = self.build
        found = b.emit("gather", b.reshape(array, (math.prod(array.shape),)), b.known(index), axis=0)
        return self.spread(found, used)

    def full(self, array: MlirArray) -> MlirArray:
        """Return an array of the loops' space with its leading ones."""
        return self.build.reshape(array, [1] * (len(self.sizes) - array.rank) + list(array.shape))

    # ---- the body

    def compute(self, given: Mapping[SSAValue, MlirArray], at: Mapping[int, int] | None = None) -> list[MlirArray]:
        """Compute the body on arrays of the loops' space. at: positions of loops that are followed one by one."""
        return self.evaluate(self.yielded, given, at or {})

    def evaluate(self, wanted: Sequence[SSAValue], given: Mapping[SSAValue, MlirArray], at: Mapping[int, int]) -> list[MlirArray]:
        """Compute values of the body."""
        values = dict(given)
        needed = _needed(wanted, self.body)
        for op in self.body.ops:
            if op in needed and not isinstance(op, linalg.YieldOp):
                values.update(zip(op.results, self._one(op, values, at), strict=True))
        return [values[v] if v in values else self.outer(v) for v in wanted]

    def _one(self, op: Operation, values: Mapping[SSAValue, MlirArray], at: Mapping[int, int]) -> list[MlirArray]:
        b = self.build
        if b.at in b.text.lines and op in b.text.lines:
            b.begin(op)
        operands = [values[v] if v in values else self.outer(v) for v in op.operands]
        if isinstance(op, linalg.IndexOp):
            loop = op.dim.value.data
            if loop in at:
                return [b.known(at[loop], np.int64)]
            count = np.arange(self.sizes[loop], dtype=np.int64)
            return [b.known(count.reshape([-1] + [1] * (len(self.sizes) - loop - 1)))]
        if isinstance(op, ExtractOp):
            return [extracted(b, operands[0], operands[1:])]
        if isinstance(op, scf.ForOp):
            return self._for(op, operands, values, at)
        if op.regions:
            b.refuse(f"{op.name} inside a body of linalg is not read")
        return as_typed(b, op, scalars.name_of(op), [scalars.compute(b, op, operands)])

    def _for(
        self, op: scf.ForOp, operands: Sequence[MlirArray], values: Mapping[SSAValue, MlirArray], at: Mapping[int, int]
    ) -> list[MlirArray]:
        """Follow a loop of known bounds inside the body."""
        known = [a.known for a in operands[:3]]
        low, high, step = (int(k.item()) if k is not None and k.size == 1 else None for k in known)
        if low is None or high is None or step is None or step < 1 or len(range(low, high, step)) > MAX_ROUNDS:
            self.build.refuse("a loop inside a body of linalg whose bounds are not known")
            raise AssertionError
        carried, block = list(operands[3:]), op.body.block
        for n in range(low, high, step):
            inner = {**values, block.args[0]: self.build.known(n, np.int64), **dict(zip(block.args[1:], carried, strict=True))}
            for one in block.ops:
                if isinstance(one, scf.YieldOp):
                    carried = [inner[v] if v in inner else self.outer(v) for v in one.operands]
                else:
                    inner.update(zip(one.results, self._one(one, inner, at), strict=True))
        return carried

    # ---- results out of the loops' space

    def result(self, array: MlirArray, number: int, loops: Sequence[int]) -> MlirArray:
        """Return an array of the space of these loops (a dimension each) as result `number`."""
        b = self.build
        shape, results = self.outputs[number].shape, self.maps[len(self.inputs) + number].results
        order = [e.position for e in results if isinstance(e, AffineDimExpr)]
        others = [e for e in results if not isinstance(e, AffineDimExpr)]
        ones = all(isinstance(e, AffineConstantExpr) and shape[list(results).index(e)] == 1 for e in others)
        if sorted(order) != sorted(loops) or not ones:
            b.refuse(f"a result is written by the map {self.maps[len(self.inputs) + number]}", "each loop writes one element once")
        array = b.broadcast(b.reshape(array, [1] * (len(loops) - array.rank) + list(array.shape)), [self.sizes[n] for n in loops])
        return b.reshape(b.transpose(array, [list(loops).index(n) for n in order]), shape)


def nest_of(b: MlirBuild, op: Operation, outer: Outer) -> Nest:
    """Return the loops of a structured operation of linalg. Raises ModelError if sizes do not fit."""
    structured: Any = op
    maps = tuple(m.data for m in structured.get_indexing_maps().data)
    kinds = [str(k.data.value) for k in structured.get_iterator_types().data]
    inputs = tuple(outer(v) for v in structured.inputs)
    outputs = tuple(outer(v) for v in structured.outputs)
    sizes: dict[int, int] = {}
    for array, map_ in zip((*inputs, *outputs), maps, strict=True):
        if len(map_.results) != array.rank:
            b.refuse(f"a map of {len(map_.results)} results for an operand of rank {array.rank}")
        for expression, size in zip(map_.results, array.shape, strict=True):
            if isinstance(expression, AffineDimExpr) and sizes.setdefault(expression.position, size) != size:
                b.refuse(f"loop d{expression.position} goes over {sizes[expression.position]} and over {size} elements")
    if missing := [n for n in range(len(kinds)) if n not in sizes]:
        b.refuse(f"nothing says how often loop d{missing[0]} runs")
    if other := [k for k in kinds if k not in ("parallel", "reduction")]:
        b.refuse(f"a loop of kind {other[0]}", "loops are parallel or reduction")
    doc = op.properties.get("doc", op.attributes.get("doc"))
    return Nest(
        b, tuple(sizes[n] for n in range(len(kinds))), tuple(n for n, k in enumerate(kinds) if k == "reduction"), inputs, outputs,
        maps, op.regions[0].block, outer, str(getattr(doc, "data", "")),
    )  # fmt: skip


def _needed(wanted: Sequence[SSAValue], body: Block) -> set[Operation]:
    found: set[Operation] = set()
    left = [v.owner for v in wanted]
    while left:
        op = left.pop()
        if isinstance(op, Operation) and op not in found and op.parent is body:
            found.add(op)
            left += [v.owner for v in op.operands]
    return found


def _dims(expression: AffineExpr) -> set[int]:
    if isinstance(expression, AffineDimExpr):
        return {expression.position}
    if isinstance(expression, AffineConstantExpr):
        return set()
    both: Any = expression
    return _dims(both.lhs) | _dims(both.rhs)


def _evaluated(expression: AffineExpr, place: Mapping[int, object]) -> Any:
    if isinstance(expression, AffineDimExpr):
        return place[expression.position]
    if isinstance(expression, AffineConstantExpr):
        return np.int64(expression.value)
    both: Any = expression
    x, y = _evaluated(both.lhs, place), _evaluated(both.rhs, place)
    kind = both.kind.name
    return {
        "Add": lambda: x + y, "Mul": lambda: x * y, "Mod": lambda: x % y, "FloorDiv": lambda: x // y,
        "CeilDiv": lambda: -(-x // y),
    }[kind]()  # fmt: skip
