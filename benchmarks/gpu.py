"""Engine `cuda` on an NVIDIA GPU: bits beside the VM and `llvm-cpu`, then times beside a copy, PyTorch and cuBLAS.

    python benchmarks/gpu.py [bits|times] [--tokens 1024]

bits: every operation on special values and all operations of the dialect; how many results have the VM's or llvm-cpu's bits, and
whether the rest lies within the derived bounds. times: medians of device time over rounds in which fleet and PyTorch take turns, of
launches back to back on arrays larger than the second-level cache. Ratios above 1 are faster than PyTorch. It needs CuPy, PyTorch.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "engines"))
import riscv_gpt2
from drawn_models import program_of, random_runs
from riscv_models import model

from fleet.cosim.comparisons import ComparisonSession
from fleet.engines.base import RunOptions
from fleet.engines.gpu.cuda import ENGINE
from fleet.engines.llvm_cpu import ENGINE as LLVM
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError
from fleet.ir.program import Program
from fleet.ir.schedule import MatmulChoice
from fleet.targets.gpu.module import KernelStep
from fleet.targets.gpu.run import LoadedModule

ROUNDS = 7
ELEMENTS = 1 << 26
ROWS = ((65536, 1024), (16384, 4096))
SIDE = 4096


# ---- bits


def same(found: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether arrays have the same bits, all NaNs alike."""
    if (found.dtype, found.shape) != (expected.dtype, expected.shape):
        return False
    return not len(apart(found, expected))


def apart(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the places where arrays of one shape differ in their bits; all NaNs are alike."""
    words = f"u{found.itemsize}" if found.dtype.kind == "f" else found.dtype
    differ = found.view(words) != expected.view(words)
    return np.argwhere(np.atleast_1d(differ & ~(np.isnan(found) & np.isnan(expected)) if found.dtype.kind == "f" else differ))


def bits(folder: Path) -> None:
    """Print the tables of bits."""
    from test_cvm_all_operations import arguments, body
    from test_opencl_engine import DTYPES, operations

    print("| what | results | VM's bits | llvm-cpu's bits | within the bound |\n|---|---|---|---|---|")
    for dtype in DTYPES:
        program, arrays, _ = operations(dtype)
        row(f"elementwise and casts, {dtype}", program, arrays, folder)
    for turned in (False, True):
        arrays = arguments(turned=turned)
        program = model(arrays, lambda m, *given, turned=turned: body(m, given, turned=turned))
        row("all operations" + ", of views" * turned, program, arrays, folder)
    halves = {n: np.random.default_rng(3).standard_normal(s).astype(np.float16) for n, s in (("h", (70, 41)), ("g", (41, 100)))}
    for matmul in ("tensor-cores", "cublas"):
        program = replace(model(halves, lambda m, h, g: m("matmul", h, g)), matmul=matmul)
        row(f"a product of float16, {matmul}", program, halves, folder)
    drawn_programs(folder)


def row(name: str, program: Program, arrays: Mapping[str, np.ndarray], folder: Path) -> None:
    """Print how a program's results compare."""
    found = ENGINE.run(program, arrays, RunOptions())
    golden = VM.run(program, arrays, RunOptions())
    try:
        llvm = LLVM.run(program, arrays, RunOptions()).tensors
    except DeviceError:  # an operation in float16, which the host computes beside a GPU
        llvm = {}
    comparison, _ = ComparisonSession(program, arrays, golden, {}, folder).against_golden(golden, found)
    names = [id_ for id_ in found.tensors if id_ in golden.tensors]
    equal = sum(same(found.tensors[n], golden.tensors[n]) for n in names)
    as_llvm = [n for n in names if n in llvm and not same(found.tensors[n], llvm[n])]
    known = sum(n in llvm for n in names)
    print(f"| {name} | {len(names)} | {equal} | {known - len(as_llvm)} of {known} | {comparison.verdict} |", flush=True)
    for n in as_llvm[:5]:
        ours, theirs = found.tensors[n], llvm[n]
        at = tuple(apart(ours, theirs)[0]) if ours.shape else ()
        print(f"    {n}: {ours.dtype} {ours.shape} at {at}: {ours[at]} and {theirs[at]}")
    for reason in comparison.reasons[:3] if comparison.verdict != "pass" else ():
        print(f"    {reason}")


def drawn_programs(folder: Path) -> None:
    """Print how many random programs agree with the VM."""
    verdicts: list[str] = []
    for _, program, inputs, expected in random_runs(folder, 7, 24, VM):
        try:
            found = ENGINE.run(program, inputs, RunOptions())
        except DeviceError:
            continue
        comparison, _ = ComparisonSession(program, inputs, expected, {}, folder).against_golden(expected, found)
        verdicts.append(comparison.verdict)
    print(f"\n{verdicts.count('pass')} of {len(verdicts)} random programs agree with the VM within its bounds", flush=True)


# ---- times


class Clock:
    """Device time."""

    def __init__(self) -> None:
        self.torch: Any = import_module("torch")
        self.torch.backends.cuda.matmul.allow_tf32 = False

    def once(self, run: Callable[[], object], repeat: int) -> float:
        """Return seconds of a run."""
        torch = self.torch
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeat):
            run()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / repeat

    def both(self, ours: Callable[[], object], theirs: Callable[[], object], repeat: int = 10) -> tuple[float, float]:
        """Return medians of two sides that take turns."""
        for run in (ours, theirs):
            self.once(run, 2)
        times = [(self.once(ours, repeat), self.once(theirs, repeat)) for _ in range(ROUNDS)]
        return statistics.median(t for t, _ in times), statistics.median(t for _, t in times)

    def tensor(self, array: np.ndarray) -> Any:
        """Return a tensor of the GPU."""
        return self.torch.from_numpy(array).cuda()


def loaded(program: Program, **inputs: np.ndarray) -> LoadedModule:
    """Return a program on the GPU, with its inputs in place, after a first run."""
    module = ENGINE.load(program, keep=False)
    module.run(inputs)
    return module


def times(folder: Path, tokens: int) -> None:
    """Print the table of times."""
    clock = Clock()
    torch, draw = clock.torch, np.random.default_rng(0)
    x, y = (draw.standard_normal(ELEMENTS, np.float32) for _ in range(2))
    a, b = clock.tensor(x), clock.tensor(y)
    out = torch.empty_like(a)
    copied, _ = clock.both(lambda: out.copy_(a), lambda: out.copy_(b))
    copy = 8 * ELEMENTS / copied
    print(f"\n{torch.cuda.get_device_name()}: a copy moves {copy / 1e9:,.0f} GB/s, bytes read and written\n")
    print("| what | fleet, µs | PyTorch, µs | fleet to PyTorch | of what the hardware gave |\n|---|---|---|---|---|")

    def line(name: str, ours: float, theirs: float, of: str) -> None:
        print(f"| {name} | {ours * 1e6:,.1f} | {theirs * 1e6:,.1f} | {theirs / ours:.2f} | {of} |", flush=True)

    def memory(name: str, text: str, theirs: Callable[[], object], moved: int, **inputs: np.ndarray) -> None:
        module = loaded(program_of(folder, text, inputs), **inputs)
        mine, other = clock.both(module.again, theirs)
        check(name, next(iter(module.again().outputs().values())), theirs())
        line(name, mine, other, f"{moved / mine / copy:.2f} of a copy's bandwidth; PyTorch {moved / other / copy:.2f}")

    def check(name: str, found: np.ndarray, theirs: Any) -> None:
        expected = theirs.cpu().numpy()
        distance = np.max(np.abs(found.astype(np.float64) - expected)) / max(1e-30, float(np.max(np.abs(expected))))
        if not distance < 1e-3:
            print(f"    {name}: {distance:.1e} of the largest number apart")

    memory("addition, float32", "return x + y", lambda: torch.add(a, b, out=out), 12 * ELEMENTS, x=x, y=y)
    h, g = x.astype(np.float16), y.astype(np.float16)
    ha, hb = clock.tensor(h), clock.tensor(g)
    memory("addition, float16", "return x + y", lambda: ha + hb, 6 * ELEMENTS, x=h, y=g)
    memory("six operations, float32", "return ((x + y) * x - y) * x + y - x", lambda: ((a + b) * a - b) * a + b - a,
           12 * ELEMENTS, x=x, y=y)  # fmt: skip
    memory("GELU (tanh)", GELU,
           lambda: torch.nn.functional.gelu(a, approximate="tanh"), 8 * ELEMENTS, x=x)  # fmt: skip
    for rows, columns in ROWS:
        m, gamma = x.reshape(rows, columns), y[:columns].copy()
        ta, tg = a.reshape(rows, columns), b[:columns].clone()
        size, shape = 4 * rows * columns, f"{rows:,} x {columns:,}"
        memory(f"sum of rows, {shape}", "return np.sum(x, axis=1)", lambda ta=ta: torch.sum(ta, 1), size, x=m)
        memory(f"sum of columns, {shape}", "return np.sum(x, axis=0)", lambda ta=ta: torch.sum(ta, 0), size, x=m)
        memory(f"softmax of rows, {shape}", SOFTMAX, lambda ta=ta: torch.softmax(ta, 1), 2 * size, x=m)
        norm: Callable[[], object] = lambda ta=ta, tg=tg, n=columns: torch.nn.functional.layer_norm(ta, (n,), tg, tg)  # noqa: E731
        memory(f"layer norm of rows, {shape}", NORM, norm, 2 * size, x=m, g=gamma)
    products(clock, line)
    gpt2(clock, line, tokens)


GELU = "return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))"
SOFTMAX = "e = np.exp(x - np.max(x, axis=1, keepdims=True))\nreturn e / np.sum(e, axis=1, keepdims=True)"
NORM = "c = x - np.mean(x, axis=1, keepdims=True)\nreturn c / np.sqrt(np.mean(c * c, axis=1, keepdims=True) + 1e-5) * g + g"


_PRODUCTS: tuple[tuple[str, MatmulChoice], ...] = (
    ("float32", "exact"), ("float64", "exact"), ("float16", "exact"), ("float16", "tensor-cores"), ("float32", "bfloat16"),
    ("float16", "cublas"), ("float32", "cublas"), ("float64", "cublas"),
)  # fmt: skip
"""Dtypes, and what computes the products."""


def products(clock: Clock, line: Callable[[str, float, float, str], None]) -> None:
    """Print products of square matrices."""
    for dtype, matmul in _PRODUCTS:
        p, q = (np.random.default_rng(i).standard_normal((SIDE, SIDE), np.float32).astype(dtype) for i in range(2))
        tp, tq = clock.tensor(p), clock.tensor(q)
        program = replace(model({"p": p, "q": q}, lambda m, p, q: m("matmul", p, q)), matmul=matmul)
        module = loaded(program, p=p, q=q)
        ours, theirs = (tp.bfloat16(), tq.bfloat16()) if matmul == "bfloat16" else (tp, tq)
        mine, other = clock.both(module.again, lambda tp=ours, tq=theirs: tp @ tq, 3)
        rate = [2 * SIDE**3 / t / 1e12 for t in (mine, other)]
        line(f"product, {SIDE} x {SIDE} x {SIDE}, {dtype}, {matmul}", mine, other, f"{rate[0]:.1f} TFLOP/s; cuBLAS {rate[1]:.1f}")
        found, expected = next(iter(module.again().outputs().values())), (tp.double() @ tq.double()).cpu().numpy()
        distance = np.linalg.norm(found.astype(np.float64) - expected) / np.linalg.norm(expected)
        print(f"    relative distance from float64: {distance:.1e}")


def gpt2(clock: Clock, line: Callable[[str, float, float, str], None], tokens: int) -> None:
    """Print a forward pass of GPT-2's shapes, with drawn weights."""
    torch = clock.torch
    functional = torch.nn.functional
    layers, heads, width = 12, riscv_gpt2.HEADS, riscv_gpt2.WIDTH
    arrays = riscv_gpt2.weights(layers)
    riscv_gpt2.TOKENS = np.random.default_rng(1).integers(0, riscv_gpt2.WORDS, tokens)
    program = riscv_gpt2.program(arrays, layers)
    module = loaded(program, tokens=riscv_gpt2.TOKENS)
    w = {name: clock.tensor(array) for name, array in arrays.items()}
    where = clock.tensor(riscv_gpt2.TOKENS)

    def norm(x: Any, name: str) -> Any:
        return functional.layer_norm(x, (width,), w[f"{name}.g"], w[f"{name}.b"], 1e-5)

    def forward() -> Any:
        x = w["wte"][where] + w["wpe"][:tokens]
        for i in range(layers):
            h = f"h{i}."
            parts = torch.addmm(w[f"{h}qkv.b"], norm(x, f"{h}ln_1"), w[f"{h}qkv.w"]).split(width, 1)
            q, k, v = (part.view(1, tokens, heads, width // heads).transpose(1, 2) for part in parts)
            a = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(tokens, width)
            x = x + torch.addmm(w[f"{h}out.b"], a, w[f"{h}out.w"])
            u = functional.gelu(torch.addmm(w[f"{h}up.b"], norm(x, f"{h}ln_2"), w[f"{h}up.w"]), approximate="tanh")
            x = x + torch.addmm(w[f"{h}down.b"], u, w[f"{h}down.w"])
        return norm(x, "ln_f") @ w["wte"].T

    with torch.no_grad():
        mine, other = clock.both(module.again, forward, 3)
        expected = forward().cpu().numpy()
    found = next(iter(module.again().outputs().values()))
    distance = float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))
    line(f"GPT-2, 124 M, {tokens} tokens", mine, other, f"logits {distance:.1e} of the largest apart")
    each_operation(clock, module)


def each_operation(clock: Clock, module: LoadedModule) -> None:
    """Print which kernels take the time of a run."""
    spent: dict[str, float] = {}
    for step in module.module.steps:
        if isinstance(step, KernelStep):
            seconds = clock.once(partial(module.launch, step), 1)
            spent[step.kernel.name] = spent.get(step.kernel.name, 0.0) + seconds
    worst = sorted(spent.items(), key=lambda item: -item[1])[:8]
    print("    " + ", ".join(f"{name} {seconds * 1e6:,.0f} µs" for name, seconds in worst))


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", nargs="?", choices=("bits", "times"))
    parser.add_argument("--tokens", type=int, default=1024)
    given = parser.parse_args()
    missing = ENGINE.available()
    if missing:
        sys.exit(missing)
    print(ENGINE.device().name)
    warnings.simplefilter("ignore", RuntimeWarning)
    with tempfile.TemporaryDirectory() as name:
        if given.part != "times":
            bits(Path(name))
        if given.part != "bits":
            times(Path(name), given.tokens)


if __name__ == "__main__":
    main()
