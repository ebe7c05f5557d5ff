"""`fleet compile` of a language model: the accelerator's stages of one step, and the C++ header of all steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from fleet.cli.running.compiling import CompileRequest, show
from fleet.core.files import write_atomically
from fleet.errors import FleetError
from fleet.isa.registry import find_device
from fleet.llm.contestants import CompiledContestant, compile_model
from fleet.llm.load import LoadedLanguageModel, load_model
from fleet.llm.models import SHORT
from fleet.llm.quantisation import Quantisation
from fleet.llm.sparsity import Sparsity
from fleet.targets.accel.emit import STREAM_STAGES, stream_text, write_stream
from fleet.targets.driver.names import identifier


def execute_language_model(request: CompileRequest) -> int:
    """Print or write a stage. `batch`: new tokens of the step (1), at the beginning of the cache. Returns 0.

    Raises FleetError for what needs a program instead of a graph: another stage, a run, passes.
    """
    stage = request.stage
    if stage not in (*STREAM_STAGES, "hpp") or request.run or request.validation or request.pipeline or request.dumps:
        known = ", ".join((*STREAM_STAGES, "hpp"))
        raise FleetError("it is a language model, of which only a stage is shown", where=request.model, hint=f"--emit {known}")
    if request.weights or request.input_path or request.dynamic:
        hint = "leave --weights, --input and --dynamic out"
        raise FleetError("a language model has weights and dimensions of its own", where=request.model, hint=hint)
    if request.device is None:
        raise FleetError(f"--emit {stage} needs a device", hint="name one with --device, for instance hbm_small")
    name = identifier(request.out.stem) if request.out is not None and stage == "hpp" else "model"
    options = request.lowering
    aux = stage == "accel-aux" or options.issue == "aux"
    plan = replace(SHORT, tokens=max(SHORT.tokens, request.batch or 1))
    loaded = load_model(request.model)
    sparse = Sparsity.of(str(options.sparse or ""))
    choice = Quantisation(options.group or sparse.group, sparse=sparse)
    compiled = compile_model(
        loaded, plan, find_device(request.device)[1], choice, aux=aux, name=name,
        wt2hbm=options.load == "device",
    )  # fmt: skip
    if stage == "hpp":
        if request.out is None:
            show(compiled.module.get_source(), None)
        else:
            _write_header(loaded, compiled, request.out)
        return 0
    stream = compiled.module.stream(token=request.batch or 1, last_token=0)
    if request.out is None:
        show(stream_text(stage, stream), None)
    elif stage == "memory-map" and request.out.suffix == ".svg":
        from fleet.report.pictures.address_map import picture_file

        write_atomically(request.out, picture_file(compiled.module.storage.address_map(), "ddr").encode())
    else:
        write_stream(stage, request.out, stream)
    return 0


def _write_header(loaded: LoadedLanguageModel, compiled: CompiledContestant, path: Path) -> None:
    """The header, and beside it NAME.params with the parameters and the embedding's rows in FP16."""
    module, folder, plan = compiled.module, path.with_suffix(".params"), compiled.model.options
    config = loaded.weights.config
    module.write_params(folder)
    write_atomically(folder / "embedding.bin", np.ascontiguousarray(loaded.weights["embedding"], "<f2").tobytes())
    write_atomically(path, module.get_source().encode())
    macros = {
        "FLEET_HEADER": f"'\"{path.name}\"'", "FLEET_MODEL": module.name, "FLEET_CHANNELS": config.channels,
        "FLEET_TOKENS": plan.tokens, "FLEET_POSITIONS": min(plan.positions, config.context), "FLEET_ARGMAX": "output1",
    }  # fmt: skip
    given = " ".join([*(f"-D {key}={value}" for key, value in macros.items()), *(["-D FLEET_AUX"] if module.aux else [])])
    if config.learned_positions:
        told = "its program adds a position's row to a token's: `fleet generate --emit-host` writes one"
    else:
        told = f'fleet host build "$(fleet host include-dir)/greedy.cpp" -I {path.parent} {given} -o {path.stem}'
    click.echo(f"fleet: {told}", err=True)
