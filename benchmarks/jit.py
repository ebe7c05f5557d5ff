"""A cached call of a `@jit` function against the plain NumPy function: one process, rounds interleaved, medians. Prints a table.

python benchmarks/jit.py [--rounds 3000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from fleet import jit

RNG = np.random.default_rng(0)
W1, B1 = RNG.standard_normal((64, 128)).astype(np.float32), RNG.standard_normal(128).astype(np.float32)
W2, B2 = RNG.standard_normal((128, 10)).astype(np.float32), RNG.standard_normal(10).astype(np.float32)


def add(a, b):
    return a + b + a


def layers(x):
    h = np.maximum(x @ W1 + B1, 0)
    return np.argmax(h @ W2 + B2, axis=-1)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3000)
    rounds = parser.parse_args().rounds
    small = np.ones((2, 3), np.float32)
    batch = RNG.standard_normal((64, 64)).astype(np.float32)
    cases: list[tuple[str, Callable, tuple]] = [
        ("two additions, 2 x 3", add, (small, small)),
        ("two layers with global weights, 64 x 64", layers, (batch,)),
        ("softmax, 64 x 64", softmax, (batch,)),
    ]
    for array in (W1, B1, W2, B2):
        array.flags.writeable = False
    print(f"{'':42} {'numpy us':>9} {'vm us':>9} {'cpu us':>9} {'vm + us':>9} {'first call ms, vm':>18} {'cpu':>6}")
    for title, function, args in cases:
        runs: dict[str, Callable] = {"numpy": function, "vm": jit(target="vm")(function), "cpu": jit(function)}
        first: dict[str, float] = {}
        for name, run in runs.items():
            begun = time.perf_counter()
            result = run(*args)
            first[name] = time.perf_counter() - begun
            if not np.allclose(result, function(*args), rtol=1e-4, atol=1e-5):
                raise SystemExit(f"{title}: {name} computes something else")
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(rounds):
            for name, run in runs.items():
                begun = time.perf_counter()
                run(*args)
                times[name].append(time.perf_counter() - begun)
        us = {name: statistics.median(values) * 1e6 for name, values in times.items()}
        print(
            f"{title:42} {us['numpy']:9.1f} {us['vm']:9.1f} {us['cpu']:9.1f} {us['vm'] - us['numpy']:9.1f} "
            f"{first['vm'] * 1e3:18.0f} {first['cpu'] * 1e3:6.0f}"
        )


if __name__ == "__main__":
    main()
