"""Memories and instructions of the attention unit's tests: images full of garbage, operands, the bytes that must result."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import att_build
import att_reference
import numpy as np

MIB = 1 << 20
F2W, TRP, DAT = 0x01, 0x02, 0x40
OPCODES = {F2W: 2, TRP: 3, DAT: 0x30}
ONCHIP = 1 << 32


@dataclass
class Device:
    """Parameters of att_bench."""

    ports: int = 8
    max_token: int = 2048
    onchip_depth: int = 2048
    interval: int = 1
    queries: int = 1
    fp20: bool = False
    ddr: int = 16
    hbm: int = 1
    fifo: int = 128

    def parameters(self) -> dict[str, int]:
        return {
            "Ports": self.ports, "MaxToken": self.max_token, "OnchipDepth": self.onchip_depth, "AttInterval": self.interval,
            "AttQueries": self.queries, "ScaleFp20": int(self.fp20), "DdrMegabytes": self.ddr, "HbmMegabytes": self.hbm,
            "PortFifoDepth": self.fifo,
        }  # fmt: skip


@dataclass
class Report:
    """What the bench says of an instruction."""

    error: int
    opcode: int
    cycles: int
    classes: list[int]
    hulls: list[tuple[int, int]]


@dataclass
class Bench:
    """Images and what must stand in them after all instructions so far."""

    device: Device
    rng: np.random.Generator
    finite: bool = False  # garbage, too, has no infinity or NaN
    jobs: list[str] = field(default_factory=list)
    expect: list[tuple[int, int]] = field(default_factory=list)
    speed: tuple[int, float] = (0, 0.0)

    def __post_init__(self) -> None:
        d = self.device
        self.ddr = self.rng.integers(0, 256, d.ddr * MIB, dtype=np.uint8)
        self.onchip = self.rng.integers(0, 256, 2 * d.onchip_depth * 64, dtype=np.uint8)
        self.hbm = self.rng.integers(0, 256, (d.ports, d.hbm * MIB), dtype=np.uint8)
        # Where nothing is put there are NaNs.
        for space in (self.ddr, self.onchip, self.hbm):
            space.reshape(-1).view(np.uint16)[:] |= np.uint16(0x7C00)
        self.ddr0, self.onchip0, self.hbm0 = self.ddr.copy(), self.onchip.copy(), self.hbm.copy()
        self.ddr_next = self.hbm_next = 0
        self.onchip_next = [0, d.onchip_depth * 64]

    def space(self, address: int, first: bool = False) -> tuple[np.ndarray, int]:
        if address >= ONCHIP:
            return (self.onchip0 if first else self.onchip), address - ONCHIP
        return (self.ddr0 if first else self.ddr), address

    def allocate(self, size: int, half: int | None = None) -> int:
        """Room for a feature: in DDR, or in a half of the on-chip memory."""
        size = -(-size // 64) * 64
        if half is None:
            at = self.ddr_next
            self.ddr_next += size + 64 * int(self.rng.integers(0, 4))
            assert self.ddr_next <= self.ddr.size
            return at
        at = self.onchip_next[half]
        self.onchip_next[half] += size
        assert self.onchip_next[half] <= self.device.onchip_depth * 64 * (half + 1)
        return ONCHIP + at

    def allocate_hbm(self, size: int) -> int:
        at = self.hbm_next
        self.hbm_next += size + 32 * int(self.rng.integers(0, 4))
        assert self.hbm_next <= self.hbm.shape[1]
        return at

    def feature(self, heads: int, channels: int, tokens: int, half: int | None = None, dense: bool = False) -> tuple[int, int, int]:
        """Address, surface and line stride of a new feature."""
        groups = -(-channels // 32)
        slack = 0 if dense else 64 * int(self.rng.integers(0, 3))
        if self.rng.integers(0, 2):
            surface = 64 * tokens + slack
            line = groups * surface + slack
        else:
            line = 64 * tokens + slack
            surface = heads * line + slack
        return self.allocate((groups - 1) * surface + (heads - 1) * line + 64 * tokens, half), surface, line

    def put(self, values: np.ndarray, at: int, surface: int, line: int, *, result: bool = False) -> None:
        """uint16 [heads, tokens, channels] as a feature, in the first image too; as a result only in the other, lanes beyond +0."""
        heads, tokens, channels = values.shape
        for image in (False,) if result else (False, True):
            memory, base = self.space(at, image)
            for h in range(heads):
                for s in range(-(-channels // 32)):
                    part = values[h, :, 32 * s : 32 * s + 32]
                    start = base + h * line + s * surface
                    pixels = memory[start : start + 64 * tokens].view(np.uint16).reshape(tokens, 32)
                    pixels[:, : part.shape[1]] = part
                    if result:
                        pixels[:, part.shape[1] :] = 0

    def values(self, shape: tuple[int, ...], kind: str) -> np.ndarray:
        """uint16 patterns: `normal`, `wild` (any finite), `sparse` (with zeros and subnormals), `special` (a few NaN, infinity),
        `ends` (the largest and the smallest, and one), `infinite` (zeros, ones, infinities), `top` (just below 4 and 2).
        """
        few = {
            "ends": [0x7BFF, 0xFBFF, 0x7BFF, 0xFBFF, 1, 0x8001, 0x3C00, 0x83FF, 0x0400, 0],
            "infinite": [0x3C00, 0xBC00, 0x3C00, 0xBC00, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x0000],
            "top": [0x43FF, 0x3FFF],
        }  # fmt: skip
        if kind in few:
            return self.rng.choice(np.array(few[kind], np.uint16), shape)
        if kind == "normal":
            return self.rng.standard_normal(shape).astype(np.float16).view(np.uint16)
        bits = self.rng.integers(0, 65536, shape).astype(np.uint16)
        wild = np.where(bits & 0x7C00 == 0x7C00, bits ^ 0x4000, bits)
        if kind == "wild":
            return wild
        if kind == "sparse":
            kinds = self.rng.integers(0, 4, shape)
            return np.select([kinds == 0, kinds == 1], [bits & 0x8000, bits & 0x83FF], wild & 0xBFFF).astype(np.uint16)
        rare = self.rng.integers(0, 400, shape) == 0
        return np.where(rare, bits | 0x7C00, self.values(shape, "normal")).astype(np.uint16)

    def add(self, mode: int, words: list[int], error: int = 0, delays: tuple[int, int, int] | None = None) -> None:
        if delays is None:
            delays = tuple(int(d) for d in self.rng.choice([0, 0, 3, 50, 400], 3))  # pyright: ignore
        self.jobs.append(" ".join(str(v) for v in (mode, *words, *delays)))
        self.expect.append((error, OPCODES.get(mode, 0)))

    def mvm(
        self, mode: int, depth: int, total: int, tokens: int, kv: int, ratio: int, kind: str = "normal", *,
        halves: tuple[int | None, int | None] = (None, None), dense: bool = False, delays: tuple[int, int, int] | None = None,
        scale_bits: int | None = None,
    ) -> dict[str, int]:  # fmt: skip
        """A trp_mvm or f2w_mvm with new operands; its operands by name."""
        d = self.device
        heads, ports = kv * ratio, d.ports
        length, outputs = (depth, total) if mode == TRP else (total, depth)
        x = self.values((heads, tokens, length), kind)
        w = self.values((kv, outputs, length), kind)
        rows = -(-outputs // ports)
        row_bytes = -(-2 * length // 32) * 32
        slack = 0 if dense else 32 * int(self.rng.integers(0, 3))
        wt_line = row_bytes + slack
        wt_head = rows * wt_line + slack
        wt = self.allocate_hbm(kv * wt_head)
        for k in range(kv):
            for o in range(outputs):
                start = wt + k * wt_head + o // ports * wt_line
                for image in (self.hbm, self.hbm0):
                    image[o % ports, start : start + 2 * length] = w[k, o].view(np.uint8)
        in_at, in_surface, in_line = self.feature(heads, length, tokens, halves[0], dense)
        self.put(x, in_at, in_surface, in_line)
        if scale_bits is None:
            scale_bits = 0x31A8 if mode == TRP and not d.fp20 else 0x3C00
            if d.fp20:
                scale_bits = (28 << 13) | 0x1A8F if mode == TRP else 31 << 13
        if d.fp20:
            sign, e, m = scale_bits >> 19, scale_bits >> 13 & 63, scale_bits & 8191
            scale = np.float32((-1.0) ** sign * (2.0 ** (e - 31) * (1 + m / 8192) if e else 0.0))
        else:
            scale = np.array([scale_bits], np.uint16).view(np.float16).astype(np.float32)[0]
        y = att_reference.attention(x.view(np.float16), w.view(np.float16), scale)
        out_at, out_surface, out_line = self.feature(heads, outputs, tokens, halves[1], dense)
        self.put(y, out_at, out_surface, out_line, result=True)
        words = {
            "wt_addr": wt, "in_addr": in_at % ONCHIP, "in_surface": in_surface, "in_line": in_line, "out_addr": out_at % ONCHIP,
            "out_surface": out_surface, "out_line": out_line, "wt_head": wt_head, "wt_line": wt_line, "depth": depth,
            "total": total, "tokens": tokens, "scale": scale_bits | 28 << (20 if d.fp20 else 16),
            "heads": (ratio - 1) << 16 | heads << 8 | kv, "onchip": (in_at >= ONCHIP) | (out_at >= ONCHIP) << 1,
        }  # fmt: skip
        self.add(mode, list(words.values()), delays=delays)
        return words

    def store(
        self, keys: int, depth: int, last: int, tokens: int, heads: int, delays: tuple[int, int, int] | None = None
    ) -> dict[str, int]:
        """A dat2hbm into a new cache with room for MaxToken positions, or as many as fit; its operands by name."""
        ports = self.device.ports
        n = last + tokens
        x = self.values((heads, tokens, depth), "normal")
        at, surface, line = self.feature(heads, depth, tokens)
        self.put(x, at, surface, line)
        rows, row_bytes = (-(-n // ports), 2 * depth) if keys else (depth // ports, -(-2 * n // 32) * 32)
        wt_line = row_bytes + 32 * int(self.rng.integers(0, 3))
        wt_head = rows * wt_line + 32 * int(self.rng.integers(0, 3))
        wt = self.allocate_hbm(heads * wt_head)
        for h in range(heads):
            for w in range(tokens):
                t = last + w
                if keys:
                    start = wt + h * wt_head + t // ports * wt_line
                    self.hbm[t % ports, start : start + 2 * depth] = x[h, w].view(np.uint8)
                else:
                    for c in range(depth):
                        start = wt + h * wt_head + c // ports * wt_line + 2 * t
                        self.hbm[c % ports, start : start + 2] = x[h, w, c : c + 1].view(np.uint8)
        words = {
            "zero194": 0, "in_addr": at, "in_surface": surface, "in_line": line, "out_addr": wt, "wt_head": wt_head,
            "wt_line": wt_line, "bank_step": 28, "last": last, "tokens": tokens, "heads": heads, "surfaces": depth // 32,
            "trp": keys, "zero207": 0, "zero208": 0,
        }  # fmt: skip
        self.add(DAT, list(words.values()), delays=delays)
        return words

    def play(self, memory: str = "ideal", short_hbm: int = 0) -> list[Report]:
        """Runs all instructions; checks errors, opcodes and every byte of all memories."""
        program = att_build.build(self.device.parameters())
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with (folder / "ddr").open("wb") as f:
                f.write(self.ddr0.tobytes())
                f.seek(ONCHIP)
                f.write(self.onchip0.tobytes())
            for p in range(self.device.ports):
                data = self.hbm0[p].tobytes()
                (folder / f"hbm{p}").write_bytes(data[: len(data) - short_hbm])
            command = [str(program), memory, str(folder / "ddr"), *(str(folder / f"hbm{p}") for p in range(self.device.ports))]
            run = subprocess.run(command, input="\n".join(self.jobs) + "\n", capture_output=True, text=True, check=False)
            assert run.returncode == 0, run.stderr[-2000:] + run.stdout[-1000:]
            with (folder / "ddr").open("rb") as f:
                ddr = np.frombuffer(f.read(self.ddr.size), np.uint8)
                f.seek(ONCHIP)
                onchip = np.frombuffer(f.read(), np.uint8)
            hbm = [np.frombuffer((folder / f"hbm{p}").read_bytes(), np.uint8) for p in range(self.device.ports)]
        *lines, last = run.stdout.splitlines()
        self.speed = (int(last.split()[1]), float(last.split()[3]))
        reports = [_report(line) for line in lines]
        assert len(reports) == len(self.jobs)
        for i, (report, expected) in enumerate(zip(reports, self.expect, strict=True)):
            assert (report.error, report.opcode) == expected, f"instruction {i}: {self.jobs[i]}"
        for what, got, want in (("DDR", ddr, self.ddr), ("on chip", onchip, self.onchip)):
            wrong = np.flatnonzero(got != want)
            assert wrong.size == 0, f"{what}: {wrong.size} bytes differ, first at {wrong[0]:#x}"
        for p, image in enumerate(hbm):
            wrong = np.flatnonzero(image != self.hbm[p][: image.size])
            assert wrong.size == 0, f"HBM port {p}: {wrong.size} bytes differ, first at {wrong[0]:#x}"
        return reports


def _report(line: str) -> Report:
    v = [int(word) for word in line.split()]
    return Report(v[0], v[1], v[2], v[3:9], [(v[9 + 2 * i], v[10 + 2 * i]) for i in range(4)])
