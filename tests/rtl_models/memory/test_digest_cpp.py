"""The C++ digest of the memory models is that of fleet.isa.digest, on random data and at the edges of its ranges."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.isa.digest import DDR, HBM_PORT_0, digest
from fleet.sdk import rtl_models


def test_digest(tmp_path: Path) -> None:
    program = tmp_path / "digest"
    source = Path(__file__).parent / "digest_main.cpp"
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{rtl_models() / 'memory'}"]
    subprocess.run([find_toolchain().compiler, *flags, source, "-o", program], check=True)
    rng = np.random.default_rng(3)
    blocks = [
        (DDR, 0, np.zeros(1, np.uint8)),
        (HBM_PORT_0 + 31, 2**40 - 64, np.full(64, 255, np.uint8)),
        (300, 5, np.arange(64, dtype=np.uint8)),
    ]
    for _ in range(200):
        data = rng.integers(0, 256, int(rng.integers(1, 300)), dtype=np.uint8)
        blocks.append((int(rng.choice([DDR, HBM_PORT_0, HBM_PORT_0 + 17])), int(rng.integers(0, 2**33)), data))
    text = "".join(f"{space} {offset} {data.tobytes().hex()}\n" for space, offset, data in blocks)
    lines = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [int(line) for line in lines[:-2]] == [digest(*block) for block in blocks]
    assert lines[-2:] == ["120 3 43 12 0 0"] * 2
