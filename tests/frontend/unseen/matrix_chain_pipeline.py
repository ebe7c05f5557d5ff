from functools import reduce
from operator import mul

import numpy as np


def rotation(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    match axis:
        case "x":
            return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
        case "y":
            return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        case "z":
            return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        case _:
            raise ValueError(f"unknown axis {axis!r}")


def euler(sequence, *angles):
    mats = [rotation(a, np.deg2rad(t)) for a, t in zip(sequence, angles)]
    return reduce(np.matmul, mats)


R = euler("zyx", 30, 45, -60)
print(R.round(4))
print("orthogonal:", np.allclose(R @ R.T, np.eye(3)), "det: %.3f" % np.linalg.det(R))
angle = np.rad2deg(np.arccos((np.trace(R) - 1) / 2))
print(f"rotation angle {angle:.3f}")
sizes = (2, 3, 7)
print(reduce(mul, sizes, 1))
try:
    euler("zq", 10, 20)
except ValueError as e:
    print("ValueError:", e)
