"""Programs with long loops: how long they take to compile, on vm beside CPython, and on riscv. Seconds, the least of a few runs.

python benchmarks/loops.py
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE as RISCV
from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter

LSTM = """
import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def forward(xs, wx, wh):
    h = np.zeros((4, 128), np.float32)
    c = np.zeros((4, 128), np.float32)
    for x in xs:
        i, f, g, o = np.split(x @ wx + h @ wh, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h
"""
CONVOLUTION = """
import numpy as np


def forward(x, w):
    y = np.zeros((8, 32, 32), np.float32)
    for k in range(8):
        for i in range(32):
            for j in range(32):
                y[k, i, j] = np.sum(x[:, i : i + 3, j : j + 3] * w[k])
    return y
"""
GAUSS_SEIDEL = """
import numpy as np


def forward(u):
    u = u.copy()
    for sweep in range(3):
        for i in range(1, 31):
            for j in range(1, 31):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u
"""
JACOBI = """
import numpy as np


def forward(a, b):
    x = np.zeros(64)
    d = np.diag(a)
    r = a - np.diag(d)
    for k in range(500):
        x = (b - r @ x) / d
    return x
"""
PROGRAMS: Mapping[str, tuple[str, type, Mapping[str, tuple[int, ...]]]] = {
    "200 LSTM steps": (LSTM, np.float32, {"xs": (200, 4, 64), "wx": (64, 512), "wh": (128, 512)}),
    "naive convolution": (CONVOLUTION, np.float32, {"x": (3, 34, 34), "w": (8, 3, 3, 3)}),
    "3 Gauss-Seidel sweeps": (GAUSS_SEIDEL, np.float64, {"u": (32, 32)}),
    "500 Jacobi iterations": (JACOBI, np.float64, {"a": (64, 64), "b": (64,)}),
}
"""Name -> source, dtype and the arguments' shapes."""
REPEATS = 5


def took(run: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The least time of a few runs, and what the last gave."""
    best, found = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        found = run()
        best = min(best, time.perf_counter() - start)
    return best, found


def main() -> None:
    """Print the table."""
    print(f"{'program':24s}{'compile':>9s}{'vm':>9s}{'cpython':>9s}{'ratio':>7s}{'riscv, with its build':>23s}  worst error")
    for name, (text, dtype, shapes) in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.py"
            path.write_text(text)
            namespace: dict[str, Any] = {}
            exec(text, namespace)
            rng = np.random.default_rng(0)
            inputs = {n: (rng.standard_normal(shape) * 0.1).astype(dtype) for n, shape in shapes.items()}
            if "a" in inputs:
                inputs["a"] += 8 * np.eye(64)
            compiled, program = took(lambda p=path, i=inputs: load(f"{p}:forward", {}, i))
            vm = VM(ByteCodeConverter(program).convert())
            on_vm, found = took(lambda v=vm, i=inputs: v.run(i), REPEATS)
            by_python, expected = took(lambda f=namespace["forward"], i=inputs: f(**i), REPEATS)
            on_riscv, trace = took(lambda p=program, i=inputs: RISCV.run(p, i, RunOptions(keep_tensors=False)))
            same = np.array_equal(next(iter(found.values())), expected)
            error = np.max(np.abs(next(iter(trace.outputs.values())) - expected))
            row = f"{name:24s}{compiled:9.3f}{on_vm:9.4f}{by_python:9.4f}{on_vm / by_python:7.2f}{on_riscv:23.2f}"
            print(f"{row}  {error:.1e}{'' if same else ' vm differs'}", flush=True)


if __name__ == "__main__":
    main()
