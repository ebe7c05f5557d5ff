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
    ("hbm_small", ("norm", 4096, 1, 1, 0, 1, ""), 646, 697),
    ("hbm_small", ("norm", 4096, 1, 2, 0, 1, ""), 1118, 1170),
    ("hbm_small", ("norm", 1024, 1, 8, 0, 1, "layer"), 762, 934),
    ("hbm_small", ("norm", 64, 1, 360, 0, 1, ""), 1550, 2049),
    ("hbm_small", ("norm", 128, 3, 17, 0, 1, "gaps"), 526, 638),
    ("hbm_small", ("norm", 768, 1, 5, 0, 1, "place"), 436, 481),
    ("hbm_small", ("norm", 64, 1, 9, 0, 1, "in out"), 142, 142),
    ("hbm_small", ("softmax", 512, 8, 1, 0, 1, ""), 398, 440),
    ("hbm_small", ("softmax", 100, 4, 5, 0, 1, ""), 254, 296),
    ("hbm_small", ("softmax", 300, 2, 40, 0, 1, "causal"), 1714, 2337),
    ("hbm_small", ("softmax", 33, 3, 33, 0, 1, "causal gaps"), 478, 518),
    ("hbm_small", ("softmax", 20, 32, 1, 0, 1, "place"), 146, 187),
    ("hbm_small", ("softmax", 512, 2, 3, 0, 1, "causal"), 334, 376),
    ("hbm_small", ("softmax", 64, 2, 1, 0, 1, "in"), 94, 109),
    ("hbm_small", ("act", 4096, 1, 1, 0, 1, ""), 318, 362),
    ("hbm_small", ("act", 1000, 1, 4, 0, 1, ""), 318, 362),
    ("hbm_small", ("act", 128, 1, 360, 0, 1, ""), 2942, 3132),
    ("hbm_small", ("act", 96, 3, 7, 0, 1, "gaps"), 188, 230),
    ("hbm_small", ("elementwise", 4096, 1, 1, 0, 1, ""), 322, 442),
    ("hbm_small", ("elementwise", 2048, 1, 4, 0, 1, "place"), 550, 849),
    ("hbm_small", ("elementwise", 64, 1, 500, 0, 1, ""), 2066, 3644),
    ("hbm_small", ("elementwise", 96, 2, 17, 0, 1, "gaps"), 256, 373),
    ("hbm_small", ("elementwise", 256, 1, 12, 0, 1, "in out"), 228, 254),
    ("hbm_small", ("elementwise", 32, 1, 8, 0, 1, "out"), 58, 82),
    ("hbm_small", ("pos_emb", 128, 32, 1, 0, 1, ""), 316, 360),
    ("hbm_small", ("pos_emb", 64, 8, 20, 0, 1, ""), 716, 784),
    ("hbm_small", ("pos_emb", 128, 2, 200, 0, 1, "own"), 3288, 5244),
    ("hbm_small", ("trp_mvm", 128, 8, 1, 200, 2, ""), 852, 938),
    ("hbm_small", ("trp_mvm", 64, 2, 9, 33, 1, "gaps"), 230, 319),
    ("hbm_small", ("trp_mvm", 128, 4, 1, 512, 4, ""), 2095, 2194),
    ("hbm_small", ("f2w_mvm", 128, 8, 1, 200, 2, ""), 887, 970),
    ("hbm_small", ("f2w_mvm", 64, 2, 9, 33, 1, "gaps"), 266, 355),
    ("hbm_small", ("f2w_mvm", 128, 4, 1, 512, 4, ""), 2095, 2194),
    ("hbm_small", ("trp_mvm", 64, 12, 1, 20, 4, ""), 145, 228),
    ("hbm_small", ("f2w_mvm", 64, 9, 1, 41, 3, ""), 193, 280),
    ("hbm_small", ("f2w_mvm", 128, 4, 17, 17, 2, ""), 1137, 1226),
    ("hbm_small", ("f2w_mvm", 64, 8, 1, 500, 1, ""), 1088, 1166),
    ("hbm_small", ("f2w_mvm", 64, 9, 1, 5, 3, ""), 143, 218),
    ("hbm_small", ("f2w_mvm", 128, 8, 2, 16, 2, ""), 304, 379),
    ("hbm_small", ("dat2hbm", 128, 2, 1, 100, 1, ""), 72, 120),
    ("hbm_small", ("dat2hbm", 128, 2, 1, 100, 1, "values"), 104, 152),
    ("hbm_small", ("dat2hbm", 128, 2, 200, 0, 1, ""), 1629, 2167),
    ("hbm_small", ("dat2hbm", 64, 2, 200, 0, 1, "values"), 1292, 1400),
    ("hbm_small", ("wt2hbm", 4096, 1, 1, 0, 1, ""), 146, 203),
    ("hbm_small", ("wt2hbm", 100000, 1, 1, 0, 1, ""), 3331, 3748),
    ("hbm_small", ("norm", 32, 1, 512, 0, 1, ""), 1130, 1196),
    ("hbm_small", ("norm", 32, 1, 512, 0, 1, "layer"), 1152, 1204),
    ("hbm_small", ("softmax", 512, 4, 16, 0, 1, "causal"), 2190, 3200),
    ("hbm0923", ("norm", 4096, 1, 1, 0, 1, ""), 447, 512),
    ("hbm0923", ("norm", 4096, 1, 2, 0, 1, ""), 703, 790),
    ("hbm0923", ("norm", 1024, 1, 8, 0, 1, "layer"), 426, 869),
    ("hbm0923", ("norm", 64, 1, 360, 0, 1, ""), 789, 1932),
    ("hbm0923", ("norm", 128, 3, 17, 0, 1, "gaps"), 279, 616),
    ("hbm0923", ("norm", 768, 1, 5, 0, 1, "place"), 255, 303),
    ("hbm0923", ("norm", 64, 1, 9, 0, 1, "in out"), 87, 88),
    ("hbm0923", ("softmax", 512, 8, 1, 0, 1, ""), 211, 345),
    ("hbm0923", ("softmax", 100, 4, 5, 0, 1, ""), 139, 218),
    ("hbm0923", ("softmax", 300, 2, 40, 0, 1, "causal"), 869, 2226),
    ("hbm0923", ("softmax", 33, 3, 33, 0, 1, "causal gaps"), 251, 411),
    ("hbm0923", ("softmax", 20, 32, 1, 0, 1, "place"), 85, 127),
    ("hbm0923", ("softmax", 512, 2, 3, 0, 1, "causal"), 179, 258),
    ("hbm0923", ("softmax", 64, 2, 1, 0, 1, "in"), 59, 74),
    ("hbm0923", ("act", 4096, 1, 1, 0, 1, ""), 172, 279),
    ("hbm0923", ("act", 1000, 1, 4, 0, 1, ""), 172, 279),
    ("hbm0923", ("act", 128, 1, 360, 0, 1, ""), 1484, 2997),
    ("hbm0923", ("act", 96, 3, 7, 0, 1, "gaps"), 107, 151),
    ("hbm0923", ("elementwise", 4096, 1, 1, 0, 1, ""), 291, 434),
    ("hbm0923", ("elementwise", 2048, 1, 4, 0, 1, "place"), 547, 843),
    ("hbm0923", ("elementwise", 64, 1, 500, 0, 1, ""), 2035, 3636),
    ("hbm0923", ("elementwise", 96, 2, 17, 0, 1, "gaps"), 239, 351),
    ("hbm0923", ("elementwise", 256, 1, 12, 0, 1, "in out"), 227, 229),
    ("hbm0923", ("elementwise", 32, 1, 8, 0, 1, "out"), 51, 76),
    ("hbm0923", ("pos_emb", 128, 32, 1, 0, 1, ""), 172, 281),
    ("hbm0923", ("pos_emb", 64, 8, 20, 0, 1, ""), 400, 710),
    ("hbm0923", ("pos_emb", 128, 2, 200, 0, 1, "own"), 3240, 5284),
    ("hbm0923", ("trp_mvm", 128, 8, 1, 200, 2, ""), 174, 282),
    ("hbm0923", ("trp_mvm", 64, 2, 9, 33, 1, "gaps"), 94, 208),
    ("hbm0923", ("trp_mvm", 128, 4, 1, 512, 4, ""), 559, 679),
    ("hbm0923", ("f2w_mvm", 128, 8, 1, 200, 2, ""), 175, 275),
    ("hbm0923", ("f2w_mvm", 64, 2, 9, 33, 1, "gaps"), 93, 200),
    ("hbm0923", ("f2w_mvm", 128, 4, 1, 512, 4, ""), 559, 679),
    ("hbm0923", ("trp_mvm", 64, 12, 1, 20, 4, ""), 75, 175),
    ("hbm0923", ("f2w_mvm", 64, 9, 1, 41, 3, ""), 76, 181),
    ("hbm0923", ("f2w_mvm", 128, 4, 17, 17, 2, ""), 337, 450),
    ("hbm0923", ("f2w_mvm", 64, 8, 1, 500, 1, ""), 226, 301),
    ("hbm0923", ("trp_mvm", 128, 32, 1, 2048, 2, ""), 4158, 4263),
    ("hbm0923", ("f2w_mvm", 128, 32, 1, 2048, 2, ""), 4338, 4386),
    ("hbm0923", ("trp_mvm", 128, 32, 1, 100, 32, ""), 1071, 1191),
    ("hbm0923", ("f2w_mvm", 128, 32, 1, 100, 32, ""), 943, 1063),
    ("hbm0923", ("dat2hbm", 128, 2, 1, 100, 1, ""), 72, 121),
    ("hbm0923", ("dat2hbm", 128, 2, 1, 100, 1, "values"), 56, 105),
    ("hbm0923", ("dat2hbm", 128, 2, 200, 0, 1, ""), 1629, 1744),
    ("hbm0923", ("dat2hbm", 64, 2, 200, 0, 1, "values"), 980, 1036),
    ("hbm0923", ("wt2hbm", 4096, 1, 1, 0, 1, ""), 146, 203),
    ("hbm0923", ("wt2hbm", 100000, 1, 1, 0, 1, ""), 3331, 3734),
    ("hbm0923", ("norm", 13696, 1, 1, 0, 1, ""), 1367, 1787),
    ("hbm0923", ("norm", 4096, 1, 32, 0, 1, ""), 4543, 12628),
    ("hbm0923", ("softmax", 2048, 32, 1, 0, 1, ""), 2227, 4350),
    ("hbm0923", ("softmax", 2048, 2, 32, 0, 1, "causal"), 4275, 12191),
    ("hbm0923", ("act", 13696, 1, 1, 0, 1, ""), 472, 955),
    ("hbm0923", ("elementwise", 13696, 1, 1, 0, 1, "place"), 891, 1373),
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
    # Two passes of 128 beats, 21 steps between them and 19 behind.
    assert expected(_with("hbm0923", SfuInterval=4), norm) - base == pytest.approx(2 * (2 * 128 + 40), abs=8)
    steps, base = 64 * 8, expected(DEVICES["hbm0923"], attention)  # both heads are one group
    assert expected(_with("hbm0923", AttInterval=2), attention) - base == pytest.approx(steps, abs=8)
    assert expected(_with("hbm0923", AttQueries=1), attention) - base == pytest.approx(steps, abs=8)


def test_it_follows_the_operators_latencies() -> None:
    """Cycles a sum, a product or a rounding takes come once an instruction."""
    for shape, latencies in (
        (Shape("trp_mvm", 128, lines=2, total=512), ("DotLatency", "RoundLatency", "ScaleLatency", "NarrowLatency")),
        (Shape("elementwise", 4096), ("AddLatency", "NarrowLatency")),
        (Shape("act", 4096), ("ScaleLatency", "AddLatency", "NarrowLatency")),
        (Shape("pos_emb", 128, lines=32), ("ScaleLatency", "AddLatency", "NarrowLatency")),
        (Shape("norm", 4096), ("ScaleLatency", "ScaleLatency", "AddLatency", "NarrowLatency")),
        (Shape("norm", 4096, mode="layer"), ("ScaleLatency", "ScaleLatency", "AddLatency", "NarrowLatency")),
    ):
        base = expected(DEVICES["hbm0923"], shape)
        changed = {name: DEVICES["hbm0923"].parameters[name] + 2 for name in latencies}
        assert expected(_with("hbm0923", **changed), shape) - base == 2 * len(latencies)


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
