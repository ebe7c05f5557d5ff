"""Kernels of several operations beside the operations apart; then programs with long loops and a Llama.

The first table counts on rv64gc: instructions, loads and stores an element of the input, exact and the same on every run.
Both sides are made from the same program without raised composites; it says whether both gave the same bits.

The second is of programs: how long they take to compile, on vm beside CPython, and on riscv. Seconds of processor time, which
other work on the machine disturbs less. vm and CPython in turn: the ratio is the median over their rounds. riscv is compiled into
an empty cache.

python benchmarks/loops.py [kernels|programs]
"""

from __future__ import annotations

import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np

from fleet.core.codec import decode
from fleet.core.records.code_profile import StoredProfile
from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.riscv import run_image
from fleet.frontend.source import load
from fleet.ir.program import Program
from fleet.targets.bytecode import VM, ByteCodeConverter
from fleet.targets.riscv import codegen
from fleet.targets.riscv.compile import compile_riscv
from fleet.targets.riscv.prepare import prepared

KERNELS: Mapping[str, str] = {
    "one addition": "return x + y",
    "six operations": "return ((x + y) * x - y) * x + y - x",
    "sum": "return np.sum(x, axis=1)",
    "sum of products, scaled": "return np.sum((x * y + z) * 0.5, axis=1) * 2.0 + 1.0",
    "mean of squares, its root": "return np.sqrt(np.mean((x - y) * (x - y), axis=1, keepdims=True))",
    "largest of magnitudes": "return np.max(np.abs(x * y), axis=1)",
    "sum over the first axis": "return np.sum((x - y) * x, axis=0) * 0.5",
    "one number of all": "return np.sum((x - y) * (x - y)) * 0.5",
    "softmax": "e = np.exp(x - np.max(x, axis=1, keepdims=True)); return e / np.sum(e, axis=1, keepdims=True)",
    "softmax of scaled sums": (
        "s = (x + z) * 0.125; e = np.exp(s - np.max(s, axis=1, keepdims=True)); return e / np.sum(e, axis=1, keepdims=True)"
    ),
    "logarithm of softmax": (
        "s = x - np.max(x, axis=1, keepdims=True); return s - np.log(np.sum(np.exp(s), axis=1, keepdims=True))"
    ),
    "layer norm": (
        "c = x - np.mean(x, axis=1, keepdims=True); return c / np.sqrt(np.mean(c * c, axis=1, keepdims=True) + 1e-5) * z + z"
    ),
    "RMS norm, residual": "s = x + y; return s / np.sqrt(np.mean(s * s, axis=1, keepdims=True) + 1e-5) * z",
    "rows of length 1": "return x / np.sqrt(np.sum(x * x, axis=1, keepdims=True))",
}
"""Name -> body of a function of x and y, [64, 768], and z, [768], float32."""
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
LLAMA = """
import numpy as np


def rms_norm(x, weight):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * weight


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rotate(x, cos, sin):
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def attention(x, wqkv, wo, cos, sin, mask):
    q, k, v = np.split(x @ wqkv, 3, axis=-1)
    q, k, v = [np.transpose(a.reshape(64, 4, 64), (1, 0, 2)) for a in (q, k, v)]
    q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    weights = softmax(q @ np.transpose(k, (0, 2, 1)) / np.sqrt(64).astype(np.float32) + mask)
    return np.transpose(weights @ v, (1, 0, 2)).reshape(64, 256) @ wo


def forward(x, norms, wqkv, wo, w1, w2, w3):
    t = np.arange(64, dtype=np.float32)[:, None] / 10000 ** (np.arange(0, 64, 2, dtype=np.float32) / 64)
    cos, sin = np.cos(t), np.sin(t)
    mask = np.triu(np.full((64, 64), -1e9, np.float32), 1)
    for n in range(8):
        x = x + attention(rms_norm(x, norms[n, 0]), wqkv[n], wo[n], cos, sin, mask)
        h = rms_norm(x, norms[n, 1])
        g = h @ w1[n]
        x = x + (g / (1 + np.exp(-g)) * (h @ w3[n])) @ w2[n]
    return x
"""
PROGRAMS: Mapping[str, tuple[str, type, Mapping[str, tuple[int, ...]]]] = {
    "200 LSTM steps": (LSTM, np.float32, {"xs": (200, 4, 64), "wx": (64, 512), "wh": (128, 512)}),
    "naive convolution": (CONVOLUTION, np.float32, {"x": (3, 34, 34), "w": (8, 3, 3, 3)}),
    "3 Gauss-Seidel sweeps": (GAUSS_SEIDEL, np.float64, {"u": (32, 32)}),
    "500 Jacobi iterations": (JACOBI, np.float64, {"a": (64, 64), "b": (64,)}),
    "Llama, 8 blocks": (
        LLAMA,
        np.float32,
        {
            "x": (64, 256),
            "norms": (8, 2, 256),
            "wqkv": (8, 256, 768),
            "wo": (8, 256, 256),
            "w1": (8, 256, 688),
            "w2": (8, 688, 256),
            "w3": (8, 256, 688),
        },
    ),
}
"""Name -> source, dtype and the arguments' shapes."""
ROUNDS = 61
MOST_SECONDS = 4.0


def took(run: Callable[[], Any]) -> tuple[float, Any]:
    """The processor time of a run, and what it gave."""
    start = time.process_time()
    found = run()
    return time.process_time() - start, found


def side_by_side(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[float, float, float]:
    """The medians of both, and the median of the rounds' ratios."""
    times: list[tuple[float, float]] = []
    until = time.process_time() + MOST_SECONDS
    while len(times) < 5 or (len(times) < ROUNDS and time.process_time() < until):
        times.append((took(first)[0], took(second)[0]))
    one, other = (statistics.median(column) for column in zip(*times, strict=True))
    return one, other, statistics.median(a / b for a, b in times)


def counted(program: Program, inputs: Mapping[str, np.ndarray], *, fuse: bool) -> tuple[dict[str, int], bytes]:
    """Instructions, loads and stores of a run on rv64gc, and its output's bytes."""
    with mock.patch.object(codegen, "fusable", codegen.fusable if fuse else lambda _op: False):
        compiled = compile_riscv(program, keep_tensors=False)
    trace = run_image(compiled, compiled.elf, inputs)
    counts: dict[str, int] = dict.fromkeys(("instructions", "load", "store"), 0)
    for operation in decode(StoredProfile, trace.meta["riscv_profile"], "the run").operations:
        counts["instructions"] += operation.instructions
        for kind in ("load", "store"):
            counts[kind] += operation.kinds.get(kind, 0)
    return counts, next(iter(trace.outputs.values())).tobytes()


def kernels() -> None:
    """Print the table of kernels."""
    print(f"{'an element, rv64gc':28s}{'instructions':>21s}{'ratio':>7s}{'loads':>15s}{'stores':>15s}  bits")
    rng = np.random.default_rng(0)
    given = {n: rng.standard_normal(s).astype(np.float32) for n, s in {"x": (64, 768), "y": (64, 768), "z": (768,)}.items()}
    for name, body in KERNELS.items():
        inputs = {n: a for n, a in given.items() if re.search(rf"\b{n}\b", body)}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.py"
            path.write_text(f"import numpy as np\n\n\ndef forward({', '.join(inputs)}):\n    {body}\n")
            program = prepared(load(f"{path}:forward", {}, inputs), "none")
        (apart, expected), (fused, found) = (counted(program, inputs, fuse=fuse) for fuse in (False, True))
        size = inputs["x"].size
        both = {kind: f"{apart[kind] / size:.2f} -> {fused[kind] / size:.2f}" for kind in apart}
        ratio = f"{fused['instructions'] / apart['instructions']:.2f}"
        row = f"{name:28s}{both['instructions']:>21s}{ratio:>7s}{both['load']:>15s}{both['store']:>15s}"
        print(f"{row}  {'same' if found == expected else 'DIFFER'}", flush=True)


def programs() -> None:
    """Print the table of programs."""
    print(f"{'program':24s}{'compile':>9s}{'vm':>9s}{'cpython':>9s}{'ratio':>7s}{'riscv, with its build':>23s}  worst error")
    for name, (text, dtype, shapes) in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.py"
            path.write_text(text)
            namespace: dict[str, Any] = {}
            exec(text, namespace)
            rng = np.random.default_rng(0)
            inputs = {n: (rng.standard_normal(shape) * 0.05).astype(dtype) for n, shape in shapes.items()}
            if "a" in inputs:
                inputs["a"] += 8 * np.eye(64)
            load(f"{path}:forward", {}, inputs)  # imports
            compiled, program = took(lambda p=path, i=inputs: load(f"{p}:forward", {}, i))
            vm, function = VM(ByteCodeConverter(program).convert()), namespace["forward"]
            found, expected = vm.run(inputs), function(**inputs)
            on_vm, by_python, ratio = side_by_side(lambda v=vm, i=inputs: v.run(i), lambda f=function, i=inputs: f(**i))
            os.environ["FLEET_CACHE"] = folder
            on_riscv, trace = took(lambda p=program, i=inputs: RISCV.run(p, i, RunOptions(keep_tensors=False)))
            same = np.array_equal(next(iter(found.values())), expected)
            error = np.max(np.abs(next(iter(trace.outputs.values())) - expected))
            row = f"{name:24s}{compiled:9.3f}{on_vm:9.4f}{by_python:9.4f}{ratio:7.2f}{on_riscv:23.2f}"
            print(f"{row}  {error:.1e}{'' if same else ' vm differs'}", flush=True)


if __name__ == "__main__":
    for table in (kernels, programs):
        if table.__name__ in (sys.argv[1:] or (table.__name__,)):
            table()
