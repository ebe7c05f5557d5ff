# track(measurements: float64[30, 2])
import numpy as np


class ConstantVelocity:
    def __init__(self, dt=0.1, q=0.01, r=0.5):
        self.F = np.eye(4)
        self.F[0, 2] = self.F[1, 3] = dt
        self.H = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
        self.Q = q * np.eye(4)
        self.R = r * np.eye(2)
        self.x = np.zeros(4)
        self.P = np.eye(4) * 10

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        self.P = (np.eye(4) - K @ self.H) @ self.P
        return self.x[:2]


def track(measurements):
    kf = ConstantVelocity()
    path = []
    for z in measurements:
        kf.predict()
        path.append(kf.update(z))
    return np.array(path)
