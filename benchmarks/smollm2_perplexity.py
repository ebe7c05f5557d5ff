"""Perplexity of SmolLM2 for each choice of quantisation, and what it costs on hbm0923: `python benchmarks/smollm2_perplexity.py`.

Needs the weights (`fleet models fetch smollm2`). Cycles are those of a token's matrix products, ideal and timed memory, by the cost
models that tests compare with the RTL; norms, attention and the rest are the same for every choice. Calibrated weights and scores
are kept in the cache, so a second run only prints.
"""

from __future__ import annotations

import argparse

from fleet.isa.registry import find_device
from fleet.llm.config import ModelConfig
from fleet.llm.load import load_model
from fleet.llm.perplexity_table import table
from fleet.llm.quantisation import GROUPS, ROUNDINGS, Quantisation
from fleet.sdk import Device
from fleet.sets.hbm0923.cycles.mvm import mvm_cycles
from fleet.sets.hbm0923.cycles.mvm_timed import timed_cycles
from fleet.sets.hbm0923.mvm_operands import MvmFields


def products(config: ModelConfig, head: bool) -> list[tuple[int, int, int]]:
    """(inputs, outputs, how often) of a token's products; q, k and v as one."""
    c = config
    found = [
        (c.channels, c.query_channels + 2 * c.kv_channels, c.blocks),
        (c.query_channels, c.channels, c.blocks),
        (c.channels, c.ffn, 2 * c.blocks),
        (c.ffn, c.channels, c.blocks),
    ]
    return [*found, (c.channels, c.vocabulary, 1)] if head else found


def cycles(device: Device, config: ModelConfig, group: int, head: bool) -> tuple[int, int]:
    """Of all products of one token: with ideal memory, and the mean with timed memory."""
    ideal = timed = 0
    for inputs, outputs, count in products(config, head):
        line = -(-outputs // 32) * 64
        o = MvmFields(
            chin=inputs, chout=outputs, tokens=1, tblk=group, input=0, weights=0, output=1 << 20, in_surface=64,
            in_line=-(-inputs // 32) * 64, out_surface=64, out_line=line,
        )  # fmt: skip
        ideal += count * mvm_cycles(device, o)
        timed += count * timed_cycles(device, o)
    return ideal, timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--groups", type=int, nargs="+", default=list(GROUPS)[::-1])
    parser.add_argument("--roundings", nargs="+", default=list(ROUNDINGS))
    model = parser.parse_args()
    loaded = load_model(model.model)
    config = loaded.weights.config
    _, device = find_device("hbm0923")
    choices = [Quantisation(g, r, host) for host in (("head",), ()) for g in model.groups for r in model.roundings]
    rows = table(loaded, choices)
    print(f"{rows[0].tokens} tokens; as shipped {rows[0].perplexity:.2f}")
    print("| head | group | bits a weight | rounding | perplexity | times | +- | cycles of the products, ideal | timed |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in rows[1:]:
        c = row.choice
        assert c is not None
        ideal, timed = cycles(device, config, c.group, "head" not in c.host)
        head = "FP16, host" if c.host else "INT4"
        print(
            f"| {head} | {c.group} | {c.bits:.3f} | {c.rounding} | {row.perplexity:.2f} | {row.ratio:.3f} | {row.error:.3f} "
            f"| {ideal:,} | {timed:,} |"
        )


if __name__ == "__main__":
    main()
