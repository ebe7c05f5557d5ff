"""The cost formula against cycles that the RTL took with ideal memory (start to commit).

`python benchmarks/mvm_cycles.py` measures them and prints the rows.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from mvm_devices import make_device

from fleet.sets.hbm0923.cycles.mvm import mvm_cycles, mvm_macs
from fleet.sets.hbm0923.mvm_operands import MvmFields

# device, tokens, CHin, CHout, Tblk, mode, cycles
MEASURED = [
    ("hbm_small", 360, 64, 128, 128, "bn", 6182),
    ("hbm_small", 360, 128, 128, 128, "res", 12709),
    ("hbm_small", 360, 128, 10, 128, "argmax", 2602),
    ("hbm_small", 32, 64, 128, 128, "bn", 606),
    ("hbm_small", 32, 128, 128, 128, "res", 1205),
    ("hbm_small", 32, 128, 10, 128, "argmax", 285),
    ("hbm_small", 1, 4096, 256, 128, "mvm", 2156),
    ("hbm_small", 1, 4096, 256, 128, "bn", 2168),
    ("hbm_small", 1, 4096, 256, 32, "mvm", 2348),
    ("hbm_small", 16, 4096, 256, 128, "mvm", 33835),
    ("hbm_small", 20, 64, 128, 128, "mvm", 383),
    ("hbm_small", 1, 576, 1000, 32, "mvm", 1419),
    ("hbm_small", 1, 576, 1000, 128, "bn", 1305),
    ("hbm_small", 100, 128, 10, 128, "mvm", 643),
    ("hbm_small", 1, 32, 8, 128, "mvm", 46),
    ("hbm_small", 3, 2100, 40, 128, "res", 675),
    ("hbm_small", 7, 300, 200, 64, "argmax", 989),
    ("hbm_small", 40, 640, 96, 64, "res", 5348),
    ("hbm_small", 64, 256, 64, 32, "bn", 2362),
    ("hbm_small", 2, 1024, 512, 128, "res", 2174),
    ("hbm_small", 5, 100, 70, 128, "bn", 160),
    ("hbm_small", 200, 32, 32, 32, "res", 1064),
    ("hbm_small", 12, 768, 768, 128, "bn", 14038),
    ("hbm_small", 1, 2048, 2048, 128, "argmax", 8508),
    ("hbm_small", 8, 2048, 64, 64, "mvm", 2347),
    ("hbm_small", 17, 2048, 7, 128, "mvm", 1131),
    ("hbm_small", 8, 31, 9, 128, "mvm", 61),
    ("hbm_small", 1, 16384, 40, 64, "bn", 1594),
    ("hbm_small", 2, 1, 33, 128, "mvm", 55),
    ("hbm_small", 2, 65, 33, 32, "bn", 80),
    ("hbm_small", 3, 96, 32, 32, "mvm", 70),
    ("hbm_small", 1, 64, 70, 128, "mvm", 62),
    ("hbm_small", 1, 96, 33, 128, "bn", 70),
    ("hbm_small", 1, 636, 65, 128, "res", 169),
    ("hbm_small", 4, 8192, 64, 128, "bn", 4666),
    ("hbm_small", 250, 200, 33, 128, "argmax", 6077),
    ("hbm_small", 500, 64, 64, 64, "mvm", 4543),
    ("hbm_small", 60, 1000, 100, 128, "mvm", 13483),
    ("hbm_small", 2, 16384, 9, 32, "mvm", 1620),
    ("hbm0923", 32, 64, 128, 128, "bn", 222),
    ("hbm0923", 32, 128, 128, 128, "res", 437),
    ("hbm0923", 32, 128, 10, 128, "argmax", 222),
    ("hbm0923", 1, 4096, 256, 128, "mvm", 619),
    ("hbm0923", 1, 4096, 256, 128, "bn", 632),
    ("hbm0923", 1, 4096, 256, 32, "mvm", 620),
    ("hbm0923", 16, 4096, 256, 128, "mvm", 9259),
    ("hbm0923", 20, 64, 128, 128, "mvm", 143),
    ("hbm0923", 1, 576, 1000, 32, "mvm", 396),
    ("hbm0923", 1, 576, 1000, 128, "bn", 375),
    ("hbm0923", 100, 128, 10, 128, "mvm", 443),
    ("hbm0923", 1, 32, 8, 128, "mvm", 46),
    ("hbm0923", 3, 2100, 40, 128, "res", 369),
    ("hbm0923", 7, 300, 200, 64, "argmax", 360),
    ("hbm0923", 40, 640, 96, 64, "res", 1748),
    ("hbm0923", 64, 256, 64, 32, "bn", 826),
    ("hbm0923", 2, 1024, 512, 128, "res", 638),
    ("hbm0923", 5, 100, 70, 128, "bn", 100),
    ("hbm0923", 200, 32, 32, 32, "res", 464),
    ("hbm0923", 12, 768, 768, 128, "bn", 3670),
    ("hbm0923", 1, 2048, 2048, 128, "argmax", 2173),
    ("hbm0923", 8, 2048, 64, 64, "mvm", 811),
    ("hbm0923", 17, 2048, 7, 128, "mvm", 1131),
    ("hbm0923", 8, 31, 9, 128, "mvm", 53),
    ("hbm0923", 1, 16384, 40, 64, "bn", 826),
    ("hbm0923", 2, 1, 33, 128, "mvm", 49),
    ("hbm0923", 2, 65, 33, 32, "bn", 68),
    ("hbm0923", 3, 96, 32, 32, "mvm", 52),
    ("hbm0923", 1, 64, 70, 128, "mvm", 50),
    ("hbm0923", 1, 96, 33, 128, "bn", 61),
    ("hbm0923", 1, 636, 65, 128, "res", 109),
    ("hbm0923", 64, 4096, 256, 128, "mvm", 36907),
    ("hbm0923", 4, 8192, 256, 128, "bn", 4678),
    ("hbm0923", 250, 200, 133, 128, "argmax", 6084),
    ("hbm0923", 500, 64, 64, 64, "mvm", 1543),
    ("hbm0923", 60, 1000, 400, 128, "mvm", 13483),
    ("hbm0923", 2, 131072, 33, 32, "mvm", 12596),
]


def operands(tokens: int, chin: int, chout: int, tblk: int, mode: str) -> MvmFields:
    """An instruction of that size; its addresses do not matter."""
    stride = tokens * 64
    o = MvmFields(chin, chout, tokens, tblk, 0, 0, 1 << 20, stride, stride, stride, stride)
    at = 1 << 24
    extra = {"mvm": {}, "bn": {"bn": at}, "argmax": {"bn": at, "argmax": 2 * at}, "res": {"bn": at, "residual": 2 * at}}
    return dataclasses.replace(o, **extra[mode])


def test_cost_follows_the_rtl() -> None:
    errors = {(name, *case): mvm_cycles(make_device(name), operands(*case)) / cycles - 1 for name, *case, cycles in MEASURED}
    sizes = np.abs(list(errors.values()))
    assert np.median(sizes) == 0, errors
    assert np.quantile(sizes, 0.95) < 0.01, errors
    assert sizes.max() < 0.03, errors
    assert all(error == 0 for case, error in errors.items() if case[-1] == "mvm"), errors


def test_issued_work_counts_whole_words_and_blocks() -> None:
    o = MvmFields(100, 10, 3, 64, 0, 0, 1 << 20, 192, 192, 192, 192)
    assert mvm_macs(make_device("hbm_small"), o) == (3 * 100 * 10, 3 * 128 * 16)
    assert mvm_macs(make_device("hbm0923"), o) == (3 * 100 * 10, 3 * 128 * 32)


def test_it_follows_the_operators_latencies() -> None:
    """A cycle more of an operator is one more per instruction that has it; a residual's sum and product run side by side."""
    device = make_device("hbm0923")

    def cost(mode: str, **changed: int) -> int:
        return mvm_cycles(
            dataclasses.replace(device, parameters={**device.parameters, **changed}), operands(1, 4096, 256, 128, mode)
        )

    for name, more in {
        "ArrayLatency": (2, 2, 2), "ProductLatency": (2, 2, 2), "RoundLatency": (2, 2, 2), "NarrowLatency": (2, 2, 2),
        "ScaleLatency": (0, 2, 2), "AddLatency": (0, 2, 4),
    }.items():  # fmt: skip
        longer = {name: device.parameters[name] + 2}
        assert tuple(cost(mode, **longer) - cost(mode) for mode in ("mvm", "bn", "res")) == more, name
