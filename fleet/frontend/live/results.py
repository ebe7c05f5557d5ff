"""A function's result, taken apart into arrays and put together again after a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fleet.frontend.live.records import is_record
from fleet.frontend.reading.values import Dict, List, NamedTupleValue, NumberValue, ObjectInstance, TracedArray, Value

Outputs: TypeAlias = Mapping[str, np.ndarray]


class ReturnedValue(ABC):
    """A returned value without its arrays."""

    @abstractmethod
    def build(self, outputs: Outputs) -> object:
        """Build Python's result from the outputs of a run."""


@dataclass(frozen=True)
class OutputLeaf(ReturnedValue):
    """An output; of a NumPy scalar, the scalar."""

    name: str
    scalar: bool

    def build(self, outputs: Outputs) -> object:
        """The output itself."""
        found = outputs[self.name]
        return found[()] if self.scalar else found


@dataclass(frozen=True)
class NumberLeaf(ReturnedValue):
    """A Python number that a run computes."""

    name: str

    def build(self, outputs: Outputs) -> object:
        """The output as a bool, int or float."""
        return outputs[self.name].item()


@dataclass(frozen=True)
class KnownResult(ReturnedValue):
    """A number, string or None that is known without a run."""

    value: object

    def build(self, outputs: Outputs) -> object:
        """The value itself."""
        return self.value


@dataclass(frozen=True)
class ResultGroup(ReturnedValue):
    """A tuple, list or dict; or a named tuple or an object of a dataclass, with their names as `keys`."""

    kind: type
    keys: tuple[object, ...]
    parts: tuple[ReturnedValue, ...]

    def build(self, outputs: Outputs) -> object:
        """The container of the parts' values."""
        values = [part.build(outputs) for part in self.parts]
        if self.kind is dict:
            return dict(zip(self.keys, values, strict=True))
        if self.kind in (list, tuple):
            return self.kind(values)
        if issubclass(self.kind, tuple):
            return tuple.__new__(self.kind, values)
        made = object.__new__(self.kind)  # its __init__ is part of what was compiled
        for name, value in zip(self.keys, values, strict=True):
            object.__setattr__(made, str(name), value)
        return made


def taken_apart(
    value: Value, name: str, leaf: Callable[[str, TracedArray | NumberValue], str], names: Sequence[str] = ()
) -> ReturnedValue | None:
    """The value's form; None if a part of it cannot be returned.

    leaf: takes the wished name and an array or number, returns the output's name. names: wished names of a tuple's parts.
    """

    def parts(values: Sequence[Value], wished: Sequence[str]) -> tuple[ReturnedValue, ...] | None:
        found = [taken_apart(v, n, leaf) for v, n in zip(values, wished, strict=True)]
        return None if None in found else tuple(f for f in found if f is not None)

    match value:
        case TracedArray():
            return OutputLeaf(leaf(name, value), value.scalar)
        case NumberValue():
            if value.symbolic:
                return NumberLeaf(leaf(name, value))
            if isinstance(value.value, float) or -(1 << 63) <= value.value < 1 << 63:
                leaf(name, value)
            return KnownResult(value.value)
        case str() | None:
            return KnownResult(value)
        case NamedTupleValue() if (kind := value.kind.python) is not None:
            below = parts(value, [f"{name}.{field}" for field in value.fields])
            return None if below is None else ResultGroup(kind, tuple(value.fields), below)
        case ObjectInstance() if (kind := value.kind.python) is not None and is_record(kind):
            below = parts(list(value.attributes.values()), [f"{name}.{field}" for field in value.attributes])
            return None if below is None else ResultGroup(kind, tuple(value.attributes), below)
        case tuple() | List():
            items = value.items if isinstance(value, List) else value
            below = parts(items, names if len(names) == len(items) else [f"{name}.{i}" for i in range(len(items))])
            return None if below is None else ResultGroup(list if isinstance(value, List) else tuple, (), below)
        case Dict():
            below = parts(list(value.items.values()), [f"{name}.{k}" for k in value.items])
            return None if below is None else ResultGroup(dict, tuple(value.items), below)
        case _:
            return None
