# rotate(points: float64[10, 3], axis: float64[3], angle: float64[])
import numpy as np


class Quaternion:
    def __init__(self, w, x, y, z):
        self.q = np.array([w, x, y, z])

    @classmethod
    def from_axis_angle(cls, axis, angle):
        axis = axis / np.linalg.norm(axis)
        s = np.sin(angle / 2)
        return cls(np.cos(angle / 2), *(axis * s))

    def __mul__(self, other):
        w1, x1, y1, z1 = self.q
        w2, x2, y2, z2 = other.q
        return Quaternion(
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        )

    def conj(self):
        w, x, y, z = self.q
        return Quaternion(w, -x, -y, -z)

    @property
    def matrix(self):
        w, x, y, z = self.q
        return np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )


def rotate(points, axis, angle):
    q = Quaternion.from_axis_angle(axis, angle)
    p = q * Quaternion(0.0, *points[0]) * q.conj()
    return points @ q.matrix.T, p.q[1:]
