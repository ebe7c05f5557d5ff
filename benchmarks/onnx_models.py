"""ONNX models on the VM against onnxruntime on one thread: one process, rounds interleaved.

python benchmarks/onnx_models.py [MODEL.onnx] [--input X.npz] [--rows 4] [--length 32] [--rounds 60] [--profile]

Without a model: a table of networks that are made here (convolutional ones, their integer forms by onnxruntime's quantiser, a block
of GPT-2) and of models that were fetched, each against what it may cost. With a model: the stages of loading it, and its times.
Inputs of integers are token numbers (masks are ones), others normal numbers; unknown dimensions get --rows, then --length. Times
are the process's own, which a busy machine disturbs least: the ratio is that of medians, and of the best beside it.
--profile: the share of each kind of operation.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from fleet.compiler import compile_model
from fleet.frontend.onnx.entry import load, signature
from fleet.ir.program import Program
from fleet.llm.files.cache import model_file
from fleet.targets.bytecode import VM, ByteCodeConverter
from fleet.targets.bytecode.profile import Profile

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sim/vgemm"))
import networks

ROOT = Path(__file__).resolve().parents[1]

LEVELS = {"not optimised": "ORT_DISABLE_ALL", "optimised": "ORT_ENABLE_ALL"}
LIMITS = {"dense": 2.5, "depthwise": 5.0, "float encoder": 2.0, "int8 encoder": 3.0, "recurrent": None, "int8 convolutions": None}
"""Kind of model -> the ratio to onnxruntime without optimisations that is wanted."""


@dataclass(frozen=True)
class BenchmarkModel:
    """A model file, its kind, and sizes of its inputs where the file leaves them open."""

    title: str
    kind: str
    path: str
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    rows: int = 1
    length: int = 128


def made(folder: str) -> Iterator[BenchmarkModel]:
    """Write the networks of this benchmark."""
    networks.write(Path(folder))
    for name, title, kind in (("residual", "ResNet-like", "dense"), ("mobile", "MobileNet-like", "depthwise")):
        yield BenchmarkModel(title, kind, f"{folder}/{name}.onnx")
    for name, title in (("residual", "ResNet-like"), ("mobile", "MobileNet-like")):
        for form in ("QLinearConv", "ConvInteger"):
            yield BenchmarkModel(f"{title}, {form}", "int8 convolutions", quantised(folder, name, form))
    block = f"{folder}/gpt2_block.onnx"
    compile_model(str(ROOT / "examples/gpt2_block/model.py:forward")).write("onnx", Path(block))
    yield BenchmarkModel("GPT-2 block", "float encoder", block)


def quantised(folder: str, name: str, form: str) -> str:
    """Write the network as onnxruntime's quantiser leaves it."""
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

    class Images(CalibrationDataReader):
        def __init__(self) -> None:
            rng = np.random.default_rng(1)
            self.images = iter([{"image": rng.standard_normal(networks.IMAGE).astype(np.float32)} for _ in range(2)])

        def get_next(self) -> dict[str, np.ndarray]:
            return next(self.images, {})  # none: the end

    logging.disable(logging.WARNING)  # that the model was not optimised first
    source, target = f"{folder}/{name}.onnx", f"{folder}/{name}.{form}.onnx"
    if form == "ConvInteger":
        quantize_dynamic(source, target, weight_type=QuantType.QUInt8)
    else:
        quantize_static(source, target, Images(), quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8)
    return target


def fetched() -> Iterator[BenchmarkModel]:
    """Models of other people, those that are here (`fleet models fetch`)."""
    known = (
        BenchmarkModel("PP-OCR cls, 48 x 192", "depthwise", "ppocr.cls", {"x": (1, 3, 48, 192)}),
        BenchmarkModel("PP-OCR rec, 48 x 160", "dense", "ppocr.rec", {"x": (1, 3, 48, 160)}),
        BenchmarkModel("PP-OCR det, 160 x 160", "dense", "ppocr.det", {"x": (1, 3, 160, 160)}),
        BenchmarkModel("Silero VAD, 576 samples", "recurrent", "silero-vad.16k_op15", {"input": (1, 576), "state": (2, 1, 128)}),
        BenchmarkModel("MiniLM, 4 x 32", "float encoder", "minilm", rows=4, length=32),
        BenchmarkModel("MiniLM, 1 x 128", "float encoder", "minilm"),
        BenchmarkModel("MiniLM in INT8, 1 x 8", "int8 encoder", "minilm-int8", length=8),
        BenchmarkModel("MiniLM in INT8, 1 x 128", "int8 encoder", "minilm-int8"),
    )
    for model in known:
        path = model_file(model.path, ".onnx")
        if path.is_file():
            yield BenchmarkModel(model.title, model.kind, str(path), model.shapes, model.rows, model.length)
        else:
            print(f"not here: {model.title} (fleet models fetch {model.path.partition('.')[0]})", file=sys.stderr)


def drawn(path: str, rows: int, length: int, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    found: dict[str, np.ndarray] = {}
    for a in signature(path):
        sizes = iter((rows, length, *[length] * 8))
        shape = shapes.get(a.name) or tuple(d if isinstance(d, int) else next(sizes) for d in a.dims or ())
        if a.dtype is not None and a.dtype.kind in "iub":
            mask = "mask" in a.name
            drawn = rng.integers(0, 1 if "type" in a.name else 1000, shape) if shape else np.array(16000)
            found[a.name] = np.ones(shape, a.dtype) if mask else drawn.astype(a.dtype)
        else:
            found[a.name] = rng.standard_normal(shape).astype(a.dtype or np.float32)
    return found


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to run, its inputs, and seconds of each stage of loading."""

    program: Program
    vm: VM
    inputs: dict[str, np.ndarray]
    stages: dict[str, float]


def loading(model: BenchmarkModel, archive: str | None = None) -> LoadedModel:
    marks = [time.perf_counter()]
    signature(model.path)  # reads the file, which is kept
    marks.append(time.perf_counter())
    if archive:
        with np.load(archive) as arrays:
            inputs = dict(arrays)
    else:
        inputs = drawn(model.path, model.rows, model.length, model.shapes)
    program = load(model.path, {}, inputs)
    marks.append(time.perf_counter())
    vm = VM(ByteCodeConverter(program).convert())
    marks.append(time.perf_counter())
    stages = ("reading", "importing", "bytecode")
    seconds = {n: after - before for n, before, after in zip(stages, marks, marks[1:], strict=False)}
    return LoadedModel(program, vm, inputs, seconds)


def session(path: str, level: str) -> Callable[[dict[str, np.ndarray]], object]:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    made = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda inputs: made.run(None, inputs)


def timed(model: BenchmarkModel, loaded: LoadedModel, rounds: int) -> dict[str, list[float]]:
    """Return processor milliseconds of every round: of the VM, and of onnxruntime at each level."""
    own = {a.name: np.asarray(loaded.inputs[a.name], order="C") for a in loaded.program.inputs}
    runs: dict[str, Callable[[], object]] = {"vm": lambda: loaded.vm.run(own)}
    for name, level in LEVELS.items():
        run = session(model.path, level)
        runs[name] = lambda run=run: run(loaded.inputs)
    found: dict[str, list[float]] = {n: [] for n in runs}
    for turn in range(rounds + 2):
        for name, run in runs.items():
            used = time.process_time()
            run()
            if turn >= 2:
                found[name].append((time.process_time() - used) * 1e3)
    return found


def profiled(loaded: LoadedModel, rounds: int = 40) -> None:
    """Print the share of each kind of operation, the slowest first; of an operation's rounds the fastest counts."""
    own = {a.name: np.asarray(loaded.inputs[a.name], order="C") for a in loaded.program.inputs}
    best: dict[str, float] = {}
    kinds: dict[str, str] = {}
    for _ in range(rounds):
        profile = Profile()
        loaded.vm.run(own, profile=profile)
        for name, row in profile.operations.items():
            best[name], kinds[name] = min(best.get(name, row.seconds), row.seconds), row.operator
    calls, seconds = Counter(kinds.values()), defaultdict[str, float](float)
    for name, least in best.items():
        seconds[kinds[name]] += least
    whole = sum(seconds.values())
    for kind, part in sorted(seconds.items(), key=lambda item: -item[1])[:10]:
        print(f"    {kind:16} {calls[kind]:6} operations {part * 1e3:8.3f} ms {part / whole:6.1%}", flush=True)


def table(models: Sequence[BenchmarkModel], rounds: int, profile: bool) -> None:
    """Print one line a model."""
    head = ("model", "kind", "VM, processor ms", *(f"onnxruntime {n}" for n in LEVELS), "ratio", "of best", "limit")
    print(f"| {' | '.join(head)} |")
    print("|---" * len(head) + "|", flush=True)
    for model in models:
        loaded = loading(model)
        found = timed(model, loaded, rounds)
        median = {name: statistics.median(times) for name, times in found.items()}
        plain = next(iter(LEVELS))
        limit = LIMITS[model.kind]
        cells = (
            model.title, model.kind, *(f"{t:.1f}" for t in median.values()), f"{median['vm'] / median[plain]:.2f}",
            f"{min(found['vm']) / min(found[plain]):.2f}", "" if limit is None else f"{limit}",
        )  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)
        if profile:
            profiled(loaded)


def one(model: BenchmarkModel, given: argparse.Namespace) -> None:
    """Print a model's stages of loading, and its times."""
    loaded = loading(model, given.input)
    size = os.path.getsize(model.path) / 1e6
    print(f"{os.path.basename(model.path)}: {size:.0f} MB, {sum(1 for _ in loaded.program.operations())} operations")
    print("| stage | seconds |\n|---|---|")
    for name, seconds in loaded.stages.items():
        print(f"| {name} | {seconds:.2f} |")
    print(f"| together (limit 10 for 70 MB) | {sum(loaded.stages.values()):.2f} |\n")
    print("| runs it | processor ms | best ms | vm / this | vm / this, best |\n|---|---|---|---|---|")
    found = timed(model, loaded, given.rounds)
    for name, times in found.items():
        median, best = statistics.median(times), min(times)
        ratios = statistics.median(found["vm"]) / median, min(found["vm"]) / best
        print(f"| {name} | {median:.1f} | {best:.1f} | {ratios[0]:.2f} | {ratios[1]:.2f} |")
    if given.profile:
        profiled(loaded)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--input")
    parser.add_argument("--only", default="", help="models of the table whose title has this text")
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--profile", action="store_true")
    given = parser.parse_args()
    if given.model is not None:
        one(BenchmarkModel(given.model, "", given.model, rows=given.rows, length=given.length), given)
        return
    with tempfile.TemporaryDirectory() as folder:
        table([m for m in (*made(folder), *fetched()) if given.only in m.title], given.rounds, given.profile)


if __name__ == "__main__":
    main()
