from __future__ import annotations

import numpy as np


class Quaternion:
    __slots__ = ("q",)

    def __init__(self, w=1.0, x=0.0, y=0.0, z=0.0):
        self.q = np.array([w, x, y, z], dtype=float)

    @classmethod
    def from_axis(cls, axis, angle):
        axis = np.asarray(axis, float)
        axis = axis / np.linalg.norm(axis)
        return cls(np.cos(angle / 2), *(np.sin(angle / 2) * axis))

    def __mul__(self, o: Quaternion) -> Quaternion:
        w1, x1, y1, z1 = self.q
        w2, x2, y2, z2 = o.q
        return Quaternion(
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        )

    @property
    def conj(self):
        return Quaternion(*(self.q * [1, -1, -1, -1]))

    def rotate(self, v):
        return (self * Quaternion(0, *v) * self.conj).q[1:]

    def __abs__(self):
        return float(np.sqrt(self.q @ self.q))

    def __eq__(self, o):
        return np.allclose(self.q, o.q) or np.allclose(self.q, -o.q)

    def __format__(self, spec):
        return "(" + ", ".join(format(c, spec or ".3f") for c in self.q) + ")"

    def __repr__(self):
        return f"Quaternion{self:.2f}"

    def matrix(self):
        return np.column_stack([self.rotate(e) for e in np.eye(3)])


def slerp(a, b, t):
    d = np.clip(a.q @ b.q, -1, 1)
    th = np.arccos(d)
    if th < 1e-6:
        return a
    return Quaternion(*((np.sin((1 - t) * th) * a.q + np.sin(t * th) * b.q) / np.sin(th)))


q = Quaternion.from_axis([0, 0, 1], np.pi / 2)
print(q, f"{q:.5f}", abs(q), q.rotate([1, 0, 0]).round(6) + 0.0)
h = slerp(Quaternion(), q, 0.5)
print(h * h == q, h)
M = q.matrix()
print(np.round(M, 6) + 0.0, np.isclose(np.linalg.det(M), 1))
spin = Quaternion()
for _ in range(8):
    spin = spin * h
print(spin == Quaternion(), [round(float(c), 6) + 0.0 for c in spin.q])
