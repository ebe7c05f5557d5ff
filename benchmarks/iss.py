"""MAC/s of engine iss on the 4096 x 256 product, digests on: `python benchmarks/iss.py [--repeat N]`.

Times one instruction through `execute_calls` (legality, semantics, bounds of the writes, digest, apply), the weights
having been unpacked by the first call, whose time stands apart. The last columns are the bound that the project sets
itself against an RTL simulation of 100 M MAC/s: 20 times as fast at 1 token, 80 times at 64.

On a machine that is busy, set OPENBLAS_NUM_THREADS=1: the threads of OpenBLAS spin while they wait for each other.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from fleet.engines.execute import execute_calls
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.sets.hbm0923.mvm_operands import MvmFields
from fleet.sets.hbm0923.weights import pack_weights

CHIN, CHOUT, GROUP = 4096, 256, 128
RTL_MACS_PER_S = 100e6
FACTOR = {1: 20, 64: 80}


def measure(name: str, tokens: int, repeat: int) -> tuple[float, float, float]:
    """(first call, best, median) in seconds."""
    instruction_set, device = find_device(name)
    rng = np.random.default_rng(tokens)
    codes = rng.integers(-7, 8, (CHIN, CHOUT)).astype(np.int8)
    scales = rng.uniform(0.001, 0.01, (CHIN // GROUP, CHOUT)).astype(np.float16)
    surface = tokens * 64
    x = rng.standard_normal((tokens, CHIN)).astype(np.float32)
    # A tile of as many tokens as the device's buffer holds, so that both devices do the same work.
    tile = min(tokens, device.parameters["DatDepth"] // (CHIN // device.parameters["Tin"]))
    output = x.size * 2
    with tempfile.TemporaryDirectory() as folder:
        memory = MappedMemory(device, Path(folder))
        memory.view("ddr", 0, x.size * 2)[:] = instruction_set.layout.pack(x)
        for port, data in enumerate(pack_weights(device, codes, scales, GROUP)):
            memory.view("hbm", 0, data.size, port)[:] = data
        calls = [
            Call(
                "mvm",
                MvmFields(
                    CHIN, CHOUT, min(tile, tokens - t), GROUP, t * 64, 0, output + t * 64, surface, surface, surface, surface
                ).encode(device),
            )
            for t in range(0, tokens, tile)
        ]
        times: list[float] = []
        for _ in range(repeat + 1):
            start = time.perf_counter()
            list(execute_calls(instruction_set, device, memory, calls, 0))
            times.append(time.perf_counter() - start)
        memory.close()
    return times[0], min(times[1:]), float(np.median(times[1:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=30)
    repeat = parser.parse_args().repeat
    head = ("device", "tokens", "first ms", "best ms", "median ms", "M MAC/s", "bound ms", "of the bound")
    print("".join(f"{h:>14}" for h in head))
    for name in ("hbm0923", "hbm_small"):
        for tokens, factor in FACTOR.items():
            first, best, median = measure(name, tokens, repeat)
            macs = tokens * CHIN * CHOUT
            bound = macs / RTL_MACS_PER_S / factor
            numbers = (f"{first * 1e3:.2f}", f"{best * 1e3:.3f}", f"{median * 1e3:.3f}", f"{macs / median / 1e6:.0f}")
            print("".join(f"{v:>14}" for v in (name, tokens, *numbers, f"{bound * 1e3:.3f}", f"{median / bound:.2f}")))


if __name__ == "__main__":
    main()
