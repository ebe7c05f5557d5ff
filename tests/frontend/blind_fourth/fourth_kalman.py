import numpy as np
from numpy.linalg import inv


class KalmanFilter:
    def __init__(self, F, H, Q, R, x0, P0):
        self.F, self.H, self.Q, self.R = F, H, Q, R
        self.x = x0
        self.P = P0

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q
        return self.x

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ inv(S)
        self.x = self.x + K @ y
        I = np.eye(self.P.shape[0])
        self.P = (I - K @ self.H) @ self.P @ (I - K @ self.H).T + K @ self.R @ K.T
        return self.x

    @property
    def position(self):
        return self.x[:2]


def simulate(n, dt, rng):
    truth = np.zeros((n, 4))
    truth[0] = [0, 0, 1, 0.5]
    for k in range(1, n):
        truth[k, 2:] = truth[k - 1, 2:] + rng.normal(scale=0.05, size=2)
        truth[k, :2] = truth[k - 1, :2] + dt * truth[k - 1, 2:]
    meas = truth[:, :2] + rng.normal(scale=0.5, size=(n, 2))
    return truth, meas


np.set_printoptions(precision=4, suppress=True)
dt = 0.1
F = np.block([[np.eye(2), dt * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]])
H = np.hstack([np.eye(2), np.zeros((2, 2))])
q = 0.05**2
G = np.array([[dt**2 / 2], [dt]])
Q = np.kron(G @ G.T, np.eye(2)) * q
R = 0.25 * np.eye(2)
rng = np.random.default_rng(123)
truth, zs = simulate(40, dt, rng)
kf = KalmanFilter(F, H, Q, R, np.zeros(4), np.diag([1.0, 1.0, 10.0, 10.0]))
est = []
for z in zs:
    kf.predict()
    kf.update(z)
    est.append(kf.position.copy())
est = np.asarray(est)
rmse_raw = np.sqrt(((zs - truth[:, :2]) ** 2).mean())
rmse_kf = np.sqrt(((est - truth[:, :2]) ** 2).mean())
print("raw", rmse_raw, "filtered", rmse_kf)
print(kf.x)
print(np.trace(kf.P), np.linalg.det(kf.P))
assert np.allclose(kf.P, kf.P.T)
