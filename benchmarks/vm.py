"""VM against CPython on the same NumPy model: one process, rounds interleaved, medians. Prints a table.

python benchmarks/vm.py [--batch 64] [--rounds 400]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter

MODEL = """
import numpy as np

def forward(x: "float32[N, 64]", w1: "float32[64, 128]", b1: "float32[128]", w2: "float32[128, 128]",
            b2: "float32[128]", w3: "float32[128, 10]", b3: "float32[10]"):
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2 + h1, 0)
    logits = h2 @ w3 + b3
    return logits, np.argmax(logits, axis=-1)
"""  # the digits model's source (examples/digits/model.py)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=400)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    shapes = {"w1": (64, 128), "b1": (128,), "w2": (128, 128), "b2": (128,), "w3": (128, 10), "b3": (10,)}
    weights = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    x = {"x": rng.standard_normal((options.batch, 64)).astype(np.float32)}
    namespace: dict = {}
    exec(MODEL, namespace)
    forward = namespace["forward"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.py"
        path.write_text(MODEL)
        vm = VM(ByteCodeConverter(load(f"{path}:forward", weights, x)).convert())
    runs = {
        "cpython": lambda: forward(**x, **weights),
        "vm": lambda: vm.run(x),
        "vm, tensors kept": lambda: vm.run(x, tensors={}),
    }
    reference = runs["cpython"]()
    found = vm.run(x)
    assert all(np.array_equal(a, b) for a, b in zip(reference, found.values(), strict=True)), "the VM computes something else"
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    base = statistics.median(times["cpython"])
    print(f"digits model, batch {options.batch}, {options.rounds} interleaved rounds, medians")
    print(f"{'':18} {'us':>9} {'ratio':>7}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:18} {median * 1e6:9.1f} {median / base:7.3f}")


if __name__ == "__main__":
    main()
