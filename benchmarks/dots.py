"""What attention's exact dot products cost engine iss: `python benchmarks/dots.py [--rounds N]`

Scores and mixes of one and of sixteen tokens: microseconds of processor time a call (best of the rounds), nanoseconds a product and
the sums that binary64 leaves open, which are computed again from integers. Then what one sum costs that is computed again alone,
beside its share of a product of matrices. Set OPENBLAS_NUM_THREADS=1 on a machine that is busy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from fleet.sets.hbm0923.numerics import dots
from fleet.sets.hbm0923.numerics.dots import exact_dots, split_dots
from fleet.sets.hbm0923.numerics.mvm import in_blocks

SHAPES = (
    ("scores, 1 token, 4 heads of 128, 2,048 positions", 4, 2048, 128),
    ("scores, 16 tokens", 64, 2048, 128),
    ("scores of SmolLM2, 9 heads of 64", 9, 2048, 64),
    ("mix, 1 token", 4, 128, 2048),
    ("mix, 16 tokens", 64, 128, 2048),
)


def best(rounds: int, call: Callable[[], object]) -> float:
    """Return the least seconds of processor time."""
    found: list[float] = []
    for _ in range(rounds):
        begun = time.process_time()
        call()
        found.append(time.process_time() - begun)
    return min(found)


def left_open(a: dots.F16, b: dots.F16) -> int:
    """Return the number of sums that are computed again."""
    count = 0

    def counted(sums: np.ndarray) -> None:
        nonlocal count
        count += int(np.count_nonzero(sums.view(np.uint32) == dots.UNDECIDED))

    decide = dots._decide  # pyright: ignore[reportPrivateUsage]
    dots._decide = lambda x, y, sums: (counted(sums), decide(x, y, sums))[1]  # pyright: ignore[reportPrivateUsage]
    try:
        exact_dots(a, b)
    finally:
        dots._decide = decide  # pyright: ignore[reportPrivateUsage]
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    rng = np.random.default_rng(0)
    print(f"| {'':48} | us | ns a product | open |\n|---|---|---|---|")
    for name, n, m, length in SHAPES:
        a, b = rng.normal(0, 1, (n, length)), rng.normal(0, 1, (m, length)).astype(np.float16)
        if name.startswith("mix"):
            a = np.exp(2 * a)
            a /= a.sum(axis=1, keepdims=True)
        x = a.astype(np.float16)
        seconds = best(rounds, lambda x=x, b=b: exact_dots(x, b))
        print(f"| {name:48} | {seconds * 1e6:.1f} | {seconds * 1e9 / (n * m * length):.3f} | {left_open(x, b)} of {n * m} |")
    a, b = (rng.normal(0, 1, (n, 128)).astype(np.float16) for n in (64, 512))
    whole = best(rounds, lambda: split_dots(a, b)) / (64 * 512)
    chosen = np.arange(512) % 64, np.arange(512)

    def pairs() -> None:
        for i, j in in_blocks(*chosen):
            dots._split_sum(a[i], b[j], dots._of_pairs)  # pyright: ignore[reportPrivateUsage]

    print(f"\na pair computed again alone: {best(rounds, pairs) / 512 / whole:.1f} times its share of a product of matrices")


if __name__ == "__main__":
    main()
