"""Arguments of one call: the arrays in them, and a key that is equal for calls which one compiled program serves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fleet.errors import ModelError
from fleet.frontend.gpu_tensor import GpuTensor, gpu_tensor
from fleet.frontend.live.records import is_enumeration, is_record
from fleet.frontend.live.watch import (
    Items,
    NamedItems,
    ObjectSnapshot,
    Record,
    TooDeep,
    WatchedAtom,
    is_named_tuple,
    is_plain_object,
    of_class,
    snapshot,
    unwrapped,
)
from fleet.frontend.tensor import Tensor, from_outside

_DEPTH = 16
_BY_VALUE = (bool, int, str, type(None), range)
_BY_IDENTITY = (FunctionType, BuiltinFunctionType, ModuleType, np.ufunc, np.dtype, type)


@dataclass(frozen=True, eq=False)
class Input(ObjectSnapshot):
    """An array among the arguments. scalar: a NumPy scalar."""

    name: str
    scalar: bool

    def holds(self, now: object) -> bool:
        """Inputs are not watched: they are given anew."""
        return True


class SameObject:
    """A key that only the same object equals; it keeps the object."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and other._value is self._value

    def __hash__(self) -> int:
        return id(self._value)


@dataclass(frozen=True, eq=False)
class Given:
    """One call's arguments.

    Attributes:
        key: shapes, dtypes and all that is not an array.
        inputs: name ("x", "params.blocks.0.w") -> array; of a tensor on a GPU its form.
        on_gpu: name -> tensor, of those that lie on a GPU.
        tree: parameter -> its form; arrays are `Input`.
    """

    key: Hashable
    inputs: dict[str, np.ndarray]
    on_gpu: dict[str, GpuTensor]
    tree: Callable[[], dict[str, ObjectSnapshot]]


def given(where: str, names: Sequence[str], values: Sequence[object]) -> Given:
    """Take the arguments of a call apart. Raises ModelError if one of them cannot be an argument."""
    inputs: dict[str, np.ndarray] = {}
    on_gpu: dict[str, GpuTensor] = {}
    keys: list[Hashable] = []
    for name, value in zip(names, values, strict=True):
        if type(value) is np.ndarray:  # most of them are
            inputs[name] = value
            keys.append((value.shape, value.dtype))
        else:
            keys.append(_taken(where, name, value, inputs, on_gpu, None))

    def tree() -> dict[str, ObjectSnapshot]:
        forms: dict[str, ObjectSnapshot] = {}
        for name, value in zip(names, values, strict=True):
            _taken(where, name, value, {}, {}, forms)
        return forms

    return Given(tuple(keys), inputs, on_gpu, tree)


def _array_of(value: Any, where: str) -> tuple[np.ndarray, GpuTensor | None]:
    """Return an array, or the form of a tensor on a GPU and the tensor."""
    there = value.on_gpu if isinstance(value, Tensor) else gpu_tensor(value, where)
    if there is not None:
        return there.form, there
    return value.data if isinstance(value, Tensor) else from_outside(value, where), None


def _parts(value: Any) -> dict[Any, Any] | None:
    """Return what a container or an object of a dataclass holds, by key, name or position; None for another value."""
    if type(value) is dict:
        return value
    if type(value) in (list, tuple):
        return dict(enumerate(value))
    if is_named_tuple(value):
        return dict(zip(value._fields, value, strict=True))
    return vars(value) if is_plain_object(value) and is_record(type(value)) else None


def _group(value: Any, keys: tuple[Any, ...], parts: tuple[ObjectSnapshot, ...]) -> ObjectSnapshot:
    """Return the form of a container or an object of a dataclass."""
    kind = type(value)
    if kind in (list, tuple, dict):
        return Items(kind, keys if kind is dict else (), parts)
    if isinstance(value, tuple):
        return NamedItems(kind, keys, parts, of_class(kind))
    return Record(of_class(kind), dict(zip(keys, parts, strict=True)))


def _taken(
    where: str,
    name: str,
    value: Any,
    inputs: dict[str, np.ndarray],
    on_gpu: dict[str, GpuTensor],
    forms: dict[str, ObjectSnapshot] | None,
    depth: int = 0,
) -> Any:
    """The key of one value; its arrays go to `inputs` and `on_gpu`, and its form to `forms`, if given."""
    if depth > _DEPTH:
        raise ModelError(f'argument "{name[:60]}" nests deeper than {_DEPTH} levels', where=where, hint="pass less of it")
    kind = type(value)
    form: ObjectSnapshot
    parts = _parts(value)
    if parts is not None:
        items = list(parts.items())
        below: dict[str, ObjectSnapshot] = {}
        keys: list[Any] = []
        names = [f"{name}.{k}" for k, _ in items]
        for i, (part, (_, v)) in enumerate(zip(names, items, strict=True)):
            unique = part if part not in names[:i] and part not in inputs else f"{part}.{i}'"
            keys.append(_taken(where, unique, v, inputs, on_gpu, None if forms is None else below, depth + 1))
        marks = () if issubclass(kind, list | tuple) else tuple(repr(k) for k, _ in items)
        if forms is not None:
            forms[name] = _group(value, tuple(parts), tuple(below.values()))
        return (kind, marks, *keys)
    if kind is float:
        form, key = WatchedAtom(value), (float, value.hex())
    elif isinstance(value, np.generic):
        array = np.asarray(value)
        inputs[name] = array
        form, key = Input(name, scalar=True), (np.generic, array.dtype)
    elif kind in _BY_VALUE:
        form, key = WatchedAtom(value), (kind, value)
    elif isinstance(unwrapped(value), _BY_IDENTITY):
        form, key = (WatchedAtom(value) if forms is None else snapshot(value)), (object, unwrapped(value))
    elif kind is np.ndarray or kind is np.memmap or kind is Tensor or hasattr(value, "__dlpack__"):
        array, there = _array_of(value, f'{where}: argument "{name}"')
        inputs[name] = array
        if there is not None:
            on_gpu[name] = there
        form, key = Input(name, scalar=False), (array.shape, array.dtype)
    elif is_enumeration(kind):
        form, key = WatchedAtom(value), (kind, value.name)
    elif is_plain_object(value) or kind is partial:
        try:
            form = WatchedAtom(value) if forms is None else snapshot(value)
        except TooDeep:
            what = f'argument "{name}" holds itself, or nests too deeply'
            raise ModelError(what, where=where, hint="keep less in it") from None
        key = (object, SameObject(value))
    else:
        hint = "arguments are arrays, numbers, strings, functions, objects of own classes, and lists, tuples and dicts of them"
        raise ModelError(
            f'argument "{name}" is an object of type {kind.__name__}, which cannot be compiled', where=where, hint=hint
        )
    if forms is not None:
        forms[name] = form
    return key
