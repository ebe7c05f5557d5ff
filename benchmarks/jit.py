"""A cached call of a `@jit` function against the plain NumPy function: one process, rounds interleaved, medians. Prints a table.

A second table has first calls on cpu, of a process with an empty cache and of one behind it: processor time, the least of five.
"After another" is the call of a process that has compiled another function before, so that modules are loaded; "alone" loads them.

python benchmarks/jit.py [--rounds 3000]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
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


def norm(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)


def block(x):
    """Four layers of attention and a feed-forward network."""
    for _ in range(4):
        h = norm(x)
        s = softmax((h @ W1[:, :64]) @ (h @ W1[:, 64:]).T / 8)
        x = x + s @ h
        x = x + np.tanh(norm(x) @ W1 + B1) @ W1.T
    return x


def other(x):
    return np.exp(x @ x).sum(axis=0) - 1


FIRST: dict[str, Callable] = {"two additions": add, "two layers": layers, "softmax": softmax, "four transformer blocks": block}
_TRIES = 5


def first_call(title: str, after: bool) -> None:
    """Print the processor time of a first call in this process, in ms."""
    x = np.ones((64, 64), np.float32)
    if after:
        jit(other)(x)
    arguments = (x, x) if FIRST[title] is add else (x,)
    begun = time.process_time()
    jit(FIRST[title])(*arguments)
    print((time.process_time() - begun) * 1e3)


def first_calls() -> None:
    """Print first calls in processes of their own."""
    heads = ("empty cache: alone", "after another", "kept: alone", "after another")
    print(f"\n{'first call, processor ms':28} " + " ".join(f"{head:>18}" for head in heads))
    for title in FIRST:
        row: list[float] = []
        for kept in (False, True):
            for after in (False, True):
                found: list[float] = []
                with tempfile.TemporaryDirectory() as cache:
                    for n in range(_TRIES + kept):
                        environment = {**os.environ, "FLEET_CACHE": cache if kept else f"{cache}/{n}"}
                        command = [sys.executable, __file__, "--first", title, *(["--after"] if after else [])]
                        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                        found.append(float(done.stdout))
                row.append(min(found[kept:]))
        print(f"{title:28} " + " ".join(f"{ms:18.0f}" for ms in row))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--first", help=argparse.SUPPRESS)
    parser.add_argument("--after", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.first:
        first_call(options.first, options.after)
        return
    first_calls()
    rounds = options.rounds
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
