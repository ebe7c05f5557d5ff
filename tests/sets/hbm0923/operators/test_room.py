"""Room that a tensor takes, and what has no layout at all."""

from __future__ import annotations

import pytest

from fleet.errors import DeviceError
from fleet.isa.registry import find_device
from fleet.sdk.tasks import TaskOperand
from fleet.sets.hbm0923.operators.room import room

SET, SMALL = find_device("hbm_small")
CACHE = TaskOperand((2, 16, 64), "float16", "hbm", 0)


def test_a_cache_takes_whole_beats_a_port() -> None:
    """16 positions of 64 channels: keys and values lie along one of them, the other is shared out among the ports."""
    ports, beat = SMALL.parameters["HbmPorts"], 32
    for transposed, vectors, length in ((True, 16, 64), (False, 64, 16)):
        found = room(SMALL, CACHE, {"trp": transposed})
        line = -(-2 * length // beat) * beat
        assert (found.surface, found.line) == (line, -(-vectors // ports) * line)
        assert found.size == 2 * found.line


@pytest.mark.parametrize(
    ("operand", "attrs"),
    [
        (CACHE, {}),  # nobody says which way it lies
        (TaskOperand((2, 16, 96), "float16", "hbm", 0), {"trp": True}),
        (TaskOperand((2, 16, 96), "float16", "hbm", 0), {}),
        (TaskOperand((16, 64), "float16", "ddr", 0), {}),
        (TaskOperand((2, 16, 64), "float32", "ddr", 0), {}),
        (TaskOperand((2, 16, 64), "int32", "hbm", 0), {}),
    ],
)
def test_what_has_no_layout_is_refused(operand: TaskOperand, attrs: dict[str, bool]) -> None:
    with pytest.raises(DeviceError, match="no layout for"):
        room(SMALL, operand, attrs)
