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
    ("hbm0923", 32, 64, 128, 128, "bn", 294),
    ("hbm0923", 32, 128, 128, 128, "res", 488),
    ("hbm0923", 32, 128, 10, 128, "argmax", 276),
    ("hbm0923", 1, 4096, 256, 128, "mvm", 694),
    ("hbm0923", 1, 4096, 256, 128, "bn", 705),
    ("hbm0923", 1, 4096, 256, 32, "mvm", 739),
    ("hbm0923", 16, 4096, 256, 128, "mvm", 9475),
    ("hbm0923", 20, 64, 128, 128, "mvm", 233),
    ("hbm0923", 1, 576, 1000, 32, "mvm", 514),
    ("hbm0923", 1, 576, 1000, 128, "bn", 495),
    ("hbm0923", 100, 128, 10, 128, "mvm", 549),
    ("hbm0923", 1, 32, 8, 128, "mvm", 149),
    ("hbm0923", 3, 2100, 40, 128, "res", 416),
    ("hbm0923", 7, 300, 200, 64, "argmax", 426),
    ("hbm0923", 40, 640, 96, 64, "res", 1824),
    ("hbm0923", 64, 256, 64, 32, "bn", 901),
    ("hbm0923", 2, 1024, 512, 128, "res", 696),
    ("hbm0923", 5, 100, 70, 128, "bn", 193),
    ("hbm0923", 200, 32, 32, 32, "res", 664),
    ("hbm0923", 12, 768, 768, 128, "bn", 3714),
    ("hbm0923", 1, 2048, 2048, 128, "argmax", 2292),
    ("hbm0923", 8, 2048, 64, 64, "mvm", 900),
    ("hbm0923", 17, 2048, 7, 128, "mvm", 1248),
    ("hbm0923", 8, 31, 9, 128, "mvm", 156),
    ("hbm0923", 1, 16384, 40, 64, "bn", 883),
    ("hbm0923", 2, 1, 33, 128, "mvm", 154),
    ("hbm0923", 2, 65, 33, 32, "bn", 170),
    ("hbm0923", 3, 96, 32, 32, "mvm", 154),
    ("hbm0923", 1, 64, 70, 128, "mvm", 156),
    ("hbm0923", 1, 96, 33, 128, "bn", 167),
    ("hbm0923", 1, 636, 65, 128, "res", 208),
    ("hbm0923", 64, 4096, 256, 128, "mvm", 37375),
    ("hbm0923", 4, 8192, 256, 128, "bn", 4940),
    ("hbm0923", 250, 200, 133, 128, "argmax", 6361),
    ("hbm0923", 500, 64, 64, 64, "mvm", 2092),
    ("hbm0923", 60, 1000, 400, 128, "mvm", 13620),
    ("hbm0923", 2, 131072, 33, 32, "mvm", 12958),
    ("hbm0923", 1, 4096, 4096, 128, "mvm", 8611),
    ("hbm0923", 1, 4096, 13696, 128, "mvm", 28411),
    ("hbm0923", 1, 13696, 4096, 128, "mvm", 28451),
    ("hbm0923", 1, 4096, 4608, 128, "bn", 9678),
    ("hbm0923", 1, 4096, 4096, 64, "res", 8886),
    ("hbm0923", 1, 1024, 1024, 128, "mvm", 707),
    ("hbm0923", 1, 4096, 1024, 128, "mvm", 2275),
    ("hbm0923", 1, 512, 4096, 128, "mvm", 1315),
    ("hbm0923", 17, 4096, 1024, 128, "bn", 36204),
    ("hbm0923", 3, 4096, 4096, 128, "mvm", 24865),
    ("hbm0923", 2, 4096, 2048, 128, "mvm", 8408),
    ("hbm0923", 2048, 512, 3, 128, "mvm", 116111),
    ("hbm_small", 360, 64, 128, 128, "bn", 6748),
    ("hbm_small", 360, 128, 128, 128, "res", 14182),
    ("hbm_small", 360, 128, 10, 128, "argmax", 3007),
    ("hbm_small", 32, 64, 128, 128, "bn", 673),
    ("hbm_small", 32, 128, 128, 128, "res", 1315),
    ("hbm_small", 32, 128, 10, 128, "argmax", 334),
    ("hbm_small", 1, 4096, 256, 128, "mvm", 2252),
    ("hbm_small", 1, 4096, 256, 128, "bn", 2264),
    ("hbm_small", 1, 4096, 256, 32, "mvm", 2439),
    ("hbm_small", 16, 4096, 256, 128, "mvm", 34041),
    ("hbm_small", 20, 64, 128, 128, "mvm", 451),
    ("hbm_small", 1, 576, 1000, 32, "mvm", 1506),
    ("hbm_small", 1, 576, 1000, 128, "bn", 1392),
    ("hbm_small", 100, 128, 10, 128, "mvm", 757),
    ("hbm_small", 1, 32, 8, 128, "mvm", 114),
    ("hbm_small", 3, 2100, 40, 128, "res", 726),
    ("hbm_small", 7, 300, 200, 64, "argmax", 1040),
    ("hbm_small", 40, 640, 96, 64, "res", 5433),
    ("hbm_small", 64, 256, 64, 32, "bn", 2452),
    ("hbm_small", 2, 1024, 512, 128, "res", 2219),
    ("hbm_small", 5, 100, 70, 128, "bn", 221),
    ("hbm_small", 200, 32, 32, 32, "res", 1929),
    ("hbm_small", 12, 768, 768, 128, "bn", 14091),
    ("hbm_small", 1, 2048, 2048, 128, "argmax", 8599),
    ("hbm_small", 8, 2048, 64, 64, "mvm", 2454),
    ("hbm_small", 17, 2048, 7, 128, "mvm", 1251),
    ("hbm_small", 8, 31, 9, 128, "mvm", 129),
    ("hbm_small", 1, 16384, 40, 64, "bn", 1658),
    ("hbm_small", 2, 1, 33, 128, "mvm", 127),
    ("hbm_small", 2, 65, 33, 32, "bn", 148),
    ("hbm_small", 3, 96, 32, 32, "mvm", 140),
    ("hbm_small", 1, 64, 70, 128, "mvm", 135),
    ("hbm_small", 1, 96, 33, 128, "bn", 141),
    ("hbm_small", 1, 636, 65, 128, "res", 250),
    ("hbm_small", 4, 8192, 64, 128, "bn", 4950),
    ("hbm_small", 250, 200, 33, 128, "argmax", 6354),
    ("hbm_small", 500, 64, 64, 64, "mvm", 5194),
    ("hbm_small", 60, 1000, 100, 128, "mvm", 13622),
    ("hbm_small", 2, 16384, 9, 32, "mvm", 1715),
    ("hbm_small", 1, 4096, 1024, 128, "mvm", 8583),
    ("hbm_small", 1, 1024, 1024, 128, "mvm", 2311),
    ("hbm_small", 2, 2048, 512, 128, "mvm", 4256),
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
