"""Cycles of the digits models on vgemm beside what they are bound by: `python benchmarks/vgemm_cycles.py [--device vgemm16]`.

Limits are sums over the stream: what each module alone would take (the cost model), and beats of DDR. The stream is
issued as a binary, 360 images; every commit is compared with the functional model. A device takes about a minute, and
another for the first build of its simulation.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from fleet.cli.main import main
from fleet.cosim.models.loaded import load_model
from fleet.isa.registry import find_device
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.stream import DeviceSegment

DIGITS = Path(__file__).parents[1] / "examples" / "digits"
MODELS = {
    "digits": ("model.py", "weights.npz", "test.npz"),
    "conv_int8": ("conv_int8.py", "conv_int8_weights.npz", "conv_int8_test.npz"),
}


def limits(device: str, model: str) -> tuple[int, int, int]:
    """(instructions, cycles of the busiest module alone, beats of DDR)."""
    source, weights, inputs = MODELS[model]
    found, chip = find_device(device)
    program = load_model(f"{DIGITS / source}:forward", DIGITS / weights, DIGITS / inputs, 0, None).program
    calls = [c for s in compile_accel(program, found, chip).steps if isinstance(s, DeviceSegment) for c in s.calls]
    busy: dict[str, int] = {}
    moved = 0
    for call in calls:
        cls = found.instructions[call.instruction]
        kind = call.fields.get("load_w0", 0) >> 7 & 7
        module = "load" if cls.name == "load" and kind in {1, 2} else "store" if cls.name == "store" else "compute"
        busy[module] = busy.get(module, 0) + cls.cost(chip, call.fields) - 8  # the dispatcher's part overlaps
        moved += sum(r.size for r in (*cls.reads(chip, call.fields), *cls.writes(chip, call.fields)) if r.space == "ddr")
    return len(calls), max(busy.values()), -(-moved // 64)


def cycles(device: str, model: str, memory: str) -> int:
    """Of the hardware."""
    source, weights, inputs = MODELS[model]
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        code = main([
            "cosim", f"{DIGITS / source}:forward", "--weights", str(DIGITS / weights), "--input", str(DIGITS / inputs),
            "--engines", "iss,rtl",
            "--device", device, "--issue", "aux", "--memory", memory, "--report", folder,
        ])  # fmt: skip
        if code:
            raise SystemExit(f"{model} on {device} failed")
        result = json.loads((Path(folder) / "result.json").read_text())
    return next(int(e["cycles"]) for e in result["engines"] if e["name"] == "rtl")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", action="append", help="may be given several times (default vgemm_small)")
    rows: list[str] = []
    for device in parser.parse_args().device or ["vgemm_small"]:
        for model in MODELS:
            count, busiest, beats = limits(device, model)
            ideal, timed = cycles(device, model, "ideal"), cycles(device, model, "timed")
            rows.append(
                f"| {device} | {model} | {count:,} | {beats:,} | {busiest:,} | {ideal:,} | {100 * busiest / ideal:.1f} % | "
                f"{timed:,} | {100 * busiest / timed:.1f} % |"
            )
    print("| device | model | instructions | beats of DDR | busiest module | ideal | of that | timed | of that |")
    print("|---|---|---|---|---|---|---|---|---|")
    print("\n".join(rows))
