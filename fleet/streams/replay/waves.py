"""Waves of a divergence: replay it once more and record the cycles and units of the divergent instruction only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fleet.compare.diverged import Divergence
from fleet.engines.rtl_sim.expected import ExpectedCommit
from fleet.engines.rtl_sim.hardware import Hardware, Waves
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.rtl_sim.scopes import scopes_of
from fleet.streams.replay.history import MemoryHistory
from fleet.streams.replay.window import Fetch, play_window, replay

_BEFORE, _BEHIND = 16, 8  # cycles


def replay_with_waves(
    history: MemoryHistory, hardware: Hardware, expected: Sequence[ExpectedCommit], divergence: Divergence, path: Path,
    where: str, fetch: Fetch | None = None,
) -> Waves:  # fmt: skip
    """Replay the divergence and write waves to `path`: the cycles of the commit that differs, the units of its cause.

    Args:
        history, hardware, expected, fetch: as `replay` takes them; the hardware is of a build with waves.
        where: the stored result, for messages.

    Raises SimulationError if no replay shows the divergence.
    """
    seq, instruction = divergence.commit, divergence.instruction
    assert seq is not None
    assert instruction is not None
    history.to(seq)
    before = None if divergence.account is None else divergence.account.replayed
    shortest = 1 if before is None else before.calls - before.first  # a shorter window may differ in another way
    window = replay(history, hardware, expected, seq, None, fetch=fetch, shortest=shortest)
    if window is None:
        raise SimulationError("no replay shows the divergence: it does not happen again with these sources", where=where)
    start, end = window.replayed.start or 0, window.replayed.end or window.replayed.cycles
    scopes = scopes_of(history.instruction_set, instruction)
    waves = Waves(path.absolute(), (max(0, start - _BEFORE), end + _BEHIND), scopes)
    if play_window(history, hardware, expected, window, waves) is None:
        raise SimulationError("the replay did not show the divergence a second time", where=where)
    return waves
