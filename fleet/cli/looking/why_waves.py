"""`fleet why --waves`: replays a stored failure and records waves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fleet.core.scratch import Scratch
from fleet.errors import ModelError
from fleet.report.run.why import RESULT, StoredFailure

if TYPE_CHECKING:
    from fleet.engines.rtl_sim.hardware import Waves


def waves_of(failure: StoredFailure, path: Path) -> Waves:
    """Return the waves of a stored stream, or of a stored result of `fleet cosim` or `fleet case run`, which is run again.

    Raises ModelError if no commit differs or the model has changed; SimulationError if no replay shows the failure.
    """
    from fleet.streams.waves import leave_waves

    if failure.path.name != RESULT:
        return leave_waves(failure.path, path)
    from fleet.cli.looking.made_again import made_again
    from fleet.compare.compiled_stream import open_stream
    from fleet.core.files import check_writable
    from fleet.cosim.result import CosimResult
    from fleet.engines.base import RunOptions
    from fleet.streams.replay.model import leave_model_waves

    where, d = str(failure.path), failure.divergence
    if d is None or d.commit is None or d.comparison != "rtl-vs-iss":
        raise ModelError("no commit of rtl differs from that of iss: there is no place to show", where=where)
    model, _, options = made_again(failure.request, failure.path)
    stored = CosimResult.load(failure.path).identity
    assert options.device is not None
    if model.program.hash != stored.program_hash:
        raise ModelError(
            f"the model is program {model.program.hash[:16]} now, the result is of {stored.program_hash[:16]}", where=where,
            hint="run it again",
        )  # fmt: skip
    check_writable(path.absolute().parent)
    run = RunOptions(device=options.device, memory=options.memory, seed=options.seed, lowering=options.lowering)
    stream = open_stream(model.program, options.device, options.lowering)
    with Scratch("waves") as folder:
        return leave_model_waves(stream, model.inputs, run, d, path, where, folder)
