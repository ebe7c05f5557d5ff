"""Whose C++ a simulation spends its time in: perf's samples, each given to the instance that its source line names.

Needs `perf`, `addr2line` and `readelf`, and an executable of flavour "profile" with its generated C++ beside it. A statement of
the generated code names variables by their hierarchy, and so do functions of modules; the first name decides, looked for from
the innermost inlined frame outwards. Functions of packages, the memories' C++, libraries and the simulator's own code have no
such name and are kept apart.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TOOLS = ("perf", "addr2line", "readelf")
_NAME = re.compile(r"u_dut__DOT__u_top__DOT__(\w+)")
_MMAP = re.compile(r"\[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+) .*r-xp (\S+)")
_SAMPLE = re.compile(r"\s*([0-9a-f]+) \((.*)\)$")
_LOAD = re.compile(r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x\w+ 0x\w+ R E")
_MEMORIES = {"memory", "port", "timing", "timed", "dram", "mapped_file", "digest"}
_END = re.compile(r"[;{}]\s*$")
_REACH = 30  # lines that a statement may have before and behind the one that was hit


def missing_tools() -> list[str]:
    """Of TOOLS, what is not installed."""
    return [name for name in TOOLS if shutil.which(name) is None]


def shares(executable: Path, job: Path, folder: Path) -> dict[str, float]:
    """Share of the samples by owner: instances in the top module ("u_mvm"), "top", "bench", "memory models", "libraries",
    "simulator" or "arithmetic".

    Raises CalledProcessError when perf may not count.
    """
    data = folder / "perf.data"
    _run("perf", "record", "-o", str(data), "-e", "cycles:u", str(executable), str(job))
    inside, outside = _samples(data, executable)
    owners = owned(inside, executable) + Counter({"libraries": outside})
    total = sum(owners.values())
    return {name: count / total for name, count in owners.most_common()}


def owned(counts: Counter[int], executable: Path) -> Counter[str]:
    """Counts by address in the executable's file, given to the owners of `shares`."""
    addresses = list(counts)
    found = _run("addr2line", "-a", "-f", "-i", "-e", str(executable), text="\n".join(hex(a) for a in addresses))
    owners: Counter[str] = Counter()
    sources = _Sources(executable.parent / "cpp")
    frames = [lines.splitlines()[1:] for lines in re.split(r"^(?=0x)", found, flags=re.MULTILINE)[1:]]
    for address, lines in zip(addresses, frames, strict=True):
        found_here = (sources.owner(*frame) for frame in zip(lines[::2], lines[1::2], strict=True))
        owners[next((name for name in found_here if name is not None), "simulator")] += counts[address]
    return owners


def _run(*command: str, text: str | None = None) -> str:
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def _samples(data: Path, executable: Path) -> tuple[Counter[int], int]:
    """Samples by address in the executable's file, and how many lie in libraries."""
    segments = _LOAD.findall(_run("readelf", "-lW", str(executable)))
    offset, virtual = (int(v, 16) for v in segments[0])
    maps: list[tuple[int, int, int]] = []
    inside: Counter[int] = Counter()
    outside = 0
    for line in _run("perf", "script", "-i", str(data), "-F", "ip,dso", "--show-mmap-events").splitlines():
        if mapped := _MMAP.search(line):
            if mapped[4] == str(executable):
                maps.append((int(mapped[1], 16), int(mapped[2], 16), int(mapped[3], 16)))
        elif sample := _SAMPLE.match(line):
            ip = int(sample[1], 16)
            bases = [ip - start + at - offset + virtual for start, size, at in maps if start <= ip < start + size]
            if bases:
                inside[bases[0]] += 1
            else:
                outside += 1
    return inside, outside


class _Sources:
    """The generated files, read when first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, list[str]] = {}

    def owner(self, function: str, place: str) -> str | None:
        """Who owns a frame: a function, mangled, and "file:line". None where neither says so."""
        file, _, number = place.rpartition(":")
        name = Path(file).name
        digits = re.match(r"\d+", number)
        if name.split(".")[0] in _MEMORIES:
            return "memory models"
        if name.startswith("Vtop_") and "___024root" not in name:
            return "arithmetic"  # functions of packages
        statements = self._statements(name, int(digits[0]) if digits else 0) if name.startswith("Vtop") else iter(())
        for text in (*statements, function):
            if found := _NAME.search(text):
                first = found[1].split("__DOT__")
                return first[0] if first[0].startswith("u_") else "top"
            if "fleet_tb__DOT__" in text:
                return "bench"
        return None

    def _statements(self, name: str, number: int) -> Iterator[str]:
        """The line, then the statement that it belongs to."""
        if name not in self._files:
            path = self._folder / name
            self._files[name] = path.read_text(errors="replace").split("\n") if path.is_file() else []
        lines = self._files[name]
        if not 1 <= number <= len(lines):
            return
        yield lines[number - 1]
        first = last = number - 1
        while first > max(0, number - _REACH) and not _END.search(lines[first - 1]):
            first -= 1
        while last < min(len(lines) - 1, number + _REACH) and not _END.search(lines[last]):
            last += 1
        yield " ".join(lines[first : last + 1])
