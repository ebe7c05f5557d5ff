"""The devices' sizes and a memory of plain arrays, for the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fleet.errors import DeviceError
from fleet.sdk import Device, Memory, MemoryArray

# Written out here, and compared with the device files elsewhere: the reference must not move with them.
NAMES = (
    "Tin", "Tout", "HbmPorts", "Tblk", "TgroupCh", "DatDepth", "WtDepth", "PortFifoDepth", "MaxToken", "Log2BankStep",
    "OnchipDepth", "SfuInterval", "AttInterval", "AttQueries", "ScaleFp20", "Sparse", "MaxChannels",
)  # fmt: skip
LATENCIES = {
    "ArrayLatency": 4,
    "ProductLatency": 6,
    "DotLatency": 5,
    "RoundLatency": 7,
    "ScaleLatency": 3,
    "AddLatency": 9,
    "NarrowLatency": 2,
}
SIZES = {
    "hbm_small": LATENCIES
    | dict(zip(NAMES, (64, 8, 8, 128, 2048, 1024, 256, 32, 512, 28, 1024, 2, 1, 2, 0, 0, 4096), strict=True)),
    "hbm0923": LATENCIES
    | dict(zip(NAMES, (128, 32, 32, 128, 2048, 8192, 1024, 128, 2048, 28, 8192, 2, 1, 4, 0, 0, 16384), strict=True)),
    "hbm1128": LATENCIES
    | dict(zip(NAMES, (128, 32, 32, 128, 2048, 4096, 2048, 128, 2048, 28, 8192, 2, 1, 4, 1, 0, 16384), strict=True)),
}
SIZES |= {f"{name}_sparse": SIZES[name] | {"Sparse": 1} for name in ("hbm_small", "hbm0923")}
BIG = {"ddr": 1 << 30, "hbm": 256 << 20}
SMALL = {"ddr": 64 << 20, "hbm": 4 << 20}
MEMORY = {"hbm_small": SMALL, "hbm_small_sparse": SMALL, "hbm0923": BIG, "hbm0923_sparse": BIG, "hbm1128": BIG}


def make_device(name: str) -> Device:
    onchip = MemoryArray("onchip", 256, "<f2", 32, SIZES[name]["OnchipDepth"], banks=2)
    return Device(name, "hbm0923", SIZES[name], MEMORY[name], 280.0, {}, Path(name + ".toml"), arrays={"onchip": onchip})


class ArrayMemory(Memory):
    """Plain arrays of the sizes that a test needs."""

    def __init__(self, ports: int, ddr: int = 1 << 20, hbm: int = 1 << 18) -> None:
        self.spaces = {("ddr", 0): np.zeros(ddr, np.uint8)} | {("hbm", p): np.zeros(hbm, np.uint8) for p in range(ports)}

    def view(self, space: str, offset: int, size: int, bank: int = 0) -> np.ndarray:
        whole = self.spaces[space, bank]
        if offset < 0 or offset + size > whole.size:
            raise DeviceError("outside")
        return whole[offset : offset + size]
