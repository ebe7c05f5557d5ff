"""The cost formulas of the instructions beside MVM against cycles that the RTL took (start to commit).

`python benchmarks/unit_cycles.py` measures them and prints the rows.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from unit_shapes import Shape, call

from fleet.errors import DeviceError
from fleet.sdk import Device
from fleet.sets.hbm0923 import INSTRUCTION_SET

DEVICES, INSTRUCTIONS = INSTRUCTION_SET.devices, INSTRUCTION_SET.instructions

# device, shape (`Shape`), cycles with ideal memory, mean with timed memory
MEASURED = [
    ("hbm_small", ("norm", 4096, 1, 1, 0, 1, ""), 622, 673),
    ("hbm_small", ("norm", 4096, 1, 2, 0, 1, ""), 1094, 1146),
    ("hbm_small", ("norm", 1024, 1, 8, 0, 1, "layer"), 798, 891),
    ("hbm_small", ("norm", 64, 1, 360, 0, 1, ""), 1526, 2031),
    ("hbm_small", ("norm", 128, 3, 17, 0, 1, "gaps"), 502, 648),
    ("hbm_small", ("norm", 768, 1, 5, 0, 1, "place"), 412, 457),
    ("hbm_small", ("norm", 64, 1, 9, 0, 1, "in out"), 118, 118),
    ("hbm_small", ("softmax", 512, 8, 1, 0, 1, ""), 430, 472),
    ("hbm_small", ("softmax", 100, 4, 5, 0, 1, ""), 286, 328),
    ("hbm_small", ("softmax", 300, 2, 40, 0, 1, "causal"), 1746, 2367),
    ("hbm_small", ("softmax", 33, 3, 33, 0, 1, "causal gaps"), 510, 550),
    ("hbm_small", ("softmax", 20, 32, 1, 0, 1, "place"), 178, 219),
    ("hbm_small", ("softmax", 512, 2, 3, 0, 1, "causal"), 366, 408),
    ("hbm_small", ("softmax", 64, 2, 1, 0, 1, "in"), 126, 141),
    ("hbm_small", ("act", 4096, 1, 1, 0, 1, ""), 294, 339),
    ("hbm_small", ("act", 1000, 1, 4, 0, 1, ""), 294, 339),
    ("hbm_small", ("act", 128, 1, 360, 0, 1, ""), 2918, 3109),
    ("hbm_small", ("act", 96, 3, 7, 0, 1, "gaps"), 164, 206),
    ("hbm_small", ("elementwise", 4096, 1, 1, 0, 1, ""), 316, 438),
    ("hbm_small", ("elementwise", 2048, 1, 4, 0, 1, "place"), 544, 834),
    ("hbm_small", ("elementwise", 64, 1, 500, 0, 1, ""), 2060, 3655),
    ("hbm_small", ("elementwise", 96, 2, 17, 0, 1, "gaps"), 250, 367),
    ("hbm_small", ("elementwise", 256, 1, 12, 0, 1, "in out"), 222, 248),
    ("hbm_small", ("elementwise", 32, 1, 8, 0, 1, "out"), 52, 76),
    ("hbm_small", ("pos_emb", 128, 32, 1, 0, 1, ""), 296, 341),
    ("hbm_small", ("pos_emb", 64, 8, 20, 0, 1, ""), 696, 770),
    ("hbm_small", ("pos_emb", 128, 2, 200, 0, 1, "own"), 3268, 5251),
    ("hbm_small", ("trp_mvm", 128, 8, 1, 200, 2, ""), 838, 924),
    ("hbm_small", ("trp_mvm", 64, 2, 9, 33, 1, "gaps"), 216, 305),
    ("hbm_small", ("trp_mvm", 128, 4, 1, 512, 4, ""), 2081, 2180),
    ("hbm_small", ("f2w_mvm", 128, 8, 1, 200, 2, ""), 873, 956),
    ("hbm_small", ("f2w_mvm", 64, 2, 9, 33, 1, "gaps"), 252, 341),
    ("hbm_small", ("f2w_mvm", 128, 4, 1, 512, 4, ""), 2081, 2180),
    ("hbm_small", ("trp_mvm", 64, 12, 1, 20, 4, ""), 131, 214),
    ("hbm_small", ("f2w_mvm", 64, 9, 1, 41, 3, ""), 179, 266),
    ("hbm_small", ("f2w_mvm", 128, 4, 17, 17, 2, ""), 1123, 1212),
    ("hbm_small", ("f2w_mvm", 64, 8, 1, 500, 1, ""), 1074, 1152),
    ("hbm_small", ("f2w_mvm", 64, 9, 1, 5, 3, ""), 129, 204),
    ("hbm_small", ("f2w_mvm", 128, 8, 2, 16, 2, ""), 290, 365),
    ("hbm_small", ("dat2hbm", 128, 2, 1, 100, 1, ""), 72, 120),
    ("hbm_small", ("dat2hbm", 128, 2, 1, 100, 1, "values"), 104, 152),
    ("hbm_small", ("dat2hbm", 128, 2, 200, 0, 1, ""), 1629, 2167),
    ("hbm_small", ("dat2hbm", 64, 2, 200, 0, 1, "values"), 1292, 1400),
    ("hbm_small", ("wt2hbm", 4096, 1, 1, 0, 1, ""), 146, 203),
    ("hbm_small", ("wt2hbm", 100000, 1, 1, 0, 1, ""), 3331, 3748),
    ("hbm_small", ("norm", 32, 1, 512, 0, 1, ""), 1106, 1175),
    ("hbm_small", ("softmax", 512, 4, 16, 0, 1, "causal"), 2222, 3261),
    ("hbm0923", ("norm", 4096, 1, 1, 0, 1, ""), 435, 549),
    ("hbm0923", ("norm", 4096, 1, 2, 0, 1, ""), 691, 856),
    ("hbm0923", ("norm", 1024, 1, 8, 0, 1, "layer"), 444, 803),
    ("hbm0923", ("norm", 64, 1, 360, 0, 1, ""), 777, 1969),
    ("hbm0923", ("norm", 128, 3, 17, 0, 1, "gaps"), 267, 561),
    ("hbm0923", ("norm", 768, 1, 5, 0, 1, "place"), 243, 377),
    ("hbm0923", ("norm", 64, 1, 9, 0, 1, "in out"), 75, 75),
    ("hbm0923", ("softmax", 512, 8, 1, 0, 1, ""), 227, 273),
    ("hbm0923", ("softmax", 100, 4, 5, 0, 1, ""), 155, 199),
    ("hbm0923", ("softmax", 300, 2, 40, 0, 1, "causal"), 885, 2349),
    ("hbm0923", ("softmax", 33, 3, 33, 0, 1, "causal gaps"), 267, 333),
    ("hbm0923", ("softmax", 20, 32, 1, 0, 1, "place"), 101, 143),
    ("hbm0923", ("softmax", 512, 2, 3, 0, 1, "causal"), 195, 240),
    ("hbm0923", ("softmax", 64, 2, 1, 0, 1, "in"), 75, 90),
    ("hbm0923", ("act", 4096, 1, 1, 0, 1, ""), 160, 267),
    ("hbm0923", ("act", 1000, 1, 4, 0, 1, ""), 160, 267),
    ("hbm0923", ("act", 128, 1, 360, 0, 1, ""), 1472, 2986),
    ("hbm0923", ("act", 96, 3, 7, 0, 1, "gaps"), 95, 139),
    ("hbm0923", ("elementwise", 4096, 1, 1, 0, 1, ""), 282, 423),
    ("hbm0923", ("elementwise", 2048, 1, 4, 0, 1, "place"), 538, 828),
    ("hbm0923", ("elementwise", 64, 1, 500, 0, 1, ""), 2026, 3641),
    ("hbm0923", ("elementwise", 96, 2, 17, 0, 1, "gaps"), 230, 345),
    ("hbm0923", ("elementwise", 256, 1, 12, 0, 1, "in out"), 218, 220),
    ("hbm0923", ("elementwise", 32, 1, 8, 0, 1, "out"), 42, 67),
    ("hbm0923", ("pos_emb", 128, 32, 1, 0, 1, ""), 162, 269),
    ("hbm0923", ("pos_emb", 64, 8, 20, 0, 1, ""), 390, 695),
    ("hbm0923", ("pos_emb", 128, 2, 200, 0, 1, "own"), 3230, 5200),
    ("hbm0923", ("trp_mvm", 128, 8, 1, 200, 2, ""), 160, 268),
    ("hbm0923", ("trp_mvm", 64, 2, 9, 33, 1, "gaps"), 80, 194),
    ("hbm0923", ("trp_mvm", 128, 4, 1, 512, 4, ""), 545, 665),
    ("hbm0923", ("f2w_mvm", 128, 8, 1, 200, 2, ""), 161, 261),
    ("hbm0923", ("f2w_mvm", 64, 2, 9, 33, 1, "gaps"), 79, 186),
    ("hbm0923", ("f2w_mvm", 128, 4, 1, 512, 4, ""), 545, 665),
    ("hbm0923", ("trp_mvm", 64, 12, 1, 20, 4, ""), 61, 161),
    ("hbm0923", ("f2w_mvm", 64, 9, 1, 41, 3, ""), 62, 167),
    ("hbm0923", ("f2w_mvm", 128, 4, 17, 17, 2, ""), 323, 436),
    ("hbm0923", ("f2w_mvm", 64, 8, 1, 500, 1, ""), 212, 287),
    ("hbm0923", ("trp_mvm", 128, 32, 1, 2048, 2, ""), 4144, 4249),
    ("hbm0923", ("f2w_mvm", 128, 32, 1, 2048, 2, ""), 4324, 4372),
    ("hbm0923", ("trp_mvm", 128, 32, 1, 100, 32, ""), 1057, 1177),
    ("hbm0923", ("f2w_mvm", 128, 32, 1, 100, 32, ""), 929, 1049),
    ("hbm0923", ("dat2hbm", 128, 2, 1, 100, 1, ""), 72, 121),
    ("hbm0923", ("dat2hbm", 128, 2, 1, 100, 1, "values"), 56, 105),
    ("hbm0923", ("dat2hbm", 128, 2, 200, 0, 1, ""), 1629, 1744),
    ("hbm0923", ("dat2hbm", 64, 2, 200, 0, 1, "values"), 980, 1036),
    ("hbm0923", ("wt2hbm", 4096, 1, 1, 0, 1, ""), 146, 203),
    ("hbm0923", ("wt2hbm", 100000, 1, 1, 0, 1, ""), 3331, 3734),
    ("hbm0923", ("norm", 13696, 1, 1, 0, 1, ""), 1355, 1778),
    ("hbm0923", ("norm", 4096, 1, 32, 0, 1, ""), 4531, 12617),
    ("hbm0923", ("softmax", 2048, 32, 1, 0, 1, ""), 2243, 4366),
    ("hbm0923", ("softmax", 2048, 2, 32, 0, 1, "causal"), 4291, 12134),
    ("hbm0923", ("act", 13696, 1, 1, 0, 1, ""), 460, 944),
    ("hbm0923", ("elementwise", 13696, 1, 1, 0, 1, "place"), 882, 1352),
]


def expected(device: Device, shape: Shape, memory: str = "ideal") -> int:
    """Of the instruction of that shape."""
    one = call(device, shape)
    cycles = INSTRUCTIONS[one.instruction].expected_cycles(device, one.fields, memory)
    assert cycles is not None
    return cycles


@pytest.mark.parametrize(("memory", "median", "p95", "worst"), [("ideal", 0, 0, 0), ("timed", 0.02, 0.05, 0.08)])
def test_cost_follows_the_rtl(memory: str, median: float, p95: float, worst: float) -> None:
    column = {"ideal": 2, "timed": 3}[memory]
    errors = {row[:2]: expected(DEVICES[row[0]], Shape(*row[1]), memory) / row[column] - 1 for row in MEASURED}
    assert {Shape(*row[1]).instruction for row in MEASURED} == set(INSTRUCTIONS) - {"mvm", "mvm_bn", "mvm_bn_res"}
    sizes = np.abs(list(errors.values()))
    assert np.median(sizes) <= median, errors
    assert np.quantile(sizes, 0.95) <= p95, errors
    assert sizes.max() <= worst, errors


def _with(name: str, **parameters: int) -> Device:
    device = DEVICES[name]
    return dataclasses.replace(device, parameters={**device.parameters, **parameters})


def test_it_follows_the_devices_parameters() -> None:
    norm, attention = Shape("norm", 4096), Shape("trp_mvm", 128, lines=2, total=2048)
    base = expected(_with("hbm0923", SfuInterval=2), norm)  # with 1 gamma and beta come too slowly
    # Two passes of 128 beats, 8 beats of pipeline and the reduction between them.
    assert expected(_with("hbm0923", SfuInterval=4), norm) - base == pytest.approx(2 * (2 * 128 + 28), abs=8)
    steps, base = 64 * 8, expected(DEVICES["hbm0923"], attention)  # both heads are one group
    assert expected(_with("hbm0923", AttInterval=2), attention) - base == pytest.approx(steps, abs=8)
    assert expected(_with("hbm0923", AttQueries=1), attention) - base == pytest.approx(steps, abs=8)


def test_long_instructions_go_on_at_the_rate_of_what_was_followed() -> None:
    """Two beats a row of 64 channels, a step each, whatever the number of rows; the pipeline is paid once."""
    device = DEVICES["hbm0923"]
    at = [expected(device, Shape("norm", 64, lines=n, tokens=1000)) for n in (1, 2, 20)]
    assert at[1] - at[0] == pytest.approx(2000, rel=0.01)
    assert at[2] - at[0] == pytest.approx(19 * 2000, rel=0.01)


def test_timed_memory_is_never_faster_than_ideal() -> None:
    for name, shape, *_ in MEASURED:
        assert expected(DEVICES[name], Shape(*shape), "timed") >= expected(DEVICES[name], Shape(*shape)), (name, shape)


def test_what_stands_on_chip_does_not_meet_the_dram() -> None:
    device = DEVICES["hbm0923"]
    shape = Shape("softmax", 512, lines=4, mode="in out")
    assert expected(device, shape, "timed") == expected(device, shape)


def test_without_an_estimate_or_a_table() -> None:
    device = DEVICES["hbm0923"]
    for shape in (Shape("act", 64), Shape("trp_mvm", 64, total=3), Shape("wt2hbm", 64), Shape("dat2hbm", 64)):
        one = call(device, shape)
        unit = INSTRUCTIONS[one.instruction]
        assert unit.legal(device, one.fields) == []
        assert unit.expected_cycles(device, one.fields) == unit.cost(device, one.fields)
        assert unit.expected_cycles(device, one.fields, "stall") is None
        with pytest.raises(DeviceError, match=r"no table \[timing"):
            unit.expected_cycles(dataclasses.replace(device, timing={}), one.fields, "timed")
