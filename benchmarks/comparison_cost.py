"""What comparing costs beside what it compares: `python benchmarks/comparison_cost.py [--size 224] [MODEL...]`.

Models of convolutions with drawn weights, as ONNX files: `plain` (25 convolutions in residual blocks) and `depthwise` (27, in
the manner of PP-LCNet: 3 x 3 and 5 x 5 depthwise, 1 x 1 pointwise, hard swish, squeeze and excitation). Each runs in a process of
its own: engines first, then the comparison, in processor seconds of all threads, with the peak of the process's memory before
and after. The figure to hold is comparison / engines, at most one half.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fleet.compare.verdict import Comparison
from fleet.cosim.campaign import cosim
from fleet.cosim.models.loaded import load_model
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import DataProvenance, EngineRun
from fleet.ir.program import Program

MODELS = ("plain", "depthwise")


class Net:
    """Builds an ONNX model node by node. Weights are drawn so that activations keep their size."""

    def __init__(self, channels: int, size: int) -> None:
        self.rng = np.random.default_rng(20)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.top, self.channels = "image", channels
        self.size = size

    def _weight(self, array: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def node(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def conv(self, out: int, kernel: int, stride: int = 1, *, depthwise: bool = False, act: str = "") -> str:
        groups = self.channels if depthwise else 1
        fan = kernel * kernel * self.channels // groups
        w = self.rng.standard_normal((out, self.channels // groups, kernel, kernel)) * np.sqrt(1.7 / fan)
        pad = kernel // 2
        self.top = self.node(
            "Conv", [self.top, self._weight(w), self._weight(0.1 * self.rng.standard_normal(out))],
            kernel_shape=[kernel, kernel], strides=[stride, stride], pads=[pad] * 4, group=groups,
        )  # fmt: skip
        self.channels = out
        if act:
            self.top = self.node(act, [self.top])
        return self.top

    def squeeze(self) -> None:
        whole, channels = self.top, self.channels
        self.top = self.node("GlobalAveragePool", [whole])
        self.conv(max(channels // 4, 8), 1, act="Relu")
        gate = self.node("HardSigmoid", [self.conv(channels, 1)])
        self.top = self.node("Mul", [whole, gate])

    def save(self, path: Path, classes: int = 4) -> None:
        pooled = self.node("Flatten", [self.node("GlobalAveragePool", [self.top])])
        w = self.rng.standard_normal((self.channels, classes)) / np.sqrt(self.channels)
        logits = self.node("Gemm", [pooled, self._weight(w), self._weight(np.zeros(classes))])
        self.node("Softmax", [logits], axis=-1)
        self.nodes[-1].output[0] = "probabilities"
        image = helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, [1, 3, self.size, self.size])
        out = helper.make_tensor_value_info("probabilities", onnx.TensorProto.FLOAT, [1, classes])
        graph = helper.make_graph(self.nodes, "net", [image], [out], self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def plain(size: int) -> Net:
    """One convolution, then 12 residual blocks of two."""
    net = Net(3, size)
    net.conv(16, 3, 2, act="Relu")
    for out, stride in ((16, 2), (16, 1), (16, 1), (32, 2), (32, 1), (32, 1), (64, 2), (64, 1), (64, 1), (96, 2), (96, 1), (96, 1)):
        before, same = net.top, stride == 1
        net.conv(out, 3, stride, act="Relu")
        net.conv(out, 3)
        net.top = net.node("Relu", [net.node("Add", [net.top, before]) if same else net.top])
    return net


def depthwise(size: int) -> Net:
    """PP-LCNet at half its width."""
    net = Net(3, size)
    net.conv(8, 3, 2, act="HardSwish")
    blocks = ((3, 16, 1, 0), (3, 32, 2, 0), (3, 32, 1, 0), (3, 64, 2, 0), (3, 64, 1, 0), (3, 128, 2, 0), *([(5, 128, 1, 0)] * 5),
              (5, 256, 2, 1), (5, 256, 1, 1))  # fmt: skip
    for kernel, out, stride, squeezed in blocks:
        net.conv(net.channels, kernel, stride, depthwise=True, act="HardSwish")
        if squeezed:
            net.squeeze()
        net.conv(out, 1, act="HardSwish")
    return net


def _cpu() -> float:
    of_children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + of_children.ru_utime + of_children.ru_stime


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@dataclass(frozen=True)
class Costs:
    """What a co-simulation took: its result, processor seconds of each step, and the process's memory.

    steps: "vm" or "riscv-vs-vm" -> processor seconds of all threads and of children that ended. engines_mb: peak before the last
    engine ended. silence_s: the longest time without a word of progress while something was compared.
    """

    result: CosimResult
    steps: Mapping[str, float]
    engines_mb: int
    peak_mb: int
    silence_s: float

    @property
    def engines(self) -> float:
        """Seconds of all engines."""
        return sum(seconds for name, seconds in self.steps.items() if "-vs-" not in name)

    @property
    def comparisons(self) -> float:
        """Seconds of all comparisons."""
        return sum(seconds for name, seconds in self.steps.items() if "-vs-" in name)


def costs_of(program: Program, inputs: Mapping[str, np.ndarray], engines: Sequence[str], options: CosimOptions) -> Costs:
    """Run the co-simulation in this process and measure it."""
    marks = [("", _cpu(), _peak())]
    said = [time.monotonic()]
    gaps: list[float] = []

    def heard(*_: object) -> None:
        gaps.append(time.monotonic() - said[0])
        said[0] = time.monotonic()

    def engine(run: EngineRun, _: object) -> None:
        marks.append((run.name, _cpu(), _peak()))
        said[0] = time.monotonic()
        gaps.clear()

    def comparison(one: Comparison) -> None:
        heard()
        marks.append((one.name, _cpu(), _peak()))

    options = replace(options, progress=heard, on_engine=engine, on_comparison=comparison)
    result = cosim(program, inputs, None, engines, options)
    steps = {name: after - before for (_, before, _), (name, after, _) in pairwise(marks)}
    engines_mb = max(peak for name, _, peak in marks if "-vs-" not in name)
    return Costs(result, steps, engines_mb, _peak(), max(gaps, default=0.0))


def measure(model: str, size: int, engines: tuple[str, ...]) -> dict[str, object]:
    """One model in this process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{model}.onnx"
        {"plain": plain, "depthwise": depthwise}[model](size).save(path)
        program = load_model(str(path), None, None, 0, None).program
        image = np.random.default_rng(1).standard_normal((1, 3, size, size)).astype(np.float32)
        options = CosimOptions(model=model, data=DataProvenance("random", 1, None, None, "drawn"))
        found = costs_of(program, {program.arguments[0].name: image}, engines, options)
        verdicts = [f"{c.name} {c.verdict}" for c in found.result.comparisons]
        return {
            "engines_s": found.engines, "comparison_s": found.comparisons, "engines_mb": found.engines_mb, "peak_mb": found.peak_mb,
            "silence_s": found.silence_s, "verdicts": verdicts,
        }  # fmt: skip


def main() -> None:
    """The table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--engines", default="vm,onnxruntime")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.models[0], args.size, tuple(args.engines.split(",")))))
        return
    columns = ("model", "size", "engines s", "comparison s", "ratio", "engines MB", "peak MB", "silence s", "verdicts")
    print("".join(f"{c:>14}" for c in columns))
    for model in args.models:
        command = [sys.executable, __file__, "--one", "--size", str(args.size), "--engines", args.engines, model]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        r = json.loads(run.stdout.splitlines()[-1])
        figures = (
            r["engines_s"],
            r["comparison_s"],
            r["comparison_s"] / r["engines_s"],
            r["engines_mb"],
            r["peak_mb"],
            r["silence_s"],
        )
        print(f"{model:>14}{args.size:14}" + "".join(f"{v:14.2f}" for v in figures) + "  " + "; ".join(r["verdicts"]), flush=True)


if __name__ == "__main__":
    main()
