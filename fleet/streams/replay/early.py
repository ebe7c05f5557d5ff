"""Bytes that a commit counts but a younger instruction wrote: the younger one did not wait for its turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.engines.rtl_sim.beats import Beat
from fleet.errors import FleetError
from fleet.sdk import Write
from fleet.streams.replay.history import MemoryHistory


@dataclass(frozen=True)
class Early:
    """Early writes of instruction `seq`.

    bytes_: (space, bank, address, value) in order of time. beat: the first early beat. number: its index among the commit's beats.
    """

    seq: int
    bytes_: tuple[tuple[str, int, int, int], ...]
    beat: Beat
    number: int


def written_early(history: MemoryHistory, seq: int, younger: int, beats: Sequence[Beat]) -> Early | None:
    """Return the first of the `younger` instructions after `seq` whose bytes commit `seq` counts, or None.

    beats: the beats that the commit counts, in order of time. The history is left before instruction `seq`.
    """
    history.to(seq)
    outside = [
        (n, b.space, b.bank, b.offset + i, int(b.data[i]))
        for own in [history.writes()]
        for n, b in enumerate(beats)
        for i in range(b.written.size)
        if b.written[i] and not _writes(own, b.space, b.bank, b.offset + i)
    ]
    try:
        for later in range(seq + 1, seq + 1 + younger) if outside else ():
            history.to(later)
            destination = history.writes()
            found = [place for place in outside if _writes(destination, *place[1:4])]
            if found:
                number = found[0][0]
                return Early(later, tuple(place[1:] for place in found), beats[number], number)
    except FleetError:  # in a model, the host's part between two segments is unknown here
        return None
    finally:
        history.to(seq)
    return None


def _writes(writes: Sequence[Write], space: str, bank: int, address: int) -> bool:
    return any((w.space, w.bank) == (space, bank) and w.offset <= address < w.offset + w.data.size for w in writes)
