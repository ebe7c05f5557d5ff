"""The coverage account: a JSON file that merges with accounts of other runs, workers and seeds of the same description."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from fleet.core.codec import decode
from fleet.core.files import write_atomically
from fleet.errors import ModelError

__all__ = ["CoverageAccount", "Met", "Point", "Tried", "load_account"]

_FORM = 3


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
    met: dict[str, Met] = field(default_factory=dict[str, Met])
    tried: dict[str, Tried] = field(default_factory=dict[str, Tried])
    curve: list[Point] = field(default_factory=list[Point])
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
        table = {"form": _FORM, **asdict(self)}
        # Store each name once: the name of a program with many aims is long.
        names = {m.first: i for i, m in enumerate({m.first: m for m in self.met.values()}.values())}
        table["names"] = list(names)
        table["met"] = {k: [m.count, names[m.first], m.setting] for k, m in sorted(self.met.items())}
        table["tried"] = {k: [t.draws, t.why] for k, t in sorted(self.tried.items())}
        table["curve"] = [[round(p.seconds, 2), round(p.cpu, 2), p.bins, p.instructions] for p in self.curve]
        table["seconds"], table["cpu"] = round(self.seconds, 2), round(self.cpu, 2)
        write_atomically(path, (json.dumps(table, indent=0) + "\n").encode())


def load_account(path: Path) -> CoverageAccount:
    """Read what `save` wrote. Raises ModelError for any other file."""
    try:
        table: Any = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(table, dict) or cast("dict[str, Any]", table).pop("form", None) != _FORM:
            raise ValueError(f"not of form {_FORM}")
        rows = cast("dict[str, Any]", table)
        names = rows.pop("names")
        if not isinstance(names, list):
            raise ValueError("its names are no list")
        names = [str(n) for n in cast("list[Any]", names)]
        met = {str(k): Met(int(v[0]), names[int(v[1])], str(v[2])) for k, v in rows["met"].items()}
        tried = {str(k): Tried(int(v[0]), str(v[1])) for k, v in rows["tried"].items()}
        curve = [Point(float(p[0]), float(p[1]), int(p[2]), int(p[3])) for p in rows["curve"]]
        account = decode(CoverageAccount, {**rows, "met": {}, "tried": {}, "curve": []}, str(path), "account")
        account.met, account.tried, account.curve = met, tried, curve
        return account
    except (OSError, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelError(f"not an account of coverage ({what})", where=str(path)) from error
