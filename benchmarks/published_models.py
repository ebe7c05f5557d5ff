"""Published models through every engine, one line a model: `python benchmarks/published_models.py [--only TEXT] [--engines LIST]`.

The models of `fleet models fetch`, those that are here, each in a process of its own: sizes, what the device takes, cycles, how far
the results are from the golden's, and what comparing costs beside running (processor seconds of all engines, of all comparisons,
and of the dearest steps). The lines are those of docs/onnx-models.md. Inputs are those of `onnx_models.py`.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from onnx_models import BenchmarkModel, drawn  # before NumPy: it sets the number of BLAS's threads

import numpy as np  # isort: skip
from comparison_cost import Costs, costs_of

from fleet.cosim.models.loaded import load_model
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.accel_counters import matmul_macs
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.llm.files.cache import model_file

ENGINES = "vm,onnxruntime,riscv,iss,rtl"
HEAD = ("model, input", "multiply-accumulates", "operations, of them on the device", "device", "cycles, `rtl`", "commits",
        "`iss` beside `vm`", "`riscv`: dB, share of its bound", "`onnxruntime`: dB, share of its bound", "verdict",
        "running, s", "comparing, s", "dearest")  # fmt: skip


def _voice(title: str, form: str, **shapes: tuple[int, ...]) -> BenchmarkModel:
    return BenchmarkModel(f"Silero VAD, {title}", "", f"silero-vad{form}", shapes or {"input": (1, 576), "state": (2, 1, 128)})


MODELS: tuple[tuple[BenchmarkModel, str], ...] = (
    (_voice("576 samples", "", input=(1, 576), state=(2, 1, 128)), "vgemm_small"),
    (_voice("`16k_op15`, 576 samples", ".16k_op15"), "vgemm_small"),
    (_voice("`16k_sequence`, 2 x 576", ".16k_sequence", input=(2, 576), h=(1, 1, 128), c=(1, 1, 128)), "vgemm_small"),
    (_voice("`half`, 576 samples", ".half", input=(1, 576), state=(2, 1, 128)), "vgemm_small"),
    (_voice("`op18_ifless`, 576 samples", ".op18_ifless", input=(1, 576), state=(2, 1, 128)), "vgemm_small"),
    (_voice("`openvino_16k`, 576 samples", ".openvino_16k"), "vgemm_small"),
    (BenchmarkModel("PP-OCR cls, 48 x 192", "", "ppocr.cls", {"x": (1, 3, 48, 192)}), "vgemm16"),
    (BenchmarkModel("PP-OCR rec, 48 x 160 (a line of text)", "", "ppocr.rec", {"x": (1, 3, 48, 160)}), "vgemm16"),
    (BenchmarkModel("PP-OCR det, 160 x 160", "", "ppocr.det", {"x": (1, 3, 160, 160)}), "vgemm16"),
    (BenchmarkModel("MiniLM in INT8, 8 tokens", "", "minilm-int8", length=8), "vgemm16"),
    (BenchmarkModel("MiniLM, 4 x 32 tokens", "", "minilm", rows=4, length=32), "hbm_small"),
    (BenchmarkModel("Magika, 1 file", "", "magika", {"bytes": (1, 2048)}), "hbm_small"),
)
"""Each model with the device that it is run on: an INT8 device where its activations and weights suit that, else an INT4 one."""
KNOWN = {"minilm": "attention_mask"}
"""Inputs that are compiled for their value: without that a mask would be computed at run time, which the device cannot."""


def lowest_db(result: CosimResult, program: Program, name: str) -> float:
    """Return the lowest SQNR of an output in a comparison, in dB; infinite if all are equal, NaN without the comparison."""
    comparison = result.comparison(name)
    outputs = {op_id(v.owner) for v in program.returned() if isinstance(v.owner, FleetOp)}
    rows = [] if comparison is None else [r for r in comparison.operations if r.op in outputs]
    return min((r.cumulative.sqnr_db for r in rows if not math.isnan(r.cumulative.sqnr_db)), default=math.nan)


def of_bound(result: CosimResult, name: str) -> float:
    """Return the largest share of its derived bound that an operation's error takes; NaN without the comparison."""
    comparison = result.comparison(name)
    held = [] if comparison is None else [r.held.worst_ratio for r in comparison.operations if r.held is not None]
    return max((ratio for ratio in held if math.isfinite(ratio)), default=math.nan)


def cells(title: str, device: str, program: Program, costs: Costs) -> list[str]:
    """Return the line of a model."""
    result = costs.result
    iss, rtl, bits = result.engine("iss"), result.engine("rtl"), result.comparison("rtl-vs-iss")
    counters = {} if iss is None else iss.counters
    host, taken = int(counters.get("host_ops", 0)), int(counters.get("device_ops", 0))
    macs, left = counters.get("macs", 0), counters.get("host_macs", 0)
    share = f", {100 * macs / (macs + left):.0f} % of the work" if macs + left else ""
    others = [f"{lowest_db(result, program, c):.1f}, {of_bound(result, c):.2g}" for c in ("riscv-vs-vm", "onnxruntime-vs-vm")]
    dearest = sorted(costs.steps.items(), key=lambda step: -step[1])[:4]
    failed = [f"{e.name}: {e.error}" for e in result.engines if e.status == "failed"]
    return [
        title, f"{sum(map(matmul_macs, program.operations())):,}", f"{host + taken:,}, {taken:,}{share}", device,
        "-" if rtl is None or rtl.cycles is None else f"{rtl.cycles:,}", "-" if bits is None else f"{len(bits.commits):,}",
        f"{lowest_db(result, program, 'iss-vs-vm'):.1f} dB", *others, "; ".join([result.verdict, *failed, *result.reasons[:1]]),
        f"{costs.engines:.1f}", f"{costs.comparisons:.1f}", ", ".join(f"{name} {seconds:.1f}" for name, seconds in dearest),
    ]  # fmt: skip


def one(index: int, engines: tuple[str, ...]) -> list[str]:
    """Run a model in this process and return its line."""
    model, device = MODELS[index]
    path = str(model_file(model.path, ".onnx"))
    inputs: dict[str, Any] = drawn(path, model.rows, model.length, model.shapes)
    if "bytes" in inputs:
        inputs["bytes"] = inputs["bytes"] % 257
    known = KNOWN.get(model.path)
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "in.npz", **inputs)
        loaded = load_model(f"{path}?known={known}" if known else path, None, Path(folder) / "in.npz", 0, None)
    rows = next(iter(inputs.values())).shape[0]
    options = CosimOptions(model=path, device=device, data=DataProvenance("random", rows, None, None, "drawn"))
    return cells(model.title, device, loaded.program, costs_of(loaded.program, loaded.inputs, engines, options))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="models whose title has this text")
    parser.add_argument("--engines", default=ENGINES)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(one(given.one, tuple(given.engines.split(",")))))
        return
    print(f"| {' | '.join(HEAD)} |")
    print("|---" * len(HEAD) + "|", flush=True)
    for index, (model, _) in enumerate(MODELS):
        if given.only not in model.title:
            continue
        if not model_file(model.path, ".onnx").is_file():
            print(f"not here: {model.title} (fleet models fetch {model.path.partition('.')[0]})", file=sys.stderr)
            continue
        command = [sys.executable, __file__, "--one", str(index), "--engines", given.engines]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        line = json.loads(run.stdout.splitlines()[-1]) if run.returncode == 0 else [model.title, *run.stderr.splitlines()[-1:]]
        print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
