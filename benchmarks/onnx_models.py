"""An ONNX model on the VM against onnxruntime on one thread: one process, rounds interleaved; and how long loading it takes.

python benchmarks/onnx_models.py [MODEL.onnx] [--input X.npz] [--rows 4] [--length 32] [--rounds 60]

Without a model: a block of GPT-2 (examples/gpt2_block), written as ONNX for it. Inputs of integers are token numbers (masks are
ones), others normal numbers; unknown dimensions get --rows, then --length. Times are medians; "processor" is the process's own
time, which a busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from fleet.compiler import compile_model
from fleet.frontend.onnx.entry import load, signature
from fleet.ir.program import Program
from fleet.targets.bytecode import VM, ByteCodeConverter

ROOT = Path(__file__).parents[1]


def drawn(path: str, rows: int, length: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    found: dict[str, np.ndarray] = {}
    for a in signature(path):
        sizes = iter((rows, length, *[length] * 8))
        shape = tuple(d if isinstance(d, int) else next(sizes) for d in a.dims or ())
        if a.dtype is not None and a.dtype.kind in "iub":
            found[a.name] = np.ones(shape, a.dtype) if "mask" in a.name else rng.integers(0, 1000, shape).astype(a.dtype)
        else:
            found[a.name] = rng.standard_normal(shape).astype(a.dtype or np.float32)
    return found


def loading(path: str, given: argparse.Namespace) -> tuple[Program, VM, dict[str, np.ndarray], dict[str, float]]:
    marks = [time.perf_counter()]
    signature(path)  # reads the file, which is kept
    marks.append(time.perf_counter())
    if given.input:
        with np.load(given.input) as arrays:
            inputs = dict(arrays)
    else:
        inputs = drawn(path, given.rows, given.length)
    program = load(path, {}, inputs)
    marks.append(time.perf_counter())
    vm = VM(ByteCodeConverter(program).convert())
    marks.append(time.perf_counter())
    stages = ("reading", "importing", "bytecode")
    return program, vm, inputs, {n: after - before for n, before, after in zip(stages, marks, marks[1:], strict=False)}


def session(path: str, level: str) -> Callable[[dict[str, np.ndarray]], object]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    made = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda inputs: made.run(None, inputs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--input")
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.model is None:
            given.model = f"{folder}/gpt2_block.onnx"
            compile_model(str(ROOT / "examples/gpt2_block/model.py:forward")).write("onnx", Path(given.model))
        tables(given)


def tables(given: argparse.Namespace) -> None:
    program, vm, inputs, stages = loading(given.model, given)
    size = os.path.getsize(given.model) / 1e6
    print(f"{os.path.basename(given.model)}: {size:.0f} MB, {sum(1 for _ in program.operations())} operations")
    print("| stage | seconds |\n|---|---|")
    for name, seconds in stages.items():
        print(f"| {name} | {seconds:.2f} |")
    print(f"| together (limit 10 for 70 MB) | {sum(stages.values()):.2f} |\n")
    own = {a.name: np.asarray(inputs[a.name], order="C") for a in program.inputs}
    levels = {"onnxruntime, not optimised": "ORT_DISABLE_ALL", "onnxruntime, optimised": "ORT_ENABLE_ALL"}
    runs: dict[str, Callable[[], object]] = {"vm": lambda: vm.run(own)}
    for name, level in levels.items():
        run = session(given.model, level)
        runs[name] = lambda run=run: run(inputs)
    wall: dict[str, list[float]] = {n: [] for n in runs}
    processor: dict[str, list[float]] = {n: [] for n in runs}
    for turn in range(given.rounds + 2):
        for name, run in runs.items():
            start, used = time.perf_counter(), time.process_time()
            run()
            if turn >= 2:
                processor[name].append(time.process_time() - used)
                wall[name].append(time.perf_counter() - start)
    head = ("runs it", "wall ms", "processor ms", "best ms", "vm / this, processor (limit 3)", "vm / this, best")
    print(f"| {' | '.join(head)} |")
    print("|---" * len(head) + "|")
    base = statistics.median(processor["vm"])
    for name in runs:
        ratio = base / statistics.median(processor[name])
        best = min(processor["vm"]) / min(processor[name])
        times = (statistics.median(wall[name]), statistics.median(processor[name]), min(processor[name]))
        print(f"| {name} | {' | '.join(f'{t * 1e3:.1f}' for t in times)} | {ratio:.2f} | {best:.2f} |")


if __name__ == "__main__":
    main()
