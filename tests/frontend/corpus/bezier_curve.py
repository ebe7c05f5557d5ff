# curve(points: float64[4, 2])
import math
import numpy as np


def bernstein(n, k, t):
    return math.comb(n, k) * t**k * (1 - t) ** (n - k)


def de_casteljau(points, t):
    pts = points
    while len(pts) > 1:
        pts = (1 - t) * pts[:-1] + t * pts[1:]
    return pts[0]


def curve(points):
    n = len(points) - 1
    t = np.linspace(0, 1, 11)
    c = sum(bernstein(n, k, t)[:, None] * points[k] for k in range(n + 1))
    mid = de_casteljau(points, 0.5)
    seg = np.diff(c, axis=0)
    length = np.hypot(seg[:, 0], seg[:, 1]).sum()
    return c, mid, length
