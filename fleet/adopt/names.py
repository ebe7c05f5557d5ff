"""Names of ports as tokens: where a word of a protocol may begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from fleet.adopt.ports import PortLeaf

CONTAINERS = frozenset({"req", "rsp", "resp", "request", "response", "h2d", "d2h", "m2s", "s2m", "rqst"})
"""Words that name one direction of a port that two structures make."""

_FILLERS = frozenset({"bits", "payload", "fragment"})
"""Words that Chisel and SpinalHDL put between a channel and its fields."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])")
_GLUED = re.compile(
    r"(H(?:ADDR|TRANS|WRITE|SIZE|BURST|PROT|MASTLOCK|WDATA|WSTRB|RDATA|READYOUT|READY|RESP|SEL|NONSEC|EXCL|EXOKAY)"
    r"|P(?:ADDR|SEL|ENABLE|WRITE|WDATA|RDATA|READY|SLVERR|STRB|PROT))(S|M|I|D|SYS|MST|SLV|[SM]?\d{1,2})"
)
"""A word of AMBA with the letter of its port behind it, as in ARM's own parts: HADDRS, HADDRM, HREADYOUTS, PSEL0."""
_SIDE = re.compile(r"[io]_(?!_)", re.I)
"""A name that begins with its direction; Amaranth's `i__valid` is of an interface `i`, Scala's `iBus` of a bus."""
_SUFFIXES: dict[str, bool] = {"i": False, "o": False, "io": False, "n": True, "ni": True, "no": True, "nio": True}
"""Last token of a name that is no word -> whether it says active low."""


@dataclass(frozen=True)
class Tokens:
    """A leaf's name.

    Attributes:
        words: lower case, without what says the direction and without fillers.
        low: whether a suffix says that it is active low.
        filled: number of words before the first filler, -1 without a filler.
        port_words: how many of `words` are the port's own; the others are of fields.
    """

    words: tuple[str, ...]
    low: bool
    filled: int
    port_words: int


_BOTH = frozenset({"i", "o"})


def sides(leaves: Iterable[PortLeaf]) -> frozenset[str]:
    """Return which of "i" and "o" say the direction where names begin with them: an input `o_data` makes "o" a name."""
    other = {leaf.port[0].lower() for leaf in leaves if _SIDE.match(leaf.port) and _says_otherwise(leaf)}
    return _BOTH - other


def _says_otherwise(leaf: PortLeaf) -> bool:
    return not leaf.fields and leaf.direction in ("in", "out") and (leaf.port[0] in "iI") != (leaf.direction == "in")


def _apart(piece: str) -> tuple[str, ...]:
    """A word, or the two of a word with the letter of its port behind it."""
    found = _GLUED.fullmatch(piece)
    return (piece,) if found is None else (found[1], found[2])


def tokens(leaf: PortLeaf, told: frozenset[str] = _BOTH) -> Tokens:
    """The tokens of a leaf's path. told: which of "i" and "o" at a name's beginning say its direction."""
    words: list[str] = []
    low, filled, port_words = False, -1, 0
    for depth, part in enumerate((leaf.port, *leaf.fields)):
        pieces = [w for piece in part.split("_") if piece for w in _CAMEL.split(piece)]
        found = [w.lower() for piece in pieces for w in _apart(piece)]
        mine = leaf.direction if depth == 0 and not leaf.fields else ""
        if len(found) > 1 and _SIDE.match(part) and mine and found[0] in told and (found[0] == "i") == (mine == "in"):
            found = found[1:]
        while len(found) > 1 and found[-1] in _SUFFIXES:
            last = found.pop()
            low = _SUFFIXES[last]
            if low:
                break
        for word in found:
            if word in _FILLERS and len(words) > 0:
                filled = len(words) if filled < 0 else filled
            else:
                words.append(word)
        if depth == 0:
            port_words = len(words)
    return Tokens(tuple(words), low, filled, port_words)
