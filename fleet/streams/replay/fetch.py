"""The binary form of a window's instructions, in unused memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.engines.rtl_sim.hardware import Hardware
from fleet.errors import FleetError
from fleet.isa.codec import description_of
from fleet.isa.codec_binary import encode_binary
from fleet.isa.issue import Binary, runs
from fleet.sdk import Call, Write
from fleet.streams.replay.window import Fetch

_ALIGN = 1 << 12


def fetch_at_end(hardware: Hardware) -> Fetch:
    """Return a `Fetch` that puts binaries at the end of DDR, where all bytes are 0."""

    def fetch(calls: Sequence[Call]) -> tuple[Sequence[Write], Sequence[Binary]]:
        blocks: list[Write] = []
        binaries: list[Binary] = []
        end = hardware.device.memory["ddr"]
        for first, count, has_form in runs(description_of(hardware.instruction_set), calls):
            if not has_form:
                continue
            data = np.frombuffer(encode_binary(hardware.instruction_set, calls[first : first + count]), np.uint8)
            end = (end - data.size) // _ALIGN * _ALIGN
            if end < 0 or hardware.memory.view("ddr", end, data.size).any():
                raise FleetError("no room for a binary", where=hardware.device.name)
            blocks.append(Write("ddr", end, data))
            binaries.append(Binary(first, count, "ddr", end, data.size))
        return blocks, binaries

    return fetch
