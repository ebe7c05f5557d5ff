"""Declared arguments of a model's function, and their check against the arrays that are given."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from fleet.errors import ModelError
from fleet.frontend.python.calls import default_expressions
from fleet.frontend.reading.module import SourceModule
from fleet.ir.program import Argument
from fleet.ir.types import DTYPES
from fleet.symbols.dims import DTYPE_NAMES, DeclarationError, Declared, bind, names_of, parse_declaration

Arrays: TypeAlias = Mapping[str, np.ndarray]
_SUPPORTED = 'annotate arrays as "float32[N, 64]", np.ndarray or npt.NDArray[np.float32]'


def declared(module: SourceModule, function: ast.FunctionDef) -> list[Declared]:
    """The arguments as they are annotated. Raises SourceError at an annotation that is not understood."""
    optional = default_expressions(function)
    spec = function.args
    return [_declared(module, a, a.arg in optional) for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]


def _declared(module: SourceModule, argument: ast.arg, optional: bool) -> Declared:
    found = _annotation(module, argument.arg, argument.annotation)
    if found is None:
        assert argument.annotation is not None
        module.source.fail("F403", argument.annotation, f"the annotation of `{argument.arg}` is not understood", _SUPPORTED)
    return Declared(found.name, found.dtype, found.dims, optional)


def _annotation(module: SourceModule, name: str, node: ast.expr | None) -> Declared | None:
    match node:
        case None:
            return Declared(name)
        case ast.Constant(value=str() as text) if text.rpartition(".")[2] != "ndarray":
            try:
                return parse_declaration(name, text)
            except DeclarationError as error:
                module.source.fail("F403", node, str(error))
        case ast.Constant(value=str()):
            return Declared(name)
        case ast.Name() | ast.Attribute() if _last(node) in ("ndarray", "NDArray", "ArrayLike", "int", "float", "bool"):
            return Declared(name)
        case ast.Subscript(value=ast.Name() | ast.Attribute()) if _last(node.value) == "ndarray":
            return Declared(name)
        case ast.Subscript(value=ast.Name() | ast.Attribute()) if _last(node.value) == "NDArray":
            dtype = DTYPE_NAMES.get(_last(node.slice).removesuffix("_"))
            return None if dtype is None else Declared(name, dtype)
        case _:
            return None


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def dynamic_names(where: str, signature: Sequence[Declared], weights: Arrays, dynamic: Collection[str] | bool) -> frozenset[str]:
    """Names of the dimensions that stay unknown: those asked for, or with True all that no weight has.

    Raises ModelError for a name that is not declared, or that a weight fixes.
    """
    declared = names_of(signature)
    fixed = {n: a.name for a in signature if a.name in weights for n in a.dims or () if isinstance(n, str)}
    if isinstance(dynamic, bool):
        return frozenset(declared) - fixed.keys() if dynamic else frozenset()
    for name in sorted(dynamic):
        if name not in declared:
            hint = f"declared are {', '.join(declared)}" if declared else 'declare one: x: "float32[N, 64]"'
            raise ModelError(f"no dimension {name} is declared", where=where, hint=hint)
        if name in fixed:
            raise ModelError(
                f'{name} cannot be unknown: the weight "{fixed[name]}" has it', where=where, hint="give it as an input"
            )
    return frozenset(dynamic)


def bound_arguments(
    where: str, signature: Sequence[Declared], weights: Arrays, inputs: Arrays, dynamic: Collection[str] | bool = ()
) -> tuple[list[Argument], dict[str, int]]:
    """Checks the given arrays against the declaration.

    Returns the arguments that arrays are given for, or that have a dimension of `dynamic`, in order, and the sizes of named
    dimensions.
    Raises ModelError: arrays that are missing (all of them listed), given twice, or of another dtype or shape; see `dynamic_names`.
    """
    unknown = dynamic_names(where, signature, weights, dynamic)
    shapes = {n: a.shape for given in (inputs, weights) for n, a in given.items()}
    try:
        sizes = {n: size for n, size in bind(signature, shapes).items() if n not in unknown}
    except DeclarationError as error:
        raise ModelError(str(error), where=where) from None
    arguments: list[Argument] = []
    missing: list[str] = []
    for d in signature:
        if d.name in weights and d.name in inputs:
            raise ModelError(f'"{d.name}" is both a weight and an input', where=where, hint="give it once")
        array = weights.get(d.name, inputs.get(d.name))
        if array is not None:
            _check_array(where, d, array)
        if d.name not in weights and unknown.intersection(n for n in d.dims or () if isinstance(n, str)):
            arguments.append(_unknown(where, d, sizes, unknown))
            continue
        if array is None:
            if not d.optional:
                missing.append(f"{d.name} ({d})")
            continue
        arguments.append(Argument(d.name, array.shape, array.dtype, "weight" if d.name in weights else "input"))
    if missing:
        given = ", ".join([*weights, *inputs]) or "nothing"
        raise ModelError(
            f"no weight or input for {', '.join(missing)}",
            where=where,
            hint=f"given are {given}",
        )
    return arguments, sizes


def _unknown(where: str, d: Declared, sizes: Mapping[str, int], unknown: Collection[str]) -> Argument:
    """An input with dimensions that only the run knows; its others must be declared, or known from other arrays."""
    assert d.dims is not None
    assert d.dtype is not None
    open_ = [n for n in d.dims if isinstance(n, str) and n not in sizes and n not in unknown]
    if open_:
        hint = f"give the input, or let {open_[0]} stay unknown too: --dynamic {open_[0]}"
        raise ModelError(f'no data says what {open_[0]} of "{d.name}" is', where=where, hint=hint)
    shape = tuple(n if isinstance(n, int) else sizes.get(n, -1) for n in d.dims)
    return Argument(d.name, shape, d.dtype, "input", tuple(n if isinstance(n, str) and n in unknown else "" for n in d.dims))


def _check_array(where: str, d: Declared, array: np.ndarray) -> None:
    if array.dtype.name not in DTYPES or not array.dtype.isnative:
        raise ModelError(f'argument "{d.name}" has dtype {array.dtype.str}', where=where, hint=f"supported are {', '.join(DTYPES)}")
    if d.dtype is not None and array.dtype != d.dtype:
        raise ModelError(
            f'argument "{d.name}" is declared {d}, the given array is {array.dtype}', where=where, hint=f"convert it to {d.dtype}"
        )


def check_finite(where: str, weights: Mapping[str, np.ndarray]) -> None:
    """Raises ModelError for a weight with NaN or infinity, with its first place."""
    for name, array in weights.items():
        if array.dtype.kind != "f":
            continue
        bad = ~np.isfinite(array)
        if bad.any():
            place = tuple(int(i) for i in np.argwhere(bad)[0])
            raise ModelError(
                f'weight "{name}" is NaN or infinite in {int(bad.sum())} of {bad.size} values, the first at {place}',
                where=where,
                hint="weights must be finite",
            )
