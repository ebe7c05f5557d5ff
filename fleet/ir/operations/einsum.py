"""Einsum subscripts: the explicit form that the IR stores, and the resulting shape.

`canonical` converts NumPy's forms (implicit outputs, blanks, `...`) to explicit letters, as numpy.einsum defines them:
the letters that occur once, in alphabetical order, after the dimensions of `...`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from fleet.ir.shapes import InferenceError, shape_words, unify

_EXPLICIT = re.compile(r"[a-zA-Z]*(?:,[a-zA-Z]*)*->[a-zA-Z]*")


def canonical(subscripts: str, ranks: Sequence[int]) -> str:
    """Return the explicit form for operands of these ranks. Raises InferenceError if NumPy would not accept the subscripts."""
    text = "".join(subscripts.split())
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise InferenceError(f'einsum "{subscripts}" has {len(terms)} terms, found {len(ranks)} arrays')
    free = [c for c in string.ascii_letters if c not in text]
    lengths = [rank - len(t.replace("...", "", 1)) if "..." in t else 0 for t, rank in zip(terms, ranks, strict=True)]
    longest = max(lengths)
    if longest > len(free):
        raise InferenceError(f'einsum "{subscripts}" has no letters left for its dots')
    dots = "".join(free[:longest])
    if min(lengths) < 0:
        raise InferenceError(f'einsum "{subscripts}" has more letters than an array has dimensions')
    terms = [t.replace("...", dots[longest - n :], 1) if "..." in t else t for t, n in zip(terms, lengths, strict=True)]
    if arrow:
        if longest and "..." not in right:
            raise InferenceError(f'einsum "{subscripts}" has dots that its result lacks')
        right = right.replace("...", dots, 1)
    else:
        letters = "".join(terms)
        right = dots + "".join(sorted(c for c in set(letters) - set(dots) if letters.count(c) == 1))
    return f"{','.join(terms)}->{right}"


def result_shape(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape of the result. Raises InferenceError. A dimension of 1 broadcasts to another array's.

    It does not broadcast within one array: NumPy refuses a diagonal of (1, 3), and reads out of bounds for (0, 1).
    """
    if not _EXPLICIT.fullmatch(subscripts):
        raise InferenceError(f'einsum "{subscripts}": expected letters, commas and one "->"')
    left, _, right = subscripts.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise InferenceError(f'einsum "{subscripts}" has {len(terms)} terms, found {len(shapes)} arrays')
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            raise InferenceError(f'einsum "{subscripts}": term {term or "(empty)"} for an array of shape {shape_words(shape)}')
        for letter, size in zip(term, shape, strict=True):
            alike = {n for c, n in zip(term, shape, strict=True) if c == letter and n >= 0}
            if len(alike) > 1:
                raise InferenceError(f'einsum "{subscripts}": {letter} is {" and ".join(map(str, sorted(alike)))} in one array')
            known = sizes.get(letter, 1)
            joined = size if known == 1 else known if size == 1 else unify(known, size)
            if joined is None:
                raise InferenceError(f'einsum "{subscripts}": {letter} is {known} in one array and {size} in another')
            sizes[letter] = joined
    if len(set(right)) != len(right) or not set(right) <= set(sizes):
        raise InferenceError(f'einsum "{subscripts}": the result {right} names a letter twice or one that no array has')
    return tuple(sizes[c] for c in right)
