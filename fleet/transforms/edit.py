"""A program while passes change it: a copy to work on, the few ways to change it, and what became of every operation.

Passes do not touch modules by hand: what an `Edit` replaces or erases it notes, so that a comparison can say where an
operation of the source went ("fused into h1", "the same as mul.3") instead of calling it missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue

from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
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

    def __init__(self, program: Program) -> None:
        self._base = program
        self.module = program.module.clone()
        self.arguments: list[Argument] = list(program.arguments)
        self.weights: Mapping[str, np.ndarray] = program.weights
        self.fates: dict[str, str] = dict(program.fates)
        self.symbols: dict[str, int] = dict(program.symbols)
        self.changes = 0
        self._taken: set[str] | None = None
        self._twins: dict[str, str] = {}
        self._parts: dict[str, str] = {}

    @property
    def function(self) -> FuncOp:
        """The model's function in the copy."""
        return entry_function(self.module)

    @property
    def block(self) -> Block:
        """The function's one block."""
        return self.function.body.block

    def operations(self) -> list[FleetOp]:
        """A snapshot of the operations in program order."""
        return [op for op in self.block.ops if isinstance(op, FleetOp)]

    def program(self) -> Program:
        """The result. The edit must not be used after it."""
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
        if self._taken is None:
            self._taken = {op_id(op) for op in self.operations()} | {a.name for a in self.arguments} | self.fates.keys()
        name, count = wanted, 0
        while name in self._taken:
            count += 1
            name = f"{wanted}.{count}"
        self._taken.add(name)
        return name

    def insert_before(self, place: FleetOp, op: FleetOp, wanted_id: str | None = None) -> SSAValue:
        """Puts a new operation before another; with `wanted_id` it gets an identity of its own at that place."""
        if wanted_id is not None:
            op.describe(id=self.fresh_id(wanted_id), at=text_of(place, "at"))
        self.block.insert_op_before(op, place)
        self.changes += 1
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
            assert isinstance(new, Block)
            fate = f"the same as {self.arguments[[*new.args].index(value)].name}"  # pyright: ignore[reportArgumentType]
        self.erase(op, fate)

    def erase(self, op: FleetOp, fate: str | None) -> None:
        """Takes out an operation whose results nobody uses."""
        if fate is not None:
            self.fates[op_id(op)] = fate
        op.detach()
        op.erase()
        self.changes += 1

    def compose(self, root: FleetOp, composite: FleetOp) -> None:
        """Lets `composite`, not yet in the block, stand for `root` and for everything that only `root` needed.

        It takes over the root's identity and notes what it covers; numbers that go with them were folded into it.
        """
        from fleet.ir.composite import CompositeOp, covered_ids

        assert isinstance(composite, CompositeOp)
        name, hint = op_id(root), root.results[0].name_hint
        composite.describe(**identity(root))
        self.block.insert_op_before(composite, root)
        self.changes += 1
        composite.results[0].name_hint = hint
        root.results[0].replace_all_uses_with(composite.results[0])
        order = {op: i for i, op in enumerate(self.block.ops)}
        covered: dict[str, tuple[int, int]] = {}
        waiting = [root]
        while waiting:
            op = waiting.pop()
            operands = [v.owner for v in dict.fromkeys(op.operands)]
            if not isinstance(op, ConstantOp):
                covered |= {c: (order[op], i) for i, c in enumerate(covered_ids(op) or [op_id(op)])}
            # A number may stand for an operation of the source that was folded: a trace has no value of that any more.
            self.erase(op, f"folded into {name}" if isinstance(op, ConstantOp) else None)
            waiting += [
                o for o in operands if isinstance(o, FleetOp) and not isinstance(o, PrintOp) and not any(r.uses for r in o.results)
            ]
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
            if not isinstance(op, PrintOp) and not any(r.uses for r in op.results):
                gone.append(op_id(op))
                twin = self._twins.get(op_id(op))
                self.erase(op, fate if twin is None else f"the same as {twin}")
        return gone[::-1]

    def add_weight(self, name: str, recipe: Recipe, type_: Attribute) -> SSAValue:
        """A new argument of kind "weight", under a name that no argument has, whose data the recipe makes."""
        argument = self.block.insert_arg(type_, len(self.block.args))
        if name.isascii() and name.isidentifier():
            argument.name_hint = name
        self.arguments.append(Argument(name, recipe.shape, recipe.dtype, "weight"))
        self.weights = Weights(self.weights).with_entries({name: recipe})
        self.function.update_function_type()
        return argument

    def drop_unused_weights(self) -> list[str]:
        """Takes out arguments of kind "weight" that nothing uses; their names."""
        dropped: list[str] = []
        for index in reversed(range(len(self.arguments))):
            value = self.block.args[index]
            if self.arguments[index].kind == "weight" and not value.uses:
                dropped.append(self.arguments[index].name)
                self.block.erase_arg(value)
                del self.arguments[index]
        if dropped:
            self.weights = Weights(self.weights).with_entries({}, [a.name for a in self.arguments if a.kind == "weight"])
            self.function.update_function_type()
        return dropped[::-1]

    def check(self) -> None:
        """What the module's own verifier does not see. Raises ValueError."""
        values = self.block.args
        if len(values) != len(self.arguments):
            raise ValueError(f"{len(values)} arguments in the function, {len(self.arguments)} declared")
        for argument, value in zip(self.arguments, values, strict=True):
            if shape_of(value.type) != argument.shape or numpy_dtype(value.type) != argument.dtype:
                raise ValueError(f"argument {argument.name} is {value.type}, declared as {argument.dtype}{list(argument.shape)}")
        seen: set[str] = set()
        for op in self.operations():
            if (name := op_id(op)) in seen:
                raise ValueError(f"two operations have the id {name}")
            seen.add(name)
