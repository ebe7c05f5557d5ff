"""Cycles of the instructions beside MVM in the RTL, beside the cost model: `python benchmarks/unit_cycles.py [DEVICE...]`.

Ideal memory, and timed memory as the mean over refresh phases. The rows are Python tuples (device, shape, ideal, timed), as
tests/sets/hbm0923/test_unit_timing.py holds them; the model's cycles and their errors stand behind, as a comment. Results are not
checked here: the conformance suite compares them with the functional model on these memories.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "sets" / "hbm0923"))

from unit_shapes import Shape, call

from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner

PHASES, PHASES_OF_SHORT, SHORT = 16, 48, 2000  # a short instruction meets a refresh or not: its mean needs more of them

COMMON = [
    Shape("norm", 4096),
    Shape("norm", 4096, tokens=2),
    Shape("norm", 1024, tokens=8, mode="layer"),
    Shape("norm", 64, tokens=360),
    Shape("norm", 128, lines=3, tokens=17, mode="gaps"),
    Shape("norm", 768, tokens=5, mode="place"),
    Shape("norm", 64, tokens=9, mode="in out"),
    Shape("softmax", 512, lines=8),
    Shape("softmax", 100, lines=4, tokens=5),
    Shape("softmax", 300, lines=2, tokens=40, mode="causal"),
    Shape("softmax", 33, lines=3, tokens=33, mode="causal gaps"),
    Shape("softmax", 20, lines=32, mode="place"),
    Shape("softmax", 512, lines=2, tokens=3, mode="causal"),
    Shape("softmax", 64, lines=2, mode="in"),
    Shape("act", 4096),
    Shape("act", 1000, tokens=4),
    Shape("act", 128, tokens=360),
    Shape("act", 96, lines=3, tokens=7, mode="gaps"),
    Shape("elementwise", 4096),
    Shape("elementwise", 2048, tokens=4, mode="place"),
    Shape("elementwise", 64, tokens=500),
    Shape("elementwise", 96, lines=2, tokens=17, mode="gaps"),
    Shape("elementwise", 256, tokens=12, mode="in out"),
    Shape("elementwise", 32, tokens=8, mode="out"),
    Shape("pos_emb", 128, lines=32),
    Shape("pos_emb", 64, lines=8, tokens=20),
    Shape("pos_emb", 128, lines=2, tokens=200, mode="own"),
    Shape("trp_mvm", 128, lines=8, total=200, kv=2),
    Shape("trp_mvm", 64, lines=2, tokens=9, total=33, mode="gaps"),
    Shape("trp_mvm", 128, lines=4, total=512, kv=4),
    Shape("f2w_mvm", 128, lines=8, total=200, kv=2),
    Shape("f2w_mvm", 64, lines=2, tokens=9, total=33, mode="gaps"),
    Shape("f2w_mvm", 128, lines=4, total=512, kv=4),
    Shape("trp_mvm", 64, lines=12, total=20, kv=4),
    Shape("f2w_mvm", 64, lines=9, total=41, kv=3),
    Shape("f2w_mvm", 128, lines=4, tokens=17, total=17, kv=2),
    Shape("f2w_mvm", 64, lines=8, total=500),
    Shape("f2w_mvm", 64, lines=9, total=5, kv=3),
    Shape("f2w_mvm", 128, lines=8, tokens=2, total=16, kv=2),
    Shape("dat2hbm", 128, lines=2, total=100),
    Shape("dat2hbm", 128, lines=2, total=100, mode="values"),
    Shape("dat2hbm", 128, lines=2, tokens=200),
    Shape("dat2hbm", 64, lines=2, tokens=200, mode="values"),
    Shape("wt2hbm", 4096),
    Shape("wt2hbm", 100_000),
]
MORE = {
    "hbm_small": [
        Shape("norm", 32, tokens=512),
        Shape("norm", 32, tokens=512, mode="layer"),  # rows that are shorter than the passes
        Shape("softmax", 512, lines=4, tokens=16, mode="causal"),
    ],
    "hbm0923": [
        Shape("norm", 13696),
        Shape("norm", 4096, tokens=32),
        Shape("softmax", 2048, lines=32),
        Shape("softmax", 2048, lines=2, tokens=32, mode="causal"),
        Shape("act", 13696),
        Shape("elementwise", 13696, mode="place"),
        Shape("trp_mvm", 128, lines=32, total=2048, kv=2),
        Shape("f2w_mvm", 128, lines=32, total=2048, kv=2),
        Shape("trp_mvm", 128, lines=32, total=100, kv=32),
        Shape("f2w_mvm", 128, lines=32, total=100, kv=32),
    ],
}


def _cycles(runner: StreamRunner, case: StreamCase, memory: str) -> int:
    (commit,), _ = runner.hardware(case, Setting(memory))
    if commit.cause or commit.start is None or commit.end is None:
        raise SystemExit(f"{case.name} failed with cause {commit.cause}")
    return commit.end - commit.start


def measure(name: str) -> dict[str, list[float]]:
    """Prints the rows of one device; the relative errors of the model by memory."""
    errors: dict[str, list[float]] = {"ideal": [], "timed": []}
    with StreamRunner(name) as runner:
        for shape in COMMON + MORE.get(name, []):
            one = call(runner.device, shape)
            unit = runner.set.instructions[one.instruction]
            wrong = unit.legal(runner.device, one.fields)
            if wrong:
                raise SystemExit(f"{shape}: {'; '.join(wrong)}")
            case = StreamCase(str(shape), name, (dataclasses.replace(one, ops=()),))
            ideal = _cycles(runner, case, "ideal")
            phases = PHASES_OF_SHORT if ideal < SHORT else PHASES
            timed = float(np.mean([_cycles(runner, case, f"timed:{seed}") for seed in range(phases)]))
            words: list[str] = []
            for memory, found in (("ideal", ideal), ("timed", timed)):
                model = unit.expected_cycles(runner.device, one.fields, memory)
                assert model is not None
                errors[memory].append(model / found - 1)
                words.append(f"{model} {100 * errors[memory][-1]:+.1f} %")
            text = str((name, tuple(shape), ideal, round(timed))).replace("'", '"')
            print(f"    {text},  # {', '.join(words)}", flush=True)
    return errors


def main() -> None:
    names = sys.argv[1:] or list(MORE)
    found = [measure(name) for name in names]
    for memory in ("ideal", "timed"):
        sizes = np.abs(np.concatenate([e[memory] for e in found]))
        quantiles = {
            what: f"{100 * np.quantile(sizes, q):.1f} %" for what, q in {"median": 0.5, "95th": 0.95, "worst": 1.0}.items()
        }
        print(f"# {memory} memory, error of the model over {sizes.size} cases: {quantiles}")


if __name__ == "__main__":
    main()
