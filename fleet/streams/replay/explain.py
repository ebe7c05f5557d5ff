"""The divergence with everything that a replay showed: bytes and elements, tile, beat, fields, the chain of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fleet.compare.account import CommitSpan, DivergenceAccount, FirstBeat
from fleet.compare.diverged import Divergence, ElementDifference
from fleet.compare.divergence import Locate, Operands, StreamEvidence, explain
from fleet.engines.rtl_sim.beats import Beat
from fleet.engines.rtl_sim.hardware import Played
from fleet.engines.trace import Commit, Trace
from fleet.errors import FleetError
from fleet.sdk import Write
from fleet.streams.images import ImageHolder, differences
from fleet.streams.locate import depends_on, outside
from fleet.streams.replay.chain import HostNames, chain
from fleet.streams.replay.early import Early, written_early
from fleet.streams.replay.history import MemoryHistory
from fleet.streams.replay.places import first_beat, first_tile, pattern
from fleet.streams.replay.suppose import address_fields, supposed
from fleet.streams.replay.window import Window

_SHOWN = 16


@dataclass(frozen=True)
class ReplayContext:
    """Knowledge of the caller besides memory.

    locate, operands, damage: as in `StreamEvidence`. host: see `HostNames`. source: source line of the operation.
    near: commits around the divergence. cut: whether the run ended there.
    digests: number of a commit -> digest that both engines agreed on.
    seconds: time limit of the experiments (what the element depends on, which field would explain it).
    """

    locate: Locate | None = None
    operands: Operands | None = None
    host: HostNames | None = None
    source: str = ""
    near: tuple[CommitSpan, ...] = ()
    cut: bool = False
    damage: tuple[str, ...] = ()
    digests: Mapping[int, int] = field(default_factory=dict[int, int])
    seconds: float = 4.0


def account(
    divergence: Divergence, history: MemoryHistory, after: ImageHolder, expected: Commit, found: Commit, window: Window | None,
    known: ReplayContext,
) -> Divergence:  # fmt: skip
    """Return the divergence with its account. Parts that are not available are left out; nothing is raised for them.

    Args:
        divergence: what is known so far; its `seq` is a number in the history's calls.
        history: of the functional model. after: memory of the hardware as the divergent instruction left it.
        expected, found: the commit on both sides, as the run left them.
        window: the replay that made `after`; None if no replay showed the divergence: `after` is then from the run itself.
    """
    seq = divergence.seq
    assert seq is not None
    instruction_set, device, calls = history.instruction_set, history.device, history.calls
    call = calls[seq]
    try:
        history.to(seq)
    except FleetError:
        return divergence
    before = history.memory
    if window is not None:
        found = window.found
        if window.replayed.younger:
            beats = _beats(window.played)
            early = written_early(history, seq, window.replayed.younger, beats)
            if early is not None:
                return _of_early(divergence, history, early, len(beats), window, known)
    evidence = StreamEvidence(
        instruction_set, device, calls, after.memory, known.locate, known.operands, known.damage, before=before
    )  # fmt: skip
    reference, other = (Trace(e, "", commits=[replace(c, seq=seq)]) for e, c in (("iss", expected), ("rtl", found)))
    divergence = explain(divergence, reference, other, evidence)
    told = DivergenceAccount(
        source=known.source, replayed=window.replayed if window else None, near=known.near, cut=known.cut,
        chain=chain(instruction_set, device, calls, seq, known.digests, known.host),
    )  # fmt: skip
    writes = _writes(history)
    if writes:
        told = replace(told, tiles=first_tile(device, writes, after.memory), pattern=pattern(writes, after.memory, before))
        if window is not None:
            told = replace(told, beat=first_beat(device, writes, _beats(window.played)))
    if divergence.differences:
        d = divergence.differences[0]
        told = replace(told, address=address_fields(instruction_set, device, call, d.space, d.bank, d.address))
        if not known.operands:
            lines = depends_on(instruction_set, device, call, before, d, known.seconds / 2)
            divergence = replace(divergence, inputs=(*lines, *divergence.inputs))
    if writes and not found.error:
        told = replace(
            told, supposed=supposed(
                instruction_set, device, calls, seq, before, found.digest, found.bytes_written, known.seconds / 2
            )
        )  # fmt: skip
    divergence = _strays(divergence, history, after, window, refused=bool(expected.error))
    history.to(seq)
    return replace(divergence, account=told)


def _of_early(
    divergence: Divergence, history: MemoryHistory, early: Early, beats: int, window: Window, known: ReplayContext
) -> Divergence:
    """Return the divergence at the instruction that wrote before its turn. divergence: at the commit that counts its bytes."""
    device, at = history.device, divergence.seq
    place = device.place(*early.bytes_[0][:3])
    what = (
        f"wrote {len(early.bytes_):,} bytes before its turn, the first at {place}: instruction {at} ({divergence.instruction}) "
        f"had not committed, and its commit counts them ({divergence.what})"
    )
    call = history.calls[early.seq]
    divergence = replace(divergence, seq=early.seq, instruction=call.instruction, ops=call.ops, what=what)
    evidence = StreamEvidence(history.instruction_set, device, history.calls)
    divergence = explain(divergence, Trace("iss", ""), Trace("rtl", ""), evidence)
    shown: list[ElementDifference] = []
    for space, bank, address, value in early.bytes_[:_SHOWN]:
        old = f"{int(history.memory.view(space, address, 1, bank)[0]):#04x} (not written yet)"
        inside = None if space in device.memory else device.place(space, bank, address)
        shown.append(ElementDifference(space, bank, address, None, old, f"{value:#04x}", place=inside))
    b = early.beat
    told = DivergenceAccount(
        source=known.source, replayed=window.replayed, near=known.near, cut=known.cut, counted_by=at,
        beat=FirstBeat(b.cycle, early.number, beats, "too early", place, "nothing yet", b.data[b.written].tobytes().hex()),
        address=address_fields(history.instruction_set, device, call, *early.bytes_[0][:3]),
        chain=chain(history.instruction_set, device, history.calls, early.seq, known.digests, known.host),
    )  # fmt: skip
    return replace(divergence, differences=tuple(shown), total_differences=len(early.bytes_), account=told)


def _writes(history: MemoryHistory) -> list[Write]:
    try:
        return history.writes()
    except FleetError:
        return []


def _beats(played: Played) -> tuple[Beat, ...]:
    """Return the beats of the last commit; a beat on the very edge of the previous commit belongs to it."""
    *earlier, end = (0, *played.ends)
    first = max(earlier[-1] - 1, 0) if earlier else 0
    last = len(played.ends) - 1
    return tuple(b for b in played.beats if (b.commits == last if _inside(b.space) else first <= b.cycle < end - 1))


def _inside(space: str) -> bool:
    """Return whether the space is inside the hardware, where only observed writes show it."""
    return space not in ("ddr", "hbm")


def _strays(
    divergence: Divergence, history: MemoryHistory, after: ImageHolder, window: Window | None, *, refused: bool
) -> Divergence:
    """Add the differing bytes outside the destination to the divergence."""
    seq = divergence.seq
    assert seq is not None
    call = history.calls[seq]
    blocks = window.blocks if window is not None else ()
    try:
        history.to(seq + 1)
        bytes_ = differences(history, after)[0]
    except FleetError:
        return divergence
    bytes_ = [
        b
        for b in bytes_
        if not any(w.space == b.space and w.bank == b.bank and w.offset <= b.address < w.offset + w.data.size for w in blocks)
    ]
    stray = outside(history.instruction_set, history.device, call, bytes_, refused=refused)
    if not stray:
        return divergence
    return replace(
        divergence,
        what=f"{divergence.what}; {len(stray):,} bytes outside its destination differ",
        differences=(*divergence.differences, *stray[: max(1, _SHOWN - len(divergence.differences))]),
        total_differences=(divergence.total_differences or 0) + len(stray),
    )


def spans(expected: Sequence[Commit], found: Sequence[Commit], seq: int, around: int = 5) -> tuple[CommitSpan, ...]:
    """Return the commits around number `seq` of two lists that begin at 0, with the hardware's clock if it has one."""
    near: list[CommitSpan] = []
    for i in range(max(0, seq - around), min(len(expected), seq + around + 1)):
        other = found[i] if i < len(found) else None
        equal = None if other is None or i > seq else i < seq
        e = expected[i]
        near.append(CommitSpan(i, e.instruction, e.ops, other.start if other else None, other.end if other else None, equal))
    return tuple(near)
