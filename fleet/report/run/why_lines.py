"""The parts of an account in words: what replays showed, for the page of `fleet why` and for the divergence page."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.compare.account import DivergenceAccount, OperandLink


def tile_lines(account: DivergenceAccount) -> list[str]:
    """Describe the first wrong block of the destination."""
    t = account.tiles
    if t is None:
        return []
    return [f"{t.first} of {t.count} in the order of writing, {t.size} bytes at {t.place}; {t.count - t.wrong} of {t.count} agree"]


def beat_lines(account: DivergenceAccount) -> list[str]:
    """Describe the first wrong write, with its cycle in the replay."""
    b, r = account.beat, account.replayed
    if b is None:
        return []
    if b.cycle is None:
        return [f"none of {b.count} beats is wrong, one is missing: {b.place}, expected {b.expected}"]
    when = f", {b.cycle - r.start} cycles after the start" if r is not None and r.start is not None else ""
    head = f"beat {b.number} of {b.count}, cycle {b.cycle} of the replay{when}: {b.what} at {b.place}"
    return [head, f"  expected {b.expected}", f"  found    {b.found}"]


def chain_lines(chain: Sequence[OperandLink], most: int) -> list[str]:
    """Return one line per operand, those of the divergent instruction first; operands of earlier instructions are indented."""
    lines: list[str] = []
    for link in chain[:most]:
        source = link.words if link.writer is None else f"commit {link.writer} {link.words}"
        agreed = f", digest {link.digest} agreed" if link.digest else ""
        of = "" if link.depth == 0 else f"{link.reader}: "
        name = f"{link.field} -> " if link.field else ""
        lines.append(f"{'  ' * link.depth}{of}{name}{link.place} ({link.size:,} bytes): {source}{agreed}")
    if len(chain) > most:
        lines.append(f"... {len(chain) - most} more links, on the page of `fleet why -o PAGE.html`")
    return lines


def replay_lines(account: DivergenceAccount) -> list[str]:
    """Describe what ran again, and what did not run."""
    r = account.replayed
    if r is None:
        return ["no replay showed the difference again: what follows is what the run itself left"] if account.near else []
    count = r.calls - r.first
    which = f"instruction {r.first} alone" if count == 1 else f"instructions {r.first} to {r.calls - 1}"
    words = f"{which} of {r.calls} up to there, {r.cycles:,} cycles" + (f", {r.seconds:.2f} s" if r.seconds else "")
    if r.filled:
        words += f"; {r.filled} earlier ones ran once more for what they left on the chip"
    if r.younger:
        words += f"; {r.younger} younger ones were started behind it: the difference does not show without them"
    if len(r.tries) > 1:
        words += f"; shorter windows ({', '.join(map(str, r.tries[:-1]))}) did not show it: it depends on what ran before"
    lines = [words + ("" if r.same else "; it differs there too, in other bits than in the run")]
    if account.cut:
        lines.append("the run ended at this commit; what comes behind it was not run")
    return lines
