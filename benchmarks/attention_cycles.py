"""Cycles of attention beside what its HBM ports need: `python benchmarks/attention_cycles.py [DEVICE...]` (default: hbm0923).

One new token behind so many cached ones, 32 heads of 128 channels with two key/value heads, as ChatGLM2 has them. `once`: cycles in
which the ports deliver all keys (values) once, key/value heads * positions * channels FP16 numbers of which a beat of all ports has
512. The limit of `trp_mvm` and of `f2w_mvm`: they pass once for each group of `AttQueries` query heads. Whole blocks of few
channels run, one instruction after the other, and every bit is held against the functional model: the operands are what a model
would leave there.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "transformer_block"))

from block import build
from shapes import CHATGLM2

from fleet.isa.registry import find_device
from fleet.sdk import Write
from fleet.sets.hbm0923.mvm_operands import ceil_div
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner

SHAPE = replace(CHATGLM2, name="attention", channels=128, ffn=128)
POSITIONS = (128, 512, 2048)
MEMORIES = ("ideal", "timed")
STEPS = {"scores": "trp_mvm", "softmax": "softmax", "mix": "f2w_mvm"}


def table(name: str) -> None:
    """All rows of one device. Raises SystemExit where a bit is wrong."""
    _, device = find_device(name)
    numbers_a_beat = 16 * device.parameters["HbmPorts"]
    print(
        f"{name:10} {'positions':>9} {'memory':>7} {'once':>7} {'limit':>7} "
        + " ".join(f"{v:>8} {'of limit':>8}" for v in STEPS.values())
    )
    with StreamRunner(name) as runner:
        for positions in POSITIONS:
            if positions > device.parameters["MaxToken"]:
                continue
            block = build(SHAPE, device, tokens=1, last=positions - 1)
            images = [Write("ddr", o, x) for o, x in block.ddr] + [Write("hbm", o, x, p) for p, o, x in block.hbm]
            case = StreamCase(f"attention {positions}", name, tuple(block.calls), tuple(images))
            once = SHAPE.kv_heads * positions * SHAPE.head // numbers_a_beat
            limit = once * ceil_div(SHAPE.heads // SHAPE.kv_heads, device.parameters["AttQueries"])
            for outcome in runner.run(case, [Setting(m) for m in MEMORIES]):
                if not outcome.passed:
                    raise SystemExit(f"{case.name}, {outcome.setting.name}: {outcome.reasons}")
                spent = {c.ops[0]: (f.end or 0) - (f.start or 0) for c, f in zip(block.calls, outcome.found, strict=True)}
                part = {s: "" if v == "softmax" else f"{100 * limit / spent[s]:.1f} %" for s, v in STEPS.items()}
                cells = (f"{spent[s]:8,} {part[s]:>8}" for s in STEPS)
                print(f"{'':10} {positions:9,} {outcome.setting.memory:>7} {once:7,} {limit:7,} " + " ".join(cells), flush=True)


if __name__ == "__main__":
    for device in sys.argv[1:] or ["hbm0923"]:
        table(device)
