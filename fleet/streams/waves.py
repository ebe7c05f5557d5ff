"""Waves of a stored stream's divergence: replay it once more and record the divergent instruction's cycles only."""

from __future__ import annotations

from pathlib import Path

from fleet.core.files import check_writable
from fleet.engines.rtl_sim.build import wave_suffix
from fleet.engines.rtl_sim.hardware import Waves
from fleet.errors import ModelError
from fleet.streams.bundle import NAME, load_bundle
from fleet.streams.case import StreamCase
from fleet.streams.divergent import fetch_of, history_of
from fleet.streams.locate import expected_of
from fleet.streams.replay.waves import replay_with_waves
from fleet.streams.run import StreamRunner


def leave_waves(stored: Path, path: Path) -> Waves:
    """Replay the divergence in `stored` (a `stream.json`) and write its waves to `path`, with the suffix of the format written.

    Raises:
        ModelError: no stored stream, or one without a divergence.
        SimulationError: no replay shows the divergence.
    """
    if stored.name != NAME:
        raise ModelError("waves are made from stored streams", where=str(stored), hint=f"name a {NAME}, or run it with --report")
    bundle, arrays = load_bundle(stored)
    case: StreamCase = bundle.case(arrays, str(stored))
    if bundle.divergence is None or bundle.divergence.commit is None:
        raise ModelError("no commit differs in it: there is no place to show", where=str(stored))
    seq = bundle.divergence.commit
    if not 0 <= seq < len(case.calls):
        raise ModelError(f"instruction {seq} differs, it has {len(case.calls)}: the file is damaged", where=str(stored))
    check_writable(path.parent)
    with StreamRunner(case.device, power_on=bundle.power_on, flavour="waves") as runner:
        suffix = wave_suffix(runner.executable)
        expected = expected_of(runner.model(case))
        hardware = runner.replayed(case, bundle.setting)
        shown = path.with_suffix(suffix)
        history, fetch = history_of(runner, case), fetch_of(runner, case, bundle.setting)
        return replay_with_waves(history, hardware, expected, bundle.divergence, shown, str(stored), fetch)
