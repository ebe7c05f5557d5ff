"""How the device fills its own HBM: one copy (`wt2hbm`) a port."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.sdk import Call, Device

_START_COPY = 2


def load_calls(_device: Device, source: int, port: int, target: int, size: int) -> Sequence[Call]:
    """See `fleet.sdk.Loader`. The registers of the unit's other instruction are 0."""
    fields = {
        "aux_insts_addr": 0,
        "aux_beats": 0,
        "aux_tasks": 0,
        "aux_ddr_addr": source,
        "aux_hbm_low": target,
        "aux_hbm_high": 0,
        "aux_bits": 8 * size,
        "aux_port": port,
        "aux_start": _START_COPY,
    }
    return [Call("wt2hbm", fields)]
