"""One program for every size of some dimensions, made of the programs for a few sizes.

The front end computes with sizes while it reads, as exporters want it: all arithmetic on shapes is gone from a program. So a model
is read for several sizes, and the programs are laid side by side: the same operations, whose numbers differ where sizes stand in
them. Such a number is a polynomial of the sizes, linear in each; its coefficients follow from the programs, and one more program,
of other sizes, must have the number that the polynomial says. What differs in any other way is refused, with the operation's name.

What cannot be seen so: a model that computes something else only beyond the sizes that are read (`_LAST` and less), `max(N, 64)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any, NoReturn

import numpy as np
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Region, SSAValue

from fleet.core.unique import Taken
from fleet.frontend.onnx.problems import refuse
from fleet.ir.arguments import append_argument
from fleet.ir.build import make
from fleet.ir.constants import constant, constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, ReshapeOp, SliceOp, kind_of, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.program import Argument, Program
from fleet.ir.room import check_results
from fleet.ir.shapes import InferenceError
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, tensor_type
from fleet.transforms.simplify.canonicalise import canonicalise

MAX_NAMES = 3
"""Dimensions that may stay unknown: a model is read 2**n + 1 times."""
_FIRST, _SECOND, _LAST = (7, 11, 13), (17, 19, 23), (29, 31, 37)


@dataclass(frozen=True)
class ProgramInstance:
    """A program for these sizes."""

    sizes: Mapping[str, int]
    program: Program


def drawn_sizes(names: Sequence[str]) -> list[Mapping[str, int]]:
    """Sizes to read a model with: all corners of a box, and one beyond it; no two of them are equal, and none divides another."""
    corners = product(*list(zip(_FIRST, _SECOND, strict=True))[: len(names)])
    return [dict(zip(names, sizes, strict=False)) for sizes in (*corners, _LAST)]


def generalised(
    where: str, instances: Sequence[ProgramInstance], arguments: Sequence[Argument], symbols: Mapping[str, int]
) -> Program:
    """The program with unknown dimensions.

    Args:
        where: the file.
        instances: the programs for `drawn_sizes`.
        arguments: the inputs with -1 and a name for what is unknown.
        symbols: sizes of the other named dimensions.

    Raises:
        ModelError: an operation that depends on the sizes in a way that one program cannot.
    """
    return _Side(where, instances).program({a.name: a for a in arguments}, symbols)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two weights have the same bytes; those of the file are one array."""
    return (a.shape, a.dtype) == (b.shape, b.dtype) and (a.ctypes.data == b.ctypes.data or a.tobytes() == b.tobytes())


class _Side:
    """Programs side by side, and the one that is made of them."""

    def __init__(self, where: str, instances: Sequence[ProgramInstance]) -> None:
        self.where, self.instances = where, instances
        self.names = list(instances[0].sizes)
        self.terms = [
            tuple(n for n, used in zip(self.names, bits, strict=True) if used) for bits in product((0, 1), repeat=len(self.names))
        ]
        rows = [[prod(i.sizes[n] for n in term) for term in self.terms] for i in instances]
        self.inverse = np.linalg.inv(np.array(rows[:-1], np.float64))
        self.rows = rows
        self.block = Block()
        self.taken = Taken()
        self.sizes: dict[tuple[int, ...], SSAValue] = {}
        self.dims: dict[str, SSAValue] = {}
        self.values: list[dict[SSAValue, SSAValue]] = []
        self.made: dict[SSAValue, SSAValue] = {}

    def refuse(self, what: str) -> NoReturn:
        names = ", ".join(self.names)
        refuse(self.where, f"{what} as one program cannot", f"leave {names} out of --dynamic: it gets the inputs' size")

    # ---- numbers

    def polynomial(self, numbers: Sequence[int], what: str) -> tuple[int, ...]:
        """Coefficients of the terms. Raises ModelError where the last instance has another number."""
        found = np.rint(self.inverse @ np.array(numbers[:-1], np.float64)).astype(int).tolist()
        if [sum(c * t for c, t in zip(found, row, strict=True)) for row in self.rows] != list(numbers):
            self.refuse(f"{what} depends on the size of {', '.join(self.names)} ({', '.join(map(str, numbers))})")
        return tuple(found)

    def number(self, polynomial: tuple[int, ...]) -> SSAValue:
        """A Python integer of the program."""
        if polynomial not in self.sizes:
            total: SSAValue | None = None
            for coefficient, term in zip(polynomial, self.terms, strict=True):
                if not coefficient:
                    continue
                parts = [self.dims[n] for n in term]
                value = parts[0] if parts and coefficient == 1 else self.append(constant(coefficient, i64), "size")
                for part in parts[1:] if parts and coefficient == 1 else parts:
                    value = self.append(make("mul", [value, part]), "size")
                total = value if total is None else self.append(make("add", [total, value]), "size")
            self.sizes[polynomial] = total if total is not None else self.append(constant(0, i64), "size")
        return self.sizes[polynomial]

    def append(self, op: FleetOp, id: str, like: FleetOp | None = None) -> SSAValue:
        """The operation, with the identity of another one."""
        var = like.properties.get("var") if like is not None else None
        at = like.properties.get("at") if like is not None else None
        op.describe(id=self.taken.unique(id), var=getattr(var, "data", None), at=getattr(at, "data", None))
        self.block.add_op(op)
        return op.results[0]

    # ---- the program

    def program(self, inputs: Mapping[str, Argument], symbols: Mapping[str, int]) -> Program:
        programs = [i.program for i in self.instances]
        first = programs[0]
        arguments, weights = self.arguments(inputs)
        walks = [list(p.operations()) for p in programs]
        if len({len(w) for w in walks}) > 1:
            self.refuse("the number of its operations depends on its sizes,")
        for ops in zip(*walks, strict=True):
            if len({kind_of(op) for op in ops}) > 1 or not self.alike([op.operands for op in ops]):
                self.refuse(f"{op_id(ops[0])} is another operation for other sizes,")
            try:
                value = self.operation(ops)
            except InferenceError as error:
                self.refuse(f"{op_id(ops[0])} does not take unknown sizes ({error}),")
            self.check(ops, value)
            self.bind([op.results[0] for op in ops], value)
        values = [self.made[v] for v in first.returned()]
        self.block.add_op(ReturnOp(*values))
        types = ([v.type for v in self.block.args], [v.type for v in values])
        module = ModuleOp([FuncOp("model", types, Region(self.block))])
        program = replace(first, module=module, arguments=tuple(arguments), weights=weights, symbols=dict(symbols))
        return check_results(canonicalise(program))

    def alike(self, operands: Sequence[Sequence[SSAValue]]) -> bool:
        """Whether the same places of all programs are used."""
        if len({len(o) for o in operands}) > 1:
            return False
        return all(len({id(self.values[i][v]) for i, v in enumerate(place)}) == 1 for place in zip(*operands, strict=True))

    def bind(self, places: Sequence[SSAValue], value: SSAValue) -> None:
        for known, place in zip(self.values, places, strict=True):
            known[place] = value
        self.made[places[0]] = value

    def arguments(self, inputs: Mapping[str, Argument]) -> tuple[list[Argument], dict[str, np.ndarray]]:
        programs = [i.program for i in self.instances]
        self.values = [{} for _ in programs]
        if len({tuple((a.name, a.kind) for a in p.arguments) for p in programs}) > 1:
            self.refuse("its weights depend on its sizes,")
        places = list(zip(*(p.function.body.block.args for p in programs), strict=True))
        found: list[Argument] = []
        weights: dict[str, np.ndarray] = {}
        tables: list[tuple[Argument, Sequence[BlockArgument]]] = []
        for argument, place in zip(programs[0].arguments, places, strict=True):
            arrays = [p.weights[argument.name] for p in programs] if argument.kind == "weight" else []
            if any(not _same(arrays[0], a) for a in arrays[1:]):
                tables.append((argument, place))
                continue
            own = argument if arrays else inputs[argument.name]
            value = append_argument(self.block, tensor_type(own.shape, own.dtype))
            value.name_hint = place[0].name_hint
            found.append(own)
            if arrays:
                weights[argument.name] = arrays[0]
            self.bind(place, value)
            for axis, name in enumerate(own.dims):
                if name and name not in self.dims:
                    self.dims[name] = self.append(make("dim", [value], axis=axis), name)
        if missing := [n for n in self.names if n not in self.dims]:
            self.refuse(f"no input that is left has the dimension {missing[0]},")
        for argument, place in tables:
            self.bind(place, self.table(argument.name, [p.weights[argument.name] for p in programs]))
        return found, weights

    def table(self, name: str, arrays: Sequence[np.ndarray]) -> SSAValue:
        """A known array that depends on the sizes: numbers in a row, or a triangle of ones."""
        shapes = [[d for d in a.shape if d != 1] for a in arrays]
        ranks = {(a.ndim, len(s)) for a, s in zip(arrays, shapes, strict=True)}
        dtype = arrays[0].dtype
        value: SSAValue | None = None
        if len(ranks) == 1 and len(shapes[0]) == 1 and dtype.kind in "iuf":
            value = self.row(name, [a.reshape(-1) for a in arrays])
        elif len(ranks) == 1 and len(shapes[0]) == 2:
            value = self.triangle(name, [a.reshape(s) for a, s in zip(arrays, shapes, strict=True)])
        if value is None:
            self.refuse(f"{name}, a table that is known when the model is read, depends on the size of {', '.join(self.names)}")
        return self.reshaped(value, [a.shape for a in arrays], name)

    def row(self, name: str, rows: Sequence[np.ndarray]) -> SSAValue | None:
        starts, steps = [r[0] for r in rows], [r[1] - r[0] for r in rows]
        whole = all(float(v).is_integer() for v in (*starts, *steps))
        if not whole or any((r != s + np.arange(len(r)) * d).any() for r, s, d in zip(rows, starts, steps, strict=True)):
            return None
        bounds = [
            [int(s) for s in starts],
            [int(s + d * len(r)) for s, d, r in zip(starts, steps, rows, strict=True)],
            [int(d) for d in steps],
        ]
        made = make("arange", [self.number(self.polynomial(b, name)) for b in bounds])
        value = self.append(made, name)
        return value if rows[0].dtype == np.int64 else self.append(make("cast", [value], dtype=rows[0].dtype), name)

    def triangle(self, name: str, tables: Sequence[np.ndarray]) -> SSAValue | None:
        """Two numbers, one on and below a diagonal and one above it."""
        first, second = tables[0][-1, 0], tables[0][0, -1]
        lower = [t == first for t in tables]
        if first == second or any((t[~m] != second).any() for t, m in zip(tables, lower, strict=True)):
            return None
        diagonals = [int(m[0].sum()) - 1 if m[0].any() else -int(np.argmax(m[:, 0])) for m in lower]
        if any((m != np.tri(*m.shape, k=k, dtype=bool)).any() for m, k in zip(lower, diagonals, strict=True)):
            return None
        numbers = [[t.shape[0] for t in tables], [t.shape[1] for t in tables], diagonals]
        made = make("tri", [self.number(self.polynomial(v, name)) for v in numbers], dtype=np.dtype(bool))
        value = self.append(made, name)
        if tables[0].dtype.kind == "b":
            return value if first else self.append(make("logical_not", [value]), name)
        type_ = tensor_type((), tables[0].dtype)
        chosen = [self.append(constant(v.item(), type_), name) for v in (first, second)]
        return self.append(make("where", [value, *chosen]), name)

    def check(self, ops: Sequence[FleetOp], value: SSAValue) -> None:
        """The sizes that are known must be those of all instances."""
        if not is_tensor(value.type):
            return
        for i, size in enumerate(shape_of(value.type)):
            if size >= 0 and {shape_of(op.results[0].type)[i] for op in ops} != {size}:
                self.refuse(f"{op_id(ops[0])} does not follow its sizes,")

    def operation(self, ops: Sequence[FleetOp]) -> SSAValue:
        """One operation for all instances."""
        op = ops[0]
        attributes = [attributes_of(o) for o in ops]
        operands = [self.made[v] for v in op.operands]
        name = op_id(op)
        if isinstance(op, ConstantOp):
            return self.constant(ops)
        if isinstance(op, SliceOp):
            return self.sliced(ops, operands[0], attributes)
        if "shape" in attributes[0] and kind_of(op) in ("reshape", "broadcast_to"):
            shapes = [a["shape"] for a in attributes]
            if isinstance(op, ReshapeOp):
                return self.reshaped(operands[0], shapes, name, op)
            return self.spread(operands[0], shapes, name, op)
        if any(a != attributes[0] for a in attributes[1:]):
            self.refuse(f"{name} depends on its sizes")
        return self.append(make(kind_of(op), operands, **attributes[0]), name, op)

    def target(self, shapes: Sequence[Sequence[int]], name: str) -> tuple[list[int], list[SSAValue]]:
        """A shape with -1, and the sizes of these."""
        if len({len(s) for s in shapes}) > 1:
            self.refuse(f"{name} has other dimensions for other sizes,")
        columns = list(zip(*shapes, strict=True))
        known = [c[0] if len(set(c)) == 1 else -1 for c in columns]
        return known, [self.number(self.polynomial(c, name)) for c, k in zip(columns, known, strict=True) if k < 0]

    def reshaped(self, value: SSAValue, shapes: Sequence[Sequence[int]], name: str, like: FleetOp | None = None) -> SSAValue:
        known, sizes = self.target(shapes, name)
        if like is None and list(shape_of(value.type)) == known:
            return value
        if len(sizes) <= 1:
            return self.append(make("reshape", [value], shape=known), name, like)
        return self.append(make("dynamic_reshape", [value, *sizes], shape=known), name, like)

    def spread(self, value: SSAValue, shapes: Sequence[Sequence[int]], name: str, like: FleetOp | None = None) -> SSAValue:
        known, sizes = self.target(shapes, name)
        if not sizes:
            return self.append(make("broadcast_to", [value], shape=known), name, like)
        return self.append(make("dynamic_broadcast", [value, *sizes], shape=known), name, like)

    def constant(self, ops: Sequence[FleetOp]) -> SSAValue:
        op = ops[0]
        numbers = [constant_value(o) for o in ops if isinstance(o, ConstantOp)]
        type_, name = op.results[0].type, op_id(op)
        if len(set(map(repr, numbers))) > 1:
            if not all(float(n).is_integer() for n in numbers):
                self.refuse(f"{name}, a number, depends on the size of {', '.join(self.names)}")
            value = self.number(self.polynomial([int(n) for n in numbers], name))
            value = self.append(make("cast", [value], dtype=numpy_dtype(type_)), name, op)
        elif not is_tensor(type_) or all(o.results[0].type == type_ for o in ops):
            return self.append(constant(numbers[0], type_), name, op)
        else:
            value = self.append(constant(numbers[0], tensor_type((), numpy_dtype(type_))), name, op)
        if not is_tensor(type_):
            return value
        return self.spread(value, [shape_of(o.results[0].type) for o in ops], name, op)

    def sliced(self, ops: Sequence[FleetOp], value: SSAValue, attributes: Sequence[Mapping[str, Any]]) -> SSAValue:
        """What is whole, or counts from the front or the end, is a slice; other bounds are numbers of the run."""
        op, name = ops[0], op_id(ops[0])
        inner = [shape_of(o.operands[0].type) for o in ops]
        rank = len(inner[0])
        start, size = [0] * rank, [0] * rank
        steps = [a.get("step") or [1] * rank for a in attributes]
        open_: list[int] = []
        for axis in range(rank):
            starts, sizes = [a["start"][axis] for a in attributes], [a["size"][axis] for a in attributes]
            step = steps[0][axis]
            ends = {s - d[axis] for s, d in zip(starts, inner, strict=True)}
            if len({s[axis] for s in steps}) > 1:
                self.refuse(f"{name} depends on its sizes")
            if len(set(starts)) == 1 and len(set(sizes)) == 1:
                start[axis], size[axis] = starts[0], sizes[0]
            elif len(ends) == 1 and len(set(sizes)) == 1:
                start[axis], size[axis] = ends.pop(), sizes[0]
            elif self.to_the_end(starts, sizes, step, [d[axis] for d in inner]):
                start[axis], size[axis] = (starts[0] if len(set(starts)) == 1 else ends.pop()), -1
            else:
                start[axis], size[axis] = 0, -1
                open_.append(axis)
        made = value
        if open_:
            bounds: list[SSAValue] = []
            for axis in open_:
                starts, sizes = [a["start"][axis] for a in attributes], [a["size"][axis] for a in attributes]
                stops = [s + n * steps[0][axis] for s, n in zip(starts, sizes, strict=True)]
                if steps[0][axis] < 0:
                    self.refuse(f"{name} goes backwards over a part that depends on its sizes,")
                bounds += [self.number(self.polynomial(v, name)) for v in (starts, stops)]
            by = [steps[0][axis] for axis in open_]
            made = self.append(make("dynamic_slice", [value, *bounds], axes=open_, step=by), name, op)
        step = [1 if axis in open_ else steps[0][axis] for axis in range(rank)]
        plain = all(a == 0 and s == 1 and n in (-1, d) for a, n, s, d in zip(start, size, step, shape_of(made.type), strict=True))
        if open_ and plain:
            return made
        return self.append(make("slice", [made], start=start, size=size, step=step), name, op)

    def to_the_end(self, starts: Sequence[int], sizes: Sequence[int], step: int, dims: Sequence[int]) -> bool:
        """Whether everything from a fixed place on, of the front or of the end, is taken."""
        fixed = len(set(starts)) == 1 or len({s - d for s, d in zip(starts, dims, strict=True)}) == 1
        left = [(d - s + step - 1) // step if step > 0 else s // -step + 1 for s, d in zip(starts, dims, strict=True)]
        return fixed and left == list(sizes)
