"""VM against CPython on the same NumPy model and arrays: one process, rounds interleaved, medians; peak memory. Prints tables.

python benchmarks/vm.py [--rounds 400] [--layers 4]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter

DIGITS = """
import numpy as np

def forward(x: "float32[N, 64]", w1: "float32[64, 128]", b1: "float32[128]", w2: "float32[128, 128]",
            b2: "float32[128]", w3: "float32[128, 10]", b3: "float32[10]"):
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2 + h1, 0)
    logits = h2 @ w3 + b3
    return logits, np.argmax(logits, axis=-1)
"""  # the digits model's source (examples/digits/model.py)

TOKENS, HEADS, WIDTH = 16, 12, 768


def gpt2(layers: int) -> tuple[str, dict[str, tuple[int, ...]]]:
    """Blocks of GPT-2's sizes, one line an operation where a person would write it so; and its weights' shapes."""
    shapes: dict[str, tuple[int, ...]] = {}
    lines: list[str] = []

    def normal(target: str, source: str, name: str) -> None:
        shapes.update({f"{name}_g": (WIDTH,), f"{name}_b": (WIDTH,)})
        lines.append(f"m = {source}.mean(axis=-1, keepdims=True)")
        lines.append(f"{target} = ({source} - m) / np.sqrt({source}.var(axis=-1, keepdims=True) + 1e-5) * {name}_g + {name}_b")

    def linear(source: str, name: str, rows: int, columns: int) -> str:
        shapes.update({f"{name}_w": (rows, columns), f"{name}_c": (columns,)})
        return f"{source} @ {name}_w + {name}_c"

    for n in range(layers):
        normal("h", "x", f"a{n}")
        lines.append(f"qkv = {linear('h', f'qkv{n}', WIDTH, 3 * WIDTH)}")
        size = WIDTH // HEADS
        for h in range(HEADS):
            q, k, v = (f"qkv[:, {p * WIDTH + h * size}:{p * WIDTH + (h + 1) * size}]" for p in range(3))
            lines.append(f"s = {q} @ {k}.T / 8.0 + mask")
            lines.append("e = np.exp(s - s.max(axis=-1, keepdims=True))")
            lines.append(f"o{h} = e / e.sum(axis=-1, keepdims=True) @ {v}")
        lines.append(f"o = np.concatenate([{', '.join(f'o{h}' for h in range(HEADS))}], axis=1)")
        lines.append(f"x = x + {linear('o', f'out{n}', WIDTH, WIDTH)}")
        normal("h", "x", f"f{n}")
        lines.append(f"u = {linear('h', f'up{n}', WIDTH, 4 * WIDTH)}")
        lines.append("u = 0.5 * u * (1 + np.tanh(0.7978845608028654 * (u + 0.044715 * u ** 3)))")
        lines.append(f"x = x + {linear('u', f'down{n}', 4 * WIDTH, WIDTH)}")
    shapes["mask"] = (TOKENS, TOKENS)
    arguments = ", ".join(f'{n}: "float32[{", ".join(map(str, s))}]"' for n, s in shapes.items())
    body = "\n    ".join([*lines, "return x"])
    return f'import numpy as np\n\ndef forward(x: "float32[{TOKENS}, {WIDTH}]", {arguments}):\n    {body}\n', shapes


def measure(title: str, source: str, shapes: dict[str, tuple[int, ...]], x: np.ndarray, rounds: int) -> None:
    """One table. Raises SystemExit where the VM computes something else."""
    rng = np.random.default_rng(0)
    weights = {n: (rng.standard_normal(s) * 0.1).astype(np.float32) for n, s in shapes.items()}
    namespace: dict = {}
    exec(source, namespace)
    forward: Callable = namespace["forward"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.py"
        path.write_text(source)
        program = load(f"{path}:forward", weights, {"x": x})
    start = time.perf_counter()
    module = ByteCodeConverter(program).convert()
    converted = time.perf_counter()
    vm = VM(module)
    decoded = time.perf_counter()
    runs: dict[str, Callable[[], Any]] = {
        "cpython": lambda: forward(x=x, **weights),
        "vm": lambda: vm.run({"x": x}),
        "vm, tensors kept": lambda: vm.run({"x": x}, tensors={}),
    }
    reference = runs["cpython"]()
    reference = reference if isinstance(reference, tuple) else (reference,)
    if not all(np.array_equal(a, b) for a, b in zip(reference, runs["vm"]().values(), strict=True)):
        raise SystemExit("the VM computes something else")
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start_run = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start_run)
    print(f"{title}: {len(module.invokes)} operations, to bytecode {converted - start:.3f} s, decoded {decoded - converted:.3f} s; "
          f"{rounds} interleaved rounds, medians; peak of what a run allocates")  # fmt: skip
    print(f"{'':18} {'us':>10} {'ratio':>7} {'peak KiB':>10} {'ratio':>7}")
    base, base_peak = statistics.median(times["cpython"]), peak(runs["cpython"])
    for name, values in times.items():
        median, top = statistics.median(values), peak(runs[name])
        print(f"{name:18} {median * 1e6:10.1f} {median / base:7.3f} {top / 1024:10.0f} {top / base_peak:7.3f}")


def peak(run: Callable[[], object]) -> int:
    """Bytes that a run has allocated at its worst moment."""
    tracemalloc.start()
    run()
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return top


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    shapes = {"w1": (64, 128), "b1": (128,), "w2": (128, 128), "b2": (128,), "w3": (128, 10), "b3": (10,)}
    measure("digits, batch 64", DIGITS, shapes, rng.standard_normal((64, 64)).astype(np.float32), options.rounds)
    source, shapes = gpt2(options.layers)
    x = rng.standard_normal((TOKENS, WIDTH)).astype(np.float32)
    measure(f"GPT-2 with {options.layers} blocks, {TOKENS} tokens", source, shapes, x, max(options.rounds // 8, 5))


if __name__ == "__main__":
    main()
