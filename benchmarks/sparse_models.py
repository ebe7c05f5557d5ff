"""Sparse weights by strategy: size, cycles and token/s of a model's shape, ChatGLM2's unless said otherwise.

    python benchmarks/sparse_models.py [--shape chatglm2-6b] [--last 127] [--rtl half-quarter]...

One block and the head are compiled for hbm0923_sparse. The cost model gives the cycles of each instruction with timed memory; a
token is all blocks and the head, its instructions one after the other. With --rtl weights are drawn, and one block and the head of
a strategy run in RTL on timed memory, as one binary behind an empty cache, every commit held against iss; the block's cycles are
those from the first start to its last commit.
"""

from __future__ import annotations

import argparse

from fleet.isa.registry import find_device, instruction_sets
from fleet.llm.config import ModelConfig, preset
from fleet.llm.contestants import GenerateRequest, generate, sparse_constants
from fleet.llm.figures import estimate
from fleet.llm.load import LoadedLanguageModel
from fleet.llm.models import ModelOptions, build_model
from fleet.llm.quantisation import Quantisation
from fleet.llm.shapes import ShapeTokenizer, ShapeWeights
from fleet.llm.sparsity import STRATEGIES, Sparsity
from fleet.sdk import Call, Device
from fleet.targets.accel.build import build
from fleet.transforms.simplify.infer_types import infer_type

DEVICE, GROUP = "hbm0923_sparse", 128


def one_block(config: ModelConfig, sparse: Sparsity, device: Device, last: int) -> list[Call]:
    """The instructions of a token through one block and the head, behind `last` cached ones. Weights are shapes alone."""
    model = build_model(config.shortened(1), None, ModelOptions(tokens=min(32, last + 1), positions=last + 1))
    options = {"group": GROUP, "sparse": sparse_constants(model, sparse, device)}
    typed = infer_type(model.root, device, attrs={"last_token": model.last_token})
    module = build(typed, aux=True, build_config={"align": 0x1000, "spill": True}, options=options, device=device)
    return list(module.calls(token=1, last_token=last))


def in_block(call: Call) -> bool:
    """Whether an instruction is of the block, not of the head."""
    return call.ops[0].startswith("blocks.")


def modelled(device: Device, calls: list[Call]) -> float:
    """Cycles of instructions, one after the other, with timed memory."""
    found = estimate(instruction_sets()[device.instruction_set], device, calls, "timed")
    assert found is not None
    return found


def in_rtl(config: ModelConfig, sparse: Sparsity, name: str) -> tuple[int, int]:
    """Cycles of the block and of the whole step in RTL. Raises SystemExit where a bit differs from iss."""
    weights = ShapeWeights(config.shortened(1), group=GROUP, seed=0, name=config.architecture, sparse=sparse)
    loaded = LoadedLanguageModel("one block", weights, ShapeTokenizer())
    plan = ModelOptions(tokens=32, positions=64)
    choice = Quantisation(GROUP, "absmax", sparse=sparse)
    result = generate(loaded, GenerateRequest(name, "a", 1, ("iss", "rtl"), DEVICE, "timed", plan=plan, quantisation=choice))
    if result.verdict != "pass":
        raise SystemExit(f"{name}: {result.reasons}")
    line = result.timeline
    ends = [t.end for t in line if t.node.startswith("blocks.")]
    return max(ends), line[-1].end


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", default="chatglm2-6b")
    parser.add_argument("--last", type=int, default=127, help="cached tokens")
    parser.add_argument("--rtl", nargs="*", default=[], help="strategies that run in RTL")
    given = parser.parse_args()
    config, (_, device) = preset(given.shape), find_device(DEVICE)
    print(f"{given.shape} on {DEVICE}, {device.clock_mhz:g} MHz, timed memory, cost model, a token behind {given.last}")
    print("| strategy | bits a weight | weights | block | head | token | token/s |\n|---|---|---|---|---|---|---|")
    for name in ("", *STRATEGIES):
        sparse = Sparsity.of(name)
        calls = one_block(config, sparse, device, given.last)
        block = modelled(device, [c for c in calls if in_block(c)])
        head = modelled(device, [c for c in calls if not in_block(c)])
        token, choice = config.blocks * block + head, Quantisation(GROUP, sparse=sparse)
        size = choice.stored_bits(config) / 8e6
        print(
            f"| {name or 'dense'} ({sparse or '-'}) | {choice.mean_bits(config):.3f} | {size:,.1f} MB | {block:,.0f} | {head:,.0f} "
            f"| {token:,.0f} | {device.clock_mhz * 1e6 / token:.1f} |",
            flush=True,
        )
    for name in given.rtl:
        block, whole = in_rtl(config, Sparsity.of("" if name == "dense" else name), name)
        token = config.blocks * block + whole - block
        rate = device.clock_mhz * 1e6 / token
        print(
            f"rtl, {name}, behind 0: block {block:,}, head {whole - block:,}, token {token:,} cycles, {rate:.1f} token/s",
            flush=True,
        )


if __name__ == "__main__":
    main()
