"""Activation tables: 16 segments of FP16 (x, k, b) for the usual functions, fitted by `fleet.sets.hbm0923.numerics.act_fit`.

`python -m fleet.sets.hbm0923.numerics.act_fit` prints the numbers below. They are stored here so that a program's bits do not
depend on a mathematical library. y = k * x + b in the last segment whose x is not above the input. ReLU consists of two lines, so
its table is exact and not fitted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fleet.sdk import DeviceError

_TABLES: dict[str, tuple[str, str, str]] = {
    "silu": (
        "FC00 C79F C4FD C320 BE28 BC14 B8E0 B3E0 2E80 3750 3AC0 3D38 3FF8 4342 450C 47A0",
        "0000 A1D4 A9C8 ADB1 1963 3052 34AF 3769 3917 3A69 3B92 3C3A 3C5B 3C2D 3C0B 3C00",
        "0000 AD8E B416 B69A B458 B05D A91C 18BE A3AA ADC4 B2CA B5B1 B69A B401 AD4D 0000",
    ),
    "gelu": (
        "FC00 C26C C0C2 BF3C BBB0 B950 B6C0 B280 1C00 32C0 36E0 3960 3BC0 3FDC 411C 426E",
        "0000 A5AE ACD3 AF75 A5D4 2EDC 3421 36B6 38AB 39F5 3B29 3C19 3C78 3C3D 3C12 3C00",
        "0000 AC90 B255 B46A B1F1 AE58 A881 982C 98CC A89D AE6C B1FC B46D B13C AB5A 0000",
    ),
    "gelu_tanh": (
        "FC00 C254 C0BA BF30 BBB0 B950 B6C0 B280 1C00 32C0 36E0 3960 3BC0 3FE4 4120 4256",
        "0000 A604 ACF7 AF76 A5BC 2EDD 3421 36B6 38AB 39F5 3B29 3C18 3C78 3C3D 3C12 3C00",
        "0000 ACC3 B279 B46B B1EF AE58 A881 982C 98CC A89D AE6C B1F6 B46E B13A AB48 0000",
    ),
    "sigmoid": (
        "FC00 C663 C432 C242 C0C8 BF34 BD14 B9D8 2EC0 3A78 3D5C 3F80 40F2 4274 4455 4664",
        "0000 1E22 267D 2B43 2E45 30AB 3246 33B4 338B 3212 3078 2DEB 2ABF 25DA 1DA2 0000",
        "0000 28E6 2FA6 32F8 3510 3672 3777 37FD 3806 3852 38DB 3990 3A59 3B1E 3BB7 3C00",
    ),
    "tanh": (
        "FC00 C266 C038 BE4C BCD4 BB48 B928 B600 2500 3640 3948 3B68 3CE4 3E60 4048 4268",
        "0000 2602 2E58 331E 362A 389B 3A36 3BA9 3B9B 3A24 3888 360D 32F0 2E1B 25CB 0000",
        "BC00 BB66 BA1F B891 B5FC B26A AC88 994C 1C3A 2CD2 32A6 361B 38A1 3A2D 3B6B 3C00",
    ),
    "relu": ("FC00" + 15 * " 0000", "0000" + 15 * " 3C00", 15 * "0000 " + "0000"),
}

ERRORS: dict[str, float] = {
    "silu": 0.00565,
    "gelu": 0.00293,
    "gelu_tanh": 0.00302,
    "sigmoid": 0.00192,
    "tanh": 0.00363,
    "relu": 0.0,
}
"""The largest |y - f(x)| over every finite FP16 input, including the rounding of y; rounded up."""


def act_table(name: str) -> npt.NDArray[np.float16]:
    """Return the table [3, 16] (x, k, b) of a function. Raises DeviceError for other names.

    Names: "silu", "gelu" (with erf), "gelu_tanh" (its approximation), "sigmoid", "tanh", "relu".
    """
    if name not in _TABLES:
        raise DeviceError(f"no activation table '{name}', known are {', '.join(_TABLES)}")
    return np.array([[int(v, 16) for v in row.split()] for row in _TABLES[name]], np.uint16).view(np.float16)
