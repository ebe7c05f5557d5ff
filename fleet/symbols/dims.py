"""Declared arrays: "float32[N, 64]", and the binding of named dimensions to given arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

DTYPE_NAMES: Mapping[str, np.dtype] = {
    spelling: np.dtype(name)
    for name, spellings in {
        "float16": ("float16", "f16", "half"),
        "float32": ("float32", "f32"),
        "float64": ("float64", "f64"),
        "bool": ("bool", "i1"),
        **{f"int{n}": (f"int{n}", f"i{n}") for n in (8, 16, 32, 64)},
        **{f"uint{n}": (f"uint{n}", f"u{n}") for n in (8, 16, 32, 64)},
    }.items()
    for spelling in spellings
}
"""Spellings of dtypes in declarations."""

_FORM = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\[\]]*)\])?\s*\Z")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_MAX_DIM = 1 << 31


class DeclarationError(Exception):
    """A declaration that cannot be read, or an array that does not fit one; the message names no source position."""


@dataclass(frozen=True)
class Declared:
    """An argument as its function declares it.

    Attributes:
        name: the argument's.
        dtype: None if the given array decides.
        dims: sizes, or names of sizes; None if the given array decides.
        optional: it has a default (a Python number) and may be missing.
    """

    name: str
    dtype: np.dtype | None = None
    dims: tuple[int | str, ...] | None = None
    optional: bool = False

    def __str__(self) -> str:
        dtype = self.dtype.name if self.dtype is not None else "any"
        return dtype if self.dims is None else f"{dtype}[{', '.join(str(d) for d in self.dims)}]"


def parse_declaration(name: str, text: str) -> Declared:
    """Read "float32[N, 64]" or "f32[]" for argument `name`. Raises DeclarationError that states the accepted forms."""
    form = _FORM.match(text)
    if form is None or form[1] not in DTYPE_NAMES:
        raise DeclarationError(f'cannot read "{text}": expected a dtype and dimensions, such as "float32[N, 64]"; dtypes are '
                               f"{', '.join(DTYPE_NAMES)}")  # fmt: skip
    if form[2] is None:
        return Declared(name, DTYPE_NAMES[form[1]])
    words = [w.strip() for w in form[2].split(",")] if form[2].strip() else []
    if words and not words[-1]:
        words.pop()  # "f32[N,]"
    return Declared(name, DTYPE_NAMES[form[1]], tuple(_dim(w, text) for w in words))


def _dim(word: str, text: str) -> int | str:
    if re.fullmatch(r"[0-9]{1,10}", word) and int(word) < _MAX_DIM:
        return int(word)
    if _NAME.match(word):
        return word
    raise DeclarationError(f'cannot read dimension "{word}" of "{text}": expected a number below {_MAX_DIM} or a name')


def names_of(declared: Iterable[Declared]) -> tuple[str, ...]:
    """Return the named dimensions, each once, in the order of the declaration."""
    return tuple(dict.fromkeys(d for a in declared for d in a.dims or () if isinstance(d, str)))


def bind(declared: Iterable[Declared], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Bind the named dimensions of `declared` to the shapes of the arguments; arguments without a shape are left out.

    Returns name -> size. Raises DeclarationError naming the argument, what it needs and what was found.
    """
    bound: dict[str, tuple[int, str]] = {}
    for argument in declared:
        shape = shapes.get(argument.name)
        if shape is None or argument.dims is None:
            continue
        if len(shape) != len(argument.dims):
            raise DeclarationError(
                f'argument "{argument.name}" is declared {argument} (rank {len(argument.dims)}), '
                f"the given array has shape {shape} (rank {len(shape)})"
            )
        for position, (dim, size) in enumerate(zip(argument.dims, shape, strict=True)):
            place = f'dimension {position} of "{argument.name}"'
            if isinstance(dim, int):
                if dim != size:
                    raise DeclarationError(
                        f'argument "{argument.name}" is declared {argument}, the given array has shape {shape}: '
                        f"dimension {position} must be {dim}, found {size}"
                    )
            elif dim not in bound:
                bound[dim] = (size, place)
            elif bound[dim][0] != size:
                raise DeclarationError(f"{dim} is {bound[dim][0]} by {bound[dim][1]}, but {size} by {place}")
    return {name: size for name, (size, _) in bound.items()}
