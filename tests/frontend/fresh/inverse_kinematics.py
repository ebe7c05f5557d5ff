import numpy as np


class Arm:
    def __init__(self, lengths):
        self.lengths = np.asarray(lengths, dtype=float)
        self.angles = np.full(len(lengths), 0.1)

    def forward(self, angles=None):
        a = np.cumsum(self.angles if angles is None else angles)
        return np.array([np.sum(self.lengths * np.cos(a)), np.sum(self.lengths * np.sin(a))])

    def jacobian(self):
        a = np.cumsum(self.angles)
        n = len(self.lengths)
        J = np.zeros((2, n))
        for i in range(n):
            J[0, i] = -np.sum(self.lengths[i:] * np.sin(a[i:]))
            J[1, i] = np.sum(self.lengths[i:] * np.cos(a[i:]))
        return J

    def solve(self, target, iters=100, damping=0.1):
        for i in range(iters):
            e = target - self.forward()
            if np.linalg.norm(e) < 1e-6:
                return i
            J = self.jacobian()
            self.angles += J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(2), e)
        return iters


def rot(theta):
    c, s = np.cos(theta), np.sin(theta)
    return np.array(((c, -s), (s, c)))


arm = Arm([1.0, 0.8, 0.5])
for target in ([1.2, 0.9], [0.3, 1.5]):
    n = arm.solve(np.array(target))
    print("target", target, "reached", arm.forward().round(4), "in", n, "iterations")
print("joint angles (deg):", np.degrees(arm.angles).round(2))
R = rot(np.deg2rad(90))
print(np.allclose(R @ np.array([1, 0]), [0, 1]), np.isclose(np.linalg.det(R), 1))
