"""What SmolLM2 says and its perplexity on iss, beside the golden's, by quantisation: `python benchmarks/smollm2_choices.py`.

Needs the weights (`fleet models fetch smollm2`). Perplexity is of the first tokens of the bundled text, the same on both engines;
`benchmarks/smollm2_perplexity.py` measures the whole text on the golden. A choice prints its line as soon as it is measured.
"""

from __future__ import annotations

import argparse
from itertools import product

from fleet.llm.contestants import GenerateRequest, generate
from fleet.llm.load import load_model
from fleet.llm.quantisation import GROUPS, ROUNDINGS, Quantisation

HOSTS: tuple[tuple[str, ...], ...] = ((), ("head",))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--device", default="hbm0923")
    parser.add_argument("--prompt", default="What is the capital of France?")
    parser.add_argument("--tokens", type=int, default=8)
    parser.add_argument("--perplexity", type=int, default=64)
    parser.add_argument("--groups", type=int, nargs="+", default=list(GROUPS)[::-1])
    parser.add_argument("--roundings", nargs="+", default=list(ROUNDINGS))
    chosen = parser.parse_args()
    loaded = load_model(chosen.model)
    print("| head | group | rounding | perplexity, rounded golden | iss | answer of the rounded golden | answer of iss |")
    print("|---|---|---|---|---|---|---|", flush=True)
    groups: list[int] = chosen.groups
    roundings: list[str] = chosen.roundings
    for host, group, rounding in product(HOSTS, groups, roundings):
        request = GenerateRequest(
            chosen.model, chosen.prompt, chosen.tokens, ("vm", "iss"), chosen.device,
            quantisation=Quantisation(group, rounding, host), perplexity=chosen.perplexity,
        )  # fmt: skip
        result = generate(loaded, request)
        row = next(r for r in result.quantisation if r.chosen)
        said = {e.name: e.own_text for e in result.engines}
        print(
            f"| {'FP16, host' if host else 'INT4'} | {group} | {rounding} | {row.perplexity:.2f} | {row.iss_perplexity:.2f} "
            f"| {said['vm-rounded']} | {said['iss']} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
