"""Matrix products."""

from __future__ import annotations

import re

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, einsum, unary
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.older import OLDER
from fleet.frontend.onnx.registry import operator


def matmul(a: OnnxArray, b: OnnxArray) -> OnnxArray:
    """`np.matmul` with its rules for vectors."""
    row, column = a.rank == 1, b.rank == 1
    a = a.unsqueeze(0) if row else a
    b = b.unsqueeze(1) if column else b
    found = a @ b
    axes = [found.rank - 2] * row + [found.rank - 1] * column
    return found.squeeze(*axes) if axes else found


@operator("MatMul")
def _matmul(n: NodeCall) -> OnnxArray:
    a, b = n.array(0), n.array(1)
    if not a.rank or not b.rank:
        n.refuse(f"a product of shapes {list(a.shape)} and {list(b.shape)}")
    return matmul(a, b)


@operator("Gemm")
@operator("Gemm", domain=OLDER)
def _gemm(n: NodeCall) -> OnnxArray:
    return gemm(n)


def gemm(n: NodeCall) -> OnnxArray:
    """`alpha * a @ b + beta * c`."""
    a, b, c = n.array(0), n.array(1), n.optional(2)
    alpha, beta = n.attribute("alpha", 1.0), n.attribute("beta", 1.0)
    if a.rank != 2 or b.rank != 2:
        n.refuse(f"a product of shapes {list(a.shape)} and {list(b.shape)}, both must have rank 2")
    y = (a.swapped() if n.attribute("transA", 0) else a) @ (b.swapped() if n.attribute("transB", 0) else b)
    y = y if alpha == 1 else y * alpha
    if c is None or beta == 0:
        return y
    return y + (c if beta == 1 else c * beta)


@operator("Einsum")
def _einsum(n: NodeCall) -> OnnxArray:
    return einsum(_explicit(n), *n.arrays())


def _explicit(n: NodeCall) -> str:
    """Subscripts with `->` and without `...`."""
    text = n.attribute("equation", "").replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(n.values) or not re.fullmatch(r"[A-Za-z.,]*(->[A-Za-z.]*)?", text):
        n.refuse(f"the equation {text!r} with {len(n.values)} tensors")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text]
    spread = max((n.array(i).rank - len(t.replace("...", "")) for i, t in enumerate(terms) if "..." in t), default=0)
    if spread > len(free) or spread < 0:
        n.refuse(f"the equation {text!r} does not fit its tensors")
    letters = "".join(free[:spread])
    full: list[str] = []
    for i, term in enumerate(terms):
        own = n.array(i).rank - len(term.replace("...", ""))
        full.append(term.replace("...", letters[spread - own :] if own else ""))
    if arrow:
        return f"{','.join(full)}->{right.replace('...', letters)}"
    plain = "".join(c for c in sorted(set(left) - set(".,")) if left.count(c) == 1)
    return f"{','.join(full)}->{letters}{plain}"


@operator("Det")
def _det(n: NodeCall) -> OnnxArray:
    size = n.x.shape[-1]
    if size > 4 or n.x.rank < 2 or n.x.shape[-2] != size:
        n.refuse(f"a determinant of shape {list(n.x.shape)}", "matrices up to 4 by 4 are read")
    return _determinant(n.x, size).squeeze(n.x.rank - 1, n.x.rank - 2)


def _determinant(x: OnnxArray, size: int) -> OnnxArray:
    """By Laplace's expansion along the first row."""
    if size == 1:
        return x
    total: OnnxArray | None = None
    rows = x.part(-2, 1, size - 1)
    for i in range(size):
        kept = x.build.known(np.array([c for c in range(size) if c != i], np.int64))
        term = x.part(-2, 0, 1).part(-1, i, 1) * _determinant(rows.take(kept, x.rank - 1), size - 1)
        term = unary("neg", term) if i % 2 else term
        total = term if total is None else total + term
    assert total is not None
    return total
