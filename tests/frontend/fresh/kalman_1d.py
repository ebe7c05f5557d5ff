"""Constant-velocity Kalman filter."""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class KalmanFilter:
    F: np.ndarray
    H: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    x: np.ndarray
    P: np.ndarray
    history: list = field(default_factory=list)

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        I = np.eye(self.P.shape[0])
        self.P = (I - K @ self.H) @ self.P
        self.history.append(self.x.copy())


def main():
    dt = 0.1
    np.random.seed(3)
    t = np.arange(0, 5, dt)
    truth = 2.0 * t + 0.5
    meas = truth + np.random.randn(t.size) * 0.5

    kf = KalmanFilter(
        F=np.array([[1, dt], [0, 1]]),
        H=np.array([[1.0, 0.0]]),
        Q=1e-4 * np.eye(2),
        R=np.array([[0.25]]),
        x=np.zeros(2),
        P=np.eye(2) * 10,
    )
    for z in meas:
        kf.predict()
        kf.update(np.array([z]))
    est = np.array(kf.history)
    rmse_raw = np.sqrt(np.mean((meas - truth) ** 2))
    rmse_kf = np.sqrt(np.mean((est[:, 0] - truth) ** 2))
    print(f"raw rmse {rmse_raw:.4f}, filtered rmse {rmse_kf:.4f}")
    print("velocity estimate:", round(float(est[-1, 1]), 4))
    assert rmse_kf < rmse_raw


if __name__ == "__main__":
    main()
