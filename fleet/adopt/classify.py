"""Finds out what the ports of a top mean by the set of their signals.

Every stretch of tokens of a name that is a word of a protocol makes that leaf a candidate; what stands before and behind the
word is the key of a group, so `m_axi_awaddr` and `m_axi_wdata` come together whatever the prefix is. Groups compete: the one that
explains the most ports holds, of two alike the protocol of lower rank. Nothing is mapped in part: a group that lacks a signal which
its protocol needs, or whose widths do not fit, is not mapped, and its ports say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath

from fleet.adopt.names import ADDRESSES, CONTAINERS, Tokens, names_of, tokens
from fleet.adopt.port_map import PortGroup, PortMap, Unmapped, lanes_of, left_out, problems
from fleet.adopt.ports import EdgeUse, Polarity, PortLeaf, Top
from fleet.adopt.protocols import PROTOCOLS
from fleet.core.unique import Taken
from fleet.sdk.ports import Protocol, Role, Signal

_WORD_TOKENS = 4
_ROLES: tuple[Role, ...] = ("manager", "subordinate")
_NEAR, _NEAR_SHARE = 5, 0.6
"""A group that lacks signals, yet has so many and such a share of a form, is that protocol with a fault and nothing else."""

_FIELDS = frozenset({
    "data", "dat", "wdat", "rdat", "pd", "pdata", "addr", "address", "id", "tag", "op", "opcode", "funct", "func", "cmd",
    "command", "len", "length", "size", "last", "first", "sop", "eop", "user", "strb", "wstrb", "keep", "mask", "rs1", "rs2", "rd",
    "a", "b", "c", "x", "y", "z", "result", "res", "value", "operand", "operand0", "operand1", "operand2", "opa", "opb",
    "opc", "write", "we", "inst", "instr", "instruction", "error", "err", "dest", "src", "source", "sink", "type", "count",
    "idx", "index", "msg", "nposted", "wdata", "rdata", "be", "byteen",
})  # fmt: skip
"""Payload signals of a stream whose port is not a structure and whose names have no filler."""

_CONTROLS = frozenset({
    "en", "ena", "enable", "start", "done", "busy", "idle", "irq", "clear", "clr", "flush", "stall", "full", "empty", "overflow",
    "state", "mode", "cfg", "config", "conf", "reset", "rst", "status", "debug", "dbg", "error", "err", "level", "size", "bypass",
    "sel", "select",
})  # fmt: skip
"""Words of what is set or seen by itself, and does not travel with a valid."""

_WAYS = frozenset({
    "io", "in", "out", "input", "output", "din", "dout", "i", "o", "s", "m", "src", "dst", "pre", "post", "op", "res", "result",
    "data", "up", "down", "0",
})  # fmt: skip
"""Names of streams that say a direction and nothing else."""

_STATES = frozenset({"count", "error", "err"})
"""Fields that may as well be what a design shows of itself."""

_NUMBERED = re.compile(r"([a-z]{1,12}?)(\d+|[ab])")

_CHANNELS = frozenset({"aw", "w", "b", "ar", "r"})
"""Channels of AXI, which some makers name once more in front of its signals."""

_ADDRESSES_OPEN = frozenset({"csr_bus", "strobe_memory", "two_port_sram"})
"""Protocols by which some makers have registers and others memories."""

_DIRECTED = re.compile(r"_(i|o|ni|no)\Z")

_SHORT = 2
"""Letters of a word behind a reset's that may be of its polarity (`rst_b`, `rst_x`, `rst_an`)."""

_KINDS = {"clock": "a clock", "reset": "an asynchronous reset"}

_Key = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Protocol, tokens before, tokens behind."""


@dataclass(frozen=True)
class _Match:
    """A leaf (its number) that a word makes a candidate for a signal."""

    leaf: int
    signal: Signal
    word: str


@dataclass(frozen=True)
class _Candidate:
    """A group and what it would be. faults: why it is not; aside: leaves that it leaves out, and why; guessed: leaves
    that its place and not their names tell.
    """

    key: _Key
    protocol: Protocol
    role: Role
    assigned: Mapping[str, tuple[_Match, ...]]
    faults: tuple[str, ...]
    aside: Mapping[int, str] = field(default_factory=dict[int, str])
    guessed: tuple[int, ...] = ()

    @cached_property
    def leaves(self) -> frozenset[int]:
        return frozenset(m.leaf for found in self.assigned.values() for m in found)

    def order(self) -> tuple[bool, int, bool, int, int, int]:
        """Smallest first."""
        p = self.protocol
        lacks = len(p.form_of(self.assigned.keys()) - self.assigned.keys())
        explained = len(self.leaves) + len(self.aside)
        return not p.first, -explained, bool(self.faults), lacks, p.rank, -len(self.key[1]) - len(self.key[2])

    def near(self) -> bool:
        """Return True if a faulty group is reported under this protocol: all or nearly all required signals are there."""
        p = self.protocol
        if p.single or p.payload or p.name == "done":
            return False
        form = p.form_of(self.assigned.keys())
        got = len(form & self.assigned.keys())
        return got == len(form) or (got >= _NEAR and got >= _NEAR_SHARE * len(form))


def classify(top: Top, protocols: Mapping[str, Protocol] = PROTOCOLS) -> PortMap:
    """The map of a top's ports, groups in the order of their first ports."""
    return _Classifier(tuple(top.leaves()), protocols, top).map(top.name)


class _Classifier:
    def __init__(self, leaves: tuple[PortLeaf, ...], protocols: Mapping[str, Protocol], top: Top) -> None:
        self._leaves, self._protocols = leaves, protocols
        self._polarities = {told.port: told for told in top.polarities}
        self._words = _words(protocols.values())
        self._patterns = tuple((p, s, re.compile(s.pattern)) for p in protocols.values() for s in p.signals if s.pattern)
        self._tokens = names_of(leaves)
        self._groups: dict[_Key, dict[_Match, None]] = {}
        for number in range(len(leaves)):
            for key, match in self._matches(number):
                self._groups.setdefault(key, {})[match] = None
        self._open = {p.name: p.interface for p in top.ports if p.interface and not p.modport}
        self._edges = {use.port: use for use in top.edges}
        self._by_edge = frozenset(self._edges_alone())
        self._free = set(range(len(leaves)))

    def map(self, name: str) -> PortMap:
        """Takes the best group until none is left; one that two leaves made unclear is clear once another group has one of them."""
        waiting = {key: c for key in self._groups if (c := self._best(key)) is not None}
        taken: list[_Candidate] = []
        faulty: list[_Candidate] = []
        while True:
            able = [c for c in waiting.values() if not c.faults or c.near()]
            if not able:
                break
            best = min(able, key=_Candidate.order)
            (faulty if best.faults else taken).append(best)
            self._free -= best.leaves
            unclear = [k for k in self._groups.keys() - waiting.keys() if any(m.leaf in best.leaves for m in self._groups[k])]
            for key in [*(k for k, c in waiting.items() if c.leaves & best.leaves), *sorted(unclear)]:
                again = self._best(key)
                if again is None:
                    waiting.pop(key, None)
                else:
                    waiting[key] = again
        taken = self._travelling(taken, list(waiting.values()))
        taken.sort(key=lambda c: min(c.leaves))
        names = Taken()
        left = set(range(len(self._leaves))).difference(*(c.leaves for c in taken))
        groups = tuple(self._group(c, names, left, taken) for c in taken)
        mapped = {path for g in groups for path in g.paths()}
        unmapped = tuple(
            Unmapped(leaf.path, self._reason(n, [*faulty, *waiting.values()], taken))
            for n, leaf in enumerate(self._leaves)
            if leaf.path not in mapped
        )
        return PortMap(name, groups, unmapped)

    # Which leaves may be what.

    def _matches(self, number: int) -> Iterator[tuple[_Key, _Match]]:
        t, leaf = self._tokens[number], self._leaves[number]
        words = t.words
        for protocol, signal, pattern in self._patterns:
            if protocol.never.intersection(words):
                continue
            found = [word for word in words if pattern.fullmatch(word)]
            if found:  # `dla_reset_rstn`: the word that tells the polarity
                telling = (word for word in found if signal.low and re.fullmatch(signal.low, word))
                yield (protocol.name, (leaf.path,), ()), _Match(number, signal, next(telling, found[0]))
        for i in range(len(words)):
            for j in range(i + 1, min(len(words), i + _WORD_TOKENS) + 1):
                word = "".join(words[i:j])
                if len(word) == len(words) == 1 and not _DIRECTED.search(leaf.port):
                    continue  # a letter alone says nothing, unless it says which way it goes
                known = self._words.get(word, ())
                rest: tuple[str, ...] = ()
                if not known and (numbered := _NUMBERED.fullmatch(word)) is not None:  # addr0, dina: of port 0, of port a
                    known, rest = self._words.get(numbered[1], ()), (str(numbered[2]),)
                    known = tuple(k for k in known if numbered[2].isdigit() or k[0] == "sram")
                for protocol, signal in known:
                    if self._protocols[protocol].never.intersection(words):
                        continue
                    if self._protocols[protocol].front and (i > 0 or j == len(words)):  # `RDY_put`: a name follows
                        continue
                    if self._protocols[protocol].single:
                        yield (protocol, (leaf.path,), ()), _Match(number, signal, word)
                        continue
                    before, behind = words[:i], (*rest, *words[j:])
                    keys = [(before, behind), (_loose(before), _loose(behind))]
                    if before and before[-1] in _CHANNELS and word.startswith(before[-1]):  # `core2dbb_aw_awvalid`
                        keys.append((before[:-1], behind))
                    for key in dict.fromkeys(keys):
                        yield (protocol, *key), _Match(number, signal, word)
                        if signal.open and key[1]:
                            yield (protocol, key[0], ()), _Match(number, signal, word)

    def _edges_alone(self) -> Iterator[str]:
        """Yield the clocks and resets that their edges tell, where the names of a top tell none: a strobe has edges, too."""
        named = {key[0] for key, found in self._groups.items() if any(self._leaves[m.leaf].direction == "in" for m in found)}
        for number, leaf in enumerate(self._leaves):
            use = self._edges.get(leaf.path)
            if use is not None and use.protocol in self._protocols and use.protocol not in named:
                [signal] = self._protocols[use.protocol].signals
                self._groups[use.protocol, (leaf.path,), ()] = {_Match(number, signal, self._tokens[number].words[-1]): None}
                yield leaf.path

    # What a group would be.

    def _best(self, key: _Key) -> _Candidate | None:
        matches = [m for m in self._groups[key] if m.leaf in self._free]
        if key[0] == "stream" and any(m.signal.name in ("start", "done") for m in self._groups.get(("done", *key[1:]), ())):
            matches = [m for m in matches if m.word != "busy"]  # that of a start, not of a stream
        found = [c for role in _ROLES if (c := self._candidate(key, role, matches)) is not None]
        return min(found, key=lambda c: (len(c.faults) > 0, -len(c.assigned), len(c.faults)), default=None)

    def _candidate(self, key: _Key, role: Role, matches: list[_Match]) -> _Candidate | None:
        protocol = self._protocols[key[0]]
        chosen: dict[int, _Match] = {}
        for m in matches:
            if self._fits(m, role, protocol) and (m.leaf not in chosen or len(m.word) > len(chosen[m.leaf].word)):
                chosen[m.leaf] = m
        assigned: dict[str, tuple[_Match, ...]] = {}
        for m in chosen.values():
            assigned[m.signal.name] = (*assigned.get(m.signal.name, ()), m)
        for name, found in assigned.items():
            plain = tuple(m for m in found if self._tokens[m.leaf].filled < 0)
            if len(plain) == 1 and not plain[0].signal.open:  # `req_bits_valid` is a field beside `req_valid`
                assigned[name] = plain
                for m in set(found).difference(plain):
                    del chosen[m.leaf]
        if protocol.name == "stream" and len(found := assigned.get("ready", ())) > 1:  # `in_ready` beside `in_busy` or `in_ack`
            words = found[0].signal.spellings
            best = min((m.word for m in found), key=words.index)
            assigned["ready"] = tuple(m for m in found if m.word == best)
            for m in set(found).difference(assigned["ready"]):
                del chosen[m.leaf]
        if any(len(found) > 1 and not found[0].signal.open for found in assigned.values()) or not assigned:
            return None
        lead = next((assigned[name][0] for name in protocol.leads if name in assigned), None)
        if protocol.payload and lead is not None and (found := tuple(self._payload(key, lead, set(chosen)))):
            assigned["payload"] = found
        leaves = {name: [self._leaves[m.leaf] for m in found] for name, found in assigned.items()}
        left = dict(left_out(protocol, role, leaves))
        aside = {m.leaf: fault for name, fault in left.items() for m in assigned.pop(name)}
        leaves = {name: found for name, found in leaves.items() if name not in left}
        reversed_ = [m for m in matches if m.leaf not in chosen and m.signal.name not in assigned]
        faults = tuple(problems(protocol, role, leaves))
        if faults and not protocol.single:
            faults = (*(self._reversed(m, role) for m in reversed_ if m.signal.name in faults[0]), *faults)
        return _Candidate(key, protocol, role, assigned, faults, aside)

    def _reversed(self, match: _Match, role: Role) -> str:
        leaf = self._leaves[match.leaf]
        return f"{leaf.path} is an {leaf.direction}put, {match.signal.name} of a {role} is the other direction"

    def _fits(self, match: _Match, role: Role, protocol: Protocol) -> bool:
        direction, output = self._leaves[match.leaf].direction, match.signal.is_output(role)
        if output is None and protocol.single:
            output = role == "manager"
        return output is None or direction == "inout" or output == (direction == "out")

    def _payload(self, key: _Key, valid: _Match, used: set[int]) -> Iterator[_Match]:
        """Yield the payload of a valid: leaves of its direction and key that are fields, or whose name is the key alone."""
        signal = self._protocols[key[0]].signal("payload")
        assert signal is not None
        _, before, behind = key
        of = self._leaves[valid.leaf]
        for n in sorted(self._free - used):
            t, leaf = self._tokens[n], self._leaves[n]
            if (leaf.direction != of.direction and signal.driver != "either") or leaf.count != of.count:
                continue
            method = len(behind) > 0 and signal.driver == "either" and t.words[: len(behind)] == behind
            if method or (before and t.words == before and not behind):
                yield _Match(n, signal, "_".join(t.words))
                continue
            ways = (t.words, _loose(t.words), _apart(t.words))
            rest = next((r for words in ways if (r := _between(words, before, behind)) is not None), None)
            if rest is None:
                continue
            if before or behind:  # `s_m2s_data` beside `s_m2s_valid` and `s_s2m_ready`
                rest = _loose(rest) or rest
            own = before and not behind and t.words[: t.port_words] == before  # `req_i.addr` beside `req_valid_i`
            field = leaf.fields and (leaf.port == of.port or own)
            filled = t.filled >= 0 and t.filled == len(before) == self._filled(valid)
            if not (before or behind) and rest and rest[0] in _STATES:
                continue  # of a port without a name: its level, not its word
            if filled or field or (rest and ("".join(rest) in _FIELDS or rest[0] in ("data", "payload"))):
                yield _Match(n, signal, "".join(rest))

    def _filled(self, valid: _Match) -> int:
        """Return the number of words in front of a valid."""
        t: Tokens = self._tokens[valid.leaf]
        return len(t.words) - 1

    def _travelling(self, taken: list[_Candidate], waiting: Sequence[_Candidate]) -> list[_Candidate]:
        """Return the groups, with the payload of streams that only its place tells: nothing else can be meant.

        A leaf that no group explains goes with the stream of its direction whose name begins or ends it, else with the one that
        has no payload and no name but a direction's. A valid by itself becomes a stream that way. Each such group is noted.
        """
        streams = [c for c in taken if c.protocol.name == "stream" and "valid" in c.assigned]
        alone: dict[int, _Candidate] = {}
        for c in waiting:
            if c.protocol.name == "stream" and set(c.assigned) == {"valid"} and c.leaves <= self._free:
                [leaf] = c.leaves
                alone[leaf] = min((c, alone.get(leaf, c)), key=lambda c: len(c.key[1]) + len(c.key[2]))
        self._free -= alone.keys()
        streams += alone.values()
        free = [n for n in sorted(self._free) if self._leaves[n].width > 0 and not _CONTROLS.intersection(self._tokens[n].words)]
        given: dict[_Key, list[_Match]] = {}
        for by_name in (True, False):
            bare = [c for c in streams if "payload" not in c.assigned and c.key not in given and _says_nothing(c.key)]
            for n in free:
                words, way = self._tokens[n].words, self._leaves[n].direction
                like = [c for c in (streams if by_name else bare) if self._leaves[c.assigned["valid"][0].leaf].direction == way]
                if by_name:
                    like = [c for c in like if _begins(words, c.key[1]) or (c.key[2] and words[-len(c.key[2]) :] == c.key[2])]
                    longest = max((len(c.key[1]) + len(c.key[2]) for c in like), default=0)
                    like = [c for c in like if len(c.key[1]) + len(c.key[2]) == longest]
                if len(like) == 1:
                    signal = like[0].protocol.signal("payload")
                    assert signal is not None
                    given.setdefault(like[0].key, []).append(_Match(n, signal, "_".join(words)))
            taken_by_name = {m.leaf for found in given.values() for m in found}
            free = [n for n in free if n not in taken_by_name]
        for c in streams:
            found = tuple(given.get(c.key, ()))
            assigned = {**c.assigned, "payload": (*c.assigned.get("payload", ()), *found)} if found else c.assigned
            leaves = {name: [self._leaves[m.leaf] for m in matches] for name, matches in assigned.items()}
            if not found or any(problems(c.protocol, c.role, leaves)):
                self._free |= c.leaves if c not in taken else set()
                continue
            self._free -= {m.leaf for m in found}
            grown = replace(c, assigned=assigned, faults=(), guessed=tuple(m.leaf for m in found))
            taken = [*(other for other in taken if other is not c), grown]
        return taken

    # What is said.

    def _group(self, c: _Candidate, names: Taken, left: set[int], taken: Sequence[_Candidate]) -> PortGroup:
        p = c.protocol
        low: list[str] = []
        notes: list[str] = []
        for name, found in c.assigned.items():
            is_low, note = self._polarity(found[0], p)
            low += [name] if is_low else []
            notes += [note] if note else []
        leaves = {name: [self._leaves[m.leaf] for m in found] for name, found in c.assigned.items()}
        before, behind = c.key[1:]
        if not p.single and (before or behind):
            like = [self._leaves[n].path for n in sorted(left) if _between(self._tokens[n].words, before, behind) is not None]
            notes += [f"named like {'_'.join((*before, *behind))} and not part of it: {', '.join(like)}"] if like else []
        if p.name == "done" and before and not behind:
            keys = [o.key[1] for o in taken if not o.protocol.single and not o.key[2]]
            above = ["_".join(key) for key in keys if key and key == before[: len(key)] != before]
            mine = ", ".join(self._leaves[n].path for n in sorted(c.leaves))
            notes += [f"named like {above[0]} and not part of it: {mine}"] if above else []
        if c.guessed:
            notes.append(f"by their place, not their names, it carries {', '.join(self._leaves[n].path for n in c.guessed)}")
        if p.name in _ADDRESSES_OPEN and c.role == "subordinate":
            notes.append("the names do not tell whether its addresses count words or bytes: shift of adopt.toml says")
        if p.name == "fifo_read" and c.role == "manager" and "valid" not in leaves:
            notes.append(
                "the names do not tell whether a word shows beside empty or behind its read: latency of adopt.toml says, 0 or 1"
            )
        if p.name == "stream" and "ready" not in leaves:
            notes.append("no ready: the receiver always takes")
        if p.name == "stream":
            payload = [leaf.path for leaf in leaves.get("payload", ()) if ADDRESSES.fullmatch(tokens(leaf).words[-1])]
            notes += [f"{', '.join(payload)} may be an address, and the group the requests of a memory"] if payload else []
        first = self._tokens[min(c.leaves)]
        text = self._leaves[min(c.leaves)].port if p.single else "_".join((*c.key[1], *c.key[2])) or first.words[0]
        wanted = text if p.single or c.key[1] or c.key[2] else p.name
        wanted = f"{p.name}_{wanted}" if wanted.isdecimal() else wanted
        return PortGroup(
            names.unique(wanted, "_"), p.name, c.role,
            {name: tuple(leaf.path for leaf in found) for name, found in leaves.items()},
            tuple(low), lanes_of(p, leaves), tuple(notes),
        )  # fmt: skip

    def _polarity(self, m: _Match, p: Protocol) -> tuple[bool, str]:
        """Return whether a signal is active low, and a note where its name alone does not tell."""
        leaf, words = self._leaves[m.leaf], self._tokens[m.leaf].words
        if leaf.path in self._by_edge:
            use = self._edges[leaf.path]
            return p.name == "reset" and use.low, f"{leaf.path} is taken for a {p.name} by {_said(use)}"
        trailing = "_" if leaf.path.endswith("_") else ""
        by_name = self._tokens[m.leaf].low or bool(m.signal.low and re.fullmatch(m.signal.low, m.word + trailing))
        is_reset = p.name == "reset"
        if p.name == "stream" and m.word == "ack":
            return self._tokens[m.leaf].low, f"{leaf.path} is taken for its ready: a word is taken in the cycle with both"
        if p.name == "stream" and _holds(m):  # `stall_n` is a ready
            low = not self._tokens[m.leaf].low
            return low, f"{leaf.path} is taken for its ready, active {'low' if low else 'high'}"
        by_name = by_name or (is_reset and (words[0] == "n" or "low" in words))
        odd = is_reset and words[-1] != m.word and len(words[-1]) <= _SHORT and not words[-1].isdecimal()
        unsure = not by_name and ((trailing and m.signal.widths == (1,)) or m.word in m.signal.unsure or odd)
        told = None if leaf.fields else self._polarities.get(leaf.port)
        if told is not None and (is_reset or m.word in m.signal.unsure):
            if told.low is None:
                return by_name, f"the sources use {leaf.path} as active low and as active high"
            said = f"{leaf.path} is active {'low' if told.low else 'high'}: {_said(told)}"
            return told.low, said if told.low != by_name or unsure else ""
        return by_name, f"the name {leaf.path} does not tell whether it is active low" if unsure else ""

    def _reason(self, number: int, rejected: list[_Candidate], taken: list[_Candidate]) -> str:
        leaf = self._leaves[number]
        if leaf.width == 0:
            return "it is not made of bits"
        aside = next(((c, c.aside[number]) for c in taken if number in c.aside), None)
        if aside is not None:
            return f"left out of {aside[0].protocol.title}: {aside[1]}"
        near = [c for c in rejected if c.faults and number in c.leaves and (len(c.leaves) > 2 or c.protocol.single)]
        best = max(near, key=lambda c: (len(c.leaves), -c.protocol.rank), default=None)
        interface = self._open.get(leaf.port, "") if leaf.direction == "inout" else ""
        if interface and (best is None or "no direction" not in best.faults[0]):
            return f"its interface {interface} has no modport in the port list, so who drives it is not known"
        if best is None:
            bare = [c for c in taken if c.protocol.name == "stream" and "payload" not in c.assigned]
            like = [c for c in bare if (c.role == "manager") == (self._leaves[number].direction == "out")]
            if like:
                names = " or ".join("_".join((*c.key[1], *c.key[2])) or "the stream" for c in like)
                return f"no protocol has a signal of that name beside its others; it may travel with {names}, which has no payload"
            use = self._edges.get(self._leaves[number].path)
            said = f"; the sources have it as {_KINDS[use.protocol]}: {_said(use)}" if use is not None else ""
            return f"no protocol has a signal of that name beside its others{said}"
        return f"like {best.protocol.title} ({best.role}), but {best.faults[0]}"


def _said(use: Polarity | EdgeUse) -> str:
    """A use in the sources and its place."""
    file, _, line = use.where.rpartition(":")
    return f"`{use.text}` at {PurePath(file).name}:{line}"


def _holds(match: _Match) -> bool:
    """Return whether a ready is called by its opposite."""
    return match.signal.name == "ready" and re.fullmatch(match.signal.low, match.word) is not None


def _says_nothing(key: _Key) -> bool:
    """Return whether a stream's name is only a direction ("in", "out"): any port of that direction may be its data."""
    return {*key[1], *key[2]} <= _WAYS


def _begins(words: tuple[str, ...], before: tuple[str, ...]) -> bool:
    """Whether a name begins with that of a stream; of its fields, with a letter or a
    number behind it (`sx_data` of `s_valid`, `sum0` of `sum_valid`).
    """
    end = len(before)
    if not before or words[:end] == before:
        return bool(before)
    stem = words[end - 1] if len(words) >= end and words[: end - 1] == before[:-1] else ""
    more = stem.removeprefix(before[-1])
    if more == stem or len(more) > 2:
        return False
    return more.isdecimal() if len(words) == end else "".join(words[end:]) in _FIELDS


def _apart(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name whose last one ends in the number of its port (`data0` beside `valid0`)."""
    numbered = _NUMBERED.fullmatch(words[-1]) if words else None
    return (*words[:-1], numbered[1], numbered[2]) if numbered is not None and numbered[2].isdigit() else words


def _loose(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(w for w in words if w not in CONTAINERS)


def _between(words: tuple[str, ...], before: tuple[str, ...], behind: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the words between the two ends of a key; None if the name has other ends."""
    end = len(words) - len(behind)
    return words[len(before) : end] if words[: len(before)] == before and words[end:] == behind and end >= len(before) else None


def _words(protocols: Iterable[Protocol]) -> Mapping[str, tuple[tuple[str, Signal], ...]]:
    """Word -> (protocol, signal)."""
    found: dict[str, tuple[tuple[str, Signal], ...]] = {}
    for p in protocols:
        for s in p.signals:
            for word in s.spellings:
                found[word] = (*found.get(word, ()), (p.name, s))
    return found
