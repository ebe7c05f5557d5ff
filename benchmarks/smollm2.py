"""SmolLM2-135M token by token: what a token costs on every engine, in one run.

    python benchmarks/smollm2.py [--engines vm,iss,rtl,riscv] [--tokens 8] [--device hbm0923] [--group 64] [--rounding compensated]

Prints seconds of quantising and compiling, of the prompt and of a decoded token on each engine, beside the figures that the
project sets itself, and the cycles of a token beside the traffic of weights and cache over the device's peak bandwidth. The wall
times are of a machine that nothing else uses; on two cores that are shared they are two to four times as long.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import time
from pathlib import Path

from fleet.cosim.generation import GenerationResult
from fleet.errors import FleetError
from fleet.isa.registry import find_device
from fleet.llm.config import preset
from fleet.llm.contestants import GenerateRequest, compile_model, generate
from fleet.llm.load import load_model
from fleet.llm.models import SHORT, ModelOptions, build_model
from fleet.llm.perplexity import bundled_text
from fleet.llm.quantisation import Quantisation, quantise_model
from fleet.targets.accel.build import build
from fleet.transforms.simplify.infer_types import infer_type

PROMPT = "What is the capital of France?"
WANTED = {"vm": 0.1, "iss": 0.5, "rtl": 10.0, "riscv": 20.0}
"""Seconds a decoded token."""
PREFILL = {"rtl": 180.0}
COMPILE = 60.0


def row(what: str, value: str, wanted: str = "", held: bool | None = None) -> None:
    """One line of the table."""
    print(f"{what:<58} {value:>14} {wanted:>14} {'' if held is None else 'ok' if held else 'NOT HELD'}", flush=True)


def compiling(device: str, group: int, rounding: str) -> None:
    """Quantising apart from compiling and packing; and the Llama-2-7B shape, which has no weights."""
    loaded = load_model("smollm2")
    start = time.perf_counter()
    choice = Quantisation(group, rounding)
    text = loaded.tokenizer.encode(bundled_text(*choice.texts)) if choice.texts else []
    quantise_model(loaded.weights, choice, text)
    quantised = time.perf_counter()
    compiled = compile_model(loaded, SHORT, find_device(device)[1], choice, aux=True)
    done = time.perf_counter()
    row(f"quantise ({choice}; kept in the cache)", f"{quantised - start:.1f} s")
    row("SmolLM2 to a binary and images", f"{done - quantised:.1f} s", f"{COMPILE:.0f} s", done - quantised <= COMPILE)
    row("bytes of the images", f"{sum(i[3].size for i in compiled.images):,}")
    start = time.perf_counter()
    try:
        model = build_model(preset("llama2-7b"), None, ModelOptions(tokens=32, positions=512))
        typed = infer_type(model.root, device, attrs={"last_token": model.last_token})
        module = build(typed, aux=True, build_config={"spill": True})
        calls = len(module.calls(token=1, last_token=0))
    except FleetError as error:
        row("Llama-2-7B's shape", "", f"{COMPILE:.0f} s", False)
        print(f"    {error}")
        return
    taken = time.perf_counter() - start
    row(f"Llama-2-7B's shape to {calls} instructions", f"{taken:.1f} s", f"{COMPILE:.0f} s", taken <= COMPILE)


def by_itself(tokens: int) -> None:
    """The golden with nothing beside it: between other engines its weights have left the processor's caches."""
    result = generate(load_model("smollm2"), GenerateRequest("smollm2", PROMPT, tokens, ("vm",)))
    (vm,) = result.engines
    token = statistics.median(s.seconds for s in vm.decode[1:] or vm.decode)
    row("vm by itself: decoded token", f"{token:.3f} s", f"{WANTED['vm']:.1f} s", token <= WANTED["vm"])


def engines(result: GenerationResult, alone: frozenset[str] = frozenset({"vm"})) -> None:
    """Seconds of prompt and token on each, medians; of those in `alone` the limit is held elsewhere."""
    for e in result.engines:
        if e.status != "ran" or not e.decode:
            row(e.name, e.error or "no step")
            continue
        prompt = sum(s.seconds for s in e.prefill)
        limit = PREFILL.get(e.name)
        row(
            f"{e.name}: prompt of {len(result.identity.prompt_tokens)} tokens", f"{prompt:.2f} s",
            f"{limit:.0f} s" if limit else "", prompt <= limit if limit else None,
        )  # fmt: skip
        # The first decoded token makes programs and reads values inside: the others are what a token takes.
        later = e.decode[1:] or e.decode
        token, wanted = statistics.median(s.seconds for s in later), None if e.name in alone else WANTED.get(e.name)
        row(
            f"{e.name}: decoded token", f"{token:.3f} s", f"{wanted:.1f} s" if wanted else "",
            token <= wanted if wanted else None,
        )  # fmt: skip


def cycles(result: GenerationResult, group: int) -> None:
    """Of the last token, beside its traffic."""
    rtl = result.engine("rtl")
    if rtl is None or not rtl.decode or result.identity.device is None:
        return
    step = rtl.decode[-1]
    config = preset("smollm2-135m")
    cache = 4 * config.blocks * config.kv_channels * (step.position + 1)
    limit = (Quantisation(group).stored_bits(config) / 8 + cache) / result.identity.device.limits["hbm_bytes_per_cycle"]
    row("cycles of a prompt", f"{sum(s.cycles or 0 for s in rtl.prefill):,}")
    row(f"cycles of the token at position {step.position}", f"{step.cycles:,}")
    ratio = (step.cycles or 0) / limit
    row("... over its weights and cache at peak bandwidth", f"{ratio:.2f}", "2.0", ratio <= 2.0)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", default="vm,iss,rtl,riscv")
    parser.add_argument("--tokens", type=int, default=8)
    parser.add_argument("--device", default="hbm0923")
    parser.add_argument("--group", type=int, default=64)
    parser.add_argument("--rounding", default="corrected")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    row("figure", "measured", "wanted")
    compiling(given.device, given.group, given.rounding)
    request = GenerateRequest(
        "smollm2", PROMPT, given.tokens, tuple(given.engines.split(",")), given.device, memory="timed",
        quantisation=Quantisation(given.group, given.rounding), command=" ".join(["python", *sys.argv]),
    )  # fmt: skip
    by_itself(given.tokens)
    result = generate(load_model("smollm2"), request)
    engines(result)
    cycles(result, given.group)
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    row("peak memory, the simulation's process included", f"{own / 1e6:.2f} GB", "6 GB", own < 6e6)
    row("load of the machine", f"{os.getloadavg()[0]:.1f}")
    for e in result.engines:
        row(f"{e.name} says", repr(e.own_text))
    row("verdict", result.verdict)
    if given.report is not None:
        from fleet.report.run.generation import store_generation

        store_generation(result, given.report)
    sys.exit(result.verdict != "pass")


if __name__ == "__main__":
    main()
