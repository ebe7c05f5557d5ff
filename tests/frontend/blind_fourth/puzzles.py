"""Advent-of-code style."""
import re
import math
import string
from collections import Counter, defaultdict
from functools import cmp_to_key, reduce
from itertools import combinations, groupby
import numpy as np

INPUT = """\
1000
2000

4000

5000
6000
"""
elves = [sum(map(int, block.split())) for block in INPUT.split("\n\n")]
print(max(elves), sum(sorted(elves)[-2:]))

MOVES = "R 4\nU 4\nL 3\nD 1"
DIRS = {"R": 1, "L": -1, "U": 1j, "D": -1j}
knots = [0j] * 3
seen = {0j}
for line in MOVES.splitlines():
    d, n = line.split()
    for _ in range(int(n)):
        knots[0] += DIRS[d]
        for i in range(1, len(knots)):
            diff = knots[i - 1] - knots[i]
            if max(abs(diff.real), abs(diff.imag)) > 1:
                knots[i] += complex(np.sign(diff.real), np.sign(diff.imag))
        seen.add(knots[-1])
print(len(seen))

trees = np.array([list(map(int, l)) for l in "30373 25512 65332 33549 35390".split()])
vis = np.zeros_like(trees, dtype=bool)
for k in range(4):
    t, v = np.rot90(trees, k), np.rot90(vis, k)
    for r in range(5):
        top = -1
        for c in range(5):
            if t[r, c] > top:
                v[r, c] = True
                top = t[r, c]
print(vis.sum())

prog = "noop\naddx 3\naddx -5".splitlines()
X, hist = 1, []
for ins in prog:
    match ins.split():
        case ["noop"]:
            hist += [X]
        case ["addx", v]:
            hist += [X, X]
            X += int(v)
        case other:
            raise ValueError(other)
print(X, hist)


def compare(a, b):
    match a, b:
        case int(), int():
            return (a > b) - (a < b)
        case list(), list():
            for x, y in zip(a, b):
                if (r := compare(x, y)):
                    return r
            return compare(len(a), len(b))
        case int(), list():
            return compare([a], b)
        case _:
            return compare(a, [b])


packets = [[1, 1, 3], [[1], [2, 3]], [9], [[8, 7]], [], [[2]]]
print(sorted(packets, key=cmp_to_key(compare)))
games = "Game 1: 3 blue, 4 red; 1 red, 2 green; 2 green"
m = re.match(r"Game (?P<id>\d+): (?P<rest>.*)", games)
best = Counter()
for part in m["rest"].split("; "):
    for n, color in re.findall(r"(\d+) (\w+)", part):
        best[color] = max(best[color], int(n))
print(m.group("id"), math.prod(best.values()), dict(best))
print(sum(1 + string.ascii_letters.index(c) for c in "pLPvts"), math.lcm(4, 6, 10), math.gcd(12, 18), math.comb(5, 2), math.isqrt(17))
print(["".join(g) + str(sum(1 for _ in h)) for k, h in groupby("aaabcc") for g in [k]])
grid = {(x, y): (x * y) % 3 for x in range(3) for y in range(3)}
print(sorted((p for p, v in grid.items() if v), key=lambda p: (-grid[p], p)))
print(reduce(lambda a, b: a ^ b, range(10)), f"{255:#x} {255:08b} {1e6:,.0f} {0.5:.0%} {'x':*^7} {-3:+05d}")
a = np.array([3, 1, 2])
a[a.argsort()] = np.arange(3)
print(a, *map(str.upper, "ab"), "abc"[::-1], "a,b".partition(","), "x".zfill(3), "Hello".swapcase())

#! F504: a write into what rot90 gives
