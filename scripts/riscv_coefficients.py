"""Polynomials of the RISC-V target's functions: writes fleet/targets/riscv/kernels/coefficients.py.

    python scripts/riscv_coefficients.py            # writes it
    python scripts/riscv_coefficients.py --check    # fails when it is not current

Each is the interpolation of a smooth function in the Chebyshev nodes of its interval, computed with 300 bits by mpmath and
rounded to float64: within a small factor of the best polynomial of its degree.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath

TARGET = Path(__file__).parents[1] / "fleet" / "targets" / "riscv" / "kernels" / "coefficients.py"

Function = Callable[[Any], Any]


def interpolate(function: Function, low: float, high: float, degree: int) -> list[Any]:
    """Monomial coefficients, lowest first."""
    n = degree + 1
    nodes = [
        (mpmath.mpf(low) + high) / 2 + (mpmath.mpf(high) - low) / 2 * mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * n))
        for i in range(n)
    ]
    table = [function(x) for x in nodes]
    for level in range(1, n):  # divided differences
        for i in range(n - 1, level - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - level])
    result = [table[-1]]
    for i in range(n - 2, -1, -1):  # times (x - node) plus the next difference
        result = [mpmath.mpf(0), *result]
        for j in range(len(result) - 1):
            result[j] -= nodes[i] * result[j + 1]
        result[0] += table[i]
    return result


def exp2_ratio(r: Any) -> Any:
    """(2**r - 1) / r."""
    return mpmath.expm1(r * mpmath.log(2)) / r if abs(r) > 1e-40 else mpmath.log(2)


def erf_ratio(z: Any) -> Any:
    """erf(y) / y at z = y**2."""
    y = mpmath.sqrt(z)
    return mpmath.erf(y) / y if z > 1e-40 else 2 / mpmath.sqrt(mpmath.pi) * (1 - z / 3)


def tail(t: Any) -> Any:
    """exp(y**2) erfc(y) at y = 2.25 (1 + t) / (1 - t)."""
    y = mpmath.mpf(9) / 4 * (1 + t) / (1 - t)
    return mpmath.exp(y * y) * mpmath.erfc(y)


POLYNOMIALS: tuple[tuple[str, str, Function, float, float, int], ...] = (
    ("EXP2_SHORT", "(2**r - 1) / r, |r| <= 1/2; 2**r to 2**-27", exp2_ratio, -0.5, 0.5, 5),
    ("EXP2_LONG", "(2**r - 1) / r, |r| <= 1/2; 2**r to 2**-34", exp2_ratio, -0.5, 0.5, 6),
    ("ERF_WIDE", "erf(y) / y in w = y**2 / 8 - 1, |w| <= 1", lambda w: erf_ratio(8 * (w + 1)), -1, 1, 21),
    ("ERF_NEAR", "erf(y) / y in y**2, y**2 <= 1", erf_ratio, 0, 1, 13),
    ("ERFC_FAR", "exp(y**2) erfc(y) in t = (y - 2.25) / (y + 2.25), 1 <= y <= 6", tail, -5 / 13, 5 / 11, 21),
)


def text() -> str:
    """The file."""
    lines = [
        '"""Polynomials, lowest power first. Written by scripts/riscv_coefficients.py."""',
        "",
        "from __future__ import annotations",
        "",
    ]
    with mpmath.workprec(300):
        for name, what, function, low, high, degree in POLYNOMIALS:
            lines += [f"{name}: tuple[float, ...] = ("]
            lines += [f"    {float(c)!r}," for c in interpolate(function, low, high, degree)]
            lines += [")", f'"""{what}"""']
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes or checks."""
    if "--check" in sys.argv:
        if TARGET.read_text() != text():
            print(f"{TARGET.name} is not current: run python scripts/riscv_coefficients.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
