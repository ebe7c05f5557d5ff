from __future__ import annotations

import numpy as np
import pytest

from fleet.symbols.dims import DeclarationError, bind, parse_declaration


@pytest.mark.parametrize(
    ("text", "dtype", "dims"),
    [
        ("float32[N, 64]", "float32", ("N", 64)),
        ("f16[]", "float16", ()),
        (" i64 [ N,] ", "int64", ("N",)),
        ("bool", "bool", None),
        ("int8[0, 3]", "int8", (0, 3)),
    ],
)
def test_declarations_that_are_read(text, dtype, dims) -> None:
    found = parse_declaration("x", text)
    assert (found.dtype, found.dims) == (np.dtype(dtype), dims)


@pytest.mark.parametrize(
    "text", ["", "float", "f32[N", "f32[N]]", "f32[-1]", "f32[N+1]", "f32[99999999999]", "f32[,]", "f32[N 64]", "x" * 5000]
)
def test_declarations_that_are_refused(text) -> None:
    with pytest.raises(DeclarationError, match="cannot read"):
        parse_declaration("x", text)


def test_binding_names_both_places() -> None:
    declared = [parse_declaration("x", "f32[N, K]"), parse_declaration("w", "f32[K, M]")]
    assert bind(declared, {"x": (2, 3), "w": (3, 5)}) == {"N": 2, "K": 3, "M": 5}
    assert bind(declared, {"w": (3, 5)}) == {"K": 3, "M": 5}
    with pytest.raises(DeclarationError, match='K is 3 by dimension 1 of "x", but 4 by dimension 0 of "w"'):
        bind(declared, {"x": (2, 3), "w": (4, 5)})
