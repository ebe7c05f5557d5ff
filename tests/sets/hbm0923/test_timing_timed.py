"""The cost formula for timed memory against cycles that the RTL took, the mean over refresh phases (start to commit).

`python benchmarks/timed_cycles.py --rows` measures them and prints the rows.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from test_timing import operands

from fleet.errors import DeviceError
from fleet.sdk import Device
from fleet.sets.hbm0923 import INSTRUCTION_SET
from fleet.sets.hbm0923.cycles.mvm import mvm_cycles
from fleet.sets.hbm0923.cycles.mvm_timed import timed_cycles

# device, tokens, CHin, CHout, Tblk, mode, mean of the cycles
MEASURED = [
    ("hbm0923", 32, 64, 128, 128, "bn", 272),
    ("hbm0923", 32, 128, 128, 128, "res", 458),
    ("hbm0923", 32, 128, 10, 128, "argmax", 251),
    ("hbm0923", 1, 4096, 256, 128, "mvm", 682),
    ("hbm0923", 1, 4096, 256, 128, "bn", 682),
    ("hbm0923", 1, 4096, 256, 32, "mvm", 727),
    ("hbm0923", 16, 4096, 256, 128, "mvm", 9463),
    ("hbm0923", 20, 64, 128, 128, "mvm", 221),
    ("hbm0923", 1, 576, 1000, 32, "mvm", 533),
    ("hbm0923", 1, 576, 1000, 128, "bn", 502),
    ("hbm0923", 100, 128, 10, 128, "mvm", 538),
    ("hbm0923", 1, 32, 8, 128, "mvm", 137),
    ("hbm0923", 3, 2100, 40, 128, "res", 385),
    ("hbm0923", 7, 300, 200, 64, "argmax", 401),
    ("hbm0923", 40, 640, 96, 64, "res", 1793),
    ("hbm0923", 64, 256, 64, 32, "bn", 880),
    ("hbm0923", 2, 1024, 512, 128, "res", 665),
    ("hbm0923", 5, 100, 70, 128, "bn", 170),
    ("hbm0923", 200, 32, 32, 32, "res", 671),
    ("hbm0923", 12, 768, 768, 128, "bn", 3692),
    ("hbm0923", 1, 2048, 2048, 128, "argmax", 2267),
    ("hbm0923", 8, 2048, 64, 64, "mvm", 888),
    ("hbm0923", 17, 2048, 7, 128, "mvm", 1237),
    ("hbm0923", 8, 31, 9, 128, "mvm", 144),
    ("hbm0923", 1, 16384, 40, 64, "bn", 860),
    ("hbm0923", 2, 1, 33, 128, "mvm", 144),
    ("hbm0923", 2, 65, 33, 32, "bn", 147),
    ("hbm0923", 3, 96, 32, 32, "mvm", 142),
    ("hbm0923", 1, 64, 70, 128, "mvm", 146),
    ("hbm0923", 1, 96, 33, 128, "bn", 144),
    ("hbm0923", 1, 636, 65, 128, "res", 177),
    ("hbm0923", 64, 4096, 256, 128, "mvm", 37364),
    ("hbm0923", 4, 8192, 256, 128, "bn", 4922),
    ("hbm0923", 250, 200, 133, 128, "argmax", 6353),
    ("hbm0923", 500, 64, 64, 64, "mvm", 2082),
    ("hbm0923", 60, 1000, 400, 128, "mvm", 13605),
    ("hbm0923", 2, 131072, 33, 32, "mvm", 12943),
    ("hbm0923", 1, 4096, 4096, 128, "mvm", 8599),
    ("hbm0923", 1, 4096, 13696, 128, "mvm", 28399),
    ("hbm0923", 1, 13696, 4096, 128, "mvm", 28439),
    ("hbm0923", 1, 4096, 4608, 128, "bn", 9655),
    ("hbm0923", 1, 4096, 4096, 64, "res", 8855),
    ("hbm0923", 1, 1024, 1024, 128, "mvm", 695),
    ("hbm0923", 1, 4096, 1024, 128, "mvm", 2263),
    ("hbm0923", 1, 512, 4096, 128, "mvm", 1303),
    ("hbm0923", 17, 4096, 1024, 128, "bn", 36188),
    ("hbm0923", 3, 4096, 4096, 128, "mvm", 24853),
    ("hbm0923", 2, 4096, 2048, 128, "mvm", 8397),
    ("hbm0923", 2048, 512, 3, 128, "mvm", 116555),
    ("hbm_small", 360, 64, 128, 128, "bn", 6718),
    ("hbm_small", 360, 128, 128, 128, "res", 14070),
    ("hbm_small", 360, 128, 10, 128, "argmax", 2968),
    ("hbm_small", 32, 64, 128, 128, "bn", 649),
    ("hbm_small", 32, 128, 128, 128, "res", 1277),
    ("hbm_small", 32, 128, 10, 128, "argmax", 310),
    ("hbm_small", 1, 4096, 256, 128, "mvm", 2240),
    ("hbm_small", 1, 4096, 256, 128, "bn", 2241),
    ("hbm_small", 1, 4096, 256, 32, "mvm", 2427),
    ("hbm_small", 16, 4096, 256, 128, "mvm", 34029),
    ("hbm_small", 20, 64, 128, 128, "mvm", 439),
    ("hbm_small", 1, 576, 1000, 32, "mvm", 1494),
    ("hbm_small", 1, 576, 1000, 128, "bn", 1369),
    ("hbm_small", 100, 128, 10, 128, "mvm", 746),
    ("hbm_small", 1, 32, 8, 128, "mvm", 102),
    ("hbm_small", 3, 2100, 40, 128, "res", 695),
    ("hbm_small", 7, 300, 200, 64, "argmax", 1016),
    ("hbm_small", 40, 640, 96, 64, "res", 5401),
    ("hbm_small", 64, 256, 64, 32, "bn", 2430),
    ("hbm_small", 2, 1024, 512, 128, "res", 2188),
    ("hbm_small", 5, 100, 70, 128, "bn", 198),
    ("hbm_small", 200, 32, 32, 32, "res", 1884),
    ("hbm_small", 12, 768, 768, 128, "bn", 14068),
    ("hbm_small", 1, 2048, 2048, 128, "argmax", 8575),
    ("hbm_small", 8, 2048, 64, 64, "mvm", 2442),
    ("hbm_small", 17, 2048, 7, 128, "mvm", 1239),
    ("hbm_small", 8, 31, 9, 128, "mvm", 117),
    ("hbm_small", 1, 16384, 40, 64, "bn", 1635),
    ("hbm_small", 2, 1, 33, 128, "mvm", 115),
    ("hbm_small", 2, 65, 33, 32, "bn", 125),
    ("hbm_small", 3, 96, 32, 32, "mvm", 128),
    ("hbm_small", 1, 64, 70, 128, "mvm", 123),
    ("hbm_small", 1, 96, 33, 128, "bn", 118),
    ("hbm_small", 1, 636, 65, 128, "res", 220),
    ("hbm_small", 4, 8192, 64, 128, "bn", 4932),
    ("hbm_small", 250, 200, 33, 128, "argmax", 6346),
    ("hbm_small", 500, 64, 64, 64, "mvm", 5184),
    ("hbm_small", 60, 1000, 100, 128, "mvm", 13611),
    ("hbm_small", 2, 16384, 9, 32, "mvm", 1701),
    ("hbm_small", 1, 4096, 1024, 128, "mvm", 8571),
    ("hbm_small", 1, 1024, 1024, 128, "mvm", 2299),
    ("hbm_small", 2, 2048, 512, 128, "mvm", 4244),
]
DEVICES = INSTRUCTION_SET.devices


def test_cost_follows_the_rtl() -> None:
    errors = {(name, *case): timed_cycles(DEVICES[name], operands(*case)) / cycles - 1 for name, *case, cycles in MEASURED}
    sizes = np.abs(list(errors.values()))
    assert np.median(sizes) < 0.03, errors
    assert np.quantile(sizes, 0.95) < 0.08, errors
    assert sizes.max() < 0.15, errors


def test_timed_memory_is_never_faster_than_ideal() -> None:
    for name, *case, _ in MEASURED:
        assert timed_cycles(DEVICES[name], operands(*case)) > mvm_cycles(DEVICES[name], operands(*case)), (name, case)


def _with(space: str, **values: float) -> Device:
    device = DEVICES["hbm0923"]
    return dataclasses.replace(device, timing={**device.timing, space: {**device.timing[space], **values}})


def test_it_follows_the_devices_figures() -> None:
    o = operands(1, 4096, 4096, 128, "mvm")
    base, ideal = timed_cycles(DEVICES["hbm0923"], o), mvm_cycles(DEVICES["hbm0923"], o)
    calm = timed_cycles(_with("hbm", t_refi_ns=1e8), o)
    assert calm - ideal < 80, "latencies alone"
    refresh = 0.28 * (260 + 2 * 14 / 0.9)
    assert 0 < base - calm < refresh, "only one that comes before the buffers have filled is seen"
    small = timed_cycles(_with("hbm", return_beats=16), o)
    assert small - calm == pytest.approx((refresh - 16) * small / (0.28 * 3900), rel=0.15)
    assert timed_cycles(_with("hbm", clock_mhz=400.0), o) > 1.3 * base, "6.4 GB/s a port, the core takes 8.96"
    # The answer of the last write; the load's latency hides behind the weights.
    assert timed_cycles(_with("ddr", request_ns=1000.0), o) == pytest.approx(base + 0.28 * 943, abs=40)


def test_instructions_say_what_they_expect() -> None:
    device, o = DEVICES["hbm0923"], operands(1, 4096, 256, 128, "mvm")
    mvm, fields = INSTRUCTION_SET.instructions["mvm"], o.encode(DEVICES["hbm0923"])
    assert mvm.expected_cycles(device, fields) == mvm.cost(device, fields)
    assert mvm.expected_cycles(device, fields, "timed") == timed_cycles(device, o)
    assert mvm.expected_cycles(device, fields, "stall") is None
    with pytest.raises(DeviceError, match=r"no table \[timing.hbm\]"):
        mvm.expected_cycles(dataclasses.replace(device, timing={}), fields, "timed")
