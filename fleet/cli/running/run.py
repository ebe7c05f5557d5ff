"""`fleet run`: runs one engine, without a comparison."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click
import numpy as np

from fleet.cli.model import (
    accel_options,
    best_device,
    data_options,
    lowering,
    onnx_options,
    riscv_choice,
    riscv_options,
    say_widened,
)
from fleet.cli.outputs import print_outputs
from fleet.cli.progress import ProgressLine
from fleet.cli.running.stored import is_stored, on_the_vm, run_stored
from fleet.core.files import write_atomically
from fleet.cosim.models.loaded import load_model
from fleet.errors import FleetError, SetupError

_EPILOG = """\b
Examples:
  fleet run examples/add_sample.py
  fleet run examples/digits/model.py:forward --weights examples/digits/weights.npz --input examples/digits/test.npz -o out.npz
  fleet run examples/digits/model.py:forward --weights examples/digits/weights.npz --engines iss --device hbm_small
  fleet run --profile examples/digits/model.py:forward --weights examples/digits/weights.npz
  fleet run model.onnx --input x.npz        (inputs by their names in the graph)
  fleet run model.fbc --input x.npz         (a file that `fleet compile --emit bytecode -o model.fbc` wrote)
  fleet run model.elf --input x.npz         (a file that `fleet compile --emit riscv-asm -o model.elf` wrote, on an emulator)
"""


@click.command(name="run", epilog=_EPILOG)
@click.argument("model")
@click.option(
    "--engines",
    "engine",
    default="vm",
    show_default=True,
    help="One of vm, interp, cpython, onnxruntime, iss, rtl, riscv, aarch64, llvm-cpu, opencl, cuda, cvm, cvm-riscv, cvm-aarch64, "
    "mlir, iree, mixed; `fleet cosim` takes several.",
)
@onnx_options
@data_options
@click.option("--device", help="Device for iss and rtl; default: the one that runs the largest share.")
@click.option(
    "--memory",
    default="ideal",
    show_default=True,
    help="ideal, fixed[:cycles], stall[:seed] or timed[:seed], for rtl.",
)
@accel_options
@riscv_options
@click.option("--profile", is_flag=True, help="Print calls, time and bytes of every operation (engine vm), on standard error.")
@click.option("-o", "--output", "out", type=click.Path(path_type=Path), help="Write the outputs to this .npz.")
@click.option("--json", "as_json", is_flag=True, help="Counters and output shapes as JSON instead of text.")
def command(
    model: str,
    engine: str,
    weights: Path | None,
    input_path: Path | None,
    seed: int,
    batch: int | None,
    device: str | None,
    memory: str,
    issue: str,
    load: str,
    riscv_isa: str,
    riscv_emulator: str | None,
    profile: bool,
    out: Path | None,
    as_json: bool,
) -> int:
    """Run MODEL (path.py:function, path.py, an ONNX file, or a .fbc or .elf file of fleet) on one engine, print its outputs."""
    if "," in engine:
        raise FleetError(f"one engine, not {engine}", where="--engines", hint="`fleet cosim` runs several and compares them")
    counters: Mapping[str, float] = {}
    banner: str | None = None
    chose = click.get_current_context().get_parameter_source("engine") is not click.core.ParameterSource.DEFAULT
    if is_stored(model):
        if weights is not None:
            raise FleetError("has weights of its own", where=model, hint="leave --weights out")
        done = run_stored(
            model, engine if chose else None, input_path, profile=profile, quiet=as_json, emulator=riscv_emulator
        )  # fmt: skip
        engine, outputs, counters = done.engine, done.outputs, done.counters
        if not as_json:
            click.echo(done.printed, nl=False)
    elif profile and engine != "vm":
        raise FleetError(f"engine {engine} has no profile of operations", where="--profile", hint="use --engines vm")
    else:
        from fleet.engines.base import RunOptions
        from fleet.engines.registry import find_engine

        riscv = riscv_choice(riscv_isa, riscv_emulator) if engine == "riscv" else {}
        loaded = load_model(model, weights, input_path, seed, batch)
        say_widened(loaded.program)
        chosen = find_engine(engine).engine
        if device is None and (device := best_device(loaded.program, [engine])) is not None:
            print(f"fleet: device {device}: it runs the largest share of the model; --device names another", file=sys.stderr)
        if chosen.target == "accel" and device is None:
            raise FleetError(f"engine '{engine}' needs a device", where="--device", hint="name one, for example hbm_small")
        missing = chosen.available()
        if missing:
            raise SetupError(missing, where=f"engine {engine}")
        if loaded.banner:
            print(f"fleet: {loaded.banner}", file=sys.stderr)
            banner = loaded.banner
        if profile:
            from fleet.targets.bytecode.convert import ByteCodeConverter

            outputs = on_the_vm(ByteCodeConverter(loaded.program).convert(), loaded.inputs, profile, as_json)
            return _finish(outputs, {}, engine, banner, out, as_json)
        with ProgressLine(engine, enabled=not as_json) as progress:
            options = RunOptions(
                device=device, memory=memory, seed=seed, keep_tensors=False, progress=progress,
                lowering=lowering(None, issue, load), riscv=riscv,
            )  # fmt: skip
            trace = chosen.run(loaded.program, loaded.inputs, options)
        outputs, counters = trace.outputs, trace.counters
        if not as_json:
            click.echo(str(trace.meta.get("stdout", "")), nl=False)
    return _finish(outputs, counters, engine, banner, out, as_json)


def _finish(
    outputs: Mapping[str, np.ndarray],
    counters: Mapping[str, float],
    engine: str,
    banner: str | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Print and write the outputs."""
    if out is not None:
        buffer = io.BytesIO()
        np.savez(buffer, **outputs)  # pyright: ignore[reportArgumentType]
        write_atomically(out, buffer.getvalue())
    if as_json:
        shapes = {name: {"shape": list(a.shape), "dtype": a.dtype.name} for name, a in outputs.items()}
        table = {"engine": engine, "banner": banner, "outputs": shapes, "counters": counters}
        click.echo(json.dumps(table, indent=1))
        return 0
    print_outputs(outputs)
    for name in ("cycles", "instructions"):
        if name in counters:
            click.echo(f"{name} {counters[name]:,.0f}")
    if "cycles" not in counters and "cycles_estimate" in counters:
        click.echo(f"cycles {counters['cycles_estimate']:,.0f} (estimated)")
    return 0
