"""The shortest window of instructions, ending at a divergence, that shows it again; the whole stream if that is cheaper.

Both engines agreed up to the last good commit, so memory is taken from the functional model. A fault that needs earlier
instructions, or the state that they left in the hardware, does not show at once: the window doubles until it does, at last to the
whole stream. A replay counts only if it ends in a difference at the same instruction. A window ends at the divergence. If that
instruction wrote more bytes than it should, the instructions after it are tried too, because one of them may have written before
its turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from fleet.compare.account import Replayed
from fleet.engines.rtl_sim.expected import ANY_CAUSE, ExpectedCommit
from fleet.engines.rtl_sim.hardware import Hardware, Played, Waves
from fleet.engines.trace import Commit
from fleet.errors import FleetError
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory, as_bytes
from fleet.sdk import Call, Write
from fleet.streams.images import touched
from fleet.streams.model_side import refusal
from fleet.streams.replay.fillers import fillers
from fleet.streams.replay.history import MemoryHistory

Fetch = Callable[[Sequence[Call]], tuple[Sequence[Write], Sequence[Binary]]]
"""Calls -> the bytes that the hardware fetches them from, to be written to memory first, and their places."""

_CHUNK = 1 << 24
_JOB = 20_000
"""Cycles that are simulated in the time to write a job, set memory for it, and read what it left."""
_YOUNGER = 256
"""Most instructions after the divergent one that a window starts."""


@dataclass(frozen=True)
class Window:
    """A replay that showed the divergence; the hardware's memory is as it left it.

    played: its outcome. fetch: how its instructions were fetched, or None. blocks: what was put into memory to be fetched.
    filled: whether earlier instructions filled on-chip memories.
    """

    replayed: Replayed
    played: Played
    fetch: Fetch | None
    blocks: tuple[Write, ...] = ()
    filled: bool = True

    @property
    def found(self) -> Commit:
        """The divergent commit."""
        return self.played.commits[-1]


def agrees(expected: ExpectedCommit, found: Commit) -> bool:
    """Return whether a commit is the expected one, by the bench's rules."""
    if expected.error == ANY_CAUSE:
        cause = found.error != 0
    else:
        cause = expected.error == found.error and expected.result == found.result
    return cause and (expected.digest, expected.bytes_written) == (found.digest, found.bytes_written)


def replay(
    history: MemoryHistory, hardware: Hardware, expected: Sequence[ExpectedCommit], seq: int, found: Commit | None, *,
    fetch: Fetch | None = None, shortest: int = 1, seconds: float = 600.0,
) -> Window | None:  # fmt: skip
    """Find the shortest window (of `shortest`, twice as many, ... instructions) in which instruction `seq` differs again.

    Args:
        history: of the stream; left before instruction `seq`.
        hardware: its memory is overwritten, and is afterwards as the divergent instruction left it.
        expected: of all instructions up to `seq`.
        found: commit of the run at `seq`; a window with another difference counts only if none shows this one. None: any
            difference counts.
        fetch: for a run whose instructions the hardware fetched: those of a window are fetched too, and if that does not show
            the difference, written to the registers.
        seconds: no further try begins after this time.

    Returns:
        The window, or None if no window shows it: then earlier instructions, or their timing, matter in a way that a replay does
        not repeat.
    """
    start = time.monotonic()
    tries: list[int] = []
    kept: Window | None = None
    longest = seq + 1 - history.first
    length = min(shortest, longest)
    # Extra bytes may come from an instruction that did not wait for its turn.
    extra = found is None or found.bytes_written > expected[seq].bytes_written
    behind = sorted({0, min(len(history.calls) - 1 - seq, _YOUNGER) if extra else 0})
    while True:
        as_left = found is not None and not tries
        dearer = _dearer(history, hardware, seq, length)
        if dearer and not as_left:
            length = longest
        tries.append(length)
        ways = [fetch, None] if fetch is not None else [None]
        filled_ways = [] if dearer and as_left else ways
        # On-chip memory after the run is mostly what the window found there; only a difference in the same bytes proves it.
        fills = [*(((ways[0], False),) if as_left else ()), *((w, True) for w in filled_ways)]
        for younger, (way, fill) in product(behind, fills):
            tried = _try(history, hardware, expected, seq, length, way, fill=fill, younger=younger)
            if tried is None:
                continue
            played, filled, blocks = tried
            last = played.commits[-1]
            same = found is None or _made(last) == _made(found)
            if not fill and not same:
                continue
            spans = (played.starts[-1], played.ends[-1])
            replayed = Replayed(
                seq + 1 - length, seq + 1, tuple(tries), filled, "regs" if way is None else "aux", same, played.cycles,
                time.monotonic() - start, *spans, younger or None,
            )  # fmt: skip
            if same:
                return Window(replayed, played, way, blocks, filled=fill)
            kept = kept or Window(replayed, played, way, blocks)
        if length == longest or time.monotonic() - start > seconds:
            break
        length = min(2 * length, longest)
    if kept is None:
        history.to(seq)
        return None
    again = play_window(history, hardware, expected, kept)  # memory is that of a later try
    return replace(kept, played=again) if again is not None else None


def _dearer(history: MemoryHistory, hardware: Hardware, seq: int, length: int) -> bool:
    """Return whether a window with its fillers takes longer than the whole stream, by the instructions' costs.

    The fillers run in one job per consecutive run of them, and memory is set before each job.
    """
    first = seq + 1 - length
    outside = {space for space, _ in hardware.memory.paths}
    if hardware.whole:
        return False
    earlier = fillers(history.instruction_set, history.device, history.calls, first, seq, outside)
    if first == history.first or not earlier:
        return False

    def cost(numbers: Iterable[int]) -> int:
        calls = [history.calls[n] for n in numbers]
        classes = [history.instruction_set.instructions[c.instruction] for c in calls]
        taken = [(k, c) for k, c in zip(classes, calls, strict=True) if not refusal(k, history.device, c.fields)]
        return sum(k.cost(history.device, c.fields) for k, c in taken)

    jobs = len(_runs(earlier))  # besides the window's own job, which both have
    return cost(earlier) + cost(range(first, seq + 1)) + jobs * _JOB > cost(range(history.first, seq + 1))


def play_window(
    history: MemoryHistory, hardware: Hardware, expected: Sequence[ExpectedCommit], window: Window, waves: Waves | None = None
) -> Played | None:
    """Run the window once more, with waves if asked for. Returns None if it does not show the divergence this time."""
    seq = window.replayed.calls - 1
    tried = _try(
        history, hardware, expected, seq, seq + 1 - window.replayed.first, window.fetch, waves, fill=window.filled,
        younger=window.replayed.younger or 0,
    )  # fmt: skip
    return None if tried is None else tried[0]


def _made(c: Commit) -> tuple[object, ...]:
    return c.error, c.digest, c.bytes_written, c.result


def _try(
    history: MemoryHistory, hardware: Hardware, expected: Sequence[ExpectedCommit], seq: int, length: int, fetch: Fetch | None,
    waves: Waves | None = None, *, fill: bool = True, younger: int = 0,
) -> tuple[Played, int, tuple[Write, ...]] | None:  # fmt: skip
    """Run a window. younger: number of instructions after it that are started too.

    Returns what it left, the number of fillers and the blocks put into memory; None if it does not end in a difference at `seq`.
    """
    first = seq + 1 - length
    outside = {space for space, _ in hardware.memory.paths}
    wanted = fill and not hardware.whole  # settable memories need no fillers
    earlier = fillers(history.instruction_set, history.device, history.calls, first, seq, outside) if wanted else []
    calls = history.calls[first : seq + 1 + younger]
    try:
        if first == history.first or not fill:
            earlier = []
        for group in _runs(earlier):
            _fill(history, hardware, group, outside)
        history.to(first)
        copy_memory(history.memory, hardware.memory)
        start = first == history.first
        begun = hardware.begin(history.memory, history.undefined, first=start) if start or hardware.whole else None
        blocks, binaries = fetch(calls) if fetch is not None else ((), ())
        for b in blocks:
            hardware.memory.view(b.space, b.offset, b.data.size, b.bank)[:] = as_bytes(b.data)
        played = hardware.play(calls, first, expected[first : seq + 1], binaries=binaries, beats=True, waves=waves, begun=begun)
    except FleetError:  # a hang, a broken rule, an assertion; or on-chip memory that no known instruction fills
        return None
    finally:
        history.to(seq)
    commits = played.commits
    if len(commits) != length or agrees(expected[seq], commits[-1]):
        return None
    if not all(agrees(e, c) for e, c in zip(expected[first:seq], commits[:-1], strict=True)):
        return None
    return played, len(earlier), tuple(blocks)


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Group consecutive numbers."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and runs[-1][-1] == n - 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return runs


def _fill(history: MemoryHistory, hardware: Hardware, group: Sequence[int], outside: set[str]) -> None:
    """Run consecutive instructions again, with the inputs of their first run, for what they leave on the chip."""
    history.to(group[0])
    calls = history.calls[group[0] : group[-1] + 1]
    for call in calls:
        for r in history.instruction_set.instructions[call.instruction].reads(history.device, call.fields):
            if r.space in outside:
                view = history.memory.view(r.space, r.offset, r.size, r.bank)
                hardware.memory.view(r.space, r.offset, r.size, r.bank)[:] = view
    hardware.play(calls, group[0])


def copy_memory(source: MappedMemory, target: MappedMemory) -> None:
    """Copy all bytes behind ports; ranges that neither side ever touched are skipped."""
    for (space, bank), path in source.paths.items():
        size = path.stat().st_size
        for start, end in touched(path, target.paths[space, bank], size):
            for at in range(start, end, _CHUNK):
                n = min(_CHUNK, end - at)
                a, b = source.view(space, at, n, bank), target.view(space, at, n, bank)
                if not np.array_equal(a, b):
                    b[:] = a
