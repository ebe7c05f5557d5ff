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
    ("hbm_small", 360, 64, 128, 128, "bn", 6159),
    ("hbm_small", 360, 128, 128, 128, "res", 12678),
    ("hbm_small", 360, 128, 10, 128, "argmax", 2578),
    ("hbm_small", 32, 64, 128, 128, "bn", 583),
    ("hbm_small", 32, 128, 128, 128, "res", 1174),
    ("hbm_small", 32, 128, 10, 128, "argmax", 261),
    ("hbm_small", 1, 4096, 256, 128, "mvm", 2144),
    ("hbm_small", 1, 4096, 256, 128, "bn", 2145),
    ("hbm_small", 1, 4096, 256, 32, "mvm", 2336),
    ("hbm_small", 16, 4096, 256, 128, "mvm", 33823),
    ("hbm_small", 20, 64, 128, 128, "mvm", 371),
    ("hbm_small", 1, 576, 1000, 32, "mvm", 1407),
    ("hbm_small", 1, 576, 1000, 128, "bn", 1282),
    ("hbm_small", 100, 128, 10, 128, "mvm", 631),
    ("hbm_small", 1, 32, 8, 128, "mvm", 34),
    ("hbm_small", 3, 2100, 40, 128, "res", 644),
    ("hbm_small", 7, 300, 200, 64, "argmax", 965),
    ("hbm_small", 40, 640, 96, 64, "res", 5317),
    ("hbm_small", 64, 256, 64, 32, "bn", 2339),
    ("hbm_small", 2, 1024, 512, 128, "res", 2143),
    ("hbm_small", 5, 100, 70, 128, "bn", 137),
    ("hbm_small", 200, 32, 32, 32, "res", 1033),
    ("hbm_small", 12, 768, 768, 128, "bn", 14015),
    ("hbm_small", 1, 2048, 2048, 128, "argmax", 8484),
    ("hbm_small", 8, 2048, 64, 64, "mvm", 2335),
    ("hbm_small", 17, 2048, 7, 128, "mvm", 1119),
    ("hbm_small", 8, 31, 9, 128, "mvm", 49),
    ("hbm_small", 1, 16384, 40, 64, "bn", 1571),
    ("hbm_small", 2, 1, 33, 128, "mvm", 43),
    ("hbm_small", 2, 65, 33, 32, "bn", 57),
    ("hbm_small", 3, 96, 32, 32, "mvm", 58),
    ("hbm_small", 1, 64, 70, 128, "mvm", 50),
    ("hbm_small", 1, 96, 33, 128, "bn", 47),
    ("hbm_small", 1, 636, 65, 128, "res", 138),
    ("hbm_small", 4, 8192, 64, 128, "bn", 4643),
    ("hbm_small", 250, 200, 33, 128, "argmax", 6053),
    ("hbm_small", 500, 64, 64, 64, "mvm", 4531),
    ("hbm_small", 60, 1000, 100, 128, "mvm", 13471),
    ("hbm_small", 2, 16384, 9, 32, "mvm", 1605),
    ("hbm0923", 32, 64, 128, 128, "bn", 199),
    ("hbm0923", 32, 128, 128, 128, "res", 406),
    ("hbm0923", 32, 128, 10, 128, "argmax", 197),
    ("hbm0923", 1, 4096, 256, 128, "mvm", 607),
    ("hbm0923", 1, 4096, 256, 128, "bn", 609),
    ("hbm0923", 1, 4096, 256, 32, "mvm", 608),
    ("hbm0923", 16, 4096, 256, 128, "mvm", 9247),
    ("hbm0923", 20, 64, 128, 128, "mvm", 131),
    ("hbm0923", 1, 576, 1000, 32, "mvm", 384),
    ("hbm0923", 1, 576, 1000, 128, "bn", 352),
    ("hbm0923", 100, 128, 10, 128, "mvm", 431),
    ("hbm0923", 1, 32, 8, 128, "mvm", 34),
    ("hbm0923", 3, 2100, 40, 128, "res", 338),
    ("hbm0923", 7, 300, 200, 64, "argmax", 335),
    ("hbm0923", 40, 640, 96, 64, "res", 1717),
    ("hbm0923", 64, 256, 64, 32, "bn", 803),
    ("hbm0923", 2, 1024, 512, 128, "res", 607),
    ("hbm0923", 5, 100, 70, 128, "bn", 77),
    ("hbm0923", 200, 32, 32, 32, "res", 433),
    ("hbm0923", 12, 768, 768, 128, "bn", 3647),
    ("hbm0923", 1, 2048, 2048, 128, "argmax", 2148),
    ("hbm0923", 8, 2048, 64, 64, "mvm", 799),
    ("hbm0923", 17, 2048, 7, 128, "mvm", 1119),
    ("hbm0923", 8, 31, 9, 128, "mvm", 41),
    ("hbm0923", 1, 16384, 40, 64, "bn", 803),
    ("hbm0923", 2, 1, 33, 128, "mvm", 37),
    ("hbm0923", 2, 65, 33, 32, "bn", 45),
    ("hbm0923", 3, 96, 32, 32, "mvm", 40),
    ("hbm0923", 1, 64, 70, 128, "mvm", 38),
    ("hbm0923", 1, 96, 33, 128, "bn", 38),
    ("hbm0923", 1, 636, 65, 128, "res", 78),
    ("hbm0923", 64, 4096, 256, 128, "mvm", 36895),
    ("hbm0923", 4, 8192, 256, 128, "bn", 4655),
    ("hbm0923", 250, 200, 133, 128, "argmax", 6059),
    ("hbm0923", 500, 64, 64, 64, "mvm", 1531),
    ("hbm0923", 60, 1000, 400, 128, "mvm", 13471),
    ("hbm0923", 2, 131072, 33, 32, "mvm", 12581),
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
