"""Waves of a stored stream's divergence: its replay once more, and of that only the divergent instruction's cycles."""

from __future__ import annotations

from pathlib import Path

from fleet.cosim.files import check_writable
from fleet.cosim.replay.window import play_window, replay
from fleet.cosim.streams.bundle import NAME, load_bundle
from fleet.cosim.streams.case import StreamCase
from fleet.cosim.streams.divergent import history_of
from fleet.cosim.streams.locate import expected_of
from fleet.cosim.streams.run import StreamRunner
from fleet.engines.rtl_sim.build import wave_suffix
from fleet.engines.rtl_sim.hardware import Waves
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.rtl_sim.scopes import scopes_of
from fleet.errors import ModelError

__all__ = ["leave_waves"]

_BEFORE, _BEHIND = 16, 8  # cycles


def leave_waves(stored: Path, path: Path) -> Waves:
    """Replays the divergence in `stored` (a `stream.json`) and leaves waves of it in `path`, whose suffix becomes what is written.

    Raises:
        ModelError: no stored stream, or one without a divergence. SimulationError: no replay shows it.
    """
    if stored.name != NAME:
        raise ModelError("waves are made from stored streams", where=str(stored), hint=f"name a {NAME}, or run it with --report")
    bundle, arrays = load_bundle(stored)
    case: StreamCase = bundle.case(arrays, str(stored))
    if bundle.divergence is None or bundle.divergence.seq is None:
        raise ModelError("no commit differs in it: there is no place to show", where=str(stored))
    seq = bundle.divergence.seq
    if not 0 <= seq < len(case.calls):
        raise ModelError(f"instruction {seq} differs, it has {len(case.calls)}: the file is damaged", where=str(stored))
    check_writable(path.parent)
    with StreamRunner(case.device, power_on=bundle.power_on, flavour="waves") as runner:
        suffix = wave_suffix(runner.executable)
        expected = expected_of(runner.model(case))
        history = history_of(runner, case)
        history.to(seq)
        hardware = runner.replayed(case, bundle.setting)
        window = replay(history, hardware, expected, seq, None)
        if window is None:
            raise SimulationError("no replay shows the divergence: it does not show again in these sources", where=str(stored))
        start, end = window.replayed.start or 0, window.replayed.end or window.replayed.cycles
        path = path.with_suffix(suffix).absolute()
        waves = Waves(path, (max(0, start - _BEFORE), end + _BEHIND), scopes_of(runner.set, case.calls[seq].instruction))
        if play_window(history, hardware, expected, window, waves) is None:
            raise SimulationError("the replay did not show the divergence a second time", where=str(stored))
    return waves
