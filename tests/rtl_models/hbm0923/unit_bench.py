"""Builds and plays the bench of one unit (unit_main.cpp), and keeps an image of memory beside it in NumPy."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from flat_ports import flattened
from hardware_files import hardware_files
from numpy.typing import NDArray
from verilated import verilated

HERE = Path(__file__).parent
MEBIBYTE = 1 << 20
NONE, ILLEGAL_MODE, BAD_SIZE, UNALIGNED, OUT_OF_RANGE, BUS_ERROR, UNSUPPORTED = 0, 1, 2, 3, 4, 6, 7


@dataclass(frozen=True)
class Sizes:
    """Parameters of the unit under test."""

    max_token: int = 256
    max_channels: int = 2048
    onchip_depth: int = 512
    interval: int = 1
    megabytes: int = 1

    @property
    def half(self) -> int:
        """Bytes of an on-chip half."""
        return 64 * self.onchip_depth


@dataclass(frozen=True)
class Commit:
    """What the unit reported of an instruction."""

    opcode: int
    error: int
    cycles: int
    classes: tuple[int, ...]
    read: int
    written: int


class Unit:
    """A built bench of `hbm0923_sfu` or `hbm0923_elementwise`."""

    def __init__(self, folder: Path, top: str, sizes: Sizes) -> None:
        self.folder, self.top, self.sizes = folder, top, sizes
        wanted = ["arith", "hbm0923_pkg", "tables_pkg", "axi", "unit_", "settled", "feature_", "beat_", "sfu", "elementwise"]
        wanted += ["hbm0923.vlt"]
        files = [p for p in hardware_files("hbm0923") if any(w in f"{p.parent.name}/{p.name}" for w in wanted)]
        for path in files:
            shutil.copy(path, folder / path.name)
        (folder / "flat.sv").write_text(flattened((folder / f"{top}.sv").read_text()))
        parameters = {"MaxToken": sizes.max_token, "OnchipDepth": sizes.onchip_depth, "SfuInterval": sizes.interval}
        parameters["DdrMegabytes"] = sizes.megabytes
        if top == "hbm0923_sfu":
            parameters["MaxChannels"] = sizes.max_channels
        macro = "SFU" if top == "hbm0923_sfu" else "ELEMENTWISE"
        (folder / "unit_main.cpp").write_text(f"#define {macro}\n{(HERE / 'unit_main.cpp').read_text()}")
        arguments = [
            "-O3",
            "--assert",
            "--x-initial",
            "unique",
            "-Wno-UNUSEDPARAM",
            "--top-module",
            f"flat_{top}",
        ]
        arguments += [f"-G{k}={v}" for k, v in parameters.items()] + [p.name for p in files] + ["flat.sv", "unit_main.cpp"]
        verilated(arguments, folder, "Vunit")

    def play(self, instructions: list[list[int]], memory: Memory, seed: int, stall: bool = True) -> list[Commit]:
        """Plays instructions (mode, eps, operands); `memory` holds what they leave."""
        memory.ddr.tofile(self.folder / "ddr.bin")
        memory.onchip.tofile(self.folder / "onchip.bin")
        (self.folder / "job.txt").write_text("".join(" ".join(f"{w:x}" for w in i) + "\n" for i in instructions))
        command = ["obj/Vunit", "ddr.bin", "onchip.bin", "job.txt", str(seed), str(int(stall))]
        run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=300)
        assert run.returncode == 0, (run.stderr[-2000:], run.stdout[-2000:])
        memory.ddr = np.fromfile(self.folder / "ddr.bin", np.uint8)
        memory.onchip = np.fromfile(self.folder / "onchip.bin", np.uint8)
        commits: list[Commit] = []
        for line in run.stdout.splitlines():
            w = line.split()
            numbers = [int(x) for x in w[2:]]
            commits.append(Commit(int(w[0], 16), int(w[1], 16), numbers[0], tuple(numbers[1:7]), numbers[7], numbers[8]))
        assert len(commits) == len(instructions)
        return commits


def built(factory: pytest.TempPathFactory, top: str, sizes: Sizes) -> Unit:
    """The bench, built once a process."""
    if (top, sizes) not in _BUILT:
        _BUILT[top, sizes] = Unit(factory.mktemp(top), top, sizes)
    return _BUILT[top, sizes]


_BUILT: dict[tuple[str, Sizes], Unit] = {}


@dataclass
class Feature:
    """A feature (lines, tokens, channels) at a place."""

    lines: int
    tokens: int
    channels: int
    addr: int
    surface: int
    line: int
    onchip: bool = False

    @property
    def surfaces(self) -> int:
        return -(-self.channels // 32)

    @property
    def bytes(self) -> int:
        """Of the hull."""
        return (self.surfaces - 1) * self.surface + (self.lines - 1) * self.line + 64 * self.tokens

    def offsets(self) -> NDArray[np.int64]:
        """Byte offset of every value, (lines, tokens, surfaces * 32)."""
        h, w, c = np.ix_(np.arange(self.lines), np.arange(self.tokens), np.arange(self.surfaces * 32))
        return self.addr + c // 32 * self.surface + h * self.line + w * 64 + c % 32 * 2


@dataclass
class Memory:
    """DDR and the on-chip memory, random at first."""

    sizes: Sizes
    seed: int
    ddr: NDArray[np.uint8] = field(init=False)
    onchip: NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        random = np.random.default_rng(self.seed)
        self.ddr = random.integers(0, 256, self.sizes.megabytes * MEBIBYTE, np.uint8)
        self.onchip = random.integers(0, 256, 2 * self.sizes.half, np.uint8)

    def copy(self) -> Memory:
        other = Memory.__new__(Memory)
        other.sizes, other.seed, other.ddr, other.onchip = self.sizes, self.seed, self.ddr.copy(), self.onchip.copy()
        return other

    def _halves(self, onchip: bool) -> NDArray[np.uint16]:
        return (self.onchip if onchip else self.ddr).view(np.uint16)

    def get(self, f: Feature) -> NDArray[np.float16]:
        """(lines, tokens, channels)."""
        return self._halves(f.onchip)[f.offsets() // 2].view(np.float16)[..., : f.channels]

    def put(self, f: Feature, bits: NDArray[np.uint16], clear: bool) -> None:
        """Bits of (lines, tokens, channels); the lanes behind them become +0, or stay."""
        offsets = f.offsets() // 2
        if clear:
            self._halves(f.onchip)[offsets] = 0
        self._halves(f.onchip)[offsets[..., : f.channels]] = bits

    def words(self, addr: int, count: int) -> NDArray[np.uint32]:
        """A view of DDR."""
        return self.ddr[addr : addr + 4 * count].view(np.uint32)

    def same(self, other: Memory) -> bool:
        return np.array_equal(self.ddr, other.ddr) and np.array_equal(self.onchip, other.onchip)
