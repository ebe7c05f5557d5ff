"""Names of ports as tokens: where a word of a protocol may begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

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
ADDRESSES = re.compile(r"\w*(addr|address|adr)")
_ENDS = re.compile(r"([a-z]\w*?)2([a-z]\w*)")
_OTHER_WAY = {"in": "out", "out": "in", "input": "output", "output": "input"}
_READIES, _VALIDS = frozenset({"ready", "rdy", "stall", "wait", "hold"}), frozenset({"valid", "vld", "val"})
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


def names_of(leaves: Sequence[PortLeaf]) -> tuple[Tokens, ...]:
    """The tokens of all leaves of a top, what says the ends and the ways of a port read as its name."""
    told = sides(leaves)
    return tuple(_one_way(leaves, _two_ends(_turned(leaves, [tokens(leaf, told) for leaf in leaves]))))


def _one_way(leaves: Sequence[PortLeaf], found: Sequence[Tokens]) -> Iterator[Tokens]:
    """Names whose first two words say who drives (`cl_sh_ddr_wdata`, `sh_cl_ddr_bid`): both ways become one.

    That is so where each name with one order is an output and each with the other one an input.
    """
    ways: dict[tuple[str, str], set[str]] = {}
    for leaf, t in zip(leaves, found, strict=True):
        if len(t.words) > 2:
            ways.setdefault((t.words[0], t.words[1]), set()).add(leaf.direction)
    for t in found:
        first, second = t.words[:2] if len(t.words) > 2 else ("", "")
        swapped = first != second and ways.get((first, second)) == {"in"} and ways.get((second, first)) == {"out"}
        yield replace(t, words=(second, first, *t.words[2:])) if swapped else t


def _turned(leaves: Sequence[PortLeaf], found: Sequence[Tokens]) -> list[Tokens]:
    """Names whose "in" and "out" say the direction of the port and not of the stream: `ready_out` beside `valid_in`.

    That is so where a ready goes the way that its name says and a valid of the other word goes the other way: of a stream `in`
    the ready would be an output. Such a ready gets the word of its stream.
    """
    names = {(t.words, leaf.direction) for leaf, t in zip(leaves, found, strict=True)}
    return [replace(t, words=_of_its_stream(leaf, t.words, names)) for leaf, t in zip(leaves, found, strict=True)]


def _of_its_stream(leaf: PortLeaf, words: tuple[str, ...], names: Set[tuple[tuple[str, ...], str]]) -> tuple[str, ...]:
    """The words of a name, of a ready those that are in the names of its stream. names: (words, direction) of all leaves."""
    place = len(words) - 1 if words[-1] in _OTHER_WAY else 0
    other = _OTHER_WAY.get(words[place], "")
    if not other or leaf.direction != words[place].removesuffix("put"):
        return words
    turned = (*words[:place], other, *words[place + 1 :])
    readies = [at for at, word in enumerate(turned) if word in _READIES]
    valids = ((*turned[:at], valid, *turned[at + 1 :]) for at in readies for valid in _VALIDS)
    return turned if any((name, other.removesuffix("put")) in names for name in valids) else words


def _two_ends(found: Sequence[Tokens]) -> list[Tokens]:
    """Names of a bus whose requests and answers say both ends in turn (`csb2dla_addr`, `dla2csb_data`): one port, the way of the
    addresses names it, and what comes back is its response.
    """
    firsts = {t.words[0] for t in found}
    asks = {t.words[0] for t in found if len(t.words) > 1 and ADDRESSES.fullmatch(t.words[-1])}
    back: dict[str, str] = {}
    for first in asks:
        ends = _ENDS.fullmatch(first)
        answer = f"{ends[2]}2{ends[1]}" if ends is not None else ""
        if answer in firsts - asks:
            back[answer] = first
    return [replace(t, words=(back[t.words[0]], "rsp", *t.words[1:])) if t.words[0] in back else t for t in found]
