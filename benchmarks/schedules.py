"""What schedules cost and save: instructions on rv64gc (exact), and time on this processor, each beside the target's own choice.

    python benchmarks/schedules.py [--rounds 15]

All schedules of a program run in turn in one process; the smallest of the rounds counts. Results are compared bit by bit.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from fleet import jit
from fleet.compiler import Schedule
from fleet.compiler.executables import executable

RNG = np.random.default_rng(0)


def turned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """An operand that lies across memory."""
    return a.T * 2 + b


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A matrix product."""
    return a @ b


def rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rows with reductions."""
    y = np.tanh(a * b)
    return y / (1 + np.abs(y).sum(axis=-1, keepdims=True))


USUAL = Schedule()
CASES: tuple[tuple[Callable[..., np.ndarray], str, int, Mapping[str, Schedule]], ...] = (
    (
        turned,
        "riscv",
        256,
        {"tile 16 x 16": USUAL.every(tile=(16, 16)), "one step": USUAL.every(unroll=1), "8 steps": USUAL.every(unroll=8)},
    ),
    (product, "riscv", 96, {"tile 3 x 7": USUAL.every(tile=(3, 7)), "tile 1 x 8": USUAL.every(tile=(1, 8))}),
    (turned, "llvm-cpu", 2048, {"tile 32 x 32": USUAL.every(tile=(32, 32)), "2 threads": USUAL.every(parallel=2)}),
    (product, "llvm-cpu", 768, {"tile 4 x 16": USUAL.every(tile=(4, 16)), "2 threads": USUAL.every(parallel=2)}),
    (rows, "llvm-cpu", 1024, {"2 threads": USUAL.every(parallel=2)}),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print("| function | target | schedule | cost | ratio |")
    print("|---|---|---|---|---|")
    for function, target, size, schedules in CASES:
        x = {name: RNG.standard_normal((size, size)).astype(np.float32) for name in ("a", "b")}
        program = jit(function).lower(*x.values()).program
        codes = {
            name: executable(replace(program, schedule=schedule), target)
            for name, schedule in {"usual": USUAL, **schedules}.items()
        }
        expected = [v.tobytes() for v in codes["usual"].run(x).values()]
        costs = dict.fromkeys(codes, float("inf"))
        for _ in range(1 if target == "riscv" else rounds):
            for name, code in codes.items():
                costs[name] = min(costs[name], code.cost(x))
        for name, code in codes.items():
            assert [v.tobytes() for v in code.run(x).values()] == expected, f"{name} changes bits"
            cost = f"{costs[name]:,.0f} instructions" if target == "riscv" else f"{1e3 * costs[name]:.2f} ms"
            print(f"| {function.__name__}, {size} x {size} | {target} | {name} | {cost} | {costs[name] / costs['usual']:.2f} |")


if __name__ == "__main__":
    main()
