"""One forward pass of GPT-2 (124 M parameters) over 8 tokens on the RISC-V emulator: the figure is under 60 s on 2 cores.

    python benchmarks/riscv_gpt2.py [--isa rv64gcv] [--emulator qemu] [--layers 12] [--operations]

The program is built straight in the IR with the composite operations that the raising passes make; weights are random float32
of GPT-2's shapes, so the time is that of the real model. The logits are compared with NumPy's in float64. `--operations` adds
the instructions of every operation of the first layer and of the ends.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engines"))
from riscv_models import Maker, model

from fleet.engines.base import RunOptions
from fleet.engines.riscv import run_image
from fleet.engines.riscv_emulators.registry import default_emulator, find_emulator
from fleet.ir.program import Program
from fleet.targets.riscv.compile import compile_riscv
from fleet.targets.riscv.isa import find_isa

WIDTH, HEADS, WORDS, PLACES = 768, 12, 50257, 1024
TOKENS = np.array([464, 3139, 286, 4881, 318, 6342, 13, 314])


def weights(layers: int) -> dict[str, np.ndarray]:
    """Random float32 of GPT-2's shapes."""
    rng = np.random.default_rng(0)

    def draw(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, np.float32) * np.float32(0.02)

    found = {"wte": draw(WORDS, WIDTH), "wpe": draw(PLACES, WIDTH)}
    for i in range(layers):
        for norm in ("ln_1", "ln_2"):
            found |= {f"h{i}.{norm}.g": 1 + draw(WIDTH), f"h{i}.{norm}.b": draw(WIDTH)}
        for name, rows, columns in (("qkv", 1, 3), ("out", 1, 1), ("up", 1, 4), ("down", 4, 1)):
            found |= {f"h{i}.{name}.w": draw(rows * WIDTH, columns * WIDTH), f"h{i}.{name}.b": draw(columns * WIDTH)}
    return found | {"ln_f.g": 1 + draw(WIDTH), "ln_f.b": draw(WIDTH)}


def program(arrays: dict[str, np.ndarray], layers: int) -> Program:
    """Tokens -> logits of all positions."""
    count = len(TOKENS)
    names = list(arrays)

    def body(m: Maker, *values: Any) -> Any:
        w = dict(zip(["tokens", *names], values, strict=True))
        where = m("slice", w["wpe"], start=[0, 0], size=[count, WIDTH])
        x = m("add", m("gather", w["wte"], w["tokens"], id="embed"), where, id="x")
        for i in range(layers):
            h = f"h{i}."
            n = m("layer_norm", x, w[f"{h}ln_1.g"], w[f"{h}ln_1.b"], eps=1e-5, id=f"{h}ln_1")
            qkv = m("linear", n, w[f"{h}qkv.w"], w[f"{h}qkv.b"], id=f"{h}qkv")
            q, k, v = (m("slice", qkv, start=[0, s * WIDTH], size=[count, WIDTH]) for s in range(3))
            a = m("attention", q, k, v, heads=HEADS, kv_heads=HEADS, scale=0.125, causal=True, id=f"{h}attention")
            x = m("linear", a, w[f"{h}out.w"], w[f"{h}out.b"], x, residual=True, id=f"{h}out")
            n = m("layer_norm", x, w[f"{h}ln_2.g"], w[f"{h}ln_2.b"], eps=1e-5, id=f"{h}ln_2")
            u = m("linear", n, w[f"{h}up.w"], w[f"{h}up.b"], activation="gelu_tanh", id=f"{h}up")
            x = m("linear", u, w[f"{h}down.w"], w[f"{h}down.b"], x, residual=True, id=f"{h}down")
        n = m("layer_norm", x, w["ln_f.g"], w["ln_f.b"], eps=1e-5, id="ln_f")
        return m("matmul", n, m("transpose", w["wte"], permutation=[1, 0]), id="logits")

    return model({"tokens": TOKENS, **arrays}, body, weights=names)


def reference(w: dict[str, np.ndarray], layers: int) -> np.ndarray:
    """The same in NumPy, float64 between the operations."""

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w[f"{name}.g"] + w[f"{name}.b"]

    x = w["wte"][TOKENS].astype(np.float64) + w["wpe"][: len(TOKENS)]
    mask = np.where(np.tri(len(TOKENS)) > 0, 0.0, -np.inf)
    for i in range(layers):
        h = f"h{i}."
        q, k, v = np.split(norm(x, f"{h}ln_1") @ w[f"{h}qkv.w"] + w[f"{h}qkv.b"], 3, axis=1)
        heads: list[np.ndarray] = []
        for part in (slice(s, s + WIDTH // HEADS) for s in range(0, WIDTH, WIDTH // HEADS)):
            e = np.exp(q[:, part] @ k[:, part].T / 8 + mask)
            heads.append(e / e.sum(-1, keepdims=True) @ v[:, part])
        x = x + np.hstack(heads) @ w[f"{h}out.w"] + w[f"{h}out.b"]
        u = norm(x, f"{h}ln_2") @ w[f"{h}up.w"] + w[f"{h}up.b"]
        u = 0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u**3)))
        x = x + u @ w[f"{h}down.w"] + w[f"{h}down.b"]
    return norm(x, "ln_f") @ w["wte"].T


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--isa", default="rv64gc")
    parser.add_argument("--emulator")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--operations", action="store_true")
    given = parser.parse_args()
    isa = find_isa(given.isa)
    emulator = find_emulator(given.emulator) if given.emulator else default_emulator(isa)
    arrays = weights(given.layers)
    source = program(arrays, given.layers)
    begun = time.perf_counter()
    compiled = compile_riscv(source, isa=isa, keep_tensors=False)
    compile_s = time.perf_counter() - begun
    begun = time.perf_counter()
    trace = run_image(compiled, compiled.elf, {"tokens": TOKENS}, RunOptions(keep_tensors=False), emulator.make(isa))
    whole_s = time.perf_counter() - begun
    want = reference(arrays, given.layers)
    error = np.abs(trace.outputs["out0"] - want).max()
    assert error < 1e-3 * np.abs(want).max(), error
    macs = sum(operation.macs for operation in compiled.operations)
    count = trace.counters["instructions"]
    table = Table(
        "what", "figure", title=f"GPT-2, {given.layers} layers, {len(TOKENS)} tokens, {isa.name} on {trace.meta['emulator']}"
    )
    for what, figure in (
        ("compile", f"{compile_s:.2f} s"),
        ("run", f"{trace.elapsed_s:.1f} s"),
        ("run with weights placed and results read", f"{whole_s:.1f} s"),
        ("instructions", f"{count:,.0f}"),
        ("multiply-adds", f"{macs:,}"),
        ("instructions a multiply-add", f"{count / macs:.3f}"),
        ("memory of results, shared (side by side)", f"{compiled.plan.result_bytes:,} ({compiled.plan.unshared_bytes:,})"),
        ("largest error of a logit", f"{error:.2e} of {np.abs(want).max():.2f}"),
    ):
        table.add_row(what, figure)
    Console().print(table)
    if given.operations:
        for operation in compiled.operations:
            if not operation.id.startswith("h") or operation.id.startswith("h0."):
                mine = trace.counters[f"instructions.{operation.id}"]
                per = f"{mine / operation.macs:.3f} a MAC" if operation.macs else ""
                print(f"{operation.id:14} {mine:>14,.0f} {per}")


if __name__ == "__main__":
    main()
