"""The coverage account: a JSON file that merges with accounts of other runs, workers and seeds of the same description."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from fleet.core.codec import NOT_STORED, decode, encode_record
from fleet.core.files import read_form, write_table
from fleet.errors import ModelError

_FORM = 3
_NONE = "not an account of coverage"


@dataclass
class Met:
    """A bin that was met. count: number of streams; first: name of the first stream; setting: of its run."""

    count: int
    first: str
    setting: str


@dataclass
class Tried:
    """Draws that aimed at a bin and missed it. why: the last reason for which a call was refused."""

    draws: int
    why: str = ""


@dataclass
class Point:
    """A point of the curve: bins met after so many seconds of wall time and processor time."""

    seconds: float
    cpu: float
    bins: int
    instructions: int


@dataclass(frozen=True)
class _Compact:
    """The stored form of the long parts: each name once, as the name of a program with many aims is long.

    met: bin -> (count, number of the first stream's name, setting). tried: bin -> (draws, why). curve: the fields of `Point`.
    """

    names: tuple[str, ...]
    met: dict[str, tuple[int, int, str]]
    tried: dict[str, tuple[int, str]]
    curve: tuple[tuple[float, float, int, int], ...]


@dataclass
class CoverageAccount:
    """The account of one device and description.

    Attributes:
        seeds: of the runs in it.
        steered: whether all of these were steered.
        met, tried: by bin.
        curve: of one run, with all workers; of several runs, the longest.
        programs, instructions: that were run and compared.
        seconds: wall time, summed over workers.
        cpu: processor seconds, simulations included.
        failures: one line each.
        left_out: instruction, or "program" -> programs for which the device's memory is too small.
    """

    device: str
    instruction_set: str
    description_hash: str
    seeds: list[int] = field(default_factory=list[int])
    steered: bool = False
    met: dict[str, Met] = field(default_factory=dict[str, Met], metadata=NOT_STORED)
    tried: dict[str, Tried] = field(default_factory=dict[str, Tried], metadata=NOT_STORED)
    curve: list[Point] = field(default_factory=list[Point], metadata=NOT_STORED)
    programs: int = 0
    instructions: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    failures: list[str] = field(default_factory=list[str])
    left_out: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, found: Iterable[str], name: str, setting: str) -> int:
        """Add the bins of one stream. Returns the number of new bins."""
        new = 0
        for key in found:
            met = self.met.get(key)
            if met is None:
                self.met[key] = Met(1, name, setting)
                new += 1
            else:
                met.count += 1
        return new

    def merge(self, other: CoverageAccount) -> None:
        """Add another account. Raises ModelError if its device or description differs."""
        if (other.device, other.description_hash) != (self.device, self.description_hash):
            raise ModelError(
                f"made for {other.device} with description {other.description_hash[:16]}, expected {self.device} with "
                f"{self.description_hash[:16]}",
                hint="run `fleet isa coverage` again",
            )
        for key, theirs in other.met.items():
            mine = self.met.setdefault(key, Met(0, theirs.first, theirs.setting))
            mine.count += theirs.count
        for key, tried in other.tried.items():
            mine_tried = self.tried.setdefault(key, Tried(0))
            mine_tried.draws += tried.draws
            mine_tried.why = tried.why or mine_tried.why
        self.steered = other.steered and (self.steered or not self.seeds)
        self.seeds = sorted({*self.seeds, *other.seeds})
        self.curve = max(self.curve, other.curve, key=lambda c: c[-1].seconds if c else 0.0)
        self.programs += other.programs
        self.instructions += other.instructions
        self.seconds += other.seconds
        self.cpu += other.cpu
        self.failures += other.failures
        for what, count in other.left_out.items():
            self.left_out[what] = self.left_out.get(what, 0) + count

    def save(self, path: Path) -> None:
        """Write JSON atomically. Raises FleetError."""
        names = {m.first: i for i, m in enumerate({m.first: m for m in self.met.values()}.values())}
        compact = _Compact(
            tuple(names), {k: (m.count, names[m.first], m.setting) for k, m in sorted(self.met.items())},
            {k: (t.draws, t.why) for k, t in sorted(self.tried.items())},
            tuple((round(p.seconds, 2), round(p.cpu, 2), p.bins, p.instructions) for p in self.curve),
        )  # fmt: skip
        rounded = replace(self, seconds=round(self.seconds, 2), cpu=round(self.cpu, 2))
        write_table(path, {"form": _FORM, **encode_record(rounded), **encode_record(compact)}, indent=0)


def load_account(path: Path) -> CoverageAccount:
    """Read what `save` wrote. Raises ModelError for any other file."""
    table = read_form(path, _FORM, _NONE)
    parts = {f.name: table.pop(f.name) for f in fields(_Compact) if f.name in table}
    compact = decode(_Compact, parts, str(path), "account")
    account = decode(CoverageAccount, table, str(path), "account")
    try:
        account.met = {k: Met(count, compact.names[name], setting) for k, (count, name, setting) in compact.met.items()}
    except IndexError as error:
        raise ModelError(f"{_NONE} (a name is missing)", where=str(path)) from error
    account.tried = {k: Tried(*tried) for k, tried in compact.tried.items()}
    account.curve = [Point(*point) for point in compact.curve]
    return account
