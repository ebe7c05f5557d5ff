"""Arrays that the source makes: draws of seeded generators, np.tri and its like, literals. They become weights when used."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import Block, BlockArgument, SSAValue

from fleet.frontend.reading.values import (
    BoundMethod,
    Class,
    Dict,
    DictView,
    List,
    NamedTupleValue,
    ObjectInstance,
    TracedArray,
    Value,
)
from fleet.ir.arguments import append_argument, erase_arguments
from fleet.ir.program import Argument
from fleet.ir.types import tensor_type
from fleet.ir.weights import Creation, Entry

MAX_BYTES = 1 << 30
"""The largest array that a source may make."""
MAX_TOTAL = 8 << 30
"""All arrays of a source together."""
_SMALL = 4096


class Static(TracedArray):
    """An array that is known before the run, or can be made; `entry` is the array or its recipe.

    While `lazy`, no operation has used it and it has no place in the IR.
    """

    def __init__(self, made: Made, entry: Entry, kind: str, *, scalar: bool | None = None) -> None:
        self.entry: Entry | None = entry
        self._shape, self._dtype = tuple(entry.shape), entry.dtype
        super().__init__(None, scalar=scalar)
        self._made = made
        self.kind = kind
        self.names: list[tuple[int, str]] = []

    @property
    def lazy(self) -> bool:
        """True while it is not in the IR."""
        return self._ssa is None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, also before there is an IR value."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """Element type, also before there is an IR value."""
        return self._dtype

    @property
    def ssa(self) -> SSAValue:
        """The IR's value: an argument of the function, made on the first use. SourceError F504 as `TracedArray.ssa`."""
        if self.lost is not None:
            self.lost()
        if self._ssa is None:
            self._ssa = self._made.argument(self)
        return self._ssa

    @ssa.setter
    def ssa(self, value: SSAValue) -> None:
        self._ssa = value
        self.entry = None

    def restore(self, ssa: SSAValue | None, entry: Entry | None) -> None:
        """Restore an earlier IR value or entry. If it has become a weight since, it stays one."""
        weight = self._ssa is not None and self._ssa.owner is self._made.block
        if ssa is not None or not weight:
            self._ssa = ssa
        self.entry = entry

    def replace(self, entry: Entry) -> None:
        """Become another array of the same shape and dtype; what was computed of the one before stays."""
        self._ssa = None
        self.entry = entry

    def note(self, variable: str, depth: int) -> None:
        """A variable is bound to it."""
        self.names.append((depth, variable))

    def small(self) -> np.ndarray | None:
        """The array, or None if it has to be drawn or has many elements."""
        if isinstance(self.entry, np.ndarray):
            return self.entry if self.entry.size <= _SMALL else None
        if isinstance(self.entry, Creation) and int(np.prod(self._shape)) <= _SMALL:
            return self.entry.array
        return None

    def known(self) -> bool | int | float | None:
        """The value, of an array of one element that costs nothing."""
        array = self.small() if not self._shape or int(np.prod(self._shape)) == 1 else None
        return None if array is None else array.item()


class Made:
    """Every array that the source made and that an operation uses, as arguments of the function.

    limit: bytes that they may have together, beside `MAX_TOTAL`.
    """

    def __init__(self, block: Block, limit: int = MAX_TOTAL) -> None:
        self.block = block
        self.limit = limit
        self.used: dict[SSAValue, tuple[Static, BlockArgument, Entry]] = {}
        """By the argument."""
        self._creations: dict[Creation, BlockArgument] = {}
        self.total = 0

    def argument(self, value: Static) -> SSAValue:
        """The function's argument for an array."""
        assert value.entry is not None
        if isinstance(value.entry, Creation) and value.entry in self._creations:  # made twice by the same call: one weight
            argument = self._creations[value.entry]
            self.used[argument][0].names += value.names
            return argument
        argument = append_argument(self.block, tensor_type(value.shape, value.dtype))
        self.used[argument] = value, argument, value.entry
        if isinstance(value.entry, Creation):
            self._creations[value.entry] = argument
        return argument

    def drop_unused(self) -> None:
        """Remove arguments that no operation uses."""
        unused = [argument for _, argument, _ in self.used.values() if not argument.uses]
        erase_arguments(self.block, unused)
        for argument in unused:
            _, _, entry = self.used.pop(argument)
            if isinstance(entry, Creation):
                del self._creations[entry]

    def arguments(self, taken: set[str], roots: Mapping[str, Value]) -> tuple[list[Argument], dict[str, Entry]]:
        """The arguments in their order, and what each is. `roots`: variables whose containers give names ("blocks.3.w")."""
        paths = _paths(roots)
        arguments: list[Argument] = []
        entries: dict[str, Entry] = {}
        for value, argument, entry in self.used.values():
            named = min(value.names, key=lambda n: n[0], default=None)
            outer = named[1] if named is not None and named[0] <= 1 and "." not in named[1] else None
            base = outer or paths.get(id(value)) or (named[1] if named is not None else f"{value.kind}.0")
            name, suffix = base, 0
            while name in taken:
                suffix += 1
                name = f"{base.removesuffix('.0') if named is None else base}.{suffix}"
            taken.add(name)
            argument.name_hint = name if name.isascii() and name.replace(".", "_").isidentifier() else None
            arguments.append(Argument(name, value.shape, value.dtype, "weight"))
            entries[name] = entry
        return arguments, entries


def _paths(roots: Mapping[str, Value]) -> dict[int, str]:
    found: dict[int, str] = {}
    work: list[tuple[str, Value, int]] = [(name, value, 0) for name, value in reversed(list(roots.items()))]
    seen: set[int] = set()
    while work:
        path, value, depth = work.pop()
        if isinstance(value, Static):
            found.setdefault(id(value), path)
        if id(value) in seen or depth > 8:
            continue
        held = parts(value)
        if held:
            seen.add(id(value))
        work += [(path if name is None else f"{path}.{name}", v, depth + 1) for name, v in reversed(held)]
    return found


def parts(value: Value) -> list[tuple[object, Value]]:
    """What a container or object holds, with its name in there; None for what adds nothing to the path."""
    match value:
        case Dict():
            return list(dict.items(value.items))  # of a shuffled one, too: its keys are the names
        case List():
            return list(enumerate(value.items))
        case NamedTupleValue():
            return list(zip(value.fields or range(len(value)), value, strict=True))
        case tuple():
            return list(enumerate(value))
        case ObjectInstance():
            return list(value.attributes.items())
        case Class():
            return list(value.names.items())
        case BoundMethod() | DictView():
            return [(None, value.owner)]
        case _:
            return []
