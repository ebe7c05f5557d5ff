"""Programs for a device: products with weights, among statements with an error bound on every element."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from fleet.verify.programs.drawing import DrawnStatement, source_of
from fleet.verify.programs.oracle import ComparedProgram
from fleet.verify.programs.parts.hand import Hand, KnownExpression

DEVICE = "hbm_small"

_STEPS = (
    "{v} = {p} + {o}",
    "{v} = np.maximum({p}, 0)",
    "{v} = {p} * {n}",
    "{v} = {p}[::-1]",
    "{v} = {p}[:, ::2]",
    "{v} = {p}.copy()\n{v} += {o}",
    "{v} = {p}.copy()\n{v}[:, ::-1] *= {n}",
    "{v} = np.concatenate([{p}, {o}], axis=-1)",
    "{v} = np.clip({p}, -2, {n})",
    "{v} = {p} - np.mean({p}, axis=-1, keepdims=True)",
    "{v} = np.where(a[:, :1] > 0, {p}, {o})",
    "{v} = np.sum({p}, axis=0)",
    "{v} = np.zeros_like({p})\n{v} += {p}",
    "{v} = np.zeros_like({p})\nfor i in range(2):\n    {v} += {p} * i",
    "{v} = np.ones({s}, np.float32) + {p}",
    "{v} = np.tanh({p})",
    "{v} = np.sort({p}, axis=-1)",
    "{v} = np.argmax({p}, axis=-1)",
    "{v} = {p} + np.triu(np.full({s}, -np.inf), k=1).astype(np.float32)",
)


def draw_device_program(seed: Sequence[int]) -> ComparedProgram:
    """Draw a product, often a second one, and up to three statements on the result. Arrays are finite; w and u are weights."""
    rng = np.random.default_rng(list(seed))
    batch, inner, outer = int(rng.integers(1, 9)), *(8 * int(rng.integers(1, 9)) for _ in range(2))
    arrays = {
        "a": rng.standard_normal((batch, inner)).astype(np.float32),
        "w": (rng.standard_normal((inner, outer)) / np.sqrt(inner)).astype(np.float32),
        "u": (rng.standard_normal((outer, outer)) / np.sqrt(outer)).astype(np.float32),
        "b": rng.standard_normal(outer).astype(np.float32),
    }
    hand = Hand(rng, [KnownExpression(n, a) for n, a in arrays.items()])
    lines = [DrawnStatement(hand.one(("v0 = a @ w", "v0 = a @ w + b", "v0 = np.zeros(({0}, {1}), np.float32)\nv0 += a @ w")
                           ).format(batch, outer), ("v0",))]  # fmt: skip
    if hand.chance(0.4):
        lines.append(DrawnStatement(hand.one(("v1 = v0 @ u", "v1 = np.maximum(v0, 0) @ u + b", "v1 = np.matmul(v0, u)")), ("v1",)))
    first = lines[-1].names[0]
    for _ in range(hand.integer(1, 4)):
        name = f"v{len(lines)}"
        other = hand.one((first, f"{first}[::-1]", f"({first} * 2)"))
        number = round(float(rng.uniform(0.5, 2)), 3)
        text = hand.one(_STEPS).format(v=name, p=first, o=other, n=number, s=(batch, outer))
        lines.append(DrawnStatement(text, (name,)))
    used = {n.id for line in lines for n in ast.walk(ast.parse(line.text)) if isinstance(n, ast.Name)}
    kept = {n: a for n, a in arrays.items() if n in used}
    return ComparedProgram(source_of(lines, kept), kept, tuple(n for n in "wub" if n in kept), ("iss",), DEVICE)
