"""Edits of a program by passes: a working copy, the operations that change it, and a record of what became of each operation.

Passes do not change modules directly. An `Edit` records what it replaces or erases, so that a comparison can report where an
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


def text_of(op: FleetOp, name: str) -> str | None:
    """Return a text property (`id`, `var`, `at`), or None."""
    attr = op.properties.get(name)
    return attr.data if isinstance(attr, StringAttr) else None


def identity(op: FleetOp) -> dict[str, Any]:
    """Return id, var and at of an operation, as arguments of `FleetOp.describe`."""
    return {"id": op_id(op), "var": text_of(op, "var"), "at": text_of(op, "at")}


class Edit:
    """A copy of a program that passes change; `program()` returns the result.

    Attributes:
        module: the copy.
        arguments, weights, symbols: as in `Program`.
        fates: id of a removed operation -> what became of it.
        changes: number of operations added or removed, for callers that cache results.
    """

    def __init__(self, program: Program, parent: Edit | None = None, *, copy: bool = True) -> None:
        """Begin an edit.

        Args:
            parent: the edit of the program that contains this one as a body; names are unique across both.
            copy: False if nobody else uses the program's module any more: it is changed itself.
        """
        self._base, self._parent = program, parent
        self._module = program.module.clone() if copy else program.module
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
        """The copy of the module that is edited."""
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
        """The function's only block."""
        return self.function.body.block

    @property
    def inside(self) -> bool:
        """Whether it edits the body of a decision or loop."""
        return self._parent is not None

    def operations(self) -> list[FleetOp]:
        """Return a snapshot of the operations in program order."""
        return [op for op in self.block.ops if isinstance(op, FleetOp)]

    def order(self) -> Mapping[FleetOp, float]:
        """Return numbers that ascend in program order; changes through the edit keep them up to date."""
        if self._places is None:
            self._places = {op: float(i) for i, op in enumerate(self.operations())}
        return self._places

    def renumber(self) -> None:
        """Discard the numbers; call it after adding operations to the block by other means."""
        self._places = None

    def _put(self, op: FleetOp, place: FleetOp) -> None:
        """Insert an operation before another, with a number between its neighbours: renumbering everything would be quadratic."""
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
            self._places = None  # there is no number left between them

    def program(self) -> Program:
        """Return the result. The edit must not be used afterwards."""
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
        """Return the present program; the edit continues."""
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
        """Return `wanted`, with a number added if an operation or argument has that name."""
        return self.hold_names().unique(wanted)

    def hold_names(self) -> Taken:
        """Return the names that operations and arguments of the whole program have, or have had since this was first asked."""
        if self._parent is not None:
            return self._parent.hold_names()
        if self._taken is None:
            ids = {op_id(op) for op in all_operations(self.block) if isinstance(op, FleetOp)}
            self._taken = Taken(ids | {a.name for a in self.arguments} | self.fates.keys())
        return self._taken

    def insert_before(self, place: FleetOp, op: FleetOp, wanted_id: str | None = None) -> SSAValue:
        """Insert a new operation before another. wanted_id: give it an identity of its own."""
        if wanted_id is not None:
            op.describe(id=self.fresh_id(wanted_id), at=text_of(place, "at"))
        self._put(op, place)
        return op.results[0]

    def expand(self, op: FleetOp, parts: Sequence[FleetOp]) -> None:
        """Replace an operation by several, the last of which computes its result.

        The last one takes over the identity. The others are its parts: what is later fused with them is reported as fused into it.
        If an operation of the source computes the same as a part, it hands its own identity to the part.
        """
        *inner, last = parts
        for part in inner:
            self.insert_before(op, part, op_id(op))
            self._parts[op_id(part)] = op_id(op)
        last.describe(**identity(op))
        self.replace(op, self.insert_before(op, last))

    def replace(self, op: FleetOp, value: SSAValue, fate: str | None = None) -> None:
        """Use `value` wherever the operation's result is used, and erase the operation.

        fate: what to report; default: the same as the replacement. If another operation takes over the id, nothing is reported.
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
        """Erase an operation whose results are unused."""
        if fate is not None:
            self.fates[op_id(op)] = fate
        if self._places is not None:
            self._places.pop(op, None)
        op.detach()
        op.erase()
        self.changes += 1

    def compose(self, root: FleetOp, composite: FleetOp) -> None:
        """Replace `root`, and everything that only `root` needed, by `composite`, which is not yet in the block.

        It takes over the root's identity and records what it covers; numbers removed with it are recorded as folded into it.
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
            # A number may replace a folded operation of the source, whose value is not in a trace any more.
            self.erase(op, f"folded into {name}" if isinstance(op, ConstantOp) else None)
            waiting += [o for o in operands if isinstance(o, FleetOp) and not has_effects(o) and not any(r.uses for r in o.results)]
        inner = sorted((c for c in covered if c != name), key=covered.__getitem__)
        composite.cover([*inner, name])
        self.fates |= dict.fromkeys(inner, f"fused into {self._parts.get(name, name)}")

    def serves(self, op: FleetOp, other: FleetOp) -> None:
        """Record that `op` has taken over the uses of `other`, which computes the same; it is reported if `other` is swept away."""
        if (part := op_id(op)) in self._parts:
            op.describe(**identity(other))
            other.describe(id=part)
        self._twins[op_id(other)] = op_id(op)

    def sweep(self, candidates: Sequence[FleetOp] | None = None, fate: str = "not needed") -> list[str]:
        """Erase operations without uses and effects, last first; return the ids of the erased ones.

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
        """Add an argument of kind "weight" with a unique name; the recipe makes its data."""
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
        """Remove unused arguments of kind "weight"; return their names."""
        pairs = list(zip(self.arguments, self.block.args, strict=True))
        unused = {argument.name: value for argument, value in pairs if argument.kind == "weight" and not value.uses}
        if unused:
            erase_arguments(self.block, unused.values())
            self.arguments = [argument for argument in self.arguments if argument.name not in unused]
            self.weights = Weights(self.weights).with_entries({}, [a.name for a in self.arguments if a.kind == "weight"])
            self._type_is_old = True
        return list(unused)

    def check(self) -> None:
        """Check what the module's verifier does not see. Raises ValueError."""
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
