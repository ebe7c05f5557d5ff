"""A program while passes change it: a copy to work on, the few ways to change it, and what became of every operation.

Passes do not touch modules by hand: what an `Edit` replaces or erases it notes, so that a comparison can say where an
operation of the source went ("fused into h1", "the same as mul.3") instead of calling it missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue

from fleet.core.unique import Taken
from fleet.ir.arguments import append_argument, erase_arguments
from fleet.ir.dialect import ConstantOp, FleetOp, all_operations, has_effects, op_id
from fleet.ir.operations.composite import CompositeOp, covered_ids
from fleet.ir.program import Argument, Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.ir.weights import Recipe, Weights
from fleet.transforms.entry import entry_function

__all__ = ["Edit", "identity", "text_of"]


def text_of(op: FleetOp, name: str) -> str | None:
    """A text property (`id`, `var`, `at`), None where the operation has none."""
    attr = op.properties.get(name)
    return attr.data if isinstance(attr, StringAttr) else None


def identity(op: FleetOp) -> dict[str, Any]:
    """id, var and at of an operation, as `FleetOp.describe` takes them."""
    return {"id": op_id(op), "var": text_of(op, "var"), "at": text_of(op, "at")}


class Edit:
    """A copy of a program that passes change; `program()` gives the result.

    Attributes:
        module: the copy; arguments, weights, symbols: as in `Program`; fates: id of an operation that is gone -> what became of it.
        changes: how often an operation came or went, for who keeps what he found.
    """

    def __init__(self, program: Program, parent: Edit | None = None) -> None:
        """parent: of the program in which this one is the body of an operation: names are unique in the whole."""
        self._base, self._parent = program, parent
        self._module = program.module.clone()
        self._function: FuncOp | None = None
        self._type_is_old = self._owns_weights = False
        self.arguments: list[Argument] = list(program.arguments)
        self.weights: Mapping[str, np.ndarray] = program.weights
        self.fates: dict[str, str] = dict(program.fates)
        self.symbols: dict[str, int] = dict(program.symbols)
        self.changes = 0
        self._taken: Taken | None = None
        self._places: dict[FleetOp, float] | None = None
        self._twins: dict[str, str] = {}
        self._parts: dict[str, str] = {}

    @property
    def module(self) -> ModuleOp:
        """The copy."""
        if self._type_is_old:
            self._type_is_old = False
            self.function.update_function_type()
        return self._module

    @property
    def function(self) -> FuncOp:
        """The model's function in the copy."""
        if self._function is None or self._function.parent is None:
            self._function = entry_function(self._module)
        return self._function

    @property
    def block(self) -> Block:
        """The function's one block."""
        return self.function.body.block

    def operations(self) -> list[FleetOp]:
        """A snapshot of the operations in program order."""
        return [op for op in self.block.ops if isinstance(op, FleetOp)]

    def order(self) -> Mapping[FleetOp, float]:
        """Numbers that ascend in program order, kept up to date by what changes the program through the edit."""
        if self._places is None:
            self._places = {op: float(i) for i, op in enumerate(self.operations())}
        return self._places

    def renumber(self) -> None:
        """To be called where operations came to the block by other ways."""
        self._places = None

    def _put(self, op: FleetOp, place: FleetOp) -> None:
        """An operation before another, numbered between its neighbours: numbering all of them each time would be quadratic."""
        self.block.insert_op_before(op, place)
        self.changes += 1
        if self._places is None:
            return
        before, last = op.prev_op, self._places.get(place, -1.0)
        first = last - 2 if before is None else self._places.get(before, last) if isinstance(before, FleetOp) else last
        middle = (first + last) / 2
        if first < middle < last:
            self._places[op] = middle
        else:
            self._places = None  # no number is left between them

    def program(self) -> Program:
        """The result. The edit must not be used after it."""
        self._owns_weights = False
        return replace(
            self._base,
            module=self.module,
            arguments=tuple(self.arguments),
            weights=self.weights,
            symbols=self.symbols,
            fates=dict(self.fates),
        )

    def snapshot(self) -> Program:
        """The program as it is now, while the edit goes on."""
        self._owns_weights = False
        return replace(
            self._base,
            module=self.module.clone(),
            arguments=tuple(self.arguments),
            weights=self.weights,
            symbols=self.symbols,
            fates=dict(self.fates),
        )

    def fresh_id(self, wanted: str) -> str:
        """`wanted`, with a number where an operation or argument already has that name."""
        if self._parent is not None:
            return self._parent.fresh_id(wanted)
        if self._taken is None:
            ids = {op_id(op) for op in all_operations(self.block) if isinstance(op, FleetOp)}
            self._taken = Taken(ids | {a.name for a in self.arguments} | self.fates.keys())
        return self._taken.unique(wanted)

    def insert_before(self, place: FleetOp, op: FleetOp, wanted_id: str | None = None) -> SSAValue:
        """Puts a new operation before another; with `wanted_id` it gets an identity of its own at that place."""
        if wanted_id is not None:
            op.describe(id=self.fresh_id(wanted_id), at=text_of(place, "at"))
        self._put(op, place)
        return op.results[0]

    def expand(self, op: FleetOp, parts: Sequence[FleetOp]) -> None:
        """Puts operations, the last of which gives its result, in the place of one.

        The last takes over its identity. The others are parts of it: what is later fused with them is told to be fused into it, and
        an operation of the source that computes the same as a part hands its own identity to it.
        """
        *inner, last = parts
        for part in inner:
            self.insert_before(op, part, op_id(op))
            self._parts[op_id(part)] = op_id(op)
        last.describe(**identity(op))
        self.replace(op, self.insert_before(op, last))

    def replace(self, op: FleetOp, value: SSAValue, fate: str | None = None) -> None:
        """Uses `value` wherever the operation's result is used, and erases the operation.

        fate: what to say of it; by default that it is the same as what stands for it now. An operation that takes over
        the id leaves no fate behind.
        """
        hint = op.results[0].name_hint
        op.results[0].replace_all_uses_with(value)
        new = value.owner
        if isinstance(new, FleetOp):
            if fate is None and self._parts.pop(op_id(new), None) is not None:
                new.describe(**identity(op))
            if fate is None and text_of(new, "id") != op_id(op):
                fate = f"the same as {op_id(new)}"
            if value.name_hint is None and hint is not None and text_of(new, "id") == op_id(op):
                value.name_hint = hint
        elif fate is None:
            assert isinstance(value, BlockArgument)
            fate = f"the same as {self.arguments[value.index].name}"
        self.erase(op, fate)

    def erase(self, op: FleetOp, fate: str | None) -> None:
        """Takes out an operation whose results nobody uses."""
        if fate is not None:
            self.fates[op_id(op)] = fate
        if self._places is not None:
            self._places.pop(op, None)
        op.detach()
        op.erase()
        self.changes += 1

    def compose(self, root: FleetOp, composite: FleetOp) -> None:
        """Lets `composite`, not yet in the block, stand for `root` and for everything that only `root` needed.

        It takes over the root's identity and notes what it covers; numbers that go with them were folded into it.
        """
        assert isinstance(composite, CompositeOp)
        name, hint = op_id(root), root.results[0].name_hint
        composite.describe(**identity(root))
        self._put(composite, root)
        composite.results[0].name_hint = hint
        root.results[0].replace_all_uses_with(composite.results[0])
        order = self.order()
        covered: dict[str, tuple[float, int]] = {}
        waiting = [root]
        while waiting:
            op = waiting.pop()
            operands = [v.owner for v in dict.fromkeys(op.operands)]
            if not isinstance(op, ConstantOp):
                covered |= {c: (order[op], i) for i, c in enumerate(covered_ids(op) or [op_id(op)])}
            # A number may stand for an operation of the source that was folded: a trace has no value of that any more.
            self.erase(op, f"folded into {name}" if isinstance(op, ConstantOp) else None)
            waiting += [o for o in operands if isinstance(o, FleetOp) and not has_effects(o) and not any(r.uses for r in o.results)]
        inner = sorted((c for c in covered if c != name), key=covered.__getitem__)
        composite.cover([*inner, name])
        self.fates |= dict.fromkeys(inner, f"fused into {self._parts.get(name, name)}")

    def serves(self, op: FleetOp, other: FleetOp) -> None:
        """Notes that `op` now has the uses of `other`, which computes the same: so it is told where `other` is swept away."""
        if (part := op_id(op)) in self._parts:
            op.describe(**identity(other))
            other.describe(id=part)
        self._twins[op_id(other)] = op_id(op)

    def sweep(self, candidates: Sequence[FleetOp] | None = None, fate: str = "not needed") -> list[str]:
        """Erases operations without uses and effects, last first; the ids of those that went.

        candidates: only these, in program order (all by default).
        """
        gone: list[str] = []
        for op in reversed(self.operations() if candidates is None else candidates):
            if not has_effects(op) and not any(r.uses for r in op.results):
                gone.append(op_id(op))
                twin = self._twins.get(op_id(op))
                self.erase(op, fate if twin is None else f"the same as {twin}")
        return gone[::-1]

    def add_weight(self, name: str, recipe: Recipe, type_: Attribute) -> SSAValue:
        """A new argument of kind "weight", under a name that no argument has, whose data the recipe makes."""
        argument = append_argument(self.block, type_)
        if name.isascii() and name.isidentifier():
            argument.name_hint = name
        self.arguments.append(Argument(name, recipe.shape, recipe.dtype, "weight"))
        weights = self.weights
        if not self._owns_weights or not isinstance(weights, Weights):
            self.weights = weights = Weights(weights)
            self._owns_weights = True
        weights.entries[name] = recipe
        self._type_is_old = True
        return argument

    def drop_unused_weights(self) -> list[str]:
        """Takes out arguments of kind "weight" that nothing uses; their names."""
        pairs = list(zip(self.arguments, self.block.args, strict=True))
        unused = {argument.name: value for argument, value in pairs if argument.kind == "weight" and not value.uses}
        if unused:
            erase_arguments(self.block, unused.values())
            self.arguments = [argument for argument in self.arguments if argument.name not in unused]
            self.weights = Weights(self.weights).with_entries({}, [a.name for a in self.arguments if a.kind == "weight"])
            self._type_is_old = True
        return list(unused)

    def check(self) -> None:
        """What the module's own verifier does not see. Raises ValueError."""
        values = self.block.args
        if len(values) != len(self.arguments):
            raise ValueError(f"{len(values)} arguments in the function, {len(self.arguments)} declared")
        for argument, value in zip(self.arguments, values, strict=True):
            if shape_of(value.type) != argument.shape or numpy_dtype(value.type) != argument.dtype:
                raise ValueError(f"argument {argument.name} is {value.type}, declared as {argument.dtype}{list(argument.shape)}")
        seen: set[str] = set()
        for op in all_operations(self.block):
            if not isinstance(op, FleetOp):
                continue
            if (name := op_id(op)) in seen:
                raise ValueError(f"two operations have the id {name}")
            seen.add(name)
